"""Minimal cost-complexity pruning.

The cost of a tree is the sum of R(t) over its leaves t, where R(t) is the impurity of the node times its share of all
examples. A node t whose subtree T_t has the cost R(T_t) and L leaves is worth its subtree while
alpha < (R(t) - R(T_t)) / (L - 1). The node for which that is least, the weakest link, becomes a leaf; and so on until
only the root is left. O(m (depth + log m)) for m nodes.

Source: Breiman, Friedman, Olshen, Stone, Classification and Regression Trees (1984), chapter 3.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from splitlab._jit import Floats
from splitlab.trees.tree import LEAF, Tree


class Link(NamedTuple):
    """A node that becomes a leaf, from which alpha on, and the cost of the whole tree then."""

    alpha: float
    node: int
    cost: float


def weakest_links(tree: Tree, cost: Floats) -> Iterator[Link]:
    """The links in the order in which they are cut, the weakest first, of equal ones the lower node.

    Parameters
    ----------
    tree : Tree
        A single tree.
    cost : float64 (m,)
        R(t) of every node.
    """
    m, parent = tree.node_count, [LEAF, *tree.parent.tolist()]
    own: list[float] = cost.tolist()
    is_inner = (~tree.leaves).tolist()
    below = [0.0 if inner else value for inner, value in zip(is_inner, own, strict=True)]  # R(T_t)
    leaves = [0 if inner else 1 for inner in is_inner]
    for node in range(m - 1, 0, -1):
        below[parent[node]] += below[node]
        leaves[parent[node]] += leaves[node]

    def link(node: int) -> tuple[float, int, int]:
        """Alpha, node and number of leaves; the last tells whether the entry is out of date."""
        return (own[node] - below[node]) / (leaves[node] - 1), node, leaves[node]

    heap = [link(node) for node in range(m) if is_inner[node]]
    heapq.heapify(heap)
    while heap:
        alpha, node, number = heapq.heappop(heap)
        if not is_inner[node] or number != leaves[node]:
            continue
        # Cut off all that is below the node.
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if is_inner[here]:
                is_inner[here] = False
                first = int(tree.first_child[here])
                waiting += range(first, first + int(tree.n_branches[here]))
        fewer, dearer = leaves[node] - 1, own[node] - below[node]
        below[node], leaves[node] = own[node], 1
        above = parent[node]
        while above != LEAF:
            leaves[above] -= fewer
            below[above] += dearer
            heapq.heappush(heap, link(above))
            above = parent[above]
        yield Link(alpha, node, below[0])


def path(tree: Tree, cost: Floats) -> tuple[Floats, Floats]:
    """The alphas at which the tree changes, 0 first, and its cost from each on: two float64 (steps,)."""
    links = list(weakest_links(tree, cost))
    start = float(cost[tree.leaves].sum())
    return np.array([0.0, *(link.alpha for link in links)]), np.array([start, *(link.cost for link in links)])


def pruned(tree: Tree, cost: Floats, alpha: float) -> Tree:
    """The smallest subtree whose cost plus ``alpha`` times its number of leaves is least."""
    cut = []
    for link in weakest_links(tree, cost):
        if link.alpha > alpha:
            break
        cut.append(link.node)
    return tree.with_leaves(cut)
