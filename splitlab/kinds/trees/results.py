"""Runs an experiment of kind trees: the part of ``study`` that has data sets and trials for cells and runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splitlab.engine.folder import CONFIG, earlier_sessions, locked, make_way, write_config, write_manifest
from splitlab.engine.folder_layout import check_cells
from splitlab.engine.progress import shown, tell
from splitlab.engine.provenance import provenance
from splitlab.engine.store import MemoryStore, Store
from splitlab.files import as_csv, write_atomically
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.summary import Summary
from splitlab.kinds.trees.config import CATALOGUE, TreesExperiment
from splitlab.kinds.trees.times import TIMES, fits, time_trees
from splitlab.kinds.trees.work import (
    NUMBERS,
    Loaded,
    changed_data,
    columns_on,
    load_all,
    missing_parts,
    run_parts,
    stored_numbers,
    tree_store,
    work_of,
)
from splitlab.text import ConfigError

TREES = "trees.csv"


class TreesResults(Results):
    """The cross-validated trees of an experiment of kind trees. It has no wins: the other data frames are empty.

    Attributes
    ----------
    experiment : TreesExperiment
        What was run.
    trees : pandas.DataFrame
        One row per data set, impurity, splitter, trial and fold (counted from 1): test examples classified right and
        in all, nodes and depth of the tree, test examples that met an unseen value.
    tree_times : pandas.DataFrame or None
        One row per data set, impurity and splitter: mean seconds of processor time per tree, where they were taken.
    """

    experiment: TreesExperiment
    trees: pd.DataFrame

    def __init__(self, experiment: TreesExperiment, trees: pd.DataFrame) -> None:
        super().__init__(experiment, MemoryStore(), Summary())
        self.trees = trees
        self.tree_times: pd.DataFrame | None = None

    def impurities(self, n: int, k: int, max_count: int, impurity: str) -> NDArray[np.float64]:
        """Trees keep no impurities: ValueError."""
        raise ValueError(f"{self.experiment.name} is of kind trees, which keeps no impurities; see .trees")

    def trials(self) -> pd.DataFrame:
        """One row per data set, impurity, splitter and trial: percent classified right, mean number of nodes."""
        keys = ["dataset", "impurity", "splitter", "trial"]
        sums = self.trees.groupby(keys, sort=False)[["correct", "tested", "nodes"]].sum()
        frame = pd.DataFrame({"accuracy": 100.0 * sums["correct"] / sums["tested"]})
        return frame.assign(nodes=sums["nodes"] / self.experiment.folds).reset_index()


def run_trees(
    experiment: TreesExperiment, jobs: int, out: str | os.PathLike[str] | None, fresh: bool, say: TextIO | None
) -> TreesResults:
    """Grow the trees, or those that are left; see ``study.run``."""
    sets = load_all(experiment)
    for one in sets:
        columns_on(experiment, one)  # before anything is computed: can it be?
    if out is None:
        store: Store = MemoryStore()
        _grow_missing(experiment, sets, store, jobs, say)
        results = _gathered(experiment, sets, store)
        results.tree_times = time_trees(experiment, sets) if experiment.timed_trees else None
        return results
    folder = Path(out)
    make_way(folder, experiment, fresh, lambda text: tell(text, say))
    with locked(folder):
        for line in changed_data(folder, sets):
            tell(f"{line}; they are computed again", say)
        check_cells(folder, (one.cell.label for one in sets))
        described = Path(experiment.catalogue).read_text(encoding="utf-8")
        write_atomically(folder / CATALOGUE, described)  # the folder then stands by itself, but for the data
        earlier = earlier_sessions(folder, lambda text: tell(text, say))
        write_config(folder, replace(experiment, catalogue=CATALOGUE))
        began = time.monotonic()
        store = tree_store(folder, experiment, lambda text: tell(text, say))
        computed = _grow_missing(experiment, sets, store, jobs, say)
        results = _gathered(experiment, sets, store)
        wall = round(time.monotonic() - began, 3)
        trees = as_csv(results.trees)
        session = {"runs_computed": computed, "jobs": jobs, "wall_seconds": wall}
        write_manifest(folder, _manifest(experiment, sets, session), earlier, {TREES: trees, CATALOGUE: described})
        write_atomically(folder / TREES, trees)
        if experiment.timed_trees:
            results.tree_times = _times(experiment, sets, folder, computed > 0, say)
    return results


def _times(
    experiment: TreesExperiment, sets: list[Loaded], folder: Path, anew: bool, say: TextIO | None
) -> pd.DataFrame:
    """The times in the folder, or new ones if there are none or others, or trees were grown."""
    kept = _stored_times(folder)
    if kept is not None and not anew and fits(kept, experiment, sets):
        return kept
    tell("taking the time of single trees", say)
    times = time_trees(experiment, sets)
    write_atomically(folder / TIMES, as_csv(times))
    return times


def _stored_times(folder: Path) -> pd.DataFrame | None:
    path = folder / TIMES
    return pd.read_csv(path) if path.is_file() else None


def _grow_missing(experiment: TreesExperiment, sets: list[Loaded], store: Store, jobs: int, say: TextIO | None) -> int:
    """Grow what is missing; the number of trials that were, each impurity and splitter counted."""
    parts = missing_parts(experiment, sets, store)
    work = work_of(parts)
    try:
        with shown(say if parts else None, work) as progress:
            run_parts(parts, experiment, store, jobs, progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("finished trials are kept, and the same command continues") from None
    return work.runs


def _gathered(experiment: TreesExperiment, sets: list[Loaded], store: Store) -> TreesResults:
    rows: list[dict[str, Any]] = []
    for name, (impurity, splitter), trial, numbers in stored_numbers(experiment, sets, store):
        for fold, values in enumerate(numbers.astype(int).tolist(), 1):
            keys = {"dataset": name, "impurity": impurity, "splitter": splitter, "trial": trial + 1, "fold": fold}
            rows.append(keys | dict(zip(NUMBERS, values, strict=True)))
    return TreesResults(experiment, pd.DataFrame(rows))


def load_trees(experiment: TreesExperiment, folder: Path, warn: Callable[[str], None]) -> TreesResults:
    """The trees whose results are stored; ConfigError if some are missing. The data sets must be there, too."""
    try:
        sets = load_all(experiment)
        for line in changed_data(folder, sets):
            warn(line)
        results = _gathered(experiment, sets, tree_store(folder, experiment, warn))
        results.tree_times = _stored_times(folder) if experiment.timed_trees else None
        return results
    except ValueError as error:
        raise ConfigError(f"{folder}: {error}; `splitlab run {folder}/{CONFIG} --out {folder}` computes them") from None


def _manifest(experiment: TreesExperiment, sets: list[Loaded], session: dict[str, Any]) -> dict[str, Any]:
    sizes = {one.cell.name: {"rows": one.cell.n, "classes": one.cell.k, "file": one.cell.label} for one in sets}
    return {"name": experiment.name, "kind": experiment.kind, **experiment.protocol(),
            "seeds": list(experiment.seeds), "datasets": sizes, **session,
            **provenance()}  # fmt: skip
