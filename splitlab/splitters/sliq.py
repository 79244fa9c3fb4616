"""The greedy descents SLIQ and SLIQext.

All rows start on the left. In each step the row whose move to the right gives the least impurity is moved; among
equal moves the row with the lowest index. SLIQ stops at the first step that does not improve the split by more
than 1e-12 N; SLIQext goes on until one row is left and returns the best split seen (the first of equal ones).
The first step is always made, so neither side is ever empty. No guarantee; SLIQext is never worse than SLIQ.
Cost O(n^2 k).

Source: Mehta, Agrawal, Rissanen, SLIQ (EDBT 1996); its extension as described by Laber, Molinaro, Pereira
(ICML 2018), section 5.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import STRICTLY, lookup_table, sides_impurity
from splitlab.splitters.sweep import margins


@kernel
def best_move(
    table: Ints,
    sizes: Ints,
    on_left: Bools,
    left: Ints,
    n_left: int,
    totals: Ints,
    n_total: int,
    kind: int,
    lookup: Floats,
    trial: Ints,
) -> tuple[float, int]:
    """The row whose move off the left side gives the least impurity: (impurity, row)."""
    best = np.inf
    best_row = -1
    for v in range(table.shape[0]):
        if on_left[v]:
            for i in range(totals.size):
                trial[i] = left[i] - table[v, i]
            value = sides_impurity(trial, totals, n_left - sizes[v], n_total, kind, lookup)
            if value < best - STRICTLY * n_total:
                best, best_row = value, v
    return best, best_row


@kernel
def descend(tables: Ints, kind: int, masks: Bools, stop_early: bool) -> None:
    """SLIQ (``stop_early``) or SLIQext: int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    on_left, trial, left = np.empty(n, np.bool_), np.empty(k, np.int64), np.empty(k, np.int64)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    for t in range(b):
        table = tables[t]
        n_total = margins(table, sizes, totals)
        n_left = n_total
        for i in range(k):
            left[i] = totals[i]
        for v in range(n):
            on_left[v] = True
        best = np.inf
        for _ in range(n - 1):
            # left and n_left are the counts of the rows in on_left, which are at least two.
            value, row = best_move(table, sizes, on_left, left, n_left, totals, n_total, kind, lookup, trial)
            better = value < best - STRICTLY * n_total
            if stop_early and not better:
                break
            on_left[row] = False
            n_left -= sizes[row]
            for i in range(k):
                left[i] -= table[row, i]
            if better:
                best = value
                for v in range(n):
                    masks[t, v] = on_left[v]
