"""Splitters that see two columns only: twoing, two classes, flip-flop, and any given direction.

Notation: A is the table, |v| the sum of row v, u the class totals, N their sum. A direction d in [0,1]^k collapses A to
two columns, d . A[v] and (1-d) . A[v]; 0/1 directions are sets of classes.

A_d: order the rows by the share (d . A[v]) / |v|, ascending, ties by row index, and take the prefix with the least
impurity of the *collapsed* table, the first of equal ones. For two columns this is optimal (Breiman et al., 1984).

- ``twoing``: the best A_d over all sets of classes, in the order of directions.py, by the collapsed gain: I of the
  collapsed totals minus the collapsed impurity of the split. A later set replaces an earlier one only when its gain
  is larger by more than 1e-12 N. Optimal for k = 2, no guarantee beyond. Cost O(2^k n (k + log n)).
- ``twoing_min``: the best A_d by the least collapsed impurity, which is what the paper and its program call twoing. A
  rare class ruins it: set against all others, it makes nearly pure columns whatever the split.
- ``two_class``: for k = 2 only, A_d for d = {0}; optimal. Cost O(n log n).
- ``flip_flop``: from the split of LCA on, alternately the best split of the classes for the row split, and the best
  split of the rows for the class split; the best split of the rows that was seen. Never worse than LCA.
  Given row sides L and R, the classes are ordered by u_L[i] / u_i, ascending and stable, and D is the prefix that has
  the least impurity when the classes are taken for values and L, R for two classes. Given D, the rows are split by A_d
  with d = D, the prefix being L. It ends when D or its complement was found the iteration before (the rows are not
  split again), when the k-class impurity was not strictly better than the best one so far in two successive
  iterations, or after 100 iterations. Cost O(nk + n log n + k log k) per iteration.
- ``collapsed_along``: A_d for any d in [0,1]^k. The order is that of B_d (directed.py). The collapsed counts are real;
  times a power of two that brings N just below 2^52 and rounded they are integers again, and as I(c u) = c I(u), the
  impurity of the integers decides. The rounding, 2^-51 N at most per row, is far below the 1e-12 N that count as
  better, and for 0/1 directions there is none.

Source: Breiman, Friedman, Olshen, Stone, Classification and Regression Trees (1984), chapter 4; flip-flop:
Nadas, Nahamoo, Picheny, Powell (ICASSP 1991); A_d and twoing as described: Laber, Molinaro, Pereira (ICML 2018).
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import STRICTLY, impurity, lookup_table, sides_impurity
from splitlab.splitters.kernels.directed import along_sets, list_classes, score_along
from splitlab.splitters.kernels.directions import next_direction
from splitlab.splitters.kernels.hypercube import lca
from splitlab.splitters.kernels.sweep import margins, mark, sort_scores, sweep

MOST_ITERATIONS = 100
PATIENCE = 2  # iterations of flip_flop without improvement
FINEST = 1 << 52  # scaled counts stay exact in float64


@kernel
def collapse(table: Ints, sizes: Ints, subset: Ints, size: int, pairs: Ints) -> None:
    """Write the counts of the first ``size`` classes named in ``subset``, and of the others, into ``pairs`` (n, 2)."""
    for v in range(table.shape[0]):
        part = 0
        for s in range(size):
            part += table[v, subset[s]]
        pairs[v, 0], pairs[v, 1] = part, sizes[v] - part


@kernel
def split_pairs(
    pairs: Ints, sizes: Ints, columns: Ints, kind: int, lookup: Floats, shares: Floats, order: Ints, spare: Ints
) -> tuple[float, int]:
    """Best prefix of a table of two columns by the share of the first: (impurity, cut); fills in its ``columns``."""
    n_total = margins(pairs, sizes, columns)
    # Order by share of the first column, walk the prefixes: optimal for two columns.
    for v in range(sizes.size):
        shares[v] = pairs[v, 0] / sizes[v]
    sort_scores(shares, order, spare)
    value, cut, _ = sweep(pairs, order, columns, n_total, kind, lookup, False)
    return value, cut


@kernel
def twoing(tables: Ints, kind: int, masks: Bools, by_gain: bool) -> None:
    """Twoing by collapsed gain or by collapsed impurity: int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    shares, pairs = np.empty(n), np.empty((n, 2), np.int64)
    order, spare, subset = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(k, np.int64)
    sizes, totals, columns = np.empty(n, np.int64), np.empty(k, np.int64), np.empty(2, np.int64)
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        best = np.inf
        subset[0], size = 0, 1  # the walk of directions.py
        for _ in range((1 << (k - 1)) - 1):
            collapse(tables[t], sizes, subset, size, pairs)
            value, cut = split_pairs(pairs, sizes, columns, kind, lookup, shares, order, spare)
            # Lower is better either way: what is compared is the impurity, or minus the gain.
            if by_gain:
                value -= impurity(columns, kind)
            if value < best - STRICTLY * n_total:
                best = value
                mark(order, cut, False, masks[t])
            size = next_direction(subset, size, k)


