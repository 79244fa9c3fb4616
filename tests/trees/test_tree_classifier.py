"""``DecisionTreeClassifier`` as a scikit-learn estimator: conventions, mixed columns, missing values, export."""

from __future__ import annotations

import pickle
import re
import sys
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as Reference
from sklearn.utils.estimator_checks import parametrize_with_checks

from splitlab.splitters import get
from splitlab.splitters import names as splitter_names
from splitlab.trees import DecisionTreeClassifier, best_split, criteria, export_text, thresholds
from splitlab.trees.grouping import MULTIWAY

ESTIMATORS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="dcsm", splitter="multiway", max_features="sqrt", random_state=0, prune=True),
]


@parametrize_with_checks(ESTIMATORS)
def test_conventions_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def mixed(n: int = 300, seed: int = 0, missing: bool = True) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of many types, two of which decide the label."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue", "grey"], n)
    size = rng.normal(size=n).round(2)
    frame = pd.DataFrame(
        {
            "colour": colour,
            "size": size,
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True),
            "count": pd.array(rng.integers(0, 5, n), dtype="Int64"),
            "flag": rng.random(n) < 0.5,
            "thing": pd.Series(rng.choice(np.array([1, "one", 2.5], object), n), dtype=object),
            "code": rng.integers(0, 100, n),
        }
    )
    if missing:
        for j, name in enumerate(frame.columns[:4]):
            frame.loc[j::11, name] = None
    return frame, np.where(size > np.where(np.isin(colour, ["red", "blue"]), -0.5, 0.8), "yes", "no")


@pytest.mark.parametrize("splitter", [*(name for name in splitter_names() if name != "direction"), MULTIWAY])
def test_frames_of_mixed_types(splitter: str) -> None:
    x, y = mixed()
    few = splitter != MULTIWAY and get(splitter).nanoseconds(100, 2) > 1e9
    x["code"] %= 5 if few else 100
    tree = DecisionTreeClassifier(splitter=splitter, nominal=["code"]).fit(x, y)
    assert tree.encoding_.nominal.tolist() == [True, False, True, False, False, True, True]
    assert tree.feature_names_in_.tolist() == list(x.columns)
    assert tree.encoding_.categories[2].tolist() == ["low", "mid", "high"]
    assert tree.score(x, y) > 0.95
    clean, labels = mixed(1000, 1, missing=False)
    assert DecisionTreeClassifier(splitter=splitter, max_depth=4).fit(clean, labels).score(clean, labels) == 1
    assert tree.predict_proba(x).sum(1) == pytest.approx(1)


@pytest.mark.parametrize("criterion", criteria.names())
def test_every_criterion_learns(criterion: str) -> None:
    x, y = mixed(600, 2, missing=False)
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=6).fit(x[["colour", "size"]], y)
    assert tree.score(x[["colour", "size"]], y) > 0.9


@pytest.mark.parametrize("labels", [["a", "b", "c"], [3, -1, 7], [True, False, True], [0.0, 1.0, 2.0]])
def test_labels_of_every_type(labels: list[object]) -> None:
    y = np.array(labels)[np.arange(60) % 3]
    x = np.arange(60)[:, None] % 3
    tree = DecisionTreeClassifier().fit(x, y)
    assert tree.classes_.tolist() == sorted(set(labels))  # type: ignore[type-var]
    assert tree.classes_.dtype == y.dtype
    assert (tree.predict(x) == y).all()


OWN_TYPE: list[tuple[Any, list[object], str]] = [
    (pd.Series([7, 3, 7, 3], dtype="Int64"), [3, 7], "i"),
    (pd.Series([True, False, True, False], dtype="boolean"), [False, True], "b"),
    (pd.Series(["b", "a"] * 2, dtype="string"), ["a", "b"], "O"),
    (pd.Series(["b", "a"] * 2, dtype="category"), ["a", "b"], "O"),
    (pd.Series([7, 3, 7, 3], dtype="category"), [3, 7], "i"),
    (pd.Categorical([True, False, True, False]), [False, True], "b"),
    (pd.Series([7.0, 3.0, 7.0, 3.0], dtype="Float64"), [3.0, 7.0], "f"),
    (pd.array([7, 3, 7, 3], dtype="UInt8"), [3, 7], "i"),
    (np.array([7, 3, 7, 3], object), [3, 7], "i"),
    (np.array([True, False, True, False], object), [False, True], "b"),
    (["b", "a", "b", "a"], ["a", "b"], "O"),
    ([2**53 + 1, 2**53] * 2, [2**53, 2**53 + 1], "i"),
    ([2, 1.0] * 2, [1.0, 2.0], "f"),
    (np.ma.array([7, 3, 7, 3]), [3, 7], "i"),
]


