"""Certified lower bounds on the least impurity of a split, for tables whose optimum is out of reach.

Notation: A is a table with rows A[v], class totals u and N examples; a split has the class counts u_L and u_R; d is a
set of classes, u * d the vector u with the other classes set to 0. The impurity is I(u) = |u| sum_i f(u_i / |u|).

================= ============================================================ ========================= ===============
bound             value                                                        holds for                 cost
================= ============================================================ ========================= ===============
rows_bound        sum_v I(A[v])                                                concave f                 n k
class_bound       min over d of I(u * d) + I(u * (1 - d))                      concave f                 2^k k
collapsed_bound   max over d of the optimum with two classes, d and the rest   concave f, f(0) = f(1) = 0 2^k n log n
chain_bound       the same for d and the rest, these divided further, and on   entropy                   3^k n log n
================= ============================================================ ========================= ===============

The first three hold for Gini, for entropy and for every impurity of the paper's class C, and so for one's own impurity
exactly when its f is concave (and 0 at 0 and 1). All hold up to rounding, k * 1e-12 N.

The batch functions take int64 tables (b, n, k) without zero rows and columns and an impurity's number and return
(b,) bounds; the public ones take a single table of any kind that ``splitlab.split`` takes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from splitlab._jit import Floats, Ints, kernel
from splitlab.impurity import code, impurity, lookup_table, score
from splitlab.splitters import costs
from splitlab.splitters.kernels.exhaustive import exhaustive
from splitlab.splitters.kernels.sweep import margins, sort_scores, sweep
from splitlab.splitters.registry import LONGEST_TABLE
from splitlab.tables.contingency import as_counts, reduce_table
from splitlab.text import duration


@kernel
def rows_batch(tables: Ints, kind: int) -> Floats:
    """``rows_bound`` of each table."""
    bounds = np.zeros(tables.shape[0])
    for t in range(tables.shape[0]):
        for v in range(tables.shape[1]):
            bounds[t] += impurity(tables[t, v], kind)
    return bounds


def class_batch(tables: Ints, kind: int) -> Floats:
    """``class_bound`` of each table: the optimum where every row is one class."""
    b, _, k = tables.shape
    if k == 1:
        return np.zeros(b)
    classes, masks = np.zeros((b, k, k), np.int64), np.zeros((b, k), np.bool_)
    classes[:, np.arange(k), np.arange(k)] = tables.sum(axis=1)
    exhaustive(classes, kind, masks)
    return score(classes, masks, kind)


@kernel
def set_sums(table: Ints, sums: Ints) -> None:
    """``sums`` (2^k, n) gets the number of examples of each set of classes, as bits, in each row."""
    for v in range(table.shape[0]):
        sums[0, v] = 0
    for classes in range(1, sums.shape[0]):
        last = 0
        while classes >> last > 1:
            last += 1
        for v in range(table.shape[0]):
            sums[classes, v] = sums[classes ^ (1 << last), v] + table[v, last]


@kernel
def two_class_optimum(part: Ints, whole: Ints, kind: int, lookup: Floats) -> float:
    """The least impurity of a split, possibly with an empty side, of rows with ``part`` and ``whole - part`` examples.

    By share of the first class: with two classes some prefix of that order is optimal.
    """
    table, shares = np.empty((whole.size, 2), np.int64), np.empty(whole.size)
    m = 0
    for v in range(whole.size):
        if whole[v] > 0:
            table[m, 0], table[m, 1] = part[v], whole[v] - part[v]
            shares[m] = part[v] / whole[v]
            m += 1
    table = table[:m]
    order, sizes, totals = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(2, np.int64)
    n_total = margins(table, sizes, totals)
    sort_scores(shares[:m], order, np.empty(m, np.int64))
    best, _, _ = sweep(table, order, totals, n_total, kind, lookup, False)
    return max(0.0, best) if m > 1 else impurity(totals, kind)


@kernel
def divide(tables: Ints, kind: int, further: bool) -> Floats:
    """``chain_bound`` of each table, or ``collapsed_bound`` when the two parts are not divided ``further``."""
    b, n, k = tables.shape
    lookup, sums, bounds = lookup_table(tables, kind), np.empty((1 << k, n), np.int64), np.empty(b)
    least = np.zeros(1 << k)  # F: a bound for the table of each set of classes
    for t in range(b):
        set_sums(tables[t], sums)
        for classes in range(1 if further else (1 << k) - 1, 1 << k):
            least[classes] = 0.0
            part = (classes - 1) & classes
            while part > classes ^ part:  # subsets in descending order, those that hold the last class of the set
                value = two_class_optimum(sums[part], sums[classes], kind, lookup)
                least[classes] = max(least[classes], value + least[part] + least[classes ^ part])
                part = (part - 1) & classes
        bounds[t] = least[-1]
    return bounds


def collapsed_batch(tables: Ints, kind: int) -> Floats:
    """``collapsed_bound`` of each table."""
    return divide(tables, kind, False)


def chain_batch(tables: Ints, kind: int) -> Floats:
    """``chain_bound`` of each table; ``kind`` must be entropy's."""
    return divide(tables, kind, True)


