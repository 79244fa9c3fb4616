"""Runs on a Dask cluster: the bytes of a local run, whatever happens to the workers; a lost scheduler ends them."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import splitlab
from splitlab import cli
from tests.helpers import ROOT
from tests.helpers.folders import contents, contents_of_run

BLOCKS = 40
CONFIG = f"""name: c
impurities: [gini, entropy]
splitters: [hcc, sliq_ext, lca]
grid:
  - {{n: [12, 25], k: 7, max_count: 7, runs: {500 * BLOCKS}}}
"""

has_dask = importlib.util.find_spec("distributed") is not None
needs_dask = pytest.mark.skipif(not has_dask, reason="distributed is not installed (pip install 'splitlab[dask]')")


def test_backend_and_scheduler_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG)
    for options in (["--backend", "dask"], ["--scheduler", "tcp://127.0.0.1:1"]):
        assert cli.main(["run", str(path), "--out", str(tmp_path / "out"), *options]) == 2
        assert "go together" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_without_distributed_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 10}]
    config = {"name": "c", "impurities": "gini", "splitters": ["lca"], "grid": grid}
    with pytest.raises(ValueError, match=r"pip install 'splitlab\[dask\]'"):
        splitlab.run(config, scheduler="tcp://127.0.0.1:1")
    with pytest.raises(ValueError, match="kind timing runs on this machine only"):
        splitlab.run({**config, "kind": "timing"}, scheduler="tcp://127.0.0.1:1")


class Cluster:
    """A scheduler and workers on the loopback, all of them processes."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        port = self.address.rpartition(":")[2]
        self.scheduler = self.start("dask_scheduler", "--host", "127.0.0.1", "--port", port)
        self.workers = [self.add_worker(), self.add_worker()]

    def start(self, module: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *options, "--no-dashboard"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def add_worker(self) -> subprocess.Popen[bytes]:
        return self.start("dask_worker", self.address, "--nthreads", "1", "--no-nanny")

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    started = Cluster()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("local")
    (folder / "c.yaml").write_text(CONFIG)
    return contents_of_run(folder / "c.yaml")


def started(cluster: Cluster, folder: Path, *options: str) -> subprocess.Popen[str]:
    (folder / "c.yaml").write_text(CONFIG)
    command = [sys.executable, "-m", "splitlab", "run", str(folder / "c.yaml"), "--out", str(folder / "out")]
    options = ("--backend", "dask", "--scheduler", cluster.address, *options)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [*command, *options], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def when(folder: Path, blocks: int, process: subprocess.Popen[str]) -> None:
    """Wait until so many blocks are stored."""
    while process.poll() is None and len(list(folder.glob("out/blocks/*/*.block"))) < blocks:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()


@needs_dask
@pytest.mark.slow
def test_workers_that_die_and_join_change_nothing(cluster: Cluster, local: dict[str, bytes], tmp_path: Path) -> None:
    process = started(cluster, tmp_path)
    when(tmp_path, 5, process)
    cluster.workers[0].send_signal(signal.SIGKILL)
    when(tmp_path, 8, process)
    cluster.workers.append(cluster.add_worker())
    when(tmp_path, 20, process)
    cluster.workers[1].send_signal(signal.SIGKILL)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 0, stderr
    assert "Traceback" not in stderr
    assert contents(tmp_path / "out") == local
    assert cluster.address in (tmp_path / "out" / "manifest.json").read_text()


@needs_dask
@pytest.mark.slow
def test_a_lost_scheduler_ends_the_run_and_it_continues_here(
    cluster: Cluster, local: dict[str, bytes], tmp_path: Path
) -> None:
    process = started(cluster, tmp_path)
    when(tmp_path, 3, process)
    cluster.scheduler.send_signal(signal.SIGKILL)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 2, stderr
    lines = [line for line in stderr.splitlines() if "tables/s" not in line]
    assert len(lines) == 1, stderr
    assert "the scheduler is lost; finished blocks are kept" in lines[0]
    assert 3 <= len(list(tmp_path.glob("out/blocks/*/*.block"))) < BLOCKS
    splitlab.run(tmp_path / "c.yaml", out=tmp_path / "out")
    assert contents(tmp_path / "out") == local


@needs_dask
@pytest.mark.slow
def test_an_interrupt_ends_the_run(cluster: Cluster, tmp_path: Path) -> None:
    process = started(cluster, tmp_path)
    when(tmp_path, 3, process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "finished blocks are kept" in stderr
    assert "Traceback" not in stderr


@needs_dask
@pytest.mark.slow
def test_no_scheduler_and_other_code(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 10}]
    config: dict[str, Any] = {"name": "c", "impurities": "gini", "splitters": ["lca"], "grid": grid}
    with monkeypatch.context() as patch:
        patch.setattr("splitlab.engine.cluster.CONNECT_SECONDS", 2)
        with pytest.raises(ValueError, match=r"'tcp://127.0.0.1:9' cannot be reached"):
            splitlab.run(config, scheduler="tcp://127.0.0.1:9")
    assert splitlab.run(config, scheduler=cluster.address).impurities(4, 3, 7, "gini").shape == (10, 1)
    monkeypatch.setattr("splitlab.engine.cluster.code_version", lambda: "another")
    with pytest.raises(ValueError, match=r"a worker has splitlab .* and this is another"):
        splitlab.run(config, scheduler=cluster.address)


@needs_dask
@pytest.mark.slow
def test_no_workers_are_waited_for(cluster: Cluster) -> None:
    for worker in cluster.workers:
        worker.kill()
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 1500}]
    config: dict[str, Any] = {"name": "c", "impurities": "gini", "splitters": ["lca"], "grid": grid}
    later = threading.Timer(8.0, lambda: cluster.workers.append(cluster.add_worker()))
    later.start()
    assert splitlab.run(config, scheduler=cluster.address).draws["drawn"].sum() >= 1500
    later.join()
