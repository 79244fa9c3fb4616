"""The formulas of the split criteria, each on a stack of tables at once.

Glossary
--------
tables   int64 (..., b, k): one split per entry of the stack, b branches (empty ones allowed) and k classes
N_vj     examples of class j in branch v; N_v, N_j, N its sums over classes, branches and both
p_vj     N_vj / N_v, the class probabilities of branch v; p_j = N_j / N, those of the node
rho_v    N_v / N, the share of branch v

Every formula returns float64 (...), one value per split. Empty branches and absent classes add nothing: 0/0 is 0.
Nothing is checked here; ``criteria`` is the public door.

Values of splits that change little can be tiny. All but CCP and the gains of user-defined impurities are accurate even
then: differences of probabilities come from ``deviations``, N_vj N - N_v N_j, which are exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from splitlab import impurity as kernels
from splitlab._jit import Floats, Ints
from splitlab.trees.measures import LARGEST_EXP

# Two-group partitions of so many classes are 32,767; beyond, trying them all is no criterion for an inner loop.
MOST_CLASSES = 16


def ratio(numerator: NDArray[np.number], denominator: NDArray[np.number]) -> Floats:
    """Elementwise quotient with 0/0 = 0."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    return np.divide(numerator, denominator, out=np.zeros(shape), where=denominator != 0)


def shares(tables: Ints) -> Floats:
    """The shares rho_v of the branches: (..., b)."""
    return ratio(tables.sum(-1), tables.sum((-2, -1))[..., None])


def probabilities(tables: Ints) -> Floats:
    """The class probabilities p_vj of the branches: (..., b, k)."""
    return ratio(tables, tables.sum(-1, keepdims=True))


def node(tables: Ints) -> Ints:
    """The node before the split, as a table of one branch: int64 (..., 1, k)."""
    return tables.sum(-2, keepdims=True)


def impurities(counts: Ints, impurity: str) -> Floats:
    """The impurity I, in counts or bits, of class counts (..., k), by a name of ``splitlab.impurity``: (...)."""
    rows = counts.reshape(-1, 1, counts.shape[-1])
    masks = np.ones((len(rows), 1), np.bool_)
    return kernels.score(rows, masks, kernels.code(impurity)).reshape(counts.shape[:-1])


def stack(tables: Ints) -> Ints:
    """The splits in one row, as kernels take them: (m, b, k)."""
    return np.ascontiguousarray(tables, np.int64).reshape(-1, *tables.shape[-2:])


def deviations(tables: Ints) -> Floats:
    """N_vj N - N_v N_j, exact: (..., b, k)."""
    return kernels.deviations(stack(tables)).reshape(tables.shape)


def gain(tables: Ints, impurity: str) -> Floats:
    """Decrease of the impurity per example, (I(node) - sum_v I(branch v)) / N, by a name of ``splitlab.impurity``."""
    return kernels.gains(stack(tables), kernels.code(impurity)).reshape(tables.shape[:-2])


def gain_ratio(tables: Ints) -> Floats:
    """Information gain / split information, the entropy of the shares of the branches; 0 where that is 0.

    Both can be tiny, so ln rho is taken from 1 - rho where rho > 1/2.
    """
    total = tables.sum((-2, -1))[..., None]
    rho, rest = shares(tables), ratio(total - tables.sum(-1), total)
    information = -np.where(rho > 0.5, xlog1py(rho, -rest), xlogy(rho, rho)).sum(-1) / np.log(2)
    # It is 1 at most, and rounding must not part ties.
    return np.minimum(ratio(gain(tables, "entropy"), information), 1.0)


def twoing(tables: Ints) -> Floats:
    """rho_L rho_R / 4 (sum_j |p_Lj - p_Rj|)^2, for two branches; p_Lj - p_Rj is the deviation / (N_L N_R)."""
    sizes, rho = tables.sum(-1, dtype=np.float64), shares(tables)
    away = ratio(np.abs(deviations(tables)[..., 0, :]).sum(-1), sizes[..., 0] * sizes[..., 1])
    return rho[..., 0] * rho[..., 1] / 4 * away**2


def dcsm(tables: Ints) -> Floats:
    """DCSM: sum_v rho_v D_v exp(D_v) sum_j p_vj exp(D_v / D (1 - p_vj^2)), for D_v and D classes in v and the node.

    Where D > 500 its natural logarithm is returned, since exp(D) does not fit a float. All splits of a node have one
    and the same D, so their order is that of the definition.
    """
    present = (tables > 0).sum(-1)
    of_node = (node(tables) > 0).sum(-1)
    p = probabilities(tables)
    inner = (p * np.exp(ratio(present, of_node)[..., None] * (1 - p**2))).sum(-1)
    terms = shares(tables) * present * inner
    largest = present.max(-1, keepdims=True)
    tame = np.where(of_node > LARGEST_EXP, present - largest, present)
    value = (terms * np.exp(tame)).sum(-1)
    logarithm = np.log(np.where(value > 0, value, 1.0)) + largest[..., 0]
    return np.where(of_node[..., 0] > LARGEST_EXP, logarithm, value)


