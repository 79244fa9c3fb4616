"""Layouts and work space of HcC's SIMD path (see ``simd``, which explains the words used here).

A *key* (int32) is what a row is sorted by. Of s = 30 - r bits for the share, r being the bits of a row's number, bit 30
is set for the share 1 only; the sign bit never is::

     31  30                           r   r-1            0
    +---+------------------------------+------------------+
    | 0 |  floor(2^s share)            |  number of row   |
    +---+------------------------------+------------------+

A *word* (uint64) holds four fields of 16 bits: field 0 is a row's size, field f its count of class f - 1; field f is in
word f >> 2, shifted by 16 (f & 3). The unused fields of the last word are 0. For k = 5::

             63        48 47        32 31        16 15         0
            +------------+------------+------------+------------+
    word 0  |  class 2   |  class 1   |  class 0   |    size    |
            +------------+------------+------------+------------+
    word 1  |     0      |     0      |  class 4   |  class 3   |
            +------------+------------+------------+------------+

Sums of such words are sums of all their fields, since no field exceeds N < 2^15 and nothing carries over. Seen as two
uint32 (``Work.halves``, on little-endian machines) a word's half h holds fields 2h and 2h + 1.

The *lanes* of a group of tables: the directions of one table are not next to each other, the tables of one direction
are. With ``count`` tables in the group, lane = visit * count + g for the table g of the group::

    lane       0    1   ...  count-1 | count ...  2 count-1 | ...
    table      0    1   ...  count-1 |   0   ...   count-1  | ...
    visit      0    0   ...     0    |   1   ...      1     | ...

The *terms* of a table (entropy) are one array, the tables of all classes being as long as the longest needs::

    0            classes         classes + stride             term_count - 1
    +------------+---------------+---------------+-----+--------+---+
    | h_N(0..N)  | -h_0(0..u_0)  | -h_1(0..u_1)  | ... |        | 0 |
    +------------+---------------+---------------+-----+--------+---+

The 0 at the end is the term of a field that holds no class.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splitlab._jit import Floats, Ints, kernel
from splitlab.impurity import ENTROPY, GINI

Words = NDArray[np.uint64]
Halves = NDArray[np.uint32]
Ints32 = NDArray[np.int32]
Floats32 = NDArray[np.float32]

ONE, TWO, THREE = np.uint64(16), np.uint64(32), np.uint64(48)  # shifts of the fields of a word
FIELD = np.uint64(0xFFFF)

LANES = 256
PAD = 16  # unused lanes: at a distance of a power of two, the rows of a lane would compete for the same cache lines
FIXED_BITS = 30  # values stay below 2^30, so that a few rounding errors cannot overflow
LARGEST_TOTAL = 32767  # 2 N^2 < 2^31: sums of squares, the size's too, fit into an int32; a count into 16 bits
SHARE_BITS = 22  # shares of rows of S <= 2^11 examples, 1 / S^2 apart, stay apart in float32
GINI_BAND = 1800  # of 2^30, which stands for N: seven float32 roundings of 6e-8 each on either side, doubled


class Format(NamedTuple):
    """How wide everything is, for all tables of a call alike."""

    bits: int  # r, of a row's number in a key
    words: int  # of a row: 1 + k fields, four to a word
    stride: int  # entries of the terms of one class
    classes: int  # where the terms of class 0 begin, after those of the size
    term_count: int  # entries of all terms of one table; the last one is 0
    scale: float  # fixed-point units per bit of entropy
    band: int  # values this far apart may be equal


class Work(NamedTuple):
    """Arrays of one group of tables; (lanes,) unless said otherwise."""

    members: Ints  # (directions, k + 1): how many classes the direction holds, and which
    visit: Ints  # (directions,): its lane among those of its table
    turned: Ints  # (directions,): whether the direction of the lane is the complement of its set
    columns: Ints32  # (k + 2, n): a table's columns, its row sums, and a direction's row sums
    parts: Floats32  # (4, sets tables), see ``write_all_keys``; no entries unless all directions are there at once
    keys: Ints32  # (n, lanes)
    values: Ints32  # (n, lanes), row j for cut j
    least: Ints32  # of a lane's values
    rows: Words  # (words, tables n): packed rows
    sides: Words  # (2 words + 2, lanes): packed prefix, packed sum of all rows, sum l^2, sum r^2 in two halves (Gini)
    halves: Halves  # (2 words + 2, 2 lanes): the memory of ``sides`` as 32-bit integers
    ints: Ints32  # (5, lanes): N, where the table begins in rows; of a cut n_left and the two sums of squares (Gini)
    scale: Floats32  # fixed-point units per example, negative (Gini)
    fixed: Ints32  # (largest N + 1,): x log2 x in fixed point (entropy)
    terms: Ints32  # (term_count,): h_N, -h_0, ..., -h_{k-1}, 0 of a table (entropy)
    packed: Words  # (words,): a prefix
    prefix: Ints  # (k,): its class counts


@kernel
def bit_length(x: int) -> int:
    """The number of bits of x >= 0."""
    bits = 0
    while x >> bits:
        bits += 1
    return bits


@kernel
def share_bits(n: int) -> int:
    """Shares 2^-b apart or more, b being the result, have different keys in a table of n rows."""
    # One bit less than a key has: 1 / S^2 must be at least 2^-s, a unit of the key, and 2^-24, a rounding of float32.
    return min(SHARE_BITS, FIXED_BITS - 1 - bit_length(n - 1))


@kernel
def suits(tables: Ints, kind: int) -> bool:
    """Whether keys, words and values hold these tables, and there is enough to do for the preparations to pay."""
    b, n, k = tables.shape
    # Other impurities have no fixed-point form, two classes one direction only; row numbers must leave room for shares.
    if kind > ENTROPY or k == 2 or bit_length(n - 1) >= FIXED_BITS - 1:
        return False
    largest_size, largest_total = 0, 0
    for t in range(b):
        total = 0
        for v in range(n):
            size = 0
            for i in range(k):  # cut off, so that sums of counts of up to 1e15 do not overflow
                size += min(tables[t, v, i], LARGEST_TOTAL + 1)
            largest_size = max(largest_size, size)
            total += size
        if total > LARGEST_TOTAL:
            return False
        largest_total = max(largest_total, total)
    # A class's terms are as many as its examples, and each is looked up once per cut and direction at most.
    if kind != GINI and 2 * largest_total > 4 * n * k * ((1 << (k - 1)) - 1):
        return False
    # Different shares of rows of at most S examples are 1 / S^2 apart or more.
    return largest_size**2 <= 1 << share_bits(n)


@kernel
def format_of(totals: Ints, n_total: Ints, n: int, kind: int) -> Format:
    """Widths that suffice for all tables of a call."""
    k = totals.shape[1]
    largest, most = 0, 0
    for t in range(n_total.size):
        most = max(most, n_total[t])
        for i in range(k):
            largest = max(largest, totals[t, i])
    # The largest power of two by which N log2 N, the most that a value can be, stays below 2^30.
    scale = 1.0
    while 2.0 * scale * most * math.log2(float(most)) < 1 << FIXED_BITS:
        scale *= 2.0
    # Entropy: k + 1 terms, each the sum of two rounded halves of a unit, on either side: 2 (k + 1); and 1 to be safe.
    band = GINI_BAND if kind == GINI else 2 * k + 3
    stride, classes = largest + 1, most + 1
    return Format(bit_length(n - 1), (k + 4) // 4, stride, classes, classes + k * stride + 1, scale, band)


@kernel
def work_space(n: int, k: int, group: int, chunk: int, kind: int, form: Format, lookup: Floats) -> Work:
    """Arrays for ``group`` tables in ``chunk`` directions each, uninitialised but for ``fixed``, of ``lookup``."""
    # Arrays that the other impurity needs have no entries; so the kernel is compiled once for both.
    lanes, entropy = group * chunk, 0 if kind == GINI else 1
    sets = group << (k - 1) if chunk + 1 == 1 << (k - 1) else 0
    sides = np.empty(((1 - entropy) * (2 * form.words + 2), lanes), np.uint64)
    fixed = np.empty(entropy * form.classes, np.int32)
    for x in range(fixed.size):
        fixed[x] = np.int32(form.scale * lookup[x] + 0.5)
    return Work(
        np.empty((chunk, k + 1), np.int64), np.empty(chunk, np.int64), np.empty(chunk, np.int64),
        np.empty((k + 2, n), np.int32), np.empty((4, sets), np.float32),
        np.empty((n, lanes + PAD), np.int32), np.empty((n, lanes + PAD), np.int32), np.empty(lanes, np.int32),
        np.empty((form.words, group * n), np.uint64),
        sides, sides.view(np.uint32), np.empty((5, lanes), np.int32), np.empty(lanes, np.float32),
        fixed, np.empty(entropy * form.term_count, np.int32),
        np.empty(form.words, np.uint64), np.empty(k, np.int64),
    )  # fmt: skip