class Kind(NamedTuple):
    """What there is to know of a bound."""

    batch: Callable[[Ints, int], Floats]
    nanoseconds: Callable[[int, int], float]  # of (n, k), for one table
    impurities: tuple[str, ...] | None  # for which it holds; None: all of concave f with f(0) = f(1) = 0


def _two_class(n: int) -> float:
    return 300.0 + n * (8.0 * log2(n + 1) + 15.0)


BOUNDS = {
    "rows_bound": Kind(rows_batch, lambda n, k: 1000.0 + 10.0 * n * k, None),
    "class_bound": Kind(class_batch, lambda n, k: costs.exhaustive(k, k), None),
    "collapsed_bound": Kind(collapsed_batch, lambda n, k: 2.0 ** min(k - 1, 900) * _two_class(n), None),
    "chain_bound": Kind(chain_batch, lambda n, k: 0.5 * 3.0 ** min(k, 600) * _two_class(n), ("entropy",)),
}


class Bound(NamedTuple):
    """A lower bound on the impurity of every split of a table, and which one it is."""

    value: float
    name: str


def rows_bound(table: ArrayLike, impurity: str = "gini") -> float:
    """Lower bound on the optimum: the impurity that is left when every value is a side of its own.

    Parameters
    ----------
    table : array_like, shape (n, k)
        Contingency table, as for ``splitlab.split``.
    impurity : str
        Name of an impurity.

    Returns
    -------
    float
        sum_v I(A[v]), in the units of the impurity.

    Raises
    ------
    ValueError, TypeError
        The table or impurity is not one.

    Notes
    -----
    I is superadditive, I(a + b) >= I(a) + I(b), since f is concave; so I(u_L) is at least the sum over the rows of L,
    and I(u_R) over those of R. Source: Laber, Molinaro, Pereira (ICML 2018), section 2.

    Examples
    --------
    >>> rows_bound([[1, 1], [4, 0], [0, 2]])
    1.0
    """
    return _bound("rows_bound", table, impurity)


def class_bound(table: ArrayLike, impurity: str = "gini") -> float:
    """Lower bound on the optimum: the best split where every example could go to a side of its own.

    Parameters
    ----------
    table : array_like, shape (n, k)
        Contingency table, as for ``splitlab.split``.
    impurity : str
        Name of an impurity.

    Returns
    -------
    float
        min over sets d of classes of I(u * d) + I(u * (1 - d)), in the units of the impurity.

    Raises
    ------
    ValueError, TypeError
        The table or impurity is not one; or there are so many classes that it would take hopelessly long.

    Notes
    -----
    z -> I(z) + I(u - z) is concave on the box 0 <= z <= u, which holds the u_L of every split; so it is least at a
    corner of the box, where every class is on one side as a whole. Source: the argument of Burshtein, Della Pietra,
    Kanevsky, Nadas (Annals of Statistics 1992) for a table with one row per class.

    Examples
    --------
    >>> class_bound([[3, 1, 0], [1, 3, 2]])
    2.6666666666666665
    """
    return _bound("class_bound", table, impurity)


