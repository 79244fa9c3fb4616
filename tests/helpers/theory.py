"""What the tests of the theory are made of: impurities of the class C, tables, and the paper's notation as functions.

u are class counts, d a direction, u * d their coordinatewise product, opt the least I(u_L) + I(u_R) of a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from splitlab.splitters import reference
from splitlab.splitters.reference import impurity, split_impurity

Table = list[list[int]]
Function = Callable[[float], float]

F: dict[str, Function] = {
    "gini": lambda x: x * (1 - x),
    "entropy": lambda x: -x * math.log2(x) if x else 0.0,
    "cubic": lambda x: x - x**3,
    "power": lambda x: x - x**1.5,
}
SLOPE: dict[str, Function] = {
    "gini": lambda x: 1 - 2 * x,
    "entropy": lambda x: -math.log2(x) - 1 / math.log(2),
    "cubic": lambda x: 1 - 3 * x * x,
    "power": lambda x: 1 - 1.5 * math.sqrt(x),
}

# Tables on which LCA and HcC are worst as far as is known, and some with many ties.
HARD: list[Table] = [
    [[39, 6, 0], [0, 13, 40], [0, 58, 76], [34, 27, 0], [59, 32, 0], [0, 0, 19]],
    [[0, 0, 43], [2, 0, 4], [0, 542, 0], [5, 0, 0], [0, 5, 6], [4, 3, 0], [3, 0, 16], [0, 17, 0]],
    [[18, 6, 30], [15, 0, 0], [9, 9, 0], [1, 34, 0], [0, 2, 2]],
    [[5, 0, 0], [0, 5, 0], [0, 0, 5]],
    [[1, 2, 2], [0, 0, 2], [1, 2, 0]],
]


def measure(f: Function) -> Callable[[list[int]], float]:
    return lambda u: sum(u) * sum(f(x / sum(u)) for x in u) if any(u) else 0.0


COUNTS = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 5, 8, 40, 1000, 10**6])


@st.composite
def contingency_tables(draw: st.DrawFn, classes: tuple[int, int] = (2, 4)) -> Table:
    k = draw(st.integers(*classes))
    row = st.lists(COUNTS, min_size=k, max_size=k).filter(any)
    table = draw(st.lists(row, min_size=2, max_size=5))
    assume(all(map(any, zip(*table, strict=True))))
    return table


steady = settings(deadline=None, derandomize=True, max_examples=30)
thorough = settings(steady, max_examples=150)


def on_tables(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test on the hard tables and on 30 others."""
    for table in HARD:
        test = example(table=table)(test)
    return steady(given(table=contingency_tables())(test))


vectors = st.lists(COUNTS, min_size=2, max_size=5).filter(any)
shares = st.integers(0, 16).map(lambda x: x / 16)  # exact floats: products with counts are exact, too


def slack(*counts: Sequence[float]) -> float:
    """Far above rounding errors, far below a violation of anything."""
    return 1e-11 * sum(map(sum, counts))


def sums(table: Table) -> list[int]:
    return [sum(column) for column in zip(*table, strict=True)]


def directions(k: int) -> Iterator[tuple[int, ...]]:
    return product((0, 1), repeat=k)


def rest(d: Sequence[float]) -> list[float]:
    return [1 - x for x in d]


def dot(u: Sequence[float], d: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(u, d, strict=True))


def masked(u: Sequence[float], d: Sequence[float]) -> list[float]:
    return [x * y for x, y in zip(u, d, strict=True)]


def collapsed(u: Sequence[float], d: Sequence[float]) -> list[float]:
    return [dot(u, d), dot(u, rest(d))]


def within(u: Sequence[float], d: Sequence[float], name: str) -> float:
    """I(u * d) + I(u * (1-d)): what the collapsed table does not see."""
    return impurity(masked(u, d), name) + impurity(masked(u, rest(d)), name)


def optimum(table: Table, name: str) -> float:
    return split_impurity(table, reference.SPLITTERS["exhaustive"](table, name), name)


def reached(table: Table, splitter: str, name: str) -> float:
    return split_impurity(table, reference.SPLITTERS[splitter](table, name), name)


def a_d(table: Table, d: Sequence[float], name: str) -> float:
    return split_impurity(table, reference.collapsed_along(table, name, d), name)


def b_d(table: Table, d: Sequence[float], name: str) -> float:
    return split_impurity(table, reference.along_direction(table, name, d), name)


def largest_class(table: Table) -> list[int]:
    u = sums(table)
    return [int(i == u.index(max(u))) for i in range(len(u))]


def p3_gap(f: Function, p: float, q: float) -> float:
    """(P3) says that this is not negative for 0 < p <= q <= 1."""
    return p / q * f(q) + q * f(p / q) - f(p)


def tangent(u: Sequence[int], row: Sequence[int], name: str) -> float:
    """grad I(u) . row; infinite, for entropy, when the row has a class that u lacks."""
    p = [x / sum(u) for x in u]
    common_part = sum(F[name](x) - x * SLOPE[name](x) for x in p if x)
    if name == "entropy" and any(c and not x for c, x in zip(row, p, strict=True)):
        return math.inf
    return sum(c * (SLOPE[name](x) + common_part) for c, x in zip(row, p, strict=True) if c)


def without_the_largest(u: Sequence[int], name: str) -> float:
    return impurity(sorted(u)[:-1], name)


def least_unseen(u: Sequence[int], name: str) -> float:
    return min(within(u, d, name) for d in directions(len(u)))
