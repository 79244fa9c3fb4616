"""The split criteria of two branches, compiled: what ``formulas`` says, one split at a time.

Notation
--------
l_j, r_j    examples of class j in the left and the right branch; t_j = l_j + r_j
a, b, n     the sizes of the branches and of the node, n = a + b
d_j         l_j n - a t_j, exact: how far class j is from being parted like the node; of the right branch it is -d_j

``measure`` gives the number that decides between splits, larger is better, by the code of a criterion. Cost O(k).
"""

from __future__ import annotations

import math

from splitlab._jit import Ints, kernel
from splitlab.impurity import ENTROPY, GINI, STRICTLY, cross_difference, excess, impurity

# The codes of the criteria. GAIN is that of the impurity given with it, and CCP takes the terms of that.
GAIN, GAIN_RATIO, TWOING, DCSM, HDDT, CCP, CCP_NORMALIZED, IHD, IHDW = range(9)

# exp(D) of DCSM, and its sums, stay far inside a float up to this number of classes in the node.
LARGEST_EXP = 500

LARGEST_ROOT = 3037000499  # its square fits an int64


@kernel
def ratio(x: float, y: float) -> float:
    """The quotient with x / 0 = 0."""
    return x / y if y != 0.0 else 0.0


@kernel
def apart(part: int, n: int, size: int, of_class: int) -> float:
    """d = part n - size of_class to the last place; n is the largest of the four."""
    if n < LARGEST_ROOT:
        return float(part * n - size * of_class)
    return cross_difference(part, n, size, of_class)


@kernel
def gain(left: Ints, right: Ints, totals: Ints, a: int, b: int, kind: int) -> float:
    """The decrease of an impurity per example, see ``impurity.gains``.

    For Gini that is sum_j d_j^2 / (n^2 a b).
    """
    n, result = a + b, 0.0
    if kind == GINI:
        for j in range(totals.size):
            d = apart(left[j], n, a, totals[j])
            result += d * d
        return ratio(result, float(n) * float(n) * float(a) * float(b))
    if kind == ENTROPY:
        for j in range(totals.size):
            if totals[j] > 0:
                d = apart(left[j], n, a, totals[j]) / totals[j]
                result += totals[j] * (a * excess(d / a) + b * excess(-d / b))
        return result / (float(n) * float(n)) / math.log(2.0)
    result = impurity(totals, kind) - impurity(left, kind) - impurity(right, kind)
    return result / n if result > STRICTLY * n else 0.0


@kernel
def share_bits(part: int, rest: int) -> float:
    """-x ln x of the share x = part / (part + rest); from the rest where x is near 1."""
    n = part + rest
    if part == 0:
        return 0.0
    x = part / n
    return -x * (math.log1p(-rest / n) if x > 0.5 else math.log(x))


@kernel
def gain_ratio(left: Ints, right: Ints, totals: Ints, a: int, b: int) -> float:
    """Information gain by the entropy of the shares of the branches, at most 1; 0 where that is 0."""
    information = (share_bits(a, b) + share_bits(b, a)) / math.log(2.0)
    return min(ratio(gain(left, right, totals, a, b, ENTROPY), information), 1.0)


@kernel
def twoing(left: Ints, right: Ints, totals: Ints, a: int, b: int) -> float:
    """rho_L rho_R / 4 (sum_j |p_Lj - p_Rj|)^2, with p_Lj - p_Rj = d_j / (a b)."""
    n, away = a + b, 0.0
    for j in range(totals.size):
        away += abs(apart(left[j], n, a, totals[j]))
    away = ratio(away, float(a) * float(b))
    return (a / n) * (b / n) / 4 * away**2


@kernel
def present(counts: Ints) -> int:
    """How many classes there are."""
    result = 0
    for c in counts:
        result += c > 0
    return result


@kernel
def dcsm_term(counts: Ints, size: int, n: int, of_node: int, largest: int) -> float:
    """The part of a branch in DCSM, divided by exp(``largest``)."""
    if size == 0:
        return 0.0
    here, inner = present(counts), 0.0
    for c in counts:
        if c > 0:
            p = c / size
            inner += p * math.exp(here / of_node * (1 - p * p))
    return size / n * here * inner * math.exp(here - largest)


@kernel
def dcsm(left: Ints, right: Ints, totals: Ints, a: int, b: int) -> float:
    """The distinct-class measure; its logarithm where the node has more than `LARGEST_EXP` classes."""
    of_node, n = present(totals), a + b
    large = of_node > LARGEST_EXP
    largest = max(present(left), present(right)) if large else 0
    value = dcsm_term(left, a, n, of_node, largest) + dcsm_term(right, b, n, of_node, largest)
    return math.log(value) + largest if large else value


