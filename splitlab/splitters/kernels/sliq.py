"""The greedy descents SLIQ and SLIQext.

All rows start on the left. In each step the row whose move to the right gives the least impurity is moved; among
equal moves the row with the lowest index. SLIQ stops at the first step that does not improve the split by more
than 1e-12 N; SLIQext goes on until one row is left and returns the best split seen (the first of equal ones).
The first step is always made, so neither side is ever empty. No guarantee; SLIQext is never worse than SLIQ.

Cost O(n^2 k): n^2 / 2 moves are weighed. The rows that are left stand side by side, one array per class, so that
the inner loops run over rows: such a loop becomes vector instructions, and its rows do not wait for each other. With
l and r the class counts of the sides and a those of a row,

- Gini needs sum (l_i - a_i)^2 = l.l - 2 l.a + a.a and sum (r_i + a_i)^2 = r.r + 2 r.a + a.a only. Keeping l.a for every
  row up to date makes weighing a move O(1) and making one O(k) per row left. All of it is integers, exact in float64
  while N^2 < 2^53;
- entropy needs sum h_i(l_i - a_i) with h_i(x) = x log2 x + (u_i - x) log2(u_i - x), one look-up per class in a table
  of u_i + 1 entries.

Where N is too large for the one, or the tables would be larger than the work, each move is weighed as a whole.

Source: Mehta, Agrawal, Rissanen, SLIQ (EDBT 1996); its extension as described by Laber, Molinaro, Pereira
(ICML 2018), section 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import ENTROPY, GINI, STRICTLY, lookup_table, sides_impurity
from splitlab.splitters.kernels.sweep import margins

LARGEST_EXACT = 94_000_000  # its square is below 2^53


@kernel
def line_up(table: Ints, sizes: Ints, totals: Ints, rows: Ints, columns: Ints, weights: Floats) -> None:
    """Write all rows to the left: ``rows`` (1, n) their numbers, ``columns`` (k + 1, n) counts and sizes.

    ``weights`` (k + 4, n) gets counts, sizes, a.a, u.a and l.a, as floats.
    """
    k = totals.size
    for v in range(sizes.size):
        rows[0, v] = v
        columns[k, v], weights[k, v] = sizes[v], sizes[v]
        weights[k + 1, v], weights[k + 2, v] = 0.0, 0.0
        for i in range(k):
            count = table[v, i]
            columns[i, v], weights[i, v] = count, count
            weights[k + 1, v] += float(count) * float(count)
            weights[k + 2, v] += float(totals[i]) * float(count)
        weights[k + 3, v] = weights[k + 2, v]


@kernel
def subtract_products(row: Ints, weights: Floats, m: int) -> None:
    """l.a when ``row`` leaves l, for each of the m rows left."""
    for i in range(row.size):
        count = float(row[i])
        for v in range(m):
            weights[row.size + 3, v] -= count * weights[i, v]


@kernel
def gini_moves(left: Ints, totals: Ints, n_left: int, n_total: int, weights: Floats, m: int, values: Floats) -> None:
    """I(l - a) + I(r + a) for each of the m rows left."""
    k = left.size
    left_squares, right_squares = 0.0, 0.0
    for i in range(k):
        left_squares += float(left[i]) * float(left[i])
        right_squares += float(totals[i] - left[i]) * float(totals[i] - left[i])
    for v in range(m):
        square, product = weights[k + 1, v], weights[k + 3, v]
        rest = left_squares - 2.0 * product + square
        moved = right_squares + 2.0 * (weights[k + 2, v] - product) + square
        remaining = n_left - weights[k, v]
        values[v] = n_total - rest / remaining - moved / (n_total - remaining)


@kernel
def entropy_moves(left: Ints, n_left: int, columns: Ints, m: int, terms: Floats, stride: int, values: Floats) -> None:
    """The same for entropy; ``terms`` holds h_0, h_1, ..., ``stride`` apart, and h_N."""
    k = left.size
    for v in range(m):
        values[v] = terms[np.uint64(k * stride + n_left - columns[k, v])]
    for i in range(k):
        start = i * stride + left[i]
        for v in range(m):
            values[v] -= terms[np.uint64(start - columns[i, v])]


@kernel
def whole_moves(
    left: Ints, totals: Ints, n_left: int, n_total: int, columns: Ints, m: int, kind: int, lookup: Floats,
    trial: Ints, values: Floats,
) -> None:  # fmt: skip
    """The same by the definition."""
    k = left.size
    for v in range(m):
        for i in range(k):
            trial[i] = left[i] - columns[i, v]
        values[v] = sides_impurity(trial, totals, n_left - columns[k, v], n_total, kind, lookup)


@kernel
def fill_terms(total: int, start: int, lookup: Floats, terms: Floats) -> None:
    """h_total(x) for x = 0, ..., total, from ``start`` on."""
    first, last = np.uint64(start), np.uint64(total)
    for x in range(np.uint64(0), last + np.uint64(1)):
        terms[first + x] = lookup[x] + lookup[last - x]


@kernel
def least_move(values: Floats, m: int, margin: float) -> int:
    """The first of the m rows left with the least value."""
    best = np.inf
    place = 0
    for v in range(m):
        if values[v] < best - margin:
            best, place = values[v], v
    return place


@kernel
def take_out(array: Any, place: int, m: int) -> None:
    """Close the gap at ``place`` in each line of ``array`` (lines, n), of which m entries count.

    Unsigned indices make this vector instructions, five times as fast: it was half of the time of all.
    """
    one = np.uint64(1)
    for line in range(array.shape[0]):
        for v in range(np.uint64(place), np.uint64(m - 1)):
            array[line, v] = array[line, v + one]


@kernel
def descend(tables: Ints, kind: int, masks: Bools, stop_early: bool) -> None:
    """SLIQ (``stop_early``) or SLIQext: int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    sizes, totals, trial, left = (
        np.empty(n, np.int64),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
    )
    rows, columns, weights = np.empty((1, n), np.int64), np.empty((k + 1, n), np.int64), np.empty((k + 4, n))
    moved, values, terms = np.empty(n, np.int64), np.empty(n), np.empty(0)
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        by_products = kind == GINI and n_total <= LARGEST_EXACT
        by_terms = kind == ENTROPY and n_total < lookup.size and 4 * n_total <= n * n * k
        stride = totals.max() + 1
        if by_terms:
            if terms.size < k * stride + n_total + 1:
                terms = np.empty(k * stride + n_total + 1)
            for i in range(k):
                fill_terms(totals[i], i * stride, lookup, terms)
            fill_terms(n_total, k * stride, lookup, terms)
        line_up(tables[t], sizes, totals, rows, columns, weights)
        left[:] = totals
        n_left, best, steps = n_total, np.inf, 0
        for step in range(n - 1):
            # left and n_left are the counts of the m rows left, which are at least two.
            m = n - step
            if by_products:
                gini_moves(left, totals, n_left, n_total, weights, m, values)
            elif by_terms:
                entropy_moves(left, n_left, columns, m, terms, stride, values)
            else:
                whole_moves(left, totals, n_left, n_total, columns, m, kind, lookup, trial, values)
            place = least_move(values, m, STRICTLY * n_total)
            if values[place] < best - STRICTLY * n_total:
                best, steps = values[place], step + 1
            elif stop_early:
                break
            row = rows[0, place]
            moved[step] = row
            n_left -= sizes[row]
            for i in range(k):
                left[i] -= tables[t, row, i]
            take_out(rows, place, m)
            if by_products:
                take_out(weights, place, m)
                subtract_products(tables[t, row], weights, m - 1)
            else:
                take_out(columns, place, m)
        masks[t] = True
        for step in range(steps):
            masks[t, moved[step]] = False
