"""Cross-validated trees: what there is to grow, growing it in threads, and the blocks that keep the results.

A block holds one trial of one data set: for each impurity and splitter the NUMBERS of every fold. The trees of several
trials are grown together, as many as have about EXAMPLES training examples, which is much faster for small data.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from splitlab._jit import Floats
from splitlab.engine.blocks import Block, BlockData, Column, Work, together
from splitlab.engine.progress import Progress
from splitlab.engine.store import FolderStore, Store
from splitlab.kinds.data_sets.catalogue import Data, catalogue, chosen_sets, load
from splitlab.kinds.data_sets.loaded import DataCell, Facts, Loaded, places, read_set
from splitlab.kinds.trees.config import TreesExperiment
from splitlab.published.program import arithmetic
from splitlab.published.program.folds import folds
from splitlab.sources import source_hash
from splitlab.splitters import fingerprint, get
from splitlab.splitters.registry import refusal
from splitlab.text import duration
from splitlab.trees.criteria import get as get_criterion
from splitlab.trees.grouping import Grouping
from splitlab.trees.growing import Examples, Growth, grow, side_by_side

# Of a fold: test examples classified right, and that many in all; nodes; depth; examples with an unseen value.
NUMBERS = ("correct", "tested", "nodes", "depth", "unseen")
UNIT = "cross-validations"  # of a trial, impurity and splitter
EXAMPLES = 200_000


@dataclass(frozen=True, eq=False)
class Part:
    """What a worker does at a time: some trials with one impurity and splitter."""

    loaded: Loaded
    column: Column
    trials: tuple[int, ...]
    work: Work


def trial_block(cell: DataCell, trial: int, n_folds: int) -> Block:
    """Where a trial of a data set is kept."""
    return Block(cell, trial, n_folds * len(NUMBERS))


def load_all(experiment: TreesExperiment) -> list[Loaded]:
    """Read the data sets; ValueError that names the first one that is not to be had."""
    return [loaded(experiment, name) for name in experiment.datasets]


def loaded(experiment: TreesExperiment, name: str) -> Loaded:
    """Read one data set."""
    dataset = chosen_sets(catalogue(Path(experiment.catalogue)), [name])[0]
    return read_set(dataset, places(Path(experiment.catalogue)), experiment.folds, experiment.keeps_missing)


class TreeStore(FolderStore):
    """Blocks of which each has a seed of its own, so that there can be more seeds later."""

    def __init__(
        self, folder: Path, experiment: TreesExperiment, fingerprints: Mapping[Column, str], warn: object
    ) -> None:
        super().__init__(folder, experiment.protocol(), fingerprints, warn)
        self._seeds = experiment.seeds

    def origin_of(self, block: Block) -> dict[str, Any]:
        """The protocol, and the seed of the trial."""
        return {**self.origin, "seed": self._seeds[block.number]}


def tree_store(folder: Path, experiment: TreesExperiment, warn: object) -> TreeStore:
    """The blocks of a folder as far as they fit the experiment and the present code."""
    marks = {}
    grower = source_hash(grow, folds, load)[:16]
    for impurity, splitter in itertools.product(experiment.impurities, experiment.splitters):
        if experiment.arithmetic == "published":
            code = source_hash(arithmetic.grouping, *arithmetic.splitter(splitter).modules())
        else:
            code = fingerprint(get(splitter))
        marks[impurity, splitter] = grower + code[:16]
    return TreeStore(folder, experiment, marks, warn)


def growth_of(experiment: TreesExperiment, column: Column) -> Growth:
    """How trees are grown with an impurity and a splitter."""
    limits = {key: getattr(experiment, key) for key in ("max_depth", "max_p", "min_second")}
    if experiment.arithmetic == "published":
        group = arithmetic.grouping(*column)
        return Growth(group.criterion, group, min_decrease=-1.0, **limits)  # rounding is no reason for a leaf
    criterion = get_criterion(column[0])
    return Growth(criterion, Grouping(criterion, column[1]), **limits)


def missing_parts(experiment: TreesExperiment, sets: Iterable[Loaded], store: Store) -> list[Part]:
    """What is not in the store, the longest parts first."""
    parts = []
    for one in sets:
        together = max(1, EXAMPLES // (len(one.data.y) * (experiment.folds - 1)))
        columns = tuple(columns_on(experiment, one.facts))
        blocks = (trial_block(one.cell, trial, experiment.folds) for trial in range(experiment.trials))
        lacking = [store.load(block).missing(block, columns) for block in blocks]
        for column in columns:
            left = [trial for trial, missing in enumerate(lacking) if column in missing]
            for start in range(0, len(left), together):
                trials = tuple(left[start : start + together])
                seconds = len(trials) * trial_seconds(one.data, column[1], experiment)
                parts.append(Part(one, column, trials, Work(len(trials), {(one.cell.label, column): seconds})))
    return sorted(parts, key=lambda part: -part.work.seconds)


def work_of(parts: Iterable[Part]) -> Work:
    """How much some parts are; each impurity and splitter of a trial is counted."""
    return together(part.work for part in parts)


def trial_seconds(data: Data, splitter: str, experiment: TreesExperiment) -> float:
    """A rough guess, for the progress bar and the order of work."""
    grown = 1e-6 * data.x.size * experiment.folds
    n_values = [len(values) for values, nominal in zip(data.values, data.nominal, strict=True) if nominal]
    return grown + experiment.folds * 5e-9 * sum(get(splitter).nanoseconds(max(n, 2), data.k) for n in n_values)


def unserved(experiment: TreesExperiment, one: Facts, splitter: str) -> str:
    """Why a splitter is not run on a data set, naming the column whose table it does not serve; empty if it is."""
    if experiment.arithmetic == "published":
        return ""
    entry, k = get(splitter), one.cell.k
    for column in one.columns:
        n = column.values
        if n > 1:
            reason, seconds = refusal(entry, n, k), entry.nanoseconds(n, k) / 1e9
            if seconds > experiment.table_milliseconds / 1e3:
                reason = reason or f"it would take about {duration(seconds)} for one table with n = {n}, k = {k}"
            if reason:
                return f"{one.cell.name}, column {column.name!r}: {reason}"
    return ""


def columns_on(experiment: TreesExperiment, one: Facts) -> list[Column]:
    """The pairs of impurity and splitter that are run on a data set; ValueError if one cannot be, unless left out."""
    served = []
    for splitter in experiment.splitters:
        reason = unserved(experiment, one, splitter)
        if reason and experiment.where_unserved == "stop":
            raise ValueError(f"{reason}; where_unserved: leave_out goes on without it")
        served += [] if reason else [splitter]
    return [(impurity, splitter) for impurity in experiment.impurities for splitter in served]


def timed(part: Part, experiment: TreesExperiment) -> tuple[Part, Floats, float]:
    """What `compute` gives, and the seconds that it took."""
    began = time.perf_counter()
    return *compute(part, experiment), time.perf_counter() - began


def compute(part: Part, experiment: TreesExperiment) -> tuple[Part, Floats]:
    """The NUMBERS of each fold of each trial: (trials, folds * NUMBERS)."""
    data, splits = part.loaded.data, []
    for trial in part.trials:
        splits += folds(data.y, data.k, experiment.seeds[trial], experiment.folds)
    rows, tree = side_by_side([train for train, _ in splits])
    examples = Examples(np.asfortranarray(data.x[rows]), data.nominal, data.y[rows], data.k, tree)
    grown = grow(examples, growth_of(experiment, part.column)).pruned()
    rows, tree = side_by_side([test for _, test in splits])
    ends = grown.apply(data.x[rows], True, tree, stop_at_missing=False)
    counted = [
        np.bincount(tree, grown.majority[ends] == data.y[rows], minlength=len(splits)),
        np.bincount(tree, minlength=len(splits)),
        grown.node_counts,
        grown.depths,
        np.bincount(tree, ~grown.leaves[ends], minlength=len(splits)),
    ]
    return part, np.stack(counted, 1).astype(np.float64).reshape(len(part.trials), -1)


def run_parts(parts: list[Part], experiment: TreesExperiment, store: Store, jobs: int, progress: Progress) -> None:
    """Grow what is left, in threads, and keep every part as soon as it is there."""
    parallel = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator_unordered", pre_dispatch="2*n_jobs")
    for part, numbers, seconds in parallel(joblib.delayed(timed)(part, experiment) for part in parts):
        for trial, row in zip(part.trials, numbers, strict=True):
            block = trial_block(part.loaded.cell, trial, experiment.folds)
            newer = BlockData(np.zeros(len(row)), np.zeros(len(row)), {part.column: row})
            store.save(block, store.load(block).merged_with(newer))
        progress(part.work, {part.column: seconds})


def stored_numbers(
    experiment: TreesExperiment, sets: Iterable[Facts], store: Store
) -> Iterator[tuple[str, Column, int, Floats]]:
    """Data set, impurity and splitter, trial, and its numbers (folds, NUMBERS); ValueError if some are missing."""
    for one in sets:
        served = columns_on(experiment, one)
        for trial in range(experiment.trials):
            block = trial_block(one.cell, trial, experiment.folds)
            kept = store.load(block)
            for column in served:
                if kept.missing(block, (column,)):
                    raise ValueError(f"trial {trial + 1} of {one.cell.name} with {column[1]} is not there yet")
                yield one.cell.name, column, trial, kept.columns[column].reshape(experiment.folds, len(NUMBERS))
