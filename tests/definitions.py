"""The directed splitters straight from their definitions, in exact fractions: what the kernels must equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from splitlab.splitters.reference import impurity

Table = Sequence[Sequence[int]]
Direction = Sequence[float | int]
Scored = tuple[float, list[bool]]


def columns(table: Table) -> list[int]:
    return [sum(column) for column in zip(*table, strict=True)]


def dot(d: Direction, row: Sequence[int]) -> Fraction:
    return sum((Fraction(x) * c for x, c in zip(d, row, strict=True)), Fraction(0))


def collapsed(table: Table, d: Direction) -> list[list[Fraction]]:
    return [[dot(d, row), sum(row) - dot(d, row)] for row in table]


def value(table: Sequence[Sequence[int | Fraction]], mask: Sequence[bool], name: str) -> float:
    """I(u_L) + I(u_R), of tables of fractions too."""
    sides = ([row for row, here in zip(table, mask, strict=True) if here is side] for side in (True, False))
    return float(sum(impurity(columns(side), name) for side in sides))  # type: ignore[arg-type]


def first_least(candidates: Iterable[Scored], margin: float) -> Scored:
    """The first of the least: a later one must be lower by more than the margin."""
    best: Scored = (float("inf"), [])
    for candidate in candidates:
        if candidate[0] < best[0] - margin:
            best = candidate
    return best


def along(table: Table, d: Direction, name: str, collapse: bool) -> Scored:
    """B_d, or A_d where ``collapse``: the value of its prefix, of the table that it looks at, and the mask."""
    judged = collapsed(table, d) if collapse else table
    order = sorted(range(len(table)), key=lambda v: dot(d, table[v]) / sum(table[v]))
    masks = ([v in order[:cut] for v in range(len(table))] for cut in range(1, len(table)))
    return first_least(((value(judged, mask, name), mask) for mask in masks), 1e-12 * sum(map(sum, table)))


def indicator(members: Iterable[int], k: int) -> list[int]:
    return [int(i in set(members)) for i in range(k)]


def sets_of_classes(k: int) -> list[list[int]]:
    """The directions of HcC, in their order."""
    sizes = [combinations(range(k - 1 if 2 * s == k else k), s) for s in range(1, k // 2 + 1)]
    return [indicator(members, k) for some in sizes for members in some]


def ova(table: Table, name: str) -> list[bool]:
    k, margin = len(table[0]), 1e-12 * sum(map(sum, table))
    return first_least((along(table, indicator([i], k), name, False) for i in range(k)), margin)[1]


def twoing(table: Table, name: str, by_gain: bool) -> list[bool]:
    def scored(d: list[int]) -> Scored:
        least, mask = along(table, d, name, True)
        return least - (impurity(columns(collapsed(table, d)), name) if by_gain else 0), mask  # type: ignore[arg-type]

    return first_least(map(scored, sets_of_classes(len(table[0]))), 1e-12 * sum(map(sum, table)))[1]


def balanced_set(totals: Sequence[int]) -> tuple[int, ...]:
    """By trying every set of classes."""
    k = len(totals)
    subsets = [s for size in range(1, k) for s in combinations(range(k), size)]
    loads = {s: sum(totals[i] for i in s) for s in subsets}
    most = max(load for load in loads.values() if 2 * load <= sum(totals))
    return min(s for s in subsets if loads[s] == most)


def scheduled_set(totals: Sequence[int]) -> tuple[int, ...]:
    sides: tuple[list[int], list[int]] = ([], [])
    for i in sorted(range(len(totals)), key=lambda i: -totals[i]):
        loads = [sum(totals[j] for j in side) for side in sides]
        sides[0 if not sides[0] or loads[0] < loads[1] else 1].append(i)
    return tuple(sorted(min(sides, key=lambda side: (len(side), 0 not in side))))


def flip_flop(table: Table, name: str) -> list[bool]:
    k, margin, totals = len(table[0]), 1e-12 * sum(map(sum, table)), columns(table)
    side = along(table, indicator([int(np.argmax(totals))], k), name, False)[1]
    best, least, idle, seen = side, value(table, side, name), 0, [False] * k
    for _ in range(100):
        left = columns([row for row, here in zip(table, side, strict=True) if here])
        classes = [[a, u - a] for a, u in zip(left, totals, strict=True)]
        members = along(classes, [1, 0], name, False)[1]
        if members in (seen, [not m for m in seen]):
            break
        seen, side = members, along(table, [int(m) for m in members], name, True)[1]
        now = value(table, side, name)
        best, least, idle = (side, now, 0) if now < least - margin else (best, least, idle + 1)
        if idle == 2:
            break
    return best
