"""Compiles kernels before they are needed, on two processors where there are two.

The compiler never gives back its memory, and compiles one function at a time. So other processes compile what is not
in the cache yet, two of them where several families are missing; what they do not manage, this one does.
``python -m splitlab.splitters.precompile`` does so for all splitters.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import joblib
import numpy as np

from splitlab._jit import cache_folder
from splitlab.impurity import score
from splitlab.sources import PACKAGE
from splitlab.splitters.compiling import wait_shown
from splitlab.splitters.registry import Splitter, get, serving, split_batch


def compile_all(names: Iterable[str]) -> None:
    """Compile the kernels of these splitters, which is shown, or load them from the cache."""
    families: dict[str, Splitter] = {}
    for splitter in map(get, names):
        for path in splitter.kernel_paths():
            families.setdefault(path, get("lca+hd") if splitter.custom else splitter)
    lacking = [path for path in families if not _mark(path).exists()]
    missing = list(dict.fromkeys(families[path].name for path in lacking))
    parts = [missing[::2], missing[1::2]] if joblib.cpu_count() > 1 else [missing]
    if processes := [process for part in parts if part and (process := _start(part))]:
        _wait(processes, lacking)
    compile_here(s.name for s in families.values())


def compile_here(names: Iterable[str]) -> None:
    """Compile the kernels of these splitters in this process, or load them from the cache."""
    for name in names:
        _compile(get(name))


def _wait(processes: list[subprocess.Popen[bytes]], lacking: list[str]) -> None:
    try:
        wait_shown(
            len(lacking),
            lambda: sum(not _mark(path).exists() for path in lacking),
            lambda: any(process.poll() is None for process in processes),
        )
    finally:
        for process in processes:
            process.terminate()  # where an interrupt has ended the wait


def _compile(splitter: Splitter) -> None:
    """Run a kernel on two small tables, of many and of few different rows, which are solved in different ways."""
    many, few = [[1 + v % 4, 1 + v // 4, 2] for v in range(13)], [[1 + v % 3, 1, 2] for v in range(13)]
    tables = np.array([many, few])
    for kind in (0, 1):
        score(tables, split_batch(splitter, tables, kind), kind)
    for path in splitter.kernel_paths():
        _mark(path).touch()


def _mark(path: str) -> Path:
    """The file that says that a kernel is in the cache."""
    return cache_folder(path.split(":")[0]) / f"{path.replace(':', '.')}.compiled"


def _start(names: list[str]) -> subprocess.Popen[bytes] | None:
    imports = "from splitlab.processes import end_with; from splitlab.splitters.precompile import compile_here"
    code = f"{imports}; end_with({os.getpid()}); compile_here({names})"
    search = os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        return subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": search},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


if __name__ == "__main__":
    compile_all(serving(13, 3))
