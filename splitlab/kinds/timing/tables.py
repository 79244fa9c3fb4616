"""The tables of a timing: ratios beside the paper's, and microseconds, with what can be compared with what."""

from __future__ import annotations

from decimal import Decimal
from math import floor, log10
from pathlib import Path
from typing import Any

import pandas as pd

from splitlab.files import write_atomically
from splitlab.kinds.random_tables.config import CELL, Cell
from splitlab.kinds.splits.results import Results
from splitlab.kinds.timing.measure import ALL, WIDEST
from splitlab.kinds.timing.results import TimingResults
from splitlab.published import RATIO_TABLE
from splitlab.report.layout import NONE, Entry, Table, impurity_title, round_half_up
from splitlab.splitters import titles
from splitlab.text import counted

DIGITS = 3
UNTRUSTWORTHY = "†"
ENGINES = {"compiled": "Compiled", "python": "Plain Python"}
BUSY = 0.9  # below this share of the processor, the reader should know

Rows = dict[tuple[str, Cell, str], dict[str, Any]]  # by engine, cell, splitter


def timing_tables(results: Results) -> list[Table]:
    """The ratios to the baseline, if there is any other splitter, and the absolute times; of kind timing only."""
    assert isinstance(results, TimingResults)
    rows = _rows(results.timing)
    tables = [_ratio_table(results, rows)] if len(results.experiment.splitters) > 1 else []
    return [*tables, _absolute_table(results, rows)]


def _rows(frame: pd.DataFrame) -> Rows:
    """The rows of all impurities together."""
    records = frame[frame["impurity"] == ALL].to_dict(orient="records")
    return {
        (r["engine"], Cell(r["n"], r["k"], r["max_count"]), r["splitter"]): {str(name): r[name] for name in r}
        for r in records
    }


def _ratio_table(results: TimingResults, rows: Rows) -> Table:
    experiment, printed = results.experiment, bool((results.timing["published"] != "").any())
    others = [s for s in experiment.splitters if s != experiment.baseline]
    engines = _engines(results)
    heads, body, names = _heads(results), [], titles(experiment.splitters)
    for splitter in others:
        heads += _group(names[splitter], ["paper", *engines] if printed else engines)
    for cell, _ in experiment.cells:
        line = _keys(results, cell)
        for splitter in others:
            here = [rows[engine, cell, splitter] for engine in engines]
            line += [Entry(here[0]["published"] or NONE)] if printed else []
            line += [Entry(_ratio(row)) for row in here]
        body.append(line)
    title = f"Time relative to {names[experiment.baseline]}, {_what(results)}"
    return Table(title, heads, body, _key_number(results), _ratio_notes(results, rows, printed))


def _absolute_table(results: TimingResults, rows: Rows) -> Table:
    experiment, engines = results.experiment, _engines(results)
    names = titles(experiment.splitters)
    heads = [*_heads(results), *(head for s in experiment.splitters for head in _group(names[s], engines))]
    body = [
        [
            *_keys(results, cell),
            *(Entry(microseconds(rows[e, cell, s])) for s in experiment.splitters for e in engines),
        ]
        for cell, _ in experiment.cells
    ]
    counts = [_tables(results, engine) for engine in engines]
    notes = [
        f"Microseconds of processor time per table, one thread; {'; '.join(counts)}. Intervals, and each impurity by "
        f"itself, are in timing.csv.",
        f"Comparable only with times of this machine ({_machine(results)}).",
    ]
    title = f"Microseconds per table, {_what(results)}"
    return Table(title, heads, body, _key_number(results), notes)


def _ratio_notes(results: TimingResults, rows: Rows, printed: bool) -> list[str]:
    """How to read the ratios, and what each column can and cannot be compared with."""
    experiment, engines = results.experiment, _engines(results)
    notes = [
        f"Ratio of mean times ± half the 95 % interval over {counted(experiment.repeats, 'repeat')} (Student's t)."
    ]
    if printed and experiment.published == RATIO_TABLE:
        notes.append("paper: Table 3, a pure Python program on one core of an i7-6500U.")
    if "python" in engines:
        like = ", the like of the paper's program. But it is" if printed else ". It is"
        notes.append(
            f"python: our plain Python version of each splitter{like} written differently, each splitter more or less "
            "so, and one splitter's gain moves its whole column (the baseline's: all columns): compare how a column "
            "grows with n and k, not its level."
        )
    if "compiled" in engines:
        others = ["the paper's numbers"] * printed + ["the python columns"] * ("python" in engines)
        notes.append(
            "compiled: what the methods cost relative to each other in the kernels that this library uses."
            + (f" It is not comparable with {', nor with '.join(others)}." if others else "")
        )
    return [*notes, *_warnings(results, rows)]


