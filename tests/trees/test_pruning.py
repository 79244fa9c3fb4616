"""Minimal cost-complexity pruning: scikit-learn's on numeric data, and the definition on any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier as Reference

from splitlab.trees import DecisionTreeClassifier, export_text
from splitlab.trees.pruning import pruned, weakest_links
from splitlab.trees.tree import Tree
from tests.helpers.weights import mixed, numeric, same_tree


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("weighted", [False, True])
def test_as_in_scikit_learn(criterion: str, weighted: bool) -> None:
    x, y = numeric(12)
    weight = np.random.default_rng(0).gamma(2.0, size=len(y)) if weighted else None
    options: dict[str, Any] = {"criterion": criterion, "min_samples_leaf": 25}
    mine, other = DecisionTreeClassifier(**options), Reference(**options, random_state=0)
    path, expected = (tree.cost_complexity_pruning_path(x, y, weight) for tree in (mine, other))
    assert path.ccp_alphas == pytest.approx(expected.ccp_alphas, abs=1e-12)
    assert path.impurities == pytest.approx(expected.impurities, abs=1e-12)
    assert len(path.ccp_alphas) > 10
    for alpha in (path.ccp_alphas[1:] + path.ccp_alphas[:-1]) / 2:
        pair = (tree.set_params(ccp_alpha=alpha).fit(x, y, weight) for tree in (mine, other))
        same_tree(*pair, x)


@pytest.mark.parametrize("splitter", ["hd", "multiway"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "dcsm", "hddt", "gain_ratio"])
@pytest.mark.parametrize("prune", [False, True])
def test_the_path_says_which_trees_there_are(splitter: str, criterion: str, prune: bool) -> None:
    x, y, weight = mixed(9)
    options: dict[str, Any] = {"criterion": criterion, "splitter": splitter, "prune": prune}
    path = DecisionTreeClassifier(**options).cost_complexity_pruning_path(x, y, weight)
    assert path.ccp_alphas[0] == 0
    assert (np.diff(path.ccp_alphas) >= -1e-12).all()
    assert (np.diff(path.impurities) >= -1e-12).all()
    leaves = []
    for alpha in path.ccp_alphas[:: max(1, len(path.ccp_alphas) // 8)]:
        tree = DecisionTreeClassifier(**options, ccp_alpha=max(alpha, 0) + 1e-12).fit(x, y, weight)
        leaves.append(tree.get_n_leaves())
    assert leaves == sorted(leaves, reverse=True)
    assert DecisionTreeClassifier(**options, ccp_alpha=path.ccp_alphas[-1] + 1e-9).fit(x, y, weight).get_n_leaves() == 1


def subtrees(tree: Tree, node: int = 0) -> list[frozenset[int]]:
    """All pruned subtrees, each as the set of its leaves."""
    found = [frozenset([node])]
    if not tree.leaves[node]:
        first = int(tree.first_child[node])
        parts = [frozenset[int]()]
        for child in range(first, first + int(tree.n_branches[node])):
            parts = [part | other for part in parts for other in subtrees(tree, child)]
        found += parts
    return found


@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_all_subtrees(seed: int) -> None:
    x, y, _ = mixed(seed, 60)
    tree = DecisionTreeClassifier(splitter="multiway", max_depth=3).fit(x[["d", "z"]], y).tree_
    cost = (tree.counts.sum(1) - (tree.counts**2).sum(1) / tree.counts.sum(1)) / tree.counts[0].sum()
    options = subtrees(tree)
    assert len(options) > 5
    for alpha in np.linspace(0.001, 0.2, 20):
        chosen = pruned(tree, cost, alpha)
        totals = {leaves: sum(cost[list(leaves)]) + alpha * len(leaves) for leaves in options}
        best = min(totals.values())
        smallest = min(len(leaves) for leaves, total in totals.items() if total <= best + 1e-12)
        counts = chosen.counts[chosen.leaves]
        of_leaves = (counts.sum(1) - (counts**2).sum(1) / counts.sum(1)).sum() / tree.counts[0].sum()
        assert of_leaves + alpha * chosen.leaves.sum() == pytest.approx(best)
        assert chosen.leaves.sum() == smallest


def test_every_inner_node_is_cut_at_most_once() -> None:
    x, y, _ = mixed(3)
    tree = DecisionTreeClassifier().fit(x, y).tree_
    links = list(weakest_links(tree, np.linspace(1, 0, tree.node_count)))
    assert links[-1].node == 0
    assert len({link.node for link in links}) == len(links) <= (~tree.leaves).sum()


def test_searches_and_clones() -> None:
    x, y, _ = mixed(2, 300)
    search = GridSearchCV(DecisionTreeClassifier(), {"ccp_alpha": [0.0, 0.01, 0.1], "splitter": ["hd", "lca"]}, cv=3)
    assert search.fit(x, y).best_params_["ccp_alpha"] > 0
    tree = DecisionTreeClassifier(ccp_alpha=0.01, class_weight={0: 2.0}).fit(x, y)
    assert export_text(clone(tree).fit(x, y)) == export_text(tree)
    assert tree.feature_importances_.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="The 'ccp_alpha' parameter of DecisionTreeClassifier must be"):
        DecisionTreeClassifier(ccp_alpha=-1).fit(x, y)


def test_a_chain_deeper_than_recursion_goes() -> None:
    n = 1500
    y = np.arange(n) % 2
    tree = DecisionTreeClassifier(ccp_alpha=1e-9).fit(pd.DataFrame({"z": np.arange(n)}), y)
    assert tree.get_n_leaves() > 1000
    assert DecisionTreeClassifier(ccp_alpha=0.1).fit(np.arange(n)[:, None], y).get_n_leaves() == 1
