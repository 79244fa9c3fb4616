"""What is done with the best table of a search: raised to a local maximum, then made as simple as it can be.

Neighbours of a table differ from it by a power of two in one entry. Raising takes the best of them while the ratio
grows; simplifying takes the simplest of them, or of some coarser tables, while the ratio does not fall. Both stop
when they have tried ``budget`` tables.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from splitlab._jit import Bools, Floats, Ints

Ratios = Callable[[Ints], Floats]

GROWS = 1e-9  # relative; less is not worth a step
ROUNDING = 1e-12  # relative; a ratio that falls by less has not fallen


def raised(table: Ints, ratios: Ratios, max_count: int, budget: int) -> Ints:
    """The end of the steepest ascent among neighbours with entries up to ``max_count``."""
    best = ratios(table[None])[0]
    while budget > 0:
        near = neighbours(table, max_count)
        values, budget = ratios(near), budget - len(near)
        if not values.max(initial=0.0) > best * (1.0 + GROWS):
            break
        best, table = values.max(), near[np.argmax(values)]
    return table


def simplified(table: Ints, ratios: Ratios, budget: int) -> Ints:
    """A table of no lower ratio with fewer rows, columns and digits, as far as single steps lead."""
    floor = ratios(table[None])[0] * (1.0 - ROUNDING)
    while budget > 0 and (simpler := _simpler(table, ratios, floor)) is not None:
        table, budget = simpler, budget - table.size * int(table.max()).bit_length()  # about as many are tried
    return table


def _simpler(table: Ints, ratios: Ratios, floor: float) -> Ints | None:
    """The simplest of the tables one step away with a ratio of at least ``floor``; None if there is none."""
    for candidates in (_without_a_line(table, 0), _without_a_line(table, 1), _shrunk(table)):
        fewer = candidates[_bits(candidates) < _bits(table[None])[0] - 1e-9]
        if fewer.size and (enough := fewer[ratios(fewer) >= floor]).size:
            return enough[np.argmin(_bits(enough))]
    return None


def _bits(tables: Ints) -> Floats:
    """How long the counts of each table are."""
    return np.asarray(np.log2(tables + 1.0).sum(axis=(1, 2)))


def _without_a_line(table: Ints, axis: int) -> Ints:
    """The tables with one row (axis 0) or one column (axis 1) less, at least two being left."""
    size = table.shape[axis]
    lines = range(size if size > 2 else 0)
    shape = (len(lines), *(s - (a == axis) for a, s in enumerate(table.shape)))
    return _legal(np.array([np.delete(table, line, axis) for line in lines], np.int64).reshape(shape))


def _shrunk(table: Ints) -> Ints:
    """Neighbours with less in an entry, and the table on a coarser scale."""
    divisors = [float(np.gcd.reduce(table, axis=None)), *(table.max() / size for size in (2, 5, 9, 20, 99, 500, 999))]
    coarser = [np.rint(table / d).astype(np.int64) for d in divisors if d > 1.0]
    near = neighbours(table, int(table.max()))
    return np.concatenate([near, _legal(np.array(coarser, np.int64).reshape(-1, *table.shape))])


def neighbours(table: Ints, max_count: int) -> Ints:
    """The legal tables that differ by a power of two, or by all, in one entry."""
    powers = 1 << np.arange(max_count.bit_length())
    places = np.eye(table.size, dtype=np.int64).reshape(-1, *table.shape)
    steps = np.concatenate([places * amount for amount in (*powers, *-powers)] + [-places * table])
    near = table + steps
    return _legal(near[(near.max(axis=(1, 2)) <= max_count) & steps.any(axis=(1, 2))])


def _legal(tables: Ints) -> Ints:
    """The tables that have no negative entries, zero rows or zero columns."""
    fine: Bools = (tables >= 0).all(axis=(1, 2)) & (tables.sum(axis=2) > 0).all(axis=1)
    return np.ascontiguousarray(tables[fine & (tables.sum(axis=1) > 0).all(axis=1)])
