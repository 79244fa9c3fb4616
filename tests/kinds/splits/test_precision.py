"""What a precision takes: the runs give it, the pilot is on the safe side, time and disk are about right."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from splitlab import cli
from splitlab.engine.planning import PlanRequest
from splitlab.engine.session import Session
from splitlab.kinds.random_tables.kind import RandomTables
from splitlab.kinds.splits.precision import plan, runs_for, with_runs
from splitlab.report.layout import size
from splitlab.statistics import wilson
from splitlab.study import kind_of, load_experiment, run

GRID = [{"n": [4, 12], "k": 3, "max_count": 7, "runs": 1}]
CONFIG: dict[str, Any] = {"name": "p", "impurities": ["gini", "entropy"], "splitters": ["hcc", "lca"], "grid": GRID}


def planned(**changes: Any) -> RandomTables[Any, Any]:
    kind = kind_of(load_experiment({**CONFIG, **changes}))
    assert isinstance(kind, RandomTables)
    return kind


@pytest.mark.parametrize("half_width", [0.2, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.5, 0.1, 0.97])
def test_so_many_runs_give_the_precision_and_no_fewer(half_width: float, share: float) -> None:
    runs = runs_for(half_width, share)
    spread = 100 * np.sqrt(share * (1 - share))
    assert 1.96 * spread / np.sqrt(runs) <= half_width * 1.0001
    assert 1.96 * spread / np.sqrt(runs - 1) > half_width
    low, high = wilson(share, runs)
    assert 100 * (high - low) / 2 == pytest.approx(half_width, rel=0.15)


def test_the_worst_case_is_a_half() -> None:
    assert runs_for(1.0) == max(runs_for(1.0, share) for share in np.linspace(0, 1, 101)) == 9604
    assert [cell.runs for cell in plan(planned(), 5.0)] == [runs_for(5.0)] * 2


def test_a_pilot_is_on_the_safe_side() -> None:
    """Its shares lie between 1/2 and those of a long run."""
    pilot = plan(planned(), 0.5, 400)
    frame = run(with_runs(planned(), 20_000).experiment).win_percentage
    for cell in pilot:
        shares = frame[frame["n"] == cell.cell.n]["percent"] / 100
        needed = max(runs_for(0.5, share) for share in shares)
        assert needed <= cell.runs <= runs_for(0.5)
    assert min(cell.runs for cell in pilot) < runs_for(0.5)


def test_time_and_disk_are_about_right(tmp_path: Path) -> None:
    kind = planned(grid=[{"n": 25, "k": 5, "max_count": 7, "runs": 1}])
    (cell,) = plan(kind, 1.0)
    assert cell.runs == 9604
    began = time.perf_counter()
    run(with_runs(kind, cell.runs).experiment, jobs=1, out=tmp_path / "out")
    assert cell.seconds / 4 < time.perf_counter() - began < 4 * cell.seconds + 1.0
    stored = sum(path.stat().st_size for path in (tmp_path / "out" / "blocks").rglob("*.block"))
    assert cell.bytes == pytest.approx(stored, rel=0.02)


@pytest.mark.parametrize(
    ("changes", "half_width", "pilot", "words"),
    [
        ({}, 0.0, None, "--half-width: 0 is out of range"),
        ({}, None, 300, "--half-width: is needed"),
        ({}, -1.0, None, "--half-width: -1"),
        ({}, 51.0, None, "--half-width: 51"),
        ({}, float("nan"), None, "--half-width: nan"),
        ({}, 1e-300, None, "--half-width: 1e-300"),
        ({}, 0.001, None, "would take .* runs"),
        ({}, 1.0, 0, "--pilot: 0 is out of range"),
        ({"kind": "timing"}, 1.0, None, "times do not repeat"),
        ({"grid": [{"n": 5, "k": 30, "max_count": 7, "runs": 1}]}, 1.0, None, r"'hcc' would take about .* 2\^k"),
    ],
)
def test_nonsense_is_refused(changes: dict[str, Any], half_width: float | None, pilot: int | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        planned(**changes).plan(PlanRequest("p.yaml", half_width, pilot, Session()))


def test_of_the_authors_draws_there_are_no_more() -> None:
    authors = kind_of(planned().experiment.changed(draws="authors"))
    with pytest.raises(ValueError, match="has 10,000 tables per cell, and this takes 38,415"):
        plan(authors, 0.5)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(planned().experiment.to_yaml())
    assert cli.main(["plan", str(path), "--half-width", "2.5", "--pilot", "300", "--jobs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines if line.lstrip()[:2].strip() in ("4", "12")]
    assert [int(row[0]) for row in rows] == [4, 12]
    runs = [int(row[4].replace(",", "")) for row in rows]
    assert f"Altogether {sum(runs):,} runs" in lines[-2]
    assert f"`splitlab run {path} --runs {max(runs)}` makes them" in lines[-1]
    for wrong in (["--half-width", "wide"], ["--half-width", "1,2"]):
        with pytest.raises(SystemExit) as caught:
            cli.main(["plan", str(path), *wrong])
        assert caught.value.code == 2
    assert not (tmp_path / "results").exists()


def test_sizes_in_words() -> None:
    assert [size(x) for x in (12, 1500, 1.44e6, 2.5e8, 3e12)] == ["12 bytes", "1.5 kB", "1.4 MB", "250 MB", "3 TB"]
