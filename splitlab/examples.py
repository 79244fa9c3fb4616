"""Examples of what one can add: impurities and a splitter, as ``splitlab.examples:NAME``."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def cubic(p: float) -> float:
    """f(p) = p - p^3, an impurity of class C beyond Gini and entropy."""
    return p - p * p * p


def square_root(p: float) -> float:
    """f(p) = sqrt(p) - p: concave, and 0 at 0 and 1, but against (P3), so no ratio is proven for it."""
    return math.sqrt(p) - p


def above_average(table: NDArray[np.int64], impurity: str) -> NDArray[np.bool_]:
    """A splitter: the rows with more than the average share of the largest class, whatever the impurity."""
    largest, sizes = table[:, table.sum(axis=0).argmax()], table.sum(axis=1)
    left = largest / sizes > largest.sum() / sizes.sum()
    if left.all() or not left.any():  # all shares are equal, but for rounding
        left[:] = np.arange(len(table)) == 0
    return left
