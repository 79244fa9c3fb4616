"""The authors' own 40,000 tables: the known win counts, and with them every published digit."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import splitlab
from splitlab.montecarlo.study import Results
from splitlab.published import load
from splitlab.report.compare import judge

CONFIG = Path(__file__).parents[1] / "configs" / "replay.yaml"
RIVALS = ["hcc", "pc_ext_counts", "sliq_ext", "lca"]
IMPURITIES = ["gini", "entropy"]
# Wins of 10,000 tables, in the order of RIVALS.
WINS = {
    ("gini", 3): [9729, 9120, 8987, 4278],
    ("gini", 5): [9916, 8795, 8192, 1907],
    ("gini", 7): [9994, 8657, 7826, 1148],
    ("gini", 9): [10000, 8497, 7554, 846],
    ("entropy", 3): [9827, 8017, 8746, 3346],
    ("entropy", 5): [9943, 7416, 7818, 1358],
    ("entropy", 7): [9998, 7323, 7518, 829],
    ("entropy", 9): [9999, 7235, 7281, 675],
}


@pytest.fixture(scope="module")
def replayed() -> Results:
    return splitlab.run(CONFIG, out=None)


@pytest.mark.parametrize(("impurity", "k"), WINS)
def test_the_wins_are_the_authors(replayed: Results, impurity: str, k: int) -> None:
    frame = replayed.win_percentage
    rows = frame[(frame["impurity"] == impurity) & (frame["k"] == k)].set_index("splitter")
    assert (rows["runs"] == 10_000).all()
    assert rows.loc[RIVALS, "wins"].tolist() == WINS[impurity, k]


def test_nothing_else_was_run(replayed: Results) -> None:
    assert len(replayed.win_percentage) == 32


def test_the_verdict(replayed: Results) -> None:
    verdict = judge(replayed)
    assert verdict.text == "32 of 32 entries equal, digit for digit"
    assert verdict.judged
    assert verdict.agrees
    assert verdict.differing == ()


def test_the_counts_of_the_reference_are_the_printed_digits() -> None:
    """Guards the two sources against each other, without our code in between."""
    printed = load("paper")
    for (impurity, k), wins in WINS.items():
        for splitter, count in zip(RIVALS, wins, strict=True):
            tenths = (count + 5) // 10  # half up
            text = printed.get(impurity, 12, k, 7, splitter)
            assert text is not None
            assert Decimal(text) == Decimal(tenths) / 10  # one entry is printed as 100


@pytest.mark.parametrize(("runs", "classes"), [(1000, [3, 5, 7, 9]), (1500, [5])])
def test_fewer_runs_are_the_first_ones(replayed: Results, runs: int, classes: list[int]) -> None:
    grid = [{"n": 12, "k": classes, "max_count": 7, "runs": runs}]
    config = {"name": "part", "impurities": IMPURITIES, "splitters": RIVALS, "grid": grid, "draws": "authors"}
    part = splitlab.run({**config, "published": "paper"})
    for impurity in IMPURITIES:
        for k in classes:
            ours = part.impurities(12, k, 7, impurity)
            assert ours.shape == (runs, 4)
            assert np.array_equal(ours, replayed.impurities(12, k, 7, impurity)[:runs])
    assert not judge(part).judged
