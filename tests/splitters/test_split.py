"""``splitlab.split``: the contract, and the inputs that have broken other programs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import splitlab
from splitlab.splitters import serving
from tests.helpers.tables import affordable, optimum, random_tables

BOTH = ["gini", "entropy"]
ALL = serving(12, 3)


def check(table: object, impurity: str, splitter: str) -> splitlab.Split:
    """Split, and hold the result to the contract."""
    found = splitlab.split(table, impurity, splitter)
    array = np.asarray(table, dtype=np.int64)
    assert found.left.dtype == np.bool_
    assert found.left.shape == (len(array),)
    assert found.left.any()
    assert not found.left.all()
    assert found.gain >= 0
    return found


@pytest.mark.parametrize("splitter", ALL)
def test_two_classes_by_proportion_not_count(splitter: str) -> None:
    table = [[0, 1], [1, 0], [3, 2]]
    found = check(table, "gini", splitter)
    if splitter not in ("sliq", "sliq_ext", "pc_counts", "pc_ext_counts"):
        assert found.impurity == pytest.approx(8 / 3, rel=1e-12)
    assert found.gain == pytest.approx((7 - (16 + 9) / 7 - found.impurity) / 7, rel=1e-12)


@pytest.mark.parametrize("impurity", BOTH)
@pytest.mark.parametrize("splitter", ALL)
@pytest.mark.parametrize(
    "table", [[[1, 2], [2, 4]], [[3, 6, 9], [1, 2, 3], [2, 4, 6]], [[5], [1], [2]], [[0, 3], [0, 4]]]
)
def test_all_proportional_is_the_first_prefix(table: list[list[int]], splitter: str, impurity: str) -> None:
    found = check(table, impurity, splitter)
    assert found.left.tolist() == [True] + [False] * (len(table) - 1)
    assert found.gain == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("splitter", ["hcc", "pc", "pc_ext"])
def test_merging_adds_counts(splitter: str) -> None:
    table = [[1, 2, 3], [2, 4, 6], [5, 1, 0], [0, 3, 1]]
    array = np.array(table)
    assert optimum(array, 0) == pytest.approx(15.0303, abs=1e-4)
    assert optimum(array, 1) == pytest.approx(35.5041, abs=1e-4)
    assert check(table, "gini", splitter).impurity == pytest.approx(15.0303, abs=1e-4)
    if splitter == "hcc":
        assert check(table, "entropy", splitter).impurity == pytest.approx(35.5041, abs=1e-4)


@pytest.mark.parametrize("impurity", BOTH)
@pytest.mark.parametrize("splitter", ALL)
def test_int32_does_not_overflow(splitter: str, impurity: str) -> None:
    table = [[50000, 50000], [50000, 40000]]
    narrow = splitlab.split(np.array(table, dtype=np.int32), impurity, splitter)
    wide = splitlab.split([[c * 10**9 for c in row] for row in table], impurity, splitter)
    assert wide.impurity == pytest.approx(narrow.impurity * 10**9, rel=1e-12)
    exact = sum(sum(row) - sum(c * c for c in row) / sum(row) for row in table)
    if impurity == "gini":
        assert narrow.impurity == pytest.approx(exact, rel=1e-12)


CLOSE = [
    [[20000001, 20000000], [20000000, 20000001]],  # equal as float32
    [[10**14, 10**14 - 1], [10**14 - 1, 10**14], [10**14, 10**14]],  # 5e-15 apart
]


@pytest.mark.parametrize("table", CLOSE)
def test_close_ratios_are_ordered_right(table: list[list[int]]) -> None:
    from splitlab.splitters.kernels.hypercube import sort_by_share

    array = np.array(table)
    n = len(array)
    order = np.empty(n, np.int64)
    sort_by_share(array, array.sum(axis=1), np.array([0]), 1, np.empty(n), order, np.empty(n, np.int64))
    assert order.tolist() == sorted(range(n), key=lambda v: Fraction(table[v][0], sum(table[v])))
    for splitter in ALL:
        check(table, "gini", splitter)


@pytest.mark.parametrize("n", [21, 63, 64, 65, 92, 131, 1000])
@pytest.mark.parametrize("splitter", ALL)
def test_many_values(n: int, splitter: str) -> None:
    if not affordable(splitter, n, 2):
        pytest.skip("takes too long")
    table = random_tables(n, n, 2, 50, 1)[0]
    found = check(table, "gini", splitter)
    if splitter in ("lca", "hcc", "pc", "pc_ext", "exhaustive", "hyperplanes", "exact"):
        share = np.argsort(table[:, 0] / table.sum(axis=1), kind="stable")
        prefixes = [np.isin(np.arange(n), share[:cut]) for cut in range(1, n)]
        sides = [(table[m].sum(axis=0), table[~m].sum(axis=0)) for m in prefixes]
        best = min(sum(u.sum() - (u**2).sum() / u.sum() for u in pair) for pair in sides)
        assert found.impurity == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("splitter", [s for s in ALL if affordable(s, 100, 2) and s != "sliq_ext_prefix"])
def test_the_cut_may_be_in_the_middle_of_100_values(splitter: str) -> None:
    table = [[1, 0], [0, 1]] * 50
    found = check(table, "entropy", splitter)
    assert found.impurity == 0
    assert found.left.sum() == 50
    assert found.gain == pytest.approx(1.0)


@pytest.mark.parametrize(
    "bad", [[[1, 2]], [], [1, 2], [[]], [[], []], [[1, 2], [3]], [[0, 0], [0, 0]], np.zeros((2, 2, 2))]
)
def test_no_table(bad: object) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        splitlab.split(bad)


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), 0.5, True, "3", None, 2 * 10**15, 1j])
def test_a_bad_entry_is_named(bad: object) -> None:
    with pytest.raises((ValueError, TypeError), match="row 1, column 0"):
        splitlab.split([[1, 2], [bad, 4]])


@pytest.mark.parametrize("impurity", BOTH)
@pytest.mark.parametrize("splitter", ALL)
def test_zero_rows_and_columns_change_nothing(splitter: str, impurity: str) -> None:
    for table in random_tables(4, 6, 3, 5, 10):
        plain = splitlab.split(table, impurity, splitter)
        padded = np.zeros((8, 5), np.int64)
        padded[np.ix_([0, 2, 3, 4, 5, 7], [0, 1, 4])] = table
        found = check(padded, impurity, splitter)
        assert found.left[[0, 2, 3, 4, 5, 7]].tolist() == plain.left.tolist()
        assert found.left[[1, 6]].all()
        assert found.impurity == plain.impurity
        assert found.gain == plain.gain


def test_one_row_that_is_not_zero() -> None:
    found = check([[0, 0], [1, 2]], "gini", "hcc")
    assert found.left.tolist() == [True, False]
    assert found.gain == 0


@pytest.mark.parametrize("splitter", ALL)
def test_every_form_of_the_same_table(splitter: str) -> None:
    table = random_tables(1, 7, 3, 9, 1)[0]
    expected = splitlab.split(table, "entropy", splitter)
    frozen = table.copy()
    frozen.setflags(write=False)
    strided = np.repeat(np.repeat(table, 2, axis=0), 3, axis=1)[::2, ::3]
    forms = [table.tolist(), table.astype(float), table.astype(np.uint8), frozen, strided, np.asfortranarray(table)]
    forms += [pd.DataFrame(table), pd.DataFrame(table).astype("Int64"), tuple(map(tuple, table.tolist()))]
    for form in forms:
        before = str(form)
        found = splitlab.split(form, "entropy", splitter)
        assert found.left.tolist() == expected.left.tolist()
        assert found.impurity == expected.impurity
        assert str(form) == before


@pytest.mark.parametrize("splitter", ALL)
def test_small_degenerate_tables_are_right_and_deterministic(splitter: str) -> None:
    for table in ([[5, 0], [0, 5], [1, 1]], np.diag([5, 5, 5]).tolist()):
        found = check(table, "gini", splitter)
        assert found.left.tolist() == check(table, "gini", splitter).left.tolist()
        assert found.impurity == pytest.approx(optimum(np.array(table), 0), rel=1e-12)


def test_hopeless_requests_are_refused_with_the_cost() -> None:
    with pytest.raises(ValueError, match=r"'hcc' would take about .* for one table with n = 40, k = 30"):
        splitlab.split(random_tables(0, 40, 30, 7, 1)[0])


def test_wrong_names() -> None:
    with pytest.raises(ValueError, match="did you mean 'sliq_ext'"):
        splitlab.split([[1, 2], [2, 1]], splitter="sliqext")
    with pytest.raises(ValueError, match="gini, entropy"):
        splitlab.split([[1, 2], [2, 1]], impurity="Gini")
    with pytest.raises(TypeError, match="impurity: 3 is not a name"):
        splitlab.split([[1, 2], [2, 1]], impurity=3)  # type: ignore[arg-type]


def test_a_gain_however_small_is_not_0() -> None:
    table = [[630788, 2], [921804, 3], [814210, 2], [507204, 2]]
    assert splitlab.split(table, "gini").gain == pytest.approx(2.823599157554829e-13, rel=1e-12)
    assert splitlab.split([[10, 20], [20, 40], [3, 6]], "entropy").gain == 0


def test_the_worked_examples_reach_their_gains() -> None:
    weather = [[2, 3], [4, 0], [3, 2]]
    assert splitlab.split(weather, "entropy").gain == pytest.approx(0.226, abs=5e-4)
    assert splitlab.split(weather, "gini").gain == pytest.approx(0.102, abs=5e-4)
    components = [[40, 10, 10], [10, 40, 10], [20, 30, 10], [20, 15, 25], [10, 5, 45]]
    assert splitlab.split(components, "gini", "pc").gain == pytest.approx(0.0659722, abs=1e-7)
    assert splitlab.split(components, "entropy", "pc").gain == pytest.approx(0.1427806, abs=1e-7)
