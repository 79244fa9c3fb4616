"""The set of classes that comes closest to holding half of the examples: the direction of ``balanced``.

Notation: u = (u_0, ..., u_{k-1}) are the class totals, all positive, N their sum, u(S) the sum over a set S of classes.

Wanted is the set S with the largest u(S) <= N / 2 (so S is the lighter side, and min(u(S), N - u(S)) = u(S) is as large
as it can be); among several, the one whose ascending list of classes is lexicographically first: the one that holds
class 0 if any of them does, among those the one that holds class 1 if any does, and so on. Where u(S) = N / 2, S and
its complement both are lighter sides, so S is the one with class 0. No list is the beginning of another one here, as
both would need the same sum.

Two routes to it, both exact in integers, so that they cannot differ:

- ``by_sums``: with last[s] the last i such that some of the classes i..k-1 add up to s, for all s <= N / 2; O(k N);
- ``by_halves``: sorted lists of all sums of the first and of the second half of the classes, and one walk through both
  (meet in the middle: Horowitz and Sahni, JACM 1974), for the largest sum and then once per class, each time over the
  classes that are left; O(2^(k/2)) for totals of any size.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Ints, kernel
from splitlab.splitters import costs
from splitlab.splitters.kernels.sweep import margins

halves_are_cheaper = kernel(costs.by_halves)


@kernel
def sorted_sums(totals: Ints, start: int, stop: int) -> Ints:
    """The sums of all sets of the classes start..stop-1, ascending."""
    sums, merged = np.zeros(1 << (stop - start), np.int64), np.empty(1 << (stop - start), np.int64)
    size = 1
    for i in range(start, stop):
        # Merge the sums without class i and those with it, both ascending; as u_i > 0 the latter end last.
        without, with_i = 0, 0
        for place in range(2 * size):
            if without < size and sums[without] <= sums[with_i] + totals[i]:
                merged[place] = sums[without]
                without += 1
            else:
                merged[place] = sums[with_i] + totals[i]
                with_i += 1
        sums, merged = merged, sums
        size *= 2
    return sums


@kernel
def largest_sum(totals: Ints, start: int, limit: int) -> int:
    """The largest sum of some of the classes start..k-1 that is at most ``limit`` >= 0."""
    # Each half of the classes has few sums. For ascending x of the one the best partner in the other only descends.
    middle = (start + totals.size) // 2
    ones, others = sorted_sums(totals, start, middle), sorted_sums(totals, middle, totals.size)
    best = 0
    j = others.size - 1
    for x in ones:
        if x > limit:
            break
        while x + others[j] > limit:  # ends at others[0] = 0
            j -= 1
        best = max(best, x + others[j])
    return best


@kernel
def by_halves(totals: Ints, half: int, members: Bools) -> None:
    """Write the wanted set into ``members`` (k,), by sorted sums of halves of the classes."""
    # The lexicographically first: take a class whenever the classes after it can make up the rest of the sum.
    missing = largest_sum(totals, 0, half)
    for i in range(totals.size):
        rest = missing - totals[i]
        members[i] = rest >= 0 and largest_sum(totals, i + 1, rest) == rest
        if members[i]:
            missing = rest


@kernel
def by_sums(totals: Ints, half: int, members: Bools) -> None:
    """Write the wanted set into ``members`` (k,), by the sums one by one."""
    k = totals.size
    last = np.full(half + 1, -1, np.int32)
    last[0] = k
    for i in range(k - 1, -1, -1):
        for s in range(half, totals[i] - 1, -1):  # downwards: last[s - u_i] does not know class i yet
            if last[s] < 0 and last[s - totals[i]] >= 0:
                last[s] = i
    # The largest sum that is reached, and the set as by halves: ``last`` says whether later classes reach a sum.
    missing = half
    while last[missing] < 0:
        missing -= 1
    for i in range(k):
        rest = missing - totals[i]
        members[i] = rest >= 0 and last[rest] > i
        if members[i]:
            missing = rest


@kernel
def balanced_sets(tables: Ints) -> Bools:
    """The wanted set of each table: int64 (b, n, k) -> bool (b, k)."""
    b, n, k = tables.shape
    sets = np.empty((b, k), np.bool_)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    for t in range(b):
        examples = margins(tables[t], sizes, totals)
        if halves_are_cheaper(k, examples):
            by_halves(totals, examples // 2, sets[t])
        else:
            by_sums(totals, examples // 2, sets[t])
    return sets
