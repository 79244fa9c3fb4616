"""What trees and their figures show in a notebook."""

from __future__ import annotations

import sys

import pandas as pd

from splitlab.trees import DecisionTreeClassifier, plot
from splitlab.trees.statistics import cd_diagram, compare

X = pd.DataFrame({"colour <b>": list("rgbrgb"), "size": [1, 2, 3, 4, 5, 6]})


def test_figures_show_themselves() -> None:
    tree = DecisionTreeClassifier().fit(X, list("nnyynn"))
    for figure in (plot(tree), cd_diagram(compare([[0.9, 0.8], [0.7, 0.6], [0.8, 0.7]], ["x", "y"]))):
        assert figure._repr_png_().startswith(b"\x89PNG")
    assert "matplotlib.pyplot" not in sys.modules


def test_a_fitted_tree_shows_its_size_and_its_attributes() -> None:
    tree = DecisionTreeClassifier()
    before = tree._repr_mimebundle_()["text/html"]
    assert "importance" not in before
    shown = tree.fit(X, list("nnyynn"))._repr_mimebundle_()["text/html"]
    assert f"<p>{tree.tree_.node_count} nodes, {tree.get_n_leaves()} leaves, depth {tree.get_depth()}</p>" in shown
    assert "colour &lt;b&gt;" in shown
    assert f"{tree.feature_importances_.max():.4f}" in shown
