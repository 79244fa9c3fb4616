"""Trust in stored results: random blocks are computed again, and every bit is compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from splitlab.montecarlo.config import Cell, ConfigError, Experiment
from splitlab.montecarlo.folder import (
    failures_explained,
    open_store,
    stored_experiment,
    timing_conditions,
    timing_provenance,
)
from splitlab.montecarlo.names import Plugins, lists_of, plugin_problems
from splitlab.montecarlo.plan import Block, block_count, columns_in, numbered_block
from splitlab.montecarlo.runner import check_jobs
from splitlab.montecarlo.seal import parsed_manifest
from splitlab.montecarlo.store import COMPLETE, EMPTY, BlockData, Store
from splitlab.montecarlo.study import compute_missing
from splitlab.montecarlo.sums_store import SumsStore

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
        Chosen ones that are not (wholly) stored, or were made by other code.
    differing : list of str
        What differs, and the damaged files among the chosen ones.
    """

    blocks: int
    compared: int
    absent: list[str]
    differing: list[str]


class _Comparison:
    """A store in which the chosen blocks are missing; what is computed for them is held against what is stored."""

    def __init__(self, stored: Store, chosen: dict[Cell, set[int]]) -> None:
        self._stored, self._chosen = stored, chosen
        self._differing: list[tuple[Cell, int, str]] = []

    @property
    def differing(self) -> list[str]:
        """What differs, in the order of blocks."""
        ordered = sorted(self._differing, key=lambda found: found[:2])
        return [f"{cell.label}, block {number}: {text}" for cell, number, text in ordered]

    def load(self, block: Block) -> BlockData:
        """Nothing of a chosen block, and no wish for any other."""
        return EMPTY if block.number in self._chosen[block.cell] else COMPLETE

    def save(self, block: Block, data: BlockData) -> None:
        """Compare."""
        for name, before, now in _pairs(self._stored, block, data):
            unit, first = ("sum", 0) if name == SUMS else ("run", block.first)
            if difference := _difference(before[: now.size], now, unit, first):
                self._differing.append((block.cell, block.number, f"{name}: {difference}"))


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


def _difference(stored: NDArray[np.float64], computed: NDArray[np.float64], unit: str, first: int) -> str:
    """Where the bits of two equally long arrays differ; empty if nowhere."""
    places = np.flatnonzero(stored.view(np.int64) != computed.view(np.int64))
    if not places.size:
        return ""
    at = places[0]
    values = f"stored {stored[at]!r}, computed again {computed[at]!r}".replace("np.float64", "")
    return f"{places.size} of {computed.size} {unit}s differ, the first of them {unit} {first + at}: {values}"


def verify(
    folder: Path,
    sample: int = 50,
    seed: int = 0,
    jobs: int | None = None,
    say: TextIO | None = None,
    plugins: Plugins | None = None,
) -> Verified:
    """Compute ``sample`` random blocks of a results folder again and compare them with what is stored.

    Raises ConfigError when the folder is of a kind that stores no runs, or needs functions that are not to be had.
    """
    for option, value, least in (("--sample", sample, 1), ("--seed", seed, 0)):
        if value < least:
            raise ConfigError(f"{option}: {value} is too small; write a whole number from {least}")
    workers, experiment = check_jobs(jobs), stored_experiment(folder)
    if experiment.kind not in ("splits", "optimality"):
        raise ConfigError(f"{folder}: is of kind {experiment.kind}, which has no blocks of random tables to verify")
    _import_functions(folder, experiment, plugins)
    damaged: list[str] = []
    stored = open_store(folder, experiment, damaged.append)
    chosen = _chosen(experiment, sample, seed)
    numbers: dict[Cell, set[int]] = defaultdict(set)
    absent = []
    for block in chosen:
        before = len(damaged)
        if not stored.load(block).missing(block, columns_in(experiment, block.cell)):
            numbers[block.cell].add(block.number)
        elif len(damaged) == before:
            absent.append(f"{block.cell.label}, block {block.number}")
    comparison = _Comparison(stored, numbers)
    with failures_explained(folder, experiment):
        compute_missing(experiment, comparison, workers, say)
    compared = len(chosen) - len(absent) - len(damaged)
    return Verified(_count(experiment), compared, absent, [*damaged, *comparison.differing])


def _import_functions(folder: Path, experiment: Experiment, plugins: Plugins | None) -> None:
    for (_, name), problem in plugin_problems(lists_of(experiment), plugins):
        raise ConfigError(f"{folder}: {name} {problem}")


def _count(experiment: Experiment) -> int:
    return sum(block_count(runs) for _, runs in experiment.cells)


def _chosen(experiment: Experiment, sample: int, seed: int) -> list[Block]:
    """A random sample of the blocks, in order."""
    total = _count(experiment)
    places = np.sort(np.random.default_rng(seed).choice(total, min(sample, total), replace=False))
    chosen, before = [], 0
    for cell, runs in experiment.cells:
        number = block_count(runs)
        for at in places[(before <= places) & (places < before + number)] - before:
            chosen.append(numbered_block(cell, runs, int(at)))
        before += number
    return chosen


def elsewhere(folder: Path) -> list[str]:
    """What was different where the folder was made: a reason for bits to differ."""
    before = timing_conditions(parsed_manifest(folder))
    here = timing_conditions(timing_provenance(stored_experiment(folder)))
    return [f"{name}: {before[name]}, here {here[name]}" for name in here if before[name] not in (None, here[name])]