def collapsed_bound(table: ArrayLike, impurity: str = "gini") -> float:
    """Lower bound on the optimum: the largest optimum of the table with its classes put together into two.

    Parameters
    ----------
    table : array_like, shape (n, k)
        Contingency table, as for ``splitlab.split``.
    impurity : str
        Name of an impurity.

    Returns
    -------
    float
        The largest, over sets d of classes, of the least impurity of a split of the table with the two classes d and
        all others, in the units of the impurity. 0 for a single class.

    Raises
    ------
    ValueError, TypeError
        The table or impurity is not one; or there are so many classes that it would take hopelessly long.

    Notes
    -----
    A concave f with f(0) = 0 is subadditive, f(p + q) <= f(p) + f(q); so putting classes together never increases
    the impurity of a side. Source: Laber, Molinaro, Pereira (ICML 2018), section 3.

    Examples
    --------
    >>> collapsed_bound([[2, 1, 0], [0, 2, 1], [1, 0, 2]])
    3.0
    """
    return _bound("collapsed_bound", table, impurity)


def chain_bound(table: ArrayLike, impurity: str = "entropy") -> float:
    """Lower bound on the optimum for entropy: two groups of classes, each divided further, down to single classes.

    Parameters
    ----------
    table : array_like, shape (n, k)
        Contingency table, as for ``splitlab.split``.
    impurity : {"entropy"}
        Entropy; no other impurity has the chain rule that the bound rests on.

    Returns
    -------
    float
        F of all classes, in bits, where F(S) = max over S = A + B of T(A, B) + F(A) + F(B), F of one class is 0, and
        T(A, B) is the least impurity of a split, an empty side allowed, of the table with the two classes A and B.

    Raises
    ------
    ValueError, TypeError
        The table is not one; another impurity; or so many classes that it would take hopelessly long.

    Notes
    -----
    The chain rule I(w) = I(w(A), w(B)) + I(w * A) + I(w * B), summed over the sides w = u_L and u_R of a split, makes
    its impurity a sum of three: that of the table with the classes A and B, and those of the tables of A and of B, each
    at least what the bound takes for it. Gini has I(w) <= instead. Source: Shannon (1948), section 6.

    Examples
    --------
    >>> round(chain_bound([[2, 1, 0], [0, 2, 1], [1, 0, 2]]), 4)
    9.2451
    """
    return _bound("chain_bound", table, impurity)


def lower_bound(table: ArrayLike, impurity: str = "gini", seconds: float = 1.0) -> Bound:
    """The best of the bounds that hold for an impurity and take no longer than ``seconds`` each.

    Parameters
    ----------
    table : array_like, shape (n, k)
        Contingency table, as for ``splitlab.split``.
    impurity : str
        Name of an impurity.
    seconds : float
        Bounds that are estimated to take longer are left out; ``rows_bound`` never is.

    Returns
    -------
    Bound
        The largest value and the name of its bound, the first of equal ones.

    Raises
    ------
    ValueError, TypeError
        The table or impurity is not one.

    Notes
    -----
    Of one's own impurity it is not checked that f is concave and 0 at 0 and 1, which the bounds rest on.

    Examples
    --------
    >>> lower_bound([[2, 1, 0], [0, 2, 1], [1, 0, 2]]).name
    'rows_bound'
    """
    kind, counts = code(impurity), _reduced(table)
    n, k = counts.shape[1:]
    best = Bound(-np.inf, "")
    for name, bound in BOUNDS.items():
        affordable = name == "rows_bound" or bound.nanoseconds(n, k) <= 1e9 * seconds
        if affordable and (bound.impurities is None or impurity in bound.impurities):
            value = float(bound.batch(counts, kind)[0])
            best = Bound(value, name) if value > best.value else best
    return best


def _reduced(table: ArrayLike) -> Ints:
    """The table without zero rows and columns, as a batch of one."""
    return reduce_table(as_counts(table)).counts[None]


def _bound(name: str, table: ArrayLike, impurity: str) -> float:
    """The bound of that name; ValueError where it does not hold or would take hopelessly long."""
    bound, kind, counts = BOUNDS[name], code(impurity), _reduced(table)
    if bound.impurities is not None and impurity not in bound.impurities:
        raise ValueError(f"impurity: {name} does not hold for {impurity!r}, only for {', '.join(bound.impurities)}")
    n, k = counts.shape[1:]
    seconds = bound.nanoseconds(n, k) / 1e9
    if seconds > LONGEST_TABLE:
        raise ValueError(f"table: {name} would take about {duration(seconds)} for n = {n}, k = {k}; ask for another")
    return float(bound.batch(counts, kind)[0])
