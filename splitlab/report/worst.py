"""Worst cases as texts: a certificate in full, and the list of all."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from splitlab.adversary.certificate import Found
from splitlab.adversary.known import HIGHER, Key, Known, challenged, proven
from splitlab.report.layout import Entry, Table
from splitlab.report.replay import grid, value_numbers
from splitlab.report.tables import IMPURITY_TITLES, NONE
from splitlab.splitters import get

NOTES = (
    "Impurity of a splitter's split / optimum on the worst table known: a lower bound on the splitter's worst case.",
    "Entries of the tables are bounded; where nothing is proven a ratio may go on growing with the bound.",
)


def number(ratio: float | None) -> str:
    """A ratio to at least five digits; a dash for none."""
    if ratio is None:
        return NONE
    return "unbounded" if math.isinf(ratio) else f"{ratio:,.4f}" if ratio < 100 else f"{ratio:,.2f}"


def text_of(found: Found, known: Known | None) -> str:
    """Table, both splits, both impurities, the ratio, what is proven, and how it stands to the list."""
    title, (n, k) = get(found.splitter).title, found.table.shape
    width = max(len(title), len("optimum"))
    splits = ((title, found.value, found.left), ("optimum", found.optimum, found.best_left))
    return "\n".join(
        [
            f"{n} values (numbered from 0) x {k} classes",
            grid(found.table),
            *(f"{name:{width}}  {value:.10g}, left side {value_numbers(side)}" for name, value, side in splits),
            f"ratio {number(found.ratio)}, {found.impurity}; {bound(found)}",
            standing(found, known),
        ]
    )


def bound(found: Found) -> str:
    """What is proven, in words."""
    most = proven(found.splitter, found.impurity)
    return "nothing is proven" if most is None else f"proven: at most {most:g}"


def standing(found: Found, known: Known | None) -> str:
    """Whether the committed list has a worse table."""
    if known is None:
        return "The list of worst known tables has none for this splitter."
    if found.ratio > known.ratio * (1.0 + HIGHER):
        return f"This beats the worst known table ({number(known.ratio)})."
    return f"The worst known table has {number(known.ratio)}."


def frame_of(known: Mapping[Key, Known], scratch: Mapping[Key, float]) -> pd.DataFrame:
    """The list as a frame; ``scratch`` has what the present searches found by themselves."""
    columns = ["splitter", "impurity", "found", "worst", "proven", "n", "k", "table"]
    rows = []
    for key in (key for key in challenged() if key in known):
        ratios = [scratch.get(key), known[key].ratio, proven(*key)]
        rows.append([*key, *ratios, *known[key].counts.shape, known[key].counts.tolist()])
    return pd.DataFrame(rows, columns=columns)


def table_of(known: Mapping[Key, Known], scratch: Mapping[Key, float]) -> Table:
    """The list, one row per splitter and impurity."""
    heads = ["splitter", "impurity", "found now", "worst known", "proven", "size"]
    rows = []
    for name, impurity in (key for key in challenged() if key in known):
        one, most = known[name, impurity], proven(name, impurity)
        n, k = one.counts.shape
        shown = [number(scratch.get((name, impurity))), number(one.ratio), NONE if most is None else f"{most:g}"]
        rows.append([Entry(t) for t in (get(name).title, IMPURITY_TITLES[impurity], *shown, f"{n} x {k}")])
    return Table("Worst known tables: ratio to the optimum", heads, rows, 2, NOTES)
