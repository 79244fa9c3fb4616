"""`make bench`: its files, fits and comparison. No test asserts a speed."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts.bench_kernels import KERNEL, PLAIN, Growth, Subject, exponent_frame, fit, growths, hcc_frame, loops_for
from scripts.bench_processes import children, compilation, config, small_cell
from scripts.bench_report import Target, comparison, geometric_mean, ratios
from splitlab.kinds.random_tables.config import Cell
from splitlab.splitters import serving
from tests.helpers import ROOT

KEY = ["code", "splitter", "impurity", "n", "k", "max_count"]
PARTS = [
    "load_seconds",
    "kernel_seconds",
    "run_seconds",
    "write_seconds",
    "processor_seconds",
    "peak_megabytes",
    "result",
]
COLUMNS = {
    "splitters": [*KEY, "rounds", "microseconds", "median"],
    "growth": [*KEY, "rounds", "microseconds", "median"],
    "hcc": [*KEY[1:], "kernel_microseconds", "plain_microseconds", "ratio"],
    "exponents": ["splitter", "impurity", "variable", "expected", "exponent", "standard_error"],
    "end_to_end": ["workers", "repeat", "runs", "wall_seconds", *PARTS],
    "memory": ["runs", *PARTS],
    "compile": ["case", "splitters", "process", *PARTS],
    "estimates": ["splitter", "n", "k", "estimated_seconds", "measured_seconds", "ratio"],
    "trees": ["tree", "rows", "fit_seconds", "test_accuracy", "nodes"],
    "targets": ["target", "bound", "measured", "met"],
    "ratios": ["file", "row", "now", "reference", "ratio"],
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder and the printed report of a quick run."""
    out = tmp_path_factory.mktemp("bench")
    command = [sys.executable, "-m", "scripts.benchmark", "--quick", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return out, done.stdout


@pytest.mark.parametrize("name", COLUMNS)
def test_a_quick_run_writes_every_file(quick: tuple[Path, str], name: str) -> None:
    frame = pd.read_csv(quick[0] / f"{name}.csv")
    assert set(COLUMNS[name]) <= set(frame)
    assert len(frame) or name == "ratios"


def test_every_splitter_impurity_and_cell_is_timed_once(quick: tuple[Path, str]) -> None:
    frame = pd.read_csv(quick[0] / "splitters.csv")
    assert not frame.duplicated(KEY).any()
    assert (frame["microseconds"] > 0).all()
    assert (frame["median"] >= frame["microseconds"]).all()
    cells = frame[frame["code"] == KERNEL].groupby(["impurity", "n", "k"])["splitter"].agg(set)
    assert sum(found == set(serving(n, k)) for (_, n, k), found in cells.items()) == 2 * 4
    plain = frame[frame["code"] == PLAIN]
    assert set(plain["splitter"]) == {"hcc"}
    assert len(plain) == len(pd.read_csv(quick[0] / "hcc.csv")) == 2 * 4


def test_processes_agree_on_the_results(quick: tuple[Path, str]) -> None:
    compiled = pd.read_csv(quick[0] / "compile.csv")
    assert compiled["case"].tolist() == ["usual cache"] * 2
    assert len(set(compiled["result"])) == 1
    whole = pd.read_csv(quick[0] / "end_to_end.csv")
    assert sorted(whole["workers"]) == [1, 2]
    assert len(set(whole["result"])) == 1
    assert (whole["wall_seconds"] > whole["run_seconds"]).all()
    assert (pd.read_csv(quick[0] / "memory.csv")["peak_megabytes"] > 10).all()


def test_trees_stand_beside_scikit_learns(quick: tuple[Path, str]) -> None:
    trees = pd.read_csv(quick[0] / "trees.csv")
    names = trees["tree"].tolist()
    assert {"hcc", "lca", "exact", "multiway", "scikit-learn, one-hot", "scikit-learn, ordinal"} <= set(names)
    assert len(names) == len(set(names))
    assert ((trees["test_accuracy"] > 0.6) & (trees["fit_seconds"] > 0)).all()


@pytest.mark.slow
def test_two_processes_compile_on_one_empty_folder() -> None:
    frame = compilation(["lca"], True, lambda text: None)
    assert frame["case"].tolist() == ["alone", "cached", "two at once", "two at once"]
    assert len(set(frame["result"])) == 1
    alone, cached, *both = frame["kernel_seconds"]
    assert cached < min(alone, *both)  # the folder was empty, and then it was not


def test_a_failing_process_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="no_such"):
        children(config(["gini"], small_cell(1), ["no_such"]), 1)


