"""The best split of one attribute: worked examples, against trying everything, and where there is none."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from splitlab.splitters import names as splitter_names
from splitlab.tables.contingency import merge_proportional
from splitlab.trees import best_split, best_table_split, criteria, thresholds
from splitlab.trees.attribute import AttributeSplit, NoSplit
from splitlab.trees.criteria import get
from splitlab.trees.separations import dichotomies, exact_split, hyperplane_splits
from tests.helpers.tables import random_tables

NAN = float("nan")
ALL = criteria.names()


def found(*args: object, **kwargs: object) -> AttributeSplit:
    split = best_split(*args, **kwargs)  # type: ignore[arg-type]
    assert isinstance(split, AttributeSplit), split
    return split


THIRTEEN = (list(range(1, 14)), [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0])


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_thresholds_of_thirteen_values(seed: int | None) -> None:
    order = range(13) if seed is None else np.random.default_rng(seed).permutation(13)
    values, labels = ([column[i] for i in order] for column in THIRTEEN)
    candidates = thresholds(values, labels)
    assert [t for t, _ in candidates] == [5.5, 10.5, 12.5]
    assert thresholds([1, 2], [0, 1]) == [(1.5, 1.0)]
    assert [g for _, g in candidates] == pytest.approx(
        [0.49647937549469, 0.014582259610812609, 0.09123321517616922], rel=1e-12
    )
    assert found(values, labels, "entropy").threshold == 5.5
    assert len(thresholds(values, labels, all_values=True)) == 12


@pytest.mark.parametrize(
    ("values", "labels", "threshold", "gain"),
    [
        ([0, 0, 5, 10], [0, 0, 1, 1], 2.5, 1.0),
        ([0, 0, 5, 10], [0, 1, 1, 1], 2.5, 0.3113),
        ([0, 0, 0, 5, 10], [0, 1, 0, 1, 1], 2.5, 0.4200),
    ],
)
def test_a_threshold_lies_between_different_values(
    values: list[int], labels: list[int], threshold: float, gain: float
) -> None:
    split = found(values, labels, "entropy")
    assert split.threshold == threshold
    assert split.value == pytest.approx(gain, abs=5e-5)


def test_the_weather() -> None:
    outlook = ["sunny"] * 5 + ["overcast"] * 4 + ["rainy"] * 5
    play = list("yynnn" + "yyyy" + "yyynn")
    for criterion, gain in (("entropy", 0.226), ("gini", 0.102)):
        split = found(outlook, play, criterion)
        assert split.value == pytest.approx(gain, abs=5e-4)
        assert sorted(map(sorted, split.branches or [])) == [["overcast"], ["rainy", "sunny"]]


@pytest.mark.parametrize(
    ("values", "labels", "reason"),
    [
        ([1, 2, 3], [1, 1, 1], "target is constant"),
        ([3, 3, 3], [1, 0, 1], "single value"),
        ([NAN, NAN], [1, 0], "no value is known"),
        ([NAN, 2.0, 2.0], [1, 0, 1], "single value"),
        (["a", "b", None], [0, 0, 1], "constant where the value is known"),
        (["a", "a"], [0, 1], "single value"),
    ],
)
def test_no_split_and_why(values: list[object], labels: list[int], reason: str) -> None:
    split = best_split(values, labels)
    assert isinstance(split, NoSplit)
    assert not split
    assert reason in split.reason


def test_no_split_with_large_enough_branches() -> None:
    split = best_split([1, 2, 2, 2], [0, 1, 1, 0], min_samples_leaf=2)
    assert isinstance(split, NoSplit)
    assert split.reason == "every threshold leaves a branch with fewer than 2 examples"
    assert "the grouping of the splitter" in best_split(list("abbb"), [0, 1, 1, 0], min_samples_leaf=2).reason  # type: ignore[union-attr]


def judged(left: np.ndarray, labels: np.ndarray, k: int, criterion: str) -> float:
    table = [np.bincount(labels[side], minlength=k) for side in (left, ~left)]
    value = get(criterion)(table)
    return value if get(criterion).maximise else -value


@pytest.mark.parametrize("least", [1, 4])
@pytest.mark.parametrize("criterion", ALL)
def test_numeric_splits_are_the_best_of_all_thresholds(criterion: str, least: int) -> None:
    rng = np.random.default_rng(5)
    for _ in range(25):
        n, k = int(rng.integers(10, 40)), int(rng.integers(2, 5))
        values = rng.integers(0, rng.choice([4, 30]), n).astype(float)
        labels = np.concatenate([np.arange(k), (values[k:] * k / 31 + rng.integers(0, 2, n - k)).astype(int) % k])
        values[rng.random(n) < rng.choice([0, 0.2])] = NAN
        known = np.unique(values[~np.isnan(values)])
        options = {}
        for low, high in itertools.pairwise(known):
            left = values <= low
            more = left.sum() >= (values >= high).sum()
            left = left | (np.isnan(values) & more)
            if min(left.sum(), (~left).sum()) >= least:
                options[(low + high) / 2] = judged(left, labels, k, criterion)
        split = best_split(values, labels, criterion, min_samples_leaf=least)
        if not options:
            assert not split
            continue
        assert isinstance(split, AttributeSplit)
        best = max(options.values())
        sign = 1 if get(criterion).maximise else -1
        assert sign * split.value == pytest.approx(best, rel=1e-10, abs=1e-12)
        assert split.threshold is not None
        assert options[split.threshold] == pytest.approx(best, rel=1e-10, abs=1e-12)
        assert split.table.sum() == n
        assert split.missing == int(2 * (values <= split.threshold).sum() < (~np.isnan(values)).sum())


def test_thresholds_of_extreme_values() -> None:
    low = 1.0
    high = np.nextafter(low, 2)
    split = found([low, high], [0, 1])
    assert split.threshold == low
    assert found([-1.7e308, 1.7e308], [0, 1]).threshold == 0
    assert found([1e308, 1.6e308], [0, 1]).threshold == pytest.approx(1.3e308)


def all_masks(n: int) -> np.ndarray:
    return np.array([(True, *rest) for rest in itertools.product((True, False), repeat=n - 1)][1:])


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("criterion", ALL)
def test_exact_is_the_best_of_all_splits(criterion: str, k: int) -> None:
    entry = get(criterion)
    for max_count in (1, 3, 40):
        for table in random_tables(max_count, 7, k, max_count, 8):
            left = all_masks(7).astype(int) @ table
            best = entry.keys(np.stack([left, table.sum(0) - left], 1))[0].max()
            mask = exact_split(table, entry)
            assert mask.any()
            assert not mask.all()
            sides = np.array([table[mask].sum(0), table[~mask].sum(0)])
            assert entry.keys(sides)[0] == pytest.approx(best, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize(("n", "k", "max_count"), [(6, 2, 5), (6, 3, 2), (7, 3, 9), (7, 4, 1), (6, 4, 3)])
def test_splits_by_hyperplanes_are_all_that_can_be_separated(n: int, k: int, max_count: int) -> None:
    for table in random_tables(7, n, k, max_count, 3):
        rows = merge_proportional(table)
        if len(rows) < 2:
            continue
        masks = {tuple(mask) for mask in hyperplane_splits(rows)}
        shares = rows / rows.sum(1, keepdims=True)
        for mask in all_masks(len(rows)):
            signed = np.where(mask, 1, -1)[:, None] * shares
            program = linprog(np.zeros(k), A_ub=-signed, b_ub=-np.ones(len(rows)), bounds=[(None, None)] * k)
            assert (tuple(mask) in masks) == (program.status == 0), (rows.tolist(), mask)


def test_more_rows_than_can_be_tried_one_by_one() -> None:
    table = random_tables(1, 30, 3, 20, 1)[0]
    mask = exact_split(table, get("gain_ratio"))
    value = criteria.gain_ratio([table[mask].sum(0), table[~mask].sum(0)])
    for splitter in ("hcc", "lca", "sliq_ext"):
        branch = best_table_split(table, "gain_ratio", splitter)
        assert value >= criteria.gain_ratio([table[branch == b].sum(0) for b in (0, 1)]) - 1e-12
    assert len(dichotomies(np.eye(3))) == 8


def test_exact_refuses_what_takes_too_long() -> None:
    with pytest.raises(ValueError, match=r"'exact' would have to try about 5.4e\+08 splits.*n = 30.*k = 3.*ccp_gini"):
        best_table_split(random_tables(0, 30, 3, 7, 1)[0], "ccp_gini", "exact")
    with pytest.raises(ValueError, match="hcc"):
        best_table_split(random_tables(0, 40, 30, 7, 1)[0], "gini", "hcc")


def test_exact_finds_the_split_that_no_class_order_has() -> None:
    table = [[2027, 59], [8, 9], [0, 4], [9, 0]]
    assert best_table_split(table, "ccp_gini", "exact").tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("splitter", [name for name in splitter_names() if name != "direction"])
@pytest.mark.parametrize("criterion", ["entropy", "gain_ratio", "ihdw", "dcsm"])
def test_every_splitter_with_every_kind_of_criterion(splitter: str, criterion: str) -> None:
    for k in (2,) if splitter == "two_class" else (2, 3):
        for table in random_tables(k, 8, k, 9, 5):
            branch = best_table_split(table, criterion, splitter)
            assert set(branch) == {0, 1}
            if k == 2 and criterion != "entropy":
                left = all_masks(8).astype(int) @ table
                best = get(criterion).keys(np.stack([left, table.sum(0) - left], 1))[0].max()
                sides = np.array([table[branch == b].sum(0) for b in (0, 1)])
                assert get(criterion).keys(sides)[0] == pytest.approx(best, rel=1e-10, abs=1e-12)


def test_tables_with_nothing_to_split() -> None:
    assert best_table_split([[0, 0], [3, 4]]).tolist() == [0, 0]
    assert best_table_split([[2, 0], [3, 0]]).tolist() == [0, 0]
    assert best_table_split([[0, 0], [5, 0], [0, 5]], splitter="multiway").tolist() == [0, 0, 1]


def test_multiway() -> None:
    split = found(list("aabbccd"), [0, 0, 1, 1, 0, 1, 1], "gain_ratio", splitter="multiway")
    assert split.branches == [["a"], ["b"], ["c"], ["d"]]
    assert split.table.tolist() == [[2, 0], [0, 2], [1, 1], [0, 1]]
    assert split.value == criteria.gain_ratio(split.table)
    with pytest.raises(ValueError, match="multiway"):
        best_split(list("ab"), [0, 1], "twoing", splitter="multiway")


def test_missing_categories_go_to_the_larger_branch() -> None:
    split = found(["a", "a", "a", "b", None, NAN], [0, 0, 0, 1, 1, 1])
    assert split.branches is not None
    assert split.missing == [("a" in branch) for branch in split.branches].index(True)
    assert split.table[split.missing].tolist() == [3, 2]
    assert split.value == pytest.approx(criteria.information_gain([[3, 2], [0, 1]], "gini"))


@pytest.mark.parametrize("labels", [["n", "y", "y", "n"], [False, True, True, False], [7, 9, 9, 7]])
def test_every_form_of_values_and_labels(labels: list[object]) -> None:
    values = ["r", "g", "g", "b"]
    forms = [values, np.array(values), np.array(values, object), pd.Series(values), pd.Series(values, dtype="category")]
    for form in forms:
        split = found(form, labels)
        assert sorted(map(sorted, split.branches or [])) == [["b", "r"], ["g"]]
        assert split.classes.tolist() == sorted(set(labels))
    ordered = pd.Categorical(values, ["r", "g", "b"])
    assert found(ordered, labels).branches == found(pd.Series(ordered), labels).branches
    numbers = [1, 2, 2, 1]
    for numeric in (numbers, np.array(numbers, np.uint8), pd.Series(numbers), pd.Series(numbers, dtype="Int64")):
        assert found(numeric, labels).threshold == 1.5
        assert found(numeric, labels, nominal=True).branches in ([[1], [2]], [[2], [1]])


def test_wrong_calls() -> None:
    with pytest.raises(ValueError, match="3 examples need as many labels"):
        best_split([1, 2, 3], [0, 1])
    with pytest.raises(ValueError, match="criterion"):
        best_split([1, 2], [0, 1], "giny")
    with pytest.raises(ValueError, match="splitter"):
        best_split([1, 2], [0, 1], splitter="lcaa")
    with pytest.raises(TypeError, match="splitter: None is not a name"):
        best_table_split([[1, 2], [2, 1]], splitter=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="infinity"):
        best_split([1, math.inf], [0, 1])
    with pytest.raises(TypeError, match=r"'nominal' parameter of best_split must be .* Got 'x' instead"):
        best_split([1, 2], [0, 1], nominal="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"'all_values' parameter of thresholds must be .* Got 'no' instead"):
        thresholds([1, 2], [0, 1], all_values="no")  # type: ignore[arg-type]
    for least, kind in ((0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError), (None, TypeError)):
        with pytest.raises(kind, match=f"'min_samples_leaf' parameter of best_split must be .* Got {least!r} instead"):
            best_split([1, 2], [0, 1], min_samples_leaf=least)  # type: ignore[arg-type]
    for values in (3, [[1], [2]], pd.DataFrame({"a": [1, 2]})):
        with pytest.raises(ValueError, match=r"^values: must be those of one attribute, in one dimension; got shape"):
            best_split(values, [0, 1])  # type: ignore[arg-type]
