"""The best threshold of a numeric attribute in every node of a level, in one compiled pass over its sorted examples.

This is ``proposals.numeric`` for the criteria that ``measures`` knows, with the same rules: thresholds between
neighbouring values, the lowest of equally good ones; those within a single class left out where a boundary point is
at least as good; missing values in the branch with more of the known examples. ``descended`` then hands the sorted
examples down to the children.

Cost O(k) for each threshold, and for each node; memory for the thresholds of one node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.trees.measures import DCSM, HDDT, measure

Int32s = NDArray[np.int32]
Uint32s = NDArray[np.uint32]  # as indices they need no look at whether they are negative


class Rule(NamedTuple):
    """How thresholds are judged: a criterion, and what a branch must have.

    Attributes
    ----------
    code, kind : int
        The criterion's number, and that of its impurity.
    tie : bool
        Whether HDDT decides between equal values.
    convex : bool
        Whether thresholds inside a single class need not be tried.
    same, floor : float
        Values are equal that differ by no larger share of the larger of them and of ``floor``.
    least_examples, least_weight
        What each branch must have.
    """

    code: int
    kind: int
    tie: bool
    convex: bool
    same: float
    floor: float
    least_examples: int
    least_weight: float


class Data(NamedTuple):
    """The examples of a tree, and their order for each attribute.

    Attributes
    ----------
    rows : uint32 (s,)
        For one attribute after the other, examples ascending by node, then value.
    node : int32 (n,)
        The node of each example.
    x : float64 (n, p)
        The values, each column side by side in memory.
    y : uint32 (n,)
        The classes.
    weight : int64 (n,), or (0,)
        The weights, where there are any.
    """

    rows: Uint32s
    node: Int32s
    x: Floats
    y: Uint32s
    weight: Ints


class Found(NamedTuple):
    """What is found for p attributes and m nodes, to be filled.

    ``keys`` (c, p, m), ``improvement``, the values ``low`` and ``high`` next to the threshold, ``n_branches`` and
    ``default`` (p, m) are as in `proposals.Proposals`; ``dead`` (p, m) says where there is a single value.
    """

    keys: Floats
    improvement: Floats
    low: Floats
    high: Floats
    n_branches: Ints
    default: Ints
    dead: Bools


class Room(NamedTuple):
    """Working memory: class counts (k,), and the candidates of a node: keys (2, s), the row after each (s,)."""

    known: Ints
    below: Ints
    left: Ints
    right: Ints
    keys: Floats
    after: Ints


@kernel
def all_of_class(rows: Uint32s, x: Floats, y: Uint32s, start: int, stop: int, of_class: int) -> bool:
    """Whether all examples with the value of the one at ``start`` are of one class."""
    value = x[rows[start]]
    for i in range(start, stop):
        if y[rows[i]] != of_class:
            return x[rows[i]] != value
    return True


@kernel
def parted(below: Ints, known: Ints, totals: Ints, left: Ints, right: Ints) -> tuple[int, int, int]:
    """Fill ``left`` and ``right`` (k,) with both branches, and return their sums and the branch of missing values.

    ``below`` are the known examples on the left, ``known`` all known ones, ``totals`` all.
    """
    n_below, n_known = 0, 0
    for j in range(known.size):
        n_below += below[j]
        n_known += known[j]
    default = 1 if 2 * n_below < n_known else 0
    n_left, n_right = 0, 0
    for j in range(known.size):
        left[j] = below[j] if default == 1 else below[j] + totals[j] - known[j]
        right[j] = totals[j] - left[j]
        n_left += left[j]
        n_right += right[j]
    return n_left, n_right, default


@kernel
def first_best(keys: Floats, count: int, rule: Rule) -> int:
    """The first best of so many candidates, with equal values decided by the second row of keys if there is a tie."""
    best = keys[0, :count].max()
    least = best - rule.same * max(rule.floor, abs(best))
    if rule.tie:
        second = -np.inf
        for c in range(count):
            if keys[0, c] >= least:
                second = max(second, keys[1, c])
        least_second = second - rule.same * max(rule.floor, abs(second))
    for c in range(count):
        if keys[0, c] >= least and (not rule.tie or keys[1, c] >= least_second):
            return c
    return -1


@kernel
def candidates(data: Data, c: int, start: int, stop: int, totals: Ints, size: int, rule: Rule, room: Room) -> int:
    """Judge the thresholds of attribute ``c`` in the node whose examples are rows ``start`` to ``stop``.

    ``totals`` (k,) are its class counts and ``size`` its number of examples, those with missing values included.
    Returns how many candidates there are.
    """
    rows, _, matrix, y, weight = data  # once: each access counts references
    known, below, left, right, keys, after = room
    x, code, kind, tie = matrix[:, c], rule.code, rule.kind, rule.tie
    # The class counts of the known examples; the others are missing.
    n_missing, n_total = size - (stop - start), totals.sum()
    known[:] = totals
    if n_missing > 0:
        known[:] = 0
        for i in range(start, stop):
            known[y[rows[i]]] += weight[rows[i]] if weight.size else 1
    convex = rule.convex and n_missing == 0
    # From one value to the next: ``below`` are the examples before ``at``, n_below in all.
    below[:] = 0
    count, at, n_below, before = 0, start, 0, -1
    while at < stop:
        # A threshold below this value, unless it is inside a single class.
        if at > start and not (convex and before >= 0 and all_of_class(rows, x, y, at, stop, before)):
            if n_missing > 0:
                n_left, n_right, default = parted(below, known, totals, left, right)
                examples = at - start if default == 1 else at - start + n_missing
            else:
                n_left, n_right, examples = n_below, n_total - n_below, at - start
                for j in range(totals.size):
                    left[j] = below[j]
                    right[j] = totals[j] - below[j]
            enough = min(examples, size - examples) >= rule.least_examples
            if enough and min(n_left, n_right) >= rule.least_weight:
                keys[0, count] = measure(left, right, totals, n_left, n_right, code, kind)
                if tie:
                    keys[1, count] = measure(left, right, totals, n_left, n_right, HDDT, kind)
                after[count] = at
                count += 1
        # The examples with this value; ``before`` is their class, or -1 if they have several.
        value, before = x[rows[at]], y[rows[at]]
        while at < stop and x[rows[at]] == value:
            row = rows[at]
            added = weight[row] if weight.size else 1
            below[y[row]] += added
            n_below += added
            before = before if y[row] == before else -1
            at += 1
    return count


@kernel
def enter(
    data: Data, c: int, m: int, start: int, best: int, totals: Ints, rule: Rule, room: Room, found: Found
) -> None:
    """Enter candidate ``best`` of the node ``m`` whose examples begin at row ``start``."""
    rows, _, x, y, weight = data
    below, at = room.below, room.after[best]
    for row in range(len(found.keys)):
        found.keys[row, c, m] = room.keys[row, best]
    found.improvement[c, m] = room.keys[0, best]
    below[:] = 0
    if rule.code == DCSM:  # it has a value without any split, too
        found.improvement[c, m] -= measure(totals, below, totals, totals.sum(), 0, rule.code, rule.kind)
    for i in range(start, at):
        below[y[rows[i]]] += weight[rows[i]] if weight.size else 1
    _, _, found.default[c, m] = parted(below, room.known, totals, room.left, room.right)
    found.n_branches[c, m] = 2
    found.low[c, m], found.high[c, m] = x[rows[at - 1], c], x[rows[at], c]


@kernel
def node_end(rows: Uint32s, node: Int32s, start: int, most: int) -> int:
    """Where the examples of the node of the one at ``start`` end, ``most`` at the latest: there if none is missing."""
    here, low, high = node[rows[start]], start + 1, most
    if node[rows[most - 1]] == here:
        return most
    while low < high:
        middle = (low + high) // 2
        if node[rows[middle]] == here:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def best_thresholds(
    data: Data, columns: Ints, starts: Ints, stops: Ints, first: int, totals: Ints, size: Ints, rule: Rule, found: Found
) -> None:
    """Find the best threshold of some attributes in the nodes ``first``, ``first + 1``, ...

    Parameters
    ----------
    data : Data
    columns : int64 (q,)
        The attributes.
    starts, stops : int64 (p,)
        Where in ``data.rows`` the examples of these nodes begin and end for every attribute.
    first : int
        The number of the first node.
    totals : int64 (m, k)
        The class counts of the nodes, missing values included.
    size : int64 (m,)
        How many examples they have.
    rule : Rule
    found : Found
        Is filled where there is a threshold.
    """
    rows, node, k = data.rows, data.node, totals.shape[1]
    most = 0
    for c in columns:
        most = max(most, stops[c] - starts[c])
    room = Room(
        np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k, np.int64),
        np.empty((2, most)), np.empty(most, np.int64),
    )  # fmt: skip
    for c in columns:
        start = starts[c]
        while start < stops[c]:
            m = node[rows[start]] - first
            stop = node_end(rows, node, start, min(start + size[m], stops[c]))
            x = data.x[:, c]
            found.dead[c, m] = x[rows[start]] == x[rows[stop - 1]]
            if not found.dead[c, m]:
                count = candidates(data, c, start, stop, totals[m], size[m], rule, room)
                if count:
                    best = first_best(room.keys, count, rule)
                    enter(data, c, m, start, best, totals[m], rule, room, found)
            start = stop


@kernel
def descended(rows: Uint32s, starts: Ints, node: Int32s, child: Int32s, dead: Bools, m: int) -> tuple[Uint32s, Ints]:
    """The sorted examples of all attributes for the m children of a level, ascending by child, in the old order within.

    Parameters
    ----------
    rows : uint32 (s,)
        For one attribute after the other, the examples ascending by node, then value.
    starts : int64 (p + 1,)
        Where in ``rows`` those of each attribute begin.
    node, child : int32 (n,)
        The node of each example of the tree, and its child; -1 where it is in a leaf or a child that is not split.
    dead : bool (p, nodes)
        In which nodes an attribute is given up.
    m : int
        The number of children.

    Returns
    -------
    rows, starts : uint32 (t,), int64 (p + 1,)
    """
    result, new_starts, place = np.empty(rows.size, np.uint32), np.zeros_like(starts), np.empty(m + 1, np.int64)
    for c in range(len(dead)):
        # Count the examples of each child, so that the place of its first one is known.
        place[:] = 0
        for i in range(starts[c], starts[c + 1]):
            row = rows[i]
            if child[row] >= 0 and not dead[c, node[row]]:
                place[child[row] + 1] += 1
        place[0] = new_starts[c]
        for j in range(m):
            place[j + 1] += place[j]
        new_starts[c + 1] = place[m]
        for i in range(starts[c], starts[c + 1]):
            row = rows[i]
            if child[row] >= 0 and not dead[c, node[row]]:
                result[place[child[row]]] = row
                place[child[row]] += 1
    return result[: new_starts[-1]].copy(), new_starts
