"""Values of HcC's SIMD path: the impurity of every cut of every lane, in fixed point.

The words used here are explained in ``simd``, the layouts in ``simd_format``. For Gini all lanes take a step together,
as their sums of squares are plain arithmetic. For entropy each lane goes by itself through its cuts, as look-ups go one
by one anyway, and the terms of four classes follow from one packed prefix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitlab._jit import Ints, kernel
from splitlab.impurity import GINI
from splitlab.splitters.kernels.simd_format import (
    FIELD,
    FIXED_BITS,
    ONE,
    THREE,
    TWO,
    Floats32,
    Format,
    Halves,
    Ints32,
    Words,
    Work,
)


class TableLanes(NamedTuple):
    """Which lanes are those of one table of the group, and where its rows are."""

    start: int  # its lanes are start, start + step, ..., below stop
    stop: int
    step: int
    base: int  # where its rows begin among the packed ones
    mask: np.int32  # of the number of a row in a key


class FieldTerms(NamedTuple):
    """Where the terms of the four fields of a word begin."""

    a: int
    b: int
    c: int
    d: int


@kernel
def pack_rows(tables: Ints, sizes: Ints, first: int, count: int, rows: Words) -> None:
    """Pack the rows of a group of tables."""
    n, k = tables.shape[1:]
    for g in range(count):
        for v in range(n):
            packed = np.uint64(sizes[first + g, v])  # field 0
            for f in range(1, k + 1):
                if f & 3 == 0:  # the word is full
                    rows[(f >> 2) - 1, g * n + v] = packed
                    packed = np.uint64(0)
                packed |= np.uint64(tables[first + g, v, f - 1]) << np.uint64(16 * (f & 3))
            rows[rows.shape[0] - 1, g * n + v] = packed


@kernel
def empty_prefixes(n: int, count: int, here: int, rows: Words, sides: Words, ints: Ints32, scale: Floats32) -> None:
    """Prefixes without rows, and what the whole of each table is (Gini)."""
    words = rows.shape[0]
    for g in range(count):
        # The packed sum of all rows, from which a prefix is taken off to have the right side
        for q in range(words):
            total = np.uint64(0)
            for v in range(n):
                total += rows[q, g * n + v]
            for lane in range(g, here * count, count):
                sides[q, lane], sides[words + q, lane] = 0, total
        n_total = np.int32(sides[words, g] & FIELD)
        # 2^30 units stand for N; negative, since lower values are better and sum l^2 / n_left + ... is to be large.
        unit = np.float32(-(1 << FIXED_BITS)) / np.float32(n_total)
        for lane in range(g, here * count, count):
            ints[0, lane], ints[1, lane], scale[lane] = n_total, g * n, unit


@kernel
def add_rows(sides: Words, q: int, keys: Ints32, j: int, mask: np.int32, ints: Ints32, rows: Words, lanes: int) -> None:
    """Take word q of the row of every lane's key j into the lane's prefix."""
    for lane in range(lanes):
        sides[q, lane] += rows[q, np.uint64(ints[1, lane] + (keys[j, lane] & mask))]


@kernel
def add_squares(halves: Halves, q: int, words: int, size: int) -> None:
    """Add the squares of the two fields of every half word, of the prefixes and of what remains."""
    field, shift = np.uint32(0xFFFF), np.uint32(16)
    for h in range(size):
        # Two fields of the prefix, and of the rest. Their squares add up to less than 2^31 over all fields of a half.
        x, y = halves[q, h], np.uint32(halves[words + q, h] - halves[q, h])
        a, b, c, d = x & field, x >> shift, y & field, y >> shift
        halves[2 * words, h] += np.uint32(a * a) + np.uint32(b * b)
        halves[2 * words + 1, h] += np.uint32(c * c) + np.uint32(d * d)


@kernel
def gini_values(sides: Words, squares: int, ints: Ints32, scale: Floats32, values: Ints32, j: int, lanes: int) -> None:
    """Values of cut j, from the prefixes' sizes and the sums of squares, which hold those of the sizes, too."""
    # Two loops, as the first reads 64-bit numbers and the second works on 32-bit ones: mixed, neither would become
    # vector instructions.
    for lane in range(lanes):
        left, right = sides[squares, lane], sides[squares + 1, lane]
        ints[2, lane] = np.int32(sides[0, lane] & FIELD)
        ints[3, lane] = np.int32(left + (left >> TWO))  # the sums of both halves
        ints[4, lane] = np.int32(right + (right >> TWO))
    for lane in range(lanes):
        n_left, n_right = ints[2, lane], np.int32(ints[0, lane] - ints[2, lane])
        # The size is field 0 of word 0, so its square is in the sums too; what remains is exact in int32.
        lefts = np.float32(np.int32(ints[3, lane] - np.int32(n_left * n_left)))
        rights = np.float32(np.int32(ints[4, lane] - np.int32(n_right * n_right)))
        both = np.float32(n_left) * np.float32(n_right)
        # lefts / n_left + rights / n_right with one division
        shares = (lefts * np.float32(n_right) + rights * np.float32(n_left)) / both
        values[j, lane] = np.int32(shares * scale[lane])


