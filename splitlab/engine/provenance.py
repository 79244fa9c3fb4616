"""Where results come from: versions, machine, git commit."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
PACKAGES = ("numpy", "numba", "pandas", "scipy", "joblib")


def provenance() -> dict[str, Any]:
    """Versions, machine and git commit, for the manifest."""
    return {
        "splitlab": version("splitlab"),
        "git": git_state(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "machine": machine(),
    }


def now() -> str:
    """The time of day, to the minute."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def machine() -> dict[str, Any]:
    """What computer this is."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "system": platform.system(),
    }


def cpu_model() -> str:
    """The processor's name as the system gives it; empty if it gives none."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def git_state() -> dict[str, Any]:
    """Commit of the checkout that holds the package, and whether its tree was clean; None for what is not known."""
    commit, changes = _git("rev-parse", "HEAD"), _git("status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "clean": None if changes is None else not changes}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=PACKAGE, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
