"""A worst case as text: the certificate in full."""

from __future__ import annotations

import math

from splitlab.adversary.certificate import Found
from splitlab.adversary.known import HIGHER, Known, proven
from splitlab.report.layout import grid, value_numbers
from splitlab.splitters import get


def number(ratio: float) -> str:
    """A ratio to four decimals, as the README has it; a large one to two."""
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
        return "The committed list of worst tables has none for this splitter."
    if found.ratio > known.ratio * (1.0 + HIGHER):
        return f"This beats the worst table of the committed list ({number(known.ratio)})."
    return f"The worst table of the committed list has {number(known.ratio)}."
