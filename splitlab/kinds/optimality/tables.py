"""The tables of kind optimality: methods down, configurations across."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pandas as pd

from splitlab.kinds.optimality.config import EXACT
from splitlab.kinds.optimality.results import BEST_KNOWN, OPTIMUM
from splitlab.kinds.random_tables.captions import impurity_title
from splitlab.kinds.random_tables.config import CELL
from splitlab.kinds.random_tables.panels import series, varies
from splitlab.kinds.splits.results import Results
from splitlab.kinds.timing.tables import microseconds
from splitlab.report.layout import NONE, Entry, Table, percentage, share_with_error
from splitlab.splitters import titles
from splitlab.text import counted

MEANING = {OPTIMUM: "the optimum", BEST_KNOWN: "the best split known"}
NOTES = {
    OPTIMUM: "proven: the ratio to the optimum that is proven for the method and this impurity.",
    BEST_KNOWN: "The optimum is out of reach here; the best split known is the best of these methods.",
}
Row = dict[str, Any]


def frame_of(results: Results) -> pd.DataFrame:
    """The numbers of an experiment of kind optimality."""
    assert results.optimality is not None
    return results.optimality


def percent_tables(results: Results) -> list[Table]:
    """For each impurity and reference, how often the reference is reached."""
    return [_percent_table(*part) for part in _parts(frame_of(results))]


def optimality_tables(results: Results) -> list[Table]:
    """All tables: how often the reference is reached, ratios to it and to the lower bound, costs."""
    frame, tables = frame_of(results), []
    for impurity, reference, part in _parts(frame):
        tables += [_percent_table(impurity, reference, part), *_ratio_tables(impurity, reference, part)]
    for impurity in results.experiment.impurities:
        tables.append(_cost_table(impurity, frame[frame["impurity"] == impurity]))
    return tables


def records(frame: pd.DataFrame) -> list[Row]:
    """The rows as dictionaries."""
    return [{str(name): row[name] for name in row} for row in frame.to_dict(orient="records")]


def _parts(frame: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    keys = frame[["impurity", "reference"]].drop_duplicates().itertuples(index=False)
    return [(i, r, frame[(frame["impurity"] == i) & (frame["reference"] == r)]) for i, r in keys]


def _percent_table(impurity: str, reference: str, part: pd.DataFrame) -> Table:
    most = part[part["splitter"] != EXACT].groupby(CELL)["reached"].max()

    def entry(row: Row) -> Entry:
        best = row["splitter"] != EXACT and row["reached"] == most[tuple(row[c] for c in CELL)]
        return Entry(percentage({**row, "wins": row["reached"]}), best)

    title = f"Percentage of tables on which {MEANING[reference]} is found, {impurity_title(impurity)}"
    table = replace(
        _matrix(title, part, entry, ["With standard error.", NOTES[reference]]), best="the most of the configuration"
    )
    runs = [Entry(f"{runs:,}") for _, runs in part.groupby(CELL)["runs"].first().items()]
    return replace(table, rows=[*table.rows, [Entry("tables"), Entry(""), *runs]])


def _ratio_tables(impurity: str, reference: str, part: pd.DataFrame) -> list[Table]:
    """Mean and maximum ratio to the reference and, where there is one, the mean to the lower bound."""
    what, name = f"Ratio of the impurity to {MEANING[reference]}", impurity_title(impurity)
    unbounded = int(part["unbounded"].sum())
    notes = [f"Left out: {counted(unbounded, 'table')} on which only the reference is 0."] if unbounded else []
    tables = [
        _matrix(f"{what}, mean, {name}", part, _mean, ["With standard error.", *notes]),
        _matrix(f"{what}, maximum, {name}", part, lambda row: _ratio(row["maximum_ratio"], 3), notes),
    ]
    if reference == BEST_KNOWN:
        title = f"Ratio of the impurity to the lower bound, mean, {name}"
        note = "The mean ratio to the optimum is at most this, and at least that to the best split known."
        tables.append(_matrix(title, part, lambda row: _ratio(row["bound_mean_ratio"], 4), [note]))
    return tables


def _mean(row: Row) -> Entry:
    return Entry(" ± ".join(_ratio(row[name], 5).text for name in ("mean_ratio", "mean_ratio_se")))


def _ratio(value: float, decimals: int) -> Entry:
    return Entry(NONE if math.isnan(value) else f"{value:.{decimals}f}")


def _cost_table(impurity: str, part: pd.DataFrame) -> Table:
    title = f"Microseconds per table, {impurity_title(impurity)}"
    notes = ["Processor time in one thread, from a short timing pass; comparable only with times of the same machine."]
    return _matrix(title, part, lambda row: Entry(microseconds(row)), notes)


def _matrix(title: str, part: pd.DataFrame, entry: Callable[[Row], Entry], notes: list[str]) -> Table:
    """A row per method, with what is proven of it, and a column per configuration."""
    cells, rows = sorted(part[CELL].drop_duplicates().itertuples(index=False, name=None)), []
    several, names = varies(part, "max_count"), titles(part["splitter"])
    for splitter, group in series(part):
        found = {tuple(row[c] for c in CELL): entry(row) for row in records(group)}
        proven = "/".join(dict.fromkeys(group["proven_ratio"])) or NONE
        entries = [found.get(cell, Entry(NONE)) for cell in cells]
        rows.append([Entry(names[splitter]), Entry(proven), *entries])
    heads = [f"n={n}, k={k}" + (f", max {m}" if several else "") for n, k, m in cells]
    return Table(title, ["method", "proven", *heads], rows, 1, notes)


def findings(frame: pd.DataFrame) -> list[str]:
    """For each impurity and reference the methods that find it most often, with errors and times, on average."""
    names, sentences = titles(frame["splitter"]), []
    for impurity, reference, part in _parts(frame[frame["splitter"] != EXACT]):
        cells = part.groupby(CELL).ngroups
        by = part.groupby("splitter", sort=False)
        means, times = by["percent"].mean(), by["microseconds"].mean()
        errors = by["standard_error"].apply(lambda e: math.sqrt((e**2).sum()) / len(e))
        best = means.sort_values(ascending=False, kind="stable").index[:3]
        runs = by["runs"].sum()
        shares = {s: share_with_error(Fraction(float(means[s])), errors[s], int(runs[s])) for s in best}
        listed = [f"{names[s]} {shares[s]} % ({times[s]:.3g} µs a table)" for s in best]
        sentences.append(
            f"{impurity_title(impurity)}, {MEANING[reference]} is found, on average over "
            f"{counted(cells, 'configuration')}: "
            f"{', '.join(listed)}."
        )
    return sentences


def verdict(frame: pd.DataFrame) -> str:
    """In one line, the method that finds the optimum most often, for each impurity, on average over the cells."""
    solved = frame[(frame["reference"] == OPTIMUM) & (frame["splitter"] != EXACT)]
    words = []
    for impurity, part in solved.groupby("impurity", sort=False):
        means = part.groupby("splitter", sort=False)["percent"].mean()
        words.append(f"{impurity}: {means.idxmax()} finds the optimum most often, {means.max():.1f} % on average")
    return "; ".join(words) or "the optimum is out of reach in all cells"
