"""The footnote on PCext: which method the published columns come from, with numbers from the reference runs."""

from __future__ import annotations

import csv
from fractions import Fraction

from experiments.artefact import REFERENCE, Notes
from splitlab.report.layout import round_half_up

SURELY = 3.0  # standard errors


def notes(table: str) -> Notes:
    """The footnote as ``artefact.main`` wants it."""
    return lambda results: (pcext_footnote(table),)


def rows(name: str) -> list[dict[str, str]]:
    """The PCext rows of a committed reference run, entries with a published number only."""
    with (REFERENCE / name / "win_percentage.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["splitter"].startswith("pc_ext") and row["published"]]


def deviation(row: dict[str, str]) -> float:
    """Ours minus published in standard errors of the difference (both sides have about the same)."""
    error = (2 * float(row["standard_error"]) ** 2) ** 0.5
    return (float(row["percent"]) - float(row["published"])) / error if error else 0.0


def pcext_footnote(table: str) -> str:
    """Say what the published PCext column is, and what PCext itself would have got.

    The reference runs TABLE (with ``pc_ext_counts``) and TABLE_corrected (with ``pc_ext``) are on the same tables.
    """
    defined = rows(f"{table}_corrected")
    far = [row for row in defined if abs(deviation(row)) > SURELY]
    counts_far = [row for row in rows(table) if abs(deviation(row)) > SURELY]
    worst = max(defined, key=lambda row: abs(deviation(row)))
    percent = round_half_up(Fraction(100 * int(worst["wins"]), int(worst["runs"])))
    return (
        f"PCext: the published columns headed PCext come from scoring raw counts (pc_ext_counts), not class "
        f"probabilities. With counts, {len(counts_far)} of {len(defined)} entries lie more than {SURELY:.0f} standard "
        f"errors from the published value. PCext as its authors defined it (pc_ext), on the same tables, does in "
        f"{len(far)} of {len(defined)}: at n = {worst['n']}, k = {worst['k']} it wins {percent} %, published are "
        f"{worst['published']} %. See `make {table}-corrected`."
    )
