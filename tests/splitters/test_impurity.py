"""The two forms of the impurity, against exact arithmetic and the facts of the theory."""

from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splitlab.impurity import ENTROPY, GINI, LOOKUP, impurity, lookup_table, score, sides_impurity, weighted_impurity

getcontext().prec = 60
counts_lists = st.lists(st.integers(0, 10**14), min_size=1, max_size=6).filter(any)
small_lists = st.lists(st.integers(0, 50), min_size=3, max_size=3)


def exact_gini(u: list[int]) -> Fraction:
    return sum(u) - Fraction(sum(c * c for c in u), sum(u))


def exact_entropy(u: list[int]) -> Decimal:
    total, two = Decimal(sum(u)), Decimal(2).ln()
    return sum((Decimal(c) * (total / c).ln() / two for c in u if c), Decimal(0))


@settings(deadline=None)  # the first call compiles
@given(counts_lists)
def test_twelve_digits_for_counts_up_to_1e15(u: list[int]) -> None:
    array = np.array(u)
    assert impurity(array, GINI) == pytest.approx(float(exact_gini(u)), rel=1e-12)
    assert impurity(array, ENTROPY) == pytest.approx(float(exact_entropy(u)), rel=1e-12)


def test_nearly_pure_counts_keep_their_digits() -> None:
    u = [10**15 - 1, 1]
    assert impurity(np.array(u), GINI) == pytest.approx(float(exact_gini(u)), rel=1e-14)
    assert impurity(np.array(u), ENTROPY) == pytest.approx(float(exact_entropy(u)), rel=1e-14)


@pytest.mark.parametrize("kind", [GINI, ENTROPY])
def test_no_examples_and_one_class_have_none(kind: int) -> None:
    assert impurity(np.array([0, 0]), kind) == 0.0
    assert impurity(np.array([0, 100, 0]), kind) == 0.0


def test_values_of_the_source_documents() -> None:
    assert weighted_impurity(np.array([9, 5]), "entropy") / 14 == pytest.approx(0.94028595, abs=1e-8)
    assert weighted_impurity(np.array([1, 1]), "entropy") == 2.0
    assert weighted_impurity(np.array([4, 4]), "gini") / 8 == 0.5


@given(small_lists, small_lists)
def test_superadditivity(a: list[int], b: list[int]) -> None:
    x, y = np.array(a), np.array(b)
    for kind in (GINI, ENTROPY):
        assert impurity(x + y, kind) >= impurity(x, kind) + impurity(y, kind) - 1e-9


@given(small_lists, small_lists)
def test_collapsing_inequality(u: list[int], d: list[int]) -> None:
    """I(u) <= I((u.d, u.(1-d))) + I(u*d) + I(u*(1-d)) for d in {0,1}^k, with equality for entropy."""
    x, side = np.array(u), np.array(d) > 25
    for kind in (GINI, ENTROPY):
        pair = np.array([x[side].sum(), x[~side].sum()])
        above = impurity(pair, kind) + impurity(x * side, kind) + impurity(x * ~side, kind)
        assert impurity(x, kind) <= above + 1e-9
        if kind == ENTROPY:
            assert impurity(x, kind) == pytest.approx(above, abs=1e-9)


@pytest.mark.parametrize("scale", [1, 1000, LOOKUP, 10**12])
@pytest.mark.parametrize("kind", [GINI, ENTROPY])
def test_the_form_for_comparing_is_the_same_number(scale: int, kind: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        table = scale * rng.integers(1, 9, (2, 4))
        totals = table.sum(axis=0)
        lookup = lookup_table(table[None], kind)
        found = sides_impurity(table[0], totals, table[0].sum(), totals.sum(), kind, lookup)
        true = impurity(table[0], kind) + impurity(table[1], kind)
        assert found == pytest.approx(true, abs=1e-13 * float(totals.sum()) * np.log2(float(totals.sum())))


def test_score_adds_both_sides_and_ignores_which_is_left() -> None:
    tables = np.random.default_rng(2).integers(0, 9, (50, 6, 3))
    masks = np.random.default_rng(3).random((50, 6)) < 0.5
    for kind in (GINI, ENTROPY):
        scores = score(tables, masks, kind)
        assert (scores == score(tables, ~masks, kind)).all()
        left = np.einsum("bnk,bn->bk", tables, masks)
        right = tables.sum(axis=1) - left
        assert scores.tolist() == [impurity(a, kind) + impurity(b, kind) for a, b in zip(left, right, strict=True)]


def test_an_unknown_impurity_is_named() -> None:
    with pytest.raises(ValueError, match="'ginni' is not known; the impurities are gini, entropy"):
        weighted_impurity(np.array([1, 2]), "ginni")
