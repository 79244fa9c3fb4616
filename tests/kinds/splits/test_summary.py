"""Numbers from impurities: wins, relative excess, their errors, and quantiles from the fixed histogram."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from splitlab.kinds.random_tables import histogram
from splitlab.kinds.splits.summary import Accumulator, IncompleteError, relative_excess, summarise, wins
from splitlab.statistics import quantile
from splitlab.tables.sampling import acceptance_probability
from tests.helpers.summaries import NAMES, experiment_of, made_up, row, store_of, summary_of

NORMAL_975 = 1.959963984540054


# Wins


def test_wins_on_hand_made_impurities() -> None:
    impurities = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 1.0], [5.0, 5.0, 5.0], [0.0, 0.0, 1.0], [0.0, 2.0, 0.5]])
    expected = [[1, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 0], [1, 0, 0]]
    assert wins(impurities, np.full(5, 10.0)).astype(int).tolist() == expected


def test_wins_within_the_tolerance() -> None:
    best = 100.0
    relative = np.array([[best, best * (1 + 0.9e-9), best * (1 + 1.2e-9)]])
    assert wins(relative, np.array([1.0])).tolist() == [[True, True, False]]
    # 1e-12 N on top of it: N = 1e6 allows another 1e-6
    absolute = np.array([[best, best + 1e-7 + 0.9e-6, best + 1e-7 + 1.1e-6]])
    assert wins(absolute, np.array([1e6])).tolist() == [[True, True, False]]
    # which is all there is where the best is 0
    zero = np.array([[0.0, 0.9e-9, 1.1e-9], [0.0, 0.9e-9, 1.1e-9]])
    assert wins(zero, np.array([1000.0, 10.0])).tolist() == [[True, True, False], [True, False, False]]


def test_percent_counts_wins_over_all_blocks() -> None:
    impurities = np.ones((2500, 3))
    impurities[:, 1] = np.where(np.arange(2500) % 5 == 0, 1.0, 2.0)
    impurities[:, 2] = np.where(np.arange(2500) >= 2400, 0.5, 3.0)
    frame = summary_of(impurities).win_percentage
    assert frame["splitter"].tolist() == ["hcc", "lca", "sliq"]
    assert frame["runs"].tolist() == [2500] * 3
    assert frame["wins"].tolist() == [2400, 480, 100]
    assert frame["percent"].tolist() == pytest.approx([96.0, 19.2, 4.0])
    assert frame[["impurity", "n", "k", "max_count"]].drop_duplicates().to_numpy().tolist() == [["gini", 4, 3, 7]]


@pytest.mark.parametrize(("won", "runs"), [(0, 7), (7, 7), (1, 1), (3, 10), (480, 2500), (2499, 2500)])
def test_standard_error_and_wilson_interval(won: int, runs: int) -> None:
    impurities = np.column_stack([np.where(np.arange(runs) < won, 1.0, 3.0), np.full(runs, 2.0)])
    ours = row(summary_of(impurities).win_percentage, "hcc")
    p = won / runs
    assert ours["percent"] == pytest.approx(100 * p)
    assert ours["standard_error"] == pytest.approx(100 * sqrt(p * (1 - p) / runs), abs=1e-12)
    # Wilson: the p0 with (p - p0)^2 = z^2 p0 (1 - p0) / runs, from the quadratic equation
    z2 = NORMAL_975**2
    a, b, c = 1 + z2 / runs, -(2 * p + z2 / runs), p * p
    root = sqrt(max(0.0, b * b - 4 * a * c))
    assert ours["wilson_low"] == pytest.approx(100 * (-b - root) / (2 * a), abs=1e-9)
    assert ours["wilson_high"] == pytest.approx(100 * (-b + root) / (2 * a), abs=1e-9)
    assert 0.0 <= ours["wilson_low"] <= ours["percent"] + 1e-9
    assert ours["percent"] - 1e-9 <= ours["wilson_high"] <= 100.0


def test_standard_error_is_the_spread_of_repeated_experiments() -> None:
    rng = np.random.default_rng(4)
    percents, errors = [], []
    for _ in range(150):
        impurities = np.column_stack([np.where(rng.random(200) < 0.3, 1.0, 3.0), np.full(200, 2.0)])
        ours = row(summary_of(impurities).win_percentage, "hcc")
        percents.append(ours["percent"])
        errors.append(ours["standard_error"])
    spread = np.std(percents, ddof=1)
    assert np.mean(errors) == pytest.approx(spread, rel=4 / sqrt(2 * 150))


# Relative excess


def test_excess_on_hand_made_impurities() -> None:
    impurities = np.array(
        [
            [2.0, 3.0, 4.0],
            [2.0, 2.0, 8.0],
            [0.0, 0.0, 5.0],  # both 0: 0; the third's competitors are 0: unbounded
            [0.0, 1.0, 4.0],
            [0.0, 0.0, 0.0],
        ]
    )
    inf = float("inf")
    expected = [
        [100 * (2 / 3 - 1), 50.0, 100.0],
        [0.0, 0.0, 300.0],
        [0.0, 0.0, inf],
        [-100.0, inf, inf],
        [0.0, 0.0, 0.0],
    ]
    assert relative_excess(impurities) == pytest.approx(np.array(expected), rel=1e-14, abs=1e-12)
    assert impurities[3, 0] == 0.0  # not modified


def test_unbounded_tables_are_counted_and_left_out() -> None:
    impurities = np.array([[1.0, 2.0], [0.0, 3.0], [2.0, 0.0], [0.0, 0.0], [4.0, 5.0]])
    frame = summary_of(impurities).relative_excess
    hcc, lca = row(frame, "hcc"), row(frame, "lca")
    assert (hcc["unbounded"], lca["unbounded"]) == (1, 1)
    bounded = {"hcc": [-50.0, -100.0, 0.0, -20.0], "lca": [100.0, -100.0, 0.0, 25.0]}
    for ours, values in ((hcc, bounded["hcc"]), (lca, bounded["lca"])):
        assert ours["runs"] == 5
        assert ours["mean"] == pytest.approx(np.mean(values))
        assert ours["standard_error"] == pytest.approx(np.std(values, ddof=1) / 2)
        assert ours["maximum"] == pytest.approx(max(values), abs=1e-12)
    assert (hcc["maximum_run"], lca["maximum_run"]) == (3, 0)


def test_only_unbounded_tables() -> None:
    frame = summary_of(np.array([[1.0, 0.0], [2.0, 0.0]])).relative_excess
    hcc = row(frame, "hcc")
    assert hcc["unbounded"] == 2
    assert np.isnan([hcc[f] for f in ("mean", "standard_error", "median", "p95", "p99", "maximum")]).all()
    assert row(frame, "lca")["maximum"] == -100.0


def test_excess_over_several_blocks_is_that_of_the_whole_array() -> None:
    impurities = made_up(2500, 1)
    frame = summary_of(impurities).relative_excess
    assert frame["splitter"].tolist() == list(NAMES)
    for s, name in enumerate(NAMES):
        competitors = np.min([impurities[:, r] for r in range(4) if r != s], axis=0)
        keep = (competitors > 0) | (impurities[:, s] == 0)
        excess = np.zeros(2500)
        some = competitors > 0
        excess[some] = 100 * (impurities[some, s] / competitors[some] - 1)
        values, ours = excess[keep], row(frame, name)
        assert 0 < ours["unbounded"] == 2500 - keep.sum()
        assert ours["mean"] == pytest.approx(values.mean(), rel=1e-11)
        assert ours["standard_error"] == pytest.approx(values.std(ddof=1) / sqrt(len(values)), rel=1e-11)
        assert ours["maximum"] == pytest.approx(values.max(), rel=1e-14)
        assert ours["maximum_run"] == np.flatnonzero(keep)[values.argmax()]
        for field, q in (("median", 0.5), ("p95", 0.95), ("p99", 0.99)):
            exact = np.quantile(values, q, method="inverted_cdf")
            assert ours[field] == pytest.approx(exact, rel=0.006, abs=1e-6)


def test_the_first_of_equal_maxima_is_named() -> None:
    impurities = np.ones((2100, 2))
    impurities[[70, 800, 1500, 2050], 0] = 3.0
    assert row(summary_of(impurities).relative_excess, "hcc")["maximum_run"] == 70
    impurities[1999, 0] = 4.0
    assert row(summary_of(impurities).relative_excess, "hcc")["maximum_run"] == 1999


def test_adding_in_parts_equals_one_pass() -> None:
    impurities = made_up(997, 2, count=2)
    excess = relative_excess(impurities)[:, 0]
    won = wins(impurities, np.full(997, 40.0))[:, 0]
    whole, parts = Accumulator(), Accumulator()
    failed = np.zeros(997, bool)
    failed[[5, 400]] = True
    whole.add(won, failed, excess, 0)
    for start, stop in ((0, 1), (1, 300), (300, 300), (300, 990), (990, 997)):
        parts.add(won[start:stop], failed[start:stop], excess[start:stop], start)
    for field in ("runs", "wins", "failures", "first_failure", "bounded", "unbounded", "maximum", "maximum_run"):
        assert getattr(parts, field) == getattr(whole, field)
    assert (parts.total, parts.squares) == pytest.approx((whole.total, whole.squares), rel=1e-12)
    assert np.array_equal(parts.counts, whole.counts)
    assert whole.counts.sum() == whole.bounded == np.isfinite(excess).sum() < 997


def test_a_single_splitter_wins_everything_and_has_no_excess() -> None:
    summary = summary_of(np.arange(1200.0)[:, None])
    ours = row(summary.win_percentage, "hcc")
    assert (ours["wins"], ours["percent"], ours["standard_error"]) == (1200, 100.0, 0.0)
    assert ours["wilson_high"] == pytest.approx(100.0)
    assert ours["wilson_low"] == pytest.approx(100 / (1 + NORMAL_975**2 / 1200))
    assert len(summary.relative_excess) == 0
    assert {"mean", "median", "p95", "p99", "maximum", "maximum_run", "unbounded"} <= set(summary.relative_excess)


def test_a_missing_splitter_is_an_error() -> None:
    store = store_of(np.ones((1100, 2)), np.full(1100, 40.0), [1003, 103])
    with pytest.raises(IncompleteError, match="n4_k3_m7 lacks runs 0 to 999"):
        summarise(experiment_of(1100, NAMES[:3]), store)
    with pytest.raises(IncompleteError, match="lacks runs 1000 to 1199"):
        summarise(experiment_of(1200, NAMES[:2]), store)
    assert len(summarise(experiment_of(1050, NAMES[:2]), store).win_percentage) == 2


def test_draws_add_up_over_blocks() -> None:
    store = store_of(np.ones((1100, 2)), np.full(1100, 40.0), [1007, 104])
    draws = summarise(experiment_of(1100, NAMES[:2]), store).draws.iloc[0]
    assert (draws["drawn"], draws["rejected"]) == (1111, 11)
    assert draws["expected_rejected"] == pytest.approx(1100 / acceptance_probability(4, 3, 7) - 1100)


# The histogram


def random_data() -> dict[str, NDArray[np.float64]]:
    rng = np.random.default_rng(11)
    return {
        "lognormal": rng.lognormal(0.0, 3.0, 3000),
        "negative": -rng.lognormal(0.0, 2.0, 3000),
        "both signs": rng.normal(0.0, 5.0, 3001),
        "mostly zero": np.where(rng.random(1000) < 0.7, 0.0, rng.exponential(4.0, 1000)),
        "few": rng.exponential(2.0, 7),
        "one": np.array([0.123]),
        "equal": np.full(500, -20.0),
        "powers of ten": 10.0 ** rng.integers(-6, 7, 1000),
    }


@pytest.mark.parametrize("kind", random_data())
def test_quantiles_are_within_the_promised_error(kind: str) -> None:
    x = random_data()[kind]
    counts = histogram.bin_counts(x)
    assert counts.sum() == x.size
    for q in (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0):
        exact = np.quantile(x, q, method="inverted_cdf")
        assert quantile(histogram.VALUES, counts, q) == pytest.approx(exact, rel=0.006, abs=1e-6)


def test_quantiles_of_zero_tiny_and_extreme_values() -> None:
    def median(*values: float) -> float:
        return quantile(histogram.VALUES, histogram.bin_counts(np.array(values)), 0.5)

    assert median(0.0) == 0.0
    assert median(-0.0) == 0.0
    assert median(9e-7) == 0.0
    assert median(-9e-7) == 0.0
    assert median(1e-6) == pytest.approx(1e-6, rel=0.006)
    assert median(9.99e5) == pytest.approx(9.99e5, rel=0.006)
    for huge in (1e6, 3e8, 1e300):
        assert median(huge) == pytest.approx(1e6, rel=0.006)
        assert median(-huge) == pytest.approx(-1e6, rel=0.006)
    assert median(-5.0, 0.0, 1e9) == 0.0
    assert median(-5.0, -4.0, 1e9) == pytest.approx(-4.0, rel=0.006)
    assert np.isnan(median())


def test_bins_are_in_ascending_order() -> None:
    x = np.sort(np.concatenate([random_data()["both signs"], [0.0, 1e-9, -1e9, 1e9]]))
    places = [int(np.flatnonzero(histogram.bin_counts(x[i : i + 1]))[0]) for i in range(0, x.size, 10)]
    assert places == sorted(places)
    assert (np.diff(histogram.VALUES) >= 0).all()
    assert len(histogram.VALUES) == len(histogram.bin_counts(x))


@pytest.mark.parametrize("q", ["0.5", "0.95", "0.99"])
def test_the_rank_of_a_quantile_is_exact(q: str) -> None:
    """The least rank r with r >= q m, for every m: a rounding error of q m would take the next one."""
    low, high = histogram.bin_counts(np.array([1.0])), histogram.bin_counts(np.array([2.0]))
    for m in [*range(1, 1001), 10_000, 10**6, 10**9]:
        rank = ceil(Fraction(q) * m)
        assert quantile(histogram.VALUES, rank * low + (m - rank) * high, float(q)) < 1.5
        assert (
            m == 1 or rank == 1 or quantile(histogram.VALUES, (rank - 1) * low + (m - rank + 1) * high, float(q)) > 1.5
        )
