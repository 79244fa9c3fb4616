"""How many runs give a wanted precision, how long they take here, and how much disk they need.

A percentage of N runs has the 95 % interval p +- 1.96 sqrt(p (1 - p) / N). Without a pilot p is taken to be 1/2, which
needs the most runs. With one, p is what is nearest to 1/2 in the Wilson intervals of the pilot's percentages, so that
the plan holds for every splitter and impurity of the cell.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TextIO

from splitlab.engine.config import MAX_RUNS, Cell, Experiment
from splitlab.engine.folder import failures_explained
from splitlab.engine.runner import Task, compute
from splitlab.kinds.random_tables.plan import (
    BLOCK_RUNS,
    Block,
    Item,
    block_count,
    columns_in,
    refuse_absurd,
    run_seconds,
)
from splitlab.kinds.splits.paired import NORMAL_975
from splitlab.kinds.splits.sums_store import GROUP_BLOCKS, kept_bytes
from splitlab.published.stream import RUNS
from splitlab.study import run
from splitlab.text import ConfigError

MEASURED_SECONDS = 0.2  # what a measurement should take, in one cell
MEASURED_RUNS = (20, BLOCK_RUNS)
HEADER_BYTES, COLUMN_BYTES = 290, 50  # of a block's file, about
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


def plan(
    experiment: Experiment, half_width: float | None, pilot: int | None = None, say: TextIO | None = None
) -> list[CellPlan]:
    """Plan an experiment, cell by cell; ``pilot`` is a number of runs to be made first.

    Raises ConfigError when the half-width or the pilot makes no sense, or a cell cannot be run at all.
    """
    place = experiment.source or "config"
    if experiment.kind == "timing":
        raise ConfigError(f"{place}: is of kind timing, and measured times do not repeat: there is nothing to plan")
    if half_width is None:
        raise ConfigError("--half-width: is needed; write percentage points, such as 0.2")
    if not 0.001 <= half_width <= 50.0:
        raise ConfigError(
            f"--half-width: {half_width:g} is out of range; write percentage points, above 0 and up to 50"
        )
    if pilot is not None and not 1 <= pilot <= MAX_RUNS:
        raise ConfigError(f"--pilot: {pilot} is out of range; write a number of runs from 1 to {MAX_RUNS}")
    if experiment.draws == "authors":
        raise ConfigError(f"{place}: draws: authors has {RUNS} tables per cell, no more")
    refuse_absurd(with_runs(experiment, 1))
    shares = _pilot_shares(experiment, pilot, say) if pilot else {}
    return [_cell_plan(experiment, cell, half_width, shares.get(cell, 0.5)) for cell, _ in experiment.cells]


def with_runs(experiment: Experiment, runs: int) -> Experiment:
    """The experiment with as many runs in every cell."""
    return replace(experiment, cells=tuple((cell, runs) for cell, _ in experiment.cells))


def _pilot_shares(experiment: Experiment, pilot: int, say: TextIO | None) -> dict[Cell, float]:
    frame = run(with_runs(experiment, pilot), say=say).win_percentage
    shares = {}
    for cell, _ in experiment.cells:
        rows = frame[(frame[["n", "k", "max_count"]] == [cell.n, cell.k, cell.max_count]).all(axis=1)]
        nearest = [
            min(max(0.5, low / 100), high / 100) for low, high in zip(rows.wilson_low, rows.wilson_high, strict=True)
        ]
        shares[cell] = min(nearest, key=lambda share: abs(share - 0.5))
    return shares


def _cell_plan(experiment: Experiment, cell: Cell, half_width: float, share: float) -> CellPlan:
    runs = runs_for(half_width, share)
    if runs > MAX_RUNS:
        raise ConfigError(
            f"--half-width: {half_width:g} would take {runs:.3g} runs; at most {MAX_RUNS:.0e} can be made"
        )
    return CellPlan(cell, share, runs, runs * measured_seconds(experiment, cell), stored_bytes(experiment, cell, runs))


def measured_seconds(experiment: Experiment, cell: Cell) -> float:
    """Seconds of one run on one core, measured on the first runs of the cell."""
    columns = columns_in(experiment, cell)
    runs = int(min(max(MEASURED_SECONDS / run_seconds(cell, columns), MEASURED_RUNS[0]), MEASURED_RUNS[1]))
    with failures_explained(None, experiment):
        for number in (1, runs):  # the first call loads the kernels
            task = Task(Item(Block(cell, 0, number), 0, number), columns, experiment.seed, keep_failures=True)
            began = time.perf_counter()
            compute(task)
            seconds = time.perf_counter() - began
    return seconds / runs


def stored_bytes(experiment: Experiment, cell: Cell, runs: int) -> int:
    """What the blocks of a cell take on disk."""
    columns, number = len(columns_in(experiment, cell)), block_count(runs)
    if not experiment.keep_runs:
        files = -(-number // GROUP_BLOCKS)
        return number * kept_bytes(len(experiment.impurities), len(experiment.splitters)) + files * columns * BINS_BYTES
    header = HEADER_BYTES + COLUMN_BYTES * columns
    return runs * 8 * (2 + columns) + number * header