def hellinger(plus: Ints, minus: Ints) -> Floats:
    """Hellinger distance sqrt(sum_v (sqrt(N_+v / N_+) - sqrt(N_-v / N_-))^2): two (..., b) -> (...).

    ``plus`` and ``minus`` are the counts N_+v and N_-v of two classes; the distance is 0 when one of them is empty.
    """
    n_plus, n_minus = (of.sum(-1, keepdims=True, dtype=np.float64) for of in (plus, minus))
    apart = ratio(deviations(np.stack([plus, minus], -1))[..., 0], n_plus * n_minus)
    away = ratio(apart, np.sqrt(ratio(plus, n_plus)) + np.sqrt(ratio(minus, n_minus)))
    return np.sqrt((away**2).sum(-1))


def hddt(tables: Ints) -> Floats:
    """Largest Hellinger distance of one class against the rest; for two classes, of one against the other."""
    by_class = np.swapaxes(tables, -1, -2)
    if tables.shape[-1] == 2:
        return hellinger(by_class[..., 0, :], by_class[..., 1, :])
    return hellinger(by_class, tables.sum(-1)[..., None, :] - by_class).max(-1)


def hddt_all(tables: Ints) -> Floats:
    """Largest Hellinger distance over all partitions of the node's classes into two groups.

    Raises
    ------
    ValueError
        More than `MOST_CLASSES` classes are present.
    """
    tables = tables[..., tables.reshape(-1, tables.shape[-1]).any(0)]
    k = tables.shape[-1]
    if k > MOST_CLASSES:
        raise ValueError(f"criterion: hddt_all tries all groups of classes, of at most {MOST_CLASSES}; got {k}")
    sizes, best = tables.sum(-1), np.zeros(tables.shape[:-2])
    for group in range(1, 1 << max(k - 1, 0)):  # the last class is never in the group, so no partition comes twice
        plus = tables[..., [j for j in range(k) if group >> j & 1]].sum(-1)
        np.maximum(best, hellinger(plus, sizes - plus), out=best)
    return best


def entropy_terms(x: Floats) -> Floats:
    """The terms -x log2 x of entropy in bits, element by element; 0 at 0."""
    return -x * np.log2(np.where(x > 0, x, 1.0))


def gini_terms(x: Floats) -> Floats:
    """The terms x (1 - x) of Gini, element by element."""
    return x * (1 - x)


def class_confidence(tables: Ints, of_class: Ints, total: Ints, normalize: bool) -> Floats:
    """The class confidence proportions of every branch and class: (..., b, k).

    ``of_class`` is N_j (..., 1, k), ``total`` is N (..., 1, 1); with ``normalize`` those of a branch add up to 1.
    """
    sizes = tables.sum(-1, keepdims=True)
    with_class = ratio(tables, of_class)
    without = ratio(sizes - tables, total - of_class)
    confidence = ratio(with_class, with_class + without)
    return ratio(confidence, confidence.sum(-1, keepdims=True)) if normalize else confidence


def ccp(tables: Ints, terms: Callable[[Floats], Floats], normalize: bool) -> Floats:
    """CCP: sum_j f(CCP_j of the node) - sum_v rho_v sum_j f(CCP_vj), with f = ``terms``."""
    of_class, total = node(tables), tables.sum((-2, -1))[..., None, None]
    before = terms(class_confidence(of_class, of_class, total, normalize)).sum((-2, -1))
    after = terms(class_confidence(tables, of_class, total, normalize)).sum(-1)
    return before - (shares(tables) * after).sum(-1)


def distances(tables: Ints) -> Floats:
    """The terms rho_v (1 - sum_j sqrt(p_vj p_j)) of iHD: (..., b), as half a sum of squares, which cannot cancel."""
    sizes, total = tables.sum(-1, keepdims=True), tables.sum((-2, -1), dtype=np.float64)[..., None, None]
    apart = ratio(deviations(tables), sizes * total)
    away = ratio(apart, np.sqrt(probabilities(tables)) + np.sqrt(probabilities(node(tables))))
    return shares(tables) * (away**2).sum(-1) / 2


def ihd(tables: Ints) -> Floats:
    """Inter-node Hellinger distance: sum_v rho_v (1 - sum_j sqrt(p_vj p_j))."""
    return distances(tables).sum(-1)


def ihdw(tables: Ints) -> Floats:
    """iHD with each branch weighted by 1 - prod over the classes of the node of N_vj / N_j, by logarithms."""
    of_class = node(tables)
    missing = np.where(of_class > 0, ratio(of_class - tables, of_class), 0.0)
    with np.errstate(divide="ignore"):  # a class that the branch lacks: log 0, so the weight is 1
        weights = -np.expm1(np.log1p(-missing).sum(-1))
    return (distances(tables) * weights).sum(-1)