def test_figure_manifest_and_report(quick: tuple[Path, str]) -> None:
    folder, printed = quick
    assert (folder / "bench.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "bench.svg").read_text()[:2000]
    assert "least-squares" in (folder / "bench.txt").read_text()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["quick"] is True
    assert {"cpu", "cores"} <= set(manifest["machine"])
    assert str(ROOT) not in (folder / "manifest.json").read_text()
    assert printed.strip() == (folder / "report.txt").read_text().strip()
    for heading in ("Microseconds per table, gini", "Growth", "Targets", "reference"):
        assert heading in printed


X = np.array([100, 215, 464, 1000])


def test_the_fit_recovers_exact_powers() -> None:
    found = fit(X, 3.5 * X**2.0)
    assert (found.exponent, found.factor) == (pytest.approx(2.0), pytest.approx(3.5))
    assert found.standard_error == pytest.approx(0.0, abs=1e-9)


def test_the_fit_of_n_log_n_is_the_slope_of_its_logarithm() -> None:
    slope = fit(X, X * np.log(X)).exponent
    # d log(n log n) / d log n = 1 + 1 / log n, which falls over the decade
    assert 1 + 1 / math.log(1000) < slope < 1 + 1 / math.log(100)


def test_the_fit_recovers_a_power_of_two_per_class() -> None:
    k = np.arange(5, 14)
    assert fit(k, 0.2 * 2.0**k, 2.0).exponent == pytest.approx(1.0)
    assert fit(k, 0.2 * 2.0**k, 2.0).factor == pytest.approx(0.2)


def test_the_standard_error_is_that_of_least_squares() -> None:
    rng = np.random.default_rng(1)
    y = X**1.5 * np.exp(rng.normal(0, 0.1, X.size))
    _, covariance = np.polyfit(np.log(X), np.log(y), 1, cov=True)
    assert fit(X, y).standard_error == pytest.approx(math.sqrt(covariance[0, 0]))


def test_exponents_are_fitted_to_the_least_times_and_beside_what_is_expected() -> None:
    wanted = growths((100, 300, 1000), (5, 6, 7))
    times = {}
    for growth in wanted:
        for value, cell in zip(growth.values, growth.cells(), strict=True):
            for impurity in ("gini", "entropy"):
                least = 2.0 * growth.cost(value)
                times[Subject(KERNEL, growth.splitter, impurity, cell)] = np.array([5 * least, least, 9 * least])
    frame = exponent_frame(wanted, times)
    assert len(frame) == 2 * len(wanted)
    np.testing.assert_allclose(frame["exponent"], frame["expected"])
    by_name = dict(zip(frame["splitter"], frame["expected"], strict=True))
    assert by_name["sliq_ext"] == pytest.approx(2.0)
    assert by_name["hcc"] == pytest.approx(1.0)


def test_growth_varies_one_size() -> None:
    assert Growth("lca", "n", (5, 6), "", float).cells() == [Cell(5, 3, 7), Cell(6, 3, 7)]
    assert Growth("hcc", "k", (5, 6), "", float, 2.0).cells() == [Cell(12, 5, 7), Cell(12, 6, 7)]


def test_the_ratio_of_hcc_is_paired_by_round() -> None:
    # The third round is slow for both: it spoils neither the ratio nor the least times.
    cell = Cell(12, 3, 7)
    kernel, plain = np.array([1.0, 2.0, 10.0]), np.array([3.0, 6.0, 30.0])
    frame = hcc_frame({Subject(KERNEL, "hcc", "gini", cell): kernel, Subject(PLAIN, "hcc", "gini", cell): plain})
    assert frame[["kernel_microseconds", "plain_microseconds", "ratio"]].to_numpy().tolist() == [[1.0, 3.0, 3.0]]


def test_loops_take_the_time_that_was_asked_for() -> None:
    calls: list[int] = []
    loops = loops_for(lambda: calls.append(sum(range(200))), 0.002)
    assert loops > 1
    assert len(calls) >= loops


def test_a_target_is_met_within_its_bound() -> None:
    assert [Target("", 6.0, "s", x).met for x in (5.9, 6.0, 6.1, math.nan)] == ["yes", "yes", "NO", "-"]
    assert [Target("", 1.85, "", x, upper=False).met for x in (1.84, 1.85)] == ["NO", "yes"]


def frames(factor: float) -> dict[str, pd.DataFrame]:
    cells = pd.DataFrame({"code": KERNEL, "splitter": "lca", "impurity": "gini", "n": [5, 6], "k": 3, "max_count": 7})
    times = cells.assign(microseconds=[factor * 2.0, 4.0])
    whole = pd.DataFrame({"workers": [1, 1, 2], "runs": 10, "wall_seconds": [9.0, 8.0, 4.0 * factor]})
    memory = pd.DataFrame({"runs": [10, 20], "peak_megabytes": [100.0, 100.0]})
    compiled = pd.DataFrame({"case": ["alone"], "splitters": [4], "kernel_seconds": [10.0]})
    return {"splitters": times, "growth": times, "end_to_end": whole, "memory": memory, "compile": compiled}


def write_reference(folder: Path, machine: dict[str, object]) -> None:
    for name, frame in frames(1.0).items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    (folder / "manifest.json").write_text(json.dumps({"machine": machine}))


MACHINE: dict[str, object] = {"cpu": "some", "cores": 2}


def test_ratios_are_now_over_reference_row_by_row(tmp_path: Path) -> None:
    write_reference(tmp_path, MACHINE)
    found = ratios(frames(3.0), tmp_path)
    # times twice (splitters and growth), then 1 and 2 workers (least of the repeats), two memories, one compilation
    assert found["ratio"].tolist() == [3.0, 1.0, 3.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0]
    assert found["row"][0] == "kernel lca gini 5 3 7"
    assert geometric_mean(found["ratio"]) == pytest.approx(3.0 ** (3 / 9))


def test_only_rows_that_both_have_are_compared(tmp_path: Path) -> None:
    write_reference(tmp_path, MACHINE)
    (tmp_path / "growth.csv").unlink()
    now = frames(1.0)
    now["splitters"] = now["splitters"].assign(n=[6, 7])
    found = ratios(now, tmp_path)
    assert found.loc[found["file"] == "splitters", "ratio"].tolist() == [2.0 / 4.0]
    assert "growth" not in set(found["file"])
    assert ratios(now, tmp_path / "nowhere").empty


def test_the_comparison_says_whether_machines_are_equal(tmp_path: Path) -> None:
    write_reference(tmp_path, MACHINE)
    found = ratios(frames(3.0), tmp_path)
    same = comparison(found, {"machine": MACHINE, "quick": False}, tmp_path)
    assert "comparable" in same
    assert f"geometric mean {3.0 ** (3 / 9):.3f}" in same
    assert same.count("kernel lca gini 5 3 7") == 2  # the row is one of two files
    other = comparison(found, {"machine": {**MACHINE, "cores": 64}, "quick": True}, tmp_path)
    assert "mix machines" in other
    assert "comparable" not in other
    assert "quick" in other
