"""What every ordering splitter is built on: a stable sort and one sweep over the prefixes.

Glossary
--------
table    int64 (n, k), row v holds the class counts of value v; no zero row, no zero column
score    float64 (n,), one number per row
order    int64 (n,), the rows by ascending score, equal scores by row index
cut j    the split with left side order[0..j], 0 <= j < n-1
exchange the same split with order[j] and order[j+1] swapped across the cut

The sweep evaluates the n-1 cuts in order and keeps a strictly better one only (by more than 1e-12 N), so the
first of equal cuts is taken. Cost: O(n k) after a sort of O(n log n).

Source: Algorithm 1 (B_d) of Laber, Molinaro, Pereira (ICML 2018).
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import STRICTLY, sides_impurity

COUNTED = 64
RUN = 16  # rows sorted by insertion before runs are merged; measured flat between 8 and 32


@kernel
def margins(table: Ints, sizes: Ints, totals: Ints) -> int:
    """Fill in the row sums (n,) and column sums (k,); returns N."""
    for i in range(totals.size):
        totals[i] = 0
    n_total = 0
    for v in range(table.shape[0]):
        size = 0
        for i in range(totals.size):
            size += table[v, i]
            totals[i] += table[v, i]
        sizes[v] = size
        n_total += size
    return n_total


@kernel
def precedes(a: int, b: int, keys: Floats) -> bool:
    """Whether row a comes strictly before row b in the lexicographic order of their keys."""
    for c in range(keys.shape[1]):
        if keys[a, c] != keys[b, c]:
            return keys[a, c] < keys[b, c]
    return False


@kernel
def insertion_runs(keys: Floats, order: Ints) -> None:
    """Sort each stretch of RUN rows of ``order`` stably."""
    for start in range(0, order.size, RUN):
        for i in range(start + 1, min(start + RUN, order.size)):
            row = order[i]
            j = i
            while j > start and precedes(row, order[j - 1], keys):
                order[j] = order[j - 1]
                j -= 1
            order[j] = row


@kernel
def merge(keys: Floats, source: Ints, start: int, middle: int, stop: int, target: Ints) -> None:
    """Merge the sorted stretches [start, middle) and [middle, stop) of ``source`` into ``target``."""
    a, b = start, middle
    for i in range(start, stop):
        if a < middle and (b >= stop or not precedes(source[b], source[a], keys)):
            target[i] = source[a]
            a += 1
        else:
            target[i] = source[b]
            b += 1


@kernel
def sort_rows(keys: Floats, order: Ints, spare: Ints) -> None:
    """Fill ``order`` with the rows by ascending keys (n, c), lexicographic, ties by index; O(n log n)."""
    n = order.size
    for v in range(n):
        order[v] = v
    insertion_runs(keys, order)
    width = RUN
    while width < n:
        for start in range(0, n, 2 * width):
            merge(keys, order, start, min(start + width, n), min(start + 2 * width, n), spare)
        for v in range(n):
            order[v] = spare[v]
        width *= 2


@kernel
def sort_scores(scores: Floats, order: Ints, spare: Ints) -> None:
    """Fill ``order`` with the rows by ascending score (n,), ties by index; O(n log n).

    A few rows are put in their places by counting the smaller scores: n^2 steps, but without a single branch to
    mispredict, and twice as fast as merging up to about 64 rows. Of equal scores the first row comes first and takes
    the first place.
    """
    n = order.size
    if n > COUNTED:
        sort_rows(scores.reshape(n, 1), order, spare)
        return
    for v in range(n):
        order[v] = -1
    for v in range(n):
        x = scores[v]
        place = 0
        for w in range(n):
            place += scores[w] < x
        while order[place] >= 0:
            place += 1
        order[place] = v


@kernel
def sweep(
    table: Ints, order: Ints, totals: Ints, n_total: int, kind: int, lookup: Floats, exchange: bool
) -> tuple[float, int, bool]:
    """Best cut along ``order``: (impurity, cut, whether it is the exchanged one)."""
    left = np.zeros(totals.size, np.int64)
    swapped = np.empty(totals.size, np.int64)
    n_left, n_swapped = 0, 0
    best = np.inf
    best_cut = 0
    best_exchanged = False
    for j in range(order.size - 1):
        row, after = order[j], order[j + 1]
        if exchange:  # the prefix so far, and order[j+1] instead of order[j]
            n_swapped = n_left
            for i in range(totals.size):
                swapped[i] = left[i] + table[after, i]
                n_swapped += table[after, i]
        for i in range(totals.size):
            left[i] += table[row, i]
            n_left += table[row, i]
        # Here left = sum of the rows order[0..j].
        value = sides_impurity(left, totals, n_left, n_total, kind, lookup)
        if value < best - STRICTLY * n_total:
            best, best_cut, best_exchanged = value, j, False
        if exchange:
            value = sides_impurity(swapped, totals, n_swapped, n_total, kind, lookup)
            if value < best - STRICTLY * n_total:
                best, best_cut, best_exchanged = value, j, True
    return best, best_cut, best_exchanged


@kernel
def mark(order: Ints, cut: int, exchanged: bool, mask: Bools) -> None:
    """Write the left side of a cut into ``mask`` (n,)."""
    for j in range(order.size):
        mask[order[j]] = j <= cut
    if exchanged:
        mask[order[cut]] = False
        mask[order[cut + 1]] = True
