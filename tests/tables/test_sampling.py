"""Random tables: exact probabilities, uniformity, reproducible streams."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb, log10, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from splitlab.tables import sampling
from splitlab.tables.sampling import (
    acceptance_probability,
    accepted,
    block_generator,
    candidate_acceptance,
    independent_tables,
)

SMALL = [(2, 2, 1), (2, 2, 3), (2, 3, 1), (3, 2, 2), (2, 3, 2), (4, 2, 1), (2, 4, 1), (3, 3, 1), (5, 2, 1), (2, 5, 1)]
LARGE = [(12, 3, 7), (12, 9, 7), (50, 3, 2), (9, 25, 2), (3, 40, 1), (40, 3, 1), (40, 40, 1), (500, 3, 1), (3, 500, 1),
         (300, 40, 7), (1500, 2, 1), (2, 1500, 1), (7, 7, 10**12)]  # fmt: skip
MODES = ["rejection", "conditional"]


def is_full(table: NDArray[np.int64]) -> bool:
    """No zero row and no zero column, said slowly."""
    rows = all(any(entry > 0 for entry in row) for row in table.tolist())
    return rows and all(any(entry > 0 for entry in column) for column in table.T.tolist())


def all_tables(n: int, k: int, max_count: int) -> NDArray[np.int64]:
    flat = list(itertools.product(range(max_count + 1), repeat=n * k))
    return np.array(flat, np.int64).reshape(-1, n, k)


def exact_q(n: int, k: int, max_count: int) -> Fraction:
    """Inclusion and exclusion over zero rows and zero columns at once, in whole numbers."""
    m = max_count + 1
    full = sum(
        (-1) ** (i + j) * comb(n, i) * comb(k, j) * m ** ((n - i) * (k - j)) for i in range(n + 1) for j in range(k + 1)
    )
    return Fraction(full, m ** (n * k))


def exact_conditional(n: int, k: int, max_count: int) -> Fraction:
    """q given that none of the more numerous lines is zero."""
    n, k = max(n, k), min(n, k)
    return exact_q(n, k, max_count) / (1 - Fraction(1, (max_count + 1) ** k)) ** n


@pytest.fixture
def conditional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "RARELY_ACCEPTED", 2.0)


def use(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every cell sampled by rejection of whole tables, or by the conditional sampler."""
    monkeypatch.setattr(sampling, "RARELY_ACCEPTED", {"rejection": 0.0, "conditional": 2.0}[mode])


# Probabilities


@pytest.mark.parametrize("cell", SMALL)
def test_acceptance_probability_is_the_share_of_all_tables(cell: tuple[int, int, int]) -> None:
    tables = all_tables(*cell)
    full = sum(is_full(table) for table in tables)
    assert acceptance_probability(*cell) == pytest.approx(full / len(tables), rel=1e-13)
    assert exact_q(*cell) == Fraction(full, len(tables))  # the oracle of the larger cells


@pytest.mark.parametrize("cell", LARGE)
def test_acceptance_probability_of_larger_cells(cell: tuple[int, int, int]) -> None:
    assert acceptance_probability(*cell) == pytest.approx(float(exact_q(*cell)), rel=1e-11, abs=0.0)


def test_a_practically_impossible_cell() -> None:
    assert acceptance_probability(500, 3, 1) == pytest.approx(1e-29, rel=0.05)
    assert log10(acceptance_probability(3, 500, 1)) == pytest.approx(-29, abs=0.05)


@pytest.mark.parametrize("cell", SMALL)
def test_candidate_acceptance_by_enumeration(cell: tuple[int, int, int], conditional: None) -> None:
    n, k, _ = cell
    tables = all_tables(*cell)
    lines = tables.any(axis=2).all(axis=1) if n >= k else tables.any(axis=1).all(axis=1)
    full = sum(is_full(table) for table in tables)
    assert candidate_acceptance(*cell) == pytest.approx(full / lines.sum(), rel=1e-13)


@pytest.mark.parametrize("cell", LARGE)
def test_candidate_acceptance_of_larger_cells(cell: tuple[int, int, int]) -> None:
    q = exact_q(*cell)
    expected = q if q >= Fraction(2, 100) else exact_conditional(*cell)
    assert candidate_acceptance(*cell) == pytest.approx(float(expected), rel=1e-11)


@pytest.mark.parametrize("cell", [(100_000, 2, 1), (2, 100_000, 1), (1000, 1000, 1), (100_000, 10, 1)])
def test_probabilities_of_huge_cells_are_probabilities(cell: tuple[int, int, int]) -> None:
    assert 0.0 <= acceptance_probability(*cell) <= 1.0
    assert candidate_acceptance(*cell) == pytest.approx(1.0, abs=1e-9)


def test_accepted_means_no_zero_row_or_column() -> None:
    tables = all_tables(3, 2, 2)
    assert accepted(tables).tolist() == [is_full(table) for table in tables]


