"""The greedy descent of SLIQext with the purest rows as its only candidates.

Notation: A is the table, |v| the sum of row v, p_v = A[v] / |v|; n rows, k classes.

All rows start on the left. A step moves one row to the right; its candidates are, for every class i, the row with the
largest p_v[i] of those still on the left (the first such row; correctly rounded division makes equal shares equal
floats, so ties are exact). The candidate whose move leaves the least impurity is moved, among equal ones the row
with the lowest index, until one row is left; the best split seen is returned, the first of equal ones. Strictly
better is lower by more than 1e-12 N. The first move is always made, so neither side is ever empty; when all rows are
proportional, the first row ends up against the rest.

No guarantee, not even that of being as good as SLIQ. Cost O(n k^2) and k sorts: the rows stand in k lists, sorted by
their share of each class, and each list keeps the place of its first row that is still on the left.

Source: a cheaper relative of SLIQext (Laber, Molinaro, Pereira, ICML 2018, section 5).
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import STRICTLY, lookup_table, sides_impurity
from splitlab.splitters.kernels.sweep import margins, sort_scores


@kernel
def sort_by_each_class(table: Ints, sizes: Ints, lists: Ints) -> None:
    """Fill lists (k, n) with the rows by decreasing share of each class, ties by index."""
    n, k = table.shape
    falling, spare = np.empty(n), np.empty(n, np.int64)
    for i in range(k):
        for v in range(n):
            falling[v] = -(table[v, i] / sizes[v])
        sort_scores(falling, lists[i], spare)


@kernel
def gather(lists: Ints, places: Ints, on_left: Bools, candidates: Ints) -> int:
    """Fill in the candidates of a step, ascending and each but once; their number.

    ``places`` (k,) move on in their lists to the first row that is on the left; there is one.
    """
    # Insertion sort of the k rows; one that is the purest of several classes goes in once.
    count = 0
    for i in range(places.size):
        while not on_left[lists[i, places[i]]]:
            places[i] += 1
        row = lists[i, places[i]]
        at = count
        while at > 0 and candidates[at - 1] > row:
            at -= 1
        if at == 0 or candidates[at - 1] < row:
            for later in range(count, at, -1):
                candidates[later] = candidates[later - 1]
            candidates[at] = row
            count += 1
    return count


@kernel
def least_candidate(
    table: Ints, sizes: Ints, left: Ints, totals: Ints, n_left: int, n_total: int, kind: int, lookup: Floats,
    candidates: Ints, count: int,
) -> tuple[float, int]:  # fmt: skip
    """The least impurity after the move of one of the first ``count`` candidates, and the row that is moved."""
    rest = np.empty(left.size, np.int64)
    best, row = np.inf, -1
    for c in range(count):
        v = candidates[c]
        for i in range(left.size):
            rest[i] = left[i] - table[v, i]
        value = sides_impurity(rest, totals, n_left - sizes[v], n_total, kind, lookup)
        if value < best - STRICTLY * n_total:
            best, row = value, v
    return best, row


@kernel
def pull_left(tables: Ints, kind: int, masks: Bools) -> None:
    """Greedy descent over the purest rows: int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    lists, candidates, places = np.empty((k, n), np.int64), np.empty(k, np.int64), np.empty(k, np.int64)
    sizes, totals, left = np.empty(n, np.int64), np.empty(k, np.int64), np.empty(k, np.int64)
    on_left = np.empty(n, np.bool_)
    for t in range(b):
        n_left = n_total = margins(tables[t], sizes, totals)
        sort_by_each_class(tables[t], sizes, lists)
        left[:], places[:], on_left[:] = totals, 0, True
        least = np.inf
        for _ in range(n - 1):
            # left and n_left are the counts of the rows in on_left, which are at least two.
            count = gather(lists, places, on_left, candidates)
            value, row = least_candidate(
                tables[t], sizes, left, totals, n_left, n_total, kind, lookup, candidates, count
            )
            on_left[row] = False
            n_left -= sizes[row]
            for i in range(k):
                left[i] -= tables[t, row, i]
            # The rows still on the left are one side of the split after this step.
            if value < least - STRICTLY * n_total:
                least = value
                masks[t] = on_left
