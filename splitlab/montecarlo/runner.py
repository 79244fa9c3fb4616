"""Computes the missing blocks of an experiment with joblib threads (the kernels release the GIL)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from splitlab.impurity import code, score
from splitlab.montecarlo.config import Experiment
from splitlab.montecarlo.plan import BLOCK_RUNS, Block, Item, blocks, columns_of, run_seconds, slices
from splitlab.montecarlo.store import BlockData, Column, Store
from splitlab.sampling import AuthorsStream, Draw, block_generator, independent_tables
from splitlab.splitters import get, split_batch


@dataclass(frozen=True)
class Task:
    """An item, the columns to compute for it, and the generator state it starts from (authors' draws only)."""

    item: Item
    columns: tuple[Column, ...]
    seed: int
    state: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Work:
    """What is left to do, for the progress bar: runs, and their expected core seconds."""

    runs: int
    seconds: float


Progress = Callable[[Work], None]


def draw(task: Task) -> Draw:
    """The tables of a task's item, in the order of its runs."""
    cell, start, stop = task.item.block.cell, task.item.start, task.item.stop
    shape = (cell.n, cell.k, cell.max_count)
    if task.state is None:
        rng = block_generator(task.seed, *shape, task.item.block.number)
        return independent_tables(rng, *shape, stop - start, start)
    _, state = AuthorsStream.tables(task.state, *shape, start)
    return AuthorsStream.tables(state, *shape, stop - start)[0]


def impurities_of(tables: NDArray[np.int64], column: Column) -> NDArray[np.float64]:
    """I(u_L) + I(u_R) of one splitter's splits of tables (b, n, k); shape (b,)."""
    impurity, splitter = column
    kind = code(impurity)
    return score(tables, split_batch(get(splitter), tables, kind), kind)


def compute(task: Task) -> tuple[Task, BlockData]:
    """Draw the tables of a task, run its splitters, score the masks."""
    drawn = draw(task)
    columns = {column: impurities_of(drawn.tables, column) for column in task.columns}
    return task, BlockData(_floats(drawn.tables.sum(axis=(1, 2))), _floats(drawn.drawn), columns)


def _floats(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Counts up to 1e15 as floats, which hold them exactly."""
    return counts.astype(np.float64)


def missing_tasks(experiment: Experiment, store: Store) -> Iterator[list[Task]]:
    """For each block that lacks something, its tasks."""
    wanted = columns_of(experiment)
    states = AuthorsStream.block_states(BLOCK_RUNS) if experiment.draws == "authors" else {}
    for block in blocks(experiment):
        columns = store.load(block).missing(block, wanted)
        if columns:
            cell = block.cell
            state = states.get(((cell.n, cell.k, cell.max_count), block.number))
            items = slices(block, run_seconds(cell, columns))
            yield [Task(item, columns, experiment.seed, state) for item in items]


def work_of(tasks: list[Task]) -> Work:
    """How much some tasks of one block are."""
    runs = sum(t.item.stop - t.item.start for t in tasks)
    return Work(runs, runs * run_seconds(tasks[0].item.block.cell, tasks[0].columns))


def missing_work(experiment: Experiment, store: Store) -> Work:
    """How much is left to compute."""
    parts = [work_of(tasks) for tasks in missing_tasks(experiment, store)]
    return Work(sum(p.runs for p in parts), sum(p.seconds for p in parts))


def compile_kernels(experiment: Experiment) -> None:
    """Run every needed kernel once on a tiny table, so that workers find it compiled."""
    tables = np.array([[[2, 1], [1, 3]]])
    for column in columns_of(experiment):
        impurities_of(tables, column)


def run_missing(experiment: Experiment, store: Store, jobs: int, progress: Progress) -> None:
    """Compute and store all that is missing. Each block is stored as soon as its last slice is there."""
    parts: dict[Block, list[tuple[Task, BlockData]]] = {}
    tasks = (task for group in missing_tasks(experiment, store) for task in group)
    parallel = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator_unordered", pre_dispatch="2*n_jobs")
    for task, data in parallel(joblib.delayed(compute)(task) for task in tasks):
        block = task.item.block
        parts.setdefault(block, []).append((task, data))
        if sum(t.item.stop - t.item.start for t, _ in parts[block]) == block.runs:
            store.save(block, store.load(block).merged_with(joined(parts.pop(block))))
        progress(work_of([task]))


def joined(parts: list[tuple[Task, BlockData]]) -> BlockData:
    """The slices of a block, in order, as one."""
    ordered = [data for _, data in sorted(parts, key=lambda part: part[0].item.start)]
    return BlockData(
        np.concatenate([d.totals for d in ordered]),
        np.concatenate([d.drawn for d in ordered]),
        {c: np.concatenate([d.columns[c] for d in ordered]) for c in ordered[0].columns},
    )
