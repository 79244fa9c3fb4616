"""What a user may write: a splitter that fails on some tables, and an impurity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def sometimes(table: NDArray[np.int64], impurity: str) -> NDArray[np.bool_]:
    """The row with the most examples alone; tables whose total is divisible by five are refused."""
    if table.sum() % 5 == 0:
        raise ValueError("not this table")
    return np.arange(len(table)) == table.sum(axis=1).argmax()


def cubic(p: float) -> float:
    """f(p) = p - p^3."""
    return p - p * p * p
