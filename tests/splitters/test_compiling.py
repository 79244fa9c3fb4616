"""Compilation is said on stderr, wherever it happens, and only when it happens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import splitlab
from splitlab.splitters.registry import get, refusal
from tests.helpers import ROOT

CODE = "import splitlab; splitlab.impurity([[1, 2], [2, 1]], [0])"


def said(cache: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CODE],
        cwd=ROOT,
        env={**os.environ, "SPLITLAB_CACHE": str(cache), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""
    return done.stderr


def test_the_first_call_says_what_takes_so_long(tmp_path: Path) -> None:
    lines = said(tmp_path / "cache").replace("\r", "\n").splitlines()
    assert all(line.startswith("compiling kernels, which is done once: ") for line in lines if line)
    assert len(lines) > 2  # it moves
    assert said(tmp_path / "cache") == ""  # the second process finds the kernels
    assert said(tmp_path / "another", TQDM_DISABLE="1") == ""


def test_a_long_split_is_announced(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    table = np.random.default_rng(1).integers(1, 8, (18, 4))
    found = splitlab.split(table, splitter="exhaustive")
    capsys.readouterr()
    monkeypatch.setattr("splitlab.splitters.compiling.LONG_SECONDS", 1e-6)
    assert splitlab.split(table, splitter="exhaustive").impurity == found.impurity
    said = capsys.readouterr()
    assert said.err.lstrip("\r").startswith("Exhaustive splits a table with n = 18, k = 4, about 0.0029 s [00:00")
    assert said.out == ""
    splitlab.split(np.stack([table, table]), splitter="exhaustive")
    assert "Exhaustive splits 2 tables with n = 18, k = 4, about " in capsys.readouterr().err


def test_many_classes_are_not_refused() -> None:
    """PC for 1,000 classes takes a second or two; 30 were expected once."""
    pc = get("pc")
    assert 0.5 < pc.seconds(25, 1000) < 5.0
    assert refusal(pc, 25, 1000, 100_000) is None
    assert refusal(pc, 25, 4000, 100_000) is not None
