"""The fast path of HcC against its plain loop: the same masks, at the edges of everything it packs, and beyond."""

from __future__ import annotations

import numpy as np
import pytest

from splitlab.impurity import ENTROPY, GINI, lookup_table
from splitlab.splitters.kernels.hypercube import hcc_scalar
from splitlab.splitters.kernels.simd import hcc_simd
from splitlab.splitters.kernels.simd_format import LANES, LARGEST_TOTAL, share_bits, suits
from splitlab.splitters.kernels.simd_keys import sort_lanes
from tests.helpers.tables import random_tables


def largest_size(n: int) -> int:
    """The most examples that a row may hold on the fast path."""
    return int((1 << share_bits(n)) ** 0.5)


def both(tables: np.ndarray, kind: int) -> tuple[np.ndarray, np.ndarray]:
    lookup = lookup_table(tables, kind)
    fast, plain = np.zeros(tables.shape[:2], bool), np.zeros(tables.shape[:2], bool)
    hcc_simd(tables, kind, fast, lookup)
    hcc_scalar(tables, kind, plain, lookup)
    return fast, plain


# n, k, max_count, tables: many ties, few and many classes (directions in chunks), few and many rows, large counts.
SHAPES = [
    (12, 3, 1, 8000), (12, 3, 2, 8000), (12, 4, 1, 3000), (12, 5, 2, 3000), (25, 3, 2, 3000), (8, 3, 50, 3000),
    (12, 3, 7, 5000), (25, 4, 7, 2000), (50, 5, 7, 500), (12, 9, 7, 150), (12, 10, 2, 60), (5, 12, 3, 20),
    (12, 6, 1, 1500), (20, 7, 7, 500), (10, 8, 15, 300),
    (2, 3, 7, 2000), (3, 3, 1, 2000), (63, 3, 3, 300), (64, 3, 3, 300), (65, 3, 3, 300), (128, 3, 2, 100),
    (129, 3, 2, 100), (20, 3, 700, 300), (4, 3, 3800, 500),
]  # fmt: skip


@pytest.mark.parametrize("kind", [GINI, ENTROPY])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "n{}_k{}_m{}".format(*s))
def test_the_masks_are_those_of_the_plain_loop(shape: tuple[int, int, int, int], kind: int) -> None:
    n, k, max_count, count = shape
    tables = random_tables(17, n, k, max_count, count)
    fast, plain = both(tables, kind)
    assert (fast == plain).all(), tables[(fast != plain).any(axis=1)][0].tolist()


@pytest.mark.parametrize("count", [1, 2, LANES // 3 - 1, LANES // 3, LANES // 3 + 1])
def test_any_number_of_tables_fills_the_lanes(count: int) -> None:
    tables = random_tables(3, 9, 3, 7, count)
    for kind in (GINI, ENTROPY):
        fast, plain = both(tables, kind)
        assert (fast == plain).all()


def test_where_the_fast_path_ends() -> None:
    def table(n: int, first: int) -> np.ndarray:
        array = np.ones((1, n, 3), np.int64)
        array[0, 0, 0] = first
        return array

    # Row sizes: S^2 must fit into the key's share bits.
    n = 50
    largest = largest_size(n)
    assert suits(table(n, largest - 2), GINI)
    assert not suits(table(n, largest - 1), GINI)
    # Totals: 2 N^2 must fit into an int32.
    assert not suits(np.full((1, 100, 3), LARGEST_TOTAL // 300 + 1), GINI)
    assert suits(np.full((1, 100, 3), LARGEST_TOTAL // 300), GINI)
    # Two classes have one direction; large totals make the tables of terms dearer than the work.
    assert not suits(np.ones((1, 12, 2), np.int64), GINI)
    assert not suits(table(3, 4000), ENTROPY)
    assert not suits(np.full((1, 4, 3), 10**14), GINI)


@pytest.mark.parametrize("kind", [GINI, ENTROPY])
def test_at_the_edge_of_row_sizes_and_totals(kind: int) -> None:
    rng = np.random.default_rng(8)
    for n in (2, 3, 15, 16, 50, 300):
        top = min(largest_size(n), LARGEST_TOTAL // n)
        tables = rng.multinomial(top, [0.5, 0.3, 0.2], (200, n))
        assert suits(tables, GINI)
        fast, plain = both(tables, kind)
        assert (fast == plain).all()


def test_shares_that_nearly_tie_are_told_apart() -> None:
    """Rows of sizes around the largest allowed, with neighbouring fractions: p/q and the closest (p')/(q')."""
    top = largest_size(12)
    rows = [[a, top - 1 - i - a, 1] for i in range(6) for a in (top // 2 - i, top // 2 - i + 1)]
    rng = np.random.default_rng(1)
    tables = np.array([rng.permutation(rows) for _ in range(200)])
    for kind in (GINI, ENTROPY):
        assert suits(tables, GINI)
        fast, plain = both(tables, kind)
        assert (fast == plain).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 12, 25, 31, 32, 33, 50, 100])
def test_the_network_sorts(n: int) -> None:
    keys = np.random.default_rng(n).permuted(np.tile(np.arange(n, dtype=np.int32), (9, 1)), axis=1).T.copy()
    sort_lanes(keys, 9)
    assert (keys == np.arange(n)[:, None]).all()


def test_the_network_sorts_all_zeros_and_ones() -> None:
    """A network that sorts every sequence of zeros and ones sorts everything (the 0-1 principle)."""
    for n in range(2, 13):
        keys = (np.arange(2**n)[None, :] >> np.arange(n)[:, None] & 1).astype(np.int32)
        sort_lanes(keys, 2**n)
        assert (np.diff(keys, axis=0) >= 0).all(), n
