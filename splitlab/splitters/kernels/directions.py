"""The directions of HcC in the order in which they are walked.

A direction is a set of classes. It and its complement give the same splits but for ties, so sets of 1..floor(k/2)
classes are walked, by size and then lexicographically, those of half the classes only when they leave out the last
class: 2^(k-1) - 1 in all.
"""

from __future__ import annotations

from splitlab._jit import Ints, kernel


@kernel
def next_set(subset: Ints, size: int, pool: int) -> int:
    """Advance ``subset[:size]`` to the next set of the first ``pool`` classes, by size, then lexicographically.

    In place; the new size is returned. The walk begins with subset[0] = 0 and size 1.
    """
    # The last class of the set that can still grow
    s = size - 1
    while s >= 0 and subset[s] == pool - size + s:
        s -= 1
    # None can: on to the first set of one class more.
    if s < 0:
        for later in range(min(size + 1, pool)):
            subset[later] = later
        return size + 1
    # It grows by one, and those after it follow as closely as possible.
    subset[s] += 1
    for later in range(s + 1, size):
        subset[later] = subset[later - 1] + 1
    return size


@kernel
def next_direction(subset: Ints, size: int, k: int) -> int:
    """Advance ``subset[:size]`` by one step of the walk, as ``next_set``; what comes after the last means nothing."""
    return next_set(subset, size, k - 1 if 2 * size == k else k)