def two_class(tables: Ints, kind: int, masks: Bools) -> None:
    """The optimum for k = 2: int64 (b, n, 2) -> bool masks (b, n), written in place."""
    sets = np.zeros((tables.shape[0], tables.shape[2]), np.bool_)
    sets[:, 0] = True
    along_sets(tables, kind, masks, sets)


@kernel
def weigh(table: Ints, side: Bools, totals: Ints, n_total: int, kind: int, lookup: Floats, by_class: Ints) -> float:
    """I(u_L) + I(u_R) of a split ``side`` (n,); fills in ``by_class`` (k, 2), the counts of L and R class by class."""
    left = np.zeros(totals.size, np.int64)
    for v in range(side.size):
        if side[v]:
            for i in range(totals.size):
                left[i] += table[v, i]
    n_left = 0
    for i in range(totals.size):
        n_left += left[i]
        by_class[i, 0], by_class[i, 1] = left[i], totals[i] - left[i]
    return sides_impurity(left, totals, n_left, n_total, kind, lookup)


@kernel
def copy_flags(source: Bools, target: Bools) -> None:
    """target[:] = source; a slice assignment compiles far more slowly than a loop."""
    for i in range(source.size):
        target[i] = source[i]


@kernel
def same_division(a: Bools, b: Bools) -> bool:
    """Whether two sets are equal or complements of each other."""
    equal = 0
    for i in range(a.size):
        equal += a[i] == b[i]
    return equal == a.size or equal == 0


@kernel
def flip(table: Ints, kind: int, lookup: Floats, mask: Bools) -> None:
    """Alternate from the split ``mask`` (n,) on, and leave the best one there."""
    n, k = table.shape
    shares, class_shares, side = np.empty(n), np.empty(k), np.empty(n, np.bool_)
    order, spare, pairs = np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 2), np.int64)
    class_order, class_spare, by_class = np.empty(k, np.int64), np.empty(k, np.int64), np.empty((k, 2), np.int64)
    members, before, subset = np.empty(k, np.bool_), np.zeros(k, np.bool_), np.empty(k, np.int64)
    sizes, totals, columns = np.empty(n, np.int64), np.empty(k, np.int64), np.empty(2, np.int64)
    n_total = margins(table, sizes, totals)
    copy_flags(mask, side)
    best = weigh(table, side, totals, n_total, kind, lookup, by_class)
    idle = 0
    for _ in range(MOST_ITERATIONS):
        # The best division of the classes for the sides of the rows: classes are values here, L and R two classes.
        _, cut = split_pairs(by_class, totals, columns, kind, lookup, class_shares, class_order, class_spare)
        mark(class_order, cut, False, members)
        if same_division(members, before):  # not the first time: neither the empty set nor all classes are a prefix
            break
        copy_flags(members, before)
        # The best split of the rows for this division of the classes
        collapse(table, sizes, subset, list_classes(members, subset), pairs)
        _, cut = split_pairs(pairs, sizes, columns, kind, lookup, shares, order, spare)
        mark(order, cut, False, side)
        # Both steps lower the impurity of two columns. That of all k classes, which counts, may rise.
        value = weigh(table, side, totals, n_total, kind, lookup, by_class)
        idle += 1
        if value < best - STRICTLY * n_total:
            best, idle = value, 0
            copy_flags(side, mask)
        if idle == PATIENCE:
            break


@kernel
def flip_flop(tables: Ints, kind: int, masks: Bools) -> None:
    """Flip-flop: int64 (b, n, k) -> bool masks (b, n), written in place."""
    lookup = lookup_table(tables, kind)
    lca(tables, kind, masks)
    for t in range(tables.shape[0]):
        flip(tables[t], kind, lookup, masks[t])


@kernel
def collapse_along(table: Ints, sizes: Ints, n_total: int, direction: Floats, pairs: Ints) -> None:
    """Write the scaled and rounded counts of d and 1-d into ``pairs`` (n, 2)."""
    # A power of two loses nothing; with the largest that leaves counts exact in float64 the rounding is least.
    scale = 1
    while 2 * scale <= FINEST // n_total:
        scale *= 2
    for v in range(sizes.size):
        dot = 0.0
        for i in range(direction.size):
            dot += direction[i] * table[v, i]
        pairs[v, 0] = min(int(scale * dot + 0.5), scale * sizes[v])  # the sum may be rounded up
        pairs[v, 1] = scale * sizes[v] - pairs[v, 0]


@kernel
def collapsed_along(tables: Ints, kind: int, masks: Bools, direction: Floats) -> None:
    """A_d for one direction (k,) in [0,1]^k: int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    pairs, scores, columns = np.empty((b, n, 2), np.int64), np.empty((b, n)), np.empty(2, np.int64)
    order, spare, sizes, totals = (
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(k, np.int64),
    )
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        score_along(tables[t], sizes, direction, scores[t])
        collapse_along(tables[t], sizes, n_total, direction, pairs[t])
    lookup = lookup_table(pairs, kind)
    for t in range(b):
        sort_scores(scores[t], order, spare)
        n_total = margins(pairs[t], sizes, columns)
        _, cut, exchanged = sweep(pairs[t], order, columns, n_total, kind, lookup, False)
        mark(order, cut, exchanged, masks[t])
