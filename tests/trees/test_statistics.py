"""Comparing classifiers, and Holm's procedure: published values, scipy, and hand-worked cases."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from splitlab.statistics import holm, holm_rejected
from splitlab.trees import statistics

# Eight methods on 20 balanced data sets; published as 4.70 5.55 5.88 5.15 4.55 4.93 2.80 2.45. With 20 data sets
# average ranks are multiples of 1/40, and they add up to 36, which undoes the rounding.
PUBLISHED = [4.70, 5.55, 5.875, 5.15, 4.55, 4.925, 2.80, 2.45]


def test_published_ranks() -> None:
    chi_square, p = statistics.friedman(PUBLISHED, 20)
    assert round(chi_square, 2) == 35.77
    assert p == pytest.approx(stats.chi2.sf(chi_square, 7))
    f, f_p = statistics.iman_davenport(chi_square, 8, 20)
    assert round(f, 2) == 6.52
    assert f_p < 1e-5
    assert round(statistics.critical_f(8, 20), 3) == 2.079
    assert round(statistics.critical_difference(8, 20), 3) == 2.348


def test_rounding_of_published_ranks_is_not_enlarged() -> None:
    rounded = [4.70, 5.55, 5.88, 5.15, 4.55, 4.93, 2.80, 2.45]
    assert sum(rounded) == pytest.approx(36.01)
    assert statistics.friedman(rounded, 20)[0] == pytest.approx(35.7708, abs=0.07)  # 36.13 by the sum of squares
    assert statistics.friedman([2.0, 2.0, 2.0], 9) == (0, 1)
    exact = np.random.default_rng(5).permuted(np.tile(np.arange(1.0, 6.0), (11, 1)), axis=1).mean(0)
    assert statistics.friedman(exact, 11)[0] == pytest.approx(12 * 11 / 30 * ((exact**2).sum() - 45), rel=1e-9)


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_values_of_demsars_table(k: int, q: float) -> None:
    assert statistics.critical_difference(k, 10) / sqrt(k * (k + 1) / 60) == pytest.approx(q, abs=1e-3)


def test_ranks_and_friedman_without_ties_are_scipys() -> None:
    scores = np.random.default_rng(0).normal(size=(12, 5)) + np.arange(5)
    result = statistics.compare(pd.DataFrame(scores, columns=list("abcde")))
    expected = stats.friedmanchisquare(*scores.T)
    assert result.chi_square == pytest.approx(expected.statistic)
    assert result.chi_square_p == pytest.approx(expected.pvalue)
    assert result.names == list("abcde")
    assert result.average_ranks == pytest.approx(stats.rankdata(-scores, axis=1).mean(0))
    worse = statistics.compare(-scores, higher_is_better=False)
    assert worse.average_ranks == pytest.approx(result.average_ranks)


def test_ties_share_ranks_and_are_not_corrected_for() -> None:
    scores = np.random.default_rng(1).integers(0, 3, (15, 4))
    result = statistics.compare(scores)
    assert result.average_ranks.sum() == pytest.approx(10)
    assert result.chi_square < stats.friedmanchisquare(*scores.T).statistic


def test_groups_are_the_largest_without_a_difference() -> None:
    result = statistics.compare(np.array([[4, 3, 2, 1]] * 6) + 0.0)
    assert result.average_ranks.tolist() == [1, 2, 3, 4]
    assert 1 < result.critical_difference < 2
    assert result.groups() == [["0", "1"], ["1", "2"], ["2", "3"]]
    assert result.f == inf
    assert result.f_p == 0
    alike = statistics.compare(np.random.default_rng(2).random((5, 3)))
    assert alike.groups() == [[alike.names[j] for j in np.argsort(alike.average_ranks, kind="stable")]]


def test_paired_t_test_is_scipys() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.1, 1, 20), rng.normal(0, 1, 20)
    found, expected = statistics.paired_t_test(a, b), stats.ttest_rel(a, b, alternative="greater")
    assert found == pytest.approx((expected.statistic, expected.pvalue, 19))
    other = statistics.paired_t_test(b, a)
    assert other.p_value == pytest.approx(1 - found.p_value)


@pytest.mark.parametrize("folds", [3, 10])
def test_corrected_t_test(folds: int) -> None:
    rng = np.random.default_rng(folds)
    a, b = rng.normal(0.5, 1, (20, folds)), rng.normal(0, 1, (20, folds))
    plain, corrected = statistics.paired_t_test(a, b), statistics.corrected_t_test(a, b, folds)
    count = 20 * folds
    assert corrected.statistic == pytest.approx(plain.statistic / sqrt(1 + count / (folds - 1)))
    assert corrected.p_value == pytest.approx(stats.t.sf(corrected.statistic, count - 1))
    assert corrected.p_value > plain.p_value


def test_differences_without_variation() -> None:
    assert statistics.paired_t_test([0.5, 0.7], [0.5, 0.7]) == (0, 0.5, 1)
    assert statistics.paired_t_test([0.75, 1.0], [0.5, 0.75]) == (inf, 0, 1)
    assert statistics.paired_t_test([0.5, 0.75], [0.75, 1.0]) == (-inf, 1, 1)


@pytest.mark.parametrize("scale", [1e-9, 1, 1e9])
def test_differences_of_any_size(scale: float) -> None:
    a, b = np.array([1.0, 2.0, 4.0]), np.array([-4.0, 1.0, 1.0])
    tests = stats.ttest_rel(a, b, alternative="greater"), statistics.paired_t_test(a * scale, b * scale)
    assert tests[1].statistic == pytest.approx(tests[0].statistic, rel=1e-12)
    assert tests[1].p_value == pytest.approx(tests[0].pvalue, rel=1e-12)


def test_win_tie_loss() -> None:
    assert statistics.win_tie_loss([1, 2, 3, 4], [1, 1, 4, 4.05], margin=0.1) == (1, 2, 1)
    assert statistics.significant_win_tie_loss([0.05, 0.051, 0.95, 0.949]) == (1, 2, 1)


def test_wrong_calls() -> None:
    with pytest.raises(ValueError, match="shape"):
        statistics.compare([[1, 2, 3]])
    with pytest.raises(ValueError, match="row 1, column 0 is NaN"):
        statistics.compare([[1, 2], [np.nan, 3]])
    with pytest.raises(ValueError, match="3 average ranks must add up to 6"):
        statistics.friedman([1, 2, 5], 10)
    with pytest.raises(ValueError, match="3 average ranks must add up to 6; got nan"):
        statistics.friedman([1, np.nan, 3], 10)
    with pytest.raises(ValueError, match=r"'n' parameter .* Got 0 instead"):
        statistics.friedman([1, 2, 3], 0)
    with pytest.raises(ValueError, match=r"'k' parameter .* Got 1 instead"):
        statistics.critical_f(1, 10)
    with pytest.raises(ValueError, match=r"'alpha' parameter .* Got 5 instead"):
        statistics.critical_difference(3, 10, 5)
    with pytest.raises(ValueError, match=r"chi_square: must be from 0 to n \(k - 1\) = 20; got 21"):
        statistics.iman_davenport(21, 3, 10)
    with pytest.raises(ValueError, match=r"'margin' parameter .* Got -1 instead"):
        statistics.win_tie_loss([1, 2], [2, 1], -1)
    with pytest.raises(ValueError, match="a result is NaN or infinite"):
        statistics.win_tie_loss([1, np.nan], [2, 1])
    with pytest.raises(ValueError, match="p_values: must be from 0 to 1"):
        statistics.significant_win_tie_loss([0.5, 1.5])
    with pytest.raises(ValueError, match=r"in pairs; got shapes \(2, 3\) and \(3, 2\)"):
        statistics.paired_t_test(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="names"):
        statistics.compare([[1, 2], [2, 3]], ["one"])
    with pytest.raises(ValueError, match="equally many"):
        statistics.paired_t_test([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="at least 2"):
        statistics.corrected_t_test([1], [2], 3)
    with pytest.raises(ValueError, match="folds"):
        statistics.corrected_t_test([1, 2], [2, 1], 1)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: statistics.compare([[1, 2], [2, 3]], ["a", "a"]), ValueError, "names: 'a' names several methods"),
        (
            lambda: statistics.compare([[1, 2], [2, 3]], higher_is_better="False"),
            TypeError,
            "The 'higher_is_better' parameter of average_ranks must be .* Got 'False' instead",
        ),
        (lambda: statistics.friedman([0, 0, 6], 4), ValueError, "ranks: each must be from 1 to 3; got 0"),
        (lambda: statistics.friedman([-3, 3, 6], 4), ValueError, "ranks: each must be from 1 to 3; got -3"),
        (lambda: statistics.critical_difference(2.5, 5), TypeError, "The 'k' parameter .* Got 2.5 instead"),
        (lambda: statistics.critical_difference("4", 5), TypeError, "The 'k' parameter .* Got '4' instead"),
        (lambda: statistics.critical_difference(3, inf), TypeError, "The 'n' parameter .* Got inf instead"),
        (lambda: statistics.critical_difference(3, 5, "x"), TypeError, "The 'alpha' parameter .* Got 'x' instead"),
        (lambda: statistics.critical_f(3, 5, nan), ValueError, "The 'alpha' parameter .* Got nan instead"),
        (lambda: statistics.significant_win_tie_loss([0.5], 0.5), ValueError, "The 'alpha' parameter .* Got 0.5"),
        (lambda: statistics.significant_win_tie_loss([0.5], nan), ValueError, "The 'alpha' parameter .* Got nan"),
        (lambda: statistics.corrected_t_test([1, 2], [0, 0], nan), TypeError, "The 'folds' parameter .* Got nan"),
        (lambda: statistics.corrected_t_test([1, 2], [0, 0], inf), TypeError, "The 'folds' parameter .* Got inf"),
        (
            lambda: statistics.corrected_t_test([1, 2], [0, 0], -1),
            ValueError,
            "The 'folds' parameter .* Got -1 instead",
        ),
        (lambda: statistics.win_tie_loss([1], [1], "x"), TypeError, "The 'margin' parameter .* Got 'x' instead"),
        (lambda: statistics.iman_davenport("x", 3, 4), TypeError, "The 'chi_square' parameter .* Got 'x' instead"),
    ],
)
def test_wrong_arguments_are_named(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=f"^{words}"):
        call()


def test_diagram() -> None:
    scores = np.random.default_rng(4).normal(size=(20, 8)) + np.linspace(0, 2, 8)
    result = statistics.compare(scores, [f"method {j}" for j in range(8)])
    figure = statistics.cd_diagram(result)
    texts = [text.get_text() for text in figure.axes[0].texts]
    for name, rank in zip(result.names, result.average_ranks, strict=True):
        assert any(name in text and f"{rank:.2f}" in text for text in texts)
    assert f"CD = {result.critical_difference:.2f}" in texts
    thick = [line for line in figure.axes[0].lines if line.get_linewidth() == 2.5]
    assert len(thick) == len([group for group in result.groups() if len(group) > 1])
    file = BytesIO()
    figure.savefig(file, format="png")
    assert file.getvalue()[:4] == b"\x89PNG"


def holm_adjusted(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, by their definition as running maxima."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, running = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = running
    return adjusted


@pytest.mark.parametrize(
    "p",
    [
        [0.001, 0.2, 0.004, 0.9, 0.0025],
        [0.0019, 0.0024, 0.0033, 0.0049, 0.0099],  # each is rejected only because those before it were
        [0.0019, 0.0026, 0.0033, 0.0049, 0.0099],  # the second stops it, although later ones are small enough
        [0.0021, 0.0001, 0.0021, 0.0021, 0.0021],
        [0.5, 0.6],
        [0.00999],
        [0.0101],
        [0.0] * 4,
        [],
    ],
)
def test_holm(p: list[float]) -> None:
    expected = holm_adjusted(p)
    assert holm(p).tolist() == expected
    rejected = holm_rejected(p, 0.01)
    assert sorted(rejected) == [i for i, adjusted in enumerate(expected) if adjusted <= 0.01]
    assert [p[i] for i in rejected] == sorted(p[i] for i in rejected)
