"""The true optimum by enumerating the hyperplanes through rows of the table.

Notation: rows with equal class probabilities are merged; a_1, ..., a_m are the merged rows, vectors of counts in R^k
that span a space of dimension r <= k. A *cell* is a split that some direction d makes strictly: d . a > 0 for the
rows on the left and d . a < 0 for those on the right.

Some optimal split is a cell. The impurity g(z) = I(z) + I(u - z) of a split with left counts z is concave on the
zonotope of all z = sum_v x_v a_v, 0 <= x_v <= 1, and so least at a vertex of it. A vertex is where some direction d has
its only maximum; then d . a_v is never 0 (else x_v could be moved) and x_v = 1 exactly where it is positive: a cell.
The vertices 0 and u have no split, but by superadditivity no z has a greater impurity, so another vertex is as good.
(Only concavity of I is used. Merged rows have the same sign of d . a, so that merging is right by the same argument.)

All cells are found from hyperplanes. Take r columns of full rank: the signs that d can give to the rows stay the
same. The closure of a cell is a cone of directions that holds no line, since the rows span R^r; so it has an extreme
ray d0, orthogonal to r - 1 independent rows. A direction of the cell close to d0 gives the rows that are not on the
hyperplane d0 . a = 0 their signs under d0, and those on it, which span dimension r - 1, a cell of their own. Hence:

    for every hyperplane spanned by rows: fix the sides of the rows off it; the rows on it take all their cells
    -- all 2^(r-1) splits if they are r - 1, and else their cells found by the same rule in dimension r - 1.

Each hyperplane is used once, at its first r - 1 independent rows. A split and its complement are the same, so at the
top, and only there, one orientation of each hyperplane will do. No general position is assumed.

Exactness: the side of row x of the hyperplane through t_1, ..., t_{r-1} is the sign of det(t_1, ..., t_{r-1}, x),
expanded along its rows, in floating point. Rows are divided by their greatest common divisors. All partial sums of
the expansion are determinants of entries 0..c (with some entries set to 0), at most c^r (r+1)^((r+1)/2) / 2^r
(Hadamard): while that is below 2^53 the result is exact. Beyond, rows are divided by their sums as well. The
products in the expansion then add up to at most 1 in magnitude, each with at most r^2 rounding errors, so that a
determinant above 2 r^2 2^-53 has its sign; one below gets it from exact arithmetic modulo primes (modular.py).

Cost: at most C(m, r-1) hyperplanes, each O(m r + 2^(r-1) k), when the rows are in general position, and less
otherwise: O(n^(k-1) (n k + 2^k k)). Memory O(2^r + m r).

Ties: merged rows in the lexicographic order of their probabilities, sets of r - 1 rows in lexicographic order, splits
at one hyperplane in that of the Gray code; a later split must be strictly better. If all rows are proportional: the
first row against the others.

Source: the lemma is in Burshtein, Della Pietra, Kanevsky, Nadas, Minimum impurity partitions (Annals of Statistics
1992), and Coppersmith, Hong, Hosking (DMKD 1999).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import lookup_table
from splitlab.splitters.kernels.exhaustive import Problem, merged_problem, try_sides, unmerge
from splitlab.splitters.kernels.modular import PRIMES, determinant_sign, eliminate, independent_columns, primes_needed
from splitlab.splitters.kernels.principal import gcd

ROUNDING = 2.0**-52
EXACT_BITS = 52.9  # below 53, and away from it by more than the error of a logarithm


class Arrangement(NamedTuple):
    """Some of the merged rows, in coordinates in which they have full rank."""

    vectors: Ints  # (m, r), divided by their greatest common divisors
    points: Floats  # (r, m), the vectors as columns, divided by the row sums where determinants would not be exact
    noise: float  # a determinant of points up to this magnitude may have the wrong sign
    primes: int


@kernel
def arrangement(counts: Ints, rows: Ints) -> Arrangement:
    """The arrangement of these rows of ``counts`` (., k)."""
    m, k = rows.size, counts.shape[1]
    # The smallest whole vectors on the rays of the rows: signs of determinants are the same, and sooner exact.
    reduced = np.empty((m, k), np.int64)
    largest = 1
    for x in range(m):
        divisor = counts[rows[x], 0]
        for i in range(1, k):
            divisor = gcd(divisor, counts[rows[x], i])
        for i in range(k):
            reduced[x, i] = counts[rows[x], i] // divisor
            largest = max(largest, reduced[x, i])
    # As many columns as the rank, independent ones: in them the rows span the whole space.
    primes = primes_needed(min(m, k), k * largest)
    columns = independent_columns(reduced, primes)
    r = columns.size
    # log2 of c^r (r+1)^((r+1)/2) / 2^r, Hadamard's bound on the partial sums of the expansion
    exact = r * math.log2(float(largest)) + 0.5 * (r + 1) * math.log2(r + 1.0) - r < EXACT_BITS
    vectors, points = np.empty((m, r), np.int64), np.empty((r, m))
    for x in range(m):
        total = 0
        for i in range(r):
            vectors[x, i] = reduced[x, columns[i]]
            total += vectors[x, i]
        for i in range(r):
            points[i, x] = vectors[x, i] / (1 if exact else total)
    return Arrangement(vectors, points, 0.0 if exact else r * r * ROUNDING, primes)


@kernel
def extend_minors(points: Floats, x: int, order: int, minors: Floats) -> None:
    """From the minors of ``order`` rows to those with row x below them.

    ``minors`` (2^r,) holds at each set of columns, as bits, the determinant in these columns of as many rows.
    """
    # All sets of order + 1 columns, as numbers with as many bits, in ascending order. Each is expanded along its last
    # row into minors of fewer columns, which are not overwritten, as these have fewer bits.
    columns = (1 << (order + 1)) - 1
    while columns < minors.size:
        total, sign, rest = 0.0, 1.0, columns
        for i in range(points.shape[0] - 1, -1, -1):  # along the last row, from the right
            if columns >> i & 1:
                total += sign * points[i, x] * minors[columns ^ (1 << i)]
                sign = -sign
        minors[columns] = total
        # Gosper: the lowest run of bits moves up by one, what is left of it goes back to the start.
        low = columns & -columns  # on to the next larger number with as many bits
        rest = columns + low
        columns = rest | (columns ^ rest) // low >> 2


@kernel
def exact_sign(vectors: Ints, subset: Ints, x: int, primes: int) -> int:
    """The sign of det(subset, x)."""
    r = vectors.shape[1]
    square = np.empty((r, r), np.int64)
    for j in range(r):
        row = subset[j] if j < r - 1 else x
        for i in range(r):
            square[j, i] = vectors[row, i]
    return determinant_sign(square, primes)


@kernel
def find_signs(space: Arrangement, subset: Ints, minors: Floats, distances: Floats, signs: Ints, flat: Ints) -> int:
    """Sides ``signs`` (m,) of the hyperplane through ``subset``; those on it go to ``flat``; returns their number."""
    vectors, points, noise, primes = space
    r, m = points.shape
    for x in range(m):
        distances[x] = 0.0
    # det(subset, x) expanded along x: the cofactors are the same for all x, so this is one pass over all rows for each.
    for i in range(r):
        weight = minors[((1 << r) - 1) ^ (1 << i)]
        if (r - 1 - i) % 2:
            weight = -weight
        for x in range(m):
            distances[x] += weight * points[i, x]
    for j in range(r - 1):
        distances[subset[j]] = np.nan  # on the hyperplane by definition, whatever the rounding
    size = 0
    for x in range(m):
        signs[x] = int(distances[x] > noise) - int(distances[x] < -noise)
        if signs[x] == 0:
            if noise > 0.0 and not np.isnan(distances[x]):
                signs[x] = exact_sign(vectors, subset, x, primes)
            if signs[x] == 0:
                flat[size] = x
                size += 1
    return size


@kernel
def spans_first(vectors: Ints, subset: Ints, flat: Ints) -> bool:
    """Whether ``subset`` is independent, and the first such set of the rows ``flat`` on its hyperplane.

    First modulo a prime: unless the rows have a smaller rank there, exactly one subset of them passes; if they have,
    all do, which costs time only. A dependent subset has every row on its "hyperplane".
    """
    m, r = vectors.shape
    # Just r - 1 rows on the hyperplane: no other subset has it. All rows on it: the subset is dependent.
    if flat.size < r or flat.size == m:
        return flat.size < m
    on_flat, independent = np.empty((flat.size, r), np.int64), np.empty(flat.size, np.bool_)
    for j in range(flat.size):
        for i in range(r):
            on_flat[j, i] = vectors[flat[j], i]
    # Elimination row by row keeps the first independent rows; the subset has to be these.
    rank, _ = eliminate(on_flat, PRIMES[0], independent, np.empty(r, np.int64))
    s = 0
    for j in range(flat.size):
        if independent[j] and rank == r - 1:
            if flat[j] != subset[s]:
                return False
            s += 1
    return True


@kernel
def next_subset(subset: Ints, m: int) -> int:
    """Advance ``subset`` of 0..m-1 in lexicographic order; returns the first place that changed, -1 after the last."""
    # The last entry that can still grow does, by one, and those after it follow as closely as possible.
    s = subset.size - 1
    while s >= 0 and subset[s] == m - subset.size + s:
        s -= 1
    if s >= 0:
        subset[s] += 1
        for later in range(s + 1, subset.size):
            subset[later] = subset[later - 1] + 1
    return s


@kernel
def try_cells(problem: Problem, rows: Ints, side: Bools, best_side: Bools, best: float) -> float:
    """Try every cell of the merged rows ``rows``, the others being where ``side`` says; returns the new best.

    Where there are no others, one of each cell and its complement will do. Afterwards ``side`` holds anything at
    these rows.
    """
    whole = rows.size == side.size  # at the top: no row's side is fixed
    space = arrangement(problem.counts, rows)
    m, r = space.vectors.shape
    if m == r:  # independent rows: every split is a cell
        return try_sides(problem, rows[: m - 1] if whole else rows, side, best_side, best)
    subset, minors = np.arange(r - 1), np.empty(1 << r)
    distances, signs, flat = np.empty(m), np.empty(m, np.int64), np.empty(m, np.int64)
    minors[0] = 1.0
    changed = 0
    while changed >= 0:
        # Minors of the rows before the first that changed are still right.
        for j in range(changed, r - 1):
            extend_minors(space.points, subset[j], j, minors)
        size = find_signs(space, subset, minors, distances, signs, flat)
        if spans_first(space.vectors, subset, flat[:size]):
            on_flat = np.empty(size, np.int64)
            for j in range(size):
                on_flat[j] = rows[flat[j]]
            # Both orientations of the hyperplane: the fixed sides tell a split and its complement apart.
            for turn in range(1 if whole else 2):
                for x in range(m):
                    side[rows[x]] = signs[x] == 1 - 2 * turn
                # The rows on it: all their splits where they are independent, else their cells in one dimension less
                if size == r - 1:
                    best = try_sides(problem, on_flat, side, best_side, best)
                else:
                    best = try_cells(problem, on_flat, side, best_side, best)
        changed = next_subset(subset, m)
    return best


@kernel
def hyperplanes(tables: Ints, kind: int, masks: Bools) -> None:
    """The optimum: int64 (b, n, k) -> bool masks (b, n), written in place."""
    lookup, group = lookup_table(tables, kind), np.empty(tables.shape[1], np.int64)
    for t in range(tables.shape[0]):
        problem = merged_problem(tables[t], kind, lookup, group)
        m = problem.counts.shape[0]
        best_side = np.zeros(m, np.bool_)
        if m > 1:
            try_cells(problem, np.arange(m), np.zeros(m, np.bool_), best_side, np.inf)
        unmerge(best_side, group, masks[t])
