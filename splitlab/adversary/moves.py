"""Tables to start from, and small changes of tables, many side by side.

Every move changes a batch (b, n, k) in place, each table at random places of its own; ``repaired`` puts right what it
did to the limits. Counts may be small or of any magnitude, so amounts are drawn by magnitude, too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from splitlab._jit import Bools, Floats, Ints

Move = Callable[[Ints, Generator], None]


def starts(rng: Generator, count: int, n: int, k: int, max_count: int) -> Ints:
    """Tables with small counts, with counts of all magnitudes, with nearly pure rows, with one or two classes a row."""
    tables = np.empty((count, n, k), np.int64)
    for number, family in enumerate((_small, _skewed, _nearly_pure, _structured)):
        part = tables[number::4]
        part[:] = family(rng, part.shape, max_count)
    return repaired(tables, rng, max_count)


def _magnitudes(rng: Generator, shape: tuple[int, ...], max_count: int) -> Floats:
    """Numbers from 1 to ``max_count``, uniform in their logarithm."""
    return np.asarray(np.exp(rng.uniform(0.0, np.log(max_count), shape)))


def _sparse(rng: Generator, shape: tuple[int, ...]) -> Floats:
    """True with a probability of its own for each table."""
    return np.asarray(rng.random(shape) < rng.uniform(0.2, 1.0, (shape[0], 1, 1)))


def _small(rng: Generator, shape: tuple[int, ...], max_count: int) -> Floats:
    return np.asarray(rng.integers(0, rng.choice([1, 3, 9, 50], (shape[0], 1, 1)), shape, endpoint=True))


def _skewed(rng: Generator, shape: tuple[int, ...], max_count: int) -> Floats:
    return _magnitudes(rng, shape, min(max_count, 3000)) * _sparse(rng, shape)


def _nearly_pure(rng: Generator, shape: tuple[int, ...], max_count: int) -> Floats:
    b, n, k = shape
    own = rng.integers(k, size=(b, n, 1)) == np.arange(k)
    return own * _magnitudes(rng, (b, n, 1), min(max_count, 300)) + rng.integers(0, 4, shape) * _sparse(rng, shape)


def _structured(rng: Generator, shape: tuple[int, ...], max_count: int) -> Floats:
    b, n, k = shape
    one, other = (rng.integers(k, size=(b, n, 1)) == np.arange(k) for _ in range(2))
    return (one | other) * np.rint(_magnitudes(rng, (b, n, 1), min(max_count, 300)))


def repaired(tables: Ints, rng: Generator, max_count: int) -> Ints:
    """The tables with entries from 0 to ``max_count``, and a 1 put into every zero row and column."""
    np.clip(tables, 0, max_count, out=tables)
    _, n, k = tables.shape
    for axis, size in ((2, k), (1, n)):
        table, line = np.nonzero(tables.sum(axis=axis) == 0)
        place = rng.integers(size, size=table.size)
        tables[(table, line, place) if axis == 2 else (table, place, line)] = 1
    return tables


def fitted(table: Ints, n: int, k: int) -> Ints:
    """A table of at most n rows and k columns, filled up with zeros."""
    return np.pad(table, ((0, n - table.shape[0]), (0, k - table.shape[1])))


def changed(tables: Ints, rng: Generator, max_count: int) -> Ints:
    """A copy of every table with one to three random moves made."""
    tables = tables.copy()
    first = rng.integers(len(MOVES), size=len(tables))
    for number, move in enumerate(MOVES):
        _made(move, tables, first == number, rng)
    for move in rng.choice(len(MOVES), 2):  # the same for many tables, since numpy is slow at few
        _made(MOVES[move], tables, rng.random(len(tables)) < 0.3, rng)
    return repaired(tables, rng, max_count)


def _made(move: Move, tables: Ints, where: Bools, rng: Generator) -> None:
    """Make a move in some of the tables."""
    if where.any():
        part = tables[where]
        move(part, rng)
        tables[where] = part


def _each(tables: Ints) -> Ints:
    return np.arange(len(tables))


def _some(rng: Generator, tables: Ints, axis: int) -> Ints:
    """A row (axis 1) or column (axis 2) for each table."""
    return rng.integers(tables.shape[axis], size=len(tables))


def _two(rng: Generator, tables: Ints, axis: int) -> tuple[Ints, Ints]:
    """Two different rows or columns for each table."""
    size = tables.shape[axis]
    first = _some(rng, tables, axis)
    return first, (first + rng.integers(1, size, size=len(tables))) % size


def _factors(rng: Generator, count: int) -> Floats:
    """Positive factors, some near 1 and some far from it."""
    return np.asarray(np.exp(rng.normal(size=count) * 10.0 ** rng.uniform(-3.0, 0.0, count)))


def _part_of(amounts: Ints, rng: Generator) -> Ints:
    """A random part of each amount, often a small one, sometimes all."""
    return np.ceil(amounts * rng.random(amounts.size) ** 3).astype(np.int64)


def nudge(tables: Ints, rng: Generator) -> None:
    """Add up to 3 to an entry, or take it away."""
    tables[_each(tables), _some(rng, tables, 1), _some(rng, tables, 2)] += rng.integers(-3, 4, len(tables))


def stretch_entry(tables: Ints, rng: Generator) -> None:
    """Scale an entry."""
    place = _each(tables), _some(rng, tables, 1), _some(rng, tables, 2)
    tables[place] = np.rint(tables[place] * _factors(rng, len(tables)))


def stretch_row(tables: Ints, rng: Generator) -> None:
    """Scale a row."""
    place = _each(tables), _some(rng, tables, 1)
    tables[place] = np.rint(tables[place] * _factors(rng, len(tables))[:, None])


def stretch_column(tables: Ints, rng: Generator) -> None:
    """Scale a column."""
    place = _each(tables), slice(None), _some(rng, tables, 2)
    tables[place] = np.rint(tables[place] * _factors(rng, len(tables))[:, None])


def double(tables: Ints, rng: Generator) -> None:
    """Double everything, for finer shares."""
    tables *= 2


def halve(tables: Ints, rng: Generator) -> None:
    """Halve everything, rounding up."""
    tables += 1
    tables //= 2


def clear(tables: Ints, rng: Generator) -> None:
    """Make an entry zero."""
    tables[_each(tables), _some(rng, tables, 1), _some(rng, tables, 2)] = 0


def reclass(tables: Ints, rng: Generator) -> None:
    """Move examples of a value to another class."""
    t, v, (i, j) = _each(tables), _some(rng, tables, 1), _two(rng, tables, 2)
    amount = _part_of(tables[t, v, i], rng)
    tables[t, v, i] -= amount
    tables[t, v, j] += amount


def revalue(tables: Ints, rng: Generator) -> None:
    """Move examples of a class to another value."""
    t, (v, w), i = _each(tables), _two(rng, tables, 1), _some(rng, tables, 2)
    amount = _part_of(tables[t, v, i], rng)
    tables[t, v, i] -= amount
    tables[t, w, i] += amount


def level(tables: Ints, rng: Generator) -> None:
    """Give two classes equal totals, or nearly: which of them is the larger decides much."""
    t, v, (i, j) = _each(tables), _some(rng, tables, 1), _two(rng, tables, 2)
    totals = tables.sum(axis=1)
    tables[t, v, i] += totals[t, j] - totals[t, i] + rng.integers(-1, 2, len(tables))


def exchange(tables: Ints, rng: Generator) -> None:
    """Exchange two entries of a row."""
    t, v, (i, j) = _each(tables), _some(rng, tables, 1), _two(rng, tables, 2)
    tables[t, v, i], tables[t, v, j] = tables[t, v, j], tables[t, v, i]


def copy_row(tables: Ints, rng: Generator) -> None:
    """Replace a row by another one."""
    t, (v, w) = _each(tables), _two(rng, tables, 1)
    tables[t, w] = tables[t, v]


def merge_rows(tables: Ints, rng: Generator) -> None:
    """Add a row to another one, and draw it again."""
    t, (v, w) = _each(tables), _two(rng, tables, 1)
    tables[t, w] += tables[t, v]
    tables[t, v] = 0


def purify(tables: Ints, rng: Generator) -> None:
    """Give all examples of a value the same class."""
    t, v, i = _each(tables), _some(rng, tables, 1), _some(rng, tables, 2)
    sizes = tables[t, v].sum(axis=1)
    tables[t, v] = 0
    tables[t, v, i] = sizes


def cross(tables: Ints, rng: Generator) -> None:
    """Take a row of another table."""
    t, v = _each(tables), _some(rng, tables, 1)
    tables[t, v] = tables[rng.permutation(len(tables)), v]


MOVES: tuple[Move, ...] = (
    nudge, stretch_entry, stretch_row, stretch_column, double, halve, clear, reclass, revalue, level, exchange,
    copy_row, merge_rows, purify, cross,
)  # fmt: skip
