"""What an experiment of kind trees takes: how much of it is stored, how long the rest takes here, and how much disk.

A data set's cross-validations, one per trial, impurity and splitter, differ little in time; so one of each impurity and
splitter is measured. A run grows those of several trials together, which for small data is faster.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from splitlab.engine.blocks import Column, Work
from splitlab.engine.planning import COLUMN_BYTES, HEADER_BYTES, PlanRequest
from splitlab.engine.progress import shown
from splitlab.kinds.data_sets.loaded import DataCell, Loaded
from splitlab.kinds.trees.config import TreesExperiment
from splitlab.kinds.trees.work import (
    NUMBERS,
    UNIT,
    Part,
    columns_on,
    compute,
    load_all,
    missing_parts,
    tree_store,
    trial_seconds,
    work_of,
)
from splitlab.report.layout import Entry, Table, size
from splitlab.text import ConfigError, duration


@dataclass(frozen=True)
class SetPlan:
    """What a data set needs.

    Attributes
    ----------
    name : str
    trials, methods : int
        Cross-validations are trials times methods, the pairs of an impurity and a splitter.
    left : int
        Cross-validations that are not stored yet.
    seconds : float
        For these, on one core.
    bytes : int
        Of all its blocks on disk.
    """

    name: str
    trials: int
    methods: int
    left: int
    seconds: float
    bytes: int


def plan_trees(experiment: TreesExperiment, folder: Path, say: TextIO | None = None) -> list[SetPlan]:
    """Plan the trees, data set by data set; ``folder`` is where some may be stored.

    Raises ValueError when a data set is not to be had, or a splitter does not serve it.
    """
    sets, store = load_all(experiment), tree_store(folder, experiment, lambda text: None)
    left: Counter[tuple[DataCell, Column]] = Counter()
    for part in missing_parts(experiment, sets, store):
        left[part.loaded.cell, part.column] += len(part.trials)
    samples = [_sample(experiment, one, column) for one in sets for column in columns_on(experiment, one.facts)]
    samples = [part for part in samples if (part.loaded.cell, part.column) in left]
    seconds = {}
    with shown(say if samples else None, work_of(samples), UNIT, doing="measuring one of each kind") as progress:
        for part in samples:
            seconds[part.loaded.cell, part.column] = _measured(part, experiment)
            progress(part.work)
    plans = []
    for one in sets:
        columns = [(one.cell, column) for column in columns_on(experiment, one.facts)]
        number = sum(left[c] for c in columns)
        took = sum(left[c] * seconds[c] for c in columns if c in left)
        plans.append(SetPlan(one.cell.name, experiment.trials, len(columns), number, took, _bytes(experiment, columns)))
    return plans


def _sample(experiment: TreesExperiment, one: Loaded, column: Column) -> Part:
    seconds = trial_seconds(one.data, column[1], experiment)
    return Part(one, column, (0,), Work(1, {(one.cell.label, column): seconds}))


def _measured(part: Part, experiment: TreesExperiment) -> float:
    """Seconds of a part on one core; the first of two calls may have kernels to compile."""
    took = []
    for _ in range(2):
        began = time.perf_counter()
        compute(part, experiment)
        took.append(time.perf_counter() - began)
    return min(took)


def _bytes(experiment: TreesExperiment, columns: Sequence[object]) -> int:
    numbers = 8 * (2 + len(columns)) * experiment.folds * len(NUMBERS)
    return experiment.trials * (numbers + HEADER_BYTES + COLUMN_BYTES * len(columns))


def table_text(sets: Sequence[SetPlan], config: str, folder: Path, jobs: int) -> str:
    """A row per data set, the sum, and the command that does what is left."""
    heads = ["data set", "trials", "methods", "stored", "left", "core time", "disk"]
    rows = []
    for s in sets:
        numbers = (s.trials, s.methods, s.trials * s.methods - s.left, s.left)
        rows.append([s.name, *(f"{number:,}" for number in numbers), duration(s.seconds), size(s.bytes)])
    note = "Stored, left: cross-validations, trials times methods. Times are of one of each method here, on one core."
    title = f"Cross-validated trees in {folder}"
    table = Table(title, heads, [[Entry(text) for text in row] for row in rows], 1, [note]).as_text()
    left, seconds, whole = sum(s.left for s in sets), sum(s.seconds for s in sets), sum(s.bytes for s in sets)
    if not left:
        return f"{table}\nEverything is stored; {size(whole)}."
    total = f"{left:,} are left, {duration(seconds / jobs)} or less with --jobs {jobs}; {size(whole)} altogether."
    return f"{table}\n{total}\n`splitlab run {config}` makes them."


def plan_text(experiment: TreesExperiment, request: PlanRequest) -> str:
    """What ``splitlab plan`` says of an experiment of kind trees."""
    for option, value in (("--half-width", request.half_width), ("--pilot", request.pilot)):
        if value is not None:
            raise ConfigError(f"{option}: does not go with kind trees, whose config says how many trials there are")
    folder = request.session.out or Path("results") / experiment.name
    sets = plan_trees(experiment, folder, request.session.say)
    return table_text(sets, request.config, folder, request.session.workers)
