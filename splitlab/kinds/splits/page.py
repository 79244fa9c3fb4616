"""What the HTML page says of an experiment of kind splits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import Any

import pandas as pd

from splitlab.kinds.random_tables.config import CELL
from splitlab.kinds.splits.compare import Entry as Compared
from splitlab.kinds.splits.results import Results
from splitlab.report import page
from splitlab.report.layout import Entry, Table, impurity_title, round_half_up, share_with_error
from splitlab.splitters import titles
from splitlab.text import counted

CLEARLY = 2.0  # standard errors
NAMED = 4  # methods that a sentence names


def findings(results: Results) -> list[str]:
    """For each impurity who wins how often, where, and how surely; and the largest excess."""
    names = titles(results.experiment.splitters)
    sentences = []
    for impurity, part in results.win_percentage.groupby("impurity", sort=False):
        sentences.append(_average(str(impurity), part, names))
        if len(names) > 1:
            sentences.append(_leaders(str(impurity), part, results.paired_differences, names))
    worst = results.relative_excess.dropna(subset=["maximum"]) if len(results.relative_excess) else pd.DataFrame()
    if len(worst):
        row: dict[Any, Any] = max(worst.to_dict(orient="records"), key=lambda one: one["maximum"])
        sentences.append(
            f"Worst case: the impurity of {names[row['splitter']]} is {row['maximum']:.1f} % above that of the best "
            f"other method ({impurity_title(row['impurity'])}, n = {row['n']}, k = {row['k']}, run "
            f"{row['maximum_run']})."
        )
    return sentences


def _average(impurity: str, part: pd.DataFrame, names: dict[str, str]) -> str:
    cells = part.groupby(CELL).ngroups
    groups = sorted(part.groupby("splitter", sort=False), key=lambda one: -one[1]["percent"].mean())
    listed = [f"{names[str(splitter)]} {_mean(rows)} %" for splitter, rows in groups]
    more = f", and {counted(len(listed) - NAMED, 'method')} less" if len(listed) > NAMED else ""
    where = "on average over " + counted(cells, "configuration") if cells > 1 else "in the only configuration"
    return f"{impurity_title(impurity)}, tables won {where}: {', '.join(listed[:NAMED])}{more}."


def _mean(rows: pd.DataFrame) -> str:
    """The mean percentage of a method over its configurations, with its error."""
    error = sqrt((rows["standard_error"] ** 2).sum()) / len(rows)
    return share_with_error(Fraction(float(rows["percent"].mean())), error, int(rows["runs"].sum()))


def _leaders(impurity: str, part: pd.DataFrame, pairs: pd.DataFrame, names: dict[str, str]) -> str:
    """Who has the most wins in how many configurations, and in how many the lead is clear."""
    first: dict[str, int] = {}
    clear = 0
    for place, group in part.groupby(CELL):
        ordered = group.sort_values("wins", ascending=False, kind="stable")["splitter"].tolist()
        for splitter in group.loc[group["wins"] == group["wins"].max(), "splitter"]:
            first[splitter] = first.get(splitter, 0) + 1
        here = pairs[(pairs[["impurity", *CELL]] == [impurity, *place]).all(axis=1)]
        both = here[here["splitter_a"].isin(ordered[:2]) & here["splitter_b"].isin(ordered[:2])]
        ahead = float((both["only_a_wins"] - both["only_b_wins"]).abs().iloc[0]) * 100 / float(both["runs"].iloc[0])
        clear += ahead > CLEARLY * float(both["percent_difference_error"].iloc[0])
    cells = part.groupby(CELL).ngroups
    listed = [f"{names[s]} in {number}" for s, number in sorted(first.items(), key=lambda one: -one[1])]
    return (
        f"{impurity_title(impurity)}, most wins of {counted(cells, 'configuration')}: {', '.join(listed)} "
        f"(ties count for all); in {clear} "
        f"of them the lead over the second is more than {CLEARLY:g} standard errors of the difference."
    )


def differing(entries: Sequence[Compared]) -> Table:
    """The entries that differ from the published ones."""
    rows, names = [], titles(e.splitter for e in entries)
    for e in entries:
        ours = round_half_up(Fraction(100 * e.wins, e.runs), 2)
        rows.append([Entry(str(x)) for x in (e.impurity, e.n, e.k, e.max_count, names[e.splitter], ours, e.printed)])
    heads = ["impurity", *CELL, "method", "ours", page.PUBLISHED_HEAD]
    return Table("Entries that differ from the published ones, in percent", heads, rows, 5)
