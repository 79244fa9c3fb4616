"""Sort keys of the lanes: what the rows of a table are ordered by in each direction (see ``lanes``)."""

from __future__ import annotations

import numpy as np

from splitlab._jit import Ints, kernel
from splitlab.splitters.directions import next_direction
from splitlab.splitters.lane_format import FIXED_BITS, Floats32, Ints32, Work, bit_length


@kernel
def list_directions(subset: Ints, size: int, count: int, work: Work) -> int:
    """Write down the next ``count`` directions; the size at which the walk stands is returned.

    Where all are worked on at once, one that holds the last class has the lane of the others' set, its complement.
    """
    k = subset.size
    for d in range(count):
        members = 0
        work.members[d, 0] = size
        for s in range(size):
            work.members[d, s + 1] = subset[s]
            members |= 1 << subset[s]
        work.visit[d] = d
        if work.sums.size:
            turned = members >> (k - 1)
            lane = ((1 << k) - 1 - members if turned else members) - 1
            work.visit[d], work.signs[0, lane], work.signs[1, lane] = lane, 1 - 2 * turned, turned
        size = next_direction(subset, size, k)
    return size


@kernel
def write_keys(columns: Ints32, members: Ints, keys: Ints32, start: int, here: int) -> None:
    """The keys of one table's rows in its ``here`` lanes from ``start`` on."""
    k, n = columns.shape[0] - 2, columns.shape[1]
    bits = np.int32(bit_length(n - 1))
    scale = np.float32(1 << (FIXED_BITS - bits))
    for d in range(here):
        parts = members[d, 1]  # where the direction's row sums are
        if members[d, 0] > 1:
            parts, second = k + 1, members[d, 2]
            for v in range(n):
                columns[parts, v] = columns[members[d, 1], v] + columns[second, v]
        for s in range(3, members[d, 0] + 1):
            i = members[d, s]
            for v in range(n):
                columns[parts, v] += columns[i, v]
        for v in range(n):
            share = np.float32(columns[parts, v]) / np.float32(columns[k, v])
            columns[k + 1, v] = (np.int32(share * scale) << bits) | np.int32(v)
        for v in range(n):
            keys[v, start + d] = columns[k + 1, v]


@kernel
def add_class(sums: Floats32, count: np.float32, more: Floats32, sets: int) -> None:
    """Sums over sets that hold one class more."""
    for m in range(sets):
        more[m] = sums[m] + count


@kernel
def write_all_keys(columns: Ints32, sums: Floats32, signs: Floats32, keys: Ints32, start: int) -> None:
    """The same for all directions at once: lane m - 1 is that of the set m of the first k - 1 classes.

    ``sums`` (2^(k-1),) gets a row's sums over all these sets, from which the share in a lane's direction is the set's
    own or that of the other classes; ``signs`` (2, lanes) says which (see ``list_directions``).
    """
    k, n = columns.shape[0] - 2, columns.shape[1]
    bits, at = np.int32(bit_length(n - 1)), np.uint64(start)
    scale = np.float32(1 << (FIXED_BITS - bits))
    sums[0] = 0.0
    for v in range(n):
        for i in range(k - 1):
            add_class(sums[: 1 << i], np.float32(columns[i, v]), sums[1 << i :], 1 << i)
        size, row = np.float32(columns[k, v]), np.int32(v)
        for m in range((1 << (k - 1)) - 1):
            share = (signs[0, m] * sums[m + 1] + signs[1, m] * size) / size
            keys[v, at + np.uint64(m)] = np.int32(np.int32(np.int32(share * scale) << bits) | row)


@kernel
def start_lanes(tables: Ints, sizes: Ints, first: int, count: int, here: int, work: Work) -> None:
    """Unsorted keys of ``count`` tables from number ``first`` on, each in ``here`` lanes."""
    n, k = tables.shape[1:]
    columns, members, sums, signs, keys = work.columns, work.members, work.sums, work.signs, work.keys
    for g in range(count):
        for v in range(n):
            for i in range(k):
                columns[i, v] = tables[first + g, v, i]
            columns[k, v] = sizes[first + g, v]
        if sums.size:
            write_all_keys(columns, sums, signs, keys, g * here)
        else:
            write_keys(columns, members, keys, g * here, here)


@kernel
def exchange(keys: Ints32, a: int, b: int, lanes: int) -> None:
    """Put rows a and b of the keys in order, in every lane."""
    for lane in range(lanes):
        x, y = keys[a, lane], keys[b, lane]
        keys[a, lane] = min(x, y)
        keys[b, lane] = max(x, y)


@kernel
def sort_lanes(keys: Ints32, lanes: int) -> None:
    """Sort every lane's keys by Batcher's odd-even merge network; no two keys of a lane are equal."""
    n = keys.shape[0]
    p = 1
    while p < n:
        q = p
        while q >= 1:
            for j in range(q % p, n - q, 2 * q):
                for i in range(j, min(j + q, n - q)):
                    if i // (2 * p) == (i + q) // (2 * p):
                        exchange(keys, i, i + q, lanes)
            q //= 2
        p *= 2