@pytest.mark.parametrize(("labels", "classes", "kind"), OWN_TYPE)
def test_labels_keep_their_meaning(labels: Any, classes: list[object], kind: str) -> None:
    x = [[1], [2], [3], [4]]
    tree = DecisionTreeClassifier().fit(x, labels)
    for found in (tree.classes_, best_split([1, 2, 3, 4], labels).classes):  # type: ignore[union-attr]
        assert found.tolist() == classes
        assert found.dtype.kind == kind
        assert [type(label) for label in found.tolist()] == [type(label) for label in classes]
    assert tree.predict(x).tolist() == list(labels)


UNLABELLED: list[Any] = [
    ["a", None, "b"],
    [1, None, 2],
    [1.0, np.nan, 2.0],
    [True, pd.NA, False],
    pd.Series(["a", None, "b"]),
    pd.Series(["a", None, "b"], dtype="category"),
    pd.Series([1, None, 2], dtype="Int64"),
    pd.Series([True, None, False], dtype="boolean"),
    np.array(["2020-01-01", "NaT", "2020-01-02"], "M8[D]"),
    np.ma.array([0, 1, 0], mask=[False, True, False]),
]


@pytest.mark.parametrize("labels", UNLABELLED)
def test_a_missing_label_is_named(labels: Any) -> None:
    for call in (lambda: DecisionTreeClassifier().fit([[1], [2], [3]], labels), lambda: best_split([1, 2, 3], labels)):
        with pytest.raises(ValueError, match=r"^Input y contains NaN: example 1 has no label; leave such .*$"):
            call()


def test_wrong_labels() -> None:
    for labels in (["a", 1, "a"], np.array([True, "x", True], object), [1, True, 1]):
        with pytest.raises(TypeError, match=r"^y: labels of several types, .* and .*"):
            DecisionTreeClassifier().fit([[1], [2], [3]], labels)
    with pytest.raises(ValueError, match=r"^y: 3 examples need as many labels; got 2"):
        DecisionTreeClassifier().fit([[1], [2], [3]], [0, 1])
    with pytest.raises(ValueError, match="continuous"):
        DecisionTreeClassifier().fit([[1], [2], [3]], [0.5, 1.5, 2.5])
    with pytest.raises(ValueError, match="infinity"):
        best_split([1, 2], [1.0, np.inf])


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_importances_are_scikit_learns(criterion: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2000, 4)).astype(np.float32)
    y = (x[:, 1] + rng.normal(size=2000) > 0) + 2 * (x[:, 2] + rng.normal(size=2000) > 1)
    options: dict[str, Any] = {"criterion": criterion, "max_depth": 3, "min_samples_leaf": 20}
    expected = Reference(**options, random_state=0).fit(x, y).feature_importances_
    assert DecisionTreeClassifier(**options).fit(x, y).feature_importances_ == pytest.approx(expected, abs=1e-9)


def test_importances_of_any_criterion_are_shares() -> None:
    x, y = mixed()
    for criterion in ("ccp_gini", "dcsm", "hddt"):
        found = DecisionTreeClassifier(criterion=criterion, splitter="multiway", prune=True).fit(x, y)
        assert found.feature_importances_.sum() == pytest.approx(1)
        assert found.feature_importances_.min() >= 0
        assert found.feature_importances_[1] == found.feature_importances_.max()
    assert DecisionTreeClassifier(max_depth=0).fit(x, y).feature_importances_.tolist() == [0] * 7


def test_hundred_categories_and_thirty_classes() -> None:
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.integers(0, 100, 5000).astype(str), "b": rng.integers(0, 100, 5000).astype(str)})
    y = x["a"].astype(int).to_numpy() % 30
    began = time.process_time()
    assert DecisionTreeClassifier(splitter="lca").fit(x, y).score(x, y) == 1
    assert DecisionTreeClassifier(criterion="ihd").fit(x, y).score(x, y) == 1
    assert time.process_time() - began < 20
    with pytest.raises(ValueError, match=r"'hcc' would take about .* n = 100, k = 30"):
        DecisionTreeClassifier(splitter="hcc").fit(x, y)


