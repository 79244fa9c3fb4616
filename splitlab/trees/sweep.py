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
    rows : int32 (s,)
        For one attribute after the other, examples ascending by node, then value.
    node : int32 (n,)
        The node of each example.
    x : float64 (n, p)
        The values, each column side by side in memory.
    y : int64 (n,)
        The classes.
    weight : int64 (n,), or (0,)
        The weights, where there are any.
    """

    rows: Int32s
    node: Int32s
    x: Floats
    y: Ints
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
def group_end(rows: Int32s, x: Floats, start: int, stop: int) -> int:
    """Where the examples with the value of the one at ``start`` end."""
    end, value = start + 1, x[rows[start]]
    while end < stop and x[rows[end]] == value:
        end += 1
    return end


@kernel
def only_class(rows: Int32s, y: Ints, start: int, stop: int) -> int:
    """The class of some examples, or -1 if there are several."""
    first = y[rows[start]]
    for i in range(start + 1, stop):
        if y[rows[i]] != first:
            return -1
    return first


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
    known[:] = 0
    for i in range(start, stop):
        known[y[rows[i]]] += weight[rows[i]] if weight.size else 1
    n_missing = size - (stop - start)
    convex = rule.convex and n_missing == 0
    # From one value to the next: ``below`` are the examples before ``at``.
    below[:] = 0
    count, at, before = 0, start, -2
    while at < stop:
        end = group_end(rows, x, at, stop)
        only = only_class(rows, y, at, end)
        if at > start and not (convex and only >= 0 and only == before):
            n_left, n_right, default = parted(below, known, totals, left, right)
            examples = at - start if default == 1 else at - start + n_missing
            enough = min(examples, size - examples) >= rule.least_examples
            if enough and min(n_left, n_right) >= rule.least_weight:
                keys[0, count] = measure(left, right, totals, n_left, n_right, code, kind)
                if tie:
                    keys[1, count] = measure(left, right, totals, n_left, n_right, HDDT, kind)
                after[count] = at
                count += 1
        for i in range(at, end):
            below[y[rows[i]]] += weight[rows[i]] if weight.size else 1
        at, before = end, only
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
            here = node[rows[start]]
            stop = start + 1
            while stop < stops[c] and node[rows[stop]] == here:
                stop += 1
            m = here - first
            found.dead[c, m] = group_end(rows, data.x[:, c], start, stop) == stop
            if not found.dead[c, m]:
                count = candidates(data, c, start, stop, totals[m], size[m], rule, room)
                if count:
                    best = first_best(room.keys, count, rule)
                    enter(data, c, m, start, best, totals[m], rule, room, found)
            start = stop


@kernel
def descended(rows: Int32s, starts: Ints, node: Int32s, child: Int32s, dead: Bools, m: int) -> tuple[Int32s, Ints]:
    """The sorted examples of all attributes for the m children of a level, ascending by child, in the old order within.

    Parameters
    ----------
    rows : int32 (s,)
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
    rows, starts : int32 (t,), int64 (p + 1,)
    """
    result, new_starts, place = np.empty(rows.size, np.int32), np.zeros_like(starts), np.empty(m + 1, np.int64)
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
