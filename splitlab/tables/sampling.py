"""Random contingency tables: entries uniform on {0, ..., max_count}, no zero row, no zero column.

A table with a zero row or column is drawn again as a whole. Whether that happens depends on the table alone, so
the accepted tables are uniform over all tables without zero rows and columns.

Two sources of the same distribution:

- ``independent_tables``: candidates in chunks of a constant shape, accepted ones kept in order. The first m tables
  of a stream are the same however many are asked for.
- the same call where candidates are hardly ever accepted: rows (or columns, whichever fail oftener) are drawn
  conditioned on not being zero; they are independent, so a zero one is simply drawn again by itself. Then only
  the other side can fail, and a whole table is drawn again when it does. This is exact, not an approximation.

The tables of the program behind the paper are a third one: ``splitlab.published.stream``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

CHUNK_TABLES = 256
CHUNK_ENTRIES = 1 << 20  # 8 MB: bounds the memory of a chunk of large tables
PART_ENTRIES = 1 << 20
RARELY_ACCEPTED = 0.02  # below, the conditional sampler draws fewer entries than rejection of whole tables


def acceptance_probability(n: int, k: int, max_count: int) -> float:
    """Probability that a table of independent uniform entries has no zero row and no zero column.

    With z = 1 / (max_count + 1), inclusion and exclusion over the zero columns gives
    q = sum_j (-1)^j C(k, j) z^(n j) (1 - z^(k-j))^n. The sum is taken over the shorter side, where its terms
    fall fast enough for floats.

    Examples
    --------
    >>> acceptance_probability(2, 2, 1)
    0.4375
    """
    n, k = max(n, k), min(n, k)
    z = 1.0 / (max_count + 1)
    terms = (
        (-1) ** j * comb(k, j) * z ** (n * j) * (1.0 - z ** (k - j)) ** n
        for j in range(k)
        if n * j * np.log10(max_count + 1) < 300  # later terms are zero in floats
    )
    return float(sum(terms))


def candidate_acceptance(n: int, k: int, max_count: int) -> float:
    """Probability that a candidate of ``independent_tables`` is kept.

    This is q, or where q is tiny, q given that no row (for n < k: no column) is zero.
    """
    q = acceptance_probability(n, k, max_count)
    if q >= RARELY_ACCEPTED:
        return q
    n, k = max(n, k), min(n, k)
    # q and the probability that no row is zero may both be below the smallest float: sum the ratio itself.
    z = 1.0 / (max_count + 1)
    terms = (
        (-1) ** j * comb(k, j) * z ** (n * j) * ((1.0 - z ** (k - j)) / (1.0 - z**k)) ** n
        for j in range(k)
        if n * j * np.log10(max_count + 1) < 300
    )
    return float(sum(terms))


def accepted(tables: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which tables (b, n, k) have neither a zero row nor a zero column; shape (b,)."""
    some = tables > 0
    return np.logical_and(np.all(some.any(axis=2), axis=1), np.all(some.any(axis=1), axis=1))


@dataclass(frozen=True)
class Draw:
    """Accepted tables, int64 (b, n, k), and how many candidates were drawn for each, the accepted one included."""

    tables: NDArray[np.int64]
    drawn: NDArray[np.int64]


def block_generator(seed: int, n: int, k: int, max_count: int, block: int) -> np.random.Generator:
    """The random generator of one block of one cell; depends on nothing else."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(n, k, max_count, block))))


def concatenated(parts: Sequence[Draw]) -> Draw:
    """Consecutive draws as one."""
    return Draw(np.concatenate([p.tables for p in parts]), np.concatenate([p.drawn for p in parts]))


def independent_tables(rng: np.random.Generator, n: int, k: int, max_count: int, count: int, skip: int = 0) -> Draw:
    """Draw ``skip + count`` tables and keep the last ``count`` of them.

    Parameters
    ----------
    rng : numpy.random.Generator
        Is advanced.
    n, k, max_count : int
        Rows, columns, largest entry.
    count, skip : int
        How many tables to return, and how many accepted ones to pass over first.

    Returns
    -------
    Draw
        Tables of shape (count, n, k), and the candidates behind each of them.

    Examples
    --------
    >>> a = independent_tables(block_generator(0, 2, 3, 7, 0), 2, 3, 7, 5)
    >>> b = independent_tables(block_generator(0, 2, 3, 7, 0), 2, 3, 7, 3, skip=2)
    >>> bool((a.tables[2:] == b.tables).all())
    True
    """
    return concatenated(list(independent_parts(rng, n, k, max_count, count, skip)))


def independent_parts(
    rng: np.random.Generator, n: int, k: int, max_count: int, count: int, skip: int = 0
) -> Iterator[Draw]:
    """The tables of ``independent_tables`` in parts of about ``PART_ENTRIES`` entries, for tables large or many."""
    waiting: list[Draw] = []
    passed = 0  # accepted tables so far
    since = 0  # candidates since the last accepted one
    for chunk in _candidate_chunks(rng, n, k, max_count):
        here = np.flatnonzero(accepted(chunk))
        gaps = np.diff(here, prepend=-1 - since)
        since = since + len(chunk) if here.size == 0 else len(chunk) - 1 - int(here[-1])
        start, stop = (min(max(m - passed, 0), here.size) for m in (skip, skip + count))
        waiting.append(Draw(np.ascontiguousarray(chunk[here[start:stop]]), gaps[start:stop]))
        passed += here.size
        if passed >= skip + count:
            break
        if sum(w.tables.size for w in waiting) >= PART_ENTRIES:
            yield concatenated(waiting)
            waiting = []
    yield concatenated(waiting)


def _candidate_chunks(rng: np.random.Generator, n: int, k: int, max_count: int) -> Iterator[NDArray[np.int64]]:
    size = max(1, min(CHUNK_TABLES, CHUNK_ENTRIES // (n * k)))
    conditional = acceptance_probability(n, k, max_count) < RARELY_ACCEPTED
    while True:
        if not conditional:
            yield rng.integers(0, max_count + 1, (size, n, k))
        elif n >= k:  # zero rows are the likelier ones: n z^k > k z^n
            yield _without_zero_rows(rng, size, n, k, max_count)
        else:
            yield _without_zero_rows(rng, size, k, n, max_count).transpose(0, 2, 1)


def _without_zero_rows(
    rng: np.random.Generator, size: int, rows: int, columns: int, max_count: int
) -> NDArray[np.int64]:
    """Tables whose rows are independent, each conditioned on not being zero."""
    flat = rng.integers(0, max_count + 1, (size * rows, columns))
    zero = np.flatnonzero(~flat.any(axis=1))
    while zero.size:
        flat[zero] = rng.integers(0, max_count + 1, (zero.size, columns))
        zero = zero[~flat[zero].any(axis=1)]
    return flat.reshape(size, rows, columns)
