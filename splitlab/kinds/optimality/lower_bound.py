"""The column ``lower_bound``: for every table the largest of the certified bounds that hold and are affordable."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from splitlab.bounds import BOUNDS, Kind
from splitlab.impurity import code

AFFORDABLE = 1e8  # nanoseconds per table


def held(n: int, k: int, impurity: str) -> list[Kind]:
    """The bounds that are taken for tables of n values and k classes; the cheapest one always is."""
    return [
        bound
        for name, bound in BOUNDS.items()
        if (bound.impurities is None or impurity in bound.impurities)
        and (name == "rows_bound" or bound.nanoseconds(n, k) <= AFFORDABLE)
    ]


def nanoseconds(n: int, k: int, impurity: str) -> float:
    """Rough time for one table."""
    return sum(bound.nanoseconds(n, k) for bound in held(n, k, impurity))


def bounds_of(tables: NDArray[np.int64], impurity: str) -> NDArray[np.float64]:
    """A number for each table (b, n, k) that no split's impurity is below; shape (b,)."""
    _, n, k = tables.shape
    return np.max([bound.batch(tables, code(impurity)) for bound in held(n, k, impurity)], axis=0)


def compile_bounds(impurities: Iterable[str]) -> None:
    """Have the bounds' kernels compiled, or loaded from the cache."""
    for impurity in impurities:
        bounds_of(np.array([[[3, 1, 0], [1, 2, 4]]]), impurity)
