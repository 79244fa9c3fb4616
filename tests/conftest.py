"""Fixtures that tests of several rooms use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from splitlab.engine import runner
from splitlab.engine.blocks import BlockData, Task
from splitlab.engine.runner import Compute

pytest.register_assert_rewrite("tests.helpers")


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """The tasks that this process computes from now on, in the order in which they are begun."""
    begun: list[Task] = []
    original = runner.compute_here

    def noted(task: Task, compute: Compute) -> tuple[Task, BlockData]:
        begun.append(task)
        return original(task, compute)

    monkeypatch.setattr(runner, "compute_here", noted)
    return begun


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder that is empty, and a path for imports that is put back."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    folder = tmp_path / "current"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
