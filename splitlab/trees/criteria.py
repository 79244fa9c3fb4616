"""Split criteria: how good a split of a node is, from the table of the split (branches x classes).

Two things are here: a function for each criterion, which takes one table and checks it, and a registry, which says of
each how to use it. The formulas are in ``formulas``.

Which searches are valid
------------------------
The left sums of all binary splits of a contingency table lie in a polytope, the sum of the segments from 0 to each
row; its corners are the splits by a hyperplane in the space of class probabilities. A criterion that is quasi-convex
in the left counts (quasi-concave, if it is minimised) has its optimum at a corner. So for two classes one of the
prefixes in the order of the class share is optimal, for more one of the splits by hyperplanes, and among the
thresholds of a numeric attribute one between two values that are not both of the same single class (a boundary point).

- Impurity gains are convex, since impurities are concave. Gain ratio, twoing and HDDT are quasi-convex; iHD is convex.
- DCSM is concave: N_v a exp(c (1 - a^2)) is, for c <= 1, while D_v stays; and D_v in the midst of a segment
  is at least that at its ends, so the true values there are lower still.
- CCP is not: in [[2027,59],[8,9],[0,4],[9,0]] row 0 against the rest is optimal, which no order by class share has.
- iHDw is not from four classes on; for two nothing is proven and no counterexample known, so none is claimed.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from splitlab import impurity as impurities
from splitlab._jit import Floats, Ints
from splitlab.plugins import hand_over, is_plugin
from splitlab.tables.contingency import as_counts, show
from splitlab.trees import formulas
from splitlab.trees.measures import CCP, CCP_NORMALIZED, DCSM, GAIN, GAIN_RATIO, HDDT, IHD, IHDW, TWOING
from splitlab.trees.parameters import FLAG, check, one_of

# Splits whose values differ by a smaller share are equally good: formulas carry rounding noise. The values of DCSM,
# sums without subtraction, are more accurate than that, and its splits are little apart.
SAME, SAME_DCSM = 1e-12, 1e-14


@dataclass(frozen=True)
class Criterion:
    """An entry of the registry; calling it with a table gives the value of that split.

    Attributes
    ----------
    name, title : str
        The name used in code, and the one used in text.
    maximise : bool
        Whether larger values are better.
    range : tuple of float
        Least and largest value that any table can have.
    two_class_order : bool
        Whether for two classes a best binary split is a prefix in the order of the class share.
    hyperplanes : bool
        Whether a best binary split is one by a hyperplane in the space of class probabilities. Then boundary points
        suffice for numeric attributes, too.
    impurity : str
        The impurity that a splitter minimises on behalf of this criterion.
    source : str
        Where it comes from.
    formula : callable
        int64 (..., b, k) -> float64 (...).
    tie : str
        The criterion that decides between equal values; empty if the first split does.
    is_gain : bool
        Whether the criterion is the gain of its impurity: then minimising that impurity is all there is to do.
    binary : bool
        Whether it is defined for two branches only.
    same : float
        Values that differ by no larger share are equally good.
    floor : float
        Smaller values carry as much rounding noise as this one; 0 if all are accurate.
    code : int
        The number by which ``measures`` knows it; -1 if it has no compiled form.
    cuts : callable, optional
        A faster search for the best thresholds of numeric attributes than by the formula: class counts int64 (p, k) of
        the values of all nodes, where each node's begin -> for each node with several the value before its threshold.
    """

    name: str
    title: str
    maximise: bool
    range: tuple[float, float]
    two_class_order: bool
    hyperplanes: bool
    impurity: str
    source: str
    formula: Callable[[Ints], Floats] = field(repr=False)
    tie: str = ""
    is_gain: bool = False
    binary: bool = False
    same: float = SAME
    floor: float = 0.0
    code: int = -1
    cuts: Callable[[Ints, Ints], Ints] | None = field(default=None, repr=False)

    def __call__(self, table: ArrayLike) -> float:
        """The value for the table (b, k) of one split; ValueError or TypeError where `checked` refuses it."""
        counts = checked(table)
        if self.binary and len(counts) != 2:
            raise ValueError(f"{self.name}: is defined for 2 branches; the table has {len(counts)}")
        return float(self.formula(counts))

    def keys(self, tables: Ints) -> Floats:
        """What decides between splits (..., b, k), first things first, larger is better: float64 (1 or 2, ...)."""
        values = self.formula(tables) if self.maximise else -self.formula(tables)
        return np.stack([values, *(get(self.tie).keys(tables) if self.tie else ())])

    def improvement(self, tables: Ints, keys: Floats) -> Floats:
        """How much better splits are than none: the value, or what it takes off the node's: float64 (...).

        ``keys`` are those of the splits ``tables`` int64 (..., b, k).
        """
        return keys[0] if self.maximise else keys[0] + self.formula(formulas.node(tables))

    def noise(self, counts: Ints) -> Floats:
        """How far from 0 rounding can carry the improvement of a split without any: nodes (m, k) -> float64 (m,)."""
        values = np.zeros(len(counts)) if self.maximise else np.abs(self.formula(counts[:, None]))
        return SAME * np.maximum(self.floor, values)


def checked(table: ArrayLike) -> Ints:
    """The table of a split as int64 (b, k).

    Parameters
    ----------
    table : array_like, shape (b, k)
        Class counts of b >= 1 branches, whole numbers of at most 1e15 in total, not all 0.

    Raises
    ------
    ValueError, TypeError
        An entry is not a whole number, negative or too large; the rows are of different lengths; all counts are 0.
    """
    rows: Any = table.to_numpy() if hasattr(table, "to_numpy") else table
    if isinstance(rows, (list, tuple, np.ndarray)) and len(rows) == 1 and np.ndim(rows[0]) == 1:
        return as_counts([rows[0], [0] * len(rows[0])])[:1]  # one branch is a split only on paper
    return as_counts(table)


def information_gain(table: ArrayLike, impurity: str = "entropy") -> float:
    """Decrease of the impurity per example, (I(node) - sum of I(branch)) / N; maximised.

    >>> round(information_gain([[6, 2], [3, 3]]), 8)
    0.04812703
    >>> round(information_gain([[2, 0], [1, 1], [0, 2]], "gini"), 8)
    0.33333333
    """
    return float(formulas.gain(checked(table), impurity))


def gain_ratio(table: ArrayLike) -> float:
    """Information gain divided by the entropy of the sizes of the branches, 0 where that is 0; maximised.

    >>> gain_ratio([[4, 0], [0, 4]]), gain_ratio([[3, 5]])
    (1.0, 0.0)
    """
    return float(formulas.gain_ratio(checked(table)))


def twoing(table: ArrayLike) -> float:
    """rho_L rho_R / 4 (sum_j |p_Lj - p_Rj|)^2, of two branches; maximised.

    >>> twoing([[4, 0, 0], [0, 2, 2]])
    0.25
    """
    return CRITERIA["twoing"](table)


def dcsm(table: ArrayLike) -> float:
    """Distinct-class based splitting measure; minimised.

    sum_v rho_v D_v exp(D_v) sum_j p_vj exp(D_v / D (1 - p_vj^2)), with D_v distinct classes in branch v and D in the
    node. With more than 500 classes in the node its natural logarithm is returned, since exp(D) fits no float;
    all splits of a node have the same D, so either form orders them alike.

    >>> round(dcsm([[4, 0], [0, 4]]), 6)
    2.718282
    """
    return float(formulas.dcsm(checked(table)))


def hddt(table: ArrayLike, partitions: str = "one-against-rest") -> float:
    """Hellinger distance between two classes, or groups of them, over the branches; maximised.

    sqrt(sum_v (sqrt(N_+v / N_+) - sqrt(N_-v / N_-))^2), in [0, sqrt 2]; 0 when a class is empty. For more than two
    classes the largest one over ``partitions``: ``"one-against-rest"`` or ``"all"``, all partitions of the
    classes into two groups (at most 16 classes).

    >>> table = [[40, 0, 0, 10], [0, 20, 10, 0]]
    >>> round(hddt(table), 4), round(hddt(table, "all"), 4)
    (1.0879, 1.4142)
    """
    check("hddt", partitions=(partitions, one_of("one-against-rest", "all")))
    return float((formulas.hddt if partitions != "all" else formulas.hddt_all)(checked(table)))


def ccp(table: ArrayLike, impurity: str = "entropy", normalize: bool = False) -> float:
    """Gain with class confidence proportions in place of class probabilities (CCPDT); maximised, ties by `hddt`.

    CC(X -> y) = |X and y| / |y| and CCP(X -> y) = CC(X -> y) / (CC(X -> y) + CC(X -> not y)), 0/0 = 0; the criterion is
    sum_j f(CCP_j) of the node, less its mean over the branches, weighted by their sizes; f(x) is
    -x log2 x (``"entropy"``) or x (1 - x) (``"gini"``).

    For two classes the proportions of a branch add up to 1. For more they do not, and the sources leave open
    what is meant then: by default they are used as they are, and the criterion can be negative;
    ``normalize=True`` divides them by their sum.

    >>> round(ccp([[2027, 59], [17, 13]]), 6), round(ccp([[2027, 59], [17, 13]], "gini"), 6)
    (0.016926, 0.010353)
    """
    check("ccp", impurity=(impurity, one_of(*TERMS)), normalize=(normalize, FLAG))
    return float(formulas.ccp(checked(table), TERMS[impurity], normalize))


def ihd(table: ArrayLike) -> float:
    """Inter-node Hellinger distance, sum_v rho_v (1 - sum_j sqrt(p_vj p_j)); maximised.

    >>> round(ihd([[40, 0, 0, 10], [0, 20, 10, 0]]), 4), round(ihd([[40, 0, 5, 5], [0, 20, 5, 5]]), 4)
    (0.2763, 0.2036)
    """
    return float(formulas.ihd(checked(table)))


def ihdw(table: ArrayLike) -> float:
    """`ihd` with every branch weighted by 1 - prod_j N_vj / N_j over the classes of the node; maximised.

    >>> ihdw([[4, 0], [0, 4]]) == ihd([[4, 0], [0, 4]])
    True
    """
    return float(formulas.ihdw(checked(table)))


TERMS = {"entropy": formulas.entropy_terms, "gini": formulas.gini_terms}
BREIMAN = "Breiman, Friedman, Olshen, Stone, Classification and Regression Trees (1984)"
QUINLAN = "Quinlan, C4.5 (1993)"
HELLINGER = "Cieslak, Chawla, Learning decision trees for unbalanced data (ECML 2008)"
CONFIDENCE = "Liu, Chawla, Cieslak, Chawla, A robust decision tree algorithm for imbalanced data sets (SDM 2010)"
INTER_NODE = "Akash, Kadir, Ali, Shoyaib, Inter-node Hellinger distance based decision tree (IJCAI 2019)"
CONVEX: dict[str, Any] = {"maximise": True, "two_class_order": True, "hyperplanes": True}
NOT_CONVEX: dict[str, Any] = {"maximise": True, "two_class_order": False, "hyperplanes": False}


def gain_of(impurity: str) -> Criterion:
    """The gain of an impurity as a criterion; ValueError where ``splitlab.impurity`` does not know the impurity."""
    impurities.code(impurity)
    largest = 1.0 if impurity == "gini" else inf
    gain = partial(formulas.gain, impurity=impurity)
    title = {"gini": "Gini gain", "entropy": "information gain"}.get(impurity, f"gain of {impurity}")
    source = {"gini": BREIMAN, "entropy": QUINLAN}.get(impurity, "gain of an impurity")
    return Criterion(impurity, title, range=(0.0, largest), impurity=impurity, source=source, formula=gain,
                     is_gain=True, floor=0.0 if impurity in impurities.NAMES else 1.0, code=GAIN, **CONVEX)  # fmt: skip


def _confidence(impurity: str, normalize: bool) -> Criterion:
    """The entry of CCP by the terms of an impurity."""
    name = f"ccp_{impurity}{'_normalized' if normalize else ''}"
    title = f"CCP {impurity} gain{', normalised' if normalize else ''}"
    formula = partial(formulas.ccp, terms=TERMS[impurity], normalize=normalize)
    return Criterion(name, title, range=(-inf, inf), impurity=impurity, source=CONFIDENCE, formula=formula, tie="hddt",
                     floor=1.0, code=CCP_NORMALIZED if normalize else CCP, **NOT_CONVEX)  # fmt: skip


def _hellinger(name: str, title: str, formula: Callable[[Ints], Floats], code: int) -> Criterion:
    """The entry of a form of the Hellinger distance."""
    return Criterion(name, title, range=(0.0, sqrt(2.0)), impurity="entropy", source=HELLINGER, formula=formula,
                     code=code, **CONVEX)  # fmt: skip


CRITERIA: dict[str, Criterion] = {
    entry.name: entry
    for entry in (
        gain_of("gini"),
        gain_of("entropy"),
        Criterion("gain_ratio", "gain ratio", range=(0.0, 1.0), impurity="entropy", source=QUINLAN,
                  formula=formulas.gain_ratio, code=GAIN_RATIO, **CONVEX),
        Criterion("twoing", "twoing", range=(0.0, 0.25), impurity="gini", source=BREIMAN, formula=formulas.twoing,
                  code=TWOING, binary=True, **CONVEX),
        Criterion("dcsm", "DCSM", range=(0.0, inf), impurity="entropy", formula=formulas.dcsm,
                  source="Chandra, Kothari, Paul, A new node splitting measure for decision tree construction (2010)",
                  same=SAME_DCSM, code=DCSM, **{**CONVEX, "maximise": False}),
        _hellinger("hddt", "HDDT", formulas.hddt, HDDT),
        _hellinger("hddt_all", "HDDT, all partitions", formulas.hddt_all, -1),
        *(_confidence(impurity, normalize) for normalize in (False, True) for impurity in ("gini", "entropy")),
        Criterion("ihd", "iHD", range=(0.0, 1.0), impurity="entropy", source=INTER_NODE,
                  formula=formulas.ihd, code=IHD, **CONVEX),
        Criterion("ihdw", "iHDw", range=(0.0, 1.0), impurity="entropy", formula=formulas.ihdw,
                  source=INTER_NODE, code=IHDW, **NOT_CONVEX),
    )
}  # fmt: skip


def names() -> tuple[str, ...]:
    """The names of all criteria; besides them, every impurity is the criterion of its gain."""
    return tuple(CRITERIA)


def get(criterion: str | Criterion | Callable[[float], float]) -> Criterion:
    """A criterion by its name, or by the impurity, a name or a function, whose gain it is; an entry as it is.

    Raises
    ------
    ValueError, TypeError
        There is no criterion or impurity of that name; or it is not text.

    Examples
    --------
    >>> get("dcsm").maximise, get("ihd").range
    (False, (0.0, 1.0))
    """
    if isinstance(criterion, Criterion):
        return criterion
    if callable(criterion):
        criterion = hand_over(criterion)
    if not isinstance(criterion, str):
        raise TypeError(f"criterion: {show(criterion)} is not a name; write it as text")
    if criterion in CRITERIA:
        return CRITERIA[criterion]
    try:
        return gain_of(criterion)
    except ValueError:
        if is_plugin(criterion):
            raise
        near = difflib.get_close_matches(criterion, names(), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"the criteria are {', '.join(names())}"
        raise ValueError(f"criterion: {criterion!r} is not known; {hint}") from None


def runs(ids: Ints) -> tuple[Ints, Ints]:
    """Where runs of equal numbers in ``ids`` (p,) begin, and how long they are: two int64 (runs,)."""
    new = np.empty(len(ids), np.bool_)
    new[:1] = True
    np.not_equal(ids[1:], ids[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    lengths = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
    lengths[-1:] = len(ids) - starts[-1:]
    return starts, lengths


def first_best(keys: Floats, group: Ints, same: float = SAME, floor: float = 0.0) -> Ints:
    """The index of the first best candidate of each group.

    Parameters
    ----------
    keys : float64 (c, m)
        As `Criterion.keys` gives them: row 0 decides, later rows decide between equals; -inf is no candidate.
    group : int64 (m,)
        The group of every candidate, ascending.
    same : float
        Values that differ by no larger share are equally good.
    floor : float
        Smaller values carry as much rounding noise as this one.

    Returns
    -------
    int64
        One index for each group that has a candidate, ascending.
    """
    places = np.flatnonzero(keys[0] > -inf)
    for key in keys:
        if not len(places):
            return places
        values, groups = key[places], group[places]
        starts, lengths = runs(groups)
        best = np.maximum.reduceat(values, starts)
        noise = same * np.maximum(floor, np.abs(best))
        places = places[values >= np.repeat(best - noise, lengths)]
    return places[runs(group[places])[0]]
