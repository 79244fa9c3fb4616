"""Pooled excess, chances of maxima, and the comparison of max_count, against independent formulas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import splitlab
from splitlab.montecarlo.config import load_experiment
from splitlab.montecarlo.study import Results
from splitlab.montecarlo.summary import relative_excess
from splitlab.montecarlo.tail import exceedances
from splitlab.published import maxima
from splitlab.report.extremes import (
    alike,
    chance,
    combined,
    edges,
    exceedances_of,
    maxima_frame,
    maxima_table,
    maxima_verdict,
    pooled_excess,
    pooled_table,
    published_thresholds,
)

CONFIG = {
    "name": "extremes",
    "impurities": ["gini", "entropy"],
    "splitters": ["hcc", "pc_ext_counts", "sliq_ext", "lca"],
    "grid": [{"n": [6, 9], "k": 3, "max_count": [2, 7], "runs": 1500}],
    "seed": 3,
}


@pytest.fixture(scope="module")
def results() -> Results:
    return splitlab.run(CONFIG)


def everything(results: Results, impurity: str, max_count: int) -> np.ndarray:
    cells = [cell for cell, _ in results.experiment.cells if cell.max_count == max_count]
    return np.concatenate([relative_excess(results.impurities(c.n, c.k, max_count, impurity)) for c in cells])


def test_edges_of_printed_numbers() -> None:
    assert edges("2.0") == pytest.approx((1.95, 2.05))
    assert edges("14") == pytest.approx((13.5, 14.5))
    assert len(published_thresholds()) == len(maxima()) == 8


def test_pooled_excess_is_that_of_all_tables_together(results: Results) -> None:
    pooled = pooled_excess(results).set_index(["impurity", "max_count", "splitter"])
    assert len(pooled) == 2 * 2 * 4
    for (impurity, max_count, splitter), row in pooled.iterrows():
        column = everything(results, impurity, max_count)[:, results.experiment.splitters.index(splitter)]
        finite = column[np.isfinite(column)]
        assert row["tables"] == 3000
        assert row["unbounded"] == 3000 - finite.size
        if finite.size == 3000:
            assert row["mean"] == pytest.approx(finite.mean(), rel=1e-9, abs=1e-12)
            halves = [half.var(ddof=1) / 1500 for half in (column[:1500], column[1500:])]
            assert row["standard_error"] == pytest.approx(np.sqrt(sum(halves)) / 2, rel=1e-9)
        assert row["maximum"] == finite.max()
        for name, q in (("median", 0.5), ("p95", 0.95), ("p99", 0.99)):
            assert row[name] == pytest.approx(np.quantile(finite, q, method="inverted_cdf"), rel=0.006, abs=2e-6)
        cell = results.impurities(int(row["n"]), int(row["k"]), max_count, impurity)
        there = relative_excess(cell)[int(row["maximum_run"])]
        assert there[results.experiment.splitters.index(splitter)] == row["maximum"]


def test_counting_without_storing_is_the_same_as_counting_what_is_stored(results: Results) -> None:
    thresholds = {("gini", "lca"): (0.5, 5.0), ("entropy", "hcc"): (0.0,), ("entropy", "lca"): (2.0,)}
    counted = exceedances(load_experiment(CONFIG), thresholds, jobs=2)
    assert len(counted) == 4 * 4
    for row in counted.itertuples():
        column = relative_excess(results.impurities(row.n, row.k, row.max_count, row.impurity))
        column = column[:, results.experiment.splitters.index(row.splitter)]
        assert row.reached == (column[np.isfinite(column)] >= row.threshold).sum()
        assert row.runs == 1500


def test_chance_of_a_maximum() -> None:
    cells = pd.DataFrame({"runs": [1000, 10_000], "reached": [2, 1], "many": [True, False]})
    value = 1 - (1 - 0.002) ** 10_000 * (1 - 0.0001) ** 10_000
    low, high = stats.beta.ppf(0.025, 2, 999), stats.beta.ppf(0.975, 3, 998)
    found = chance(cells)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.low == pytest.approx(1 - (1 - low) ** 10_000 * 0.9999**10_000, rel=1e-9)
    assert found.high == pytest.approx(1 - (1 - high) ** 10_000 * 0.9999**10_000, rel=1e-9)
    assert found.opposite.value == pytest.approx(1 - value, abs=1e-12)
    assert (found.opposite.low, found.opposite.high) == (1 - found.high, 1 - found.low)


def test_no_exceedance_at_all_and_nothing_but_exceedances() -> None:
    nothing = chance(pd.DataFrame({"runs": [10**6], "reached": [0], "many": [True]}))
    assert (nothing.value, nothing.low) == (0.0, 0.0)
    assert str(nothing.value) == "0.0"  # not -0.0
    assert nothing.high == pytest.approx(1 - 0.025 ** (1 / 100), rel=1e-3)
    assert chance(pd.DataFrame({"runs": [10], "reached": [10], "many": [True]})).value == 1.0


def test_the_chance_agrees_with_simulated_maxima() -> None:
    rng = np.random.default_rng(4)
    p = 1e-4
    found = chance(pd.DataFrame({"runs": [10**6], "reached": [100], "many": [True]}))
    simulated = (rng.binomial(10_000, p, 20_000) > 0).mean()
    assert found.value == pytest.approx(simulated, abs=4 * np.sqrt(0.25 / 20_000))


def test_cells_drawn_many_times_take_precedence(results: Results) -> None:
    few = exceedances_of(results)
    many = few[(few["n"] == 6) & (few["max_count"] == 2)].assign(runs=10**6, reached=7)
    both = combined(few, many)
    assert len(both) == len(few)
    assert set(both[both["many"]]["reached"]) == {7}
    assert both[~both["many"]]["runs"].eq(1500).all()


def test_maxima_frame_and_its_table(results: Results) -> None:
    pooled = pooled_excess(results)
    frame = maxima_frame(pooled, combined(exceedances_of(results), exceedances_of(results).iloc[:0]))
    assert len(frame) == 8 * 3
    row = frame[(frame["impurity"] == "gini") & (frame["splitter"] == "lca") & (frame["max_count"] == "all")].iloc[0]
    column = np.concatenate([everything(results, "gini", m)[:, 3] for m in (2, 7)])
    assert row["ours"] == column[np.isfinite(column)].max()
    assert row["published"] == "22.3"
    assert ((frame["at_least"] >= 0) & (frame["at_least"] <= 1)).all()
    # A value printed as 22.3 was at least 22.25 and below 22.35: the two chances overlap.
    assert (frame["at_least"] + frame["at_most"] >= 1 - 1e-12).all()
    text = maxima_table(frame).as_text()
    assert "22.3" in text
    assert "P(max at most)" in text
    assert "max_count 2, 7 together" in maxima_verdict(frame)
    assert "n = " in pooled_table(pooled).as_text()


def test_the_verdict_names_what_is_improbable() -> None:
    rows = [
        {"impurity": i, "splitter": s, "max_count": m, "published": p, "at_least": 0.5, "at_most": 0.6}
        | {"at_least_high": 0.7, "at_most_high": 0.7}
        for (i, s), p in maxima().items()
        for m in (2, "all")
    ]
    frame = pd.DataFrame(rows)
    assert maxima_verdict(frame).startswith("8 of 8 published maxima")
    frame.loc[frame["published"] == "21.6", "at_least"] = 0.0
    assert maxima_verdict(frame).startswith("7 of 8")
    assert "; undecided: PCext (counts) for entropy (21.6; chance of a maximum so large" in maxima_verdict(frame)
    frame.loc[frame["published"] == "21.6", "at_least_high"] = 0.001
    chance = "chance of a maximum so large below 0.001"
    assert f"; not so: PCext (counts) for entropy (21.6; {chance})" in maxima_verdict(frame)


def test_whether_other_max_count_behave_alike(results: Results) -> None:
    text = alike(results)
    assert text.startswith("max_count 2: ")
    assert "of 16 win percentages differ from those of max_count 7" in text
    place = ["impurity", "n", "k", "splitter"]
    frame = results.win_percentage.pivot_table(index=place, columns="max_count", values="percent")
    gap = (frame[2] - frame[7]).abs().idxmax()
    assert f"{gap[0]}, n = {gap[1]}, k = {gap[2]}: {frame.loc[gap, 2]:.1f} against {frame.loc[gap, 7]:.1f}" in text
