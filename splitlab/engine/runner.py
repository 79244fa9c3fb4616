"""Computes the missing blocks of an experiment with joblib threads (the kernels release the GIL)."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Any

import joblib

from splitlab.engine.blocks import Block, BlockData, Column, Computation, Task, Work, joined
from splitlab.engine.store import Store
from splitlab.plugins import packed, search, unpack
from splitlab.processes import end_with
from splitlab.text import ConfigError

PROCESS_SECONDS = 5.0  # starting processes takes about two

Compute = Callable[[Task], BlockData]
Progress = Callable[[Work], None]
# Tasks, how one is computed, and the functions that this takes -> results as they come.
Executor = Callable[[Iterator[Task], Compute, bytes], Generator[tuple[Task, BlockData]]]


def compute_here(task: Task, compute: Compute) -> tuple[Task, BlockData]:
    """Compute a task in this process."""
    return task, compute(task)


def compute_elsewhere(task: Task, compute: Compute, path: list[str], functions: bytes) -> tuple[Task, BlockData]:
    """Compute a task in another process, which has to find the functions that the task names."""
    search(path)
    unpack(functions)
    return task, compute(task)


def missing_tasks(kind: Computation, store: Store, serial: bool) -> Iterator[list[Task]]:
    """For each block that lacks some columns, those that hold the GIL (``serial``) or the others, its tasks."""
    for block in kind.blocks():
        columns = _columns(kind, block, serial)
        if columns and (lacking := store.load(block).missing(block, columns)):
            yield kind.tasks(block, lacking)


def _columns(kind: Computation, block: Block, serial: bool) -> tuple[Column, ...]:
    columns = kind.columns(block)
    chosen = kind.serial_columns(columns)
    return chosen if serial else tuple(c for c in columns if c not in chosen)


def missing_work(kind: Computation, store: Store) -> Work:
    """How much is left to compute."""
    runs, seconds = 0, 0.0
    for serial in (False, True):
        for part in map(kind.work_of, missing_tasks(kind, store, serial)):
            runs, seconds = runs + part.runs, seconds + part.seconds
    return Work(runs, seconds)


def run_missing(
    kind: Computation, store: Store, jobs: int, progress: Progress, elsewhere: Executor | None = None
) -> None:
    """Compute and store all that is missing, in ``jobs`` workers here, or ``elsewhere``."""
    functions = packed(kind.functions()) if elsewhere else b""
    if functions is None:
        raise ConfigError("functions of your own that cannot be pickled cannot be sent to other machines; import them")
    for serial in (False, True):
        parts: dict[Block, list[tuple[Task, BlockData]]] = {}
        tasks = (task for group in missing_tasks(kind, store, serial) for task in group)
        with warnings.catch_warnings():
            # On an error joblib warns of tasks that it leaves undone; the error itself says what there is to say.
            warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
            if elsewhere is None:
                done = _computed_by(jobs, tasks, serial, kind)
            else:
                done = elsewhere(tasks, kind.compute, functions)
            with closing(done) as finished:
                _collect(finished, parts, store, kind, progress)


def _computed_by(
    jobs: int, tasks: Iterator[Task], serial: bool, kind: Computation
) -> Generator[tuple[Task, BlockData]]:
    """The tasks' results as they come: from threads, or for much work that holds the GIL from processes."""
    functions = packed(kind.functions()) if serial and jobs > 1 and _serial_seconds(kind) >= PROCESS_SECONDS else None
    workers = 1 if serial and functions is None else jobs
    options: dict[str, Any] = {"n_jobs": workers, "return_as": "generator_unordered", "pre_dispatch": "2*n_jobs"}
    results: Any
    if functions is None:
        here = joblib.delayed(compute_here)
        results = joblib.Parallel(prefer="threads", **options)(here(task, kind.compute) for task in tasks)
    else:
        there = joblib.delayed(compute_elsewhere)
        arguments = (kind.compute, sys.path, functions)
        options |= {"initializer": end_with, "initargs": (os.getpid(),)}
        results = joblib.Parallel(backend="loky", **options)(there(task, *arguments) for task in tasks)
    return results


def _serial_seconds(kind: Computation) -> float:
    """Core seconds of the columns that hold the GIL, in all blocks."""
    blocks = ((block, kind.serial_columns(kind.columns(block))) for block in kind.blocks())
    return sum(kind.seconds(block, column) for block, columns in blocks for column in columns)


def _collect(
    finished: Iterable[tuple[Task, BlockData]],
    parts: dict[Block, list[tuple[Task, BlockData]]],
    store: Store,
    kind: Computation,
    progress: Progress,
) -> None:
    """Store each block as soon as all its slices are there."""
    for task, data in finished:
        block = task.block
        parts.setdefault(block, []).append((task, data))
        if sum(t.stop - t.start for t, _ in parts[block]) == block.size:
            ordered = [d for _, d in sorted(parts.pop(block), key=lambda part: part[0].start)]
            store.save(block, store.load(block).merged_with(joined(ordered)))
        progress(kind.work_of([task]))
