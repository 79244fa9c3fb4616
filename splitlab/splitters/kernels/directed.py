"""Splitters along one direction or a few: one-against-all, balanced, list scheduling, and any given direction.

Notation: A is the table, |v| the sum of row v, u the class totals, N their sum; a direction d gives every class a
number, and a set of classes is the direction with ones there and zeros elsewhere.

B_d: order the rows by r(v) = (d . A[v]) / |v|, ascending, ties by row index, and take the prefix with the least k-class
impurity, the first of equal ones. For sets of classes r is one correctly rounded division: ties are exact.

- ``ova``: the best B_{e_i} over the single classes i = 0, 1, ...; a later class replaces an earlier one only when
  strictly better. Never worse than LCA, so with its guarantees. Cost O(k n (k + log n)).
- ``balanced``: B_d for the set d that maximises min(u(d), N - u(d)), the lighter side; among several the one whose
  ascending list of classes is lexicographically first (algorithm and cost: subset_sums.py). Ratio 2 for entropy.
- ``list_scheduling``: a cheap stand-in for it. The classes by u descending (stable); the first goes to side a, each
  later one to a if load(a) < load(b), else to b; d is the side with fewer classes, with equal numbers the one that
  holds class 0. No guarantee. Cost O(nk + n log n + k log k).
- ``along_direction``: B_d for any finite d. Rows are divided by the greatest common divisor of their counts before
  r is computed in floating point, the products added from class 0 on: so proportional rows tie exactly, whatever d is.
  Other rows tie when their floats are equal; for whole numbers d of moderate size this is exact again.

Source: Algorithm 1 of Laber, Molinaro, Pereira (ICML 2018); list scheduling: Graham, Bounds on multiprocessing timing
anomalies (SIAM J. Appl. Math. 1969).
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import STRICTLY, lookup_table
from splitlab.splitters.costs import balanced_limit
from splitlab.splitters.kernels.hypercube import sort_by_share
from splitlab.splitters.kernels.principal import gcd
from splitlab.splitters.kernels.subset_sums import balanced_sets
from splitlab.splitters.kernels.sweep import margins, mark, sort_scores, sweep


@kernel
def list_classes(members: Bools, subset: Ints) -> int:
    """Write the classes of a set, ascending, to the front of ``subset`` (k,); returns their number."""
    size = 0
    for i in range(members.size):
        if members[i]:
            subset[size] = i
            size += 1
    return size


@kernel
def along_sets(tables: Ints, kind: int, masks: Bools, sets: Bools) -> None:
    """B_d for a set of classes per table: int64 (b, n, k), bool (b, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    shares = np.empty(n)
    order, spare, subset = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(k, np.int64)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        sort_by_share(tables[t], sizes, subset, list_classes(sets[t], subset), shares, order, spare)
        _, cut, exchanged = sweep(tables[t], order, totals, n_total, kind, lookup, False)
        mark(order, cut, exchanged, masks[t])


@kernel
def ova(tables: Ints, kind: int, masks: Bools) -> None:
    """One-against-all: int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    shares = np.empty(n)
    order, spare, subset = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(1, np.int64)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        best = np.inf
        for i in range(k):
            subset[0] = i
            sort_by_share(tables[t], sizes, subset, 1, shares, order, spare)
            value, cut, exchanged = sweep(tables[t], order, totals, n_total, kind, lookup, False)
            if value < best - STRICTLY * n_total:
                best = value
                mark(order, cut, exchanged, masks[t])


def balanced(tables: Ints, kind: int, masks: Bools) -> None:
    """B_d for the most balanced set of classes: int64 (b, n, k) -> bool masks (b, n), written in place."""
    _, n, k = tables.shape
    if reason := balanced_limit(n, k, int(tables.sum(axis=(1, 2)).max())):
        raise ValueError(f"splitter: 'balanced' does not serve k = {k} classes: {reason}")
    along_sets(tables, kind, masks, balanced_sets(tables))


@kernel
def schedule(totals: Ints, by_size: Ints, members: Bools) -> None:
    """Write d into ``members`` (k,); ``by_size`` holds the classes by their totals, descending."""
    k = totals.size
    load_a, load_b, size_a = 0, 0, 0
    for i in by_size:
        # The first, largest class goes to side a; each later one to the lighter side, to b where they are equal.
        members[i] = size_a == 0 or load_a < load_b
        if members[i]:
            load_a += totals[i]
            size_a += 1
        else:
            load_b += totals[i]
    # d is the side with fewer classes, of equal ones that with class 0.
    if 2 * size_a > k or (2 * size_a == k and not members[0]):
        for i in range(k):
            members[i] = not members[i]


@kernel
def scheduled_sets(tables: Ints) -> Bools:
    """The side of list scheduling with fewer classes, for each table: int64 (b, n, k) -> bool (b, k)."""
    b, n, k = tables.shape
    sets = np.empty((b, k), np.bool_)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    descending, by_size, spare = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    for t in range(b):
        margins(tables[t], sizes, totals)
        for i in range(k):
            descending[i] = -totals[i]
        sort_scores(descending, by_size, spare)
        schedule(totals, by_size, sets[t])
    return sets


def list_scheduling(tables: Ints, kind: int, masks: Bools) -> None:
    """B_d for a roughly balanced set of classes: int64 (b, n, k) -> bool masks (b, n), written in place."""
    along_sets(tables, kind, masks, scheduled_sets(tables))


@kernel
def score_along(table: Ints, sizes: Ints, direction: Floats, scores: Floats) -> None:
    """r(v) = (d . A[v]) / |v| of every row, equal for proportional rows."""
    for v in range(table.shape[0]):
        # Proportional rows divided by their greatest common divisors are equal, and so are their floats below.
        divisor = 0
        for count in table[v]:
            divisor = gcd(divisor, count)
        dot = 0.0
        for i in range(direction.size):
            dot += direction[i] * (table[v, i] // divisor)
        scores[v] = dot / (sizes[v] // divisor)


@kernel
def along_direction(tables: Ints, kind: int, masks: Bools, direction: Floats) -> None:
    """B_d for one direction (k,): int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    scores, order, spare = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        score_along(tables[t], sizes, direction, scores)
        sort_scores(scores, order, spare)
        _, cut, exchanged = sweep(tables[t], order, totals, n_total, kind, lookup, False)
        mark(order, cut, exchanged, masks[t])
