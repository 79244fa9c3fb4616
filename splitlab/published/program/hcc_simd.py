"""HcC of the published tree program by SIMD instructions: many sets of classes side by side.

The splits are those of ``splitters.along_classes``, to the last tie; only the search is another one. The words and the
arrays are those of ``splitlab.splitters.lanes``: a lane is a set of classes here, whose rows are sorted by the share of
the *other* classes. Its values in fixed point say which splits may be the best, and only these are compared by the sums
of the program, in its order.

The shares in the keys are cut off after some bits, which could put two rows with many examples into the wrong order:
those of a and b examples have equal or at least 1 / (a b) different shares. Sets of classes where such a pair has equal
bits and different shares are left to the scalar loop.

Cost: a third to a sixth of the time of the scalar loop.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import GINI, lookup_table
from splitlab.published.program.python_sets import set_order
from splitlab.published.program.splitters import along_classes, best_prefix, list_counts, sort_by_rest
from splitlab.published.program.sums import BITS, PRODUCTS, move, split_value
from splitlab.splitters.kernels.directions import next_set
from splitlab.splitters.kernels.simd_format import (
    FIXED_BITS,
    LANES,
    LARGEST_TOTAL,
    Format,
    Ints32,
    Work,
    format_of,
    share_bits,
    work_space,
)
from splitlab.splitters.kernels.simd_keys import sort_lanes
from splitlab.splitters.kernels.simd_values import fill_values, pack_rows
from splitlab.splitters.kernels.sweep import margins, mark

FEWEST = 9  # classes that make enough sets to fill the lanes
LEAST_LANES = 8  # of 32 bits in a vector
KEYS = 1 << 15  # of a chunk, so that they stay in the processor's cache


@kernel
def close_pairs(sizes: Ints) -> Ints:
    """The pairs (p, 2) of rows, by their sizes (n,), whose shares may be different with equal bits."""
    n, count = sizes.size, 0
    apart = 1 << share_bits(n)
    pairs = np.empty((n * (n - 1) // 2, 2), np.int64)
    for a in range(n):
        for b in range(a):
            if sizes[a] * sizes[b] > apart:
                pairs[count, 0], pairs[count, 1] = a, b
                count += 1
    return pairs[:count]


@kernel
def write_keys(
    columns: Ints32, sizes: Ints32, subset: Ints, size: int, bits: int, pairs: Ints, rest: Ints32, keys: Ints32
) -> bool:
    """Write the keys (n,) of the rows by their shares outside ``subset[:size]``; whether two may be in the wrong order.

    A key, from the high bits to the low ones::

        | sign, 1 bit: 0 | share times 2^(FIXED_BITS - bits), 31 - bits bits | number of the row, bits bits |

    Parameters
    ----------
    columns, sizes : int32 (k, n) and (n,)
        The table by class, and its row sums.
    bits : int
        Width of a row number.
    pairs : int64 (p, 2)
        The result of `close_pairs`.
    rest : int32 (n,)
        Work space.
    """
    n, scale = sizes.size, np.float32(1 << (FIXED_BITS - bits))
    # How many examples of each row are outside the set.
    for v in range(n):
        rest[v] = sizes[v]
    for s in range(size):
        column = subset[s]
        for v in range(n):
            rest[v] -= columns[column, v]
    for v in range(n):
        keys[v] = (np.int32(np.float32(rest[v]) / np.float32(sizes[v]) * scale) << bits) | np.int32(v)
    # A close pair is in doubt if its shares are different, but their bits are not.
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        if keys[a] >> bits == keys[b] >> bits and np.int64(rest[a]) * sizes[b] != np.int64(rest[b]) * sizes[a]:
            return True
    return False


@kernel
def best_of_lane(
    table: Ints, totals: Ints, n_total: int, sums: int, limit: int, form: Format, work: Work, lane: int, best: float,
    chosen: Bools,
) -> float:  # fmt: skip
    """Compare those cuts of a lane whose fixed-point values are at most ``limit`` by the program's sums.

    Returns the value of the best split so far, which was ``best`` before; a better one goes into ``chosen`` (n,).
    """
    left, right, n_left, cut = np.zeros(totals.size, np.int64), totals.copy(), 0, -1
    mask = np.int32((1 << form.bits) - 1)
    for j in range(chosen.size - 1):
        n_left += move(table, work.keys[j, lane] & mask, 1, left, right)
        if work.values[j, lane] <= limit:
            value = split_value(left, right, n_left, n_total, sums)
            if value < best:
                best, cut = value, j
    if cut >= 0:
        for c in range(chosen.size):
            chosen[work.keys[c, lane] & mask] = c <= cut
    return best


@kernel
def best_of_set(
    table: Ints, totals: Ints, n_total: int, kind: int, lookup: Floats, subset: Ints, size: int, best: float,
    chosen: Bools,
) -> float:  # fmt: skip
    """Compare the cuts of one set of classes, ``subset[:size]``, by the scalar loop.

    Returns the value of the best split so far, which was ``best`` before; a better one goes into ``chosen`` (n,).
    """
    n, k = table.shape
    starts, classes = np.empty(n + 1, np.int64), np.empty(n * k, np.int64)
    list_counts(table, starts, classes)
    order, spare, rest, shares = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    sort_by_rest(np.ascontiguousarray(table.T), table.sum(1), subset, size, rest, shares, order, spare)
    left, right, terms = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k)
    _, best, cut = best_prefix(
        table, table.sum(1), order, totals, n_total, kind, lookup, starts, classes, left, right, terms, np.inf, best
    )
    if cut >= 0:
        mark(order, cut, False, chosen)
    return best


@kernel
def hcc_of_table(table: Ints, kind: int, lookup: Floats, chosen: Bools) -> None:
    """Write HcC's split of a table (n, k), whose rows are in the order of the program's set, into ``chosen`` (n,)."""
    n, k = table.shape
    sizes, totals, n_total = np.empty((1, n), np.int64), np.empty((1, k), np.int64), np.empty(1, np.int64)
    n_total[0] = margins(table, sizes[0], totals[0])
    columns, narrow = np.ascontiguousarray(table.T).astype(np.int32), sizes[0].astype(np.int32)
    rest, keys = np.empty(n, np.int32), np.empty(n, np.int32)
    chunk = max(LEAST_LANES, min(LANES, KEYS // n // LEAST_LANES * LEAST_LANES)) if n > 2 else LEAST_LANES
    form = format_of(totals, n_total, n, kind)
    work = work_space(n, k, 1, chunk, kind, form, lookup)
    pack_rows(table.reshape(1, n, k), sizes, 0, 1, work.rows)
    pairs, doubt, sums = close_pairs(sizes[0]), np.empty(chunk, np.bool_), PRODUCTS if kind == GINI else BITS
    subset, size, lanes = np.zeros(k, np.int64), 1, 0
    best, least = np.inf, 1 << FIXED_BITS
    while size <= k // 2:
        # Fill one lane after the other with the keys of a set of classes.
        doubt[lanes] = write_keys(columns, narrow, subset, size, form.bits, pairs, rest, keys)
        work.keys[:, lanes] = keys
        work.members[lanes, 0], work.members[lanes, 1:] = size, subset
        lanes, size = lanes + 1, next_set(subset, size, k)
        if lanes == chunk or size > k // 2:
            # Sort and judge the lanes together, then compare the promising ones in the order of the program.
            sort_lanes(work.keys, lanes)
            fill_values(totals, n_total, kind, 0, 1, lanes, form, work)
            least = min(least, int(work.least[:lanes].min()))
            for lane in range(lanes):
                if doubt[lane]:
                    members = work.members[lane]
                    best = best_of_set(
                        table, totals[0], n_total[0], kind, lookup, members[1:], members[0], best, chosen
                    )  # fmt: skip
                elif work.least[lane] <= least + form.band:
                    best = best_of_lane(
                        table, totals[0], n_total[0], sums, least + form.band, form, work, lane, best, chosen
                    )  # fmt: skip
            lanes = 0
            if n == 2:  # every set leads to the same split
                break


@kernel
def hcc_simd(tables: Ints, values: Ints, kind: int, masks: Bools) -> None:
    """HcC by SIMD: tables int64 (b, n, k), values int64 (b, n) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    table, walked, chosen = np.empty((n, k), np.int64), np.empty(n, np.int64), np.empty(n, np.bool_)
    for t in range(b):
        set_order(values[t], walked)
        for v in range(n):
            table[v] = tables[t, walked[v]]
        hcc_of_table(table, kind, lookup, chosen)
        for v in range(n):
            masks[t, walked[v]] = chosen[v]


def hcc(tables: Ints, values: Ints, kind: int, masks: Bools) -> None:
    """HcC by the search that suits the tables: int64 (b, n, k), values int64 (b, n) -> bool masks (b, n), in place.

    Not compiled itself, so that only the search that is taken has to be.
    """
    if tables.shape[2] < FEWEST or tables.sum((1, 2)).max() > LARGEST_TOTAL:
        along_classes(tables, values, kind, masks, True)
    else:
        hcc_simd(tables, values, kind, masks)
