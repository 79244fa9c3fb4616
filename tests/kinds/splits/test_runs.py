"""Every run as a row, what a notebook shows of results, and folders opened again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import splitlab

GRID = [{"n": [5, 6], "k": 3, "max_count": 7, "runs": 1200}]
CONFIG: dict[str, Any] = {"name": "t", "impurities": ["gini", "entropy"], "splitters": ["sliq", "lca"], "grid": GRID}
KEYS = ["impurity", "n", "k", "max_count", "splitter"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("results") / "out"
    splitlab.run(CONFIG, out=out)
    return out


def test_runs_are_rows(folder: Path) -> None:
    results = splitlab.load(folder)
    runs = results.runs()
    assert list(runs.columns) == [*KEYS[:4], "run", "splitter", "value", "win"]
    assert len(runs) == 2 * 2 * 1200 * 2
    for impurity in CONFIG["impurities"]:
        for n in (5, 6):
            here = runs[(runs["impurity"] == impurity) & (runs["n"] == n)]
            wide = here.pivot_table(index="run", columns="splitter", values="value", observed=True)
            assert (wide[["sliq", "lca"]].to_numpy() == results.impurities(n, 3, 7, impurity)).all()
    wins = runs.astype({"impurity": str, "splitter": str}).groupby(KEYS)["win"].sum().reset_index()
    merged = results.win_percentage.merge(wins, on=KEYS)
    assert len(merged) == 8
    assert (merged["wins"] == merged["win"]).all()


def test_memory_is_what_is_documented(folder: Path) -> None:
    runs = splitlab.load(folder).runs()
    assert runs.memory_usage(index=False).sum() / len(runs) == pytest.approx(39, abs=0.5)


def test_runs_of_optimality_count_who_reaches_the_reference() -> None:
    cells = [{"n": 5, "k": 3, "max_count": 7, "runs": 40}, {"n": 60, "k": 9, "max_count": 7, "runs": 3}]
    config = {**CONFIG, "kind": "optimality", "grid": cells, "impurities": ["gini"], "timing_runs": 2}
    results = splitlab.run(config)
    assert results.optimality is not None
    wins = results.runs().astype({"impurity": str, "splitter": str}).groupby(KEYS)["win"].sum().reset_index()
    merged = results.optimality.merge(wins, on=KEYS)
    assert len(merged) == 5  # exact too, where it was computed
    assert (merged["reached"] == merged["win"]).all()
    assert "finds the optimum" in results._repr_html_()


def test_sums_and_times_have_no_runs() -> None:
    with pytest.raises(ValueError, match="keep_runs: false; there are no single runs"):
        splitlab.run({**CONFIG, "keep_runs": False}).runs()
    times = splitlab.run({**CONFIG, "kind": "timing", "baseline": "lca", "grid": [{**GRID[0], "n": 5, "runs": 5}]})
    with pytest.raises(ValueError, match="is of kind timing, which keeps no single runs"):
        times.runs()
    assert "microseconds" in times._repr_html_()


def test_results_show_themselves_in_a_notebook(folder: Path) -> None:
    shown = splitlab.load(folder)._repr_html_()
    assert "t, kind splits: percent of the runs" in shown
    assert "<th>SLIQ</th>" in shown
    assert shown.count(" [") == 8  # percentages with their intervals


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere", "nowhere: there is no such folder; name one that `splitlab run` wrote"),
        ("file", "file: is a file, not a folder; name one"),
        (".", "no results here \\(config.yaml is missing\\)"),
    ],
)
def test_what_is_no_results_folder(name: str, says: str, elsewhere: Path) -> None:
    Path("file").write_text("")
    with pytest.raises(ValueError, match=says):
        splitlab.load(name)
