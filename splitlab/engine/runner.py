"""Computes the missing blocks of an experiment with joblib threads (the kernels release the GIL)."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from splitlab.engine.config import Cell, Experiment
from splitlab.engine.store import BlockData, Column, Store
from splitlab.impurity import code, score
from splitlab.kinds.optimality import lower_bound
from splitlab.kinds.optimality.config import LOWER_BOUND
from splitlab.kinds.random_tables.plan import (
    BLOCK_RUNS,
    Block,
    Item,
    cell_blocks,
    columns_in,
    references,
    rivals,
    run_seconds,
    slices,
)
from splitlab.plugins import packed, search, unpack
from splitlab.published import stream
from splitlab.splitters import get, split_batch
from splitlab.splitters.custom import SplitterError
from splitlab.splitters.precompile import compile_all
from splitlab.tables.sampling import Draw, block_generator, concatenated, independent_parts
from splitlab.text import ConfigError

PROCESS_SECONDS = 5.0  # starting processes takes about two


@dataclass(frozen=True)
class Task:
    """An item of work, with everything that another process needs to do it.

    Attributes
    ----------
    item : Item
    columns : tuple of (impurity, splitter)
        What to compute.
    seed : int
    state : tuple, optional
        The generator's state to start from (authors' draws only).
    keep_failures : bool
        Whether a splitter's failure on a table is kept, as NaN, and not raised.
    """

    item: Item
    columns: tuple[Column, ...]
    seed: int
    state: tuple[Any, ...] | None = None
    keep_failures: bool = False


class RunError(ValueError):
    """A splitter failed on a run; ``cell`` and ``run`` say on which."""

    def __init__(self, message: str, cell: Cell, run: int) -> None:
        super().__init__(message, cell, run)
        self.cell, self.run = cell, run

    def __str__(self) -> str:
        """What happened, and where."""
        return f"{self.args[0]} (cell {self.cell.label}, run {self.run})"


@dataclass(frozen=True)
class Work:
    """What is left to do, for the progress bar: runs, and their expected core seconds."""

    runs: int
    seconds: float


Progress = Callable[[Work], None]
Executor = Callable[[Iterator[Task], bytes], Generator[tuple[Task, BlockData]]]  # tasks and what they need -> results


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
    _, state = stream.tables(task.state, *shape, start)
    yield stream.tables(state, *shape, stop - start)[0]


def impurities_of(
    tables: NDArray[np.int64], column: Column, failures: dict[int, str] | None = None
) -> NDArray[np.float64]:
    """I(u_L) + I(u_R) of one splitter's splits of tables (b, n, k), or a bound on all splits'; shape (b,).

    Where the splitter fails there is NaN, and ``failures`` gets the number of the table and the reason; without
    ``failures`` the first one is raised as a ``SplitterError``.
    """
    impurity, splitter = column
    if splitter == LOWER_BOUND:
        return lower_bound.bounds_of(tables, impurity)
    kind = code(impurity)
    values: NDArray[np.float64] = score(tables, split_batch(get(splitter), tables, kind, failures), kind)
    if failures:
        values[list(failures)] = np.nan
    return values


def compute(task: Task) -> tuple[Task, BlockData]:
    """Draw the tables of a task, run its splitters, score the masks."""
    parts: list[BlockData] = []
    for part in draw_parts(task):
        first = task.item.block.first + task.item.start + sum(p.totals.size for p in parts)
        parts.append(_computed(part, task, first))
    return task, joined(parts)


def compute_elsewhere(task: Task, path: list[str], functions: bytes) -> tuple[Task, BlockData]:
    """The same in another process, which has to find the functions that the task names."""
    search(path)
    unpack(functions)
    return compute(task)


def _computed(drawn: Draw, task: Task, first: int) -> BlockData:
    found = {}
    for column in task.columns:
        try:
            found[column] = impurities_of(drawn.tables, column, {} if task.keep_failures else None)
        except SplitterError as error:
            raise RunError(f"{error}, for {column[0]}", task.item.block.cell, first + error.index) from error
    return BlockData(_floats(drawn.tables.sum(axis=(1, 2))), _floats(drawn.drawn), found)


def _floats(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Counts up to 1e15 as floats, which hold them exactly."""
    return counts.astype(np.float64)


def missing_tasks(experiment: Experiment, store: Store, own: bool) -> Iterator[list[Task]]:
    """For each block that lacks some columns, of people's ``own`` functions or of kernels, its tasks."""
    keep = experiment.on_error == "record"
    for cell, runs in experiment.cells:
        columns = _columns(experiment, cell, own)
        for block in cell_blocks(cell, runs) if columns else ():
            lacking = store.load(block).missing(block, columns)
            if lacking:
                state = start_state(experiment, block)
                yield [Task(item, lacking, experiment.seed, state, keep) for item in slices(block, lacking)]


