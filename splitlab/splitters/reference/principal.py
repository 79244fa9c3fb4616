"""Walks along the principal component of the class probabilities: pc, pc_ext, pc_counts, pc_ext_counts."""

import math
from itertools import pairwise
from operator import mul

import numpy as np

from splitlab.splitters.reference.common import (
    Measure,
    Rows,
    Table,
    column_sums,
    first_least,
    first_prefix,
    integers,
    margin_of,
    measure_of,
    merge,
    prefixes,
)

EQUAL_SCORES = 1e-9  # of the largest score
EQUAL_EIGENVALUES = 1e-9  # relative: far above the error of the solver, far below the gaps of real tables
SHORT_PROJECTION = 1e-6  # a projection no longer than this is too inaccurate to fix a direction
EQUAL_COMPONENTS = 1e-9  # magnitudes of a unit vector closer than this count as equal


def _scatter(rows: Rows) -> list[list[float]]:
    """M = sum_a |a| (p_a - u/N)(p_a - u/N)^T; the differences are exact fractions until the one division."""
    sums, total = column_sums(rows), sum(map(sum, rows))
    matrix = [[0.0] * len(sums) for _ in sums]
    for row in rows:
        size = sum(row)
        deviation = [(c * total - u * size) / (size * total) for c, u in zip(row, sums, strict=True)]
        for i, di in enumerate(deviation):
            for j, dj in enumerate(deviation):
                matrix[i][j] += size * di * dj
    return matrix


def _top_eigenvector(matrix: list[list[float]]) -> list[float]:
    """Unit top eigenvector, with the rules above for its sign and for a repeated top eigenvalue."""
    values, vectors = np.linalg.eigh(np.array(matrix))
    space = vectors[:, values >= values[-1] * (1 - EQUAL_EIGENVALUES)]
    projections = (space @ space.T).tolist()  # row i is the projection of e_i: the matrix is symmetric
    v = next(p for p in projections if math.hypot(*p) > SHORT_PROJECTION)
    length, largest = math.hypot(*v), max(map(abs, v))
    leading = next(x for x in v if abs(x) >= largest - EQUAL_COMPONENTS * length)
    return [x / math.copysign(length, leading) for x in v]


def _point(row: list[int], counts: bool) -> list[float]:
    """What v is applied to. A multiple of v.(1, ..., 1) = 0 is taken off counts, so that ties stay exact."""
    least, size = min(row), sum(row)
    return [c - least if counts else c / size for c in row]


def _by_score(scores: list[float]) -> list[int]:
    """Indices by score; a run of scores with gaps below rounding noise ties, and a tie keeps the given order."""
    noise = EQUAL_SCORES * max(map(abs, scores))
    order = sorted(range(len(scores)), key=scores.__getitem__)
    gaps = [j for j in range(1, len(order)) if scores[order[j]] - scores[order[j - 1]] > noise]
    return [a for start, stop in pairwise([0, *gaps, len(order)]) for a in sorted(order[start:stop])]


def _principal(table: Table, measure: Measure, *, counts: bool, exchange: bool) -> list[bool]:
    """Best candidate along the merged rows in the order of their scores, as a mask of the original rows."""
    rows = integers(table)
    merged, members = merge(rows)
    if len(merged) == 1:  # all rows proportional: there is no component
        return first_prefix(rows)
    v = _top_eigenvector(_scatter(merged))
    scores = [sum(map(mul, v, _point(row, counts))) for row in merged]
    by_score = _by_score(scores)
    _, (order, cut) = first_least(prefixes(merged, by_score, measure, exchange), margin_of(rows))
    left = {value for a in order[:cut] for value in members[a]}
    return [value in left for value in range(len(rows))]


def pc(table: Table, impurity: str) -> list[bool]:
    """Principal component: the walk by v.p_v, v the main axis of the class probabilities."""
    return _principal(table, measure_of(impurity), counts=False, exchange=False)


def pc_ext(table: Table, impurity: str) -> list[bool]:
    """`pc` with exchanges: never worse than `pc`, up to 1e-12 N."""
    return _principal(table, measure_of(impurity), counts=False, exchange=True)


def pc_counts(table: Table, impurity: str) -> list[bool]:
    """`pc` with the axis applied to counts, as in the paper's program."""
    return _principal(table, measure_of(impurity), counts=True, exchange=False)


def pc_ext_counts(table: Table, impurity: str) -> list[bool]:
    """`pc_ext` with the axis applied to counts: the published PCext columns."""
    return _principal(table, measure_of(impurity), counts=True, exchange=True)
