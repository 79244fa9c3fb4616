"""Hyperplane descent: ``polish`` improves a given split, ``hd`` the best prefixes of many orders.

Notation: A is the table, |v| the sum of row v, p_v = A[v] / |v|; u_L, u_R are the class counts of the sides, u their
sum, N = |u|. The sides have no names: before each step they are exchanged if row 0 is on the right.

I is concave, so for every split w, with d = grad I(u_L) - grad I(u_R),

    I(w_L) + I(w_R) <= I(u_L) + I(u_R) + d . (w_L - u_L):

rows with small d . p_v belong to the left. A step of the descent from a split therefore is

1. the best of the n - 1 prefixes of the rows in the order of d . p_v, if it is strictly better; or else
2. the one row moved across that leaves the least impurity (no row that is alone on its side), if that is.

With neither, the descent ends. Its end is never worse than its start, and no descent leads on from there.

``hd`` descends from the best prefix of each of these orders, in turn, and keeps the best end, the first of equal ones:

- by p_v[i] for each class i;
- by p_v[i] - p_v[j] for i < j, that is (0, 1), (0, 2), ..., (1, 2), ...;
- by c . p_v for each principal component c, the eigenvectors of M = sum_v |v| (p_v - u/N)(p_v - u/N)^T by decreasing
  eigenvalue. Which of them, their signs, and the rule for repeated eigenvalues: ``components``.

Ties. Orders are ascending, ties by row index. The scores of the first two kinds of start are single divisions,
(A[v, i] - A[v, j]) / |v|, correctly rounded, so equal ones are equal floats. The others are sums: neighbouring scores
that differ by no more than 1e-9 of the largest magnitude among them count as equal, so that rounding noise decides
nothing. Strictly better is lower by more than 1e-12 N; the first of equal prefixes and of equal rows is taken.
Where a side lacks a class, the gradient of the entropy is infinite; ``impurity_gradient`` says what stands for it.

Guarantee: optimal for k = 2, where the order by p_v[0] holds the optimum; in general that of the start.
Cost: a step takes O(n (k + log n)), and ``hd`` has at most (k^2 + 3k) / 2 - 1 starts. Descents that meet go on alike,
so one that comes to a split where another has been is given up, which takes off about half of the time.

Source: optimal splits are separated by hyperplanes (Burshtein, Della Pietra, Kanevsky, Nadas, Annals of Statistics
1992; the hyperplanes lemma of Laber, Molinaro, Pereira, ICML 2018). Chou (PAMI 1991) descends in a like way, each time
to the split {v : d . p_v < 0} alone.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import STRICTLY, impurity_gradient, lookup_table, sides_impurity
from splitlab.splitters.kernels.components import components
from splitlab.splitters.kernels.principal import scatter, settle_ties
from splitlab.splitters.kernels.sweep import margins, mark, sort_scores, sweep

REMEMBERED = 8  # splits per start; about four are met before a descent joins another at (50, 9)


@kernel
def fill_shares(table: Ints, sizes: Ints, shares: Floats) -> None:
    """p_v for every row."""
    for v in range(shares.shape[0]):
        for i in range(shares.shape[1]):
            shares[v, i] = table[v, i] / sizes[v]


@kernel
def project(shares: Floats, direction: Floats, scores: Floats) -> None:
    """direction . p_v for every row."""
    for v in range(scores.size):
        scores[v] = 0.0
        for i in range(direction.size):
            scores[v] += direction[i] * shares[v, i]


@kernel
def left_counts(table: Ints, mask: Bools, left: Ints) -> int:
    """Put row 0 on the left, exchanging the sides if need be, fill in u_L and return |u_L|."""
    exchange = not mask[0]
    n_left = 0
    left[:] = 0
    for v in range(mask.size):
        mask[v] ^= exchange
        if mask[v]:
            for i in range(left.size):
                left[i] += table[v, i]
                n_left += table[v, i]
    return n_left


@kernel
def better_prefix(
    table: Ints, shares: Floats, left: Ints, totals: Ints, n_total: int, kind: int, lookup: Floats, least: float,
    mask: Bools,
) -> bool:  # fmt: skip
    """Step 1: take the best prefix along d . p_v if its impurity is below ``least``; whether it is."""
    n, k = shares.shape
    direction, slopes, scores = np.empty(k), np.empty(k), np.empty(n)
    order, spare = np.empty(n, np.int64), np.empty(n, np.int64)
    # d = grad I(u_L) - grad I(u_R), the normal of the hyperplane that separates the sides of an optimal split
    impurity_gradient(left, kind, direction)
    impurity_gradient(totals - left, kind, slopes)
    for i in range(k):
        direction[i] -= slopes[i]
    project(shares, direction, scores)
    sort_scores(scores, order, spare)
    settle_ties(scores, order)  # equal up to rounding: by row index
    value, cut, exchanged = sweep(table, order, totals, n_total, kind, lookup, False)
    if value < least:
        mark(order, cut, exchanged, mask)
    return value < least


@kernel
def better_move(
    table: Ints, sizes: Ints, left: Ints, totals: Ints, n_left: int, n_total: int, kind: int, lookup: Floats,
    least: float, mask: Bools,
) -> bool:  # fmt: skip
    """Step 2: move the best single row across if the impurity then is below ``least``; whether it is."""
    moved = np.empty(left.size, np.int64)
    best, row = np.inf, 0
    for v in range(mask.size):
        sign = -1 if mask[v] else 1
        n_moved = n_left + sign * sizes[v]
        if 0 < n_moved < n_total:  # no side becomes empty
            for i in range(left.size):
                moved[i] = left[i] + sign * table[v, i]
            value = sides_impurity(moved, totals, n_moved, n_total, kind, lookup)
            if value < best - STRICTLY * n_total:
                best, row = value, v
    if best < least:
        mask[row] = not mask[row]
    return best < least


@kernel
def been_there(mask: Bools, value: float, seen: Bools, values: Floats) -> bool:
    """Whether ``mask``, of impurity ``value``, is among ``seen`` (m, n); if not, put it there while there is room.

    ``values`` (m,) holds their impurities, and is infinite from the first free place on.
    """
    for s in range(values.size):
        if values[s] == np.inf:
            values[s] = value
            for v in range(mask.size):
                seen[s, v] = mask[v]
            return False
        # Masks are compared only where the impurities are equal floats, which is hardly ever.
        if values[s] == value:
            v = 0
            while v < mask.size and seen[s, v] == mask[v]:
                v += 1
            if v == mask.size:
                return True
    return False


@kernel
def descend(
    table: Ints, shares: Floats, sizes: Ints, totals: Ints, n_total: int, kind: int, lookup: Floats, mask: Bools,
    seen: Bools, values: Floats,
) -> float:  # fmt: skip
    """Descend from the split ``mask``, in place; the impurity at the end, or infinity where the way is known."""
    left = np.empty(totals.size, np.int64)
    while True:
        n_left = left_counts(table, mask, left)
        value = sides_impurity(left, totals, n_left, n_total, kind, lookup)
        if been_there(mask, value, seen, values):
            return np.inf
        least = value - STRICTLY * n_total
        # A single move changes too little to be tried where a whole prefix is better.
        if better_prefix(table, shares, left, totals, n_total, kind, lookup, least, mask):
            continue
        if not better_move(table, sizes, left, totals, n_left, n_total, kind, lookup, least, mask):
            return value


@kernel
def polish(tables: Ints, kind: int, masks: Bools) -> None:
    """Descend from given splits: int64 (b, n, k), bool masks (b, n) with no side empty, changed in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    shares, sizes, totals = np.empty((n, k)), np.empty(n, np.int64), np.empty(k, np.int64)
    seen, values = np.empty((0, n), np.bool_), np.empty(0)  # a single descent meets no other: nothing to remember
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        fill_shares(tables[t], sizes, shares)
        descend(tables[t], shares, sizes, totals, n_total, kind, lookup, masks[t], seen, values)


