"""Tables for tests: many kinds of random ones, and what is known of some."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from splitlab.impurity import score
from splitlab.splitters import get

AUTHORS: list[dict[str, Any]] = json.loads(files("splitlab.published").joinpath("authors_impurities.json").read_text())

SHAPES = [
    # n, k, max_count
    (2, 2, 7), (3, 2, 1), (6, 3, 7), (12, 3, 1), (12, 3, 2), (12, 5, 7), (9, 4, 1), (7, 6, 3),
    (12, 9, 7), (25, 3, 15), (25, 4, 100), (50, 3, 2), (20, 5, 10**6), (8, 3, 3 * 10**8), (64, 3, 7), (65, 2, 1),
]  # fmt: skip

# Tables on which a splitter, for an impurity by number, is so many times worse than the optimum.
WORST = [
    ("lca", 0, 1.4153, [[39, 6, 0], [0, 13, 40], [0, 58, 76], [34, 27, 0], [59, 32, 0], [0, 0, 19]]),
    ("lca", 1, 1.609, [[39, 6, 0], [0, 13, 40], [0, 58, 76], [34, 27, 0], [59, 32, 0], [0, 0, 19]]),
    (
        "hcc",
        0,
        1.0604,
        [[0, 0, 43], [2, 0, 4], [0, 542, 0], [5, 0, 0], [0, 5, 6], [4, 3, 0], [3, 0, 16], [0, 17, 0]],
    ),
    ("hcc", 1, 1.0289, [[18, 6, 30], [15, 0, 0], [9, 9, 0], [1, 34, 0], [0, 2, 2]]),
    (
        "pc_ext",
        1,
        1.1598,
        [[4, 19, 0, 0], [24, 0, 2, 0], [7, 4, 0, 0], [0, 0, 10, 1], [0, 0, 5, 0], [8, 6, 0, 0], [28, 0, 8, 1]],
    ),
    (
        "sliq_ext",
        1,
        1.2111,
        [[0, 2, 9, 27], [0, 4, 4, 18], [24, 0, 0, 4], [0, 58, 3, 0], [65, 0, 0, 0], [3, 2, 0, 0], [12, 4, 0, 0]],
    ),
    ("sliq", 0, 1.7226, [[0, 0, 1, 24], [0, 15, 0, 0], [3, 1, 0, 26], [0, 40, 0, 1], [0, 13, 0, 0], [21, 0, 0, 0]]),
]


def random_tables(seed: int, n: int, k: int, max_count: int, count: int) -> NDArray[np.int64]:
    """``count`` tables (count, n, k) without zero rows or columns."""
    rng = np.random.default_rng(seed)
    tables = rng.integers(0, max_count + 1, (count, n, k))
    tables[:, np.arange(n), np.arange(n) % k] += tables.sum(axis=2) == 0
    tables[:, np.arange(k) % n, np.arange(k)] += tables.sum(axis=1) == 0
    return tables


def optimum(table: NDArray[np.int64], kind: int) -> float:
    """The least I(u_L) + I(u_R), by trying every split."""
    n = len(table)
    masks = np.array([(False, *bits) for bits in itertools.product((False, True), repeat=n - 1)][1:])
    return float(score(np.broadcast_to(table, (len(masks), *table.shape)).copy(), masks, kind).min())


def affordable(name: str, n: int, k: int, count: int = 1) -> bool:
    """Whether the splitter of that name takes less than about half a second for so many tables."""
    return get(name).nanoseconds(n, k) * count < 5e8


def differ_by_constant(table: NDArray[np.int64]) -> bool:
    """Whether two merged rows differ by a constant vector: their count scores tie exactly."""
    from splitlab.tables.contingency import merge_proportional

    away = [tuple(row - row.min()) for row in merge_proportional(table)]
    return len(set(away)) < len(away)


def batches(count: int) -> Iterator[NDArray[np.int64]]:
    """Random tables of every shape."""
    for seed, (n, k, max_count) in enumerate(SHAPES):
        yield random_tables(seed, n, k, max_count, count)


def table_strategy(max_count: int = 5, max_rows: int = 8) -> st.SearchStrategy[np.ndarray]:
    shapes = st.tuples(st.integers(2, max_rows), st.integers(1, 4))
    return hnp.arrays(np.int64, shapes, elements=st.integers(0, max_count)).filter(lambda a: a.any())


def check_counts(counts: np.ndarray, expected: object) -> None:
    assert type(counts) is np.ndarray
    assert counts.dtype == np.int64
    assert counts.dtype.isnative
    assert counts.flags.c_contiguous
    assert counts.flags.owndata
    assert counts.flags.writeable
    np.testing.assert_array_equal(counts, np.array(expected, dtype=np.int64), strict=True)
