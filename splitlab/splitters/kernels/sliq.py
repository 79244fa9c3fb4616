"""The greedy descents SLIQ and SLIQext.

All rows start on the left. In each step the row whose move to the right gives the least impurity is moved; among
equal moves the row with the lowest index. SLIQ stops at the first step that does not improve the split by more
than 1e-12 N; SLIQext goes on until one row is left and returns the best split seen (the first of equal ones).
The first step is always made, so neither side is ever empty. No guarantee; SLIQext is never worse than SLIQ.

Cost O(n^2 k): n^2 / 2 moves are weighed. The rows that are left stand side by side, one array per class, so that
the inner loops run over rows: such a loop becomes vector instructions, and its rows do not wait for each other. With
l and r the class counts of the sides and a those of a row, there are three ways to weigh all moves of a step:

- *products*, for Gini: sum (l_i - a_i)^2 = l.l - 2 l.a + a.a and sum (r_i + a_i)^2 = r.r + 2 r.a + a.a need the
  products l.a only. Keeping them up to date for every row makes weighing a move O(1) and making one O(k) per row left.
  All of it is integers, exact in float64 while N^2 < 2^53;
- *terms*, for entropy: sum h_i(l_i - a_i) with h_i(x) = x log2 x + (u_i - x) log2(u_i - x), one look-up per class in a
  table of u_i + 1 entries;
- *definition*, for any impurity: each move is weighed as a whole. It serves where N is too large for the products, or
  the tables of terms would be larger than the work.

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


PRODUCTS, TERMS, DEFINITION = 0, 1, 2

# Arrays of a descent. Of a line of the first three, entries 0..m-1 are those of the m rows left.
#
# rows      (1, n)      their numbers
# columns   (k + 1, n)  their counts of each class, and their sizes
# products  (k + 4, n)  counts and sizes as floats, and a.a, u.a and l.a of each row a
# values    (n,)        the impurity after each move
# left      (k,)        the class counts of the left side
# moved     (n,)        the rows in the order in which they were moved


# What the three ways have in common


@kernel
def start_left(totals: Ints, rows: Ints, left: Ints) -> None:
    """Put all rows on the left."""
    for v in range(rows.shape[1]):
        rows[0, v] = v
    for i in range(left.size):
        left[i] = totals[i]


@kernel
def fill_columns(table: Ints, sizes: Ints, columns: Ints) -> None:
    """Write the counts and sizes of all rows into ``columns`` (k + 1, n)."""
    k = table.shape[1]
    for v in range(sizes.size):
        for i in range(k):
            columns[i, v] = table[v, i]
        columns[k, v] = sizes[v]


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

    The rows keep their order, which the tie rule needs. Unsigned indices make this vector instructions, five times as
    fast: it was half of the time of all.
    """
    one = np.uint64(1)
    for line in range(array.shape[0]):
        for v in range(np.uint64(place), np.uint64(m - 1)):
            array[line, v] = array[line, v + one]


@kernel
def take_counts(tables: Ints, t: int, row: int, left: Ints) -> None:
    """Take the counts of a row of table t off the left side.

    It gets all tables, as taking one out of them counts references, which is noticed in every step.
    """
    for i in range(left.size):
        left[i] -= tables[t, row, i]


@kernel
def mark_moved(moved: Ints, steps: int, mask: Bools) -> None:
    """Write the split after so many steps into ``mask`` (n,): on the right are the rows moved by then."""
    for v in range(mask.size):
        mask[v] = True
    for step in range(steps):
        mask[moved[step]] = False


# By products, for Gini


@kernel
def fill_products(table: Ints, sizes: Ints, totals: Ints, products: Floats) -> None:
    """Write counts, sizes, a.a, u.a and l.a of all rows into ``products`` (k + 4, n), when all rows are on the left."""
    k = totals.size
    for v in range(sizes.size):
        products[k, v] = sizes[v]
        products[k + 1, v], products[k + 2, v] = 0.0, 0.0
        for i in range(k):
            count = table[v, i]
            products[i, v] = count
            products[k + 1, v] += float(count) * float(count)
            products[k + 2, v] += float(totals[i]) * float(count)
        products[k + 3, v] = products[k + 2, v]  # l = u at first


@kernel
def subtract_products(row: Ints, products: Floats, m: int) -> None:
    """Bring l.a up to date for each of the m rows left, when ``row`` (k,) has left l."""
    for i in range(row.size):
        count = float(row[i])
        for v in range(m):
            products[row.size + 3, v] -= count * products[i, v]


