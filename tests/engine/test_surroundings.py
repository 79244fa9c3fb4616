"""Where it runs does not matter: odd folders, no home, other numbers of threads, scripts, an installed copy."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from splitlab._jit import cache_folder
from tests.helpers import ROOT
from tests.helpers.folders import contents, contents_of_run

CONFIG = """name: here
impurities: [gini, entropy]
splitters: [hcc, lca]
grid:
  - {n: 6, k: 4, max_count: 7, runs: 1500}
"""


def environment(**changes: str) -> dict[str, str]:
    """A bare environment: no home, no locale; the kernels that are compiled already."""
    kept = {"PATH": os.environ["PATH"], "SPLITLAB_CACHE": str(cache_folder().parent), "PYTHONPATH": str(ROOT)}
    return {**kept, **changes}


def ran(*command: object, cwd: Path, given: str | None = None, **changes: str) -> str:
    words = [sys.executable, *map(str, command)]
    options = {"cwd": cwd, "env": environment(**changes), "input": given}
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("usual")
    (folder / "c.yaml").write_text(CONFIG)
    return contents_of_run(folder / "c.yaml")


THREADS = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "3")


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A folder with a config, both of names that need quotes."""
    folder = tmp_path / "zwei Wörter, 数字 & 'more'"
    folder.mkdir()
    (folder / "café.yaml").write_text(CONFIG)
    return folder


def test_odd_folders_no_home_and_other_threads(odd: Path, expected: dict[str, bytes]) -> None:
    ran("-m", "splitlab", "run", "café.yaml", "--out", "nach außen", cwd=odd, **THREADS)
    assert contents(odd / "nach außen") == expected


@pytest.mark.slow
def test_a_report_in_odd_folders(odd: Path, expected: dict[str, bytes], tmp_path: Path) -> None:
    ran("-m", "splitlab", "run", "café.yaml", "--out", "nach außen", cwd=odd)
    ran("-m", "splitlab", "report", odd / "nach außen", cwd=tmp_path)
    assert contents(odd / "nach außen") == expected
    assert (odd / "nach außen" / "report.html").stat().st_size > 1000


SCRIPT = """
import splitlab
from splitlab.engine import runner
runner.PROCESS_SECONDS = 0.0  # processes, however little there is to do
def first(table, impurity):
    return [True] + [False] * (len(table) - 1)
grid = [{"n": 6, "k": 4, "max_count": 7, "runs": 1500}]
config = {"name": "here", "impurities": "gini", "splitters": ["lca", first], "grid": grid}
print(splitlab.run(config, jobs=2).win_percentage["wins"].tolist())
"""


@pytest.mark.parametrize("how", ["script", pytest.param("standard input", marks=pytest.mark.slow)])
def test_a_script_without_a_main_guard(how: str, tmp_path: Path) -> None:
    """Worker processes must not run the script again; in a notebook there is not even a file."""
    (tmp_path / "script.py").write_text(SCRIPT)
    said = ran("script.py", cwd=tmp_path) if how == "script" else ran("-", cwd=tmp_path, given=SCRIPT)
    wins = [int(part) for part in said.strip("[]\n").split(",")]
    assert len(wins) == 2 and wins[0] > wins[1] > 0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot bind a process to processors")
def test_no_more_workers_than_processors_that_it_may_use(tmp_path: Path) -> None:
    code = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from splitlab.engine.session import check_jobs
print(check_jobs(None))
"""
    assert ran("-c", code, cwd=tmp_path) == "1\n"
    code = "from splitlab.engine.session import check_jobs; print(check_jobs(None))"
    assert ran("-c", code, cwd=tmp_path, LOKY_MAX_CPU_COUNT="1") == "1\n"


@pytest.mark.slow
def test_an_installed_copy_is_whole_and_stays_as_it_is(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "splitlab", source / "splitlab", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "configs", source / "configs")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    ran(*pip, "--target", tmp_path / "installed", source, cwd=tmp_path)
    installed = tmp_path / "installed" / "splitlab"
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    ours = {str(path.relative_to(ROOT / "splitlab")) for path in (ROOT / "splitlab").rglob("*") if path.is_file()}
    ours |= {str(path.relative_to(ROOT)) for path in (ROOT / "configs").glob("*.yaml")}
    skipped = ("__pycache__", ".pyc")
    assert {f for f in files if not any(s in f for s in skipped)} == {
        f for f in ours if not any(s in f for s in skipped)
    }
    for path in [installed, *installed.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    (tmp_path / "c.yaml").write_text(CONFIG + "published: paper\n")
    options = {"PYTHONPATH": str(tmp_path / "installed"), "SPLITLAB_CACHE": str(tmp_path / "cache")}
    ran("-B", "-m", "splitlab", "run", "c.yaml", "--runs", "100", cwd=tmp_path, **options)
    ran("-B", "-m", "splitlab", "report", "results/here", cwd=tmp_path, **options)
    assert {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()} == files
