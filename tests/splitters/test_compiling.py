"""Compilation is said on stderr, wherever it happens, and only when it happens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
