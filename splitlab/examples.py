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


def largest_row(table: NDArray[np.int64], impurity: str) -> NDArray[np.bool_]:
    """A splitter: the row with the most examples against all others, the first such row, whatever the impurity."""
    left = np.zeros(len(table), dtype=bool)
    left[table.sum(axis=1).argmax()] = True
    return left
