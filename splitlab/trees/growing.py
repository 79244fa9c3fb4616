"""Growing a decision tree level by level.

All nodes of a level are split together, one attribute after the other, so that the work is a fixed number of passes
over arrays per level and attribute, and no loop goes over rows or nodes. The invariant between levels: for every
attribute, ``sorted_rows`` lists the examples that may still be split by it and whose value is known, ascending by node,
then value. A stable sort by the number of the child keeps it so. An attribute with a single value at a node, or
filtered out for good, loses the node's examples from its list, and is dead in all descendants.

Levels are cut into blocks of nodes, which bounds the memory: about ``CELLS`` counts, unless one node needs more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splitlab._jit import Bools, Floats, Ints
from splitlab.impurity import code
from splitlab.trees import filters, sweep
from splitlab.trees.criteria import SAME, Criterion, first_best
from splitlab.trees.grouping import Grouping
from splitlab.trees.proposals import (
    Between,
    Least,
    Values,
    midpoint,
    nominal,
    numeric,
    values_of,
    weighted_counts,
)
from splitlab.trees.tree import LEAF, Tree

NodeOfRow = NDArray[np.int32]
Rows = NDArray[np.uint32]

CELLS = 1 << 22

# Few examples cost no more than the calls, so numeric columns are joined up to so many counts.
BATCH = 1 << 17

NO_WEIGHT = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Examples:
    """Training examples, of one tree or of several that are grown together.

    Attributes
    ----------
    x : float64 (n, p)
        The values; NaN where missing.
    nominal : bool (p,)
        Which columns are nominal.
    y : int (n,)
        The classes, from 0 to k - 1.
    k : int
        The number of classes.
    tree : int (n,), optional
        Which tree, 0, 1, ..., each example is for. Growing them together makes no difference to the trees, but the
        passes over arrays are shared.
    weight : int64 (n,), optional
        How often each example counts, at least once, 2^53 in all at most.
    unit : float
        What a weight of 1 is worth: the chi-square test is the only thing that depends on it.
    """

    x: Floats
    nominal: Bools
    y: Ints
    k: int
    tree: Ints | None = None
    weight: Ints | None = None
    unit: float = 1.0

    @property
    def total(self) -> int:
        """The number of examples, or the sum of their weights."""
        return len(self.y) if self.weight is None else int(self.weight.sum())


def side_by_side(parts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The rows of all parts, for trees that are grown together, and of each row the number of its part."""
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


@dataclass(frozen=True, eq=False)
class Growth:
    """How a tree is grown.

    Attributes
    ----------
    criterion : Criterion
    grouping : Grouping
        How nominal values are grouped.
    max_depth : float
        The depth at which every node is a leaf; the root has depth 0.
    min_samples_split, min_samples_leaf : int
        Fewest examples in a node that is split, and in a branch.
    min_weight_leaf : float
        Least sum of weights in a branch.
    min_decrease : float
        Least improvement, times the node's share of all examples.
    max_features : int, optional
        So many attributes, drawn at random among those that have a split, are considered at each node.
    rng : numpy.random.RandomState, optional
        Draws them, and breaks ties between attributes; without it the first attribute wins.
    max_p : float, optional
        A nominal attribute is considered only at nodes where a chi-square test of independence gives p below it.
    min_second : int
        A nominal attribute is dead where fewer examples have its second most frequent value.
    between : callable
        The thresholds between neighbouring values, as for `proposals.numeric`.
    """

    criterion: Criterion
    grouping: Grouping
    max_depth: float = inf
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_decrease: float = 0.0
    max_features: int | None = None
    rng: np.random.RandomState | None = None
    max_p: float | None = None
    min_second: int = 0
    between: Between = midpoint


def grow(examples: Examples, growth: Growth) -> Tree:
    """Grow a tree of the examples; or several trees, whose roots are the first nodes of the result."""
    # As kernels take them, each column side by side.
    examples = replace(examples, x=np.asfortranarray(examples.x), y=examples.y.astype(np.uint32))
    front = _Front.root(examples, growth)
    levels = []
    while True:
        level = _split_level(front, examples, growth)
        levels.append(level)
        if not level.n_branches.any():
            return _assemble(levels)
        front = front.children(level, examples, growth)


