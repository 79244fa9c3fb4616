"""Processes that a run starts end with it, also when it is killed; without memory it ends with one line."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from splitlab.processes import lacks_memory
from tests.helpers import ROOT

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
CONFIG = """name: orphans
impurities: [gini]
splitters: [{splitter}]
grid: [{{n: 6, k: 5, max_count: 7, runs: 20000}}]
"""
# As slow as what is given to processes; each leaves its number and then takes its time.
SLOW = """
import os, pathlib, time
def slow(table, impurity):
    pathlib.Path(f"worker{os.getpid()}").touch()
    time.sleep(0.2 if os.getpid() == int(os.environ["STARTED_BY"]) else 60)
    return [True] + [False] * (len(table) - 1)
"""
RUN = """
import os, sys
os.environ["STARTED_BY"] = str(os.getpid())
from splitlab.cli import main
sys.exit(main(["run", "orphans.yaml", "--jobs", "2", "--out", "out"]))
"""


def started(folder: Path, splitter: str, **environment: str) -> subprocess.Popen[bytes]:
    (folder / "orphans.yaml").write_text(CONFIG.format(splitter=splitter))
    (folder / "own.py").write_text(SLOW)
    return subprocess.Popen(
        [sys.executable, "-c", RUN],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def killed(process: subprocess.Popen[bytes], children: Callable[[], list[int]]) -> None:
    """Kill it once it has its children, which have to go too."""
    try:
        assert until(lambda: bool(children()), 60)
        started = children()
        assert all(map(running, started))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert until(lambda: not any(map(running, started)), 5)


def test_workers_end_with_a_killed_run(tmp_path: Path) -> None:
    process = started(tmp_path, "own:slow")

    def workers() -> list[int]:
        numbers = [int(path.name.removeprefix("worker")) for path in tmp_path.glob("worker*")]
        return [number for number in numbers if number != process.pid]

    killed(process, workers)


def test_compilation_ends_with_a_killed_run(tmp_path: Path) -> None:
    process = started(tmp_path, "hcc, hd, exact", SPLITLAB_CACHE=str(tmp_path / "cache"))
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")

    def compilers() -> list[int]:
        numbers = map(int, children.read_text().split())
        return [n for n in numbers if b"compile_here" in Path(f"/proc/{n}/cmdline").read_bytes()]

    killed(process, compilers)


def test_a_run_without_memory_ends_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "orphans.yaml").write_text(CONFIG.format(splitter="lca"))
    limit = 450_000 << 10
    done = subprocess.run(
        [sys.executable, "-m", "splitlab", "run", "orphans.yaml", "--out", "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("splitlab: error: out of memory (")
    assert "Traceback" not in done.stderr


def test_want_of_memory_is_found_behind_other_errors() -> None:
    with pytest.raises(AttributeError) as caught:
        try:
            raise RuntimeError("can't start new thread")
        except RuntimeError:
            raise AttributeError("terminate")  # noqa: B904
    assert lacks_memory(caught.value)
    assert not lacks_memory(ValueError("no such column"))
    assert not lacks_memory(RuntimeError("generator raised StopIteration"))
