"""The paper's two proposals: Hypercube Cover (HcC) and Largest Class Alone (LCA).

Notation: A is the table, |v| the sum of row v, d in {0,1}^k a direction, that is a set of classes.

B_d: order the rows by r(v) = (d . A[v]) / |v|, the share of the classes of d in row v, and take the prefix with
the least k-class impurity. Ties of r go by row index; correctly rounded division makes equal shares equal
floats, so ties are exact.

LCA is B_{e_i} for the class i with the largest total (the first such i): ratio 2 to the optimum for Gini, 3 for
entropy, 3 + sqrt(3) for every impurity of class C (Theorems 4.2 to 4.5). Cost O(nk + n log n).

HcC is the best B_d over all directions; d and its complement give the same splits but for ties, so subsets of
1..floor(k/2) classes are walked, by size and then lexicographically, half-size ones only when they leave out the
last class. A later direction replaces an earlier one only when strictly better. Ratio 2 for class C
(Theorems 3.5, 3.6). Cost O(2^k n (k + log n)).

Source: Laber, Molinaro, Pereira (ICML 2018), sections 3 and 4.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import STRICTLY, lookup_table
from splitlab.splitters.kernels.directions import next_direction
from splitlab.splitters.kernels.simd import hcc_simd
from splitlab.splitters.kernels.simd_format import suits
from splitlab.splitters.kernels.sweep import margins, mark, sort_scores, sweep


@kernel
def sort_by_share(table: Ints, sizes: Ints, subset: Ints, size: int, shares: Floats, order: Ints, spare: Ints) -> None:
    """Order the rows by the share of the first ``size`` classes named in ``subset``."""
    for v in range(table.shape[0]):
        part = 0
        for s in range(size):
            part += table[v, subset[s]]
        shares[v] = part / sizes[v]
    sort_scores(shares, order, spare)


@kernel
def lca(tables: Ints, kind: int, masks: Bools) -> None:
    """Largest Class Alone: int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    shares = np.empty(n)
    order, spare, subset = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(1, np.int64)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        subset[0] = np.argmax(totals)  # the first of equal ones
        sort_by_share(tables[t], sizes, subset, 1, shares, order, spare)
        _, cut, exchanged = sweep(tables[t], order, totals, n_total, kind, lookup, False)
        mark(order, cut, exchanged, masks[t])


@kernel
def hcc_scalar(tables: Ints, kind: int, masks: Bools, lookup: Floats) -> None:
    """Hypercube Cover, one direction after the other: for tables of any counts, and what ``hcc_simd`` must equal."""
    b, n, k = tables.shape
    shares = np.empty(n)
    order, spare, subset = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(k, np.int64)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        best = np.inf
        subset[0], size = 0, 1  # the walk of directions.py
        for _ in range((1 << (k - 1)) - 1):
            sort_by_share(tables[t], sizes, subset, size, shares, order, spare)
            value, cut, exchanged = sweep(tables[t], order, totals, n_total, kind, lookup, False)
            if value < best - STRICTLY * n_total:
                best = value
                mark(order, cut, exchanged, masks[t])
            size = next_direction(subset, size, k)


def hcc(tables: Ints, kind: int, masks: Bools) -> None:
    """Hypercube Cover: int64 (b, n, k) -> bool masks (b, n), written in place.

    Not compiled itself, so that only the path that is taken has to be.
    """
    lookup = lookup_table(tables, kind)
    if suits(tables, kind):
        hcc_simd(tables, kind, masks, lookup)
    else:
        hcc_scalar(tables, kind, masks, lookup)
