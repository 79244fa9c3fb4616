"""Many tables at once, and what a partition of one's own is worth: the same numbers as ``split`` of one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import splitlab
from splitlab.splitters import names, serving

SHAPES = [(6, 3, 7), (6, 4, 1), (5, 2, 2)]  # n, k, max_count: the small counts leave rows and columns of zeros


def tables(n: int, k: int, max_count: int, b: int = 60) -> np.ndarray:
    drawn = np.random.default_rng([n, k, max_count]).integers(0, max_count + 1, (b, n, k))
    drawn[0] = 1  # all rows proportional
    drawn[1, 1:] = 0  # one row only
    drawn[2, :, 1:] = 0  # one class only
    return drawn[drawn.sum(axis=(1, 2)) > 0]


@pytest.mark.parametrize("impurity", ["gini", "entropy"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("splitter", names())
def test_a_batch_is_what_its_tables_are(splitter: str, shape: tuple[int, int, int], impurity: str) -> None:
    if splitter not in (*serving(*shape[:2]), "direction"):
        pytest.skip("does not serve these tables")
    batch = tables(*shape)
    direction = np.linspace(-1, 2, shape[1]) if splitter == "direction" else None
    found = splitlab.split(batch, impurity, splitter, direction)
    assert len(found) == len(batch)
    for t, table in enumerate(batch):
        alone = splitlab.split(table, impurity, splitter, direction)
        assert found.left[t].tolist() == alone.left.tolist()
        assert (found.impurity[t], found.gain[t]) == (alone.impurity, alone.gain)
        assert repr(found[t]) == repr(alone)
        assert splitlab.impurity(table, alone.left, impurity) == alone.impurity
        assert splitlab.gain(table, alone.left, impurity) == alone.gain


BAD: dict[str, tuple[tuple[int, int, int], float, type[Exception], str]] = {
    "negative": ((3, 1, 0), -1, ValueError, r"^table 3: entry at row 1, column 0 is -1"),
    "fraction": ((2, 0, 1), 0.5, ValueError, r"^table 2: entry at row 0, column 1 is 0.5"),
    "too large": ((1, 2, 2), 2e15, ValueError, r"^table 1: entry at row 2, column 2"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_named_by_its_number(case: str) -> None:
    place, value, error, says = BAD[case]
    batch = np.ones((5, 3, 3))
    batch[place] = value
    with pytest.raises(error, match=says):
        splitlab.split(batch)


def test_other_errors_of_batches() -> None:
    with pytest.raises(ValueError, match=r"^table 2: every count is 0"):
        splitlab.split(np.array([[[1, 2], [3, 1]], [[1, 0], [0, 1]], [[0, 0], [0, 0]]]))
    with pytest.raises(TypeError, match=r"^table 0: .* is True"):
        splitlab.split(np.ones((2, 3, 3), bool))
    # the one with most examples is named
    with pytest.raises(ValueError, match=r"^table 1: splitter: 'two_class' does not serve tables"):
        splitlab.split(np.arange(24).reshape(2, 4, 3), splitter="two_class")

    def fails(table: np.ndarray, impurity: str) -> Any:
        return np.zeros(len(table), bool) if table[0, 0] == 7 else np.arange(len(table)) == 0

    batch = np.array([[[1, 2], [3, 1]], [[0, 1], [0, 2]], [[7, 2], [3, 1]]])  # the second has a column of zeros
    with pytest.raises(ValueError, match=r"^table 2: .*fails: returned an empty left side"):
        splitlab.split(batch, splitter=fails)
    assert splitlab.split(np.ones((0, 3, 3), int)).left.shape == (0, 3)


def test_a_batch_does_not_change_its_tables() -> None:
    batch = tables(6, 3, 7)
    before = batch.copy()
    splitlab.split(batch, splitter=lambda table, impurity: np.arange(len(table)) == table.argmax() % len(table))
    assert (batch == before).all()


# A partition of one's own

FRAME = pd.DataFrame({"no": [3, 1, 2], "yes": [1, 3, 2]}, index=["blue", "green", "red"])
GREEN = [["green"], ("green",), [False, True, False], np.array([False, True, False]), pd.Series([False, True, False])]


@pytest.mark.parametrize("left", GREEN, ids=repr)
def test_the_left_side_is_a_mask_or_labels(left: Any) -> None:
    assert splitlab.impurity(FRAME, left) == 5.25
    assert splitlab.gain(FRAME, left) == 0.0625
    assert splitlab.gain(FRAME, left, "entropy") == splitlab.split(FRAME, "entropy").gain


def test_rows_without_labels_go_by_their_places() -> None:
    assert splitlab.impurity(FRAME.to_numpy().tolist(), [1]) == 5.25


def test_an_impurity_of_ones_own() -> None:
    own = splitlab.split(FRAME, lambda p: p * (1 - p))
    assert splitlab.impurity(FRAME, ["green"], lambda p: p * (1 - p)) == own.impurity == 5.25


WRONG: list[tuple[Any, type[Exception], str]] = [
    (["pink"], ValueError, "left: 'pink' is no label of a row; the labels are 'blue', 'green', 'red'"),
    (["red", "red"], ValueError, "left: 'red' is there twice; name each row once, or give one boolean"),
    ([1, 0, 0], ValueError, "left: 1 is no label"),
    ([[1]], ValueError, "left: a list is no label"),
    ([True, False], ValueError, "left: has 2 booleans, and the table has 3 rows"),
    ([], ValueError, "left: leaves the left side empty"),
    ([True] * 3, ValueError, "left: leaves the right side empty"),
    ("red", TypeError, "left: got 'red'; give one boolean for each row, or a list of labels"),
    (None, TypeError, "left: got None"),
]


@pytest.mark.parametrize(("left", "error", "says"), WRONG, ids=lambda value: repr(value)[:30])
def test_what_is_no_left_side(left: Any, error: type[Exception], says: str) -> None:
    for worth in (splitlab.impurity, splitlab.gain):
        with pytest.raises(error, match=says):
            worth(FRAME, left)


def test_a_mask_of_integers_is_not_taken_for_places() -> None:
    with pytest.raises(ValueError, match="0 is there twice; name each row once, or give one boolean"):
        splitlab.impurity([[1, 2], [2, 1], [1, 1]], [0, 1, 0])


@pytest.mark.parametrize("impurity", ["ginni", 3])
def test_other_impurities_are_refused_as_elsewhere(impurity: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="impurity: "):
        splitlab.impurity(FRAME, ["red"], impurity)


# Notebooks


def test_a_split_in_a_notebook_escapes_its_labels() -> None:
    shown = splitlab.split(FRAME.rename(index={"green": "<b>"}))._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert shown.count("<tr") == 6  # the classes, two sides, three values
    assert "impurity 5.25, gain 0.0625" in shown
