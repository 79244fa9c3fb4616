"""Cells of random tables, cut into blocks of 1,000 runs and slices of these, and what they cost.

A block is the unit of seeding and of storage. A slice draws its block again and passes over the tables before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from splitlab.engine.blocks import Block
from splitlab.kinds.random_tables.config import Cell, RandomTablesExperiment
from splitlab.splitters import get, refuse_hopeless
from splitlab.tables.sampling import candidate_acceptance
from splitlab.text import ConfigError, duration

BLOCK_RUNS = 1000
ITEM_SECONDS = 1.0
REDRAWN = 0.2  # m slices draw a block m / 2 times over: at most a tenth of the time goes there
LONGEST_EXPERIMENT = 200 * 3600.0  # core seconds; beyond this a config is taken for a mistake
DRAW_NANOSECONDS = 3.0  # per entry of a candidate table


def first_run(block: Block) -> int:
    """The number of the first run of a block."""
    return block.number * BLOCK_RUNS


def cell_blocks(cell: Cell, runs: int) -> Iterator[Block]:
    """The blocks that hold the first ``runs`` runs of a cell."""
    for number in range(block_count(runs)):
        yield numbered_block(cell, runs, number)


def block_count(runs: int) -> int:
    """How many blocks so many runs take."""
    return -(-runs // BLOCK_RUNS)


def numbered_block(cell: Cell, runs: int, number: int) -> Block:
    """One of the blocks that hold the first ``runs`` runs of a cell."""
    return Block(cell, number, min(BLOCK_RUNS, runs - number * BLOCK_RUNS))


def slices(size: int, seconds: float, drawing: float) -> list[tuple[int, int]]:
    """How a block is cut: into slices of about a second each, no more than pay for drawing the block again in each.

    Parameters
    ----------
    size : int
        Runs of the block.
    seconds, drawing : float
        Core seconds of the whole block, and of drawing its tables.
    """
    number = max(1, min(size, int(seconds / ITEM_SECONDS), int(REDRAWN * seconds / drawing)))
    length = -(-size // number)
    return [(at, min(at + length, size)) for at in range(0, size, length)]


def draw_seconds(cell: Cell) -> float:
    """Rough time to draw one accepted table."""
    accepted = candidate_acceptance(cell.n, cell.k, cell.max_count)
    return 1e-9 * DRAW_NANOSECONDS * cell.n * cell.k / accepted


def splitter_seconds(cell: Cell, splitter: str) -> float:
    """Rough time of one splitter for one table and impurity."""
    return get(splitter).seconds(cell.n, cell.k, most_examples(cell) / 2)


def most_examples(cell: Cell) -> int:
    """How many examples a table of a cell has at most: about twice as many as on average."""
    return cell.n * cell.k * cell.max_count


def refuse_absurd(experiment: RandomTablesExperiment, run_seconds: Callable[[Cell], float]) -> float:
    """Estimate the core seconds of an experiment; ConfigError when they, or one table's, are absurd.

    ``run_seconds`` gives the core seconds of one run of a cell.
    """
    place = experiment.source or "config"
    total = 0.0
    for cell, runs in experiment.cells:
        for splitter in experiment.splitters:
            try:
                refuse_hopeless(get(splitter), cell.n, cell.k, most_examples(cell))
            except ValueError as error:
                raise ConfigError(f"{place}: {error}") from None
        total += runs * run_seconds(cell)
    if total > LONGEST_EXPERIMENT:
        raise ConfigError(
            f"{place}: grid: these cells would take about {duration(total)} on one core "
            f"({_dearest(experiment)}); ask for fewer runs, fewer classes or cheaper splitters"
        )
    return total


def _dearest(experiment: RandomTablesExperiment) -> str:
    """Name the splitter and cell that cost most."""
    seconds, splitter, cell = max(
        (runs * splitter_seconds(cell, splitter), splitter, cell)
        for cell, runs in experiment.cells
        for splitter in experiment.competitors(cell)
    )
    share = duration(seconds * len(experiment.impurities))
    return f"{splitter!r} at n = {cell.n}, k = {cell.k} alone {share}, cost {get(splitter).cost}"
