"""The splitters of the published tree program against reference implementations, and the order of Python sets."""

from __future__ import annotations

import random

import numpy as np
import pytest

from splitlab.impurity import code
from splitlab.published.program import arithmetic, python_sets
from splitlab.splitters import get, split_batch
from splitlab.trees.growing import Examples, Growth, grow
from tests.helpers.published_program import REFERENCE, value

# Later Pythons make larger tables at 5 integers already: up to 4 they agree, and while integers are below 32.
SIZES = ((1, 2000), (2, 2000), (3, 60), (3, 2000), (4, 60), (4, 2000), (6, 31), (9, 31), (18, 31))


def tables(seed: int, count: int) -> list[np.ndarray]:
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        table = rng.integers(0, 5, (rng.integers(2, 8), rng.integers(2, 7)))
        if table.any(0).all() and table.any(1).all():
            found.append(table)
    return found


TABLES = tables(8, 60)


@pytest.mark.parametrize("impurity", ["gini", "entropy"])
@pytest.mark.parametrize("name", REFERENCE)
def test_splits_are_those_of_the_reference_implementation(name: str, impurity: str) -> None:
    group = arithmetic.grouping(impurity, name)
    for table in TABLES:
        branch = group(table[None], np.arange(len(table), dtype=np.float64)[None])[0]
        assert np.flatnonzero(branch == 0).tolist() == sorted(REFERENCE[name](table, impurity)), table.tolist()


@pytest.mark.parametrize("impurity", ["gini", "entropy"])
def test_pc_ext_is_the_registrys_where_nothing_ties(impurity: str) -> None:
    group, rng = arithmetic.grouping(impurity, "pc_ext_counts"), np.random.default_rng(3)
    for _ in range(20):
        table = rng.integers(1, 1000, (7, 4))
        branch = group(table[None], np.arange(7.0)[None])[0]
        mask = split_batch(get("pc_ext_counts"), table[None], code(impurity))[0]
        assert (branch == 0).tolist() in (mask.tolist(), (~mask).tolist())


def test_rows_that_allclose_takes_for_equal_are_merged() -> None:
    group = arithmetic.grouping("gini", "pc_ext_counts")
    table = np.array([[500000, 500000], [500001, 499999], [900000, 100000]])
    branch = group(table[None], np.arange(3.0)[None])[0]
    assert branch[0] == branch[1] != branch[2]
    assert group(table[None, :2], np.arange(2.0)[None])[0].tolist() == [1, 1]  # the empty left side: no split


@pytest.mark.parametrize("impurity", ["gini", "entropy"])
def test_the_prefix_search_of_the_registry(impurity: str) -> None:
    for table in TABLES:
        mask = split_batch(get("sliq_ext_prefix"), table[None], code(impurity))[0]
        best = min(value(table, list(range(j, len(table))), impurity, False) for j in range(1, len(table)))
        assert value(table, np.flatnonzero(mask).tolist(), impurity, False) == pytest.approx(best, abs=1e-12)
        assert (np.diff(mask.astype(int)) >= 0).all()
        assert mask.any() and not mask.all()


def walked(slots: np.ndarray) -> list[int]:
    numbers = np.empty(len(slots), np.int64)
    return numbers[: python_sets.walk(slots, numbers)].tolist()


@pytest.mark.parametrize(("size", "largest"), SIZES)
def test_sets_are_walked_in_pythons_order(size: int, largest: int) -> None:
    rng = random.Random(size * largest)
    for _ in range(50):
        numbers = sorted(rng.sample(range(largest + 1), size))
        slots = python_sets.set_of(np.array(numbers))
        ours = set()
        for x in numbers:
            ours.add(x)
        assert walked(slots) == list(ours)
        assert walked(python_sets.copied(slots, size, size)) == list(set(ours))
        places = np.empty(size, np.int64)
        python_sets.set_order(np.array(numbers), places)
        assert [numbers[place] for place in places] == list(ours)


@pytest.mark.parametrize("size", [2, 3, 4, 18])
def test_sets_that_numbers_are_taken_out_of(size: int) -> None:
    rng = random.Random(size)
    for _ in range(50):
        ours: set[int] = set()
        for x in sorted(rng.sample(range(40 if size < 5 else 32), size)):
            ours.add(x)
        slots, fill = python_sets.set_of(np.array(sorted(ours))), size
        for used in range(size, 8 if size > 8 else 0, -1):  # with 7 left a set is built again, past 5
            x = rng.choice(list(ours))
            ours = ours - {x}
            slots, fill = python_sets.without(slots, fill, used, x)
            assert walked(slots) == list(ours)


def test_eight_slots_put_eight_before_one() -> None:
    assert walked(python_sets.set_of(np.array([1, 8]))) == [8, 1]


def test_values_go_by_the_order_of_the_set() -> None:
    table, group = np.array([[[0, 4], [4, 0], [0, 4]]]), arithmetic.grouping("gini", "sliq_ext_prefix")
    assert group(table, np.array([[0.0, 1.0, 2.0]]))[0].tolist() == [1, 0, 0]
    assert group(table, np.array([[1.0, 8.0, 9.0]]))[0].tolist() == [0, 1, 0]  # 8 comes out first, and is moved first


@pytest.mark.parametrize("name", ["ova", "sliq_ext"])
def test_other_splitters_are_not_in_the_program(name: str) -> None:
    with pytest.raises(ValueError, match="not in the published program"):
        arithmetic.grouping("gini", name)


def test_other_impurities_are_not_in_the_program() -> None:
    with pytest.raises(ValueError, match="has gini and entropy"):
        arithmetic.grouping("mine:f", "lca")


@pytest.mark.parametrize("name", [*REFERENCE, "pc_ext_counts"])
def test_trees_grown_together_are_those_grown_alone(name: str) -> None:
    rng = np.random.default_rng(5)
    x = np.asfortranarray(np.stack([rng.integers(0, 12, 300), rng.normal(size=300).round(1)], 1))
    y = (x[:, 0] % 3 + (x[:, 1] > 0) + rng.integers(0, 2, 300)).astype(np.int64) % 4
    kind, group = np.array([True, False]), arithmetic.grouping("gini", name)
    growth = Growth(group.criterion, group, max_depth=5, max_p=0.1, min_second=3)
    parts = [np.sort(rng.choice(300, 200, replace=False)) for _ in range(3)]
    rows, tree = np.concatenate(parts), np.repeat(np.arange(3), 200)
    together = grow(Examples(np.asfortranarray(x[rows]), kind, y[rows], 4, tree), growth).pruned()
    assert together.n_trees == 3
    for t, part in enumerate(parts):
        alone = grow(Examples(np.asfortranarray(x[part]), kind, y[part], 4), growth).pruned()
        assert together.node_counts[t] == alone.node_count
        ends = together.apply(x, True, np.full(300, t))
        assert (together.counts[ends] == alone.counts[alone.apply(x, True)]).all()