# Distribution


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cell", [(2, 2, 1), (2, 3, 1), (3, 2, 1), (3, 2, 2), (2, 3, 2)])
def test_tables_are_uniform_over_the_accepted_ones(
    cell: tuple[int, int, int], mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(mode, monkeypatch)
    possible = {table.tobytes(): 0 for table in all_tables(*cell) if is_full(table)}
    drawn = independent_tables(block_generator(7, *cell, 0), *cell, 60 * len(possible)).tables
    for table in np.ascontiguousarray(drawn):
        possible[table.tobytes()] += 1  # KeyError: a table that should have been rejected
    assert stats.chisquare(list(possible.values())).pvalue > 1e-4


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cell", [(2, 2, 1), (2, 3, 1), (3, 2, 2), (5, 2, 1), (2, 5, 1)])
def test_drawn_agrees_with_the_expectation(
    cell: tuple[int, int, int], mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(mode, monkeypatch)
    count = 5000
    drawn = independent_tables(block_generator(3, *cell, 0), *cell, count).drawn
    q = float(exact_q(*cell) if mode == "rejection" else exact_conditional(*cell))
    assert q < 0.995  # enough are rejected for the normal limit to make sense
    assert drawn.shape == (count,)
    assert abs(drawn.sum() - count / q) < 4 * sqrt(count * (1 - q)) / q  # negative binomial


def test_the_conditional_sampler_is_used_where_rejection_would_never_end() -> None:
    for cell in ((500, 3, 1), (3, 500, 1)):
        draw = independent_tables(block_generator(1, *cell, 0), *cell, 50)
        assert draw.tables.shape == (50, *cell[:2])
        assert all(is_full(table) for table in draw.tables)
        assert draw.drawn.tolist() == [1] * 50  # a zero line of 500 entries has probability 2^-500
        # A line of three entries that is not zero holds 12 / 7 ones on average.
        assert draw.tables.sum() / (50 * 500) == pytest.approx(12 / 7, abs=4 * sqrt(0.49 / 25_000))


# Streams


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cell", [(3, 3, 1), (5, 2, 1), (2, 5, 1), (12, 3, 7)])
def test_prefix_skip_and_drawn(cell: tuple[int, int, int], mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(mode, monkeypatch)

    def take(count: int, skip: int = 0) -> sampling.Draw:
        return independent_tables(block_generator(5, *cell, 2), *cell, count, skip)

    whole = take(700)
    assert whole.tables.dtype == np.int64
    for count in (1, 2, 255, 256, 257, 600):
        assert np.array_equal(take(count).tables, whole.tables[:count])
    for skip, count in ((1, 1), (10, 300), (256, 256), (511, 189), (699, 1)):
        assert np.array_equal(take(count, skip).tables, whole.tables[skip : skip + count])
    cuts = [0, 1, 2, 130, 256, 512, 699, 700]
    assert np.concatenate([take(b - a, a).drawn for a, b in itertools.pairwise(cuts)]).tolist() == whole.drawn.tolist()


@pytest.mark.parametrize("cell", [(12, 3, 7), (500, 3, 1), (3, 500, 1)])
def test_tables_are_contiguous(cell: tuple[int, int, int]) -> None:
    """Kernels are compiled for C order; tables in another order would compile them again, inside the workers."""
    tables = independent_tables(block_generator(0, *cell, 0), *cell, 3).tables
    assert tables.flags.c_contiguous


def test_drawn_ends_with_the_last_accepted_table() -> None:
    cell = (3, 3, 1)
    candidates = block_generator(9, *cell, 0).integers(0, 2, (sampling.CHUNK_TABLES, 3, 3))
    places = [i for i, table in enumerate(candidates) if is_full(table)]
    for count in (1, 2, 10, len(places)):
        draw = independent_tables(block_generator(9, *cell, 0), *cell, count)
        assert np.array_equal(draw.tables, candidates[places[:count]])
        assert draw.drawn.sum() == places[count - 1] + 1


def test_the_block_generator_depends_on_every_argument() -> None:
    base = (2018, 12, 3, 7, 0)
    others = [tuple(v + (i == place) for i, v in enumerate(base)) for place in range(len(base))]
    others += [(2018, 3, 12, 7, 0), (2018, 12, 7, 3, 0), (2018, 12, 3, 0, 7), (0, 12, 3, 7, 2018), (0, *base[1:])]
    streams = {tuple(block_generator(*arguments).integers(0, 2**60, 4)) for arguments in (base, *others)}
    assert len(streams) == 1 + len(others)
    again = block_generator(*base).integers(0, 2**60, 4)
    assert tuple(again) in streams


def test_the_block_generator_is_the_documented_one() -> None:
    sequence = np.random.SeedSequence(0, spawn_key=(12, 3, 7, 4))
    expected = np.random.Generator(np.random.PCG64(sequence)).integers(0, 2**60, 8)
    assert np.array_equal(block_generator(0, 12, 3, 7, 4).integers(0, 2**60, 8), expected)


def test_seed_zero_is_a_seed_like_any_other() -> None:
    a, b, c = (independent_tables(block_generator(seed, 4, 3, 7, 0), 4, 3, 7, 20).tables for seed in (0, 0, 1))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)
