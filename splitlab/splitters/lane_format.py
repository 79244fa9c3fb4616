"""Widths and work space of the lanes (see ``lanes``, which explains the words used here)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splitlab._jit import Ints, kernel
from splitlab.impurity import GINI

Ints32 = NDArray[np.int32]

LANES = 256
FIXED_BITS = 30  # values stay below 2^30, so that a few rounding errors cannot overflow
LARGEST_TOTAL = 46340  # N^2 < 2^31: sums of squares fit into an int32
GINI_BAND = 1100  # of 2^30, which stands for N: four float32 roundings of 6e-8 each on either side, doubled


class Format(NamedTuple):
    """How wide everything is; the same for all tables of a call."""

    bits: int  # of a row number in a key
    width: int  # of a class in a word
    per_word: int  # classes
    words: int
    stride: int  # entries of the table of one class
    own: int  # entries of all tables of one contingency table
    scale: float  # fixed-point units per bit of entropy
    band: int  # values this far apart may be equal


class Work(NamedTuple):
    """Arrays of one group of tables; (lanes,) unless said otherwise."""

    inside: Ints32  # (k, directions): -1 where the direction holds the class, else 0
    part: Ints32  # (directions,): examples of the direction's classes in a row
    keys: Ints32  # (n, lanes)
    values: Ints32  # (n, lanes), row j for cut j
    least: Ints32  # of a lane's values
    rows: Ints  # (words, tables n): packed rows
    word: Ints  # (words, lanes): packed prefix
    row_base: Ints32  # where the lane's table begins in rows
    term_base: Ints32  # and in terms
    totals: Ints32  # (k, lanes): class totals u
    sizes: Ints32  # N
    squares: Ints32  # sum u^2
    n_left: Ints32
    sums: Ints32  # of l^2, or of h_i(l_i)
    cross: Ints32  # sum u l
    terms: Ints32  # (tables own,): h_0, ..., h_{k-1}, h_N of each table


@kernel
def bit_length(x: int) -> int:
    """The number of bits of x >= 0."""
    bits = 0
    while x >> bits:
        bits += 1
    return bits


@kernel
def suits(tables: Ints, kind: int) -> bool:
    """Whether keys, words and values hold these tables, and there is enough to do for the preparations to pay."""
    b, n, k = tables.shape
    if k == 2 or bit_length(n - 1) >= FIXED_BITS - 1:
        return False
    largest_size, largest_total = 0, 0
    for t in range(b):
        total = 0
        for v in range(n):
            size = 0
            for i in range(k):
                size += min(tables[t, v, i], LARGEST_TOTAL + 1)
            largest_size = max(largest_size, size)
            total += size
        if total > LARGEST_TOTAL:
            return False
        largest_total = max(largest_total, total)
    # A class's terms are as many as its examples, and each is looked up once per cut and direction at most.
    if kind != GINI and 2 * largest_total > 4 * n * k * ((1 << (k - 1)) - 1):
        return False
    return largest_size**2 <= 1 << (FIXED_BITS - 1 - bit_length(n - 1))


@kernel
def format_of(totals: Ints, n_total: Ints, n: int, kind: int) -> Format:
    """Widths that suffice for all tables of a call."""
    k = totals.shape[1]
    largest, most = 0, 0
    for t in range(n_total.size):
        most = max(most, n_total[t])
        for i in range(k):
            largest = max(largest, totals[t, i])
    width = bit_length(largest)
    per_word = 63 // width
    scale = 1.0
    while 2.0 * scale * most * math.log2(float(most)) < 1 << FIXED_BITS:
        scale *= 2.0
    band = GINI_BAND if kind == GINI else k + 2
    words = (k + per_word - 1) // per_word
    return Format(bit_length(n - 1), width, per_word, words, largest + 1, k * (largest + 1) + most + 1, scale, band)


@kernel
def work_space(n: int, k: int, group: int, chunk: int, kind: int, form: Format) -> Work:
    """Uninitialised arrays for ``group`` tables in ``chunk`` directions each."""
    lanes = group * chunk
    return Work(
        np.empty((k, chunk), np.int32), np.empty(lanes, np.int32), np.empty((n, lanes), np.int32),
        np.empty((n, lanes), np.int32), np.empty(lanes, np.int32), np.empty((form.words, group * n), np.int64),
        np.empty((form.words, lanes), np.int64), np.empty(lanes, np.int32), np.empty(lanes, np.int32),
        np.empty((k, lanes), np.int32), np.empty(lanes, np.int32), np.empty(lanes, np.int32),
        np.empty(lanes, np.int32), np.empty(lanes, np.int32), np.empty(lanes, np.int32),
        np.empty(0 if kind == GINI else group * form.own, np.int32),
    )  # fmt: skip
