"""The wheel and the sdist: what is in them, and that configs are found by name where there is no checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.helpers import ROOT


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel and an sdist, built from a copy of what git tracks."""
    folder = tmp_path_factory.mktemp("built")
    source = folder / "source"
    source.mkdir()
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    for name in tracked.stdout.splitlines():
        if (ROOT / name).is_file() and not name.startswith("results/"):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    build = "import setuptools.build_meta as b; b.build_wheel({0!r}); b.build_sdist({0!r})".format(str(folder))
    done = subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_wheel_has_everything_that_is_read(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"splitlab/{path.relative_to(ROOT / 'splitlab')}" for path in (ROOT / "splitlab").rglob("*.py")}
    wanted |= {f"splitlab/configs/{path.name}" for path in (ROOT / "configs").glob("*.yaml")}
    wanted |= {f"splitlab/published/{path.name}" for path in (ROOT / "splitlab" / "published").glob("*.[cj]s*")}
    assert wanted | {"splitlab/py.typed", "splitlab/report/page.css"} <= names
    assert not [name for name in names if name.split("/")[0] not in ("splitlab", "splitlab-0.1.0.dist-info")]


def test_the_sdist_has_tests_and_changes(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "CHANGELOG.md",
        "Makefile",
        "tests/engine/test_installed.py",
        "configs/table1.yaml",
        "experiments/__main__.py",
    } <= names


def test_configs_by_name_where_there_is_no_checkout(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}

    def splitlab(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "splitlab", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    planned = splitlab("plan", "table1", "--half-width", "5")
    assert planned.returncode == 0, planned.stderr
    assert "`splitlab run table1 --runs 385` makes them." in planned.stdout
    assert "adult" in splitlab("data", "list").stdout
    wrong = splitlab("run", "tabel1")
    assert (wrong.returncode, wrong.stderr) == (2, "splitlab: error: tabel1: no such file; did you mean 'table1'?\n")
    assert "the configs that come with splitlab are between, excess" in splitlab("run", "nothing_like_it").stderr