@kernel
def gini_moves(left: Ints, totals: Ints, n_left: int, n_total: int, products: Floats, m: int, values: Floats) -> None:
    """Gini after the move of each of the m rows left, I(l - a) + I(r + a)."""
    k = left.size
    # l.l and r.r, the same for all moves
    left_squares, right_squares = 0.0, 0.0
    for i in range(k):
        left_squares += float(left[i]) * float(left[i])
        right_squares += float(totals[i] - left[i]) * float(totals[i] - left[i])
    for v in range(m):
        square, product = products[k + 1, v], products[k + 3, v]
        rest = left_squares - 2.0 * product + square
        moved = right_squares + 2.0 * (products[k + 2, v] - product) + square  # r.a = u.a - l.a
        remaining = n_left - products[k, v]
        values[v] = n_total - rest / remaining - moved / (n_total - remaining)


@kernel
def descend_by_products(tables: Ints, ways: Ints, stop_early: bool, masks: Bools) -> None:
    """Fill in the masks of the tables that are to go by products."""
    b, n, k = tables.shape
    rows, products, values = np.empty((1, n), np.int64), np.empty((k + 4, n)), np.empty(n)
    left, moved = np.empty(k, np.int64), np.empty(n, np.int64)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    for t in range(b):
        if ways[t] != PRODUCTS:
            continue
        n_left = n_total = margins(tables[t], sizes, totals)
        start_left(totals, rows, left)
        fill_products(tables[t], sizes, totals, products)
        best, steps = np.inf, 0
        for step in range(n - 1):
            m = n - step  # rows on the left, at least two
            gini_moves(left, totals, n_left, n_total, products, m, values)
            place = least_move(values, m, STRICTLY * n_total)
            if values[place] < best - STRICTLY * n_total:
                best, steps = values[place], step + 1
            elif stop_early:
                break
            row = rows[0, place]
            moved[step] = row
            n_left -= sizes[row]
            take_counts(tables, t, row, left)
            take_out(rows, place, m)
            # The moved row's own products go first, so that those of the m - 1 others stand together.
            take_out(products, place, m)
            subtract_products(tables[t, row], products, m - 1)
        mark_moved(moved, steps, masks[t])


# By terms, for entropy


@kernel
def fill_terms(total: int, start: int, lookup: Floats, terms: Floats) -> None:
    """Write h_total(x) for x = 0, ..., total into ``terms``, from ``start`` on."""
    first, last = np.uint64(start), np.uint64(total)
    for x in range(np.uint64(0), last + np.uint64(1)):
        terms[first + x] = lookup[x] + lookup[last - x]


@kernel
def fill_all_terms(totals: Ints, n_total: int, stride: int, lookup: Floats, terms: Floats) -> Floats:
    """Write h_0, h_1, ..., h_{k-1}, each ``stride`` after the one before, and h_N; returns ``terms``, or longer ones.

    ::

        0           stride      2 stride             k stride
        h_0(0..u_0) h_1(0..u_1) ... h_{k-1}(0..u_k-1) h_N(0..N)
    """
    k = totals.size
    if terms.size < k * stride + n_total + 1:
        terms = np.empty(k * stride + n_total + 1)
    for i in range(k):
        fill_terms(totals[i], i * stride, lookup, terms)
    fill_terms(n_total, k * stride, lookup, terms)
    return terms


@kernel
def entropy_moves(left: Ints, n_left: int, columns: Ints, m: int, terms: Floats, stride: int, values: Floats) -> None:
    """Entropy after the move of each of the m rows left: h_N(|l - a|) - sum_i h_i(l_i - a_i)."""
    k = left.size
    for v in range(m):
        values[v] = terms[np.uint64(k * stride + n_left - columns[k, v])]
    # Class by class, so that the inner loop runs through one table and one line of columns.
    for i in range(k):
        start = i * stride + left[i]
        for v in range(m):
            values[v] -= terms[np.uint64(start - columns[i, v])]


