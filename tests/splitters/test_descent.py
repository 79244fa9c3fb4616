"""Hyperplane descent: its gradient, its steps, its starts, and the polished splitters."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import splitlab
from splitlab.impurity import LEAST_SHARE, NAMES, STRICTLY, impurity, impurity_gradient, score
from splitlab.splitters import get, known, names, split_batch
from splitlab.splitters.kernels.components import components
from splitlab.splitters.kernels.descent import polish
from splitlab.study import load_experiment, opened
from tests.helpers.tables import optimum, random_tables

Masks = NDArray[np.bool_]
Tables = NDArray[np.int64]

KINDS = [pytest.param(kind, id=name) for kind, name in enumerate(NAMES)]
SHAPES = [
    (2, 2, 7), (3, 2, 1), (6, 3, 7), (12, 5, 1), (12, 9, 7), (25, 3, 15), (20, 5, 10**6), (65, 2, 1), (12, 5, 10**13),
    (70, 3, 10**12),
]  # fmt: skip


def random_masks(seed: int, b: int, n: int) -> Masks:
    """Splits without an empty side."""
    masks = np.random.default_rng(seed).random((b, n)) < 0.5
    masks[np.arange(b), np.arange(b) % n] = True
    masks[np.arange(b), (np.arange(b) + 1) % n] = False
    return masks


def polished(tables: Tables, kind: int, masks: Masks) -> Masks:
    result = masks.copy()
    polish(tables, kind, result)
    return result


def best_prefix(table: Tables, scores: NDArray[np.float64], kind: int) -> tuple[float, Masks]:
    """The best prefix by the scores, ties by row index, the first of equal ones."""
    order = np.argsort(scores, kind="stable")
    masks = np.zeros((len(table) - 1, len(table)), np.bool_)
    for cut in range(len(masks)):
        masks[cut, order[: cut + 1]] = True
    values = score(np.repeat(table[None], len(masks), axis=0), masks, kind)
    cut = int(np.argmax(values <= values.min() + STRICTLY * table.sum()))
    return float(values[cut]), masks[cut]


def gradient(counts: NDArray[np.int64], kind: int) -> NDArray[np.float64]:
    slopes = np.empty(len(counts))
    impurity_gradient(counts, kind, slopes)
    return slopes


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 3, 9])
def test_the_gradient_is_that_of_the_impurity(k: int, kind: int) -> None:
    rng = np.random.default_rng(k)
    for scale in (10**4, 10**6):
        counts = rng.integers(scale, 3 * scale, k)
        steps = np.eye(k, dtype=np.int64) * (scale // 100)
        differences = [(impurity(counts + s, kind) - impurity(counts - s, kind)) / (2 * s.max()) for s in steps]
        assert gradient(counts, kind) == pytest.approx(differences, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("counts", [[5, 0, 3], [1, 0], [1, 10**15 - 1], [4 * 10**14, 0, 1, 6 * 10**14 - 1]])
def test_the_impurity_is_homogeneous(counts: list[int], kind: int) -> None:
    u = np.array(counts)
    assert gradient(u, kind) @ u == pytest.approx(impurity(u, kind), rel=1e-9, abs=1e-15 * u.sum())


def test_an_absent_class_has_the_steepest_entropy() -> None:
    slopes = gradient(np.array([0, 1, 10**15 - 1]), 1)
    assert slopes[0] == -np.log2(LEAST_SHARE)
    assert slopes[0] > slopes[1] > slopes[2] >= 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "n{}_k{}_m{}".format(*s))
def test_a_descent_never_ends_above_its_start(shape: tuple[int, int, int], kind: int) -> None:
    tables = random_tables(1, *shape, count=400)
    starts = random_masks(2, 400, shape[0])
    ends = polished(tables, kind, starts)
    before, after = score(tables, starts, kind), score(tables, ends, kind)
    assert (after <= before + STRICTLY * tables.sum(axis=(1, 2))).all()
    assert after.mean() < before.mean() or shape[0] == 2
    assert ends[:, 0].all()
    assert not ends.all(axis=1).any()
    assert (polished(tables, kind, ends) == ends).all()
    assert (polished(tables, kind, ~starts) == ends).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(6, 3, 7), (12, 5, 1), (25, 4, 100), (70, 3, 10**12)])
def test_a_descent_ends_where_no_step_leads_on(shape: tuple[int, int, int], kind: int) -> None:
    tables = random_tables(3, *shape, count=25)
    ends = polished(tables, kind, random_masks(4, 25, shape[0]))
    for table, mask, value in zip(tables, ends, score(tables, ends, kind), strict=True):
        least = value - 2 * STRICTLY * table.sum()
        moved = mask ^ np.eye(len(mask), dtype=np.bool_)
        moved = moved[moved.any(axis=1) & ~moved.all(axis=1)]
        assert (score(np.repeat(table[None], len(moved), axis=0), moved, kind) >= least).all()
        shares = table / table.sum(axis=1, keepdims=True)
        d = gradient(table[mask].sum(axis=0), kind) - gradient(table[~mask].sum(axis=0), kind)
        assert best_prefix(table, np.round(shares @ d, 10), kind)[0] >= least


def test_the_slopes_lead_across_many_rows_at_once() -> None:
    table = np.array([[[9, 1, 0], [8, 1, 1], [0, 1, 9], [1, 1, 8]]])
    assert polished(table, 0, np.array([[True, False, False, True]])).tolist() == [[True, True, False, False]]


def test_a_single_row_moves_where_no_prefix_is_better() -> None:
    table = np.array([[2, 3, 5], [5, 3, 5], [3, 7, 6], [7, 7, 3], [3, 0, 2], [6, 2, 6]])
    start = np.array([True, False, True, False, False, False])
    d = gradient(table[start].sum(axis=0), 0) - gradient(table[~start].sum(axis=0), 0)
    along = best_prefix(table, table / table.sum(axis=1, keepdims=True) @ d, 0)[0]
    assert along >= score(table[None], start[None], 0)[0]
    assert polished(table[None], 0, start[None]).tolist() == [[True, False, True, True, False, False]]


def orders(table: Tables) -> list[NDArray[np.float64]]:
    """The scores behind the starts of `hd`, written anew."""
    sizes = table.sum(axis=1)
    k = table.shape[1]
    scores = [table[:, i] / sizes for i in range(k)]
    scores += [(table[:, i] - table[:, j]) / sizes for i, j in combinations(range(k), 2)]
    away = table / sizes[:, None] - table.sum(axis=0) / table.sum()
    eigenvalues, vectors = np.linalg.eigh((away * sizes[:, None]).T @ away)
    for value, vector in list(zip(eigenvalues, vectors.T, strict=True))[::-1]:
        if value > 1e-9 * eigenvalues[-1]:
            leading = np.argmax(np.abs(vector) > np.abs(vector).max() - 1e-9)
            scores.append((table / sizes[:, None]) @ (vector * np.sign(vector[leading])))
    return scores


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(6, 2, 7), (8, 3, 100), (12, 5, 10**6), (25, 4, 10**12)])
def test_hd_is_the_best_descent_from_its_starts(shape: tuple[int, int, int], kind: int) -> None:
    """One after the other and without remembering where earlier descents have been."""
    for table, mask in zip(tables := random_tables(5, *shape, 20), split_batch(get("hd"), tables, kind), strict=True):
        least, best = np.inf, mask
        for scores in orders(table):
            start, prefix = best_prefix(table, scores, kind)
            end = polished(table[None], kind, prefix[None])
            value = score(table[None], end, kind)[0]
            assert value <= start + STRICTLY * table.sum()
            if value < least - STRICTLY * table.sum():
                least, best = value, end[0]
        assert mask.tolist() == best.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("shape", "share"), [((8, 2, 7), 1.0), ((7, 2, 10**12), 1.0), ((9, 3, 7), 0.99), ((9, 5, 2), 0.95)]
)
def test_hd_is_nearly_always_optimal(shape: tuple[int, int, int], share: float, kind: int) -> None:
    tables = random_tables(6, *shape, count=150)
    best = np.array([optimum(table, kind) for table in tables])
    found = score(tables, split_batch(get("hd"), tables, kind), kind)
    slack = 1e-9 * tables.sum(axis=(1, 2))
    assert (found >= best - slack).all()
    assert np.mean(found <= best + slack) >= share


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["hd", "lca+hd"])
def test_permuting_the_rows_of_tie_free_tables(name: str, kind: int) -> None:
    tables = random_tables(8, 20, 5, 10**6, 50)
    shuffled = np.ascontiguousarray(tables[:, np.random.default_rng(0).permutation(20)])
    first, second = (score(t, split_batch(get(name), t, kind), kind) for t in (tables, shuffled))
    assert second == pytest.approx(first, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["hd", "lca+hd", "pull_left+hd"])
def test_proportional_rows_are_split_after_the_first(name: str, kind: int) -> None:
    tables = np.array([[[1, 2, 3], [2, 4, 6], [3, 6, 9], [5, 10, 15]]])
    assert split_batch(get(name), tables, kind).tolist() == [[True, False, False, False]]


@pytest.mark.parametrize("k", [2, 3, 9])
def test_components_are_the_eigenvectors(k: int) -> None:
    half = np.random.default_rng(k).normal(size=(k, k - 1))
    matrix = half @ half.T  # its least eigenvalue is 0
    vectors = np.linalg.eigh(matrix)[1]
    basis = np.empty((k, k))
    assert components(matrix.copy(), basis) == k - 1
    for c in range(k - 1):
        assert abs(basis[c] @ vectors[:, k - 1 - c]) == pytest.approx(1.0, abs=1e-9)
        assert basis[c, np.argmax(np.abs(basis[c]))] > 0


def test_components_of_a_repeated_eigenvalue() -> None:
    basis = np.empty((4, 4))
    assert components(np.diag([2.0, 3.0, 2.0, 0.0]), basis) == 3
    assert basis[:3].tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]]
    assert components(np.eye(4) - 0.25, basis) == 3
    expected = [[3, -1, -1, -1], [0, 2, -1, -1], [0, 0, 1, -1]] / np.sqrt([[12], [6], [2]])
    assert basis[:3] == pytest.approx(expected, abs=1e-12)
    assert components(np.zeros((4, 4)), basis) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["lca", "pull_left"])
def test_a_polished_splitter_descends_from_its_split(name: str, kind: int) -> None:
    tables = random_tables(9, 15, 4, 7, 200)
    start = split_batch(get(name), tables, kind)
    end = split_batch(get(f"{name}+hd"), tables, kind)
    assert (end == polished(tables, kind, start)).all()
    assert (score(tables, end, kind) < score(tables, start, kind) - 1e-6).any()


def test_every_splitter_can_be_polished() -> None:
    entry = get("sliq+hd")
    assert "sliq+hd" not in names()
    assert known("sliq+hd")
    assert entry == get("sliq+hd") != get("sliq")
    assert (entry.name, entry.title, entry.guarantee) == ("sliq+hd", "SLIQ+hd", "none; never worse than SLIQ")
    assert entry.nanoseconds(12, 3) > get("sliq").nanoseconds(12, 3)
    assert entry.modules() == (*get("sliq").modules(), "splitlab.splitters.kernels.descent")
    assert {"lca+hd", "hcc+hd", "pc_ext+hd"} < set(names())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lca+hd+hd", "'lca\\+hd\\+hd' would descend again .*; write 'lca\\+hd'"),
        ("hd+hd", "'hd\\+hd' would descend again .*; write 'hd'"),
        ("sliqext+hd", "'sliqext' is not known; did you mean 'sliq_ext'"),
        ("+hd", "'' is not known"),
        ("lca+", "did you mean 'lca'"),
    ],
)
def test_names_that_cannot_be_polished(name: str, message: str) -> None:
    assert not known(name)
    with pytest.raises(ValueError, match=message):
        get(name)


def test_a_polished_splitter_in_an_experiment(tmp_path: Path) -> None:
    grid = [{"n": 6, "k": 3, "max_count": 7, "runs": 40}]
    config = {"name": "x", "impurities": "gini", "splitters": ["pull_left+hd", "pull_left"], "grid": grid}
    results = splitlab.run(config, out=tmp_path / "out", jobs=1)
    values = results.impurities(6, 3, 7, "gini")
    assert (values[:, 0] <= values[:, 1] + 1e-9).all()
    assert (values[:, 0] < values[:, 1] - 1e-3).any()
    experiment = load_experiment(tmp_path / "out" / "config.yaml")
    assert experiment.splitters == ("pull_left+hd", "pull_left")
    kind = opened(tmp_path / "out")
    assert kind.fingerprint(("gini", "pull_left+hd")) != kind.fingerprint(("gini", "pull_left"))
    with pytest.raises(ValueError, match=r"hd\+hd'? is not a known splitter"):
        load_experiment({**config, "splitters": ["hd+hd"]})
