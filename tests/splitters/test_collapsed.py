"""Splitters that choose by two columns: their definitions, the theory, and what a rare class does to one of them."""

from __future__ import annotations

import numpy as np
import pytest

from splitlab.impurity import NAMES, score
from splitlab.splitters import get, reference, serving, split_batch
from splitlab.splitters.kernels.collapsed import collapsed_along, same_division
from splitlab.splitters.kernels.directed import along_direction
from tests.helpers.tables import optimum, random_tables

KINDS = [pytest.param(kind, id=name) for kind, name in enumerate(NAMES)]
SHAPES = [(2, 2, 7), (3, 2, 1), (5, 3, 1), (12, 3, 2), (9, 4, 1), (12, 5, 7), (7, 6, 3), (25, 3, 15), (8, 3, 10**8)]
COLLAPSING = ("twoing", "twoing_min", "flip_flop", "two_class")


def values(name: str, tables: np.ndarray, kind: int) -> np.ndarray:
    return score(tables, split_batch(get(name), tables, kind), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_kernels_equal_the_definitions(shape: tuple[int, int, int], kind: int) -> None:
    tables = random_tables(31, *shape, count=10)
    for splitter in set(COLLAPSING) & set(serving(*shape[:2])):
        for table, mask in zip(tables, split_batch(get(splitter), tables, kind), strict=True):
            assert mask.tolist() == reference.SPLITTERS[splitter](table.tolist(), NAMES[kind]), (
                splitter,
                table.tolist(),
            )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [6, 9, 12])
def test_flip_flop_with_many_classes(k: int, kind: int) -> None:
    for most in (1, 7, 10**6):
        tables = random_tables(k, 12, k, most, 15)
        for table, mask in zip(tables, split_batch(get("flip_flop"), tables, kind), strict=True):
            assert mask.tolist() == reference.SPLITTERS["flip_flop"](table.tolist(), NAMES[kind]), table.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(2, 2, 7), (6, 2, 9), (9, 2, 1), (8, 2, 10**6)], ids=str)
def test_two_classes_are_split_optimally(shape: tuple[int, int, int], kind: int) -> None:
    tables = random_tables(5, *shape, count=100)
    best = [optimum(table, kind) for table in tables]
    for name in COLLAPSING:
        assert values(name, tables, kind) == pytest.approx(best, rel=1e-9, abs=1e-9), name


RARE = [[0, 0, 34], [0, 0, 1050], [1, 17, 0], [0, 1272, 1]]


@pytest.mark.parametrize(("kind", "ratio"), [(0, 293.6), (1, 99.9)])
def test_a_rare_class_ruins_twoing_by_impurity_but_not_by_gain(kind: int, ratio: float) -> None:
    table = np.array(RARE)
    best = optimum(table, kind)
    assert values("twoing_min", table[None], kind)[0] / best == pytest.approx(ratio, abs=0.05)
    assert values("twoing", table[None], kind)[0] == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_flip_flop_is_never_worse_than_lca_and_often_better(kind: int) -> None:
    tables = random_tables(8, 12, 5, 7, 300)
    flipped, alone = values("flip_flop", tables, kind), values("lca", tables, kind)
    assert (flipped <= alone + 1e-9 * tables.sum(axis=(1, 2))).all()
    assert (flipped < alone - 1e-3).mean() > 0.3


def test_a_division_is_the_same_from_either_side() -> None:
    a = np.array([True, False, True])
    assert same_division(a, a)
    assert same_division(a, ~a)
    assert not same_division(a, np.array([False, False, True]))
    assert not same_division(a, np.zeros(3, np.bool_))


@pytest.mark.parametrize("kind", KINDS)
def test_counts_up_to_the_limit_give_the_split_of_the_small_table(kind: int) -> None:
    tables = random_tables(4, 10, 4, 50, 60)
    factor = 10**15 // int(tables.sum(axis=(1, 2)).max())
    for name in ("twoing", "twoing_min", "flip_flop"):
        small, large = (split_batch(get(name), some, kind) for some in (tables, tables * factor))
        assert (small == large).all(), name


DIRECTIONS = [[1.0, 0.0, 0.0, 1.0], [0.5, 0.0, 1.0, 0.25], [0.1, 0.7, 0.3, 1.0], [1e-12, 0.9, 1.0, 1 / 3]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", DIRECTIONS, ids=str)
@pytest.mark.parametrize("most", [2, 7, 10**13])
def test_a_direction_of_ones_own_is_chosen_along_by_the_collapsed_table(
    direction: list[float], most: int, kind: int
) -> None:
    tables = random_tables(22, 9, 4, most, 15)
    masks = np.zeros(tables.shape[:2], np.bool_)
    collapsed_along(tables, kind, masks, np.array(direction))
    for table, mask in zip(tables, masks, strict=True):
        expected = reference.collapsed_along(table.tolist(), NAMES[kind], direction)
        assert mask.tolist() == expected, table.tolist()


@pytest.mark.parametrize("direction", [[0.0] * 4, [1.0] * 4, [0.25] * 4], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_direction_without_preference_gives_the_first_prefix(direction: list[float], kind: int) -> None:
    tables = random_tables(3, 5, 4, 7, 5)
    masks = np.zeros(tables.shape[:2], np.bool_)
    collapsed_along(tables, kind, masks, np.array(direction))
    assert masks.tolist() == [[True] + [False] * 4] * 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", DIRECTIONS, ids=str)
def test_the_k_class_impurity_chooses_at_least_as_well(direction: list[float], kind: int) -> None:
    tables = random_tables(9, 12, 4, 7, 200)
    masks = np.zeros((2, *tables.shape[:2]), np.bool_)
    along_direction(tables, kind, masks[0], np.array(direction))
    collapsed_along(tables, kind, masks[1], np.array(direction))
    whole, collapsed = (score(tables, m, kind) for m in masks)
    assert (whole <= collapsed + 1e-9 * tables.sum(axis=(1, 2))).all()
    assert (whole < collapsed - 1e-3).any()
