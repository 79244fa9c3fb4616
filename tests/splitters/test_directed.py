"""Splitters along one direction or a few: their definitions, the choice of the direction, and the user's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import splitlab
from splitlab.engine.blocks import Block
from splitlab.impurity import NAMES, score
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.random_tables.plan import splitter_seconds
from splitlab.splitters import get, reference, split_batch
from splitlab.splitters.kernels.directed import along_direction, balanced, scheduled_sets
from splitlab.splitters.kernels.subset_sums import balanced_sets, by_halves, by_sums
from splitlab.splitters.reference.directions import balanced_set, scheduled_set
from splitlab.study import kind_of, load_experiment
from splitlab.text import ConfigError
from tests.helpers.command import refused
from tests.helpers.command import splitlab as command
from tests.helpers.tables import optimum, random_tables

KINDS = [pytest.param(kind, id=name) for kind, name in enumerate(NAMES)]
SHAPES = [(2, 2, 7), (5, 3, 1), (12, 3, 2), (9, 4, 1), (12, 5, 7), (7, 6, 3), (25, 3, 15), (6, 12, 2), (8, 3, 10**8)]


def same(mask: np.ndarray, expected: list[bool]) -> bool:
    return mask.tolist() == expected


def values(name: str, tables: np.ndarray, kind: int) -> np.ndarray:
    return score(tables, split_batch(get(name), tables, kind), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_kernels_equal_the_definitions(shape: tuple[int, int, int], kind: int) -> None:
    tables = random_tables(21, *shape, count=12)
    for splitter in ("ova", "balanced", "list_scheduling"):
        for table, mask in zip(tables, split_batch(get(splitter), tables, kind), strict=True):
            rows = table.tolist()
            assert same(mask, reference.SPLITTERS[splitter](rows, NAMES[kind])), (splitter, rows)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 11, 12])
@pytest.mark.parametrize("most", [1, 2, 30, 10**13])
def test_the_balanced_set_is_the_first_of_the_best_by_either_route(k: int, most: int) -> None:
    rng = np.random.default_rng(k)
    for _ in range(8):
        totals = rng.integers(1, most + 1, k)
        best = balanced_set(totals.tolist())
        expected = [i in best for i in range(k)]
        routes = [by_halves] if most > 30 else [by_halves, by_sums]
        for route in routes:
            members = np.empty(k, np.bool_)
            route(totals, int(totals.sum()) // 2, members)
            assert members.tolist() == expected, totals


def test_ties_of_the_balanced_set_worked_by_hand() -> None:
    for totals, members in (
        ([2, 2], [0]),
        ([5, 1, 2, 2], [0]),  # 5 and 1 + 2 + 2
        ([4, 3, 3, 1, 1], [0, 3, 4]),  # 6 of 12: {0,3,4} before {1,2}
        ([1, 6, 1, 1], [0, 2, 3]),  # {1} is the heavier side
        ([3, 1, 1, 8, 2], [0, 1, 2, 4]),
    ):
        table = np.array([[totals, totals]])
        assert np.flatnonzero(balanced_sets(table)[0]).tolist() == members, totals


@pytest.mark.parametrize("k", [20, 30])
def test_many_classes_and_huge_totals_have_the_set_of_the_small_table(k: int) -> None:
    tables = random_tables(k, 4, k, 9, 3)
    factor = 10**15 // int(tables.sum(axis=(1, 2)).max())
    small, large = balanced_sets(tables), balanced_sets(tables * factor)  # by sums, and by halves
    assert small.tolist() == large.tolist()
    loads = (tables.sum(axis=1) * small).sum(axis=1)
    assert (loads == tables.sum(axis=(1, 2)) // 2).all()  # so many classes can be halved


def test_sixty_classes_are_served_while_the_counts_are_small() -> None:
    table = random_tables(3, 3, 60, 9, 1)
    chosen = balanced_sets(table)[0]
    assert (table[0].sum(axis=0) * chosen).sum() == table.sum() // 2
    with pytest.raises(ValueError, match=r"'balanced' does not serve k = 60 .*choose 'list_scheduling'"):
        balanced(table * 10**11, 0, np.zeros((1, 3), np.bool_))


@pytest.mark.parametrize("kind", ["splits", "timing"])
@pytest.mark.parametrize("name", ["balanced", "balanced+hd"])
def test_large_counts_of_many_classes_are_refused_before_anything_is_computed(kind: str, name: str) -> None:
    grid = [{"n": 9, "k": 45, "max_count": 10**6, "runs": 2}]
    config = {"name": "t", "kind": kind, "impurities": "gini", "splitters": ["lca", name], "grid": grid}
    engines = {"engines": ["compiled"], "baseline": "lca"} if kind == "timing" else {}
    with pytest.raises(ValueError, match=r"does not serve tables with n = 9, k = 45: with up to 405,000,000 examples"):
        splitlab.run({**config, **engines})
    with pytest.raises(ValueError, match=r"'balanced' does not serve tables with n = 2, k = 45"):
        splitlab.split(np.full((2, 45), 10**8) + np.eye(2, 45, dtype=int), splitter="balanced")


def test_large_counts_are_reckoned_with() -> None:
    """Else a block, which takes minutes then, would be one item of work."""
    small, large = (Cell(20, 40, max_count) for max_count in (7, 10**6))
    assert splitter_seconds(large, "balanced") > 100 * splitter_seconds(small, "balanced")
    grid = [{"n": large.n, "k": large.k, "max_count": large.max_count, "runs": 1000}]
    kind = kind_of(load_experiment({"name": "t", "impurities": "gini", "splitters": "balanced", "grid": grid}))
    assert len(kind.tasks(Block(large, 0, 1000), (("gini", "balanced"),))) > 100
    assert splitter_seconds(large, "lca") == splitter_seconds(small, "lca")


@pytest.mark.parametrize(
    ("totals", "members"),
    [
        ([1, 5, 3, 3], [0, 1]),  # 5 a, 3 b, 3 b, 1 a: equal numbers, and class 0 is in a
        ([5, 5, 4, 1], [0, 3]),  # 5 a, 5 b, 4 b, 1 a
        ([9, 2, 2, 2], [0]),
        ([2, 2, 9, 2], [2]),
        ([4, 4], [0]),
        ([1, 2], [0]),
    ],
)
def test_list_scheduling_worked_by_hand(totals: list[int], members: list[int]) -> None:
    chosen = np.flatnonzero(scheduled_sets(np.array([[totals, totals]]))[0]).tolist()
    assert chosen == sorted(members) == sorted(scheduled_set(totals))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(6, 2, 9), (6, 3, 7), (7, 4, 3), (5, 5, 2), (8, 3, 1)])
def test_guarantees(shape: tuple[int, int, int], kind: int) -> None:
    tables = random_tables(5, *shape, count=150)
    best = np.array([optimum(table, kind) for table in tables])
    found = {name: values(name, tables, kind) for name in ("hcc", "lca", "ova", "balanced", "list_scheduling")}
    slack = 1e-9 * tables.sum(axis=(1, 2))
    assert (found["hcc"] <= found["ova"] + slack).all()
    assert (found["ova"] <= found["lca"] + slack).all()
    if kind == 1:
        assert (found["balanced"] <= 2 * best + slack).all()
    if shape[1] == 2:
        for name in ("ova", "balanced", "list_scheduling"):
            assert found[name] == pytest.approx(best, abs=slack.max()), name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [4, 12, 50])
def test_ova_is_hcc_for_three_classes(n: int, kind: int) -> None:
    tables = random_tables(6, n, 3, 10**6, 100)  # without ties
    assert values("ova", tables, kind) == pytest.approx(values("hcc", tables, kind), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_counts_up_to_the_limit_give_the_split_of_the_small_table(kind: int) -> None:
    tables = random_tables(4, 10, 4, 50, 60)
    factor = 10**15 // int(tables.sum(axis=(1, 2)).max())
    for name in ("ova", "balanced", "list_scheduling"):
        small, large = (split_batch(get(name), some, kind) for some in (tables, tables * factor))
        assert (small == large).all(), name


DIRECTIONS = [[1.0, 0.0, 0.0, 1.0], [0.5, 0.0, 1.0, 0.25], [0.1, 0.7, -0.3, 2.9], [-3.0, 1e-9, 7.0, 1e6]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", DIRECTIONS, ids=str)
@pytest.mark.parametrize("most", [2, 7, 10**8])
def test_a_direction_of_ones_own_is_algorithm_1(direction: list[float], most: int, kind: int) -> None:
    tables = random_tables(22, 9, 4, most, 15)
    masks = np.zeros(tables.shape[:2], np.bool_)
    along_direction(tables, kind, masks, np.array(direction))
    for table, mask in zip(tables, masks, strict=True):
        expected = reference.along_direction(table.tolist(), NAMES[kind], direction)
        assert same(mask, expected), table.tolist()


@pytest.mark.parametrize("direction", [*DIRECTIONS, [0.1, 0.1, 0.1, 0.1], [0.0, 0.0, 0.0, 0.0]], ids=str)
def test_proportional_rows_tie_exactly(direction: list[float]) -> None:
    row = np.array([3, 1, 7, 5])
    tables = np.stack([np.outer(factors, row) for factors in ([7, 3, 11, 1], [1, 3, 10**13, 49])])
    masks = np.zeros((2, 4), np.bool_)
    along_direction(tables, 1, masks, np.array(direction))
    assert masks.tolist() == [[True, False, False, False]] * 2


TABLE = [[4, 0, 1], [0, 3, 2], [1, 4, 4], [2, 1, 0]]


@pytest.mark.parametrize("form", [list, tuple, np.array, pd.Series], ids=lambda form: form.__name__)
def test_split_takes_directions_of_many_forms(form: type) -> None:
    found = splitlab.split(TABLE, "entropy", "direction", direction=form([1, 0, 0.5]))
    mask = reference.along_direction(TABLE, "entropy", [1, 0, 0.5])
    assert found.left.tolist() == mask
    assert found.impurity == pytest.approx(reference.split_impurity(TABLE, mask, "entropy"), rel=1e-12)


def test_entries_of_zero_columns_go_with_them() -> None:
    wide = [[row[0], 0, *row[1:]] for row in TABLE]
    for collapsed in (False, True):
        found = splitlab.split(wide, splitter="direction", direction=[1, 0.3, 0, 0.5], collapsed=collapsed)
        narrow = splitlab.split(TABLE, splitter="direction", direction=[1, 0, 0.5], collapsed=collapsed)
        assert found.left.tolist() == narrow.left.tolist()
        assert found.impurity == narrow.impurity


WRONG = [
    (None, False, ValueError, "needs a direction"),
    ([1, 0], False, ValueError, "has 2 entries, and the table has 3 columns"),
    ([], False, ValueError, "has 0 entries"),
    ([1, float("nan"), 0], False, ValueError, "entry 1 is nan"),
    ([1, 0, float("inf")], False, ValueError, "entry 2 is inf"),
    ([10**400, 0, 1], False, ValueError, "entry 0 is an integer of"),
    ([1, "0", 0], False, TypeError, "entry 1 is '0'"),
    ([1, True, 0], False, TypeError, "entry 1 is True"),
    ([[1, 0, 0]], False, TypeError, "entry 0 is a list"),
    ("1,0,0", False, TypeError, "got '1,0,0'"),
    (0.5, False, TypeError, "got 0.5"),
    ({0: 1, 1: 0, 2: 0}, False, TypeError, "got a dict"),
    ([1, 0, 1.5], True, ValueError, "entry 2 is 1.5; for a collapsed table it must be from 0 to 1"),
    ([1, -0.1, 0], True, ValueError, "entry 1 is -0.1"),
]


@pytest.mark.parametrize(("direction", "collapsed", "error", "message"), WRONG)
def test_wrong_directions(direction: object, collapsed: bool, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        splitlab.split(TABLE, splitter="direction", direction=direction, collapsed=collapsed)  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_direction_goes_with_its_splitter_only() -> None:
    with pytest.raises(ValueError, match="direction: goes with splitter 'direction' only; the splitter is 'lca'"):
        splitlab.split(TABLE, splitter="lca", direction=[1, 0, 0])
    with pytest.raises(ValueError, match="collapsed: goes with splitter 'direction' only"):
        splitlab.split(TABLE, collapsed=True)


@pytest.mark.parametrize("name", ["direction", "two_class"])
def test_an_experiment_refuses_what_does_not_serve_its_tables(name: str) -> None:
    grid = [{"n": 12, "k": 3, "max_count": 7, "runs": 10}]
    config = {"name": "x", "impurities": ["gini"], "splitters": ["lca", name], "grid": grid}
    for more in ({}, {"kind": "timing"}):
        with pytest.raises(ConfigError, match=f"'{name}' does not serve tables with n = 12, k = 3: it ") as caught:
            splitlab.run({**config, **more})
        assert "\n" not in str(caught.value)


def test_the_command_line_takes_a_direction(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in TABLE))
    done = command("split", path, "--splitter", "direction", "--direction", "1,0,0.5", "--collapsed")
    left = splitlab.split(TABLE, splitter="direction", direction=[1, 0, 0.5], collapsed=True).left
    assert done.returncode == 0, done.stderr
    assert f"left: {', '.join(f'row {v + 1}' for v in np.flatnonzero(left))}\n" in done.stdout
    refused(command("split", path, "--splitter", "direction"), "needs a direction", "--direction")
    refused(command("split", path, "--splitter", "direction", "--direction", "1,0"), "2 entries")
    refused(command("split", path, "--splitter", "direction", "--direction", "1,nan,0"), "'nan' is not a number")