def test_arrays_and_lists() -> None:
    rows = [["a", 1], ["b", 2], ["a", 3], ["b", 4]]
    y = [0, 1, 0, 1]
    for form in (rows, np.array(rows, object), np.array(rows, dtype="U1")):
        tree = DecisionTreeClassifier().fit(form, y)
        assert tree.predict(form).tolist() == y
    assert DecisionTreeClassifier().fit(rows, y).encoding_.nominal.tolist() == [True, False]
    numbers = np.asfortranarray([[1.5, 2], [2, 3], [1, 7], [9, 4]])
    numbers.setflags(write=False)
    assert not DecisionTreeClassifier().fit(numbers, y).encoding_.nominal.any()


NAMED: list[Any] = [
    1, -1, [1], [-1, 1], np.array([False, True]), [False, True], pd.Series([False, True]), np.int64(1),
    "last", ["last"], {"last"}, pd.Index(["last"]), np.array(["last"]), ["last", 1],
]  # fmt: skip


@pytest.mark.parametrize("nominal", NAMED, ids=repr)
def test_nominal_columns_by_name_and_place(nominal: Any) -> None:
    x = pd.DataFrame({"a": [0, 0, 0, 0], "last": [1, 2, 3, 4]})
    tree = DecisionTreeClassifier(nominal=nominal, max_depth=1).fit(x, [0, 1, 0, 1])
    assert tree.encoding_.nominal.tolist() == [False, True]
    assert tree.predict(x).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    "nominal", [7, -3, "z", "", "al", ["a", "z"], 1.0, [None], [[0]], [True], True, [True, 0], len]
)
def test_what_names_no_column(nominal: Any) -> None:
    x = pd.DataFrame({"a": [1, 2], "l": [1, 2]})
    with pytest.raises(ValueError, match=r"^nominal: [^\n]*$"):
        DecisionTreeClassifier(nominal=nominal).fit(x, [0, 1])


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"criterion": "giny"}, "did you mean 'gini'"),
    ({"splitter": "lcaa"}, "did you mean 'lca'"),
    ({"splitter": "multi-way"}, "splitter: 'multi-way' is not known; did you mean 'multiway'"),
]

# Scikit-learn checks these.
WRONG_VALUES: list[tuple[str, Any]] = [
    ("criterion", None),
    ("splitter", None),
    ("max_depth", -1),
    ("max_depth", 2.5),
    ("min_samples_split", 1),
    ("min_samples_leaf", 1.5),
    ("min_samples_leaf", "3"),
    ("min_impurity_decrease", -0.1),
    ("min_impurity_decrease", None),
    ("max_features", "all"),
    ("max_features", 0),
    ("max_features", 0.0),
    ("max_features", [1]),
    ("random_state", -1),
    ("random_state", "a"),
    ("unseen", "ignore"),
    ("chi_square", "0.1"),
    ("chi_square", 5),
    ("chi_square", np.nan),
    ("min_second_count", -1),
    ("prune", "no"),
]


