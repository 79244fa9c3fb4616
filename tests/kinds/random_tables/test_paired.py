"""Three rules for ties, and differences on the same tables: against definitions, a bootstrap, repeated experiments."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import splitlab
from splitlab.kinds.random_tables.paired import Together, pair_rows, relative_difference, tie_fields
from splitlab.kinds.splits.summary import wins
from splitlab.kinds.splits.tables import paired_tables
from splitlab.report.page import page
from splitlab.statistics import wilson
from splitlab.study import kind_of, text_of, write_tables
from tests.helpers.summaries import NAMES, made_up, row, summary_of

NORMAL_975 = 1.959963984540054
STATISTICS = {
    "ties shared": (lambda rows: rows["hcc"]["percent_shared"], lambda rows: rows["hcc"]["standard_error_shared"]),
    "wins alone": (lambda rows: rows["lca"]["percent_strict"], lambda rows: rows["lca"]["standard_error_strict"]),
    "difference of percentages": (
        lambda rows: rows["hcc", "lca"]["percent_difference"],
        lambda rows: rows["hcc", "lca"]["percent_difference_error"],
    ),
    "difference of impurities": (
        lambda rows: rows["hcc", "sliq"]["impurity_difference"],
        lambda rows: rows["hcc", "sliq"]["impurity_difference_error"],
    ),
}


def together_of(impurities: NDArray[np.float64]) -> Together:
    together = Together(impurities.shape[1])
    together.add(wins(impurities, np.full(len(impurities), 40.0)), impurities)
    return together


def numbers(impurities: NDArray[np.float64]) -> dict[Any, dict[str, Any]]:
    """All fields, by splitter and by pair of splitters."""
    names, together = NAMES[: impurities.shape[1]], together_of(impurities)
    pairs = {(r["splitter_a"], r["splitter_b"]): r for r in pair_rows(together, names, len(impurities))}
    return {**{name: tie_fields(together, s, len(impurities)) for s, name in enumerate(names)}, **pairs}


def with_failures(runs: int, seed: int) -> NDArray[np.float64]:
    impurities = made_up(runs, seed)
    impurities[np.random.default_rng(seed).random(impurities.shape) < 0.05] = np.nan
    return impurities


# Definitions


def test_rules_for_ties_on_hand_made_impurities() -> None:
    impurities = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 3.0], [5.0, 5.0, 5.0], [0.0, 0.0, 1.0], [np.nan, 4.0, 7.0]])
    fields = numbers(impurities)
    assert [fields[name]["wins_strict"] for name in NAMES[:3]] == [1, 1, 0]
    assert [fields[name]["wins_shared"] for name in NAMES[:3]] == pytest.approx([1 + 4 / 3, 2 + 1 / 3, 1 / 3])
    assert fields["hcc"]["percent_strict"] == pytest.approx(20.0)
    pair = fields["hcc", "lca"]
    assert (pair["only_a_wins"], pair["only_b_wins"], pair["compared"]) == (1, 1, 4)
    assert pair["percent_difference"] == 0.0
    assert pair["impurity_difference"] == pytest.approx(200 * (1 - 2) / 3 / 4)


@pytest.mark.parametrize("seed", range(4))
def test_all_fields_are_what_they_are_defined_as(seed: int) -> None:
    impurities = with_failures(700, seed)
    won, fields = wins(impurities, np.full(700, 40.0)), numbers(impurities)
    points = {"shared": won / won.sum(axis=1, keepdims=True).clip(1), "strict": won & (won.sum(axis=1) == 1)[:, None]}
    for s, name in enumerate(NAMES):
        for rule, values in points.items():
            mine = values[:, s].astype(float)
            assert fields[name][f"wins_{rule}"] == pytest.approx(mine.sum())
            assert fields[name][f"standard_error_{rule}"] == pytest.approx(100 * mine.std() / sqrt(700))
            assert fields[name][f"wilson_low_{rule}"] < fields[name][f"percent_{rule}"]
            assert fields[name][f"percent_{rule}"] < fields[name][f"wilson_high_{rule}"]
    for a, b in ((0, 1), (0, 3), (2, 3)):
        pair = fields[NAMES[a], NAMES[b]]
        gap = won[:, a].astype(float) - won[:, b]
        assert pair["percent_difference"] == pytest.approx(100 * gap.mean())
        assert pair["percent_difference_error"] == pytest.approx(100 * gap.std() / sqrt(700))
        x, y = impurities[:, a], impurities[:, b]
        both = ~np.isnan(x + y)
        x, y = x[both], y[both]
        mean = np.where(x + y > 0, (x + y) / 2, 1.0)
        assert pair["compared"] == both.sum() < 700
        assert pair["impurity_difference"] == pytest.approx(np.mean(100 * (x - y) / mean))
        assert pair["impurity_difference_error"] == pytest.approx(np.std(100 * (x - y) / mean) / sqrt(len(x)))


def test_every_table_has_one_point_to_share() -> None:
    impurities = made_up(1000, 3)
    fields = numbers(impurities)
    assert sum(fields[name]["wins_shared"] for name in NAMES) == pytest.approx(1000)
    assert sum(fields[name]["wins_strict"] for name in NAMES) < 1000


def test_the_order_of_two_splitters_turns_the_difference_round() -> None:
    impurities = with_failures(500, 8)[:, :2]
    one, other = numbers(impurities)["hcc", "lca"], numbers(impurities[:, ::-1])["hcc", "lca"]
    for field in ("percent_difference", "impurity_difference"):
        assert one[field] == -other[field] != 0
        assert one[f"{field}_error"] == other[f"{field}_error"] > 0


def test_the_relative_difference_is_bounded() -> None:
    a, b = np.array([0.0, 0.0, 3.0, 2.0, np.nan]), np.array([0.0, 5.0, 0.0, 2.0, 1.0])
    assert relative_difference(a, b)[:4].tolist() == [0.0, -200.0, 200.0, 0.0]
    assert np.isnan(relative_difference(a, b)[4])


def test_sums_over_parts_are_those_of_the_whole() -> None:
    impurities = with_failures(997, 2)
    won = wins(impurities, np.full(997, 40.0))
    whole, parts = together_of(impurities), Together(4)
    for start, stop in ((0, 1), (1, 300), (300, 300), (300, 990), (990, 997)):
        parts.add(won[start:stop], impurities[start:stop])
    for field in ("winners", "only", "compared"):
        assert np.array_equal(getattr(parts, field), getattr(whole, field))
    assert parts.total == pytest.approx(whole.total, rel=1e-12, abs=1e-9)
    assert parts.squares == pytest.approx(whole.squares, rel=1e-12)


@pytest.mark.parametrize(("share", "runs"), [(0.0, 10), (1.0, 10), (0.5, 1), (0.973, 10_000), (1 / 3, 7)])
def test_wilsons_interval_solves_its_equation(share: float, runs: int) -> None:
    for end in wilson(share, runs):
        if 1e-12 < end < 1 - 1e-12:
            assert abs(share - end) == pytest.approx(NORMAL_975 * sqrt(end * (1 - end) / runs), rel=1e-9)
    low, high = wilson(share, runs)
    assert high - low > 0.1 / runs  # also where every run was won


# Against a bootstrap and repeated experiments


@pytest.mark.parametrize("name", STATISTICS)
def test_errors_are_those_of_a_bootstrap(name: str) -> None:
    value, error = STATISTICS[name]
    impurities, rng = with_failures(400, 5), np.random.default_rng(6)
    again = [value(numbers(impurities[rng.integers(0, 400, 400)])) for _ in range(600)]
    assert error(numbers(impurities)) == pytest.approx(np.std(again, ddof=1), rel=4 / sqrt(2 * 600))


@pytest.mark.parametrize("name", STATISTICS)
def test_errors_are_the_spread_of_repeated_experiments(name: str) -> None:
    value, error = STATISTICS[name]
    repeated = [numbers(with_failures(300, 1000 + seed)) for seed in range(400)]
    spread = np.std([value(rows) for rows in repeated], ddof=1)
    assert np.mean([error(rows) for rows in repeated]) == pytest.approx(spread, rel=4 / sqrt(2 * 400))


def test_on_the_same_tables_the_error_is_smaller() -> None:
    """Two splitters that nearly always do the same: independent errors would be far too large."""
    impurities = made_up(2000, 9, count=3)
    impurities[:, 1] = np.where(np.arange(2000) % 50 == 0, impurities[:, 1], impurities[:, 0])
    fields, frame = numbers(impurities), summary_of(impurities).win_percentage
    apart = sqrt(sum(row(frame, name)["standard_error"] ** 2 for name in ("hcc", "lca")))
    assert fields["hcc", "lca"]["percent_difference_error"] < 0.3 * apart


# In the data frames


def test_the_frames_have_them_after_what_was_there() -> None:
    impurities = with_failures(2500, 4)
    summary, fields = summary_of(impurities), numbers(impurities)
    assert list(summary.win_percentage)[-10:] == list(fields["hcc"])
    for name in NAMES:
        ours = row(summary.win_percentage, name)
        assert {key: ours[key] for key in fields[name]} == pytest.approx(fields[name])
        assert ours["wins_strict"] <= ours["wins_shared"] <= ours["wins"]
    pairs = summary.paired_differences
    assert pairs[["splitter_a", "splitter_b"]].to_numpy().tolist() == [
        [NAMES[a], NAMES[b]] for a in range(4) for b in range(a + 1, 4)
    ]
    for record in pairs.to_dict(orient="records"):
        expected = fields[record["splitter_a"], record["splitter_b"]]
        assert {key: record[key] for key in expected} == pytest.approx(expected)


def test_a_single_splitter_has_no_differences() -> None:
    summary = summary_of(np.arange(1.0, 1201.0)[:, None])
    assert summary.paired_differences.empty
    assert {"splitter_a", "percent_difference_error"} <= set(summary.paired_differences)
    assert row(summary.win_percentage, "hcc")["wins_strict"] == 1200
    assert isinstance(summary.paired_differences, pd.DataFrame)


# In the tables


def test_the_tables_say_how_far_each_method_is_behind_the_best() -> None:
    grid = [{"n": [4, 12], "k": 3, "max_count": 7, "runs": 1200}]
    config = {"name": "p", "impurities": ["gini", "entropy"], "splitters": ["lca", "hcc", "pc"], "grid": grid}
    results = splitlab.run(config)
    tables = paired_tables(results)
    assert [table.title.split(",")[1].split()[0] for table in tables] == ["Gini", "Entropy"]
    percent = results.win_percentage.set_index(["impurity", "n", "splitter"])["percent"]
    pairs = results.paired_differences.set_index(["impurity", "n", "splitter_a", "splitter_b"])
    for impurity, table in zip(("gini", "entropy"), tables, strict=True):
        assert table.heads == ["n", "k", "most wins", "LCA", "HcC", "PC"]
        for n, line in zip((4, 12), table.rows, strict=True):
            assert [entry.text for entry in line[:3]] == [str(n), "3", "HcC"]
            for splitter, entry in zip(("lca", "pc"), (line[3], line[5]), strict=True):
                behind, error = map(float, entry.text.split(" ± "))
                pair = ("lca", "hcc") if splitter == "lca" else ("hcc", "pc")
                assert behind == pytest.approx(percent[impurity, n, "hcc"] - percent[impurity, n, splitter], abs=0.06)
                assert error == pytest.approx(pairs.loc[(impurity, n, *pair), "percent_difference_error"], abs=0.06)
            assert line[4].text == "–"
    assert all(table.as_text() in text_of(results) for table in tables)
    whole = page("p", "", [kind_of(results.experiment).section(results, {}, [], title="p")])
    assert whole.count("Wins behind the method with the most") == 2


def test_a_single_method_is_behind_nobody(tmp_path: Path) -> None:
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 10}]
    results = splitlab.run({"name": "p", "impurities": "gini", "splitters": "lca", "grid": grid})
    assert paired_tables(results) == []
    write_tables(results, tmp_path)
    assert (tmp_path / "paired_differences.csv").read_text().startswith("impurity,n,k")
    assert not (tmp_path / "paired_differences.md").exists()