def start_state(experiment: Experiment, block: Block) -> tuple[Any, ...] | None:
    """The generator's state at the start of a block of the authors' tables; None where blocks have seeds."""
    if experiment.draws != "authors":
        return None
    cell = block.cell
    return stream.block_states((cell.n, cell.k, cell.max_count), BLOCK_RUNS)[block.number]


def work_of(tasks: list[Task]) -> Work:
    """How much some tasks of one block are."""
    runs = sum(t.item.stop - t.item.start for t in tasks)
    return Work(runs, runs * run_seconds(tasks[0].item.block.cell, tasks[0].columns))


def missing_work(experiment: Experiment, store: Store) -> Work:
    """How much is left to compute."""
    runs, seconds = 0, 0.0
    for own in (False, True):
        for part in map(work_of, missing_tasks(experiment, store, own)):
            runs, seconds = runs + part.runs, seconds + part.seconds
    return Work(runs, seconds)


def _columns(experiment: Experiment, cell: Cell, own: bool) -> tuple[Column, ...]:
    """The columns of a cell that are people's own functions, which hold the GIL, or those that are not."""
    columns = columns_in(experiment, cell)
    owned = [c for c in columns if c[1] != LOWER_BOUND and get(c[1]).custom]
    if owned and not experiment.keep_runs:  # sums need all of them together
        return columns if own else ()
    return tuple(c for c in columns if (c in owned) is own)


def compile_kernels(experiment: Experiment) -> None:
    """Have every kernel of an experiment compiled, so that workers find it."""
    compile_all(all_splitters(experiment))
    if any(LOWER_BOUND in references(experiment, cell) for cell, _ in experiment.cells):
        lower_bound.compile_bounds(experiment.impurities)


def all_splitters(experiment: Experiment) -> tuple[str, ...]:
    """The splitters that are run in any cell."""
    return tuple(dict.fromkeys(s for cell, _ in experiment.cells for s in rivals(experiment, cell)))


def run_missing(
    experiment: Experiment, store: Store, jobs: int, progress: Progress, elsewhere: Executor | None = None
) -> None:
    """Compute and store all that is missing, in ``jobs`` workers here, or ``elsewhere``."""
    functions = _functions(experiment) if elsewhere else b""
    if functions is None:
        raise ConfigError("functions of your own that cannot be pickled cannot be sent to other machines; import them")
    for own in (False, True):
        parts: dict[Block, list[tuple[Task, BlockData]]] = {}
        tasks = (task for group in missing_tasks(experiment, store, own) for task in group)
        with warnings.catch_warnings():
            # On an error joblib warns of tasks that it leaves undone; the error itself says what there is to say.
            warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
            done = _computed_by(jobs, tasks, own, experiment) if elsewhere is None else elsewhere(tasks, functions)
            with closing(done) as finished:
                _collect(finished, parts, store, progress)


def _computed_by(
    jobs: int, tasks: Iterator[Task], own: bool, experiment: Experiment
) -> Generator[tuple[Task, BlockData]]:
    """The tasks' results as they come: from threads, which people's own functions would only make wait for each other;
    for much of their work, from processes.
    """
    seconds = sum(runs * run_seconds(cell, _columns(experiment, cell, own)) for cell, runs in experiment.cells)
    functions = _functions(experiment) if own and jobs > 1 and seconds >= PROCESS_SECONDS else None
    workers = 1 if own and functions is None else jobs
    options: dict[str, Any] = {"n_jobs": workers, "return_as": "generator_unordered", "pre_dispatch": "2*n_jobs"}
    results: Any
    if functions is None:
        results = joblib.Parallel(prefer="threads", **options)(joblib.delayed(compute)(task) for task in tasks)
    else:
        elsewhere = joblib.delayed(compute_elsewhere)
        results = joblib.Parallel(backend="loky", **options)(elsewhere(task, sys.path, functions) for task in tasks)
    return results


def _functions(experiment: Experiment) -> bytes | None:
    """What another process needs for people's own functions; None where that cannot be sent."""
    return packed((*(get(splitter).kernel_path for splitter in experiment.splitters), *experiment.impurities))


def check_jobs(jobs: int | None) -> int:
    """The number of workers; all processors that this process may use by default."""
    if jobs is None:
        return joblib.cpu_count()
    if isinstance(jobs, bool) or not isinstance(jobs, int | np.integer):
        raise TypeError(f"jobs: {jobs!r} is not a whole number; write how many workers there shall be, at least 1")
    if not 1 <= jobs <= 1024:
        raise ConfigError(f"jobs: {jobs} is out of range; write a whole number from 1 to 1024")
    return jobs


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