@dataclass(frozen=True, eq=False)
class _Front:
    """The m nodes of one level, and the examples in them.

    Attributes
    ----------
    depth : int
        The depth of the nodes; roots have depth 0.
    counts : int64 (m, k)
        Class counts, weighted.
    size : int64 (m,)
        The number of examples.
    node : int32 (n,)
        The node of each example; -1 if it is in a leaf.
    rows : uint32 (s,)
        For one attribute after the other, the examples that may still be split by it, ascending by node, then value.
    starts : int64 (p + 1,)
        Where those of each attribute begin.
    """

    depth: int
    counts: Ints
    size: Ints
    node: NodeOfRow
    rows: Rows
    starts: Ints

    @classmethod
    def root(cls, examples: Examples, growth: Growth) -> _Front:
        """The roots of all trees."""
        k, tree = examples.k, np.zeros(len(examples.y), np.int64) if examples.tree is None else examples.tree
        m = int(tree.max()) + 1
        counts = weighted_counts(tree * k + examples.y, examples.weight, m * k).reshape(m, k)
        size = counts.sum(1) if examples.weight is None else np.bincount(tree, minlength=m)
        node = np.where(cls.open(counts, size, 0, growth)[tree], tree, LEAF).astype(np.int32)
        rows = []
        for column in examples.x.T:
            order = np.argsort(column, kind="stable").astype(np.uint32)
            order = order[(node[order] >= 0) & ~np.isnan(column[order])]
            rows.append(order[np.argsort(node[order], kind="stable")])
        starts = np.cumsum([0, *map(len, rows)])
        return cls(0, counts, size, node, np.concatenate(rows), starts)

    def ranges(self, start: int, stop: int) -> tuple[Ints, Ints]:
        """Where in ``rows`` the examples of a range of nodes begin and end, for each attribute: two int64 (p,)."""
        if (start, stop) == (0, len(self.counts)):
            return self.starts[:-1], self.starts[1:]
        lists = np.split(self.node.take(self.rows), self.starts[1:-1])
        return tuple(
            self.starts[:-1] + np.array([np.searchsorted(nodes, at) for nodes in lists]) for at in (start, stop)
        )

    @staticmethod
    def open(counts: Ints, size: Ints, depth: int, growth: Growth) -> Bools:
        """Which nodes with class counts (m, k) of ``size`` (m,) examples may be split: bool (m,)."""
        enough = size >= growth.min_samples_split
        return enough & ((counts > 0).sum(1) > 1) & (depth < growth.max_depth)

    def blocks(self, width: int) -> Iterator[tuple[int, int]]:
        """Ranges (start, stop) of nodes whose examples times ``width`` make about `CELLS`."""
        share = np.cumsum(self.size) * width // CELLS
        edges = np.flatnonzero(np.diff(share)) + 1
        yield from zip([0, *edges], [*edges, len(share)], strict=True)

    def children(self, level: _Level, examples: Examples, growth: Growth) -> _Front:
        """The next level: the children of the nodes that ``level`` splits."""
        rows = np.flatnonzero(self.node >= 0)
        rows = rows[level.n_branches[self.node[rows]] > 0]
        node = self.node[rows].astype(np.int64)
        tree = level.as_tree()  # children are numbered from 0 on
        # Send the examples of split nodes to the children.
        branch = tree.branches(examples.x[rows, level.feature[node]], node)
        child = tree.first_child[node] + np.where(branch >= 0, branch, level.default[node])
        m, k = int(level.n_branches.sum()), examples.k
        weight = None if examples.weight is None else examples.weight[rows]
        counts = weighted_counts(child * k + examples.y[rows], weight, m * k).reshape(m, k)
        size = counts.sum(1) if weight is None else np.bincount(child, minlength=m)
        # Examples in children that cannot be split are done.
        is_open = self.open(counts, size, self.depth + 1, growth)
        number = np.full(len(examples.y), LEAF, np.int32)
        number[rows] = np.where(is_open[child], child, LEAF)
        lists = sweep.descended(self.rows, self.starts, self.node, number, level.dead, m)
        return _Front(self.depth + 1, counts, size, number, *lists)


@dataclass(frozen=True, eq=False)
class _Level:
    """The splits of the m nodes of one level: arrays as in `Tree`, with node numbers of the level.

    ``dead`` bool (p, m) says which attributes are given up at a node and below it.
    """

    depth: int
    counts: Ints
    feature: Ints
    threshold: Floats
    n_branches: Ints
    default: Ints
    improvement: Floats
    value_node: Ints
    value: Floats
    value_branch: Ints
    dead: Bools

    def as_tree(self, first: int = 0, node: int = 0) -> Tree:
        """A tree of these nodes alone, numbered from ``node`` on, whose children are numbered from ``first`` on."""
        return Tree(
            feature=self.feature,
            threshold=self.threshold,
            first_child=np.where(self.feature == LEAF, LEAF, first + np.cumsum(self.n_branches) - self.n_branches),
            n_branches=self.n_branches,
            default=self.default,
            counts=self.counts,
            depth=np.full(len(self.feature), self.depth),
            improvement=self.improvement,
            value_node=self.value_node + node,
            value=self.value,
            value_branch=self.value_branch,
        )


