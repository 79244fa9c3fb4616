"""In which order Python walks through a set of small integers: the tie rule of the published tree program.

The program keeps values in sets and goes by the order in which they come out. For integers that order is no accident:
CPython (here as of 3.5) puts an integer into slot ``x & mask`` of a table of 2^p slots, or near it when that is taken,
and walks the table from its start. So integers below the size of the table come out ascending, and others do not:
a set of at most four integers has eight slots, and {1, 8} comes out as 8, 1.

A set is an array of slots, which hold integers, EMPTY, or REMOVED, with two counts: ``fill``, slots that are not EMPTY,
and ``used``, integers. Source: CPython 3.5, Objects/setobject.c.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Ints, kernel

EMPTY, REMOVED = -1, -2
LEAST_SLOTS = 8
NEIGHBOURS = 9  # slots tried after the first before jumping elsewhere
SHIFT = 5


@kernel
def empty_set(slots: int) -> Ints:
    """A table of so many slots, a power of two, all EMPTY: int64 (slots,)."""
    return np.full(slots, EMPTY, np.int64)


@kernel
def place_of(slots: Ints, x: int) -> int:
    """The slot of x; where x is not in the set, the slot that takes it.

    That is the last REMOVED slot on the way to the first EMPTY one, or else the EMPTY one.
    """
    mask = slots.size - 1
    i, perturb, free = x & mask, x, -1
    while True:
        for at in range(i, i + (NEIGHBOURS if i + NEIGHBOURS <= mask else 0) + 1):
            if slots[at] == x:
                return at
            if slots[at] == EMPTY:
                return at if free < 0 else free
            if slots[at] == REMOVED:
                free = at
        perturb >>= SHIFT
        i = (i * 5 + 1 + perturb) & mask


@kernel
def resized(slots: Ints, least: int) -> Ints:
    """The integers of a table, put one after the other into the smallest table of more than ``least`` slots."""
    size = LEAST_SLOTS
    while size <= least:
        size *= 2
    larger = empty_set(size)
    for x in slots:
        if x >= 0:
            larger[place_of(larger, x)] = x
    return larger


@kernel
def added(slots: Ints, fill: int, x: int) -> tuple[Ints, int]:
    """The table and its fill after adding x, which is not in it; no slot of the table may be REMOVED."""
    slots[place_of(slots, x)] = x
    fill += 1
    if 3 * fill >= 2 * slots.size:
        slots = resized(slots, 4 * fill)
    return slots, fill


@kernel
def set_of(numbers: Ints) -> Ints:
    """The table of the set that is made by adding the numbers (n,) one by one."""
    slots, fill = empty_set(LEAST_SLOTS), 0
    for x in numbers:
        slots, fill = added(slots, fill, x)
    return slots


@kernel
def copied(slots: Ints, fill: int, used: int) -> Ints:
    """The table of ``set(s)``, a copy of the set s with these slots."""
    size = LEAST_SLOTS
    if 3 * used >= 2 * LEAST_SLOTS:
        while size <= 2 * used:
            size *= 2
    if size == slots.size and fill == used:
        return slots.copy()
    return resized(slots, size - 1)


@kernel
def without(slots: Ints, fill: int, used: int, x: int) -> tuple[Ints, int]:
    """The table and the fill of the set ``s - {x}``, for x in s."""
    if used // 4 > 1:
        rest = copied(slots, fill, used)
        rest[place_of(rest, x)] = REMOVED
        return rest, used
    rest, filled = empty_set(LEAST_SLOTS), 0
    for y in slots:
        if y >= 0 and y != x:
            rest, filled = added(rest, filled, y)
    return rest, filled


@kernel
def walk(slots: Ints, numbers: Ints) -> int:
    """Write the integers of the set in their order into ``numbers`` (n,); how many there are."""
    m = 0
    for x in slots:
        if x >= 0:
            numbers[m] = x
            m += 1
    return m


@kernel
def set_order(numbers: Ints, order: Ints) -> None:
    """Write the places of the ascending numbers (n,), in the order in which a set of them is walked, into ``order``."""
    walk(set_of(numbers), order)
    for j in range(order.size):
        order[j] = np.searchsorted(numbers, order[j])
