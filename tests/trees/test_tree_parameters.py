"""Entries and functions wherever names of splitters and criteria are, the default splitter, short thresholds."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import splitlab
from splitlab.contract import check
from splitlab.examples import above_average, cubic
from splitlab.splitters import get, names
from splitlab.trees import DecisionTreeClassifier, best_split, best_table_split, export_text, thresholds
from splitlab.trees.proposals import midpoint, short_midpoint
from tests.helpers.tables import random_tables
from tests.helpers.weights import mixed

TABLE = [[4, 0, 1], [0, 3, 2], [1, 4, 4], [2, 2, 0]]


def first_alone(table: np.ndarray, impurity: str) -> np.ndarray:
    """The first row against the rest."""
    return np.arange(len(table)) == 0


@pytest.mark.parametrize("entry", splitlab.splitters(), ids=lambda entry: entry.name)
def test_an_entry_works_wherever_its_name_does(entry: Any) -> None:
    assert get(entry) is entry
    if entry.name == "direction":
        return
    table = [row[:2] for row in TABLE] if entry.name == "two_class" else TABLE
    by_name, by_entry = (splitlab.split(table, splitter=given) for given in (entry.name, entry))
    assert by_name.left.tolist() == by_entry.left.tolist()
    assert best_table_split(table, splitter=entry).tolist() == best_table_split(table, splitter=entry.name).tolist()
    values, y = list("abcabcabd"), [0, 1, 1, 0, 0, 1, 0, 1, 1]
    assert (
        vars(best_split(values, y, splitter=entry))["branches"]
        == vars(best_split(values, y, splitter=entry.name))["branches"]
    )
    tree = DecisionTreeClassifier(splitter=entry).fit(np.array(values)[:, None], y)
    assert clone(tree).splitter == entry


def test_an_entry_in_a_config_and_in_the_check_of_the_contract() -> None:
    config = {"name": "tiny", "impurities": ["gini"], "grid": [{"n": 4, "k": 3, "max_count": 7, "runs": 10}]}
    by_name = splitlab.run({**config, "splitters": ["hcc", "lca"]})
    by_entry = splitlab.run({**config, "splitters": [get("hcc"), "lca"]})
    assert by_name.win_percentage.equals(by_entry.win_percentage)
    assert check(get("lca")) == check("lca")


def test_functions() -> None:
    x, y, weight = mixed(1)
    tree = DecisionTreeClassifier(splitter=first_alone, criterion=cubic, max_depth=5).fit(x, y, weight)
    assert tree.score(x, y) > 0.6
    again = pickle.loads(pickle.dumps(tree))
    assert export_text(again) == export_text(tree) == export_text(clone(tree).fit(x, y, weight))
    named = DecisionTreeClassifier(splitter=f"{__name__}:first_alone", criterion="splitlab.examples:cubic", max_depth=5)
    assert export_text(named.fit(x, y, weight)) == export_text(tree)
    assert best_table_split(TABLE, splitter=first_alone).tolist() == [0, 1, 1, 1]
    assert best_table_split(TABLE, splitter=lambda table, impurity: table[:, 0] < 1).tolist() == [1, 0, 1, 1]
    exact = best_table_split(TABLE, cubic, "exact")
    assert exact.tolist() == best_table_split(TABLE, "splitlab.examples:cubic", "exact").tolist()
    assert thresholds([1, 2, 3], [0, 0, 1], cubic)[0].threshold == 2.5
    assert best_split(list("aab"), [0, 1, 1], lambda p: p - p * p, splitter=above_average)


def test_functions_in_a_search() -> None:
    x, y, _ = mixed(1)
    choices = {
        "splitter": [first_alone, lambda table, impurity: np.arange(len(table)) < len(table) // 2, "hd", get("lca")]
    }
    search = GridSearchCV(DecisionTreeClassifier(max_depth=3), choices, cv=2).fit(x, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("splitter", "words"),
    [
        (lambda table, impurity: [True] * len(table), r"splitter <lambda>: returned an empty right side"),
        (lambda table, impurity: 1 / 0, r"splitter <lambda>: raised ZeroDivisionError: division by zero"),
        (lambda table, impurity: [True], r"splitter <lambda>: returned an array of shape \(1,\)"),
    ],
)
def test_functions_that_fail(splitter: Any, words: str) -> None:
    with pytest.raises(ValueError, match=rf"^{words}[^\n]*$"):
        DecisionTreeClassifier(splitter=splitter).fit([["a"], ["b"], ["c"]], [0, 1, 1])


def test_functions_that_are_no_impurity() -> None:
    for wrong in (lambda p: -p, lambda p: "a", lambda p, q: p):
        with pytest.raises(ValueError, match=r"^impurity [^\n]*$"):
            DecisionTreeClassifier(criterion=wrong).fit([[1], [2]], [0, 1])


def test_the_list_of_splitters_is_that_of_trees() -> None:
    with pytest.raises(
        ValueError, match=r"^splitter: 'qqq' is not known; the splitters of trees are [^\n]*$"
    ) as caught:
        DecisionTreeClassifier(splitter="qqq").fit([[1], [2]], [0, 1])
    listed = str(caught.value).partition(" are ")[2].split(", ")
    assert set(listed) == {*names(), "multiway"} - {"direction"}
    for name in ("direction", "direction+hd", get("direction")):
        with pytest.raises(
            ValueError, match=r"^splitter: 'direction[^\n]*does not go with trees: it needs a direction[^\n]*$"
        ):
            DecisionTreeClassifier(splitter=name).fit([[1], [2]], [0, 1])
    with pytest.raises(ValueError, match=r"^splitter: 'no_such_module_zz:f'|no module 'no_such_module_zz'"):
        DecisionTreeClassifier(splitter="no_such_module_zz:f").fit([["a"], ["b"]], [0, 1])


def test_the_default_splitter() -> None:
    x, y, _ = mixed(2)
    assert DecisionTreeClassifier().splitter == "hd"
    assert export_text(DecisionTreeClassifier().fit(x, y)) == export_text(
        DecisionTreeClassifier(splitter="hd").fit(x, y)
    )
    for table in random_tables(3, 9, 4, 7, 20):
        assert best_table_split(table).tolist() == best_table_split(table, splitter="hd").tolist()
    wide = np.arange(90).astype(str)[:, None]
    assert DecisionTreeClassifier(max_depth=1).fit(wide, np.arange(90) % 30).get_n_leaves() == 2  # hcc is refused


def test_thresholds_are_short() -> None:
    assert midpoint(np.array([38.6]), np.array([38.7])) == 38.650000000000006
    assert best_split([38.6, 38.7], [0, 1]).threshold == 38.65  # type: ignore[union-attr]
    assert thresholds([38.6, 38.7], [0, 1])[0].threshold == 38.65
    tree = DecisionTreeClassifier().fit([[38.6], [38.7]], [0, 1])
    assert export_text(tree).splitlines()[0] == "x[0] <= 38.65"
    x = np.round(np.random.default_rng(0).normal(20, 9, (500, 2)), 1)
    tree = DecisionTreeClassifier().fit(x, np.arange(500) % 3)
    found = tree.tree_.threshold[~tree.tree_.leaves]
    assert max(len(repr(threshold)) for threshold in found.tolist()) <= len("-12.345")
    plain = DecisionTreeClassifier().fit(x * 64, np.arange(500) % 3)
    assert plain.tree_.feature.tolist() == tree.tree_.feature.tolist()
    assert plain.tree_.counts.tolist() == tree.tree_.counts.tolist()


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e-7, 1e-3, 1.0, 1e3, 1e15, 1e22, 1e300])
def test_short_thresholds_part_as_well(scale: float) -> None:
    rng = np.random.default_rng(1)
    low = np.concatenate([rng.normal(size=300) * scale, np.round(rng.normal(size=300), 2) * scale, [0.0, -scale]])
    for high in (
        np.nextafter(low, np.inf),
        low + scale * rng.random(len(low)) + scale / 1e3,
        low * (1 + 1e-15 * np.sign(low)),
    ):
        kept = high > low
        found = short_midpoint(low[kept], high[kept])
        assert (found >= low[kept]).all()
        assert (found < high[kept]).all()
        assert found == pytest.approx(midpoint(low[kept], high[kept]), rel=1e-12, abs=1e-14 * scale)
    low, high = 1.7976931348623157e308, np.inf
    assert short_midpoint(np.array([-low]), np.array([low])) == 0
    assert all(a <= b for a, b in itertools.pairwise(sorted(found)))
