"""From an experiment to work: cells, blocks of 1,000 runs, and the slices that workers take.

A block is the unit of seeding and of storage. A work item is a block, or a slice of one where a block would take
much longer than a second; a slice draws its block again and skips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from splitlab.engine.config import Cell, Experiment
from splitlab.kinds.optimality import lower_bound
from splitlab.kinds.optimality.config import LOWER_BOUND, OptimalityExperiment
from splitlab.splitters import get, refuse_hopeless
from splitlab.tables.sampling import candidate_acceptance
from splitlab.text import ConfigError, duration

BLOCK_RUNS = 1000
ITEM_SECONDS = 1.0
REDRAWN = 0.2  # m slices draw a block m / 2 times over: at most a tenth of the time goes there
LONGEST_EXPERIMENT = 200 * 3600.0  # core seconds; beyond this a config is taken for a mistake
DRAW_NANOSECONDS = 3.0  # per entry of a candidate table


@dataclass(frozen=True)
class Block:
    """Block ``number`` of a cell: the runs from ``first`` on, ``runs`` of them (1,000, fewer in the last one)."""

    cell: Cell
    number: int
    runs: int

    @property
    def first(self) -> int:
        """The number of the block's first run."""
        return self.number * BLOCK_RUNS


@dataclass(frozen=True)
class Item:
    """The runs ``start`` to ``stop`` (counted within the block) of a block: what a worker takes at a time."""

    block: Block
    start: int
    stop: int


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


def slices(block: Block, columns: tuple[tuple[str, str], ...]) -> list[Item]:
    """The items of a block: of about a second each, and no more than pay for drawing the block again in each."""
    whole = block.runs * run_seconds(block.cell, columns)
    drawing = block.runs * draw_seconds(block.cell)
    number = max(1, min(block.runs, int(whole / ITEM_SECONDS), int(REDRAWN * whole / drawing)))
    size = -(-block.runs // number)
    return [Item(block, at, min(at + size, block.runs)) for at in range(0, block.runs, size)]


def draw_seconds(cell: Cell) -> float:
    """Rough time to draw one accepted table."""
    accepted = candidate_acceptance(cell.n, cell.k, cell.max_count)
    return 1e-9 * DRAW_NANOSECONDS * cell.n * cell.k / accepted


def run_seconds(cell: Cell, columns: tuple[tuple[str, str], ...]) -> float:
    """Rough time of one run on one core for the given (impurity, splitter) columns, drawing included."""
    return draw_seconds(cell) + sum(column_seconds(cell, column) for column in columns)


def column_seconds(cell: Cell, column: tuple[str, str]) -> float:
    """Rough time of one column for one table."""
    impurity, splitter = column
    if splitter == LOWER_BOUND:
        return 1e-9 * lower_bound.nanoseconds(cell.n, cell.k, impurity)
    return splitter_seconds(cell, splitter)


def splitter_seconds(cell: Cell, splitter: str) -> float:
    """Rough time of one splitter for one table and impurity."""
    entry = get(splitter)
    return 1e-9 * (entry.nanoseconds(cell.n, cell.k) + entry.large_counts(cell.n, cell.k, most_examples(cell) / 2))


def most_examples(cell: Cell) -> int:
    """How many examples a table of a cell has at most: about twice as many as on average."""
    return cell.n * cell.k * cell.max_count


def refuse_absurd(experiment: Experiment) -> float:
    """Estimate the core seconds of an experiment; ConfigError when they, or one table's, are absurd."""
    place = experiment.source or "config"
    total = 0.0
    for cell, runs in experiment.cells:
        for splitter in experiment.splitters:
            try:
                refuse_hopeless(get(splitter), cell.n, cell.k, most_examples(cell))
            except ValueError as error:
                raise ConfigError(f"{place}: {error}") from None
        total += runs * run_seconds(cell, columns_in(experiment, cell))
    if total > LONGEST_EXPERIMENT:
        raise ConfigError(
            f"{place}: grid: these cells would take about {duration(total)} on one core "
            f"({_dearest(experiment)}); ask for fewer runs, fewer classes or cheaper splitters"
        )
    return total


def _dearest(experiment: Experiment) -> str:
    """Name the splitter and cell that cost most."""
    seconds, splitter, cell = max(
        (runs * splitter_seconds(cell, splitter), splitter, cell)
        for cell, runs in experiment.cells
        for splitter in rivals(experiment, cell)
    )
    share = duration(seconds * len(experiment.impurities))
    return f"{splitter!r} at n = {cell.n}, k = {cell.k} alone {share}, cost {get(splitter).cost}"


def columns_of(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    """The (impurity, splitter) pairs of an experiment."""
    return tuple((i, s) for i in experiment.impurities for s in experiment.splitters)


def references(experiment: Experiment, cell: Cell) -> tuple[str, ...]:
    """What is computed in a cell besides the splitters, for them to be held against: of kind optimality only."""
    return experiment.references(cell) if isinstance(experiment, OptimalityExperiment) else ()


def columns_in(experiment: Experiment, cell: Cell) -> tuple[tuple[str, str], ...]:
    """All columns of a cell: with what the splitters are held against there."""
    further = references(experiment, cell)
    return (*columns_of(experiment), *((i, reference) for i in experiment.impurities for reference in further))


def rivals(experiment: Experiment, cell: Cell) -> tuple[str, ...]:
    """All splitters that are run in a cell, a reference that is one included."""
    return (*experiment.splitters, *(s for s in references(experiment, cell) if s != LOWER_BOUND))
