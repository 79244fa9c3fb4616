"""Walks judged by two columns instead of k (A_d): those of a set of classes and of the rest."""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from operator import mul

from splitlab.splitters.reference.common import (
    Candidate,
    Measure,
    Rows,
    Scored,
    Table,
    column_sums,
    cost_of,
    first_least,
    hypercube,
    integers,
    margin_of,
    mask_of,
    measure_of,
    prefixes,
    share_order,
)
from splitlab.splitters.reference.directions import direction_order, lca

MOST_FLIPS = 100


def collapsed_along(table: Table, impurity: str, direction: Sequence[float]) -> list[bool]:
    """A_d: the walk by d.A[v] / |v|, its prefixes judged by the two columns d.A[v] and (1-d).A[v]; d in [0,1]^k."""
    rows = integers(table)
    order = direction_order(rows, direction)
    pairs = _pairs(rows, direction)
    return mask_of(*first_least(prefixes(pairs, order, measure_of(impurity)), margin_of(pairs))[1])


def _pairs(rows: Rows, direction: Sequence[float]) -> Rows:
    """The two columns, times a common denominator of d: impurities are homogeneous, so the choice is the same."""
    exact = [Fraction(x) for x in direction]
    scale = lcm(*(x.denominator for x in exact))
    weights = [int(x * scale) for x in exact]
    inside = [sum(map(mul, weights, row)) for row in rows]
    return [[part, scale * sum(row) - part] for part, row in zip(inside, rows, strict=True)]


def _best_collapsed(rows: Rows, classes: Sequence[int], measure: Measure) -> tuple[float, float, Candidate]:
    """Collapsed impurity of all rows, that of the split of A_d, and the split; d is a set of classes."""
    pairs = _pairs(rows, [i in classes for i in range(len(rows[0]))])
    least, split = first_least(prefixes(pairs, share_order(rows, classes), measure), margin_of(rows))
    return measure(column_sums(pairs)), least, split


def twoing(table: Table, impurity: str) -> list[bool]:
    """Breiman's twoing: the best A_d over the directions of HcC by the gain of the collapsed table."""
    rows = integers(table)
    splits = (_best_collapsed(rows, classes, measure_of(impurity)) for classes in hypercube(len(rows[0])))
    losses: Scored = ((least - whole, split) for whole, least, split in splits)
    return mask_of(*first_least(losses, margin_of(rows))[1])


def twoing_min(table: Table, impurity: str) -> list[bool]:
    """Twoing by the impurity of the collapsed table, in the wording of the paper: a rare class ruins it."""
    rows = integers(table)
    splits = (_best_collapsed(rows, classes, measure_of(impurity)) for classes in hypercube(len(rows[0])))
    return mask_of(*first_least(((least, split) for _, least, split in splits), margin_of(rows))[1])


def flip_flop(table: Table, impurity: str) -> list[bool]:
    """From the split of `lca`: the best split of the classes by the sides of the rows, then of the rows by A_d, ...

    Ends when the classes are split as the time before, when the k-class impurity of the rows was twice in
    succession not strictly below the least so far, or after 100 turns. The best split of the rows on the way.
    """
    rows, measure = integers(table), measure_of(impurity)
    best = sides = lca(table, impurity)
    least, before, worse = _impurity(rows, best, measure), set[int](), 0
    for _ in range(MOST_FLIPS):
        classes = _best_classes(rows, sides, measure)
        if before in (classes, set(range(len(rows[0]))) - classes):
            break
        sides = mask_of(*_best_collapsed(rows, sorted(classes), measure)[2])
        value, before = _impurity(rows, sides, measure), classes
        if value < least - margin_of(rows):
            best, least, worse = sides, value, 0
        elif (worse := worse + 1) == 2:
            break
    return best


def _left_sums(rows: Rows, sides: Sequence[bool]) -> list[int]:
    return column_sums([row for row, is_left in zip(rows, sides, strict=True) if is_left])


def _impurity(rows: Rows, sides: Sequence[bool], measure: Measure) -> float:
    return cost_of(rows, measure)(_left_sums(rows, sides))


def _best_classes(rows: Rows, sides: Sequence[bool], measure: Measure) -> set[int]:
    """The two-class problem on its side: the classes are the values, the sides of the rows are the two classes."""
    left = _left_sums(rows, sides)
    turned = [[x, u - x] for x, u in zip(left, column_sums(rows), strict=True)]
    walk = prefixes(turned, share_order(turned, [0]), measure)
    order, cut = first_least(walk, margin_of(rows))[1]
    return set(order[:cut])
