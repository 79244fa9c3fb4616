"""Splits of the least impurity there is."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, compress, product

from splitlab.splitters.reference.common import (
    Rows,
    Table,
    best_direction,
    cost_of,
    first_least,
    first_prefix,
    integers,
    margin_of,
    measure_of,
    merge,
)

Point = tuple[Fraction, ...]
Mask = tuple[bool, ...]


def two_class(table: Table, impurity: str) -> list[bool]:
    """The walk by the share of class 0, which passes an optimal split when there are two classes."""
    rows = integers(table)
    if len(rows[0]) != 2:
        raise ValueError(f"two_class: the table has {len(rows[0])} classes, not 2")
    return best_direction(rows, [[0]], measure_of(impurity))


def exhaustive(table: Table, impurity: str) -> list[bool]:
    """All 2^(n-1) - 1 splits: row 0 is on the left, and the others join it in the order of binary counting."""
    rows = integers(table)
    others = product((False, True), repeat=len(rows) - 1)
    return _best_mask(rows, ((True, *joined) for joined in others if not all(joined)), impurity)


def hyperplanes(table: Table, impurity: str) -> list[bool]:
    """The splits of the different p_v by a hyperplane, one of which is optimal; in the order of `exhaustive`.

    As every p_v adds up to 1, a hyperplane in the space of class probabilities can be written d.p = 0, and the
    side of p_v is the sign of d.A[v], in whole numbers. About n^(k-1) of them have to be looked at.
    """
    rows = integers(table)
    merged, members = merge(rows)
    if len(merged) == 1:
        return first_prefix(rows)
    group = {v: a for a, together in enumerate(members) for v in together}
    patterns = separations([tuple(map(Fraction, row)) for row in merged])
    masks = sorted(tuple(side[group[v]] for v in range(len(rows))) for side in patterns)
    return _best_mask(rows, (mask for mask in masks if mask[0] and not all(mask)), impurity)


def _best_mask(rows: Rows, masks: Iterable[Mask], impurity: str) -> list[bool]:
    cost = cost_of(rows, measure_of(impurity))
    scored = ((cost([sum(compress(column, mask)) for column in zip(*rows, strict=True)]), mask) for mask in masks)
    return list(first_least(scored, margin_of(rows))[1])


def separations(points: list[Point]) -> set[Mask]:
    """All (d.x > 0 for x in points), d running over the vectors with d.x != 0 for every point.

    No two points may be proportional. Independent points can be separated in every way. Otherwise let them span r
    dimensions. The vectors d of one pattern make up an open cone, pointed within the span, and on an edge of it
    lies a d that vanishes on points of rank r-1. So every hyperplane through r-1 independent points is tried: it
    decides on the points beside it, and a slight turn separates those on it in any way in which they can be
    separated at all, which is the same question in one dimension less.
    """
    points = _coordinates(points)
    rank = len(points[0])
    if rank == len(points):
        return set(product((False, True), repeat=rank))
    found = set[Mask]()
    for spanning in combinations(points, rank - 1):
        heights = _heights(spanning, points)
        if any(heights):
            lying = [x for x, height in zip(points, heights, strict=True) if height == 0]
            for turned in separations(lying):
                turn = iter(turned)
                mask = tuple(next(turn) if height == 0 else height > 0 for height in heights)
                found |= {mask, tuple(not side for side in mask)}
    return found


def _heights(spanning: Sequence[Point], points: list[Point]) -> list[Fraction]:
    """d.x of all points for a d that is 0 on the spanning ones; all 0 if these are not independent."""
    reduced, pivots = _reduced(spanning)
    free = [j for j in range(len(points[0])) if j not in pivots]
    if len(free) > 1:
        return [Fraction(0)] * len(points)
    normal = {free[0]: Fraction(1)} | {j: -row[free[0]] for j, row in zip(pivots, reduced, strict=True)}
    return [sum((d * x[j] for j, d in normal.items()), Fraction(0)) for x in points]


def _coordinates(points: list[Point]) -> list[Point]:
    """As many coordinates as the points have dimensions: those that do not depend on earlier ones."""
    pivots = _reduced(points)[1]
    return [tuple(x[j] for j in pivots) for x in points]


def _reduced(points: Sequence[Point]) -> tuple[list[Point], list[int]]:
    """Reduced row echelon form without its zero rows, and the column of the leading 1 of each row."""
    rows, reduced, pivots = list(points), list[Point](), list[int]()
    for j in range(len(points[0])):
        pivot = next((row for row in rows if row[j]), None)
        if pivot is None:
            continue
        leading = tuple(x / pivot[j] for x in pivot)
        rows = [_without(row, leading, j) for row in rows if row is not pivot]
        reduced = [*(_without(row, leading, j) for row in reduced), leading]
        pivots.append(j)
    return reduced, pivots


def _without(row: Point, leading: Point, j: int) -> Point:
    """The row, less the multiple of ``leading`` that makes its entry in column j vanish."""
    return tuple(x - row[j] * y for x, y in zip(row, leading, strict=True))
