"""Computes the missing blocks of an experiment with joblib threads (the kernels release the GIL)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from splitlab.impurity import code, score
from splitlab.montecarlo import lower_bound
from splitlab.montecarlo.config import Experiment
from splitlab.montecarlo.optimality_config import LOWER_BOUND
from splitlab.montecarlo.plan import (
    BLOCK_RUNS,
    Block,
    Item,
    blocks,
    columns_in,
    references,
    rivals,
    run_seconds,
    slices,
)
from splitlab.montecarlo.store import BlockData, Column, Store
from splitlab.sampling import AuthorsStream, Draw, block_generator, concatenated, independent_parts
from splitlab.splitters import get, split_batch
from splitlab.splitters.warm import compile_all


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
    return concatenated(list(draw_parts(task)))


def draw_parts(task: Task) -> Iterator[Draw]:
    """The same, in parts of bounded size."""
    cell, start, stop = task.item.block.cell, task.item.start, task.item.stop
    shape = (cell.n, cell.k, cell.max_count)
    if task.state is None:
        rng = block_generator(task.seed, *shape, task.item.block.number)
        yield from independent_parts(rng, *shape, stop - start, start)
        return
    _, state = AuthorsStream.tables(task.state, *shape, start)
    yield AuthorsStream.tables(state, *shape, stop - start)[0]


def impurities_of(tables: NDArray[np.int64], column: Column) -> NDArray[np.float64]:
    """I(u_L) + I(u_R) of one splitter's splits of tables (b, n, k), or a bound on all splits'; shape (b,)."""
    impurity, splitter = column
    if splitter == LOWER_BOUND:
        return lower_bound.bounds_of(tables, impurity)
    kind = code(impurity)
    return score(tables, split_batch(get(splitter), tables, kind), kind)


def compute(task: Task) -> tuple[Task, BlockData]:
    """Draw the tables of a task, run its splitters, score the masks."""
    return task, joined([_computed(part, task.columns) for part in draw_parts(task)])


def _computed(drawn: Draw, columns: tuple[Column, ...]) -> BlockData:
    found = {column: impurities_of(drawn.tables, column) for column in columns}
    return BlockData(_floats(drawn.tables.sum(axis=(1, 2))), _floats(drawn.drawn), found)


def _floats(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Counts up to 1e15 as floats, which hold them exactly."""
    return counts.astype(np.float64)


def missing_tasks(experiment: Experiment, store: Store) -> Iterator[list[Task]]:
    """For each block that lacks something, its tasks."""
    states = AuthorsStream.block_states(BLOCK_RUNS) if experiment.draws == "authors" else {}
    for block in blocks(experiment):
        columns = store.load(block).missing(block, columns_in(experiment, block.cell))
        if columns:
            cell = block.cell
            state = states.get(((cell.n, cell.k, cell.max_count), block.number))
            items = slices(block, columns)
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
    """Have every kernel of an experiment compiled, so that workers find it."""
    compile_all(all_splitters(experiment))
    if any(LOWER_BOUND in references(experiment, cell) for cell, _ in experiment.cells):
        lower_bound.compile_bounds(experiment.impurities)


def all_splitters(experiment: Experiment) -> tuple[str, ...]:
    """The splitters that are run in any cell."""
    return tuple(dict.fromkeys(s for cell, _ in experiment.cells for s in rivals(experiment, cell)))


def run_missing(experiment: Experiment, store: Store, jobs: int, progress: Progress) -> None:
    """Compute and store all that is missing."""
    parts: dict[Block, list[tuple[Task, BlockData]]] = {}
    tasks = (task for group in missing_tasks(experiment, store) for task in group)
    parallel = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator_unordered", pre_dispatch="2*n_jobs")
    with warnings.catch_warnings():
        # On an error joblib warns of tasks that it leaves undone; the error itself says what there is to say.
        warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
        _collect(parallel(joblib.delayed(compute)(task) for task in tasks), parts, store, progress)


def _collect(
    finished: Iterable[tuple[Task, BlockData]],
    parts: dict[Block, list[tuple[Task, BlockData]]],
    store: Store,
    progress: Progress,
) -> None:
    """Store each block as soon as all its slices are there."""
    for task, data in finished:
        block = task.item.block
        parts.setdefault(block, []).append((task, data))
        if sum(t.item.stop - t.item.start for t, _ in parts[block]) == block.runs:
            store.save(block, store.load(block).merged_with(_whole(parts.pop(block))))
        progress(work_of([task]))


def _whole(parts: list[tuple[Task, BlockData]]) -> BlockData:
    return joined([data for _, data in sorted(parts, key=lambda part: part[0].item.start)])


def joined(ordered: list[BlockData]) -> BlockData:
    """Consecutive parts of a block as one."""
    return BlockData(
        np.concatenate([d.totals for d in ordered]),
        np.concatenate([d.drawn for d in ordered]),
        {c: np.concatenate([d.columns[c] for d in ordered]) for c in ordered[0].columns},
    )
