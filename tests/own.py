"""Modules with functions of one's own, as a user would put them beside a config."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_numbers = itertools.count()


def write_module(folder: Path, source: str) -> str:
    """Write a module into a folder; its name, which no other test uses."""
    name = f"mine{next(_numbers)}"
    (folder / f"{name}.py").write_text(source)
    return name


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder that is empty, and a path for imports that is put back."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    folder = tmp_path / "current"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder


def write_config(folder: Path, *splitters: str, impurities: str = "gini", n: int = 4, runs: int = 20) -> Path:
    """Write a config for tables of ``n`` rows and 3 classes into a folder."""
    path = folder / "t.yaml"
    path.write_text(
        f"name: t\nimpurities: [{impurities}]\nsplitters: {list(splitters)}\n"
        f"grid: [{{n: {n}, k: 3, max_count: 7, runs: {runs}}}]\n"
    )
    return path
