"""PCext and SLIQext on random tables in the arithmetic of the published program, where rounding decides.

The splitters of this package compare impurities with a tolerance and break ties by fixed rules. The program behind
the paper's Tables 1 and 2 does neither. For 92 of their 96 entries this makes no difference. The other four are of
n = 50, k = 3. There PCext, which scores raw counts, often scores rows alike up to rounding, namely rows that differ
by a constant vector; then the last bits of the principal component decide how these rows are ordered.

- ``pc_ext_counts``: NumPy's own operations in the order of the program. The last bits come from the eigensolver and
  matrix product of the linear algebra library that NumPy uses, and that library chooses them by the processor. So the
  number of tables won varies a little from machine to machine: by up to five in 10,000 among six kinds of processor.
- ``sliq_ext``: the greedy descent with every candidate's impurity summed as the program sums it, strictly smaller
  wins. This changes 3 tables of 10,000 for Gini.

Both are user-defined splitters in the sense of this package: functions of a table and an impurity's name, that a
config names as ``splitlab.published.program.random_tables:sliq_ext``.

Source: the program that Laber, Molinaro and Pereira published with the paper (ICML 2018, section 5.1).
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import code, lookup_table
from splitlab.published.program.splitters import best_exchange, merge_close
from splitlab.published.program.sums import BITS, SHARES, move, split_value
from splitlab.splitters.kernels.sweep import mark


def pc_ext_counts(table: Ints, impurity: str) -> Bools:
    """Split a table by PCext with scored counts.

    Parameters
    ----------
    table : int64, shape (n, k)
        No zero row and no zero column.
    impurity : {'gini', 'entropy'}

    Returns
    -------
    bool array, shape (n,)
        The left side.
    """
    n, kind = len(table), code(impurity)
    order, spare, group = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    merged, probabilities = merge_close(table, table.sum(axis=1), order, spare, group)
    if len(merged) == 1:  # all rows are proportional, and every split is as good
        return np.arange(n) == 0
    totals = table.sum(axis=0)
    scores = np.dot(merged, _component(merged, probabilities, totals))
    # NumPy's quicksort is not stable: among more than 16 rows, equal scores may come out in any order.
    along = np.argsort(scores).astype(np.int64)
    lookup = lookup_table(table[None], kind)
    cut, exchanged = best_exchange(merged, along, totals, int(totals.sum()), kind, lookup)
    chosen = np.empty(len(merged), np.bool_)
    mark(along, max(cut, 0), exchanged, chosen)  # cut -1 is the empty prefix, where no split is lower
    return chosen[group]


def _component(merged: Ints, probabilities: Floats, totals: Ints) -> Floats:
    """The principal component of the class probabilities, weighted by row size; float64 (k,)."""
    n_total = totals.sum()
    away = probabilities - totals / n_total
    weighted = away * merged.sum(axis=1).reshape(-1, 1)
    values, vectors = np.linalg.eigh((1 / (n_total - 1)) * np.dot(weighted.T, away))
    return vectors[:, np.argmax(values)]


def sliq_ext(table: Ints, impurity: str) -> Bools:
    """Split a table by SLIQext.

    Parameters
    ----------
    table : int64, shape (n, k)
        No zero row and no zero column.
    impurity : {'gini', 'entropy'}

    Returns
    -------
    bool array, shape (n,)
        The left side.
    """
    return _descend(table, BITS if impurity == "entropy" else SHARES)


@kernel
def _descend(table: Ints, sums: int) -> Bools:
    """Move row after row to the right, each time the one that leaves the least impurity; the best split seen."""
    n, k = table.shape
    left, right = np.zeros(k, np.int64), np.zeros(k, np.int64)
    for v in range(n):
        for i in range(k):
            left[i] += table[v, i]
    n_total = left.sum()
    n_left, moved, steps, best = n_total, np.empty(n, np.int64), 0, np.inf
    mask = np.ones(n, np.bool_)  # the rows that are still on the left
    for step in range(n - 1):
        least, chosen = np.inf, -1
        for v in range(n):
            if mask[v]:
                # Move the row, look, and move it back.
                n_moved = n_left + move(table, v, -1, left, right)
                value = split_value(left, right, n_moved, n_total, sums)
                move(table, v, 1, left, right)
                if value < least:
                    least, chosen = value, v
        n_left += move(table, chosen, -1, left, right)
        mask[chosen], moved[step] = False, chosen
        if least < best:
            best, steps = least, step + 1
    mask[:] = True
    for step in range(steps):
        mask[moved[step]] = False
    return mask