def _split_level(front: _Front, examples: Examples, growth: Growth) -> _Level:
    """Find the best split of every node of a level, block by block."""
    blocks = list(front.blocks(max(examples.k, examples.x.shape[1])))
    compiled = ~examples.nominal & (growth.criterion.code >= 0)
    parts = []
    for start, stop in blocks:
        starts, stops = front.ranges(start, stop)
        found = _Splits.none(examples.x.shape[1], stop - start, growth.criterion)
        _sweep(found, np.flatnonzero(compiled), (starts, stops), front, (start, stop), examples, growth)
        rows = [front.rows[slice(*here)] for here in zip(starts, stops, strict=True)]
        cells = [(len(here) + stop - start) * examples.k for here in rows]
        for columns in _batches(np.flatnonzero(~compiled), examples.nominal, cells):
            _propose(found, columns, [rows[c] for c in columns], front, (start, stop), examples, growth)
        parts.append(_choose(front.depth, front.counts[start:stop], found, examples.total, growth))
    return _joined(parts, [start for start, _ in blocks])


def _batches(columns: Ints, nominal: Bools, cells: list[int]) -> Iterator[list[int]]:
    """Some of the columns, in turn, that are worked on as one: numeric ones, with about `BATCH` counts together.

    ``cells`` (p,) are how many counts each column makes. A nominal column is alone.
    """
    batch: list[int] = []
    for column in columns:
        if batch and (nominal[column] or nominal[batch[-1]] or sum(cells[c] for c in [*batch, column]) > BATCH):
            yield batch
            batch = []
        batch.append(column)
    if batch:
        yield batch


@dataclass(frozen=True, eq=False)
class _Splits:
    """The best split of each of m nodes by each of p attributes, as in `Proposals`.

    Attributes
    ----------
    keys : float64 (c, p, m)
        -inf where there is no split.
    improvement, threshold : float64 (p, m)
    n_branches, default : int64 (p, m)
    dead : bool (p, m)
        Whether the attribute is given up at the node.
    groupings : list of (int, Values, int64 array)
        For nominal attributes the column, the values present in the nodes, and their branches.
    """

    keys: Floats
    improvement: Floats
    threshold: Floats
    n_branches: Ints
    default: Ints
    dead: Bools
    groupings: list[tuple[int, Values, Ints]]

    @classmethod
    def none(cls, p: int, m: int, criterion: Criterion) -> _Splits:
        """No split anywhere, to be filled."""
        keys, nan = np.full((2 if criterion.tie else 1, p, m), -inf), np.full((p, m), np.nan)
        return cls(keys, nan, nan.copy(), np.zeros((p, m), np.int64), np.zeros((p, m), np.int64),
                   np.ones((p, m), np.bool_), [])  # fmt: skip


def _sweep(
    found: _Splits,
    columns: Ints,
    ranges: tuple[Ints, Ints],
    front: _Front,
    nodes: tuple[int, int],
    examples: Examples,
    growth: Growth,
) -> None:
    """Enter the best thresholds of some numeric columns at a range of nodes, whose examples lie in these ``ranges``."""
    (start, stop), criterion = nodes, growth.criterion
    least = Least(growth.min_samples_leaf, growth.min_weight_leaf)
    rule = sweep.Rule(criterion.code, code(criterion.impurity), bool(criterion.tie),
                      criterion.hyperplanes and least.nothing, criterion.same, criterion.floor, *least)  # fmt: skip
    weight = NO_WEIGHT if examples.weight is None else examples.weight
    data = sweep.Data(front.rows, front.node, examples.x, examples.y.astype(np.uint32, copy=False), weight)
    low, high = np.full((2, *found.dead.shape), np.nan)
    into = sweep.Found(found.keys, found.improvement, low, high, found.n_branches, found.default, found.dead)
    sweep.best_thresholds(data, columns, *ranges, start, front.counts[start:stop], front.size[start:stop], rule, into)
    found.threshold[:] = growth.between(low, high)


