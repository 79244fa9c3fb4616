"""Exact linear algebra on integers that may be large: ranks, independent rows and signs of determinants.

A determinant of order r of rows of counts is at most the product of the row sums in magnitude, which for counts up
to 1e15 takes far more than 64 bits. It is computed modulo primes p_0, p_1, ... just below 2^31, whose residues
multiply without overflow, and put together in the balanced mixed radix

    det = d_0 + d_1 p_0 + d_2 p_0 p_1 + ...,    |d_i| < p_i / 2,

which is unique once the product of the primes exceeds twice the bound; the sign is that of the last digit that is
not zero. For the same reason the rank is the largest of the ranks modulo so many primes: a minor that is not zero
cannot be divisible by all of them.

Source: Garner's algorithm; Knuth, The Art of Computer Programming, volume 2, section 4.3.2.
"""

from __future__ import annotations

import math

import numpy as np

from splitlab._jit import Bools, Ints, kernel

# The largest primes below 2^31: enough for every table of up to 1e15 examples and 29 classes.
PRIMES = 2**31 - np.array(
    [1, 19, 61, 69, 85, 99, 105, 151, 159, 171, 225, 249, 295, 325, 379, 399, 411, 469, 477, 511, 525, 571, 579, 589,
     595, 615, 619, 697, 699, 705, 711, 727, 771, 775, 781, 789, 829, 831, 837, 847, 885, 909, 951, 955, 967, 985, 987,
     1027]
)  # fmt: skip
BITS = 30.99  # every prime is larger than 2^30.99


@kernel
def primes_needed(order: int, largest: int) -> int:
    """How many primes fix the sign of a determinant of rows with sums up to ``largest``."""
    return min(PRIMES.size, int((order * math.log2(float(largest)) + 2.0) / BITS) + 1)


@kernel
def inverse(a: int, p: int) -> int:
    """1 / a modulo the prime p, by Euclid's algorithm."""
    r, s, x, y = p, a, 0, 1
    while s:
        q = r // s
        r, s, x, y = s, r - q * s, y, x - q * y
    return x % p


@kernel
def eliminate(rows: Ints, p: int, independent: Bools, columns: Ints) -> tuple[int, int]:
    """(rank, determinant) modulo p of rows (m, r), by Gauss's elimination row by row.

    ``independent`` (m,) marks the rows that do not depend on earlier ones; ``columns`` (r,) gets the columns of the
    pivots, which are independent too. The determinant means something for a square matrix of full rank only.
    """
    m, r = rows.shape
    # Invariant: basis[:rank] are the independent rows so far, each 1 in its pivot's column and 0 in the columns of the
    # pivots before it.
    basis, row = np.empty((r, r), np.int64), np.empty(r, np.int64)
    rank, determinant = 0, 1
    for v in range(m):
        independent[v] = False
        if rank == r:
            continue
        for i in range(r):
            row[i] = rows[v, i] % p
        # Take off what the basis has in its pivots' columns.
        for j in range(rank):
            factor = row[columns[j]]
            for i in range(r):
                row[i] = (row[i] - factor * basis[j, i]) % p
        # What remains, if anything, is independent of the rows before.
        pivot = 0
        while pivot < r and row[pivot] == 0:
            pivot += 1
        if pivot == r:
            continue
        independent[v] = True
        for j in range(rank):  # a column further left than an earlier pivot's is one inversion of the permutation
            if columns[j] > pivot:
                determinant = -determinant
        determinant = determinant * row[pivot] % p
        scale = inverse(row[pivot], p)
        for i in range(r):
            basis[rank, i] = row[i] * scale % p
        columns[rank] = pivot
        rank += 1
    return rank, determinant if rank == m else 0


@kernel
def determinant_sign(rows: Ints, primes: int) -> int:
    """-1, 0 or 1: the sign of the determinant of rows (r, r)."""
    r = rows.shape[0]
    independent, columns, digits = np.empty(r, np.bool_), np.empty(r, np.int64), np.empty(primes, np.int64)
    sign = 0
    for j in range(primes):
        p = PRIMES[j]
        _, residue = eliminate(rows, p, independent, columns)
        # Garner: the next digit is what is missing modulo p, divided by the product of the primes before.
        value, weight = np.int64(0), np.int64(1)  # of the digits so far, and of the next one, modulo p
        for i in range(j):
            value = (value + digits[i] * weight) % p
            weight = weight * PRIMES[i] % p
        digit = (residue - value) % p * inverse(int(weight), p) % p
        # Balanced, between -p/2 and p/2; of the digits that are not zero the last outweighs all others.
        digits[j] = digit - p if 2 * digit > p else digit
        if digits[j] != 0:
            sign = 1 if digits[j] > 0 else -1
    return sign


@kernel
def independent_columns(rows: Ints, primes: int) -> Ints:
    """Columns that are independent, as many as possible."""
    m, k = rows.shape
    independent, columns = np.empty(m, np.bool_), np.empty(k, np.int64)
    # A prime may divide a minor that is not zero; the largest rank over enough primes is the true one.
    best, rank = columns[:0], 0
    for j in range(primes):
        if rank < min(m, k):
            found, _ = eliminate(rows, PRIMES[j], independent, columns)
            if found > rank:
                best, rank = columns[:found].copy(), found
    return best
