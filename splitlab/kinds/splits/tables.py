"""The tables of an experiment: csv for programs; text, Markdown and LaTeX in the paper's layout for readers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pandas as pd

from splitlab.kinds.random_tables.config import CELL, RandomTablesExperiment
from splitlab.kinds.splits.results import Results
from splitlab.report.layout import NONE, Entry, Table, impurity_title, percentage, round_half_up, share_with_error
from splitlab.splitters import titles

MOST_WINS = "the most wins of the configuration; ties all win"


def win_tables(results: Results) -> list[Table]:
    """For each impurity, the percentages of wins: ours with standard error, and the published ones.

    Of the authors' own tables, the cells that the paper does not print have a table of their own.
    """
    frame, experiment = results.win_percentage, results.experiment
    tables = []
    for impurity in experiment.impurities:
        part = frame[frame["impurity"] == impurity]
        title = f"Percentage of tables won, {impurity_title(impurity)} ({_size(experiment)})"
        printed = part["published"] != ""
        if getattr(experiment, "draws", "") == "authors" and printed.any() and not printed.all():
            unprinted = f"{title}: cells that the authors ran and the paper does not print"
            tables += [_win_table(title, part[printed], experiment), _win_table(unprinted, part[~printed], experiment)]
        else:
            tables.append(_win_table(title, part, experiment))
    return tables


def _win_table(title: str, part: pd.DataFrame, experiment: RandomTablesExperiment) -> Table:
    """Some cells of one impurity."""
    printed = bool((part["published"] != "").any())
    rows = [[*_cell_entries(experiment, cell), *_win_entries(group, printed)] for cell, group in part.groupby(CELL)]
    heads = [*_cell_heads(experiment)]
    for name in titles(experiment.splitters).values():
        heads += [name, "paper"] if printed else [name]
    ours = "Ours with" if printed else "With"
    notes = [f"{ours} standard error in percentage points.", *(["paper: the published value."] if printed else [])]
    return Table(title, heads, rows, len(_cell_heads(experiment)), notes, MOST_WINS)


def _win_entries(group: pd.DataFrame, printed: bool) -> list[Entry]:
    """One row of the table: the splitters of one cell."""
    entries = []
    for row in group.to_dict(orient="records"):
        entries.append(Entry(percentage(row), best=row["wins"] == group["wins"].max()))
        if printed:
            entries.append(Entry(row["published"] or NONE))
    return entries


def failure_tables(results: Results) -> list[Table]:
    """The splitters that failed on some runs, and what their win percentage could be at most; none if none did."""
    frame = results.win_percentage
    heads = [
        "n",
        "k",
        "max_count",
        "impurity",
        "method",
        "failures",
        "first in run",
        "percent",
        "if it won all of them",
    ]
    rows, known = [], titles(results.experiment.splitters)
    for row in frame[frame["failures"] > 0].to_dict(orient="records"):
        cell = [str(row[key]) for key in CELL]
        percents = (round_half_up(Fraction(100 * w, row["runs"])) for w in (row["wins"], row["wins"] + row["failures"]))
        number = f"{row['failures']} of {row['runs']}"
        names = (impurity_title(row["impurity"]), known[row["splitter"]])
        rows.append([*map(Entry, (*cell, *names, number, str(row["first_failure"]), *percents))])
    if not rows:
        return []
    note = "A failure counts as a loss, and the other methods are compared without it; no run was drawn again."
    return [Table("Runs on which a method failed", heads, rows, 3, [note])]


def paired_tables(results: Results) -> list[Table]:
    """For each impurity, how far every method is behind the one with the most wins; none for a single method."""
    experiment, pairs = results.experiment, results.paired_differences
    if len(experiment.splitters) < 2:
        return []
    names = titles(experiment.splitters)
    heads = [*_cell_heads(experiment), "most wins", *names.values()]
    note = "In percentage points, with the standard error of the difference on the same tables; ties all win."
    tables = []
    for impurity in experiment.impurities:
        won = results.win_percentage[results.win_percentage["impurity"] == impurity]
        rows = []
        for cell, group in won.groupby(CELL):
            here = pairs[(pairs[["impurity", *CELL]] == [impurity, *cell]).all(axis=1)]
            best = group["splitter"].iloc[int(group["wins"].to_numpy().argmax())]
            behind = [_behind(best, splitter, here) for splitter in experiment.splitters]
            rows.append([*_cell_entries(experiment, cell), Entry(names[best]), *behind])
        title = f"Wins behind the method with the most, {impurity_title(impurity)} ({_size(experiment)})"
        tables.append(Table(title, heads, rows, len(_cell_heads(experiment)), [note]))
    return tables


def _behind(best: str, splitter: str, pairs: pd.DataFrame) -> Entry:
    """By how much a splitter wins less than the best one of the cell."""
    if splitter == best:
        return Entry(NONE)
    between = pairs[pairs["splitter_a"].isin([best, splitter]) & pairs["splitter_b"].isin([best, splitter])]
    (pair,) = between.to_dict(orient="records")
    share = Fraction(100 * abs(pair["only_a_wins"] - pair["only_b_wins"]), pair["runs"])
    return Entry(share_with_error(share, pair["percent_difference_error"], pair["runs"]))


def excess_tables(results: Results) -> list[Table]:
    """For each impurity, the relative excess over the best other splitter."""
    experiment, frame = results.experiment, results.relative_excess
    heads = [
        *_cell_heads(experiment),
        "method",
        "mean",
        "median",
        "95 %",
        "99 %",
        "maximum",
        "in run",
        "unbounded",
    ]
    tables, names = [], titles(experiment.splitters)
    for impurity in experiment.impurities:
        rows = []
        for row in frame[frame["impurity"] == impurity].to_dict(orient="records"):
            mean = f"{_number(row['mean'])} ± {_number(row['standard_error'])}"
            numbers = [_number(row[q]) for q in ("median", "p95", "p99", "maximum")]
            texts = [
                names[row["splitter"]],
                mean,
                *numbers,
                str(row["maximum_run"]),
                str(row["unbounded"]),
            ]
            rows.append([*_cell_entries(experiment, (row["n"], row["k"], row["max_count"])), *map(Entry, texts)])
        title = (
            f"Relative excess over the best other method in percent, {impurity_title(impurity)} ({_size(experiment)})"
        )
        notes = [] if rows else ["There is no other method to compare with."]
        tables.append(Table(title, heads, rows, len(_cell_heads(experiment)), notes))
    return tables


def _number(value: float) -> str:
    return NONE if math.isnan(value) else f"{value:.4f}"


def _cell_heads(experiment: RandomTablesExperiment) -> list[str]:
    return CELL if _several_maxima(experiment) else ["n", "k"]


def _cell_entries(experiment: RandomTablesExperiment, cell: Sequence[Any]) -> list[Entry]:
    return [Entry(str(part)) for part in (cell if _several_maxima(experiment) else cell[:2])]


def _several_maxima(experiment: RandomTablesExperiment) -> bool:
    return len({cell.max_count for cell, _ in experiment.cells}) > 1


def _size(experiment: RandomTablesExperiment) -> str:
    runs = sorted({runs for _, runs in experiment.cells})
    number = f"{runs[0]:,}" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,}"
    text = f"{number} tables per configuration"
    return text if _several_maxima(experiment) else f"{text}, entries 0 to {experiment.cells[0][0].max_count}"
