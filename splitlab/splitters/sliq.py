"""The greedy descents SLIQ and SLIQext.

All rows start on the left. In each step the row whose move to the right gives the least impurity is moved; among
equal moves the row with the lowest index. SLIQ stops at the first step that does not improve the split by more
than 1e-12 N; SLIQext goes on until one row is left and returns the best split seen (the first of equal ones).
The first step is always made, so neither side is ever empty. No guarantee; SLIQext is never worse than SLIQ.

Cost O(n^2 k): n^2 / 2 moves are weighed. With l and r the class counts of the sides and a those of a row,

- Gini needs sum (l_i - a_i)^2 = l.l - 2 l.a + a.a and sum (r_i + a_i)^2 = r.r + 2 r.a + a.a only. Keeping l.a for every
  row up to date makes weighing a move O(1) and making one O(k) per row left. All of it is integers, exact while
  N^2 fits into 63 bits;
- entropy needs sum h_i(l_i - a_i) with h_i(x) = x log2 x + (u_i - x) log2(u_i - x), one look-up per class in a table
  of u_i + 1 entries.

Where N is too large for the one, or the tables would be larger than the work, each move is weighed as a whole.

Source: Mehta, Agrawal, Rissanen, SLIQ (EDBT 1996); its extension as described by Laber, Molinaro, Pereira
(ICML 2018), section 5.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import GINI, STRICTLY, lookup_table, sides_impurity, xlog2x
from splitlab.splitters.sweep import margins

LARGEST_EXACT = 3_000_000_000  # its square is below 2^63


@kernel
def dot(a: Ints, b: Ints) -> int:
    """a . b"""
    total = 0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@kernel
def gini_moves(
    table: Ints,
    sizes: Ints,
    on_left: Bools,
    totals: Ints,
    left: Ints,
    n_left: int,
    n_total: int,
    dots: Ints,
    values: Floats,
) -> None:
    """I(left - a) + I(right + a) for each row a on the left; ``dots`` (3, n) holds l.a, a.a and u.a."""
    left_squares = dot(left, left)
    right_squares = dot(totals, totals) - 2 * dot(totals, left) + left_squares
    for v in range(values.size):
        if on_left[v]:
            rest = left_squares - 2 * dots[0, v] + dots[1, v]
            moved = right_squares + 2 * (dots[2, v] - dots[0, v]) + dots[1, v]
            m = n_left - sizes[v]
            values[v] = n_total - rest / m - moved / (n_total - m)


@kernel
def entropy_moves(
    table: Ints, sizes: Ints, on_left: Bools, left: Ints, n_left: int, terms: Floats, stride: int, values: Floats
) -> None:
    """The same for entropy; ``terms`` holds h_0, h_1, ..., each ``stride`` long, and h_N at the end."""
    k = left.size
    for v in range(values.size):
        if on_left[v]:
            value = terms[np.uint64(k * stride + n_left - sizes[v])]
            for i in range(k):
                value -= terms[np.uint64(i * stride + left[i] - table[v, i])]
            values[v] = value


@kernel
def whole_moves(
    table: Ints, sizes: Ints, on_left: Bools, totals: Ints, left: Ints, n_left: int, n_total: int, kind: int,
    lookup: Floats, trial: Ints, values: Floats,
) -> None:  # fmt: skip
    """The same by the definition."""
    for v in range(values.size):
        if on_left[v]:
            for i in range(totals.size):
                trial[i] = left[i] - table[v, i]
            values[v] = sides_impurity(trial, totals, n_left - sizes[v], n_total, kind, lookup)


@kernel
def fill_terms(totals: Ints, n_total: int, stride: int, lookup: Floats, terms: Floats) -> None:
    """h_i for every class, and h_N."""
    for i in range(totals.size):
        for x in range(totals[i] + 1):
            terms[i * stride + x] = xlog2x(x, lookup) + xlog2x(totals[i] - x, lookup)
    for x in range(n_total + 1):
        terms[totals.size * stride + x] = xlog2x(x, lookup) + xlog2x(n_total - x, lookup)


@kernel
def least_move(values: Floats, on_left: Bools, margin: float) -> int:
    """The row on the left with the least value, the first of equal ones."""
    best = np.inf
    row = -1
    for v in range(values.size):
        if on_left[v] and values[v] < best - margin:
            best, row = values[v], v
    return row


@kernel
def descend(tables: Ints, kind: int, masks: Bools, stop_early: bool) -> None:
    """SLIQ (``stop_early``) or SLIQext: int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    on_left, trial, left = np.empty(n, np.bool_), np.empty(k, np.int64), np.empty(k, np.int64)
    sizes, totals, dots = np.empty(n, np.int64), np.empty(k, np.int64), np.empty((3, n), np.int64)
    values, terms = np.empty(n), np.empty(0)
    for t in range(b):
        table = tables[t]
        n_total = margins(table, sizes, totals)
        by_dots = kind == GINI and n_total <= LARGEST_EXACT
        by_terms = kind != GINI and 4 * n_total <= n * n * k
        stride = n_total + 1
        if by_terms:
            if terms.size < (k + 1) * stride:
                terms = np.empty((k + 1) * stride)
            fill_terms(totals, n_total, stride, lookup, terms)
        for v in range(n):
            on_left[v] = True
            dots[0, v] = dot(totals, table[v])
            dots[1, v] = dot(table[v], table[v])
            dots[2, v] = dots[0, v]
        for i in range(k):
            left[i] = totals[i]
        n_left = n_total
        best = np.inf
        for _ in range(n - 1):
            # left and n_left are the counts of the rows in on_left, which are at least two.
            if by_dots:
                gini_moves(table, sizes, on_left, totals, left, n_left, n_total, dots, values)
            elif by_terms:
                entropy_moves(table, sizes, on_left, left, n_left, terms, stride, values)
            else:
                whole_moves(table, sizes, on_left, totals, left, n_left, n_total, kind, lookup, trial, values)
            row = least_move(values, on_left, STRICTLY * n_total)
            better = values[row] < best - STRICTLY * n_total
            if stop_early and not better:
                break
            on_left[row] = False
            n_left -= sizes[row]
            for i in range(k):
                left[i] -= table[row, i]
            if by_dots:
                for v in range(n):
                    dots[0, v] -= dot(table[row], table[v])
            if better:
                best = values[row]
                for v in range(n):
                    masks[t, v] = on_left[v]
