"""Pooled excess, its maxima, and the comparison of max_count, against independent formulas."""

from __future__ import annotations

import numpy as np
import pytest

import splitlab
from splitlab.kinds.splits.extremes import alike, maxima_frame, maxima_remark, maxima_table, pooled_excess, pooled_table
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.summary import relative_excess

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


def test_maxima_frame_and_its_table(results: Results) -> None:
    pooled = pooled_excess(results)
    frame = maxima_frame(pooled)
    assert len(frame) == 8 * 2
    row = frame[(frame["impurity"] == "gini") & (frame["splitter"] == "lca") & (frame["max_count"] == 2)].iloc[0]
    column = everything(results, "gini", 2)[:, 3]
    assert row["ours"] == column[np.isfinite(column)].max()
    assert row["published"] == "22.3"
    text = maxima_table(frame).as_text()
    assert f"run {row['maximum_run']}" in text
    assert f"{row['ours']:.2f}" in text
    assert "n = " in pooled_table(pooled).as_text()


@pytest.mark.parametrize(("ours", "alike"), [(22.25, True), (22.3499, True), (22.2499, False), (22.36, False)])
def test_a_maximum_is_alike_when_it_is_printed_alike(results: Results, ours: float, alike: bool) -> None:
    pooled = pooled_excess(results)
    pooled.loc[(pooled["impurity"] == "gini") & (pooled["splitter"] == "lca"), "maximum"] = ours
    frame = maxima_frame(pooled).set_index(["impurity", "splitter", "max_count"])
    assert bool(frame.loc[("gini", "lca", 2), "alike"]) is alike


def test_the_remark_says_how_far_other_maxima_are(results: Results) -> None:
    frame = maxima_frame(pooled_excess(results))
    frame["ours"] = frame["published"].astype(float)
    assert "give 1.00 to 1.00 times the published ones" in maxima_remark(frame)
    assert "reach 8 of 8" in maxima_remark(frame)
    frame.loc[(frame["max_count"] == 7) & (frame["splitter"] == "hcc"), "ours"] = 0.5
    frame.loc[(frame["max_count"] == 2) & (frame["splitter"] == "hcc"), "ours"] *= 1.5
    assert "give 1.00 to 1.50 times" in maxima_remark(frame)
    assert "reach 6 of 8" in maxima_remark(frame)


def test_whether_other_max_count_behave_alike(results: Results) -> None:
    text = alike(results)
    assert text.startswith("max_count 2: ")
    assert "of 16 win percentages differ from those of max_count 7" in text
    place = ["impurity", "n", "k", "splitter"]
    frame = results.win_percentage.pivot_table(index=place, columns="max_count", values="percent")
    gap = (frame[2] - frame[7]).abs().idxmax()
    assert f"{gap[0]}, n = {gap[1]}, k = {gap[2]}: {frame.loc[gap, 2]:.1f} against {frame.loc[gap, 7]:.1f}" in text