@kernel
def class_pairs(k: int) -> Ints:
    """The starts by p_v[i] - p_v[j] as rows (i, j), those by p_v[i] before them, with j = -1."""
    pairs = np.empty((k * (k + 1) // 2, 2), np.int64)
    at = k
    for i in range(k):
        pairs[i, 0], pairs[i, 1] = i, -1
        for j in range(i + 1, k):
            pairs[at, 0], pairs[at, 1] = i, j
            at += 1
    return pairs


@kernel
def start_order(
    table: Ints, shares: Floats, sizes: Ints, pairs: Ints, basis: Floats, start: int, order: Ints
) -> None:  # fmt: skip
    """The order of the rows for one of the starts: the pairs of classes, then the components, rows of ``basis``."""
    scores, spare = np.empty(order.size), np.empty(order.size, np.int64)
    if start >= len(pairs):
        project(shares, basis[start - len(pairs)], scores)
        sort_scores(scores, order, spare)
        settle_ties(scores, order)
        return
    i, j = pairs[start, 0], pairs[start, 1]
    for v in range(order.size):
        scores[v] = (table[v, i] - (table[v, j] if j >= 0 else 0)) / sizes[v]
    sort_scores(scores, order, spare)


@kernel
def hd(tables: Ints, kind: int, masks: Bools) -> None:
    """Hyperplane descent from all starts: int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup, pairs, basis = lookup_table(tables, kind), class_pairs(k), np.empty((k, k))
    shares, sizes, totals = np.empty((n, k)), np.empty(n, np.int64), np.empty(k, np.int64)
    order, mask = np.empty(n, np.int64), np.empty(n, np.bool_)
    values = np.empty(REMEMBERED * len(pairs))
    seen = np.empty((values.size, n), np.bool_)
    for t in range(b):
        table = tables[t]
        n_total = margins(table, sizes, totals)
        fill_shares(table, sizes, shares)
        # M of the rows as they are: merging proportional ones would not change it.
        starts = len(pairs) + components(scatter(table, shares, totals, n_total), basis)
        values[:] = np.inf
        best = np.inf
        for start in range(starts):
            start_order(table, shares, sizes, pairs, basis, start, order)
            _, cut, exchanged = sweep(table, order, totals, n_total, kind, lookup, False)
            mark(order, cut, exchanged, mask)
            # Infinite where it joins another descent, whose end is known.
            value = descend(table, shares, sizes, totals, n_total, kind, lookup, mask, seen, values)
            if value < best - STRICTLY * n_total:
                best = value
                masks[t] = mask
