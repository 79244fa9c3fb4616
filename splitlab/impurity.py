"""Gini and entropy: the one definition, used by every splitter and by the score.

Notation
--------
u = (u_0, ..., u_{k-1}) are the class counts of a set of examples, |u| their sum. The scaled (frequency-weighted)
impurity is I(u) = |u| sum_i f(u_i / |u|), I(0) = 0, with f(x) = x (1 - x) for Gini, in counts, and
f(x) = -x log2 x for entropy, in bits. A split of a table into sides L and R has the impurity I(u_L) + I(u_R).

Two forms of the same number
----------------------------
``impurity`` adds non-negative terms only and is accurate to a few units in the last place for any counts up to
1e15 in total; every score comes from it. ``sides_impurity`` is for the inner loops, which compare many splits
of one table: Gini as N - sum l_i^2/|l| - sum r_i^2/|r|, entropy as h(|l|) + h(|r|) - sum h(l_i) + h(r_i)
with h(x) = x log2 x looked up in a table. Subtraction costs it absolute accuracy of about 1e-15 N log N, far below
the 1e-12 N that a split must gain to count as better.

Kernels know an impurity by a number, its *kind*: 0 for Gini, 1 for entropy, and for one of the user's own the address
of its compiled f (see ``own_impurity``), which is then called for the share of every class that is present.

Source: Laber, Molinaro, Pereira (ICML 2018), section 2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from splitlab._jit import Bools, Floats, Ints, call_at, kernel
from splitlab.plugins import is_plugin

NAMES = ("gini", "entropy")
GINI, ENTROPY = 0, 1

# A split is strictly better when it is lower by more than this share of N: rounding differences between
# equivalent formulas stay below it, so that all of them select the same split.
STRICTLY = 1e-12

# Below the share of any count (they add up to 1e15 at most), so it stands for the share of a class that is absent:
# there the entropy rises infinitely steeply.
LEAST_SHARE = 1e-16
STEP = 1e-6  # to either side, for the slope of a function that is known by its values only

# Longest table of x log2 x: 512 KB, about a processor's second-level cache; larger counts call log2.
LOOKUP = 1 << 16


@kernel
def impurity(counts: Ints, kind: int) -> float:
    """I(u) of a vector of class counts: int64 (k,) -> float64, >= 0."""
    total = 0
    for c in counts:
        total += c
    result = 0.0
    for c in counts:
        if c > 0:
            if kind == GINI:
                result += float(c) * (float(total - c) / float(total))
            elif kind != ENTROPY:
                result += total * call_at(kind, c / total)
            elif 2 * c > total:  # log2(total / c) would lose its digits near 1
                result -= c * (math.log1p(-float(total - c) / float(total)) / math.log(2.0))
            else:
                result += c * math.log2(float(total) / float(c))
    return result


@kernel
def score(tables: Ints, masks: Bools, kind: int) -> Floats:
    """I(u_L) + I(u_R) of one split per table: int64 (b, n, k), bool (b, n) -> float64 (b,)."""
    b, n, k = tables.shape
    scores = np.empty(b)
    sides = np.empty((2, k), np.int64)
    for t in range(b):
        sides[:] = 0
        for v in range(n):
            side = 0 if masks[t, v] else 1
            for i in range(k):
                sides[side, i] += tables[t, v, i]
        scores[t] = impurity(sides[0], kind) + impurity(sides[1], kind)
    return scores


@kernel
def xlog2x(x: int, lookup: Floats) -> float:
    """h(x) = x log2 x, from the table where it reaches."""
    if x < lookup.size:
        return lookup[x]
    return x * math.log2(float(x))


@kernel
def lookup_table(tables: Ints, kind: int) -> Floats:
    """h(0), h(1), ... as far as the totals of these tables need it; empty but for entropy."""
    if kind != ENTROPY:
        return np.empty(0)
    largest = 0
    for t in range(tables.shape[0]):
        largest = max(largest, tables[t].sum())
    lookup = np.zeros(min(largest + 1, LOOKUP))
    for x in range(2, lookup.size):
        lookup[x] = x * math.log2(float(x))
    return lookup


@kernel
def sides_impurity(left: Ints, totals: Ints, n_left: int, n_total: int, kind: int, lookup: Floats) -> float:
    """I(left) + I(totals - left), for comparing splits of one table; both sides must hold examples."""
    n_right = n_total - n_left
    if kind == GINI:
        squares_left = 0.0
        squares_right = 0.0
        for i in range(left.size):
            x = float(left[i])
            y = float(totals[i] - left[i])
            squares_left += x * x
            squares_right += y * y
        return n_total - squares_left / n_left - squares_right / n_right
    if kind != ENTROPY:
        result = 0.0
        for i in range(left.size):
            if left[i] > 0:
                result += n_left * call_at(kind, left[i] / n_left)
            if left[i] < totals[i]:
                result += n_right * call_at(kind, (totals[i] - left[i]) / n_right)
        return result
    if n_total < lookup.size:  # then the table reaches every count; indices are not negative, which unsigned ones say
        result = lookup[np.uint64(n_left)] + lookup[np.uint64(n_right)]
        for i in range(left.size):
            result -= lookup[np.uint64(left[i])] + lookup[np.uint64(totals[i] - left[i])]
        return result
    result = xlog2x(n_left, lookup) + xlog2x(n_right, lookup)
    for i in range(left.size):
        result -= xlog2x(left[i], lookup) + xlog2x(totals[i] - left[i], lookup)
    return result


@kernel
def slope_and_rest(share: float, kind: int) -> tuple[float, float]:
    """f'(p) and f(p) - p f'(p), the latter 0 for entropy: what it adds, 1 / ln 2, is the same for all u."""
    if kind == GINI:
        return 1.0 - 2.0 * share, share * share
    if kind == ENTROPY:
        return -math.log2(max(share, LEAST_SHARE)), 0.0
    low, high = max(share - STEP, 0.0), min(share + STEP, 1.0)
    slope = (call_at(kind, high) - call_at(kind, low)) / (high - low)
    return slope, call_at(kind, share) - share * slope


@kernel
def impurity_gradient(counts: Ints, kind: int, gradient: Floats) -> None:
    """Fill ``gradient`` (k,) with dI / du_i = f'(p_i) + sum_j (f(p_j) - p_j f'(p_j)), p = u / |u|, u not zero.

    That is 1 - 2 p_i + sum_j p_j^2 for Gini and -log2 p_i for entropy, where a share of 0 counts as LEAST_SHARE;
    for other impurities f' is a difference quotient.
    """
    total = 0
    for c in counts:
        total += c
    rest = 0.0
    for i in range(counts.size):
        slope, more = slope_and_rest(counts[i] / total, kind)
        gradient[i] = slope
        rest += more
    for i in range(counts.size):
        gradient[i] += rest


def weighted_impurity(counts: NDArray[np.int64], name: str) -> float:
    """The scaled impurity I(u) of class counts.

    Parameters
    ----------
    counts : array of int64, shape (k,)
        Class counts, not negative.
    name : str
        ``"gini"``, ``"entropy"``, or one's own.

    Returns
    -------
    float
        I(u), in counts for Gini and in bits for entropy.

    Raises
    ------
    ValueError
        ``name`` is not an impurity.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_impurity(np.array([1, 1]), "entropy")
    2.0
    """
    return float(impurity(np.ascontiguousarray(counts, dtype=np.int64), code(name)))


def code(name: str) -> int:
    """The number by which kernels know the impurity ``name``; ValueError if there is none of that name."""
    if name in NAMES:
        return NAMES.index(name)
    if is_plugin(name):
        from splitlab.own_impurity import address_of  # loads more of numba than most runs need

        return address_of(name)
    known = f"the impurities are {', '.join(NAMES)}, and your own as package.module:function"
    raise ValueError(f"impurity: {name!r} is not known; {known}")


def name_of(kind: int) -> str:
    """The name of the impurity that kernels know by the number ``kind``."""
    if kind < len(NAMES):
        return NAMES[kind]
    from splitlab.own_impurity import name_at

    return name_at(kind)
