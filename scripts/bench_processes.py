"""What a user waits for, in fresh processes: Tables 1 and 2 from start to files, memory, and the first compilation.

Every process runs ``scripts.bench_child`` on a temporary folder. Wall time is taken from outside: it includes starting
Python and loading the packages. The speed-up of two workers is that of ``splitlab.run`` alone, since
starting up is no work that workers could share; both are in the csv.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import pandas as pd

from splitlab.study import run

ROOT = Path(__file__).parents[1]
METHODS = ("hcc", "pc_ext_counts", "sliq_ext", "lca")
LONGEST = 1200.0  # seconds: a process that takes longer hangs

Row = dict[str, Any]
Say = Callable[[str], None]


def config(impurities: Sequence[str], grid: list[Row], splitters: Sequence[str] = METHODS) -> Row:
    """The experiment of Tables 1 and 2, or a part of it, as in configs/table1.yaml."""
    lists = {"impurities": list(impurities), "splitters": list(splitters), "grid": grid}
    return {"name": "bench", **lists, "seed": 2018, "published": "paper"}


def paper_grid(runs: int) -> list[Row]:
    """The twelve cells of the paper."""
    return [{"n": [12, 25, 50], "k": [3, 5, 7, 9], "max_count": 7, "runs": runs}]


def small_cell(runs: int) -> list[Row]:
    """The cell (12, 3), of which many runs are cheap."""
    return [{"n": 12, "k": 3, "max_count": 7, "runs": runs}]


def children(settings: Row, jobs: int, count: int = 1, cache: Path | None = None) -> list[Row]:
    """Run ``count`` processes at once; what each says, and its wall time. RuntimeError if one fails."""
    environment = os.environ | ({"SPLITLAB_CACHE": str(cache)} if cache else {})
    with TemporaryDirectory(prefix="splitlab-bench-") as folder:
        began = perf_counter()
        command = [sys.executable, "-m", "scripts.bench_child", json.dumps(settings), str(jobs)]
        started = [
            subprocess.Popen(
                [*command, f"{folder}/{i}"],
                cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            for i in range(count)
        ]  # fmt: skip
        try:
            return [_said(process, began) for process in started]
        finally:
            for process in started:
                process.kill()  # does nothing to those that have ended


def _said(process: subprocess.Popen[str], began: float) -> Row:
    output, errors = process.communicate(timeout=LONGEST)
    if process.returncode:
        raise RuntimeError(f"a process of the benchmark failed with code {process.returncode}:\n{errors}")
    return {"wall_seconds": round(perf_counter() - began, 4), **json.loads(output)}


def cache_kernels() -> None:
    """Compile what the processes below need, unless that is done: their times are those of every later run."""
    run(config(["gini", "entropy"], paper_grid(1)), jobs=1)


def end_to_end(runs: int, repeats: int, say: Say) -> pd.DataFrame:
    """Tables 1 and 2 together with two workers and with one, taking turns."""
    settings = config(["gini", "entropy"], paper_grid(runs))
    rows = []
    for repeat in range(repeats):
        for workers in (2, 1) if repeat % 2 == 0 else (1, 2):
            say(f"Tables 1 and 2, {workers} worker{'s' * (workers > 1)}, {repeat + 1} of {repeats}")
            rows.append({"workers": workers, "repeat": repeat, "runs": runs, **children(settings, workers)[0]})
    return pd.DataFrame(rows)


def memory(sizes: Sequence[int], say: Say) -> pd.DataFrame:
    """Peak memory for ever more runs of one cell, two workers."""
    rows = []
    for runs in sizes:
        say(f"memory, {runs:,} runs")
        rows.append({"runs": runs, **children(config(["gini", "entropy"], small_cell(runs)), 2)[0]})
    return pd.DataFrame(rows)


def compilation(splitters: Sequence[str], empty: bool, say: Say) -> pd.DataFrame:
    """Kernels on an ``empty`` cache folder: one process, one after it that finds them; two at once on one folder.

    Every process also runs ten tables of every cell of Table 1, and says what came out. Without ``empty`` the usual
    cache serves two processes at once: a quick run has no time to compile.
    """
    settings = config(["gini"], paper_grid(10), splitters)
    rows = []
    for group in ((("alone", 1), ("cached", 1)), (("two at once", 2),))[0 if empty else 1 :]:
        with TemporaryDirectory(prefix="splitlab-bench-cache-") as cache:
            for case, count in group:
                say(f"kernels of Table 1, {case}")
                found = children(settings, 1, count, Path(cache) if empty else None)
                key = {"case": case if empty else "usual cache", "splitters": len(splitters)}
                rows += [{**key, "process": i, **row} for i, row in enumerate(found)]
    return pd.DataFrame(rows)
