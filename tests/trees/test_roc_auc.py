"""The area under the ROC curve against its definition and scikit-learn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from splitlab.trees.statistics import roc_auc


def by_definition(y: np.ndarray, shares: np.ndarray) -> float:
    """The mean over pairs of classes of how often the right one of two examples has more; ties are half."""

    def area(i: int, j: int) -> float:
        of_i, of_j = shares[y == i, i], shares[y == j, i]
        return float(np.mean([(a > b) + (a == b) / 2 for a in of_i for b in of_j]))

    return float(np.mean([(area(i, j) + area(j, i)) / 2 for i, j in itertools.combinations(np.unique(y), 2)]))


@settings(deadline=None)  # scikit-learn takes its time
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 40))
def test_it_is_what_its_definition_says(seed: int, k: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(0, k, more)])
    counts = rng.integers(0, 4, (len(y), k)) + np.eye(k, dtype=int)[y]  # small counts make many ties
    shares = counts / counts.sum(1, keepdims=True)
    assert roc_auc(y, shares) == pytest.approx(by_definition(y, shares), abs=1e-12)
    if k == 2:
        assert roc_auc(y, shares[:, 1]) == pytest.approx(roc_auc_score(y, shares[:, 1]), abs=1e-12)
    else:
        wanted = roc_auc_score(y, shares, multi_class="ovo", average="macro")
        assert roc_auc(y, shares) == pytest.approx(wanted, abs=1e-12)


def test_classes_that_do_not_occur_make_no_pair() -> None:
    shares = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.5, 0.2, 0.3]])
    assert roc_auc(["a", "b", "a"], shares, ["a", "b", "c"]) == 1.0


@pytest.mark.parametrize(
    ("y", "shares", "classes", "message"),
    [
        ([0, 0], [0.1, 0.2], [0, 1], "fewer than two classes occur"),
        ([0, 1], [0.1, np.nan], None, "row 1 has a NaN"),
        ([0, 1, 2], [0.1, 0.2, 0.3], None, "need a row for each of 3 examples and a column for each of 3 classes"),
        ([0, 5], [0.1, 0.2], [0, 1], "5.* is not among the classes"),
    ],
)
def test_what_cannot_be_measured(y: list[int], shares: list[float], classes: list[int] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        roc_auc(y, shares, classes)
