"""The footnote on PCext: which method the published columns come from, with numbers from the reference runs."""

from __future__ import annotations

import csv
from fractions import Fraction

from experiments.artefact import REFERENCE, Notes
from splitlab.kinds.splits.compare import Entry as Counted
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
    """Ours minus published in standard errors; 0 where neither varies."""
    place = (row["impurity"], int(row["n"]), int(row["k"]), int(row["max_count"]), row["splitter"])
    return Counted(*place, int(row["wins"]), int(row["runs"]), row["published"]).z() or 0.0


def percentage(row: dict[str, str]) -> str:
    """Our percentage, rounded as the published ones are."""
    return round_half_up(Fraction(100 * int(row["wins"]), int(row["runs"])))


def pcext_footnote(table: str) -> str:
    """Say what the published PCext column is, and what PCext itself would have got.

    The reference runs TABLE (with ``pc_ext_counts``) and TABLE_corrected (with ``pc_ext``) are on the same tables.
    """
    defined = rows(f"{table}_corrected")
    far = [row for row in defined if abs(deviation(row)) > SURELY]
    counts_far = [row for row in rows(table) if abs(deviation(row)) > SURELY]
    worst = max(defined, key=lambda row: abs(deviation(row)))
    return (
        f"PCext: the published columns headed PCext come from scoring raw counts (pc_ext_counts), not class "
        f"probabilities. In our reference runs of 10,000 tables, with counts, {len(counts_far)} of {len(defined)} "
        f"entries lie more than {SURELY:.0f} standard errors from the published value. PCext as its authors defined it "
        f"(pc_ext), on the same tables, does in {len(far)} of {len(defined)}: at n = {worst['n']}, k = {worst['k']} it "
        f"wins {percentage(worst)} %, published are {worst['published']} %. See `make {table}-corrected`."
    )
