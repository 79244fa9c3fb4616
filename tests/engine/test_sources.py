"""Which files a splitter depends on follows from imports; an edit of any of them makes stored results out of date."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import splitlab
from splitlab.sources import PACKAGE, imported_modules, package_hash, source_files, source_hash
from splitlab.splitters import fingerprint, get, splitters

KERNELS = "splitlab.splitters.kernels"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package, to be edited."""
    target = tmp_path / "splitlab"
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def edit(path: Path) -> None:
    """Add a comment at the end of a file."""
    path.write_text(path.read_text() + "\n# edited\n")


@pytest.mark.parametrize("name", [s.name for s in splitters()])
def test_an_edit_of_any_imported_file_changes_the_fingerprint(name: str, copy: Path) -> None:
    splitter = get(name)
    modules = splitter.modules()
    files = source_files(*modules)
    before = source_hash(*modules, package=copy)
    assert fingerprint(splitter) == before[:16]
    assert {"impurity.py", "_jit.py"} < set(files)
    for file in files:
        text = (copy / file).read_text()
        edit(copy / file)
        assert source_hash(*modules, package=copy) != before, file
        (copy / file).write_text(text)
    for path in copy.rglob("*.py"):
        if path.relative_to(copy).as_posix() not in files:
            edit(path)
    assert source_hash(*modules, package=copy) == before


def test_no_kernel_depends_on_what_hands_out_splitters() -> None:
    for splitter in splitters():
        files = source_files(*splitter.modules())
        assert not {"splitters/__init__.py", "splitters/registry.py", "splitters/catalogue.py"} & set(files)
        assert not any(file.startswith(("engine/", "kinds/", "trees/", "report/")) for file in files)


def test_splitters_differ_in_what_they_depend_on() -> None:
    sliq, polished = (set(source_files(*get(name).modules())) for name in ("sliq", "sliq+hd"))
    assert sliq < polished
    assert "splitters/kernels/descent.py" in polished
    assert "splitters/kernels/simd.py" in source_files(f"{KERNELS}.hypercube")
    assert "splitters/kernels/simd.py" not in sliq


def test_a_function_stands_for_its_module() -> None:
    assert source_files(get) == source_files("splitlab.splitters.registry")


def test_all_ways_to_import(tmp_path: Path) -> None:
    package = tmp_path / "splitlab"
    (package / "room" / "inner").mkdir(parents=True)
    for name in ("a", "b", "c", "d", "e", "f", "g", "h", "room/__init__", "room/x", "room/y", "room/inner/__init__"):
        (package / f"{name}.py").write_text("")
    (package / "room" / "main.py").write_text(
        "import numpy, splitlab.a\n"
        "from typing import TYPE_CHECKING\n"
        "from splitlab import b as other, nothing\n"
        "from splitlab.c import function\n"
        "from . import x\n"
        "from .y import function\n"
        "from .inner import function\n"
        "from .. import d\n"
        "if TYPE_CHECKING:\n    import splitlab.e\nelse:\n    import splitlab.f\n"
        "def later():\n    from splitlab.g import function\n"
    )
    modules = [*"abcdfg", "room.x", "room.y", "room.inner"]
    found = imported_modules(package / "room" / "main.py", package)
    assert found == {f"splitlab.{name}" for name in modules}
    assert source_files("splitlab.room.main", package=package) == (
        *("a.py", "b.py", "c.py", "d.py", "f.py", "g.py"),
        *("room/inner/__init__.py", "room/main.py", "room/x.py", "room/y.py"),
    )
    assert source_files("numpy", package=package) == ()


def test_the_hash_of_the_package_is_of_all_files(copy: Path) -> None:
    def of_copy() -> str:
        code = "from splitlab.sources import package_hash; print(package_hash())"
        environment, command = {**os.environ, "PYTHONPATH": str(copy.parent)}, [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, cwd=copy.parent, env=environment, check=True)
        return done.stdout.strip()

    assert of_copy() == package_hash()
    edit(copy / "cli" / "runs.py")
    assert of_copy() != package_hash()


def test_stored_blocks_are_out_of_date_after_an_edit(copy: Path, tmp_path: Path) -> None:
    grid = [{"n": 5, "k": 3, "max_count": 7, "runs": 20}]
    config = {"name": "s", "impurities": "gini", "splitters": ["lca", "sliq"], "grid": grid}
    splitlab.run(config, out=tmp_path / "out")
    code = f"from splitlab.study import load_results; load_results({str(tmp_path / 'out')!r})"

    def loaded() -> str:
        environment = {**os.environ, "PYTHONPATH": str(copy.parent)}
        command = [sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment).stderr

    assert loaded() == ""
    edit(copy / "splitters" / "kernels" / "pull_left.py")
    assert loaded() == ""
    edit(copy / "splitters" / "kernels" / "sweep.py")  # which both kernels import
    assert "lacks runs 0 to 19" in loaded()
