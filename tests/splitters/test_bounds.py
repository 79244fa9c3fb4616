"""The lower bounds: against the true optimum, by their definitions, and at the door."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import splitlab
from splitlab.bounds import (
    BOUNDS,
    Bound,
    chain_batch,
    chain_bound,
    class_bound,
    collapsed_bound,
    lower_bound,
    rows_bound,
)
from splitlab.impurity import NAMES, score, weighted_impurity
from splitlab.splitters import get, split_batch
from tests.helpers.tables import optimum, random_tables

KINDS = [pytest.param(kind, id=name) for kind, name in enumerate(NAMES)]
PUBLIC = {"rows_bound": rows_bound, "class_bound": class_bound, "collapsed_bound": collapsed_bound}
VALID = [(kind, name) for kind in (0, 1) for name in BOUNDS if BOUNDS[name].impurities is None or kind == 1]
Table = NDArray[np.int64]


def class_sets(k: int) -> list[list[int]]:
    return [list(c) for size in range(1, k) for c in combinations(range(k), size)]


def without(classes: list[int], k: int) -> list[int]:
    return [i for i in range(k) if i not in classes]


def two_classes(table: Table, a: list[int], b: list[int]) -> Table:
    """The classes of a as one, those of b as the other, rows of zeros dropped."""
    collapsed = np.stack([table[:, a].sum(axis=1), table[:, b].sum(axis=1)], axis=1)
    return collapsed[collapsed.any(axis=1)]


def optimum_or_whole(table: Table, kind: int) -> float:
    """The optimum; the impurity of the only row where there is one."""
    return optimum(table, kind) if len(table) > 1 else weighted_impurity(table[0], NAMES[kind])


def by_definition(name: str, table: Table, kind: int) -> float:
    k = table.shape[1]
    if name == "rows_bound":
        return sum(weighted_impurity(row, NAMES[kind]) for row in table)
    if name == "class_bound":
        return optimum(np.diag(table.sum(axis=0)), kind)
    if name == "collapsed_bound":
        return max(optimum(two_classes(table, d, without(d, k)), kind) for d in class_sets(k))
    return chain(table, list(range(k)), kind)


def chain(table: Table, classes: list[int], kind: int) -> float:
    if len(classes) == 1:
        return 0.0
    best = 0.0
    for d in class_sets(len(classes)):
        a, b = [classes[i] for i in d], [classes[i] for i in without(d, len(classes))]
        whole = optimum_or_whole(two_classes(table, a, b), kind)
        best = max(best, whole + chain(table, a, kind) + chain(table, b, kind))
    return best


@pytest.mark.parametrize(("kind", "name"), VALID)
@pytest.mark.parametrize("shape", [(2, 2), (3, 4), (5, 3), (8, 4), (9, 5), (12, 3)])
def test_no_bound_exceeds_the_optimum(shape: tuple[int, int], name: str, kind: int) -> None:
    for max_count in (1, 2, 7, 100, 10**6, 10**13):
        tables = random_tables(max_count % 17, *shape, max_count, 60)
        best = score(tables, split_batch(get("exhaustive"), tables, kind), kind)
        bounds = BOUNDS[name].batch(tables, kind)
        assert (bounds <= best + 1e-11 * tables.sum(axis=(1, 2))).all()
        assert (bounds >= 0).all()
        assert bounds.any() != (name == "class_bound" and shape[1] == 2)


@pytest.mark.parametrize(("kind", "name"), VALID)
@pytest.mark.parametrize("shape", [(2, 2), (4, 3), (6, 4)])
def test_bounds_are_what_their_definitions_say(shape: tuple[int, int], name: str, kind: int) -> None:
    for max_count in (1, 7, 10**9):
        tables = random_tables(3, *shape, max_count, 6)
        expected = [by_definition(name, table, kind) for table in tables]
        assert BOUNDS[name].batch(tables, kind) == pytest.approx(np.array(expected), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_two_classes_are_solved(kind: int) -> None:
    for table in random_tables(2, 7, 2, 9, 20):
        assert collapsed_bound(table, NAMES[kind]) == pytest.approx(optimum(table, kind), rel=1e-12)
    assert chain_bound([[3, 1], [2, 2], [0, 5]]) == pytest.approx(optimum(np.array([[3, 1], [2, 2], [0, 5]]), 1))


def test_the_chain_does_not_hold_for_gini() -> None:
    table = np.ones((2, 3), np.int64)
    assert chain_batch(table[None], 0)[0] == pytest.approx(14 / 3)
    assert optimum(table, 0) == pytest.approx(4)
    with pytest.raises(ValueError, match=r"impurity: chain_bound does not hold for 'gini', only for entropy"):
        chain_bound(table, "gini")


def test_the_chain_is_the_best_bound_for_entropy_and_close() -> None:
    tables = random_tables(1, 20, 4, 7, 20)
    best = score(tables, split_batch(get("hyperplanes"), tables, 1), 1)
    chains, collapsed = chain_batch(tables, 1), BOUNDS["collapsed_bound"].batch(tables, 1)
    assert (chains >= collapsed).all()
    assert (chains >= 0.9 * best).all()
    assert lower_bound(tables[0], "entropy") == Bound(pytest.approx(chains[0]), "chain_bound")


def test_lower_bound_is_the_largest_that_holds() -> None:
    for table in random_tables(8, 12, 4, 7, 5):
        for kind, impurity in enumerate(NAMES):
            found = lower_bound(table, impurity)
            valid = {name: float(BOUNDS[name].batch(table[None], kind)[0]) for k, name in VALID if k == kind}
            assert found == Bound(max(valid.values()), max(valid, key=lambda name: valid[name]))
            assert found.value <= splitlab.split(table, impurity, "exact").impurity * (1 + 1e-12)


def test_lower_bound_leaves_out_what_takes_too_long() -> None:
    table = random_tables(8, 30, 30, 7, 1)[0]
    assert lower_bound(table, "entropy", seconds=0.0) == Bound(rows_bound(table, "entropy"), "rows_bound")
    assert lower_bound(table, "entropy", seconds=0.01).name == "rows_bound"


@pytest.mark.parametrize("bound", [collapsed_bound, chain_bound, class_bound])
def test_hopeless_requests_are_refused_with_the_cost(bound: object) -> None:
    with pytest.raises(ValueError, match=r"_bound would take about .* for n = 40, k = 40"):
        bound(random_tables(8, 40, 40, 7, 1)[0], "entropy")  # type: ignore[operator]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_form_of_the_same_table(name: str) -> None:
    table = np.array([[3, 0, 1], [1, 2, 2], [0, 4, 1]])
    padded = np.zeros((5, 4), np.int64)
    padded[np.ix_([0, 2, 4], [0, 1, 3])] = table
    expected = PUBLIC[name](table, "entropy")
    for form in (table.tolist(), table.astype(float), table.astype(np.int32), pd.DataFrame(table), padded):
        assert PUBLIC[name](form, "entropy") == expected
    assert PUBLIC[name](7 * table, "entropy") == pytest.approx(7 * expected, rel=1e-12)


@pytest.mark.parametrize("bound", [*PUBLIC.values(), chain_bound, lower_bound])
def test_the_door(bound: object) -> None:
    for bad in ([[1, 2]], [[1, -2], [3, 4]], [[0, 0], [0, 0]]):
        with pytest.raises(ValueError, match="table: "):
            bound(bad, "entropy")  # type: ignore[operator]
    with pytest.raises(ValueError, match="impurity: 'giny' is not known"):
        bound([[1, 2], [3, 4]], "giny")  # type: ignore[operator]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("table", [[[3, 0], [4, 0]], [[1, 2], [0, 0]], [[5], [2]]])
def test_a_single_class_or_row(table: list[list[int]], kind: int) -> None:
    impurity = NAMES[kind]
    for name in PUBLIC:
        assert 0 <= PUBLIC[name](table, impurity) <= splitlab.split(table, impurity, "lca").impurity
    assert lower_bound(table, impurity).value == splitlab.split(table, impurity, "lca").impurity
