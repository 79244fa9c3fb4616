"""Data and comparisons for trees of weighted examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from splitlab.trees import DecisionTreeClassifier


def numeric(seed: int, n: int = 1500, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that float32 holds exactly, no two of them equal, and labels so noisy that no large node is pure."""
    rng = np.random.default_rng(seed)
    x = rng.permutation(n * 4).reshape(n, 4) / 64
    return x, (x[:, 1] + x[:, 2] + rng.normal(0, 90, n)).argsort().argsort() * k // n


def same_tree(mine: DecisionTreeClassifier, other: Any, x: np.ndarray) -> None:
    """The partition of the examples, and the shares of the classes in its parts."""
    assert mine.tree_.node_count == other.tree_.node_count
    pairs = set(zip(mine.apply(x).tolist(), other.apply(x).tolist(), strict=True))
    assert len(pairs) == other.get_n_leaves()
    assert mine.predict_proba(x) == pytest.approx(other.predict_proba(x), abs=1e-9)
    assert mine.feature_importances_ == pytest.approx(other.feature_importances_, abs=1e-9)


def mixed(seed: int, n: int = 150) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = pd.DataFrame({"c": rng.choice(list("abcdefgh"), n), "d": rng.choice(list("xyz"), n), "z": rng.normal(size=n)})
    x.loc[::7, "c"] = None
    x.loc[::9, "z"] = None
    y = (x["c"].isin(list("adf")).to_numpy() + x["z"].fillna(0).to_numpy() + rng.normal(0, 0.5, n) > 0.5) * 1
    y[rng.random(n) < 0.2] = 2
    return x, y, rng.integers(0, 5, n)