@pytest.mark.parametrize(("parameters", "words"), WRONG)
def test_wrong_names(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DecisionTreeClassifier(**parameters).fit([[1], [2]], [0, 1])


@pytest.mark.parametrize(("name", "value"), WRONG_VALUES)
def test_wrong_parameters(name: str, value: Any) -> None:
    words = f"^The '{name}' parameter of DecisionTreeClassifier must be .* Got {re.escape(repr(value))} instead.$"
    with pytest.raises(ValueError, match=words):
        DecisionTreeClassifier(**{name: value}).fit([[1], [2]], [0, 1])


def test_every_parameter_has_a_constraint() -> None:
    assert set(DecisionTreeClassifier._parameter_constraints) == set(DecisionTreeClassifier().get_params())


def test_wrong_data() -> None:
    tree = DecisionTreeClassifier()
    with pytest.raises(NotFittedError):
        tree.predict([[1]])
    with pytest.raises(ValueError, match="column 0 is numeric; 'x' could not be converted"):
        tree.fit([[1], [2]], [0, 1]).predict([["x"]])
    with pytest.raises(ValueError, match="infinity, in column 'b'"):
        tree.fit(pd.DataFrame({"a": [1, 2], "b": [1, np.inf]}), [0, 1])
    with pytest.raises(TypeError, match="column 'a' is of type datetime64"):
        tree.fit(pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2021-01-01"])}), [0, 1])
    with pytest.raises(TypeError, match="column 'a' is of type complex128"):
        tree.fit(pd.DataFrame({"a": [1j, 2]}), [0, 1])
    with pytest.raises(ValueError, match="Complex data not supported"):
        tree.fit(np.array([[1j], [2]]), [0, 1])
    with pytest.raises(ValueError, match="feature names"):
        tree.fit(pd.DataFrame({"a": [1, 2]}), [0, 1]).predict(pd.DataFrame({"b": [1, 2]}))
    with pytest.raises(ValueError, match=r"sample\(s\)"):
        tree.fit(pd.DataFrame({"a": []}), [])


def test_masked_entries_are_missing() -> None:
    y = [0, 0, 1, 1, 0, 1]
    for data in (np.array([1.0, 2, 9, 4, 5, 5]), np.array(list("aabbca")), np.arange(6)):
        masked, plain = np.ma.array(data, mask=[0, 0, 1, 0, 0, 1]), data.astype(object)
        plain[[2, 5]] = np.nan
        assert vars(best_split(masked, y))["table"].tolist() == vars(best_split(plain, y))["table"].tolist()
        tree, other = (DecisionTreeClassifier().fit(x[:, None], y) for x in (masked, plain))
        assert tree.tree_.counts.tolist() == other.tree_.counts.tolist()
        assert tree.apply(masked[:, None]).tolist() == other.apply(plain[:, None]).tolist()
        if data.dtype.kind != "U":
            assert thresholds(masked, y) == thresholds(plain.astype(float), y)


def test_log_probabilities() -> None:
    tree = DecisionTreeClassifier(max_depth=0).fit([[1], [2], [3]], [0, 1, 1])
    assert tree.predict_log_proba([[0]])[0] == pytest.approx(np.log([1 / 3, 2 / 3]))
    deep = DecisionTreeClassifier().fit([[1], [2]], [0, 1])
    assert deep.predict_log_proba([[1]]).tolist() == [[0, -np.inf]]


def test_a_column_of_labels_is_warned_of() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y") as caught:
        DecisionTreeClassifier().fit(np.arange(30.0)[:, None], np.arange(30)[:, None] % 2)
    assert [warning.filename for warning in caught] == [__file__]


def test_shares_of_examples_and_attributes() -> None:
    x, y = mixed(200, 3)
    options: dict[str, Any] = {"min_samples_leaf": 0.1, "min_samples_split": 0.5}
    tree = DecisionTreeClassifier(**options).fit(x, y).tree_
    assert tree.counts[tree.leaves].sum(1).min() >= 20
    assert tree.counts[~tree.leaves].sum(1).min() >= 100
    for features in (1, 0.3, 1.0, "sqrt", "log2"):
        assert DecisionTreeClassifier(max_features=features, random_state=0).fit(x, y).score(x, y) > 0.9  # type: ignore[arg-type]


def test_missing_values_go_where_more_examples_are() -> None:
    x = pd.DataFrame({"n": [1.0, 2, 3, 9, np.nan], "c": ["a", "a", "a", "b", None]})
    for column in ("n", "c"):
        tree = DecisionTreeClassifier(max_depth=1).fit(x[[column]], [0, 0, 0, 1, 1])
        missing = pd.DataFrame({column: [x[column][4], 5.5 if column == "n" else "z"]})
        ends = tree.apply(missing)
        assert tree.tree_.counts[ends[0]].tolist() == [3, 1]
        if column == "c":
            assert ends[1] == ends[0]
    stopping = DecisionTreeClassifier(max_depth=1, unseen="stop").fit(x[["c"]], [0, 0, 0, 1, 1])
    assert stopping.apply(pd.DataFrame({"c": ["z", "b"]})).tolist()[0] == 0
    assert stopping.predict_proba(pd.DataFrame({"c": ["z"]})).tolist() == [[0.6, 0.4]]


def test_missing_equals_missing_in_every_spelling() -> None:
    for empty in (None, np.nan, pd.NA):
        x = pd.DataFrame({"c": pd.Series(["a", "b", empty, "b"], dtype=object)})
        tree = DecisionTreeClassifier().fit(x, [0, 1, 1, 1])
        assert tree.encoding_.categories[0].tolist() == ["a", "b"]
        assert tree.predict(x).tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("unseen", ["largest", "stop"])
@pytest.mark.parametrize("splitter", ["lca", MULTIWAY])
def test_leaves_count_the_examples_that_reach_them(splitter: str, unseen: str) -> None:
    x, y = mixed(400, 6)
    tree = DecisionTreeClassifier(splitter=splitter, unseen=unseen, min_samples_leaf=5, max_depth=6).fit(x, y)
    assert tree.tree_.counts.sum(1).min() >= 5
    reached = DecisionTreeClassifier.apply(tree.set_params(unseen="largest"), x)
    labels = np.searchsorted(tree.classes_, y)
    for node in np.flatnonzero(tree.tree_.leaves):
        assert np.bincount(labels[reached == node], minlength=2).tolist() == tree.tree_.counts[node].tolist()
    proba = tree.predict_proba(x)
    for node in np.unique(reached):
        assert proba[reached == node][:, 1] == pytest.approx((y[reached == node] == "yes").mean())


def test_missing_values_weigh_where_they_go() -> None:
    # Without the missing values both columns are pure; with them in the larger branch the second is better.
    x = pd.DataFrame({"a": [0, 0, 0, 1, 1, np.nan, np.nan], "b": [0, 0, 0, 1, 1, 1, 1]})
    y = [0, 0, 0, 1, 1, 1, 1]
    tree = DecisionTreeClassifier(max_depth=1).fit(x, y)
    assert tree.tree_.feature[0] == 1
    split = best_split(x["a"], y)
    assert split
    assert split.table.tolist() == [[3, 2], [0, 2]]
    assert split.value == pytest.approx(criteria.information_gain([[3, 2], [0, 2]], "gini"))
    assert not best_split(x["a"], y, min_samples_leaf=3)
    assert best_split(x["a"].map({0: "n", 1: "y"}), y, min_samples_leaf=2)
    assert not best_split(x["a"].map({0: "n", 1: "y"}), y, min_samples_leaf=3)


def test_clone_pickle_and_repeat() -> None:
    x, y = mixed()
    tree = DecisionTreeClassifier(criterion="ccp_entropy", splitter="hcc", max_features=3, random_state=1).fit(x, y)
    again = clone(tree).fit(x, y)
    copied = pickle.loads(pickle.dumps(tree))
    for other in (again, copied):
        assert (other.apply(x) == tree.apply(x)).all()
        assert (other.predict_proba(x) == tree.predict_proba(x)).all()


def test_pipelines_and_searches() -> None:
    x, y = mixed(300, 4, missing=False)
    assert cross_val_score(DecisionTreeClassifier(max_depth=5), x, y, cv=3).mean() > 0.9
    scaled = ColumnTransformer([("scale", StandardScaler(), ["size", "code"])], remainder="passthrough")
    assert make_pipeline(scaled, DecisionTreeClassifier()).fit(x, y).score(x, y) == 1
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 3], "criterion": ["gini", "hddt"]}, cv=2)
    assert search.fit(x, y).best_params_["max_depth"] == 3