def _warnings(results: TimingResults, rows: Rows) -> list[str]:
    """What makes the ratios doubtful, if anything does."""
    warnings, ratios = [], [row for row in rows.values() if row["splitter"] != results.experiment.baseline]
    doubtful = sum(not row["trustworthy"] for row in ratios)
    if doubtful:
        warnings.append(
            f"Warning: {doubtful} of {len(ratios)} ratios are not trustworthy ({UNTRUSTWORTHY}): their repeats spread "
            f"so much that the interval is wider than ± {100 * WIDEST:.0f} %. Time again on a quieter machine, or with "
            f"more repeats."
        )
    wall, worked = (results.manifest.get(f"{clock}_seconds") or 0.0 for clock in ("wall", "processor"))
    if worked < BUSY * wall:
        warnings.append(
            f"Note: other programs, or a quota, left this one the processor for {100 * worked / wall:.0f} % of the "
            f"time. Times are of the processor and leave out the rest, but its caches were shared."
        )
    return warnings


def _ratio(row: dict[str, Any]) -> str:
    half = row["ratio_high"] - row["ratio"]
    places = decimals(row["ratio"])
    text = f"{round_half_up(row['ratio'], places)} ± {round_half_up(half, places)}"
    return text if row["trustworthy"] else text + UNTRUSTWORTHY


def microseconds(row: dict[str, Any]) -> str:
    """A time, to three significant digits."""
    places = decimals(row["microseconds"])
    return f"{Decimal(round_half_up(row['microseconds'], places)):,}"


def decimals(value: float) -> int:
    """Decimal places that show three significant digits; none from 100 on.

    Examples
    --------
    >>> decimals(1.62), decimals(45.4), decimals(1384.0)
    (2, 1, 0)
    """
    return max(0, DIGITS - 1 - floor(log10(value))) if value > 0 else DIGITS


def _engines(results: TimingResults) -> list[str]:
    """python first: it is the one nearer to the paper's column."""
    return sorted(results.experiment.engines, reverse=True)


def _tables(results: TimingResults, engine: str) -> str:
    """How many tables the times of an engine come from."""
    counts = results.timing[results.timing["engine"] == engine]["tables"]
    low, high = int(counts.min()), int(counts.max())
    number = f"{high:,}" if low == high else f"{low:,} to {high:,}"
    return f"{engine}: {number} tables per configuration and splitter"


def _machine(results: TimingResults) -> str:
    machine = results.manifest.get("machine") or {}
    return f"{machine.get('cpu') or 'processor not known'}, {machine.get('architecture')}, {machine.get('system')}"


def _what(results: TimingResults) -> str:
    names = " and ".join(impurity_title(i) for i in results.experiment.impurities)
    together = " together" if len(results.experiment.impurities) > 1 else ""
    maxima = {cell.max_count for cell, _ in results.experiment.cells}
    return f"{names}{together}" + (f" (entries 0 to {maxima.pop()})" if len(maxima) == 1 else "")


def _group(title: str, columns: list[str]) -> list[str]:
    """The heads of a splitter's columns; the first of them names the splitter."""
    return [f"{title}: {columns[0]}", *columns[1:]]


def _heads(results: TimingResults) -> list[str]:
    return CELL[: _key_number(results)]


def _keys(results: TimingResults, cell: Cell) -> list[Entry]:
    return [Entry(str(part)) for part in (cell.n, cell.k, cell.max_count)[: _key_number(results)]]


def _key_number(results: TimingResults) -> int:
    return 3 if len({cell.max_count for cell, _ in results.experiment.cells}) > 1 else 2


def findings(results: TimingResults) -> list[str]:
    """For each engine the fastest and the slowest method, on average over the configurations."""
    frame, names = results.timing[results.timing["impurity"] == ALL], titles(results.experiment.splitters)
    sentences = []
    for engine in _engines(results):
        means = frame[frame["engine"] == engine].groupby("splitter", sort=False)["microseconds"].mean()
        first, last = str(means.idxmin()), str(means.idxmax())
        sentences.append(
            f"{ENGINES[engine]}: {names[first]} is the fastest, {means[first]:.3g} µs a table on average over the "
            f"configurations; {names[last]} the slowest, {means[last]:.3g} µs."
        )
    return sentences


def text_of(results: Results) -> str:
    """The tables for the terminal."""
    return "\n".join(table.as_text() for table in timing_tables(results))


def write_tables(results: Results, folder: Path) -> None:
    """Write ``timing.md`` and ``timing.tex``; ``timing.csv`` is what they are made from, and stays as it is."""
    tables = timing_tables(results)
    write_atomically(folder / "timing.md", "\n".join(t.as_markdown() for t in tables))
    write_atomically(folder / "timing.tex", "\n".join(t.as_latex() for t in tables))
