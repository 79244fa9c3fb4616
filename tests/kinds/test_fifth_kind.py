"""A kind of experiment in one file, docs/examples/optimal_splits.py, through the real command line."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from splitlab.splitters.reference.common import split_impurity
from splitlab.tables.sampling import block_generator, independent_tables
from tests.helpers import ROOT

EXAMPLE = ROOT / "docs" / "examples" / "optimal_splits.py"
CONFIG = """\
name: optima
kind: optimal_splits:OptimalSplits
impurities: [gini, entropy]
grid:
  - {n: [3, 4], k: 3, max_count: 1, runs: 1200}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the example and a config."""
    shutil.copy(EXAMPLE, tmp_path)
    (tmp_path / "optima.yaml").write_text(CONFIG)
    return tmp_path


def splitlab(place: Path, *arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "splitlab", *map(str, arguments)]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def optimal_splits(table: np.ndarray, impurity: str) -> int:
    """By the definition: every set of values with the last one in it, but the whole."""
    n, found = len(table), []
    for others in itertools.product((False, True), repeat=n - 1):
        left = np.array([*others, True])
        if not left.all():
            found.append(split_impurity(table.tolist(), left.tolist(), impurity))
    return sum(value <= min(found) * (1 + 1e-9) + 1e-12 * table.sum() for value in found)


def test_it_runs_resumes_verifies_plans_and_reports(place: Path) -> None:
    assert "4 blocks are left" in splitlab(place, "plan", "optima.yaml").stdout
    splitlab(place, "run", "optima.yaml", "--runs", 1000)
    first = {path: path.read_bytes() for path in place.glob("results/optima/blocks/*/*.block")}
    assert len(first) == 2
    assert "2 blocks are left" in splitlab(place, "plan", "optima.yaml").stdout

    done = splitlab(place, "run", "optima.yaml")
    assert "importing optimal_splits:OptimalSplits from" in done.stderr
    assert "Optimal splits of a random table" in done.stdout
    assert all(path.read_bytes() == content for path, content in first.items())
    assert "Everything is stored" in splitlab(place, "plan", "optima.yaml").stdout

    same = "4 of 4 blocks computed again (--seed 1): every bit is the same"
    assert same in splitlab(place, "verify", "results/optima", "--seed", 1).stdout
    assert splitlab(place, "compare", "results/optima").stdout.startswith("not compared")
    replayed = splitlab(place, "replay", "results/optima", "--n", 3, "--k", 3, "--run", 7)
    assert "that the folder holds" in replayed.stdout
    splitlab(place, "report", "results/optima")
    written = {path.name for path in (place / "results" / "optima").iterdir() if path.is_file()} - {".lock"}
    assert written == {
        "config.yaml", "manifest.json", "optima.csv", "optima.md", "optima.tex", "report.html", "verdict.txt",
    }  # fmt: skip


def test_its_numbers_are_right(place: Path) -> None:
    splitlab(place, "run", "optima.yaml", "--runs", 60)
    frame = pd.read_csv(place / "results" / "optima" / "optima.csv")
    for row in frame.itertuples():
        tables = independent_tables(block_generator(2018, row.n, 3, 1, 0), row.n, 3, 1, 60).tables
        counts = [optimal_splits(table, row.impurity) for table in tables]
        assert (row.mean, row.most) == (pytest.approx(np.mean(counts)), max(counts))


def test_other_draws_are_refused_and_edited_code_is_noticed(place: Path) -> None:
    splitlab(place, "run", "optima.yaml", "--runs", 20)
    refused = splitlab(place, "run", "optima.yaml", "--set", "seed=3", code=2)
    assert "was made with seed: 2018, and this config says seed: 3" in refused.stderr
    assert "which --no-plugins refuses" in splitlab(place, "run", "optima.yaml", "--no-plugins", code=2).stderr
    source = place / "optimal_splits.py"
    source.write_text(source.read_text().replace("1e-9", "1e-8"))
    assert "4 blocks are left" in splitlab(place, "plan", "optima.yaml").stdout
    missing = splitlab(place, "report", "results/optima", code=2)
    assert "is not there (yet)" in missing.stderr


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "optimal_splits:RandomTablesExperiment",
            "is no class of experiments; derive one from splitlab.engine.kind.Kind",
        ),
        ("optimal_splits:Nothing", "cannot be used: "),
        ("nowhere:Kind", "cannot be used: "),
        ("split", "is not a kind; did you mean 'splits'?"),
    ],
)
def test_what_is_no_kind(place: Path, kind: str, message: str) -> None:
    (place / "optima.yaml").write_text(CONFIG.replace("optimal_splits:OptimalSplits", kind))
    assert message in splitlab(place, "run", "optima.yaml", code=2).stderr


def test_reading_results_says_what_it_imports(place: Path) -> None:
    splitlab(place, "run", "optima.yaml", "--runs", 20)
    for command in ("report", "compare", "verify"):
        done = splitlab(place, command, "results/optima")
        assert f"importing optimal_splits:OptimalSplits from {place / 'optimal_splits.py'}" in done.stderr
    refused = splitlab(place, "verify", "results/optima", "--no-plugins", code=2)
    assert "which --no-plugins refuses" in refused.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sum(axis=1).astype(float)", "sum(axis=1).astype(float)[1:]", "return one number for each of 20 tables"),
        ("    Config = OptimalSplitsExperiment\n", "", "kind: optimal_splits:OptimalSplits has no Config"),
    ],
)
def test_mistakes_in_a_kind(place: Path, old: str, new: str, message: str) -> None:
    source = place / "optimal_splits.py"
    assert old in source.read_text()
    source.write_text(source.read_text().replace(old, new))
    assert message in splitlab(place, "run", "optima.yaml", "--runs", 20, code=2).stderr


def test_a_class_from_python(place: Path) -> None:
    code = """
import splitlab, optimal_splits
grid = [{"n": 3, "k": 3, "max_count": 1, "runs": 20}]
found = splitlab.run({"name": "x", "kind": optimal_splits.OptimalSplits, "impurities": ["gini"], "grid": grid})
print(found.optima.shape)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(place)])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "(1, 7)\n", done.stderr


def test_splitters_make_no_sense_there(place: Path) -> None:
    (place / "optima.yaml").write_text(f"{CONFIG}splitters: [hcc]\n")
    done = splitlab(place, "run", "optima.yaml", code=2)
    last = done.stderr.splitlines()[-1]
    assert last == "splitlab: error: optima.yaml:6: splitters: does not go with this kind of experiment; leave it out"