def test_paths_end_in_the_node_of_apply() -> None:
    x, y = mixed()
    tree = DecisionTreeClassifier(max_depth=5).fit(x, y)
    path, ends = tree.decision_path(x), tree.apply(x)
    assert isinstance(path, csr_array)
    assert path.shape == (len(x), tree.tree_.node_count)
    assert path[:, [0]].toarray().all()
    assert (path.sum(1) == tree.tree_.depth[ends] + 1).all()
    assert all(path[[row], [end]] == 1 for row, end in enumerate(ends))
    assert tree.get_depth() == 5
    assert tree.get_n_leaves() == tree.tree_.leaves.sum()
    assert (path.sum(0) == tree.tree_.counts.sum(1)).all()


def test_a_chain_deeper_than_recursion_goes() -> None:
    n = sys.getrecursionlimit() + 50
    y = np.arange(n) % 2
    tree = DecisionTreeClassifier().fit(np.arange(n)[:, None], y)
    assert tree.get_depth() > sys.getrecursionlimit()
    assert (tree.predict(np.arange(n)[:, None]) == y).all()
    assert len(export_text(tree).splitlines()) > 2 * sys.getrecursionlimit()
    assert tree.tree_.pruned().depth.max() == tree.get_depth()
    assert pickle.loads(pickle.dumps(tree)).get_depth() == tree.get_depth()
