"""The best split of one attribute, for many nodes at once.

Glossary
--------
node     a set of examples; those of one call are numbered 0, ..., m - 1
value    a value of the attribute that is present in a node: a number, or the code of a category
values   all (node, value) that occur, ascending, with their class counts: `Values`
missing  examples of a node whose value is not known: they belong to the node, but not to its values
branch   a part of a node; numeric attributes have the branches <= threshold (0) and > threshold (1)

Missing values go to the branch with more of the known examples, the first such one. A split is judged as it falls, with
them in it; which values of a nominal attribute go together is decided without them.

Examples may have weights, whole numbers. Class counts are then sums of these, "more examples" means a larger sum, and
the numbers of examples are counted beside them.

The splits of a numeric attribute are the thresholds between neighbouring values of the node, in ascending order. Where
the criterion allows it (see ``criteria``) those between two values of the same single class are left out: a boundary
point is at least as good. All of it is a fixed number of passes over arrays, O(n k) after sorting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splitlab._jit import Bools, Floats, Ints
from splitlab.trees.criteria import Criterion, first_best, runs

Group = Callable[[Ints, Floats], Ints]
Between = Callable[[Floats, Floats], Floats]

# So many counts are handed to a criterion at once; its temporary arrays stay in the processor's cache.
CHUNK = 1 << 17


class Least(NamedTuple):
    """What a branch must have: so many examples, and so large a sum of their weights."""

    examples: int = 1
    weight: float = 0.0

    @property
    def nothing(self) -> bool:
        """Whether every branch has that."""
        return self.examples <= 1 and self.weight <= 0

    def met(self, tables: Ints, sizes: Ints | None) -> Bools:
        """For which splits int64 (g, b, k) all branches have it; ``sizes`` (g, b) if examples have weights: (g,)."""
        weights = tables.sum(2).min(1)
        return ((weights if sizes is None else sizes.min(1)) >= self.examples) & (weights >= self.weight)


@dataclass(frozen=True)
class Values:
    """The p values that are present in some nodes, ascending by node, then value.

    Attributes
    ----------
    node : int64 (p,)
        The node of each value.
    value : float64 (p,)
        The number, or the code of the category.
    counts : int64 (p, k)
        Class counts; with weights of examples the sums of these.
    examples : int64 (p,), optional
        How many examples have each value, where they have weights.
    """

    node: Ints
    value: Floats
    counts: Ints
    examples: Ints | None = None

    @property
    def size(self) -> Ints:
        """How many examples have each value: int64 (p,)."""
        return self.counts.sum(1) if self.examples is None else self.examples

    @cached_property
    def runs(self) -> tuple[Ints, Ints]:
        """Where the values of each node that has any begin, and how many it has: two int64 (nodes with values,)."""
        return runs(self.node)


@dataclass(frozen=True)
class Proposals:
    """The best split of an attribute for each of m nodes.

    Attributes
    ----------
    keys : float64 (c, m)
        What the criterion says of it; -inf where there is none.
    improvement : float64 (m,)
        How much better it is than no split.
    threshold : float64 (m,)
        Of a numeric attribute; NaN for a nominal one.
    n_branches, default : int64 (m,)
        The number of branches, and the one for missing values.
    values : Values
        The values present.
    branch : int64 (p,)
        The branch of each of them; empty for a numeric attribute, where the threshold says it.
    """

    keys: Floats
    improvement: Floats
    threshold: Floats
    n_branches: Ints
    default: Ints
    values: Values
    branch: Ints

    @classmethod
    def none(cls, criterion: Criterion, values: Values, m: int) -> Proposals:
        """Proposals for m nodes without a split in any of them, to be filled by `enter`."""
        keys = np.full((2 if criterion.tie else 1, m), -inf)
        zero, nan = np.zeros(m, np.int64), np.full(m, np.nan)
        return cls(keys, nan, nan.copy(), zero, zero.copy(), values, np.zeros(0, np.int64))

    def enter(
        self, node: Ints, tables: Ints, default: Ints, criterion: Criterion, least: Least, sizes: Ints | None = None
    ) -> None:
        """Write in the splits of some nodes.

        Parameters
        ----------
        node : int64 (g,)
            The nodes.
        tables : int64 (g, b, k)
            Class counts of the branches, missing values included.
        default : int64 (g,)
            The branches for missing values.
        criterion : Criterion
        least : Least
            A split with a smaller branch does not count.
        sizes : int64 (g, b), optional
            How many examples the branches have, where they have weights.
        """
        keys = criterion.keys(tables)
        self.keys[:, node] = np.where(least.met(tables, sizes), keys, -inf)
        self.improvement[node] = criterion.improvement(tables, keys)
        self.n_branches[node] = tables.shape[1]
        self.default[node] = default


def values_of(node: NDArray[np.integer], value: Floats, y: Ints, k: int, weight: Ints | None = None) -> Values:
    """Count the classes of examples that are sorted by node and value.

    Parameters
    ----------
    node, value, y : (n,)
        The node, the known value and the class, below k, of each example.
    k : int
        The number of classes.
    weight : int64 (n,), optional
        The weights of the examples.
    """
    new = np.empty(len(node), np.bool_)
    new[:1] = True
    np.not_equal(node[1:], node[:-1], out=new[1:])
    new[1:] |= value[1:] != value[:-1]
    starts = np.flatnonzero(new)
    cell = (np.cumsum(new) - 1) * k + y
    counts = weighted_counts(cell, weight, len(starts) * k).reshape(-1, k)
    examples = None if weight is None else np.diff(starts, append=len(node))
    return Values(node[starts].astype(np.int64), value[starts], counts, examples)


def weighted_counts(cell: Ints, weight: Ints | None, length: int) -> Ints:
    """The sum of the weights (n,), at most 2^53 in all, in each cell; ``cell`` (n,) says in which: int64 (length,)."""
    return np.bincount(cell, weight, length).astype(np.int64, copy=False)


def midpoint(low: Floats, high: Floats) -> Floats:
    """The thresholds between neighbouring values (m,): their means, or ``low`` where rounding would reach ``high``."""
    middle = low / 2 + high / 2
    return np.where((middle < high) & (middle >= low), middle, low)


def short_midpoint(low: Floats, high: Floats) -> Floats:
    """The thresholds of `midpoint` (m,) with at most 15 digits, where that still parts ``low`` and ``high``.

    The mean of 38.6 and 38.7 is 38.650000000000006 as a float; this is 38.65.
    """
    middle = midpoint(low, high)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        digits = np.maximum(14 - np.floor(np.log10(np.abs(middle))), 0)  # after the point
        scale = 10.0 ** np.minimum(digits, 22)  # a power of ten that is exact
        short = np.rint(middle * scale) / scale
    return np.where((short < high) & (short >= low) & (digits <= 22), short, middle)


def boundaries(values: Values, convex: Bools) -> Ints:
    """The indices i such that a threshold between values i and i + 1 of a node may be best: int64, ascending.

    ``convex`` (m,) says in which nodes thresholds inside a single class are not needed.
    """
    size, largest = values.counts.sum(1), values.counts.max(1)
    only = np.where(largest == size, values.counts.argmax(1), -1)
    inside = (only[:-1] >= 0) & (only[:-1] == only[1:]) & convex[values.node[:-1]]
    return np.flatnonzero((values.node[:-1] == values.node[1:]) & ~inside)


def numeric(
    values: Values,
    totals: Ints,
    criterion: Criterion,
    min_leaf: int,
    *,
    min_weight: float = 0.0,
    size: Ints | None = None,
    between: Between = midpoint,
) -> Proposals:
    """The best threshold of each node.

    Parameters
    ----------
    values : Values
        Of the nodes, known values only.
    totals : int64 (m, k)
        The class counts of the nodes, missing values included.
    criterion : Criterion
    min_leaf : int
        Fewest examples in a branch.
    min_weight : float
        Least sum of weights in a branch.
    size : int64 (m,), optional
        How many examples the nodes have, where these have weights.
    between : callable
        The thresholds between neighbouring values: two float64 (m,) -> float64 (m,).

    Returns
    -------
    Proposals
        Of equally good thresholds the lowest.
    """
    found, least = Proposals.none(criterion, values, len(totals)), Least(min_leaf, min_weight)
    if len(values.node) < 2:
        return found
    starts, lengths = values.runs
    here = values.node[starts]
    k = totals.shape[1]
    counts, totals = _beside(values.counts, values.examples), _beside(totals, size)
    below = counts.cumsum(0)
    before = np.zeros_like(totals)
    before[here] = below[starts] - counts[starts]
    known = np.zeros_like(totals)
    known[here] = below[starts + lengths - 1] - before[here]
    missing = np.where(known.any(1, keepdims=True), totals - known, 0)  # where an attribute is dead, nothing is missing
    convex = np.logical_not(missing.any(1)) & np.bool_(criterion.hyperplanes and least.nothing)
    thresholds = _Thresholds(below, before, known, missing, k, criterion, least)
    if criterion.cuts is not None and least.nothing and not missing.any():
        best = criterion.cuts(values.counts, starts)
    else:
        places = boundaries(values, convex)
        keys = thresholds.judge(places, values.node[places])
        best = places[first_best(keys, values.node[places], criterion.same, criterion.floor)]
    node = values.node[best]
    tables, default = thresholds.tables(best, node), thresholds.default(best, node)
    found.enter(node, tables[:, :, :k], default, criterion, least, thresholds.sizes(tables))
    found.threshold[node] = between(values.value[best], values.value[best + 1])
    return found


@dataclass(frozen=True)
class _Thresholds:
    """The thresholds of a numeric attribute in m nodes with p values in all.

    A threshold is named by its node and the index of the last value below it, in ``places``. Where examples have
    weights, a column k beside the class counts has the numbers of examples.

    Attributes
    ----------
    below : int64 (p, k)
        Running sums of the class counts, over all nodes.
    before : int64 (m, k)
        What to take off them in each node.
    known, missing : int64 (m, k)
        Class counts of each node where the value is known, and where it is not.
    k : int
        The number of classes.
    criterion : Criterion
    least : Least
        What a branch must have.
    """

    below: Ints
    before: Ints
    known: Ints
    missing: Ints
    k: int
    criterion: Criterion
    least: Least

    def default(self, places: Ints, node: Ints) -> Ints:
        """The branch of missing values for each threshold: int64 (t,)."""
        left = (self.below.take(places, 0) - self.before.take(node, 0))[:, : self.k].sum(1)
        return (2 * left < self.known.take(node, 0)[:, : self.k].sum(1)).astype(np.int64)

    def tables(self, places: Ints, node: Ints) -> Ints:
        """Class counts of both branches for each threshold, missing values included: int64 (t, 2, k)."""
        tables = np.empty((len(places), 2, self.known.shape[1]), np.int64)
        np.subtract(self.below.take(places, 0), self.before.take(node, 0), out=tables[:, 0])
        np.subtract(self.known.take(node, 0), tables[:, 0], out=tables[:, 1])
        if self.missing.any():
            tables[np.arange(len(places)), self.default(places, node)] += self.missing[node]
        return tables

    def sizes(self, tables: Ints) -> Ints:
        """How many examples the branches of ``tables`` (t, 2, k or k + 1) have: int64 (t, 2)."""
        return tables[:, :, self.k] if tables.shape[2] > self.k else tables.sum(2)

    def judge(self, places: Ints, node: Ints) -> Floats:
        """What decides between the thresholds, as `Criterion.keys` gives it: float64 (c, t), worked out in chunks."""
        step = max(1, CHUNK // self.known.shape[1])
        keys = np.empty((2 if self.criterion.tie else 1, len(places)))
        for start in range(0, len(places), step):
            chunk = slice(start, start + step)
            tables = self.tables(places[chunk], node[chunk])
            keys[:, chunk] = self.criterion.keys(tables[:, :, : self.k])
            if not self.least.nothing:
                keys[:, chunk][:, ~self.least.met(tables[:, :, : self.k], self.sizes(tables))] = -inf
        return keys


def nominal(
    values: Values,
    totals: Ints,
    criterion: Criterion,
    group: Callable[[Ints, Floats], Ints],
    min_leaf: int,
    usable: Bools,
    *,
    min_weight: float = 0.0,
    size: Ints | None = None,
) -> Proposals:
    """The split of each node that ``group`` makes of the values of a nominal attribute.

    Parameters
    ----------
    values : Values
        Of the nodes, known values only.
    totals : int64 (m, k)
        The class counts of the nodes, missing values included.
    criterion : Criterion
    group : callable
        Contingency tables int64 (g, n, k), n and k >= 2, without zero rows or columns, and the values of their rows
        (g, n) -> branches int64 (g, n). Where it leaves a branch empty there is no split.
    min_leaf : int
        Fewest examples in a branch.
    usable : bool (m,)
        The nodes that may be split at all.
    min_weight : float
        Least sum of weights in a branch.
    size : int64 (m,), optional
        How many examples the nodes have, where these have weights.
    """
    found, least = Proposals.none(criterion, values, len(totals)), Least(min_leaf, min_weight)
    if len(values.node) < 2:
        return found
    starts, lengths = values.runs
    node = values.node[starts]
    k = totals.shape[1]
    counts, totals = _beside(values.counts, values.examples), _beside(totals, size)
    known = np.add.reduceat(counts, starts)
    classes = (known[:, :k] > 0).sum(1)
    chosen = np.flatnonzero((lengths > 1) & (classes > 1) & usable[node])
    branch = np.zeros(len(values.node), np.int64)
    for same in _alike(lengths[chosen], classes[chosen]):
        which = chosen[same]
        rows = starts[which][:, None] + np.arange(lengths[which[0]])
        columns = np.nonzero(known[which, :k])[1].reshape(len(which), -1)
        tables = np.ascontiguousarray(values.counts[rows[:, :, None], columns[:, None, :]])
        branch[rows] = group(tables, values.value[rows])
    n_branches = np.maximum.reduceat(branch, starts)[chosen] + 1
    chosen, n_branches = chosen[n_branches > 1], n_branches[n_branches > 1]  # a user-defined splitter may refuse
    for same in _alike(n_branches, n_branches):
        which = chosen[same]
        tables = _by_branch(counts, branch, starts, int(n_branches[same[0]]))[which]
        default = tables[:, :, :k].sum(2).argmax(1)
        tables[np.arange(len(which)), default] += totals[node[which]] - known[which]
        sizes = None if size is None else tables[:, :, k]
        found.enter(node[which], np.ascontiguousarray(tables[:, :, :k]), default, criterion, least, sizes)
    return replace(found, branch=branch)


def _beside(counts: Ints, examples: Ints | None) -> Ints:
    """Class counts (m, k) with the numbers of examples (m,), if there are any, as a last column."""
    return counts if examples is None else np.column_stack([counts, examples])


def _alike(lengths: Ints, classes: Ints) -> list[Ints]:
    """The indices of tables of one shape, shape by shape: a list of int64 arrays."""
    if not len(lengths):
        return []
    shape = lengths * (classes.max() + 1) + classes
    order = np.argsort(shape, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(shape[order])) + 1)


def _by_branch(counts: Ints, branch: Ints, starts: Ints, b: int) -> Ints:
    """Add up the counts (p, k) of each of b branches in each run of values that begins at ``starts``: (runs, b, k)."""
    return np.stack([np.add.reduceat(counts * (branch == i)[:, None], starts) for i in range(b)], 1)
