"""The fast searches of the published tree program against its scalar loops: the same splits, to the last tie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from splitlab.published.program import arithmetic, hcc_simd
from splitlab.published.program.splitters import along_classes
from splitlab.splitters.kernels.simd_format import LARGEST_TOTAL, bit_length
from splitlab.trees.proposals import Values, numeric


def some(rng: np.random.Generator, n: int, k: int, scale: int) -> np.ndarray:
    """A table with many zeros and equal shares; a few rows are ``scale`` times as large."""
    table = rng.integers(0, 4, (n, k)) * (rng.random((n, k)) < 0.4)
    table[rng.random(n) < 0.2] *= scale
    table[np.arange(n), rng.integers(0, k, n)] += 1
    table[rng.integers(0, n, k), np.arange(k)] += 1
    return table


def both(table: np.ndarray, kind: int, largest: int = 400) -> tuple[list[bool], list[bool]]:
    n = len(table)
    values = np.sort(np.random.default_rng(n).choice(largest, n, replace=False))[None]
    masks = np.zeros((2, 1, n), np.bool_)
    hcc_simd.hcc_simd(table[None], values, kind, masks[0])
    along_classes(table[None], values, kind, masks[1], True)
    return masks[0, 0].tolist(), masks[1, 0].tolist()


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize(
    ("n", "k", "scale"), [(2, 9, 1), (2, 12, 9), (12, 9, 1), (20, 10, 50), (70, 10, 30), (300, 11, 5)]
)
def test_simd_finds_the_splits_of_the_scalar_loop(n: int, k: int, scale: int, kind: int) -> None:
    rng = np.random.default_rng(n + k)
    for _ in range(6):
        table = some(rng, n, k, scale)
        fast, scalar = both(table, kind)
        assert fast == scalar, table.tolist()


# The first two rows have shares outside class 0, 16000/16001 and 15999/16000, that are the same float32.
CLOSE = np.array([[1, 0, 16000, *[0] * 6], [1, 15999, 0, *[0] * 6], [3, 0, 5, *[1] * 6]])


def test_rows_too_close_for_the_keys_are_in_doubt() -> None:
    sizes = CLOSE.sum(1)
    pairs = hcc_simd.close_pairs(sizes)
    assert pairs.tolist() == [[1, 0]]
    columns, narrow = np.ascontiguousarray(CLOSE.T).astype(np.int32), sizes.astype(np.int32)
    rest, keys = np.empty(3, np.int32), np.empty(3, np.int32)
    doubts = [
        hcc_simd.write_keys(columns, narrow, np.array([i]), 1, bit_length(2), pairs, rest, keys) for i in range(4)
    ]
    assert doubts == [True, False, False, False]


@pytest.mark.parametrize("kind", [0, 1])
def test_sets_in_doubt_are_left_to_the_scalar_loop(kind: int) -> None:
    fast, scalar = both(CLOSE, kind)
    assert fast == scalar == [False, True, False]  # in the wrong order class 0 would find the other side first


def test_tables_too_large_for_simd_take_the_scalar_loop() -> None:
    table = some(np.random.default_rng(2), 5, 9, 1) * LARGEST_TOTAL
    mask, scalar, values = np.zeros((1, 5), np.bool_), np.zeros((1, 5), np.bool_), np.arange(5)[None]
    hcc_simd.hcc(table[None], values, 0, mask)
    along_classes(table[None], values, 0, scalar, True)
    assert mask.tolist() == scalar.tolist()
    assert mask.any()


@pytest.mark.parametrize("impurity", ["gini", "entropy"])
@pytest.mark.parametrize("name", ["lca", "pc_ext_counts"])
def test_thresholds_are_those_of_the_formula(name: str, impurity: str) -> None:
    rng, m = np.random.default_rng(3), 40
    lengths = rng.integers(1, 30, m)
    counts = rng.integers(0, 3, (lengths.sum(), 3))
    counts[np.arange(len(counts)), rng.integers(0, 3, len(counts))] += 1
    node = np.repeat(np.arange(m), lengths)
    values = Values(node, np.arange(len(node), dtype=np.float64), counts)
    totals = np.add.reduceat(counts, np.flatnonzero(np.diff(node, prepend=-1)))
    criterion = arithmetic.criterion(impurity, name)
    assert criterion.cuts is not None
    fast, scalar = (numeric(values, totals, c, 1) for c in (criterion, replace(criterion, cuts=None)))
    assert np.isfinite(fast.threshold).sum() == (lengths > 1).sum()
    np.testing.assert_array_equal(fast.threshold, scalar.threshold)
    np.testing.assert_array_equal(fast.keys, scalar.keys)
