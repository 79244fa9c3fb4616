"""Trust in stored results: random blocks are computed again, and every bit is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from splitlab.engine.checksums import parsed_manifest
from splitlab.engine.config import Cell, Experiment
from splitlab.engine.folder import (
    failures_explained,
    open_store,
    stored_experiment,
    timing_conditions,
    timing_provenance,
)
from splitlab.engine.folder_layout import strays
from splitlab.engine.names import Plugins, lists_of, plugin_problems
from splitlab.engine.progress import shown
from splitlab.engine.runner import check_jobs
from splitlab.engine.store import COMPLETE, EMPTY, BlockData, Column, FolderStore, Store
from splitlab.kinds.random_tables.plan import Block, block_count, columns_in, numbered_block
from splitlab.kinds.splits.sums_store import SumsStore
from splitlab.kinds.trees.config import TreesExperiment
from splitlab.kinds.trees.work import (
    NUMBERS,
    DataCell,
    changed_data,
    columns_on,
    load_all,
    missing_parts,
    run_parts,
    tree_store,
    work_of,
)
from splitlab.study import compute_missing
from splitlab.text import ConfigError

SUMS = "all that is kept"


@dataclass
class Verified:
    """What came out.

    Attributes
    ----------
    blocks : int
        The blocks of the experiment.
    compared : int
        Those that were computed again and compared.
    absent : list of str
        Chosen ones that are not stored, or were made by other code, wholly or but for some columns; and all others
        that have no file.
    differing : list of str
        What differs, and the damaged files among the chosen ones.
    strays : list of str
        Files beside the blocks that are none of them.
    """

    blocks: int
    compared: int
    absent: list[str]
    differing: list[str]
    strays: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Lacking(BlockData):
    """Stands for a block that lacks just some columns."""

    lacks: frozenset[Column] = frozenset()

    def missing(self, block: Block, wanted: tuple[Column, ...]) -> tuple[Column, ...]:
        """Those of them that are wanted."""
        return tuple(column for column in wanted if column in self.lacks)


class _Comparison:
    """A store in which the chosen columns are missing; what is computed for them is held against what is stored."""

    def __init__(self, stored: Store, chosen: dict[Block, frozenset[Column]]) -> None:
        self._stored = stored
        self._chosen = {
            (block.cell, block.number): _Lacking(EMPTY.totals, EMPTY.drawn, {}, columns)
            for block, columns in chosen.items()
        }
        self._differing: list[tuple[Cell, int, str]] = []

    @property
    def differing(self) -> list[str]:
        """What differs, in the order of blocks."""
        ordered = sorted(self._differing, key=lambda found: found[:2])
        return [f"{_label(cell, number)}: {text}" for cell, number, text in ordered]

    def load(self, block: Block) -> BlockData:
        """Nothing of the chosen columns, and no wish for any other."""
        return self._chosen.get((block.cell, block.number), COMPLETE)

    def save(self, block: Block, data: BlockData) -> None:
        """Compare."""
        for name, before, now in _pairs(self._stored, block, data):
            if difference := _difference(before[: now.size], now, _Places(block, name)):
                self._differing.append((block.cell, block.number, f"{name}: {difference}"))


@dataclass(frozen=True)
class _Places:
    """How the numbers of a block are called."""

    block: Block
    name: str

    @property
    def unit(self) -> str:
        """One of them."""
        if isinstance(self.block.cell, DataCell):
            return "number"
        return "sum" if self.name == SUMS else "run"

    def __getitem__(self, at: int) -> str:
        if isinstance(self.block.cell, DataCell):
            return f"of fold {at // len(NUMBERS) + 1}, {NUMBERS[at % len(NUMBERS)]}"
        return f"{self.unit} {at if self.name == SUMS else self.block.first + at}"


def _label(cell: Cell, number: int) -> str:
    return f"{cell.label}, trial {number + 1}" if isinstance(cell, DataCell) else f"{cell.label}, block {number}"


def _pairs(
    store: Store, block: Block, data: BlockData
) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """What is compared: its name, as it is stored, as it was computed."""
    if isinstance(store, SumsStore):
        yield SUMS, store.numbers(block), store.numbers_of(block, data)
        return
    stored = store.load(block)
    yield "number of examples", stored.totals, data.totals
    yield "tables drawn", stored.drawn, data.drawn
    for column, now in data.columns.items():
        yield " ".join(column), stored.columns[column], now


def _difference(stored: NDArray[np.float64], computed: NDArray[np.float64], places: _Places) -> str:
    """Where the bits of two equally long arrays differ; empty if nowhere."""
    found = np.flatnonzero(stored.view(np.int64) != computed.view(np.int64))
    if not found.size:
        return ""
    at = int(found[0])
    values = f"stored {stored[at]!r}, computed again {computed[at]!r}".replace("np.float64", "")
    return f"{found.size} of {computed.size} {places.unit}s differ, the first of them {places[at]}: {values}"


def verify(
    folder: Path,
    sample: int = 50,
    seed: int = 0,
    jobs: int | None = None,
    say: TextIO | None = None,
    plugins: Plugins | None = None,
) -> Verified:
    """Compute ``sample`` random blocks of a results folder again and compare them with what is stored.

    Raises ConfigError when the folder is of kind timing, or needs functions or data that are not to be had.
    """
    for option, value, least in (("--sample", sample, 1), ("--seed", seed, 0)):
        if value < least:
            raise ConfigError(f"{option}: {value} is too small; write a whole number from {least}")
    workers, experiment = check_jobs(jobs), stored_experiment(folder)
    if experiment.kind == "timing":
        raise ConfigError(f"{folder}: is of kind timing, and measured times do not repeat: there is nothing to verify")
    _import_functions(folder, experiment, plugins)
    damaged: list[str] = []
    work: _RandomTables | _Trees
    if isinstance(experiment, TreesExperiment):
        work = _Trees(folder, experiment, damaged.append)
    else:
        work = _RandomTables(folder, experiment, damaged.append)
    total = work.count()
    blocks = work.blocks(np.arange(total))
    chosen = set(np.random.default_rng(seed).choice(total, min(sample, total), replace=False).tolist())
    there, absent = {}, []
    for at, block in enumerate(blocks):
        if at not in chosen:
            absent += [] if work.stored.holds(block) else [_label(block.cell, block.number)]
            continue
        before, wanted = len(damaged), work.columns(block)
        lacking = work.stored.load(block).missing(block, wanted)
        if columns := frozenset(wanted) - set(lacking):
            there[block] = columns
        if lacking and len(damaged) == before:
            which = f": {', '.join(map(' '.join, lacking))}" if columns else ""
            absent.append(f"{_label(block.cell, block.number)}{which}")
    comparison = _Comparison(work.stored, there)
    with failures_explained(folder, experiment):
        work.compute(comparison, workers, say)
    cells = dict.fromkeys(block.cell.label for block in blocks)
    found = strays(folder, cells, map(work.stored.path, blocks))
    return Verified(total, len(there), absent, [*damaged, *comparison.differing], list(map(str, found)))


class _RandomTables:
    """The blocks of an experiment on random tables."""

    def __init__(self, folder: Path, experiment: Experiment, warn: Callable[[str], None]) -> None:
        self.experiment = experiment
        self.stored: FolderStore | SumsStore = open_store(folder, experiment, warn)

    def count(self) -> int:
        """How many there are."""
        return sum(block_count(runs) for _, runs in self.experiment.cells)

    def blocks(self, places: NDArray[np.int64]) -> list[Block]:
        """Those at some places, in order."""
        chosen, before = [], 0
        for cell, runs in self.experiment.cells:
            number = block_count(runs)
            for at in places[(before <= places) & (places < before + number)] - before:
                chosen.append(numbered_block(cell, runs, int(at)))
            before += number
        return chosen

    def columns(self, block: Block) -> tuple[Column, ...]:
        """What a block holds."""
        return columns_in(self.experiment, block.cell)

    def compute(self, store: Store, jobs: int, say: TextIO | None) -> None:
        """Compute what is missing."""
        compute_missing(self.experiment, store, jobs, say)


class _Trees:
    """The same of an experiment of kind trees, whose blocks are trials of its data sets."""

    def __init__(self, folder: Path, experiment: TreesExperiment, warn: Callable[[str], None]) -> None:
        self.experiment = experiment
        self.stored: FolderStore | SumsStore = tree_store(folder, experiment, warn)
        self._sets = load_all(experiment)
        for line in changed_data(folder, self._sets):
            warn(line)
        self._columns = {one.cell: tuple(columns_on(experiment, one)) for one in self._sets}

    def count(self) -> int:
        """How many there are."""
        return len(self._sets) * self.experiment.trials

    def blocks(self, places: NDArray[np.int64]) -> list[Block]:
        """Those at some places, in order."""
        trials, folds = self.experiment.trials, self.experiment.folds
        return [self._sets[at // trials].block(int(at) % trials, folds) for at in places]

    def columns(self, block: Block) -> tuple[Column, ...]:
        """What a block holds."""
        return self._columns[block.cell]  # type: ignore[index]

    def compute(self, store: Store, jobs: int, say: TextIO | None) -> None:
        """Compute what is missing."""
        parts = missing_parts(self.experiment, self._sets, store)
        with shown(say if parts else None, work_of(parts)) as progress:
            run_parts(parts, self.experiment, store, jobs, progress)


def _import_functions(folder: Path, experiment: Experiment, plugins: Plugins | None) -> None:
    for (_, name), problem in plugin_problems(lists_of(experiment), plugins):
        raise ConfigError(f"{folder}: {name} {problem}")


def elsewhere(folder: Path) -> list[str]:
    """What was different where the folder was made: a reason for bits to differ."""
    before = timing_conditions(parsed_manifest(folder))
    here = timing_conditions(timing_provenance(stored_experiment(folder)))
    return [f"{name}: {before[name]}, here {here[name]}" for name in here if before[name] not in (None, here[name])]
