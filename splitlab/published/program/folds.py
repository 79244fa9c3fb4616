"""The folds of the published study: one shuffle per trial, then stratified blocks.

Each trial seeds Python's generator (``protocol.SEEDS``) and shuffles the list of rows. The rows of each class, in that
order, are cut into consecutive blocks, the first ones longer by one where they do not come out even; the f-th blocks of
all classes are test fold f. Folds do not depend on what is done with them, so all splitters see the same ones.
"""

from __future__ import annotations

import random
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from splitlab._jit import Ints

ORDERS = 1000  # shuffled orders that are kept, 4 bytes a row: every splitter of a study asks for the same ones


@lru_cache(ORDERS)
def shuffled(n: int, seed: int) -> NDArray[np.int32]:
    """The rows 0, ..., n - 1 as Python's generator shuffles them: int32 (n,), kept for later calls and read-only."""
    rows = list(range(n))
    random.Random(seed).shuffle(rows)
    order = np.array(rows, np.int32)
    order.flags.writeable = False
    return order


def folds(y: Ints, k: int, seed: int, n_folds: int = 3) -> list[tuple[Ints, Ints]]:
    """Training and test rows of each fold, in shuffled order.

    Parameters
    ----------
    y : int64 (n,)
        The class of each row, from 0 to k - 1.
    k : int
        The number of classes.
    seed : int
        Seed of the shuffle.
    n_folds : int
        The number of folds.

    Returns
    -------
    list of (int64, int64)
        Every row is in exactly one test fold.

    Examples
    --------
    >>> [test.tolist() for _, test in folds(np.array([0, 0, 0, 0, 1, 1]), 2, seed=1, n_folds=2)]
    [[2, 3, 5], [0, 4, 1]]
    """
    order = shuffled(len(y), seed).astype(np.int64)
    fold = np.empty(len(y), np.int64)
    for label in range(k):
        places = np.flatnonzero(y[order] == label)
        for number, block in enumerate(np.array_split(places, n_folds)):
            fold[block] = number
    return [(order[fold != number], order[fold == number]) for number in range(n_folds)]
