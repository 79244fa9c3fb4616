"""What every ordering splitter is built on: a stable sort and one sweep over the prefixes.

Glossary
--------
table    int64 (n, k), row v holds the class counts of value v; no zero row, no zero column
score    float64 (n,), one number per row
order    int64 (n,), the rows by ascending score, equal scores by row index
cut j    the split with left side order[0..j], 0 <= j < n-1
exchange that split with order[j] and order[j+1] swapped across the cut

The sweep evaluates the n-1 cuts in order and keeps a strictly better one only (by more than 1e-12 N), so the
first of equal cuts is taken. Cost: O(n k) after a sort of O(n log n).

Source: Algorithm 1 (B_d) of Laber, Molinaro, Pereira (ICML 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import ENTROPY, GINI, STRICTLY, sides_impurity

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
    # Merge sort from the bottom up
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
    mispredict and in vector instructions, four times as fast as merging up to about 64 rows. Of equal scores the first
    row comes first and takes the first place.
    """
    n = order.size
    # n^2 is too much for many rows.
    if n > COUNTED:
        sort_rows(scores.reshape(n, 1), order, spare)
        return
    for v in range(n):
        order[v] = -1
        smaller = 0
        for w in range(n):
            smaller += int(scores[w] < scores[v])
        spare[v] = smaller
    # As many rows as have smaller scores come before. Rows of equal scores get the same place; they go one after the
    # other into the free places from there on, the first row first.
    for v in range(n):
        place = spare[v]
        while order[place] >= 0:
            place += 1
        order[place] = v


@kernel
def gini_cuts(table: Ints, order: Ints, totals: Floats, sides: Floats, values: Floats) -> None:
    """Gini of all cuts (line 0), and of their exchanged splits where there is a line 1.

    ``totals`` (k + 1,) are the class totals and N, as floats, which are exact below 2^53; ``sides`` (lines, k + 1)
    those of the left sides, zeros at first; ``values`` (lines, n - 1). An exchanged split has order[j+1] instead of
    order[j] added to the prefix so far.
    """
    # Line 1 goes first: it needs the prefix before row j, which line 0 then takes in for good.
    k = totals.size - 1
    for j in range(order.size - 1):
        for line in range(values.shape[0] - 1, -1, -1):
            row = np.uint64(order[j + line])
            n_left, squares_left, squares_right = sides[0, k], 0.0, 0.0
            for i in range(k):
                count = float(table[row, i])
                x = sides[0, i] + count
                y = totals[i] - x
                n_left += count
                squares_left += x * x
                squares_right += y * y
                sides[line, i] = x
            sides[line, k] = n_left
            values[line, j] = totals[k] - squares_left / n_left - squares_right / (totals[k] - n_left)


@kernel
def entropy_cuts(table: Ints, order: Ints, totals: Ints, lookup: Floats, sides: Ints, values: Floats) -> None:
    """Entropy of all cuts (line 0), and of their exchanged splits where there is a line 1.

    ``lookup`` is x log2 x for x up to N at least; the other arguments are as for ``gini_cuts``, but ``totals`` and
    ``sides`` are integers.
    """
    k = totals.size - 1
    for j in range(order.size - 1):
        for line in range(values.shape[0] - 1, -1, -1):
            row = np.uint64(order[j + line])
            n_left, within = sides[0, k], 0.0
            for i in range(k):
                x = sides[0, i] + table[row, i]
                n_left += table[row, i]
                within += lookup[np.uint64(x)] + lookup[np.uint64(totals[i] - x)]
                sides[line, i] = x
            sides[line, k] = n_left
            values[line, j] = lookup[np.uint64(n_left)] + lookup[np.uint64(totals[k] - n_left)] - within


@kernel
def other_cuts(table: Ints, order: Ints, totals: Ints, kind: int, lookup: Floats, sides: Ints, values: Floats) -> None:
    """Impurity of all cuts (line 0), and of their exchanged splits where there is a line 1.

    For any impurity and any counts. The arguments are as for ``entropy_cuts``, but ``lookup`` may be short or empty.
    """
    k = totals.size - 1
    for j in range(order.size - 1):
        for line in range(values.shape[0] - 1, -1, -1):
            row = order[j + line]
            sides[line, k] = sides[0, k]
            for i in range(k):
                sides[line, i] = sides[0, i] + table[row, i]
                sides[line, k] += table[row, i]
            n_left = sides[line, k]
            values[line, j] = sides_impurity(sides[line, :k], totals[:k], n_left, totals[k], kind, lookup)


@kernel
def with_sum(totals: Ints, n_total: int, both: Any) -> Any:
    """Copy the class totals and their sum into ``both`` (k + 1,)."""
    for i in range(totals.size):
        both[i] = totals[i]
    both[totals.size] = n_total
    return both


@kernel
def sweep(
    table: Ints, order: Ints, totals: Ints, n_total: int, kind: int, lookup: Floats, exchange: bool
) -> tuple[float, int, bool]:
    """Best cut along ``order``: (impurity, cut, whether it is the exchanged one).

    Gini and entropy have loops to themselves, twice as fast as calling ``sides_impurity`` for every cut. They fill in
    all values first and choose afterwards: two loops, but no branch in the first depends on a value.
    """
    k, lines = totals.size, 2 if exchange else 1
    values = np.empty((lines, order.size - 1))
    if kind == GINI:
        gini_cuts(table, order, with_sum(totals, n_total, np.empty(k + 1)), np.zeros((lines, k + 1)), values)
    else:
        whole, sides = with_sum(totals, n_total, np.empty(k + 1, np.int64)), np.zeros((lines, k + 1), np.int64)
        if kind == ENTROPY and n_total < lookup.size:
            entropy_cuts(table, order, whole, lookup, sides, values)
        else:
            other_cuts(table, order, whole, kind, lookup, sides, values)
    best, best_cut, best_line = np.inf, 0, 0
    for j in range(order.size - 1):
        for line in range(values.shape[0]):
            if values[line, j] < best - STRICTLY * n_total:
                best, best_cut, best_line = values[line, j], j, line
    return best, best_cut, best_line == 1


@kernel
def mark(order: Ints, cut: int, exchanged: bool, mask: Bools) -> None:
    """Write the left side of a cut into ``mask`` (n,)."""
    # The prefix; exchanged, its last row is replaced by the next one.
    for j in range(order.size):
        mask[order[j]] = j <= cut
    if exchanged:
        mask[order[cut]] = False
        mask[order[cut + 1]] = True