@kernel
def hellinger_square(plus: int, all_plus: int, a: int, n: int) -> float:
    """The square of the Hellinger distance over two branches between a class and the rest.

    The left branch has ``a`` of the n examples, and ``plus`` of the t = ``all_plus`` examples of the class. With
    r = n - t, a branch with x examples of the class and y others adds d^2 / (t r (sqrt(x r) + sqrt(y t))^2).
    """
    t, r = float(all_plus), float(n - all_plus)
    if t == 0.0 or r == 0.0:
        return 0.0
    d = apart(plus, n, a, all_plus)
    left = math.sqrt(plus * r) + math.sqrt((a - plus) * t)
    right = math.sqrt((all_plus - plus) * r) + math.sqrt((n - a - all_plus + plus) * t)
    return (ratio(d, left) ** 2 + ratio(d, right) ** 2) / (t * r)


@kernel
def hddt(left: Ints, right: Ints, totals: Ints, a: int, b: int) -> float:
    """The largest Hellinger distance between a class and the rest."""
    result = 0.0
    for j in range(totals.size if totals.size > 2 else 1):
        result = max(result, hellinger_square(left[j], totals[j], a, a + b))
    return math.sqrt(result)


@kernel
def confidence_terms(counts: Ints, size: int, totals: Ints, n: int, kind: int, normalize: bool) -> float:
    """The sum of f(CCP_j) over the classes, f that of the impurity, in a branch of ``size`` examples."""
    scale, result = 1.0, 0.0
    for normalizing in range(2 if normalize else 1):
        added = 0.0
        for j in range(totals.size):
            with_class = ratio(float(counts[j]), float(totals[j]))
            without = ratio(float(size - counts[j]), float(n - totals[j]))
            x = ratio(ratio(with_class, with_class + without), scale)
            added += x
            if normalize and normalizing == 0:
                continue
            if kind == GINI:
                result += x * (1 - x)
            elif x > 0.0:
                result -= x * math.log2(x)
        scale = added
    return result


@kernel
def ccp(left: Ints, right: Ints, totals: Ints, a: int, b: int, kind: int, normalize: bool) -> float:
    """The gain with class confidence proportions in place of class probabilities."""
    n = a + b
    before = confidence_terms(totals, n, totals, n, kind, normalize)
    after_left = confidence_terms(left, a, totals, n, kind, normalize)
    after_right = confidence_terms(right, b, totals, n, kind, normalize)
    return before - (a / n * after_left + b / n * after_right)


@kernel
def weight(counts: Ints, totals: Ints) -> float:
    """A branch's weight in iHDw, 1 - prod_j N_vj / N_j over the classes of the node."""
    product = 1.0
    for j in range(totals.size):
        if totals[j] > 0:
            product *= counts[j] / totals[j]
    if product < 0.5:
        return 1.0 - product
    logarithm = 0.0  # 1 - product would lose digits
    for j in range(totals.size):
        if totals[j] > 0:
            logarithm += math.log1p(-(totals[j] - counts[j]) / totals[j])
    return -math.expm1(logarithm)


@kernel
def inter_node(left: Ints, right: Ints, totals: Ints, a: int, b: int, weighted: bool) -> float:
    """iHD, sum_v rho_v (1 - sum_j sqrt(p_vj p_j)), or with each branch weighted, iHDw.

    A branch of a examples adds sum_j d_j^2 / (sqrt(l_j n) + sqrt(t_j a))^2 / (2 n^2), which cannot cancel.
    """
    n, of_left, of_right = float(a + b), 0.0, 0.0
    for j in range(totals.size):
        if totals[j] > 0:
            d = apart(left[j], a + b, a, totals[j])
            t = float(totals[j])
            of_left += ratio(d, math.sqrt(left[j] * n) + math.sqrt(t * a)) ** 2
            of_right += ratio(d, math.sqrt(right[j] * n) + math.sqrt(t * b)) ** 2
    if weighted:
        of_left *= weight(left, totals)
        of_right *= weight(right, totals)
    return (of_left + of_right) / (2 * n * n)


@kernel
def measure(left: Ints, right: Ints, totals: Ints, a: int, b: int, code: int, kind: int) -> float:
    """What decides between splits by the criterion ``code``, larger is better; ``kind`` is its impurity."""
    if code == GAIN:
        return gain(left, right, totals, a, b, kind)
    if code == GAIN_RATIO:
        return gain_ratio(left, right, totals, a, b)
    if code == TWOING:
        return twoing(left, right, totals, a, b)
    if code == DCSM:
        return -dcsm(left, right, totals, a, b)
    if code == HDDT:
        return hddt(left, right, totals, a, b)
    if code in (CCP, CCP_NORMALIZED):
        return ccp(left, right, totals, a, b, kind, code == CCP_NORMALIZED)
    return inter_node(left, right, totals, a, b, code == IHDW)
