"""Keys of HcC's SIMD path: by what the rows of a table are ordered in each direction, and how they are sorted.

The words used here are explained in ``simd``, the layouts in ``simd_format``. Keys are written in one of two ways.
With few classes all directions of a group of tables are there at once (``write_all_keys``): the counts of all sets of
classes follow from each other by additions of whole vectors. With many the directions come in chunks (``write_keys``).
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Ints, kernel
from splitlab.splitters.kernels.directions import next_direction
from splitlab.splitters.kernels.simd_format import FIXED_BITS, Floats32, Ints32, bit_length


@kernel
def list_directions(subset: Ints, size: int, count: int, members: Ints, visit: Ints, turned: Ints, every: bool) -> int:
    """Write down the next ``count`` directions; the size at which the walk stands is returned.

    Where ``every`` one is worked on at once, one that holds the last class has the lane of the others' set.
    """
    k = subset.size
    for d in range(count):
        held = 0
        members[d, 0], visit[d] = size, d
        for s in range(size):
            members[d, s + 1] = subset[s]
            held |= 1 << subset[s]
        if every:
            # Lane x is that of the set with the bits x + 1, of the first k - 1 classes.
            complement = held >> (k - 1)
            lane = ((1 << k) - 1 - held if complement else held) - 1
            visit[d], turned[lane] = lane, complement
        size = next_direction(subset, size, k)
    return size


@kernel
def write_keys(table: Ints, sizes: Ints, columns: Ints32, members: Ints, keys: Ints32, here: int) -> None:
    """The keys of one table's rows in ``here`` directions."""
    n, k = table.shape
    bits = np.int32(bit_length(n - 1))
    scale = np.float32(1 << (FIXED_BITS - bits))
    # The table by columns and in 32 bits, so that the loops over rows below become vector instructions.
    for v in range(n):
        for i in range(k):
            columns[i, v] = table[v, i]
        columns[k, v] = sizes[v]
    for d in range(here):
        # How many examples of each row are in the direction's classes
        for v in range(n):
            columns[k + 1, v] = 0
        for s in range(1, members[d, 0] + 1):
            i = members[d, s]
            for v in range(n):
                columns[k + 1, v] += columns[i, v]
        # The keys; written to a line first, and then across, since only the first of these loops can be a vector one.
        for v in range(n):
            share = np.float32(columns[k + 1, v]) / np.float32(columns[k, v])
            columns[k + 1, v] = (np.int32(share * scale) << bits) | np.int32(v)
        for v in range(n):
            keys[v, d] = columns[k + 1, v]


@kernel
def repeat(numbers: Floats32, width: int, times: int) -> None:
    """Double the first ``width`` entries so many times."""
    for t in range(times):
        copy(numbers, numbers[width << t :], width << t)


@kernel
def copy(source: Floats32, target: Floats32, width: int) -> None:
    """target[:width] = source[:width], for two arrays that do not overlap.

    A function to itself: for the arguments of a function the compiler checks once that they are different arrays, and
    makes the loop vector instructions.
    """
    for x in range(width):
        target[x] = source[x]


@kernel
def add(a: Floats32, b: Floats32, result: Floats32, width: int) -> None:
    """result[:width] = a[:width] + b[:width]."""
    for x in range(width):
        result[x] = a[x] + b[x]


@kernel
def write_all_keys(
    tables: Ints, sizes: Ints, first: int, count: int, turned: Ints, parts: Floats32, keys: Ints32
) -> None:
    """The keys of a group of tables in all directions, row by row.

    Over the sets m of the first k - 1 classes and the tables g, entry m count + g of the lines of ``parts`` is: a
    row's sum; its count of one class, or its size; and two numbers by which the share in the lane's direction follows,
    be it that of the set or, where ``turned``, of the other classes.
    """
    n, k = tables.shape[1:]
    bits = np.int32(bit_length(n - 1))
    sets = 1 << (k - 1)
    sums, spread, signs, others = parts[0], parts[1], parts[2], parts[3]
    # share = (sign * sum + other * size) / size: of the set (1, 0), or of the other classes (-1, 1).
    for m in range(sets - 1):
        for g in range(count):
            signs[m * count + g], others[m * count + g] = 1 - 2 * turned[m], turned[m]
    for v in range(n):
        # The sums of the sets of the first i + 1 classes: of those without class i, which are there already, and then
        # the same with class i, in the same order. So the sums double in number from class to class.
        for g in range(count):
            sums[g] = 0.0
        for i in range(k - 1):
            width = count << i
            for g in range(count):
                spread[g] = tables[first + g, v, i]
            repeat(spread, count, i)
            add(sums, spread, sums[width:], width)
        # The row's size for every set; the empty set, which comes first, is no direction.
        for g in range(count):
            spread[g] = sizes[first + g, v]
        repeat(spread, count, k - 1)
        shares_to_keys(sums[count:], spread, signs, others, bits, v, keys, (sets - 1) * count)


@kernel
def shares_to_keys(
    sums: Floats32, sizes: Floats32, signs: Floats32, others: Floats32, bits: np.int32, v: int, keys: Ints32, lanes: int
) -> None:
    """Keys of row v in every lane."""
    row, scale = np.int32(v), np.float32(1 << (FIXED_BITS - bits))
    for x in range(lanes):
        share = (signs[x] * sums[x] + others[x] * sizes[x]) / sizes[x]
        keys[v, x] = np.int32(np.int32(np.int32(share * scale) << bits) | row)


@kernel
def exchange(keys: Ints32, a: int, b: int, lanes: int) -> None:
    """Put rows a and b of the keys in order, in every lane."""
    for lane in range(lanes):
        x, y = keys[a, lane], keys[b, lane]
        keys[a, lane] = min(x, y)
        keys[b, lane] = max(x, y)


@kernel
def sort_lanes(keys: Ints32, lanes: int) -> None:
    """Sort the keys of every lane by Batcher's odd-even merge network; no two keys of a lane are equal."""
    n = keys.shape[0]
    # Knuth, The Art of Computer Programming, volume 3, section 5.3.4: sorted runs of p keys are merged in pairs, by
    # comparing keys q apart for q = p, p/2, ..., 1. Which keys are compared does not depend on them, so all lanes take
    # the same steps.
    p = 1
    while p < n:
        q = p
        while q >= 1:
            for j in range(q % p, n - q, 2 * q):
                for i in range(j, min(j + q, n - q)):
                    if i // (2 * p) == (i + q) // (2 * p):  # both in the pair of runs that is merged
                        exchange(keys, i, i + q, lanes)
            q //= 2
        p *= 2
