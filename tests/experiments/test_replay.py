"""The authors' own random tables: the known win counts and maxima, and with them every published number."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import splitlab
from experiments.replay import CELL, NOISE, WAYS, apart, arithmetic_frame, arithmetic_table, verdict_of
from splitlab.impurity import score
from splitlab.kinds.splits.compare import Entry, judge
from splitlab.kinds.splits.extremes import maxima_frame, pooled_excess
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.tables import win_tables
from splitlab.published import load, stream
from splitlab.published.program import random_tables
from splitlab.report.layout import Verdict
from splitlab.splitters import get, split_batch
from tests.helpers import ROOT

CONFIGS = ROOT / "configs"
COMPETITORS = ["hcc", "pc_ext_counts", "sliq_ext", "lca"]
IMPURITIES = ["gini", "entropy"]
# Wins of 10,000 tables, in the order of COMPETITORS.
WINS = {
    "gini": {
        (12, 3): [9729, 9120, 8987, 4278],
        (12, 5): [9916, 8795, 8192, 1907],
        (12, 7): [9994, 8657, 7826, 1148],
        (12, 9): [10000, 8497, 7554, 846],
        (25, 3): [7391, 7271, 7875, 2430],
        (25, 5): [6581, 6241, 6461, 588],
        (25, 7): [7331, 5878, 5788, 204],
        (25, 9): [8527, 5320, 5248, 82],
        (50, 3): [5141, 5072, 6815, 1598],
        (50, 5): [3306, 4106, 5309, 326],
        (50, 7): [3098, 4067, 4712, 103],
        (50, 9): [3385, 3778, 4288, 38],
    },
    "entropy": {
        (12, 3): [9827, 8017, 8746, 3346],
        (12, 5): [9943, 7416, 7818, 1358],
        (12, 7): [9998, 7323, 7518, 829],
        (12, 9): [9999, 7235, 7281, 675],
        (25, 3): [8333, 5437, 7179, 1850],
        (25, 5): [7694, 4266, 5713, 528],
        (25, 7): [8101, 3923, 5211, 200],
        (25, 9): [8772, 3774, 4711, 129],
        (50, 3): [6993, 2955, 5507, 1339],
        (50, 5): [5738, 2203, 4248, 367],
        (50, 7): [5348, 2171, 3875, 163],
        (50, 9): [5247, 2208, 3623, 79],
    },
}
# The wins at (50, 3) with PCext and SLIQext (Gini), or PCext alone (entropy), in the program's arithmetic.
PROGRAM_WINS = {"gini": [5144, 5064, 6812, 1600], "entropy": [6997, 2951, 5506, 1339]}
# Maxima of the relative excess with max_count 2, in percent, to two decimals, and n, k.
MAXIMA = {
    ("gini", "hcc"): ("2.05", 25, 3),
    ("gini", "pc_ext_counts"): ("3.70", 12, 3),
    ("gini", "sliq_ext"): ("9.41", 12, 3),
    ("gini", "lca"): ("22.28", 12, 3),
    ("entropy", "hcc"): ("1.93", 25, 3),
    ("entropy", "pc_ext_counts"): ("21.61", 12, 3),
    ("entropy", "sliq_ext"): ("14.04", 25, 3),
    ("entropy", "lca"): ("43.59", 12, 3),
}
CELLS = [(impurity, n, k) for impurity, cells in WINS.items() for n, k in cells]


def part_of_the_replay(n: int | list[int], k: int | list[int], max_count: int = 7, runs: int = 10_000) -> Results:
    grid = [{"n": n, "k": k, "max_count": max_count, "runs": runs}]
    config = {"name": "part", "impurities": IMPURITIES, "splitters": COMPETITORS, "grid": grid, "draws": "authors"}
    return splitlab.run({**config, "published": "paper"})


@pytest.fixture(scope="module")
def replayed() -> Results:
    """The cells that the paper prints."""
    return part_of_the_replay([12, 25, 50], [3, 5, 7, 9])


@pytest.mark.parametrize(("impurity", "n", "k"), CELLS)
def test_the_wins_are_the_authors(replayed: Results, impurity: str, n: int, k: int) -> None:
    frame = replayed.win_percentage
    here = (frame["impurity"] == impurity) & (frame["n"] == n) & (frame["k"] == k)
    rows = frame[here].set_index("splitter")
    assert (rows["runs"] == 10_000).all()
    assert rows.loc[COMPETITORS, "wins"].tolist() == WINS[impurity][n, k]


def test_the_verdict_by_our_rules(replayed: Results) -> None:
    verdict = judge(replayed)
    assert verdict.text == "92 of 96 entries equal, digit for digit"
    assert (verdict.judged, verdict.agrees) == (True, False)
    assert {(e.n, e.k) for e in verdict.differing} == {CELL}


def test_the_counts_of_the_reference_are_the_printed_digits() -> None:
    """Guards the two sources against each other, without our code in between."""
    printed, apart_here = load("paper"), []
    for impurity, n, k in CELLS:
        for splitter, count in zip(COMPETITORS, WINS[impurity][n, k], strict=True):
            text = printed.get(impurity, n, k, 7, splitter)
            assert text is not None
            if Decimal(text) != Decimal((count + 5) // 10) / 10:  # half up
                apart_here.append((impurity, n, k, splitter))
    four = {"gini": ["pc_ext_counts", "sliq_ext"], "entropy": ["hcc", "pc_ext_counts"]}
    assert apart_here == [(impurity, *CELL, splitter) for impurity, names in four.items() for splitter in names]


@pytest.mark.parametrize(("n", "k", "runs"), [(12, [3, 5, 7, 9], 1000), (25, [5], 1500), (50, [7, 3], 300)])
def test_some_cells_or_fewer_runs_are_the_same(replayed: Results, n: int, k: list[int], runs: int) -> None:
    part = part_of_the_replay(n, k, runs=runs)
    for impurity in IMPURITIES:
        for classes in k:
            ours = part.impurities(n, classes, 7, impurity)
            assert ours.shape == (runs, 4)
            assert np.array_equal(ours, replayed.impurities(n, classes, 7, impurity)[:runs])
    assert not judge(part).judged


def test_cells_that_are_not_printed_have_a_table_of_their_own() -> None:
    tables = win_tables(part_of_the_replay([12, 18], 3, runs=20))
    assert [[row[0].text for row in table.rows] for table in tables] == [["12"], ["18"]] * 2
    assert [("paper" in table.heads) for table in tables] == [True, False] * 2
    assert tables[1].title.endswith("cells that the authors ran and the paper does not print")


def test_configs_name_what_the_authors_ran() -> None:
    from splitlab.study import load_experiment

    cells = {(c.n, c.k, c.max_count) for c, runs in load_experiment(CONFIGS / "replay.yaml").cells if runs == 10_000}
    assert cells == set(stream.shapes(7))
    cells = {(c.n, c.k, c.max_count) for c, _ in load_experiment(CONFIGS / "replay_excess.yaml").cells}
    assert cells == set(stream.shapes(2))
    between = {(c.n, c.k) for c, _ in load_experiment(CONFIGS / "between.yaml").cells}
    assert between == {(n, k) for n in stream.UNPRINTED for k in stream.CLASSES}


# The maxima


def test_the_published_maxima_are_those_of_max_count_2() -> None:
    results = part_of_the_replay([12, 25], 3, max_count=2)
    frame = maxima_frame(pooled_excess(results)).set_index(["impurity", "splitter"])
    assert frame["alike"].all()
    for place, (value, n, k) in MAXIMA.items():
        row = frame.loc[place]
        assert (f"{row['ours']:.2f}", row["n"], row["k"]) == (value, n, k)


@pytest.mark.slow
def test_no_other_cell_of_max_count_2_has_a_larger_excess() -> None:
    results = splitlab.run(CONFIGS / "replay_excess.yaml")
    frame = maxima_frame(pooled_excess(results)).set_index(["impurity", "splitter"])
    assert {place: (f"{row['ours']:.2f}", row["n"], row["k"]) for place, row in frame.iterrows()} == MAXIMA


# The program's arithmetic


@pytest.fixture(scope="module")
def rounding() -> Results:
    return splitlab.run(CONFIGS / "replay_arithmetic.yaml", jobs=2)


def test_the_cell_in_which_rounding_decides(rounding: Results) -> None:
    frame = arithmetic_frame(rounding)
    ways = dict(zip(IMPURITIES, (list(WAYS)[2], list(WAYS)[1]), strict=True))
    for impurity in IMPURITIES:
        here = frame[frame["impurity"] == impurity]
        ours = here[here["way"] == "the rules of this package"]
        assert ours["wins"].tolist() == WINS[impurity][CELL]
        wins = here[here["way"] == ways[impurity]]["wins"].to_numpy()
        assert np.abs(wins - PROGRAM_WINS[impurity]).max() <= NOISE  # the eigensolver differs between processors
    assert "printed in the paper" in arithmetic_table(frame).as_text()


def test_sums_of_the_program_move_three_tables_of_sliq_ext(rounding: Results) -> None:
    values = rounding.impurities(*CELL, 7, "gini")
    ours, program = (rounding.experiment.splitters.index(s) for s in ("sliq_ext", next(reversed(WAYS.values()))[2]))
    assert (np.abs(values[:, ours] - values[:, program]) > 1e-9 * values[:, ours]).sum() == 3


@pytest.mark.parametrize("impurity", IMPURITIES)
@pytest.mark.parametrize("shape", [(12, 3, 7), (25, 5, 7)])
def test_the_programs_arithmetic_is_ours_but_for_ties(impurity: str, shape: stream.Shape) -> None:
    tables = stream.tables(stream.cell_state(shape), *shape, 60)[0].tables
    kind = IMPURITIES.index(impurity)
    for name in ("sliq_ext", "pc_ext_counts"):
        masks = np.array([getattr(random_tables, name)(table, impurity) for table in tables])
        both = score(tables, masks, kind), score(tables, split_batch(get(name), tables, kind), kind)
        assert np.isclose(*both, rtol=1e-12).mean() >= (0.98 if name == "sliq_ext" else 0.9)


def test_proportional_rows_are_split_all_the_same() -> None:
    table = np.array([[1, 2], [2, 4], [3, 6]])
    assert random_tables.pc_ext_counts(table, "gini").tolist() == [True, False, False]
    assert random_tables.sliq_ext(table, "entropy").sum() in (1, 2)


def test_how_far_an_entry_is_from_its_print() -> None:
    entry = Entry("gini", 50, 3, 7, "hcc", 5141, 10_000, "51.4")
    assert [apart(replace(entry, wins=w)) for w in (5135, 5144, 5134, 5145, 5100)] == [0, 0, 1, 1, 35]


def test_the_verdict_on_all_parts() -> None:
    def differing(*wins: tuple[int, int, int]) -> Verdict:
        apart_here = tuple(Entry("gini", n, k, 7, "hcc", w, 10_000, "51.4") for n, k, w in wins)
        return Verdict(True, not wins, "", apart_here)

    arithmetic = pd.DataFrame({"impurity": ["gini"] * 2, "splitter": ["hcc"] * 2, "apart": [4, 0]})
    maxima = pd.DataFrame({"alike": [True, True]})
    found = verdict_of(differing((50, 3, 5100)), 96, arithmetic, maxima)
    assert found.agrees
    assert found.text.startswith("96 of 96 entries equal, digit for digit: 95 by the rules of this package, 1 of n =")
    assert found.text.endswith("2 of 2 maxima of the relative excess equal, digit for digit (max_count 2)")
    assert verdict_of(differing((50, 3, 5100)), 96, arithmetic.iloc[:1], maxima).agrees  # noise of the machine
    assert not verdict_of(differing((50, 3, 5100)), 96, arithmetic.assign(apart=NOISE + 1), maxima).agrees
    assert not verdict_of(differing((25, 3, 5100)), 96, arithmetic, maxima).agrees
    assert not verdict_of(differing(), 96, arithmetic, maxima.assign(alike=[True, False])).agrees
    unjudged = Verdict(False, True, "not judged")
    assert verdict_of(unjudged, 96, arithmetic, maxima) is unjudged


# The numbers of a part of the splitters


def test_wins_among_some_splitters_are_those_of_a_run_with_them_alone() -> None:
    config = {"name": "part", "impurities": ["gini"], "grid": [{"n": 9, "k": 3, "max_count": 7, "runs": 300}]}
    whole = splitlab.run({**config, "splitters": COMPETITORS})
    part = splitlab.run({**config, "splitters": ["lca", "sliq_ext"]})
    pd.testing.assert_frame_equal(whole.among(["lca", "sliq_ext"]).win_percentage, part.win_percentage)
    with pytest.raises(ValueError, match="'hd' is not in this experiment"):
        whole.among(["hd"])
    for wrong in ("lca", []):
        with pytest.raises(ValueError, match="is no list of names"):
            whole.among(wrong)
    sums = splitlab.run({**config, "splitters": COMPETITORS, "keep_runs": False})
    with pytest.raises(ValueError, match="no single runs"):
        sums.among(["lca"])
