"""Trees against a plain recursive grower and scikit-learn's, and the filters, pruning and limits of growing."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from sklearn.tree import DecisionTreeClassifier as Reference

from splitlab.impurity import code
from splitlab.splitters import get as get_splitter
from splitlab.splitters import split_batch
from splitlab.trees import filters, growing
from splitlab.trees.criteria import CRITERIA, get
from splitlab.trees.grouping import Grouping
from splitlab.trees.growing import Examples, Growth, grow
from splitlab.trees.measures import measure
from splitlab.trees.proposals import values_of
from splitlab.trees.tree import Tree

NAN = float("nan")


def examples(seed: int, n: int, p: int, k: int, missing: float = 0.0) -> Examples:
    """Every other column nominal, the labels depending on the first two."""
    rng = np.random.default_rng(seed)
    x = np.empty((n, p), order="F")
    for j in range(p):
        x[:, j] = rng.integers(0, 5 + 2 * j, n) if j % 2 else rng.normal(size=n).round(1)
    signal = (x[:, 0] > 0) + (x[:, min(1, p - 1)] % 3 == 1) + (rng.random(n) < 0.2)
    y = (signal + rng.integers(0, 2, n) * (k > 3)).astype(np.int64) % k
    x[rng.random((n, p)) < missing] = NAN
    return Examples(x, np.arange(p) % 2 == 1, y, k)


def growth(criterion: str = "gini", splitter: str = "lca", **options: Any) -> Growth:
    entry = get(criterion)
    return Growth(entry, Grouping(entry, splitter), **options)


class Plain:
    """One node after the other, one candidate after the other."""

    def __init__(self, data: Examples, how: Growth) -> None:
        self.data, self.how = data, how
        self.nodes: list[tuple[int, list[int], int, float]] = []  # depth, counts, feature, threshold
        self.grow(np.arange(len(data.y)), 0, ())

    def counts(self, rows: np.ndarray) -> np.ndarray:
        return np.bincount(self.data.y[rows], minlength=self.data.k)

    def grow(self, rows: np.ndarray, depth: int, dead: tuple[int, ...]) -> None:
        counts, best = self.counts(rows), None
        if (counts > 0).sum() > 1 and len(rows) >= self.how.min_samples_split and depth < self.how.max_depth:
            dead = tuple(j for j in range(self.data.x.shape[1]) if j in dead or self.is_dead(rows, j))
            for j in range(self.data.x.shape[1]):
                if j not in dead:
                    for threshold, parts in self.candidates(rows, j):
                        best = self.better(best, (j, threshold, parts))
        self.nodes.append((depth, counts.tolist(), best[0] if best else -1, best[1] if best else NAN))
        if best:
            for part in best[2]:
                self.grow(part, depth + 1, dead)

    def is_dead(self, rows: np.ndarray, j: int) -> bool:
        x = self.data.x[rows, j]
        sizes = np.sort(np.unique(x[~np.isnan(x)], return_counts=True)[1])
        return len(sizes) < 2 or bool(self.data.nominal[j] and sizes[-2] < self.how.min_second)

    def candidates(self, rows: np.ndarray, j: int) -> list[tuple[float, list[np.ndarray]]]:
        x = self.data.x[rows, j]
        known = rows[~np.isnan(x)]
        values = np.unique(self.data.x[known, j])
        if not self.data.nominal[j]:
            cuts = [(low + high) / 2 for low, high in itertools.pairwise(values)]
            return [(cut, self.parts(rows, j, [values[values <= cut], values[values > cut]])) for cut in cuts]
        table = np.array([self.counts(known[self.data.x[known, j] == v]) for v in values])
        table = table[:, table.any(0)]
        if table.shape[1] < 2:
            return []
        if self.how.max_p is not None and chi2_contingency(table, correction=False).pvalue >= self.how.max_p:
            return []
        if self.how.grouping.splitter == "multiway":
            return [(NAN, self.parts(rows, j, [[v] for v in values]))]
        if table.shape[1] == 2 and not self.how.criterion.is_gain:
            mask = self.best_prefix(table)
        else:
            kind, splitter = code(self.how.criterion.impurity), get_splitter(str(self.how.grouping.splitter))
            mask = split_batch(splitter, np.ascontiguousarray(table[None]), kind)[0]
        return [(NAN, self.parts(rows, j, [values[mask], values[~mask]]))]

    def best_prefix(self, table: np.ndarray) -> np.ndarray:
        order = sorted(range(len(table)), key=lambda v: (table[v, 0] / table[v].sum(), v))
        masks = [np.isin(np.arange(len(table)), order[:cut]) for cut in range(1, len(table))]
        values = [self.how.criterion.keys(np.array([table[m].sum(0), table[~m].sum(0)]))[0] for m in masks]
        return masks[next(i for i, value in enumerate(values) if value >= max(values) - self.noise(max(values)))]

    def noise(self, value: float) -> float:
        return self.how.criterion.same * max(self.how.criterion.floor, abs(value))

    def parts(self, rows: np.ndarray, j: int, groups: list[Any]) -> list[np.ndarray]:
        inside = [np.isin(self.data.x[rows, j], group) for group in groups]
        largest = int(np.argmax([here.sum() for here in inside]))
        inside[largest] = inside[largest] | np.isnan(self.data.x[rows, j])
        return [rows[here] for here in inside]

    def better(self, best: Any, candidate: Any) -> Any:
        if min(map(len, candidate[2])) < self.how.min_samples_leaf:
            return best
        if best is None:
            return candidate
        old, new = (self.how.criterion.keys(np.array([self.counts(p) for p in c[2]])) for c in (best, candidate))
        for a, b in zip(new, old, strict=True):
            if abs(a - b) > self.noise(max(a, b)):
                return candidate if a > b else best
        return best


def described(tree: Tree) -> list[tuple[int, list[int], int, float]]:
    """The nodes in reading order."""
    found, stack = [], [0]
    while stack:
        node = stack.pop()
        found.append((int(tree.depth[node]), tree.counts[node].tolist(), int(tree.feature[node]), tree.threshold[node]))
        first = int(tree.first_child[node])
        stack += range(first + int(tree.n_branches[node]) - 1, first - 1, -1)
    return found


def check_same(tree: Tree, plain: Plain) -> None:
    nodes = described(tree)
    assert [n[:3] for n in nodes] == [n[:3] for n in plain.nodes]
    assert [n[3] for n in nodes] == pytest.approx([n[3] for n in plain.nodes], rel=1e-12, nan_ok=True)


CASES: list[tuple[str, str, int, dict[str, Any]]] = [
    ("gini", "lca", 2, {}),
    ("entropy", "hcc", 3, {"max_depth": 4}),
    ("gini", "sliq_ext", 4, {"min_samples_leaf": 5}),
    ("gain_ratio", "multiway", 3, {"max_depth": 3}),
    ("dcsm", "multiway", 3, {"min_samples_split": 20}),
    ("ihd", "lca", 3, {"max_depth": 5}),
    ("hddt", "multiway", 2, {"max_depth": 4}),
    ("ccp_entropy", "lca", 3, {"max_depth": 3, "min_decrease": -np.inf}),
    ("gini", "lca", 3, {"max_p": 0.1, "min_second": 15, "max_depth": 16}),
]


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize(("criterion", "splitter", "k", "options"), CASES)
def test_same_tree_as_the_plain_grower(
    criterion: str, splitter: str, k: int, options: dict[str, Any], missing: float
) -> None:
    for seed in range(2):
        data = examples(seed, 110, 4, k, missing)
        how = growth(criterion, splitter, **options)
        tree = grow(data, how)
        check_same(tree, Plain(data, how))
        assert tree.node_count > 5


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = examples(1, 400, 5, 3, 0.1)
    whole = grow(data, growth())
    monkeypatch.setattr(growing, "CELLS", 50)
    parts = grow(data, growth())
    for name, array in vars(whole).items():
        np.testing.assert_array_equal(array, getattr(parts, name), err_msg=name)


@pytest.mark.parametrize("least", [1, 7])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_same_splits_as_scikit_learn_where_no_two_are_equal(criterion: str, least: int) -> None:
    compared = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        k, depth = 2 + seed % 4, 1 + seed % 4
        x = np.asfortranarray(rng.normal(size=(3000, 4)).astype(np.float32).astype(np.float64))
        y = (rng.integers(0, 2, 3000) + (x[:, 1] > 0) * 2 + (x[:, 2] > 1)) % k
        tree = grow(
            Examples(x, np.zeros(4, np.bool_), y.astype(np.int64), k),
            growth(criterion, max_depth=depth, min_samples_leaf=least, min_samples_split=200),
        )
        reference = Reference(
            criterion=criterion, max_depth=depth, min_samples_leaf=least, min_samples_split=200, random_state=0
        ).fit(x, y)
        theirs = reference.tree_
        mine = {(round(t, 5), f, *c) for _, c, f, t in described(tree) if f >= 0}
        inner = theirs.feature >= 0
        counts = (theirs.value[:, 0] * theirs.n_node_samples[:, None]).round().astype(int)
        other = zip(theirs.threshold[inner], theirs.feature[inner], counts[inner], strict=True)
        assert mine == {(round(float(t), 5), int(f), *c.tolist()) for t, f, c in other}
        assert (tree.majority[tree.apply(x)] == reference.predict(x)).all()
        compared += len(mine)
    assert compared > 30


def test_independence_is_pearsons_test() -> None:
    data = examples(3, 500, 2, 3)
    node = np.sort(np.random.default_rng(0).integers(0, 6, 500))
    order = np.lexsort((data.x[:, 1], node))
    values = values_of(node[order], data.x[order, 1], data.y[order], 3)
    p = filters.independence(values, 8)
    for number in range(6):
        table = values.counts[values.node == number]
        assert p[number] == pytest.approx(chi2_contingency(table[:, table.any(0)], correction=False).pvalue, rel=1e-9)
    assert p[6:].tolist() == [1, 1]
    second = filters.second_most_frequent(values, 8)
    assert second[:6].tolist() == [sorted(values.counts[values.node == v].sum(1))[-2] for v in range(6)]
    assert second[6:].tolist() == [0, 0]


def test_an_attribute_that_is_too_rare_is_dead_below() -> None:
    # Value 1 of the nominal column has 10 examples, all on the left of the threshold, where 10 are its majority.
    x = np.zeros((100, 2), order="F")
    x[:10, 1] = 1
    x[15:, 0] = 1
    y = np.where(np.arange(100) < 15, np.arange(100) < 10, np.arange(100) < 40).astype(np.int64)
    data = Examples(x, np.array([False, True]), y, 2)
    free = grow(data, growth())
    assert 1 in free.feature
    assert 1 not in grow(data, growth(min_second=11)).feature
    assert grow(data, growth(min_second=5)).feature.tolist() == free.feature.tolist()


def test_splits_without_gain_are_made_unless_one_is_asked_for() -> None:
    x = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]], order="F")
    data = Examples(x, np.zeros(2, np.bool_), np.array([0, 1, 1, 0]), 2)
    tree = grow(data, growth())
    assert (tree.majority[tree.apply(x)] == data.y).all()
    assert grow(data, growth(min_decrease=1e-6)).node_count == 1


def uncompiled(how: Growth) -> Growth:
    return replace(how, criterion=replace(how.criterion, code=-1))


def test_joined_columns_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data, how = examples(5, 200, 9, 3, missing=0.1), uncompiled(growth(min_samples_leaf=2))
    data = replace(data, nominal=np.arange(9) == 5)
    joined = grow(data, how)
    assert len(list(growing._batches(np.arange(9), data.nominal, [600] * 9))) == 3
    monkeypatch.setattr(growing, "BATCH", 0)
    assert len(list(growing._batches(np.arange(9), data.nominal, [600] * 9))) == 9
    alone = grow(data, how)
    for name, array in vars(joined).items():
        assert np.array_equal(array, getattr(alone, name), equal_nan=True), name


@pytest.mark.parametrize("criterion", [*(name for name in CRITERIA if get(name).code >= 0), f"{__name__}:sines"])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_compiled_sweeps_find_what_the_formulas_find(criterion: str, k: int) -> None:
    rng = np.random.default_rng(k)
    options: list[dict[str, Any]] = [{}, {"min_samples_leaf": 3}, {"min_weight_leaf": 7.0}, {"max_depth": 2}]
    for seed, how in enumerate(options):
        for missing in (0.0, 0.15):
            data = examples(seed, 150, 5, k, missing)
            data = replace(data, nominal=np.zeros(5, np.bool_), tree=rng.integers(0, 2, 150))
            if seed % 2:
                data = replace(data, weight=rng.integers(1, 4, 150), unit=0.5)
            fast = grow(data, growth(criterion, **how))
            slow = grow(data, uncompiled(growth(criterion, **how)))
            for name, array in vars(slow).items():
                if name == "improvement":
                    assert np.allclose(fast.improvement, array, rtol=1e-11, atol=1e-15, equal_nan=True)
                else:
                    assert np.array_equal(getattr(fast, name), array, equal_nan=True), name


def sines(x: float) -> float:
    """An impurity: 0 at 0 and 1, concave."""
    return math.sin(math.pi * x)


@pytest.mark.parametrize("criterion", [name for name in CRITERIA if get(name).code >= 0])
@pytest.mark.parametrize("largest", [1, 30, 10**6, 10**14])
def test_compiled_measures_are_the_formulas(criterion: str, largest: int) -> None:
    """Also of splits that change next to nothing, and of classes that are absent."""
    entry, rng = get(criterion), np.random.default_rng(largest % 1000)
    for k in (2, 3, 5):
        tables = rng.integers(0, largest, (60, 2, k), endpoint=True)
        tables[::3, 1] = tables[::3, 0] + rng.integers(0, 2, (20, k))  # nearly proportional
        for left, right in tables[(tables.sum(2) > 0).all(1)]:
            totals, sizes = left + right, (int(left.sum()), int(right.sum()))
            found = measure(left, right, totals, *sizes, entry.code, code(entry.impurity))
            (expected,) = entry.keys(np.stack([left, right])[None])[0]
            assert found == pytest.approx(expected, rel=1e-11, abs=1e-14 * max(entry.floor, 1e-6)), (left, right)


def test_the_compiled_dcsm_of_many_classes_is_a_logarithm() -> None:
    left, right = np.ones(600, np.int64), np.arange(600) % 2
    found = measure(left, right, left + right, 600, 300, get("dcsm").code, 1)
    assert found == pytest.approx(get("dcsm").keys(np.stack([left, right])[None])[0, 0], rel=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_splits_into_proportional_parts_are_made_by_every_criterion(criterion: str) -> None:
    rng = np.random.default_rng(0)
    for k in range(2, 40) if criterion != "hddt_all" else range(2, 8):
        part = np.repeat(np.arange(k), rng.integers(1, 9, k))
        x = np.repeat([0.0, 1.0], [len(part), 4 * len(part)])[:, None]
        data = Examples(x, np.zeros(1, np.bool_), np.tile(part, 5), k)
        assert grow(data, growth(criterion, max_depth=1)).node_count == 3
        least = 1e-9 + 2 * float(get(criterion).noise(np.bincount(data.y)[None])[0])
        assert grow(data, growth(criterion, max_depth=1, min_decrease=least)).node_count == 1


def test_least_improvement_is_weighed_by_the_size_of_the_node() -> None:
    data = examples(0, 200, 4, 3)
    tree = grow(data, growth(min_decrease=0.02))
    inner = ~tree.leaves
    assert (tree.improvement[inner] * tree.counts[inner].sum(1) / 200 >= 0.02 - 1e-12).all()
    assert 1 < tree.node_count < grow(data, growth()).node_count


def test_the_first_attribute_wins_ties_unless_random() -> None:
    column = np.array([0.0, 0, 1, 1, 1])
    x = np.asfortranarray(np.stack([column] * 6, 1))
    data = Examples(x, np.zeros(6, np.bool_), np.array([0, 0, 1, 1, 1]), 2)
    assert grow(data, growth()).feature[0] == 0
    drawn = {int(grow(data, growth(rng=np.random.RandomState(seed))).feature[0]) for seed in range(40)}
    assert drawn == set(range(6))


def test_max_features_draws_among_the_attributes_that_can_be_split() -> None:
    rng = np.random.default_rng(0)
    x = np.asfortranarray(np.stack([np.zeros(50), rng.normal(size=50), rng.normal(size=50)], 1))
    x[:, 2] = x[:, 1] > 0
    data = Examples(x, np.zeros(3, np.bool_), (x[:, 1] > 0).astype(np.int64), 2)
    roots = {
        int(grow(data, growth(max_depth=1, max_features=1, rng=np.random.RandomState(seed))).feature[0])
        for seed in range(20)
    }
    assert roots == {1, 2}


def test_pruning() -> None:
    data = examples(2, 300, 4, 2)
    tree = grow(data, growth(max_depth=5))
    pruned = tree.pruned()
    assert (pruned.majority[pruned.apply(data.x)] == tree.majority[tree.apply(data.x)]).all()
    assert pruned.node_count < tree.node_count
    for node in np.flatnonzero(~pruned.leaves):
        first = pruned.first_child[node]
        children = np.arange(first, first + pruned.n_branches[node])
        if pruned.leaves[children].all():
            assert len(set(pruned.majority[children])) > 1
        assert (pruned.counts[children].sum(0) == pruned.counts[node]).all()
        assert (pruned.depth[children] == pruned.depth[node] + 1).all()
    assert np.isin(pruned.value_node, np.flatnonzero(~pruned.leaves)).all()


def test_pruning_to_the_root() -> None:
    x = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], order="F")
    data = Examples(x, np.array([False, True]), np.array([0, 0, 0, 1, 0]), 2)
    tree = grow(data, growth(max_depth=1)).pruned()
    assert tree.node_count == 1
    assert tree.leaves.all()


def test_unseen_values_go_to_the_larger_branch_or_stop() -> None:
    x = np.array([[0.0], [0], [1], [2], [2], [2]], order="F")
    data = Examples(x, np.array([True]), np.array([0, 0, 0, 1, 1, 1]), 2)
    tree = grow(data, growth())
    strange = np.array([[7.0], [NAN], [-1.0], [2.0]])
    larger = int(tree.first_child[0] + tree.default[0])
    assert tree.apply(strange).tolist()[:3] == [larger] * 3
    assert tree.apply(strange, stop_at_unseen=True).tolist()[:3] == [0, 0, 0]
    assert tree.majority[tree.apply(strange)[3]] == 1


@pytest.mark.parametrize("criterion", ["gini", "dcsm"])
def test_the_training_examples_end_where_they_were_counted(criterion: str) -> None:
    data = examples(4, 500, 6, 4, 0.1)
    tree = grow(data, growth(criterion))
    ends = tree.apply(data.x)
    assert tree.leaves[ends].all()
    counted = np.bincount(ends * 4 + data.y, minlength=4 * tree.node_count).reshape(-1, 4)
    assert (counted[tree.leaves] == tree.counts[tree.leaves]).all()


@pytest.mark.parametrize("side", [0, 1])
def test_an_empty_side_is_no_split(side: int) -> None:
    data = examples(5, 100, 2, 2)
    nominal = Examples(data.x[:, 1:], data.nominal[1:], data.y, 2)

    def lazily(tables: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.full(tables.shape[:2], side)

    how = growth()
    assert grow(nominal, how).node_count > 1
    object.__setattr__(how, "grouping", lazily)
    assert grow(nominal, how).node_count == 1
