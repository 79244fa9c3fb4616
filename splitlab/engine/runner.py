"""Computes the missing blocks of an experiment with joblib threads (the kernels release the GIL)."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, dropwhile, groupby, islice
from typing import Any

import joblib

from splitlab.engine.blocks import SHARED, Block, BlockData, Column, Computation, Task, Work, joined, together
from splitlab.engine.progress import Progress
from splitlab.engine.store import Store
from splitlab.plugins import packed, search, unpack
from splitlab.processes import end_with
from splitlab.text import ConfigError

PROCESS_SECONDS = 5.0  # starting processes takes about two

Compute = Callable[[Task], BlockData]
# Tasks, how one is computed, and the functions that this takes -> results as they come.
Executor = Callable[[Iterator[Task], Compute, bytes], Generator[tuple[Task, BlockData]]]


def compute_here(task: Task, compute: Compute) -> tuple[Task, BlockData]:
    """Compute a task in this process; where that does not say what its columns took, they share the time alike."""
    began = time.perf_counter()
    data = compute(task)
    if data.took:
        return task, data
    each = (time.perf_counter() - began) / len(task.columns)
    return task, replace(data, took=dict.fromkeys(task.columns, each))


def compute_elsewhere(task: Task, compute: Compute, path: list[str], functions: bytes) -> tuple[Task, BlockData]:
    """Compute a task in another process, which has to find the functions that the task names."""
    search(path)
    unpack(functions)
    return compute_here(task, compute)


def work_of(kind: Computation, block: Block, columns: Sequence[Column], share: float, counted: float = 1.0) -> Work:
    """How much some columns of a ``share`` of a block are; its runs count in part where other columns come apart."""
    label = block.group.label
    parts = {(label, column): share * kind.seconds(block, column) for column in columns}
    if shared := kind.shared_seconds(block):
        parts[label, SHARED] = share * shared
    return Work(share * counted * block.size, parts)


def missing_work(kind: Computation, store: Store) -> Work:
    """How much is left to compute, and the number of runs of which nothing is."""
    return together(_work_left(kind, store))


def _work_left(kind: Computation, store: Store) -> Iterator[Work]:
    for block in kind.blocks():
        lacking = store.load(block).missing(block, kind.columns(block))
        if not lacking:
            yield Work(0, {}, block.size)
        else:
            yield from (work_of(kind, block, part, 1.0, len(part) / len(lacking)) for part in _halves(kind, lacking))


def _halves(kind: Computation, columns: tuple[Column, ...]) -> list[tuple[Column, ...]]:
    """The columns of kernels and those that hold the GIL, as far as there are any: they are computed apart."""
    serial = kind.serial_columns(columns)
    return [half for half in (tuple(c for c in columns if c not in serial), serial) if half]


@dataclass
class _Pass:
    """One of the two ways through all blocks: columns of kernels, then those that hold the GIL (``serial``).

    Attributes
    ----------
    shares : dict of Block -> float
        Of the blocks that lack columns of both: how much of a run the first way is.
    """

    kind: Computation
    store: Store
    serial: bool
    shares: dict[Block, float]

    def tasks(self) -> Iterator[Task]:
        """The tasks: the first one of every group, by which it is measured, and then all others, block by block."""
        begun: dict[Any, tuple[Block, list[Task]]] = {}
        for group, blocks in self._groups():
            for block in blocks:
                if tasks := self._tasks_of(block):
                    begun[group] = block, tasks[1:]
                    yield tasks[0]
                    break
        for group, blocks in self._groups():
            if group in begun:
                first, rest = begun[group]
                yield from rest
                after = islice(dropwhile(lambda block, first=first: block != first, blocks), 1, None)  # type: ignore[misc]
                yield from chain.from_iterable(map(self._tasks_of, after))

    def _groups(self) -> Iterator[tuple[Any, Iterator[Block]]]:
        return groupby(self.kind.blocks(), key=lambda block: block.group)

    def _tasks_of(self, block: Block) -> list[Task]:
        """The tasks of a block that lacks columns."""
        columns = self.kind.columns(block)
        held = self.kind.serial_columns(columns)
        wanted = tuple(column for column in columns if (column in held) == self.serial)
        if not wanted:
            return []
        lacking = self.store.load(block).missing(block, columns)
        wanted = tuple(column for column in wanted if column in lacking)
        if wanted and not self.serial and len(wanted) < len(lacking):
            self.shares[block] = len(wanted) / len(lacking)
        return self.kind.tasks(block, wanted) if wanted else []

    def work_of(self, task: Task) -> Work:
        """How much a task is."""
        first = self.shares.get(task.block, 0.0 if self.serial else 1.0)
        share = (task.stop - task.start) / task.block.size
        return work_of(self.kind, task.block, task.columns, share, 1.0 - first if self.serial else first)


def run_missing(
    kind: Computation, store: Store, jobs: int, progress: Progress, elsewhere: Executor | None = None
) -> None:
    """Compute and store all that is missing, in ``jobs`` workers here, or ``elsewhere``."""
    functions = packed(kind.functions()) if elsewhere else b""
    if functions is None:
        raise ConfigError("functions of your own that cannot be pickled cannot be sent to other machines; import them")
    shares: dict[Block, float] = {}
    for serial in (False, True):
        way = _Pass(kind, store, serial, shares)
        with warnings.catch_warnings():
            # On an error joblib warns of tasks that it leaves undone; the error itself says what there is to say.
            warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
            if elsewhere is None:
                done = _computed_by(jobs, way.tasks(), serial, kind)
            else:
                done = elsewhere(way.tasks(), kind.compute, functions)
            with closing(done) as finished:
                _collect(finished, way, progress)


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


def _collect(finished: Iterable[tuple[Task, BlockData]], way: _Pass, progress: Progress) -> None:
    """Store each block as soon as all its slices are there."""
    parts: dict[Block, list[tuple[Task, BlockData]]] = {}
    for task, data in finished:
        block = task.block
        parts.setdefault(block, []).append((task, data))
        if sum(t.stop - t.start for t, _ in parts[block]) == block.size:
            ordered = [d for _, d in sorted(parts.pop(block), key=lambda part: part[0].start)]
            way.store.save(block, way.store.load(block).merged_with(joined(ordered)))
        progress(way.work_of(task), data.took)
