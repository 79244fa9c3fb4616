"""Cross-validated trees: what there is to grow, growing it in threads, and the blocks that keep the results.

A block holds one trial of one data set: for each impurity and splitter the NUMBERS of every fold. The trees of several
trials are grown together, as many as have about EXAMPLES training examples, which is much faster for small data.
"""

from __future__ import annotations

import glob
import hashlib
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from splitlab._jit import Floats, Ints
from splitlab.engine.blocks import Block, BlockData, Column, Work, together
from splitlab.engine.checksums import read_manifest
from splitlab.engine.progress import Progress
from splitlab.engine.store import BLOCKS, FolderStore, Store
from splitlab.kinds.trees.config import TreesExperiment
from splitlab.kinds.trees.datasets import Data, Dataset, catalogue, chosen_sets, content, folders, found, load
from splitlab.published.program import arithmetic
from splitlab.published.program.folds import folds
from splitlab.sources import source_hash
from splitlab.splitters import fingerprint, get
from splitlab.splitters.registry import refusal
from splitlab.text import counted, duration
from splitlab.trees.criteria import get as get_criterion
from splitlab.trees.grouping import Grouping
from splitlab.trees.growing import Examples, Growth, grow

# Of a fold: test examples classified right, and that many in all; nodes; depth; examples with an unseen value.
NUMBERS = ("correct", "tested", "nodes", "depth", "unseen")
UNIT = "cross-validations"  # of a trial, impurity and splitter
EXAMPLES = 200_000


