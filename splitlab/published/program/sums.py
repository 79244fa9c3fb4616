"""The float sums by which the published tree program compares splits.

- A side with counts c_0, c_1, ... of m examples has the value g = 1.0 - (c_0/m)^2 - (c_1/m)^2 - ... for Gini, and
  g = 0.0 - (c_0/m) log2(c_0/m) - ... for entropy, summed from left to right.
- A split of N examples into sides of m_L and m_R has the value (m_L g_L + m_R g_R) / N for Gini in LCA and HcC, and
  (m_L/N) g_L + (m_R/N) g_R everywhere else.

These sums are slow, and matter only between splits that are equally good but for rounding. So a search looks at a fast
formula first, and compares by these sums only what comes within NEAR N of the least value so far.

Source: the program that Laber, Molinaro and Pereira published with the paper (ICML 2018, section 5).
"""

from __future__ import annotations

import math

import numpy as np

from splitlab._jit import Floats, Ints, kernel
from splitlab.impurity import ENTROPY, GINI, sides_impurity

# Which sums: Gini as in LCA and HcC, Gini as in the others, entropy.
PRODUCTS, SHARES, BITS = 0, 1, 2

# Values of the fast formula this far apart, as a share of N, are different in any arithmetic.
NEAR = 1e-10


@kernel
def side(counts: Ints, size: int, sums: int) -> float:
    """Gini, or entropy in bits, of ``counts`` (k,), which add up to ``size``; an empty side has 1, or 0 bits."""
    result = 0.0 if sums == BITS else 1.0
    for c in counts:
        if c > 0:
            share = c / size
            result -= share * math.log2(share) if sums == BITS else share * share
    return result


@kernel
def split_value(left: Ints, right: Ints, n_left: int, n_total: int, sums: int) -> float:
    """The weighted impurity of the split into ``left`` and ``right`` (k,), with ``n_left`` examples on the left."""
    n_right = n_total - n_left
    a, b = side(left, n_left, sums), side(right, n_right, sums)
    if sums == PRODUCTS:
        return (n_left * a + n_right * b) / n_total
    return (n_left / n_total) * a + (n_right / n_total) * b


@kernel
def split_values(tables: Ints, sums: int) -> Floats:
    """The weighted impurities of splits into one or two branches: int64 (g, b, k) -> float64 (g,)."""
    g, b, k = tables.shape
    values = np.empty(g)
    none = np.zeros(k, np.int64)
    for t in range(g):
        n_left = tables[t, 0].sum()
        right = tables[t, 1] if b > 1 else none
        values[t] = split_value(tables[t, 0], right, n_left, n_left + right.sum(), sums)
    return values


@kernel
def move(table: Ints, row: int, sign: int, left: Ints, right: Ints) -> int:
    """Move a row of the table to the left (``sign`` 1) or back (-1), in place; by how much the left side grows."""
    size = 0
    for i in range(left.size):
        count = sign * table[row, i]
        left[i] += count
        right[i] -= count
        size += count
    return size


@kernel
def promising(
    left: Ints, totals: Ints, n_left: int, n_total: int, kind: int, lookup: Floats, least: float
) -> tuple[bool, float]:
    """Whether a split may be the best one, by the fast formula, and the least value of that formula so far.

    Parameters
    ----------
    left, totals : int64 (k,)
        Class counts of the left side and of the node.
    n_left, n_total : int
        Their sums, 0 < n_left < n_total.
    kind : int
        GINI or ENTROPY of ``impurity``.
    lookup : float64
        x log2 x at whole numbers, as ``impurity.lookup_table`` makes it.
    least : float
        The least value of the formula before this split.
    """
    value = sides_impurity(left, totals, n_left, n_total, kind, lookup)
    return value <= least + NEAR * n_total, min(least, value)


@kernel
def first_least_cuts(counts: Ints, starts: Ints, sums: int, lookup: Floats) -> Ints:
    """The best threshold of each node: the place of the last value on its left, ascending.

    Parameters
    ----------
    counts : int64 (p, k)
        Class counts of the values, ascending within each node.
    starts : int64 (m,)
        Where the values of each node begin; a node with one value has no threshold, and no place in the result.
    sums : int
        `PRODUCTS`, `SHARES` or `BITS`.
    lookup : float64
        x log2 x at whole numbers, as ``impurity.lookup_table`` makes it.
    """
    p, k = counts.shape
    kind = ENTROPY if sums == BITS else GINI
    left, right, totals = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k, np.int64)
    places, found = np.empty(starts.size, np.int64), 0
    for t in range(starts.size):
        stop = starts[t + 1] if t + 1 < starts.size else p
        left[:], totals[:] = 0, 0
        # The class counts of the node: all its values begin on the right.
        for v in range(starts[t], stop):
            for i in range(k):
                totals[i] += counts[v, i]
        right[:] = totals
        n_left, n_total, place = 0, totals.sum(), -1
        least, best = np.inf, np.inf
        # Move one value after the other to the left; the first of equally good cuts stays.
        for v in range(starts[t], stop - 1):
            n_left += move(counts, v, 1, left, right)
            worth, least = promising(left, totals, n_left, n_total, kind, lookup, least)
            if worth:
                value = split_value(left, right, n_left, n_total, sums)
                if value < best:
                    best, place = value, v
        if place >= 0:
            places[found] = place
            found += 1
    return places[:found]
