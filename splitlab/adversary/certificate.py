"""A table, the split that a splitter makes of it, the best split, and both impurities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from splitlab._jit import Bools, Floats, Ints
from splitlab.impurity import code, score
from splitlab.splitters import Splitter, get, split_batch
from splitlab.tables.contingency import as_counts

OPTIMUM = "exact"  # the splitter that all others are held against


@dataclass(frozen=True, eq=False)
class Found:
    """What a splitter makes of a table, beside the best that can be made of it.

    Attributes
    ----------
    splitter, impurity : str
        Their names.
    table : int64 array, shape (n, k)
        Counts, without zero rows and columns.
    left, best_left : bool arrays, shape (n,)
        The left sides of the splitter's split and of a best one.
    value, optimum : float
        I(u_L) + I(u_R) of the two splits.
    """

    splitter: str
    impurity: str
    table: Ints
    left: Bools
    best_left: Bools
    value: float
    optimum: float

    @property
    def ratio(self) -> float:
        """How many times the optimum the splitter's split costs; infinite where only the optimum is 0."""
        return float(quotients(np.array([self.value]), np.array([self.optimum]))[0])


def certified(table: object, splitter: str, impurity: str) -> Found:
    """Split a table both ways; ValueError when it is none, or has zero rows or columns.

    Examples
    --------
    >>> table = [[39, 6, 0], [0, 13, 40], [0, 58, 76], [34, 27, 0], [59, 32, 0], [0, 0, 19]]
    >>> round(certified(table, "lca", "gini").ratio, 4)
    1.4153
    """
    tables, kind = as_counts(table)[None], code(impurity)
    if not (tables.any(axis=1).all() and tables.any(axis=2).all()):
        raise ValueError("table: has a row or a column of zeros; leave it out")
    ours, best = (split_batch(get(name), tables, kind) for name in (splitter, OPTIMUM))
    value, optimum = (float(score(tables, masks, kind)[0]) for masks in (ours, best))
    return Found(splitter, impurity, tables[0], ours[0], best[0], value, optimum)


def ratios(tables: Ints, splitter: Splitter, kind: int) -> Floats:
    """The ratio to the optimum for every table of a batch: int64 (b, n, k) -> float64 (b,)."""
    ours, best = (score(tables, split_batch(s, tables, kind), kind) for s in (splitter, get(OPTIMUM)))
    return quotients(ours, best)


def quotients(values: Floats, optima: Floats) -> NDArray[np.float64]:
    """Value / optimum; where the optimum is 0, 1 for a value of 0 and infinity for others."""
    unbounded = np.where(values > 0, np.inf, 1.0)
    return np.divide(values, optima, out=unbounded, where=optima > 0)