def _propose(
    found: _Splits,
    columns: list[int],
    sorted_rows: list[Rows],
    front: _Front,
    nodes: tuple[int, int],
    examples: Examples,
    growth: Growth,
) -> None:
    """Enter the splits by a nominal column, or by a batch of numeric ones, at a range of nodes.

    ``sorted_rows`` are the examples of these nodes for each of the columns.
    """
    start, stop = nodes
    m, width = stop - start, len(columns)
    # The columns side by side, as if each had nodes of its own.
    rows = np.concatenate(sorted_rows)
    node = np.concatenate([front.node.take(here) + (i * m - start) for i, here in enumerate(sorted_rows)])
    x = np.concatenate([examples.x[:, c].take(here) for c, here in zip(columns, sorted_rows, strict=True)])
    weight = None if examples.weight is None else examples.weight.take(rows)
    values = values_of(node, x, examples.y.take(rows), examples.k, weight)
    totals = np.tile(front.counts[start:stop], (width, 1))
    size = None if weight is None else np.tile(front.size[start:stop], width)
    alive = filters.several_values(values, m * width)
    limits: dict[str, Any] = {"min_weight": growth.min_weight_leaf, "size": size}
    criterion, least = growth.criterion, growth.min_samples_leaf
    if examples.nominal[columns[0]]:
        if growth.min_second:
            alive &= filters.second_most_frequent(values, m) >= growth.min_second
        usable = alive.copy()
        if growth.max_p is not None:
            usable &= filters.independence(values, m, examples.unit) < growth.max_p
        proposal = nominal(values, totals, criterion, growth.grouping, least, usable, **limits)
        found.groupings.append((columns[0], values, proposal.branch))
    else:
        proposal = numeric(values, totals, criterion, least, between=growth.between, **limits)
    found.keys[:, columns] = proposal.keys.reshape(-1, width, m)
    for name in ("improvement", "threshold", "n_branches", "default"):
        getattr(found, name)[columns] = getattr(proposal, name).reshape(width, m)
    found.dead[columns] = ~alive.reshape(width, m)


def _choose(depth: int, counts: Ints, found: _Splits, n_total: int, growth: Growth) -> _Level:
    """Choose the best attribute of each node with class counts (m, k), or none.

    ``n_total`` is the number of examples, or the sum of their weights.
    """
    nodes = np.arange(len(counts))
    column = _best_columns(np.moveaxis(found.keys, 1, 2), growth)
    improvement = found.improvement[column, nodes]
    # 0 is met without gain, too
    share = counts.sum(1) / n_total
    least = growth.min_decrease * (1 - SAME) - growth.criterion.noise(counts) * share
    chosen = (column >= 0) & (improvement * share >= least)
    feature = np.where(chosen, column, LEAF)
    threshold, improvement = (np.where(chosen, a, np.nan) for a in (found.threshold[column, nodes], improvement))
    n_branches, default = (np.where(chosen, a[column, nodes], 0) for a in (found.n_branches, found.default))
    value_parts = []
    for c, values, branch in found.groupings:
        if len(branch):
            mine = feature[values.node] == c
            value_parts.append((values.node[mine], values.value[mine], branch[mine]))
    node, value, branch = _sorted_values(value_parts)
    return _Level(depth, counts, feature, threshold, n_branches, default, improvement, node, value, branch, found.dead)


def _sorted_values(parts: list[tuple[Ints, Floats, Ints]]) -> tuple[Ints, Floats, Ints]:
    """Join nodes, values and branches of several nominal attributes, ascending by node."""
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)
    node, value, branch = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(node, kind="stable")  # the values of a node come from one attribute, in order
    return node[order], value[order], branch[order]


def _best_columns(keys: Floats, growth: Growth) -> Ints:
    """The column of the best split of each node, from keys float64 (c, m, p): int64 (m,), -1 where there is none."""
    c, m, p = keys.shape
    order = np.broadcast_to(np.arange(p), (m, p))
    if growth.rng is not None:
        order = growth.rng.random_sample((m, p)).argsort(1)
        keys = np.take_along_axis(keys, order[None], 2)
    if growth.max_features is not None:
        valid = keys[0] > -inf
        keys = np.where(valid & (valid.cumsum(1) <= growth.max_features), keys, -inf)
    best = first_best(keys.reshape(c, -1), np.repeat(np.arange(m), p), growth.criterion.same, growth.criterion.floor)
    chosen = np.full(m, LEAF)
    chosen[best // p] = order.reshape(-1)[best]
    return chosen


def _joined(parts: list[_Level], starts: list[int]) -> _Level:
    """Join the blocks of a level, whose first nodes are ``starts``."""
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("counts", "feature", "threshold", "n_branches", "default", "improvement", "value", "value_branch")
    }
    value_node = np.concatenate([part.value_node + start for part, start in zip(parts, starts, strict=True)])
    dead = np.concatenate([part.dead for part in parts], axis=1)
    return _Level(parts[0].depth, value_node=value_node, dead=dead, **joined)


def _assemble(levels: list[_Level]) -> Tree:
    """Join the levels of a tree, or of trees that were grown together."""
    trees, node = [], 0
    for level in levels:
        trees.append(level.as_tree(node + len(level.feature), node))
        node += len(level.feature)
    return Tree(**{name: np.concatenate([getattr(tree, name) for tree in trees]) for name in vars(trees[0])})
