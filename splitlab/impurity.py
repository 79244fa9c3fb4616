"""Gini and entropy: the one definition, used by every splitter and by the score.

Notation
--------
u = (u_0, ..., u_{k-1}) are the class counts of a set of examples, |u| their sum. The scaled (frequency-weighted)
impurity is I(u) = |u| sum_i f(u_i / |u|), I(0) = 0, with f(x) = x (1 - x) for Gini, in counts, and
f(x) = -x log2 x for entropy, in bits. A split of a table into sides L and R has the impurity I(u_L) + I(u_R).

Two forms of the same number
----------------------------
``impurity`` adds non-negative terms only and is accurate to a few units in the last place for any counts up to
1e15 in total; every score comes from it. ``gains`` gives what a split takes off it as accurately, however small that
is: its terms are not negative either. ``sides_impurity`` is for the inner loops, which compare many splits
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
def product_error(x: float, y: float) -> float:
    """What rounding took off x y, of whole numbers below 2^53 (Dekker)."""
    high_x = 134217729.0 * x - (134217729.0 * x - x)
    high_y = 134217729.0 * y - (134217729.0 * y - y)
    low_x, low_y = x - high_x, y - high_y
    return ((high_x * high_y - x * y) + high_x * low_y + low_x * high_y) + low_x * low_y


@kernel
def cross_difference(a: int, b: int, c: int, d: int) -> float:
    """a b - c d of counts, to the last place."""
    if max(a, b, c, d) < 3037000499:  # its square fits an int64
        return float(a * b - c * d)
    w, x, y, z = float(a), float(b), float(c), float(d)
    return (w * x - y * z) + (product_error(w, x) - product_error(y, z))


@kernel
def deviations(tables: Ints) -> Floats:
    """N_vj N - N_v N_j for each branch v and class j of splits int64 (m, b, k): how far they are from proportional."""
    result = np.empty(tables.shape)
    for t in range(len(tables)):
        size, of_class = tables[t].sum(axis=1), tables[t].sum(axis=0)
        total = size.sum()
        for v in range(size.size):
            for j in range(of_class.size):
                result[t, v, j] = cross_difference(tables[t, v, j], total, size[v], of_class[j])
    return result


@kernel
def excess(x: float) -> float:
    """(1 + x) ln(1 + x) - x for x >= -1, which is about x^2 / 2 near 0, without cancellation."""
    if x <= -1.0:  # rounding may carry it a little below
        return 1.0
    if abs(x) > 0.1:
        return (1.0 + x) * math.log1p(x) - x
    s = x / (2.0 + x)  # ln(1 + x) = 2 (s + s^3 / 3 + s^5 / 5 + ...)
    u = s * s
    tail = 1 / 3 + u * (1 / 5 + u * (1 / 7 + u * (1 / 9 + u * (1 / 11 + u / 13))))
    return x * s + 2.0 * (1.0 + x) * s * u * tail


@kernel
def gains(tables: Ints, kind: int) -> Floats:
    """(I(node) - sum of I(branch)) / N of splits int64 (m, b, k), empty branches allowed: float64 (m,), >= 0.

    With p_vj = N_vj / N_v and x = p_vj / p_j - 1 it is sum N_v / N (p_vj - p_j)^2 for Gini, and for entropy
    sum N_v / N p_j ((1 + x) ln(1 + x) - x) / ln 2. One's own are subtracted, and 0 below the rounding of that.
    """
    m, b, k = tables.shape
    result = np.zeros(m)
    size, of_class = np.empty(b, np.int64), np.empty(k, np.int64)
    for t in range(m):
        size[:] = 0
        of_class[:] = 0
        for v in range(b):
            for j in range(k):
                size[v] += tables[t, v, j]
                of_class[j] += tables[t, v, j]
        total = size.sum()
        if total == 0:
            continue
        gain = 0.0
        if kind != GINI and kind != ENTROPY:
            gain = impurity(of_class, kind)
            for v in range(b):
                gain -= impurity(tables[t, v], kind)
            result[t] = gain / total if gain > STRICTLY * total else 0.0
            continue
        for v in range(b):
            if size[v] > 0:
                for j in range(k):
                    if of_class[j] > 0:
                        away = cross_difference(tables[t, v, j], total, size[v], of_class[j]) / size[v]
                        if kind == GINI:
                            gain += size[v] * (away / total) ** 2
                        else:
                            gain += size[v] * (of_class[j] / total) * excess(away / of_class[j])
        if kind == ENTROPY:
            gain = min(gain / math.log(2.0), impurity(of_class, kind))  # what it is when all branches are pure
        result[t] = gain / total
    return result


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
        from splitlab.custom_impurity import address_of  # loads more of numba than most runs need

        return address_of(name)
    known = f"the impurities are {', '.join(NAMES)}, and your own as package.module:function"
    raise ValueError(f"impurity: {name!r} is not known; {known}")


def name_of(kind: int) -> str:
    """The name of the impurity that kernels know by the number ``kind``."""
    if kind < len(NAMES):
        return NAMES[kind]
    from splitlab.custom_impurity import name_at

    return name_at(kind)