@kernel
def descend_by_terms(tables: Ints, ways: Ints, lookup: Floats, stop_early: bool, masks: Bools) -> None:
    """Fill in the masks of the tables that are to go by terms."""
    b, n, k = tables.shape
    rows, columns, values = np.empty((1, n), np.int64), np.empty((k + 1, n), np.int64), np.empty(n)
    left, moved = np.empty(k, np.int64), np.empty(n, np.int64)
    sizes, totals, terms = np.empty(n, np.int64), np.empty(k, np.int64), np.empty(0)
    for t in range(b):
        if ways[t] != TERMS:
            continue
        n_left = n_total = margins(tables[t], sizes, totals)
        start_left(totals, rows, left)
        fill_columns(tables[t], sizes, columns)
        stride = totals.max() + 1
        terms = fill_all_terms(totals, n_total, stride, lookup, terms)
        best, steps = np.inf, 0
        for step in range(n - 1):
            m = n - step  # rows on the left, at least two
            entropy_moves(left, n_left, columns, m, terms, stride, values)
            place = least_move(values, m, STRICTLY * n_total)
            if values[place] < best - STRICTLY * n_total:
                best, steps = values[place], step + 1
            elif stop_early:
                break
            row = rows[0, place]
            moved[step] = row
            n_left -= sizes[row]
            take_counts(tables, t, row, left)
            take_out(rows, place, m)
            take_out(columns, place, m)
        mark_moved(moved, steps, masks[t])


# By the definition, for any impurity and any counts


@kernel
def whole_moves(
    left: Ints, totals: Ints, n_left: int, n_total: int, columns: Ints, m: int, kind: int, lookup: Floats,
    rest: Ints, values: Floats,
) -> None:  # fmt: skip
    """The impurity after the move of each of the m rows left; ``rest`` (k,) is work space."""
    k = left.size
    for v in range(m):
        for i in range(k):
            rest[i] = left[i] - columns[i, v]
        values[v] = sides_impurity(rest, totals, n_left - columns[k, v], n_total, kind, lookup)


@kernel
def descend_by_definition(
    tables: Ints, ways: Ints, kind: int, lookup: Floats, stop_early: bool, masks: Bools
) -> None:  # fmt: skip
    """Fill in the masks of the tables that are to go by the definition."""
    b, n, k = tables.shape
    rows, columns, values = np.empty((1, n), np.int64), np.empty((k + 1, n), np.int64), np.empty(n)
    left, rest, moved = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(n, np.int64)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    for t in range(b):
        if ways[t] != DEFINITION:
            continue
        n_left = n_total = margins(tables[t], sizes, totals)
        start_left(totals, rows, left)
        fill_columns(tables[t], sizes, columns)
        best, steps = np.inf, 0
        for step in range(n - 1):
            m = n - step  # rows on the left, at least two
            whole_moves(left, totals, n_left, n_total, columns, m, kind, lookup, rest, values)
            place = least_move(values, m, STRICTLY * n_total)
            if values[place] < best - STRICTLY * n_total:
                best, steps = values[place], step + 1
            elif stop_early:
                break
            row = rows[0, place]
            moved[step] = row
            n_left -= sizes[row]
            take_counts(tables, t, row, left)
            take_out(rows, place, m)
            take_out(columns, place, m)
        mark_moved(moved, steps, masks[t])


# The choice


@kernel
def way_of(table: Ints, kind: int, lookup: Floats) -> int:
    """The cheapest way to weigh the moves of a table that is exact for it."""
    n, k = table.shape
    n_total = 0
    for v in range(n):
        for i in range(k):
            n_total += table[v, i]
    if kind == GINI and n_total <= LARGEST_EXACT:
        return PRODUCTS
    # Filling the terms takes about 2 N look-ups, weighing all moves by them n^2 k / 2.
    if kind == ENTROPY and n_total < lookup.size and 4 * n_total <= n * n * k:
        return TERMS
    return DEFINITION


@kernel
def descend(tables: Ints, kind: int, masks: Bools, stop_early: bool) -> None:
    """SLIQ (``stop_early``) or SLIQext: int64 (b, n, k) -> bool masks (b, n), written in place."""
    lookup, ways, tables_of = lookup_table(tables, kind), np.empty(len(tables), np.int64), np.zeros(3, np.int64)
    for t in range(len(tables)):
        ways[t] = way_of(tables[t], kind, lookup)
        tables_of[ways[t]] += 1
    # Each way has a loop over the tables, and arrays, to itself.
    if tables_of[PRODUCTS] > 0:
        descend_by_products(tables, ways, stop_early, masks)
    if tables_of[TERMS] > 0:
        descend_by_terms(tables, ways, lookup, stop_early, masks)
    if tables_of[DEFINITION] > 0:
        descend_by_definition(tables, ways, kind, lookup, stop_early, masks)
