"""A grown tree as flat arrays: how examples find their way through it, and how it is pruned.

Nodes are numbered level by level, so that children come after their parents and side by side. Trees that were grown
together are one `Tree` whose first nodes are their roots. An example is a row of a
float64 matrix: numbers as they are, nominal values as the codes of their categories, NaN for what is not known.
Nothing here recurses; one step moves all examples by one level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splitlab._jit import Bools, Floats, Ints

LEAF = -1


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree with m nodes and k classes.

    Attributes
    ----------
    feature : int64 (m,)
        The column that the node splits; -1 for a leaf.
    threshold : float64 (m,)
        Values <= threshold go to branch 0, others to branch 1; NaN for nominal splits and leaves.
    first_child, n_branches : int64 (m,)
        Branch b leads to node ``first_child + b``; a leaf has no branches.
    default : int64 (m,)
        The branch with most training examples, for missing and unseen values.
    counts : int64 or float64 (m, k)
        Training examples by class; with weights the sums of these.
    depth : int64 (m,)
        0 for the root.
    improvement : float64 (m,)
        How much better than none the split is, by the criterion; NaN for a leaf.
    value_node, value, value_branch : (v,)
        For all nominal splits the values that were present, ascending by node, then value, and their branches.
    """

    feature: Ints
    threshold: Floats
    first_child: Ints
    n_branches: Ints
    default: Ints
    counts: NDArray[Any]
    depth: Ints
    improvement: Floats
    value_node: Ints
    value: Floats
    value_branch: Ints

    @property
    def node_count(self) -> int:
        """The number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_trees(self) -> int:
        """The number of trees that were grown together: the nodes of depth 0."""
        return int((self.depth == 0).sum())

    @property
    def parent(self) -> Ints:
        """The parent of every node but the roots: int64 (m - n_trees,); entry i belongs to node ``n_trees + i``."""
        return np.repeat(np.arange(self.node_count), self.n_branches)

    @property
    def root(self) -> Ints:
        """The root of the tree that each node belongs to: int64 (m,)."""
        root, parent = np.arange(self.node_count), self.parent
        for level in range(1, int(self.depth.max()) + 1):
            here = np.flatnonzero(self.depth == level)
            root[here] = root[parent[here - self.n_trees]]
        return root

    @property
    def below(self) -> Ints:
        """How many nodes are below each node: int64 (m,)."""
        below = [0] * self.node_count
        for node, parent in reversed(list(enumerate(self.parent.tolist(), self.n_trees))):
            below[parent] += below[node] + 1
        return np.array(below)

    @property
    def node_counts(self) -> Ints:
        """How many nodes each tree has, leaves included: int64 (n_trees,)."""
        return np.bincount(self.root, minlength=self.n_trees)

    @property
    def depths(self) -> Ints:
        """The depth of the deepest leaf of each tree: int64 (n_trees,)."""
        deepest = np.zeros(self.n_trees, np.int64)
        np.maximum.at(deepest, self.root, self.depth)
        return deepest

    @property
    def leaves(self) -> Bools:
        """Which nodes are leaves: bool (m,)."""
        return self.feature == LEAF

    @property
    def majority(self) -> Ints:
        """The most frequent class of every node, the first of equal ones: int64 (m,)."""
        return self.counts.argmax(1)

    def branches(self, x: Floats, node: Ints) -> Ints:
        """The branch that each value x (n,) takes at its inner node (n,); -1 where it is missing or not seen there."""
        branch = (x > self.threshold[node]).astype(np.int64)
        branch[np.isnan(x)] = -1
        nominal = np.flatnonzero(np.isnan(self.threshold[node]))
        if len(nominal):
            branch[nominal] = self._looked_up(x[nominal], node[nominal])
        return branch

    def _looked_up(self, x: Floats, node: Ints) -> Ints:
        """The branch of each nominal value x (n,) at its node (n,); -1 where the node has not seen it."""
        known = x >= 0
        width = int(self.value.max()) + 1
        wanted = node * width + np.where(known, x, 0).astype(np.int64)
        keys = self.value_node * width + self.value.astype(np.int64)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(known & (x < width) & (keys[place] == wanted), self.value_branch[place], -1)

    def steps(
        self, x: Floats, stop_at_unseen: bool = False, root: Ints | None = None, stop_at_missing: bool = True
    ) -> Iterator[tuple[Ints, Ints]]:
        """Walk all rows of x from a root to a leaf.

        Parameters
        ----------
        x : float64 (n, p)
            Examples.
        stop_at_unseen : bool
            Whether a missing or unseen value ends the walk; otherwise it goes to the default branch.
        root : int64 (n,), optional
            The root of the tree that each row walks through, where several trees were grown together.
        stop_at_missing : bool
            With False ``stop_at_unseen`` goes for codes that were not seen, and NaN goes to the default branch.

        Yields
        ------
        rows, node : int64 arrays
            After each step the rows that are still on their way, and their nodes; the roots come first.
        """
        rows, node = np.arange(len(x)), np.zeros(len(x), np.int64) if root is None else root
        while len(rows):
            yield rows, node
            inner = ~self.leaves[node]
            rows, node = rows[inner], node[inner]
            values = x[rows, self.feature[node]]
            branch = self.branches(values, node)
            if stop_at_unseen:
                on = (branch >= 0) if stop_at_missing else (branch >= 0) | np.isnan(values)
                rows, node, branch = rows[on], node[on], branch[on]
            node = self.first_child[node] + np.where(branch >= 0, branch, self.default[node])

    def apply(
        self, x: Floats, stop_at_unseen: bool = False, root: Ints | None = None, stop_at_missing: bool = True
    ) -> Ints:
        """The node where each row of x (n, p) ends: int64 (n,); the parameters are those of `steps`."""
        last = np.zeros(len(x), np.int64)
        for rows, node in self.steps(x, stop_at_unseen, root, stop_at_missing):
            last[rows] = node
        return last

    def pruned(self) -> Tree:
        """The tree in which, from the bottom up, a node whose children are leaves of one majority class is a leaf."""
        feature, majority = self.feature.copy(), self.majority
        for level in range(int(self.depth.max()) - 1, -1, -1):
            inner = np.flatnonzero((self.depth == level) & (feature != LEAF))
            for node in inner:
                children = slice(self.first_child[node], self.first_child[node] + self.n_branches[node])
                if (feature[children] == LEAF).all() and (majority[children] == majority[children.start]).all():
                    feature[node] = LEAF
        return self._without_orphans(feature)

    def with_leaves(self, nodes: list[int]) -> Tree:
        """The tree in which some nodes are leaves."""
        feature = self.feature.copy()
        feature[nodes] = LEAF
        return self._without_orphans(feature)

    def _without_orphans(self, feature: Ints) -> Tree:
        """Make leaves of the nodes whose ``feature`` (m,) is -1, and drop all nodes below them."""
        parent = self.parent
        kept = np.ones(self.node_count, np.bool_)
        for level in range(1, int(self.depth.max()) + 1):
            here = np.flatnonzero(self.depth == level)
            above = parent[here - self.n_trees]
            kept[here] = kept[above] & (feature[above] != LEAF)
        number = np.cumsum(kept) - 1
        inner = (feature != LEAF)[kept]
        valued = kept[self.value_node] & (feature[self.value_node] != LEAF)
        return replace(
            self,
            feature=feature[kept],
            threshold=np.where(inner, self.threshold[kept], np.nan),
            first_child=np.where(inner, number[self.first_child[kept]], LEAF),
            n_branches=np.where(inner, self.n_branches[kept], 0),
            default=np.where(inner, self.default[kept], 0),
            counts=self.counts[kept],
            depth=self.depth[kept],
            improvement=np.where(inner, self.improvement[kept], np.nan),
            value_node=number[self.value_node[valued]],
            value=self.value[valued],
            value_branch=self.value_branch[valued],
        )
