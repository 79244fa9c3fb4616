"""Walks by the share of a set of classes, and by any direction: the paper's Algorithm 1 (B_d)."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from operator import mul

from splitlab.splitters.reference.common import (
    Rows,
    Table,
    best_direction,
    column_sums,
    first_least,
    hypercube,
    integers,
    margin_of,
    mask_of,
    measure_of,
    prefixes,
)


def along_direction(table: Table, impurity: str, direction: Sequence[float]) -> list[bool]:
    """B_d: the walk by d.A[v] / |v|, for a direction of any finite numbers, one per class."""
    rows = integers(table)
    walk = prefixes(rows, direction_order(rows, direction), measure_of(impurity))
    return mask_of(*first_least(walk, margin_of(rows))[1])


def direction_order(rows: Rows, direction: Sequence[float]) -> list[int]:
    """Row indices by increasing d.A[v] / |v|, exact until the one rounding; ties stay in row order."""
    exact = [Fraction(x) for x in direction]
    scores = [float(sum(map(mul, exact, row)) / Fraction(sum(row))) for row in rows]
    return sorted(range(len(rows)), key=scores.__getitem__)


def lca(table: Table, impurity: str) -> list[bool]:
    """Largest Class Alone: the walk by the share of the most frequent class (the first of equals)."""
    rows = integers(table)
    sums = column_sums(rows)
    return best_direction(rows, [[sums.index(max(sums))]], measure_of(impurity))


def hcc(table: Table, impurity: str) -> list[bool]:
    """Hypercube Cover: the best walk over all 0/1 directions. Takes 2^k steps: mind the number of classes."""
    rows = integers(table)
    return best_direction(rows, hypercube(len(rows[0])), measure_of(impurity))


def ova(table: Table, impurity: str) -> list[bool]:
    """One class against all: the best walk by the share of a single class."""
    rows = integers(table)
    return best_direction(rows, [[i] for i in range(len(rows[0]))], measure_of(impurity))


def balanced(table: Table, impurity: str) -> list[bool]:
    """The walk by the share of the classes that hold as nearly half of the examples as possible. Takes 2^k steps."""
    rows = integers(table)
    return best_direction(rows, [balanced_set(column_sums(rows))], measure_of(impurity))


def balanced_set(sums: list[int]) -> tuple[int, ...]:
    """Of the class sets with at most half of the examples the heaviest; of equals the first as a sorted list."""
    k = len(sums)
    weights = {d: sum(sums[i] for i in d) for size in range(1, k) for d in combinations(range(k), size)}
    return min((-weight, d) for d, weight in weights.items() if 2 * weight <= sum(sums))[1]


def list_scheduling(table: Table, impurity: str) -> list[bool]:
    """`balanced` in a hurry: each class, by decreasing size, goes to the side that is lighter so far."""
    rows = integers(table)
    return best_direction(rows, [scheduled_set(column_sums(rows))], measure_of(impurity))


def scheduled_set(sums: list[int]) -> list[int]:
    """The side with fewer classes; with equal numbers the one that holds class 0."""
    a, b = list[int](), list[int]()
    load_a = load_b = 0
    for i in sorted(range(len(sums)), key=lambda i: -sums[i]):
        if not a or load_a < load_b:
            a.append(i)
            load_a += sums[i]
        else:
            b.append(i)
            load_b += sums[i]
    return min(a, b, key=lambda side: (len(side), 0 not in side))
