"""How many runs give a wanted precision, how long they take here, and how much disk they need.

A percentage of N runs has the 95 % interval p +- 1.96 sqrt(p (1 - p) / N). Without a pilot p is taken to be 1/2, which
needs the most runs. With one, p is what is nearest to 1/2 in the Wilson intervals of the pilot's percentages, so that
the plan holds for every splitter and impurity of the cell.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from splitlab.engine.blocks import Block, Task
from splitlab.engine.config import MAX_RUNS
from splitlab.engine.planning import COLUMN_BYTES, HEADER_BYTES, PlanRequest, default_plan
from splitlab.engine.progress import followed
from splitlab.engine.session import Session
from splitlab.kinds.random_tables.config import CELL, Cell
from splitlab.kinds.random_tables.kind import RandomTables
from splitlab.kinds.random_tables.plan import BLOCK_RUNS, block_count
from splitlab.kinds.splits.sums_store import GROUP_BLOCKS, kept_bytes
from splitlab.published.stream import RUNS
from splitlab.report.layout import Entry, Table, size
from splitlab.statistics import NORMAL_975
from splitlab.text import ConfigError, counted, duration

MEASURED_SECONDS = 0.2  # what a measurement should take, in one cell
MEASURED_RUNS = (20, BLOCK_RUNS)
BINS_BYTES = 20_000  # of a column's histogram over 100 blocks, about


@dataclass(frozen=True)
class CellPlan:
    """What a cell needs.

    Attributes
    ----------
    share : float
        The p by which the runs are reckoned.
    runs : int
    seconds : float
        On one core.
    bytes : int
        Of its blocks on disk.
    """

    cell: Cell
    share: float
    runs: int
    seconds: float
    bytes: int


def runs_for(half_width: float, share: float = 0.5) -> int:
    """The fewest runs with which a percentage near ``share`` has a 95 % interval of +- ``half_width`` points.

    Examples
    --------
    >>> runs_for(1.0)
    9604
    """
    return max(1, math.ceil(NORMAL_975**2 * share * (1.0 - share) / (half_width / 100.0) ** 2 - 1e-9))


def plan_text(kind: RandomTables[Any, Any], request: PlanRequest) -> str:
    """What ``splitlab plan`` says: how many runs give the wanted precision, and what they take.

    Without a precision, what the runs of the config take.
    """
    if request.half_width is None and request.pilot is None:
        return default_plan(kind, request)
    jobs = request.session.workers
    cells = plan(kind, request.half_width, request.pilot, request.session.say)
    assert request.half_width is not None  # plan refused it
    return table_text(cells, request.config, request.half_width, request.pilot, jobs)


def plan(
    kind: RandomTables[Any, Any], half_width: float | None, pilot: int | None = None, say: TextIO | None = None
) -> list[CellPlan]:
    """Plan an experiment, cell by cell; ``pilot`` is a number of runs to be made first.

    Raises ConfigError when the half-width or the pilot makes no sense, or a cell cannot be run at all.
    """
    experiment = kind.experiment
    if half_width is None:
        raise ConfigError("--half-width: is needed; write percentage points, such as 0.2")
    if not 0.001 <= half_width <= 50.0:
        raise ConfigError(
            f"--half-width: {half_width:g} is out of range; write percentage points, above 0 and up to 50"
        )
    if pilot is not None and not 1 <= pilot <= MAX_RUNS:
        raise ConfigError(f"--pilot: {pilot} is out of range; write a number of runs from 1 to {MAX_RUNS}")
    with_runs(kind, 1).check()
    shares = _pilot_shares(kind, pilot, say) if pilot else {}
    cells = followed([cell for cell, _ in experiment.cells], say, "measuring", "cells")
    return [_cell_plan(kind, cell, half_width, shares.get(cell, 0.5)) for cell in cells]


def with_runs(kind: RandomTables[Any, Any], runs: int) -> RandomTables[Any, Any]:
    """The experiment with as many runs in every cell."""
    cells = ((cell, runs) for cell, _ in kind.experiment.cells)
    return type(kind)(kind.experiment.with_cells(cells))


def _pilot_shares(kind: RandomTables[Any, Any], pilot: int, say: TextIO | None) -> dict[Cell, float]:
    frame = with_runs(kind, pilot).run(Session(say=say)).win_percentage
    shares = {}
    for cell, _ in kind.experiment.cells:
        rows = frame[(frame[CELL] == [cell.n, cell.k, cell.max_count]).all(axis=1)]
        nearest = [
            min(max(0.5, low / 100), high / 100) for low, high in zip(rows.wilson_low, rows.wilson_high, strict=True)
        ]
        shares[cell] = min(nearest, key=lambda share: abs(share - 0.5))
    return shares


def _cell_plan(kind: RandomTables[Any, Any], cell: Cell, half_width: float, share: float) -> CellPlan:
    runs = runs_for(half_width, share)
    if runs > MAX_RUNS:
        raise ConfigError(
            f"--half-width: {half_width:g} would take {runs:.3g} runs; at most {MAX_RUNS:.0e} can be made"
        )
    if getattr(kind.experiment, "draws", "") == "authors" and runs > RUNS:
        place = kind.experiment.source or "config"
        raise ConfigError(f"{place}: draws: authors has {RUNS:,} tables per cell, and this takes {runs:,}")
    return CellPlan(cell, share, runs, runs * measured_seconds(kind, cell), stored_bytes(kind.experiment, cell, runs))


def measured_seconds(kind: RandomTables[Any, Any], cell: Cell) -> float:
    """Seconds of one run on one core, measured on the first runs of the cell."""
    columns = kind.experiment.columns(cell)
    runs = int(min(max(MEASURED_SECONDS / kind.run_seconds(cell), MEASURED_RUNS[0]), MEASURED_RUNS[1]))
    with kind.failures_explained(None):
        for number in (1, runs):  # the first call loads the kernels
            task = Task(Block(cell, 0, number), columns, 0, number, kind.experiment.seed, keep_failures=True)
            began = time.perf_counter()
            kind.compute(task)
            seconds = time.perf_counter() - began
    return seconds / runs


def stored_bytes(experiment: Any, cell: Cell, runs: int) -> int:
    """What the blocks of a cell take on disk."""
    columns, number = len(experiment.columns(cell)), block_count(runs)
    if not getattr(experiment, "keep_runs", True):
        files = -(-number // GROUP_BLOCKS)
        return number * kept_bytes(len(experiment.impurities), len(experiment.splitters)) + files * columns * BINS_BYTES
    header = HEADER_BYTES + COLUMN_BYTES * columns
    return runs * 8 * (2 + columns) + number * header


def table_text(cells: Sequence[CellPlan], config: str, half_width: float, pilot: int | None, jobs: int) -> str:
    """A row per cell, the sum, and the command that does it."""
    heads = [*CELL, "p", "runs", "core time", "disk"]
    rows = [
        [str(part) for part in (c.cell.n, c.cell.k, c.cell.max_count)]
        + [f"{c.share:.3f}", f"{c.runs:,}", duration(c.seconds), size(c.bytes)]
        for c in cells
    ]
    title = f"Runs for 95 % intervals of at most ± {half_width:g} percentage points"
    source = f"a pilot of {counted(pilot, 'run')}" if pilot else "the worst case (--pilot N measures it)"
    note = f"p: the percentage by which the runs are reckoned, from {source}. Times were measured here, on one core."
    seconds, whole = sum(c.seconds for c in cells), sum(c.bytes for c in cells)
    most = max(c.runs for c in cells)
    table = Table(title, heads, [[Entry(text) for text in row] for row in rows], 3, [note]).as_text()
    runs = counted(sum(c.runs for c in cells), "run")
    total = f"Altogether {runs}, {duration(seconds / jobs)} with --jobs {jobs}, {size(whole)}."
    same = "" if most == min(c.runs for c in cells) else " (or the runs of each cell in the config)"
    return f"{table}\n{total}\n`splitlab run {config} --runs {most}` makes them{same}."
