"""The greedy descent over the purest rows, against its definition and against SLIQext."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from splitlab.impurity import NAMES, STRICTLY, score
from splitlab.splitters import get, reference, split_batch
from tests.helpers.tables import SHAPES, random_tables

KINDS = [pytest.param(kind, id=name) for kind, name in enumerate(NAMES)]


def by_definition(table: list[list[int]], name: str) -> list[bool]:
    """Which rows stay on the left, from exact shares."""
    n, k, margin = len(table), len(table[0]), STRICTLY * sum(map(sum, table))
    shares = [[Fraction(c, sum(row)) for c in row] for row in table]
    staying, best, least = list(range(n)), [False] * n, float("inf")
    while len(staying) > 1:
        step, moved = float("inf"), -1
        for v in sorted({max(staying, key=lambda v, i=i: shares[v][i]) for i in range(k)}):
            value = reference.split_impurity(table, [w in staying and w != v for w in range(n)], name)
            if value < step - margin:
                step, moved = value, v
        staying.remove(moved)
        if step < least - margin:
            least, best = step, [w in staying for w in range(n)]
    return best


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[0] <= 25], ids=lambda s: "n{}_k{}_m{}".format(*s))
def test_the_split_is_that_of_the_definition(shape: tuple[int, int, int], kind: int) -> None:
    tables = random_tables(21, *shape, count=10)
    for table, mask in zip(tables, split_batch(get("pull_left"), tables, kind), strict=True):
        assert mask.tolist() == by_definition(table.tolist(), NAMES[kind]), table.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_with_one_row_per_class_it_is_sliq_ext(kind: int) -> None:
    """Each row is the purest in a class of its own, so that all are candidates at every step."""
    tables = random_tables(22, 7, 7, 5, 100)
    tables[:, np.arange(7), np.arange(7)] += 10 * tables.sum(axis=(1, 2))[:, None]
    masks = split_batch(get("pull_left"), tables, kind)
    assert (masks == split_batch(get("sliq_ext"), tables, kind)).all()
    assert len(np.unique(masks, axis=0)) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_large_counts_and_many_rows(kind: int) -> None:
    tables = random_tables(23, 80, 3, 10**12, 50)
    masks = split_batch(get("pull_left"), tables, kind)
    first = np.zeros_like(masks)
    first[:, 0] = True
    assert (score(tables, masks, kind) < score(tables, first, kind)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_equal_shares_go_by_row_index(kind: int) -> None:
    """Rows 0 and 2 are proportional and the purest in class 0: only row 0 is a candidate."""
    table = np.array([[[1, 1], [1, 3], [3, 3]]])
    mask = split_batch(get("pull_left"), table, kind)[0].tolist()
    assert mask == by_definition(table[0].tolist(), NAMES[kind]) == [True, False, True]