@kernel
def gini_sweep(
    keys: Ints32, mask: np.int32, rows: Words, sides: Words, halves: Halves, ints: Ints32, scale: Floats32,
    values: Ints32, lanes: int,
) -> None:  # fmt: skip
    """Values of all cuts for Gini."""
    words = rows.shape[0]
    squares = 2 * words
    for j in range(keys.shape[0] - 1):
        # Every lane takes its row j into its prefix, word by word, and the squares are summed afresh.
        for lane in range(lanes):
            sides[squares, lane], sides[squares + 1, lane] = 0, 0
        for q in range(words):
            add_rows(sides, q, keys, j, mask, ints, rows, lanes)
            add_squares(halves, q, words, 2 * lanes)
        gini_values(sides, squares, ints, scale, values, j, lanes)


@kernel
def fill_terms(terms: Ints32, start: int, total: int, sign: np.int32, fixed: Ints32) -> None:
    """h_total(l) for l = 0..total with a sign, from ``start`` on; ``fixed`` is x log2 x in fixed point."""
    first, last = np.uint64(start), np.uint64(total)
    for x in range(np.uint64(0), last + np.uint64(1)):
        terms[first + x] = sign * np.int32(fixed[x] + fixed[last - x])


@kernel
def add_terms(
    keys: Ints32, rows: Words, q: int, terms: Ints32, values: Ints32, lanes: TableLanes, at: FieldTerms
) -> None:
    """Take the four fields of word q into the values of all cuts of one table."""
    # Unsigned, since a signed index has to be tested for being negative
    at_a, at_b, at_c, at_d = np.uint64(at.a), np.uint64(at.b), np.uint64(at.c), np.uint64(at.d)
    for lane in range(lanes.start, lanes.stop, lanes.step):
        word = np.uint64(0)
        for j in range(keys.shape[0] - 1):
            # The prefix takes row j in; its fields say which entries of the terms to add.
            word += rows[q, np.uint64(lanes.base + (keys[j, lane] & lanes.mask))]
            two = terms[(word & FIELD) + at_a] + terms[(word >> ONE & FIELD) + at_b]
            values[j, lane] += two + terms[(word >> TWO & FIELD) + at_c] + terms[(word >> THREE) + at_d]


@kernel
def add_two_terms(
    keys: Ints32, rows: Words, q: int, terms: Ints32, values: Ints32, lanes: TableLanes, at: FieldTerms
) -> None:
    """Take word q, whose upper two fields are empty, into the values of all cuts of one table; half the look-ups."""
    at_a, at_b = np.uint64(at.a), np.uint64(at.b)
    for lane in range(lanes.start, lanes.stop, lanes.step):
        word = np.uint64(0)
        for j in range(keys.shape[0] - 1):
            word += rows[q, np.uint64(lanes.base + (keys[j, lane] & lanes.mask))]
            values[j, lane] += terms[(word & FIELD) + at_a] + terms[(word >> ONE) + at_b]


@kernel
def entropy_sweep(
    totals: Ints, n_total: Ints, first: int, count: int, here: int, form: Format,
    keys: Ints32, rows: Words, fixed: Ints32, terms: Ints32, values: Ints32,
) -> None:  # fmt: skip
    """Values of all cuts of a group of tables for entropy. Look-ups go one by one, so lanes do not help here."""
    k, mask, empty = totals.shape[1], np.int32((1 << form.bits) - 1), form.term_count - 1
    terms[empty] = 0
    values[:] = 0
    for g in range(count):
        # The terms of this table: h_N for the size, -h_i for the classes
        fill_terms(terms, 0, n_total[first + g], np.int32(1), fixed)
        for i in range(k):
            fill_terms(terms, form.classes + i * form.stride, totals[first + g, i], np.int32(-1), fixed)
        lanes = TableLanes(g, here * count, count, g * keys.shape[0], mask)
        for q in range(form.words):
            at = form.classes + (4 * q - 1) * form.stride  # of the word's first class; word 0 begins with the size
            a = at if q else 0
            if 4 * q + 1 < k:  # the third field holds class 4 q + 1
                b, c = at + form.stride, at + 2 * form.stride
                d = c + form.stride if 4 * q + 2 < k else empty
                add_terms(keys, rows, q, terms, values, lanes, FieldTerms(a, b, c, d))
            else:
                b = at + form.stride if 4 * q < k else empty
                add_two_terms(keys, rows, q, terms, values, lanes, FieldTerms(a, b, empty, empty))


@kernel
def find_least(values: Ints32, least: Ints32, lanes: int) -> None:
    """The least value of every lane."""
    for lane in range(lanes):
        least[lane] = 1 << FIXED_BITS
    for j in range(values.shape[0] - 1):
        for lane in range(lanes):
            least[lane] = min(least[lane], values[j, lane])


@kernel
def fill_values(
    totals: Ints, n_total: Ints, kind: int, first: int, count: int, here: int, form: Format, work: Work
) -> None:
    """Values of all cuts of a group of tables whose keys are sorted, and the least one of every lane."""
    keys, rows, values, lanes = work.keys, work.rows, work.values, count * here
    if kind == GINI:
        mask = np.int32((1 << form.bits) - 1)
        empty_prefixes(keys.shape[0], count, here, rows, work.sides, work.ints, work.scale)
        gini_sweep(keys, mask, rows, work.sides, work.halves, work.ints, work.scale, values, lanes)
    else:
        entropy_sweep(totals, n_total, first, count, here, form, keys, rows, work.fixed, work.terms, values)
    find_least(values, work.least, lanes)
