"""Weights of examples and classes: as in scikit-learn, and whole numbers as repeated rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier as Reference

from splitlab.trees import DecisionTreeClassifier, best_split, criteria, export_text, plot
from splitlab.trees.weights import in_units
from tests.helpers.weights import mixed, numeric, same_tree

WEIGHTS: dict[str, Any] = {
    "real": lambda rng, n: rng.gamma(1.0, size=n),
    "whole": lambda rng, n: rng.integers(1, 6, n),
    "tiny": lambda rng, n: rng.gamma(1.0, size=n) * 1e-9,
    "huge": lambda rng, n: rng.gamma(1.0, size=n) * 1e20,
    "of sum 1": lambda rng, n: rng.dirichlet(np.ones(n)),
}


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(
    "options",
    [
        {"max_depth": 3},
        {"min_samples_leaf": 60},
        {"min_samples_split": 300},
        {"min_weight_fraction_leaf": 0.05},
        {"min_impurity_decrease": 0.004},
        {"class_weight": "balanced"},
        {"class_weight": {0: 0.3, 2: 4.5}},
    ],
)
def test_as_in_scikit_learn(options: dict[str, Any], kind: str, criterion: str) -> None:
    x, y = numeric(1)
    weight = WEIGHTS[kind](np.random.default_rng(2), len(y))
    given = {"min_samples_leaf": 25, **options, "criterion": criterion}
    mine = DecisionTreeClassifier(**given).fit(x, y, weight)
    same_tree(mine, Reference(**given, random_state=0).fit(x, y, weight), x)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.5, 1: 1, 2: 1}, None])
def test_class_weights_alone(class_weight: Any) -> None:
    x, y = numeric(3)
    y = np.where(np.random.default_rng(4).random(len(y)) < 0.2, 2, y % 2)
    options: dict[str, Any] = {"min_samples_leaf": 40, "class_weight": class_weight}
    same_tree(DecisionTreeClassifier(**options).fit(x, y), Reference(**options, random_state=0).fit(x, y), x)


@pytest.mark.parametrize("criterion", criteria.names())
@pytest.mark.parametrize("splitter", ["hd", "hcc", "lca"])
def test_whole_numbers_are_repeated_rows(splitter: str, criterion: str) -> None:
    x, y, weight = mixed(4)
    options: dict[str, Any] = {"criterion": criterion, "splitter": splitter, "max_depth": 6, "chi_square": 0.2}
    once = DecisionTreeClassifier(**options).fit(x, y, weight)
    rows = np.repeat(np.arange(len(y)), weight)
    repeated = DecisionTreeClassifier(**options).fit(x.iloc[rows], y[rows])
    assert export_text(once, max_values=None) == export_text(repeated, max_values=None)
    assert once.tree_.counts.dtype == np.int64
    assert (once.tree_.counts == repeated.tree_.counts).all()
    assert once.tree_.improvement == pytest.approx(repeated.tree_.improvement, nan_ok=True)


@pytest.mark.parametrize("factor", [0.5, 3.0, 2.0**-90, 2.0**70])
def test_a_common_factor_makes_no_difference(factor: float) -> None:
    x, y, weight = mixed(5)
    options: dict[str, Any] = {"max_depth": 6}
    whole = DecisionTreeClassifier(**options).fit(x, y, weight)
    scaled = DecisionTreeClassifier(**options).fit(x, y, weight * factor)
    assert (scaled.apply(x) == whole.apply(x)).all()
    assert scaled.tree_.counts / factor == pytest.approx(whole.tree_.counts)
    equal = DecisionTreeClassifier(**options).fit(x, y, np.full(len(y), 1 / len(y)))
    assert (equal.apply(x) == DecisionTreeClassifier(**options).fit(x, y).apply(x)).all()


def test_examples_of_weight_0_are_left_out() -> None:
    x, y, weight = mixed(6)
    few = weight > 1
    tree = DecisionTreeClassifier(min_samples_leaf=4).fit(x, y, np.where(few, 1, 0))
    other = DecisionTreeClassifier(min_samples_leaf=4).fit(x[few], y[few])
    assert export_text(tree) == export_text(other)


def test_limits_count_examples() -> None:
    x, y, weight = mixed(7)
    options: dict[str, Any] = {"min_samples_leaf": 6, "min_samples_split": 25}
    for of in (weight + 1, (weight + 1) / 7, (weight + 1) * 1e-12):
        tree = DecisionTreeClassifier(**options).fit(x, y, of)
        sizes = np.asarray(tree.decision_path(x).sum(0)).ravel()
        assert sizes[tree.tree_.leaves].min() >= 6
        assert sizes[~tree.tree_.leaves].min() >= 25


def test_boosting() -> None:
    x, y, _ = mixed(8, 400)
    x["c"] = x["c"].fillna("none")
    codes = x.assign(c=x["c"].astype("category").cat.codes, d=x["d"].astype("category").cat.codes).fillna(0.0)
    boosted = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2, nominal=[0, 1]), n_estimators=10, random_state=0)
    single = DecisionTreeClassifier(max_depth=2, nominal=[0, 1]).fit(codes.to_numpy(), y)
    assert boosted.fit(codes.to_numpy(), y).score(codes.to_numpy(), y) >= single.score(codes.to_numpy(), y)


def test_units() -> None:
    assert in_units(np.array([1.0, 3.0]))[0].tolist() == [1, 3]
    for weight in (
        np.array([0.1, 0.7, 3e-20]),
        np.array([1e300, 1e300]),
        np.array([5e-324, 5e-324]),
        np.full(9, 2.0**60),
    ):
        units, one = in_units(weight)
        assert 2**46 <= units.sum() < 2**49 + len(weight)
        assert units.min() >= 1
        if one > 0:
            assert np.abs(units * one - weight).max() <= 1e-14 * weight.max() * len(weight)


def test_a_splitter_that_depends_on_the_size_of_counts_refuses_in_one_line() -> None:
    x = pd.DataFrame({"c": np.arange(200).astype(str)})
    with pytest.raises(ValueError, match=r"^column 'c': splitter: 'balanced' does not serve [^\n]*$"):
        DecisionTreeClassifier(splitter="balanced").fit(x, np.arange(200) % 50, np.linspace(0.1, 1, 200))


WRONG: list[tuple[Any, Any, str]] = [
    ([1, -1, 1], None, "[Nn]egative"),
    ([1, np.nan, 1], None, "NaN"),
    ([0, 0, 0], None, "non-zero"),
    ([1, 1], None, "sample_weight.shape"),
    (None, {"a": -1}, "class_weight: -1 of class 'a' is not a finite number of at least 0"),
    (None, {"a": np.inf}, "class_weight: inf of class 'a'"),
    (None, {"A": 2}, "class_weight: 'A' is no label; the labels are 'a', 'b'"),
    (None, {"a": 0, "b": 0}, "class_weight: every example has weight 0"),
]


@pytest.mark.parametrize(("sample_weight", "class_weight", "words"), WRONG)
def test_wrong_weights(sample_weight: Any, class_weight: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DecisionTreeClassifier(class_weight=class_weight).fit([[1], [2], [3]], list("aba"), sample_weight)


def test_more_classes_than_a_fold_has() -> None:
    tree = DecisionTreeClassifier(class_weight={"a": 2, "b": 1, "c": 3}).fit([[1], [2]], ["a", "b"])
    assert tree.tree_.counts[0].tolist() == [2, 1]


def test_sums_of_weights_in_text_and_pictures() -> None:
    tree = DecisionTreeClassifier().fit([[1], [2], [3]], list("aab"), [0.1, 0.2, 0.7])
    assert export_text(tree).splitlines()[1] == "  class: a (0.3 of 0.3)"
    assert any("0.7 of 0.7" in text.get_text() for text in plot(tree).axes[0].texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert export_text(DecisionTreeClassifier().fit([[1], [2]], list("ab"), [2, 5])).endswith("class: b (5 of 5)")


def test_gains_of_large_counts() -> None:
    # The first branch lacks class 2; rounding made its share of that class less than none, and the gain NaN.
    table = np.array([[1973859657588, 610639163684, 0], [1072558242721, 651925600029, 235143212347]])
    assert criteria.information_gain(table) == pytest.approx(0.08124719832913585, rel=1e-12)
    for shares in np.random.default_rng(0).random((2000, 3)):
        counts = np.rint(np.array([[shares[0], shares[1], 0], [shares[1], shares[2], shares[0]]]) * 1e14)
        assert criteria.information_gain(counts) > 0


@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_weights_of_one_attribute_repeat_its_examples(seed: int, nominal: bool) -> None:
    rng = np.random.default_rng([seed, nominal])
    n = int(rng.integers(4, 40))
    values = rng.choice(list("abcdef"), n) if nominal else rng.integers(0, 6, n).astype(float)
    y, weight = rng.integers(0, 3, n), rng.integers(0, 4, n)
    weight[0] = 1
    weighted = best_split(values, y, sample_weight=weight)
    repeated = best_split(np.repeat(values, weight), np.repeat(y, weight))
    if not repeated:
        assert not weighted
        return
    assert (weighted.threshold, weighted.branches) == (repeated.threshold, repeated.branches)
    assert weighted.value == repeated.value
    there = [weighted.classes.tolist().index(label) for label in repeated.classes]
    assert (weighted.table[:, there] == repeated.table).all()
    scaled = best_split(values, y, sample_weight=0.3 * weight)
    assert (scaled.threshold, scaled.branches) == (weighted.threshold, weighted.branches)
    assert np.allclose(scaled.table, 0.3 * weighted.table, rtol=1e-12)


def test_fewest_examples_are_counted_whatever_their_weights() -> None:
    assert best_split([1, 2, 3, 4], [0, 1, 1, 1], sample_weight=[9, 1, 1, 1], min_samples_leaf=2).threshold == 2.5


@pytest.mark.parametrize("weight", [[1, 2], [-1, 1, 1], [0, 0, 0], [1, float("nan"), 1]])
def test_weights_of_one_attribute_that_are_none(weight: list[float]) -> None:
    with pytest.raises(ValueError, match=r"sample_weight|Sample weights"):
        best_split([1, 2, 3], [0, 1, 1], sample_weight=weight)
