"""Splitters along the principal component: PC, PCext, and their raw-count variants.

Notation: rows with equal class probabilities p_a are merged into one row a with the sum of their counts; |a| is
its size, pbar = u / N the class probabilities of the whole table.

1. M = sum_a |a| (p_a - pbar)(p_a - pbar)^T; v = its top eigenvector (rules for sign and repetition: eigen.py).
2. Score the rows: v . p_a for ``pc`` and ``pc_ext``, as Coppersmith, Hong and Hosking define it; v . A[a] for
   ``pc_counts`` and ``pc_ext_counts``, which is what the paper's published PCext columns were produced with.
3. Order by score; equal scores in the lexicographic order of p. Best of the prefixes; the ``ext`` variants try
   for every cut also the split with the two rows next to it exchanged.

M maps (1, ..., 1) to 0, so v is orthogonal to it and rows whose counts differ by a constant vector have equal
count scores (in 30 % of random tables with n = 12, k = 3). They are computed as v . (A[a] - min_i A[a, i]), which
makes them equal floats. More generally, neighbouring scores that differ by less than 1e-9 of the largest one are
taken as equal, so that neither rounding noise nor the choice of an eigensolver decides.

Merging is exact. While no row holds more than 2^26 examples, different probabilities differ by more than 2^-52,
and correctly rounded division keeps them apart: equal floats mean equal probabilities. Beyond, the rows divided by
their greatest common divisor are compared as well.

Optimal for k = 2, no guarantee beyond. Cost O(n k^2 + k^3 + n log n).

Source: Coppersmith, Hong, Hosking, Partitioning nominal attributes in decision trees (DMKD 1999).
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import lookup_table
from splitlab.splitters.eigen import top_direction
from splitlab.splitters.sweep import mark, precedes, sort_rows, sweep

EXACT_SIZE = 1 << 26
SAME_SCORE = 1e-9


@kernel
def gcd(a: int, b: int) -> int:
    """Greatest common divisor; gcd(0, b) = b."""
    while b:
        a, b = b, a % b
    return a


@kernel
def merging_keys(table: Ints, sizes: Ints) -> Floats:
    """Keys (n, k) or (n, 2k) that are equal exactly for proportional rows, and sort by probabilities."""
    n, k = table.shape
    exact = sizes.max() <= EXACT_SIZE
    keys = np.empty((n, k if exact else 2 * k))
    for v in range(n):
        divisor = 0
        for i in range(k):
            keys[v, i] = table[v, i] / sizes[v]
            if not exact:
                divisor = gcd(divisor, table[v, i])
        if not exact:
            for i in range(k):
                keys[v, k + i] = table[v, i] // divisor
    return keys


@kernel
def merge_rows(table: Ints, sizes: Ints, order: Ints, spare: Ints, group: Ints) -> tuple[Ints, Floats]:
    """Merged rows in the order of their probabilities: counts (m, k) and probabilities (m, k).

    ``group`` (n,) gets the merged row of each row of the table.
    """
    n, k = table.shape
    keys = merging_keys(table, sizes)
    sort_rows(keys, order, spare)
    merged = np.zeros((n, k), np.int64)
    probabilities = np.empty((n, k))
    m = 0
    for j in range(n):
        if j == 0 or precedes(order[j - 1], order[j], keys):
            probabilities[m] = keys[order[j], :k]
            m += 1
        merged[m - 1] += table[order[j]]
        group[order[j]] = m - 1
    return merged[:m], probabilities[:m]


@kernel
def scatter(merged: Ints, probabilities: Floats, totals: Ints, n_total: int) -> Floats:
    """M = sum_a |a| (p_a - pbar)(p_a - pbar)^T, shape (k, k)."""
    m, k = merged.shape
    matrix = np.zeros((k, k))
    away = np.empty(k)
    for a in range(m):
        size = 0
        for i in range(k):
            size += merged[a, i]
            away[i] = probabilities[a, i] - totals[i] / n_total
        for i in range(k):
            for j in range(i + 1):
                matrix[i, j] += size * away[i] * away[j]
    for i in range(k):
        for j in range(i):
            matrix[j, i] = matrix[i, j]
    return matrix


@kernel
def score_rows(merged: Ints, probabilities: Floats, direction: Floats, by_counts: bool) -> Floats:
    """Scores (m, 1) along ``direction``, of the counts or of the probabilities."""
    m, k = merged.shape
    scores = np.zeros((m, 1))
    for a in range(m):
        least = merged[a].min()
        for i in range(k):
            weight = float(merged[a, i] - least) if by_counts else probabilities[a, i]
            scores[a, 0] += direction[i] * weight
    return scores


@kernel
def settle_ties(scores: Floats, order: Ints) -> None:
    """Put rows whose scores differ by rounding noise only in their own order, that of their probabilities."""
    noise = SAME_SCORE * np.max(np.abs(scores))
    start = 0
    for j in range(1, order.size + 1):
        if j == order.size or scores[order[j], 0] - scores[order[j - 1], 0] > noise:
            if j > start + 1:
                order[start:j].sort()
            start = j


@kernel
def along_component(tables: Ints, kind: int, masks: Bools, by_counts: bool, exchange: bool) -> None:
    """All four variants: int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    order, spare, group = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    vectors, direction, side = np.empty((k, k)), np.empty(k), np.empty(n, np.bool_)
    for t in range(b):
        totals = tables[t].sum(axis=0)
        n_total = totals.sum()
        merged, probabilities = merge_rows(tables[t], tables[t].sum(axis=1), order, spare, group)
        m = merged.shape[0]
        if m == 1:  # all rows proportional: every split has the same impurity
            mark(np.arange(n), 0, False, masks[t])
            continue
        top_direction(scatter(merged, probabilities, totals, n_total), vectors, direction)
        scores = score_rows(merged, probabilities, direction, by_counts)
        sort_rows(scores, order[:m], spare[:m])
        settle_ties(scores, order[:m])
        _, cut, exchanged = sweep(merged, order[:m], totals, n_total, kind, lookup, exchange)
        mark(order[:m], cut, exchanged, side[:m])
        for v in range(n):
            masks[t, v] = side[group[v]]


@kernel
def pc(tables: Ints, kind: int, masks: Bools) -> None:
    """Probability scores, prefixes only."""
    along_component(tables, kind, masks, False, False)


@kernel
def pc_ext(tables: Ints, kind: int, masks: Bools) -> None:
    """Probability scores, prefixes and exchanges."""
    along_component(tables, kind, masks, False, True)


@kernel
def pc_counts(tables: Ints, kind: int, masks: Bools) -> None:
    """Count scores, prefixes only."""
    along_component(tables, kind, masks, True, False)


@kernel
def pc_ext_counts(tables: Ints, kind: int, masks: Bools) -> None:
    """Count scores, prefixes and exchanges."""
    along_component(tables, kind, masks, True, True)
