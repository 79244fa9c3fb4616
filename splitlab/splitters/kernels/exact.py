"""The true optimum by the cheapest way for each table.

Two classes: the order by share of class 0, whose best prefix is optimal; it is the only one that HcC walks then.
Otherwise ``exhaustive`` or ``hyperplanes``, whichever costs less (costs.py) for the number m of merged rows, rows
with equal class probabilities taken together.

Guarantee: optimal. Cost: O(n log n) for k = 2, else O(min(2^m k, m^(k-1) (m k + 2^k k))). Ties: as in the method taken.

Source: as of the methods.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Ints, kernel
from splitlab.splitters import costs
from splitlab.splitters.kernels.exhaustive import exhaustive
from splitlab.splitters.kernels.hypercube import hcc
from splitlab.splitters.kernels.hyperplanes import hyperplanes
from splitlab.splitters.kernels.principal import merge_rows
from splitlab.splitters.kernels.sweep import margins

METHODS = (hcc, exhaustive, hyperplanes)


@kernel
def merged_rows(tables: Ints) -> Ints:
    """The number of different class probabilities among the rows: int64 (b, n, k) -> (b,)."""
    b, n, k = tables.shape
    order, spare, group = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    sizes, totals, numbers = np.empty(n, np.int64), np.empty(k, np.int64), np.empty(b, np.int64)
    for t in range(b):
        margins(tables[t], sizes, totals)
        merged, _ = merge_rows(tables[t], sizes, order, spare, group)
        numbers[t] = merged.shape[0]
    return numbers


def cheapest(tables: Ints) -> Ints:
    """The place in ``METHODS`` of the cheapest one for each table: int64 (b, n, k) -> (b,)."""
    b, n, k = tables.shape
    if k == 2:
        return np.zeros(b, np.int64)
    by_number = [1 if costs.exhaustive(m, k) <= costs.hyperplanes(m, k) else 2 for m in range(n + 1)]
    return np.array(by_number)[merged_rows(tables)]


def exact(tables: Ints, kind: int, masks: Bools) -> None:
    """The optimum: int64 (b, n, k) -> bool masks (b, n), written in place.

    Not compiled itself, so that only the methods that are taken have to be.
    """
    methods = cheapest(tables)
    for number, split in enumerate(METHODS):
        chosen = methods == number
        if chosen.any():
            part = np.zeros((int(chosen.sum()), masks.shape[1]), np.bool_)
            split(tables[chosen], kind, part)
            masks[chosen] = part