@dataclass(frozen=True, order=True)
class DataCell:
    """A data set in the place of a cell: its size, and a name that changes with its content."""

    name: str
    n: int
    k: int
    max_count: int
    label: str

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Rows, classes and columns, for the headers of files."""
        return self.n, self.k, self.max_count


@dataclass(frozen=True)
class Attribute:
    """A column of a data set.

    Attributes
    ----------
    name, type : str
        The type is 'numeric' or 'nominal'.
    values : int
        How many different values a nominal one has.
    missing : int
        In how many rows with a class its value is missing.
    inferred : str
        Empty where the catalogue says the type; else why it is that.
    """

    name: str
    type: str
    values: int
    missing: int
    inferred: str = ""


@dataclass(frozen=True)
class Facts:
    """What is to be known of a data set when its results are read: the manifest keeps it.

    Attributes
    ----------
    cell : DataCell
    title, path, sha256 : str
        What it is called, the file that was read, and the checksum of the csv in it. The manifest has the file only
        where it lay beside the catalogue.
    rows, rows_used : int
        Of the file, and those that trees are grown and tested on.
    incomplete, without_class : int
        Rows with missing values, which are left out or kept, and rows without a class, which are left out.
    classes : tuple of str
    columns : tuple of Attribute
    """

    cell: DataCell
    title: str
    path: str
    sha256: str
    rows: int
    rows_used: int
    incomplete: int
    without_class: int
    classes: tuple[str, ...]
    columns: tuple[Attribute, ...]

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> Facts:
        """What `dataclasses.asdict` made, after it has been JSON."""
        columns = tuple(Attribute(**column) for column in kept["columns"])
        cell, classes = DataCell(**kept["cell"]), tuple(kept["classes"])
        return cls(**{**kept, "cell": cell, "classes": classes, "columns": columns})

    def block(self, trial: int, n_folds: int) -> Block:
        """Where a trial is kept."""
        return Block(self.cell, trial, n_folds * len(NUMBERS))

    def number(self, type: str) -> int:
        """How many columns are numeric, or nominal."""
        return sum(column.type == type for column in self.columns)

    @property
    def line(self) -> str:
        """How many rows are used and why not the others, how many classes and columns there are: in one line."""
        used = f"{counted(self.rows, 'row')}, {self.rows_used:,} of them used"
        parts = []
        if self.incomplete:
            kept = self.rows_used == self.rows - self.without_class
            what = "kept" if kept else "left out, missing_values: keep keeps them"
            parts.append(f"{self.incomplete:,} with missing values ({what})")
        if self.without_class:
            parts.append(f"{self.without_class:,} without a class (left out)")
        inferred = sum(column.inferred != "" for column in self.columns)
        types = f"{self.number('numeric')} numeric and {self.number('nominal')} nominal columns"
        types += f" ({'types' if inferred == len(self.columns) else f'{inferred} types'} inferred)" if inferred else ""
        return f"{self.cell.name}: {'; '.join([used, *parts])}; {counted(self.cell.k, 'class')}; {types}"


@dataclass(frozen=True, eq=False)
class Loaded:
    """A data set that has been read."""

    facts: Facts
    data: Data

    @property
    def cell(self) -> DataCell:
        """Its size, and a name that changes with its content."""
        return self.facts.cell

    def block(self, trial: int, n_folds: int) -> Block:
        """Where a trial is kept."""
        return self.facts.block(trial, n_folds)


@dataclass(frozen=True, eq=False)
class Part:
    """What a worker does at a time: some trials with one impurity and splitter."""

    loaded: Loaded
    column: Column
    trials: tuple[int, ...]
    work: Work


def load_all(experiment: TreesExperiment) -> list[Loaded]:
    """Read the data sets; ValueError that names the first one that is not to be had."""
    return [loaded(experiment, name) for name in experiment.datasets]


def beside(experiment: TreesExperiment) -> list[Path]:
    """The folder of the catalogue; and, where that is one of results, those beside whose catalogue the data were."""
    folder = Path(experiment.catalogue).parent
    earlier = (kept["path"] for kept in read_manifest(folder).get("datasets", {}).values())
    return [folder, *(Path(path).parent for path in earlier if path)]


def places(experiment: TreesExperiment, chosen: Path | None = None) -> list[Path]:
    """Where the data of an experiment are looked for; ``chosen`` first."""
    return folders(chosen, beside(experiment))


def loaded(experiment: TreesExperiment, name: str) -> Loaded:
    """Read one data set."""
    dataset = chosen_sets(catalogue(Path(experiment.catalogue)), [name])[0]
    return read_set(dataset, places(experiment), experiment.folds, experiment.keeps_missing)


def read_set(dataset: Dataset, where: Sequence[Path], n_folds: int, keep: bool = False) -> Loaded:
    """Read a data set from the first of some folders that has it; ValueError where it cannot be cross-validated."""
    data = load(dataset, where, keep)
    one = Loaded(facts_of(dataset, data, found(dataset, where)), data)
    counts = np.bincount(data.y)
    if (counts > 0).sum() < 2:
        only = data.classes[int(counts.argmax())]
        raise ValueError(f"{one.facts.path}: column {dataset.target!r}, the target, has one class only, {only!r}")
    if counts.max() < n_folds:
        raise ValueError(f"{dataset.name}: has no class of {n_folds} rows or more, and folds: {n_folds}")
    return one


def facts_of(dataset: Dataset, data: Data, path: Path) -> Facts:
    """What is kept of a data set that was read from a file."""
    columns = [
        Attribute(name, "nominal" if nominal else "numeric", len(values), missing, _inferred(data.reasons.get(name)))
        for name, nominal, values, missing in zip(data.names, data.nominal, data.values, data.missing, strict=True)
    ]
    n, p = data.x.shape
    return Facts(
        cell=DataCell(dataset.name, n, data.k, p, f"{dataset.name}-{data.digest()}"),
        title=dataset.title,
        path=str(path.resolve()),
        sha256=hashlib.sha256(content(path)).hexdigest(),
        rows=data.rows,
        rows_used=n,
        incomplete=data.incomplete,
        without_class=data.without_class,
        classes=tuple(data.classes),
        columns=tuple(columns),
    )


def _inferred(reason: str | None) -> str:
    return "" if reason is None else reason or "all known values are plain numbers"


def changed_data(folder: Path, sets: Iterable[Loaded]) -> Iterator[str]:
    """For each data set of which results are stored, but not of its present content, a line that says so."""
    for cell in (one.cell for one in sets):
        others = (folder / BLOCKS).glob(f"{glob.escape(cell.name)}-{'[0-9a-f]' * 8}")
        if not (folder / BLOCKS / cell.label).exists() and any(others):
            yield f"{cell.name}: its data, or the types of its columns, are others than those of the stored results"


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
        blocks = (one.block(trial, experiment.folds) for trial in range(experiment.trials))
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
    rows, tree = _side_by_side([train for train, _ in splits])
    examples = Examples(np.asfortranarray(data.x[rows]), data.nominal, data.y[rows], data.k, tree)
    grown = grow(examples, growth_of(experiment, part.column)).pruned()
    rows, tree = _side_by_side([test for _, test in splits])
    ends = grown.apply(data.x[rows], True, tree, stop_at_missing=False)
    counted = [
        np.bincount(tree, grown.majority[ends] == data.y[rows], minlength=len(splits)),
        np.bincount(tree, minlength=len(splits)),
        grown.node_counts,
        grown.depths,
        np.bincount(tree, ~grown.leaves[ends], minlength=len(splits)),
    ]
    return part, np.stack(counted, 1).astype(np.float64).reshape(len(part.trials), -1)


def _side_by_side(parts: list[Ints]) -> tuple[Ints, Ints]:
    """The rows of all parts, and the number of the part of each."""
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def run_parts(parts: list[Part], experiment: TreesExperiment, store: Store, jobs: int, progress: Progress) -> None:
    """Grow what is left, in threads, and keep every part as soon as it is there."""
    parallel = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator_unordered", pre_dispatch="2*n_jobs")
    for part, numbers, seconds in parallel(joblib.delayed(timed)(part, experiment) for part in parts):
        for trial, row in zip(part.trials, numbers, strict=True):
            block = part.loaded.block(trial, experiment.folds)
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
            block = one.block(trial, experiment.folds)
            kept = store.load(block)
            for column in served:
                if kept.missing(block, (column,)):
                    raise ValueError(f"trial {trial + 1} of {one.cell.name} with {column[1]} is not there yet")
                yield one.cell.name, column, trial, kept.columns[column].reshape(experiment.folds, len(NUMBERS))
