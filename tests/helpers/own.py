"""Modules with functions of one's own, as a user would put them beside a config."""

from __future__ import annotations

import itertools
from pathlib import Path

_numbers = itertools.count()


def write_module(folder: Path, source: str) -> str:
    """Write a module into a folder; its name, which no other test uses."""
    name = f"mine{next(_numbers)}"
    (folder / f"{name}.py").write_text(source)
    return name


def write_config(folder: Path, *splitters: str, impurities: str = "gini", n: int = 4, runs: int = 20) -> Path:
    """Write a config for tables of ``n`` rows and 3 classes into a folder."""
    path = folder / "t.yaml"
    path.write_text(
        f"name: t\nimpurities: [{impurities}]\nsplitters: {list(splitters)}\n"
        f"grid: [{{n: {n}, k: 3, max_count: 7, runs: {runs}}}]\n"
    )
    return path
