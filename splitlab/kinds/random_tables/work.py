"""Drawing the tables of a block, and what splitters make of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splitlab import dependencies, plugins
from splitlab.engine.blocks import SHARED, Block, BlockData, Column, Task, joined
from splitlab.engine.provenance import provenance
from splitlab.impurity import code, score
from splitlab.kinds.random_tables.config import Cell, RandomTablesExperiment
from splitlab.kinds.random_tables.plan import BLOCK_RUNS, first_run
from splitlab.published import stream
from splitlab.splitters import get, split_batch
from splitlab.splitters.custom import SplitterError
from splitlab.splitters.registry import POLISHED, code_hash
from splitlab.tables.sampling import Draw, block_generator, concatenated, independent_parts
from splitlab.text import ConfigError, counted

# From tables (b, n, k), a column, and a dictionary for failures, or None, to a number for each table.
Values = Callable[[NDArray[np.int64], Column, "dict[int, str] | None"], NDArray[np.float64]]


class RunError(ValueError):
    """A splitter failed on a run; ``cell`` and ``run`` say on which."""

    def __init__(self, message: str, cell: Cell, run: int) -> None:
        super().__init__(message, cell, run)
        self.cell, self.run = cell, run

    def __str__(self) -> str:
        """What happened, and where."""
        return f"{self.args[0]} (cell {self.cell.label}, run {self.run})"


def start_state(draws: str, block: Block) -> tuple[Any, ...] | None:
    """The generator's state at the start of a block of the authors' tables; None where blocks have seeds."""
    if draws != "authors":
        return None
    return stream.block_states(block.group.sizes, BLOCK_RUNS)[block.number]


def draw(task: Task) -> Draw:
    """The tables of a task, in the order of its runs."""
    return concatenated(list(draw_parts(task)))


def draw_parts(task: Task) -> Iterator[Draw]:
    """The tables of a task in parts of bounded size."""
    start, stop = task.start, task.stop
    shape: tuple[int, int, int] = task.block.group.sizes
    if task.state is None:
        rng = block_generator(task.seed, *shape, task.block.number)
        yield from independent_parts(rng, *shape, stop - start, start)
        return
    _, state = stream.tables(task.state, *shape, start)
    yield stream.tables(state, *shape, stop - start)[0]


def impurities_of(
    tables: NDArray[np.int64], column: Column, failures: dict[int, str] | None = None
) -> NDArray[np.float64]:
    """I(u_L) + I(u_R) of one splitter's splits of tables (b, n, k); shape (b,).

    Where the splitter fails there is NaN, and ``failures`` gets the number of the table and the reason; without
    ``failures`` the first one is raised as a ``SplitterError``.
    """
    impurity, splitter = column
    kind = code(impurity)
    values: NDArray[np.float64] = score(tables, split_batch(get(splitter), tables, kind, failures), kind)
    if failures:
        values[list(failures)] = np.nan
    return values


def computed(task: Task, values: Values = impurities_of) -> BlockData:
    """Draw the tables of a task and give the numbers of its columns."""
    parts: list[BlockData] = []
    began = time.perf_counter()
    for part in draw_parts(task):
        drawing = time.perf_counter() - began
        first = first_run(task.block) + task.start + sum(p.totals.size for p in parts)
        parts.append(_part(part, task, first, values, drawing))
        began = time.perf_counter()
    return joined(parts)


def _part(drawn: Draw, task: Task, first: int, values: Values, drawing: float) -> BlockData:
    found, took = {}, {SHARED: drawing}
    for column in task.columns:
        began = time.perf_counter()
        try:
            found[column] = values(drawn.tables, column, {} if task.keep_failures else None)
        except SplitterError as error:
            raise RunError(f"{error}, for {column[0]}", task.block.group, first + error.index) from error
        if np.shape(found[column]) != (len(drawn.tables),):
            wanted = f"return one number for each of {counted(len(drawn.tables), 'table')}"
            raise ConfigError(f"the values of {' '.join(column)} have the shape {np.shape(found[column])}; {wanted}")
        took[column] = time.perf_counter() - began
    return BlockData(_floats(drawn.tables.sum(axis=(1, 2))), _floats(drawn.drawn), found, took=took)


def _floats(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Counts up to 1e15 as floats, which hold them exactly."""
    return counts.astype(np.float64)


def all_splitters(experiment: RandomTablesExperiment) -> tuple[str, ...]:
    """The splitters that are run in any cell."""
    return tuple(dict.fromkeys(s for cell, _ in experiment.cells for s in experiment.competitors(cell)))


def is_custom(splitter: str) -> bool:
    """Whether a column's splitter is a user-defined function, which holds the GIL."""
    return plugins.is_plugin(splitter.removesuffix(POLISHED)) and get(splitter).custom


def user_code(impurities: Iterable[str], splitters: Iterable[str]) -> dict[str, str]:
    """The fingerprints of user-defined functions, for a manifest."""
    from_names = [*filter(plugins.is_plugin, impurities)]
    functions = [*from_names, *(get(s).kernel_path for s in splitters if get(s).custom)]
    return {name: dependencies.fingerprint(name) for name in functions}


def timing_provenance(experiment: RandomTablesExperiment) -> dict[str, Any]:
    """Versions, machine, git commit, and hashes of the code that is timed."""
    functions = user_code(experiment.impurities, experiment.splitters)
    return {"code": code_hash()[:16], "functions": functions, **provenance()}
