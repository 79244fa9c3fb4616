"""The statements of the printed study, and in how many repetitions each of them holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from splitlab.kinds.criteria import published, summary
from splitlab.kinds.criteria.config import DataGroup
from splitlab.kinds.criteria.results import CriteriaResults
from splitlab.trees.statistics import Comparison, compare

ALIKE = 0.1  # trees whose mean numbers of nodes differ by a smaller share are alike
PROPOSED = ("ihd", "ihdw")


@dataclass(frozen=True)
class Statement:
    """What the paper says of a group, and how that is seen in the ranks of one repetition."""

    text: str
    claimed: bool
    holds: Callable[[Comparison], bool]


def _rank(one: Comparison, name: str) -> float:
    return float(one.average_ranks[one.names.index(name)])


def outperforms(one: Comparison, first: str, second: str) -> bool:
    """Whether the first criterion is significantly better by Nemenyi's test."""
    return _rank(one, second) - _rank(one, first) > one.critical_difference


def of_group(group: DataGroup, criteria: tuple[str, ...]) -> Iterator[Statement]:
    """The statements on the ranks of a group, as far as they are on these criteria."""
    others = [name for name in criteria if name not in PROPOSED]
    ticks = published.TICKS[group.measure]
    if "ihdw" in criteria:
        yield Statement("iHDw has the best average rank", True, _best("ihdw"))
    if set(PROPOSED) <= set(criteria):
        yield Statement("iHD or iHDw has the best average rank", True, _best(*PROPOSED))
    yield Statement("the criteria are not all alike (Iman-Davenport, 5 %)", True, lambda one: one.f > one.critical_f)
    for value, stated in (("chi_square", published.CHI_SQUARE), ("f", published.F)):
        title = "Friedman's chi-square" if value == "chi_square" else "Iman and Davenport's F"
        least = stated[group.measure]
        yield Statement(f"{title} is at least the printed {least}", True, _at_least(value, least))
    for base in (name for name in PROPOSED if name in criteria):
        ticked = [name for name in others if published.TITLES.get(name) in ticks[base]]
        listed = "all others" if ticked == others else ", ".join(map(published.title, ticked))
        if ticked:
            text = f"{published.title(base)} outperforms {listed} (Nemenyi, 5 %)"
            yield Statement(text, True, _all(base, ticked))
        if len(ticked) > 1:
            for other in others:
                text = f"tick: {published.title(base)} outperforms {published.title(other)}"
                yield Statement(text, other in ticked, _all(base, [other]))


def _best(*names: str) -> Callable[[Comparison], bool]:
    return lambda one: min(_rank(one, name) for name in names) == min(one.average_ranks)


def _at_least(value: str, least: float) -> Callable[[Comparison], bool]:
    return lambda one: bool(round(getattr(one, value), 2) >= least)


def _all(base: str, others: list[str]) -> Callable[[Comparison], bool]:
    return lambda one: all(outperforms(one, base, other) for other in others)


def statements(results: CriteriaResults) -> pd.DataFrame:
    """A row per group and statement: whether the paper says so, whether it follows from the printed table, and in how
    many repetitions it holds here."""
    rows = []
    criteria = results.experiment.criteria
    for group in summary.groups(results) if results.experiment.published else ():
        each = summary.rounds(results, group.name)
        table = summary.printed(results, group)
        theirs = compare(table) if table is not None and list(table) == list(criteria) and len(criteria) > 1 else None
        for one in of_group(group, criteria) if each else ():
            held = sum(one.holds(found) for found in each)
            from_table = one.holds(theirs) if theirs is not None else None
            rows.append((group.name, one.text, one.claimed, from_table, held, len(each)))
        for base in (name for name in PROPOSED if name in criteria):
            text = f"trees of {published.title(base)} are as large as the smallest of other criteria, within 10 %"
            ratios = [_size_ratio(results, group.name, r, base) for r in range(1, results.experiment.repetitions + 1)]
            if len(criteria) > 1:
                held = sum(abs(ratio - 1) <= ALIKE for ratio in ratios)
                rows.append((group.name, text, True, None, held, len(ratios)))
    columns = ["group", "statement", "claimed", "printed_table", "holds", "repetitions"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(share=frame["holds"] / frame["repetitions"])


def _size_ratio(results: CriteriaResults, group: str, repetition: int, base: str) -> float:
    """Nodes of a criterion's trees to those of the smallest other criterion: geometric mean over data sets."""
    logs = np.log(summary.wide(results, group, repetition, "nodes")).mean()
    return float(np.exp(logs[base] - logs.drop([name for name in PROPOSED if name in logs]).min()))
