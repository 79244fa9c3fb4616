"""Kind trees: decision trees grown with different splitters, cross-validated on data sets.

A group is a data set, a block one trial of it. The trees of several trials are grown together, which is much faster for
small data; so this kind does not compute block by block, but in parts of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from splitlab.engine.blocks import Block, BlockData, Column, Task
from splitlab.engine.checksums import read_manifest
from splitlab.engine.config import Experiment
from splitlab.engine.folder import PUBLISHED, refuse_difference
from splitlab.engine.kind import Kind
from splitlab.engine.planning import PlanRequest
from splitlab.engine.progress import shown
from splitlab.engine.session import Session
from splitlab.engine.store import MemoryStore, Store, remark_outdated
from splitlab.files import as_csv, write_atomically
from splitlab.kinds.data_sets.kind import DataSetsKind
from splitlab.kinds.data_sets.loaded import Facts, Loaded, facts_for_manifest, places
from splitlab.kinds.data_sets.times import stored_times, times_in
from splitlab.kinds.trees import page as trees_page
from splitlab.kinds.trees import published
from splitlab.kinds.trees.config import CATALOGUE, TreesExperiment
from splitlab.kinds.trees.plan import plan_text
from splitlab.kinds.trees.results import TREES, TreesResults, gathered
from splitlab.kinds.trees.tables import tables_of, text_of, verdict_of, write_tables
from splitlab.kinds.trees.times import fits, time_trees
from splitlab.kinds.trees.work import (
    NUMBERS,
    UNIT,
    columns_on,
    load_all,
    missing_parts,
    run_parts,
    tree_store,
    trial_block,
    work_of,
)
from splitlab.report import page
from splitlab.report.layout import Sheet, Verdict
from splitlab.report.style import Plot
from splitlab.splitters.summaries import glossary
from splitlab.text import counted


class Trees(DataSetsKind[TreesExperiment, TreesResults]):
    """Cross-validated decision trees."""

    Config = TreesExperiment
    DISTRIBUTED = False
    UNIT = UNIT
    NUMBERS = NUMBERS

    @cached_property
    def sets(self) -> list[Loaded]:
        """The data sets, which are read when they are first asked for."""
        return load_all(self.experiment)

    @cached_property
    def _columns(self) -> dict[Any, tuple[Column, ...]]:
        return {one.cell: tuple(columns_on(self.experiment, one.facts)) for one in self.sets}

    def run(self, session: Session) -> TreesResults:
        """Say of each data set how many rows are used, and why not all, and run the experiment."""
        for one in self.sets:
            session.remark(one.facts.line)
        return super().run(session)

    def blocks(self) -> Iterator[Block]:
        """The trials of each data set."""
        for one in self.sets:
            for trial in range(self.experiment.trials):
                yield trial_block(one.cell, trial, self.experiment.folds)

    def columns(self, block: Block) -> tuple[Column, ...]:
        """The pairs of impurity and splitter that are run on a data set."""
        return self._columns[block.group]

    @classmethod
    def compute(cls, task: Task) -> BlockData:
        """Trees are not grown block by block; see `compute_missing`."""
        raise NotImplementedError("trees are grown in parts of several trials")

    def origin(self) -> dict[str, Any]:
        """What decides the trees besides data, impurity, splitter and the seed of the trial."""
        return self.experiment.protocol()

    def check_continuation(self, stored: Kind[Any, Any], place: Path) -> None:
        """ConfigError where a trial had another seed; seeds can be added."""
        for trial, seeds in enumerate(zip(stored.experiment.seeds, self.experiment.seeds, strict=False), 1):
            refuse_difference(place, *({f"the seed of trial {trial}": seed} for seed in seeds))

    def check(self) -> None:
        """ValueError when a data set is not to be had, or a splitter does not serve it."""
        for one in self.sets:
            columns_on(self.experiment, one.facts)

    def store(self, place: Path | None, warn: Any, *, imported: bool = True) -> Any:
        """The stored trials."""
        return MemoryStore() if place is None else tree_store(place, self.experiment, warn)

    def compute_missing(self, store: Store, session: Session, *, continued: bool = True) -> int:
        """Grow what is missing; the number of trials that were, each impurity and splitter counted."""
        parts = missing_parts(self.experiment, self.sets, store)
        work = work_of(parts)
        remark_outdated(store, session.remark)
        whole = sum(len(self.columns(block)) for block in self.blocks())
        if continued and parts:
            work = replace(work, stored=whole - round(work.runs))
            self.remark_stored(work, session)
        try:
            with shown(session.say if parts else None, work, self.UNIT, session.workers) as progress:
                run_parts(parts, self.experiment, store, session.workers, progress)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("finished trials are kept, and the same command continues") from None
        return round(work.runs)

    def kept(self, place: Path) -> tuple[Experiment, dict[str, str]]:
        """The catalogue is kept with the results, and the authors' trials if they are to be compared."""
        files = {CATALOGUE: Path(self.experiment.catalogue).read_text(encoding="utf-8")}
        if (
            self.experiment.published
            and (authors := published.trials(places(Path(self.experiment.catalogue)))) is not None
        ):
            files[PUBLISHED] = as_csv(authors)
        for name, text in files.items():
            write_atomically(place / name, text)
        return self.experiment.changed(catalogue=CATALOGUE), files

    def results(self, store: Any, session: Session, *, stored_only: bool = False) -> TreesResults:
        """The trees of all trials."""
        results = self._gathered([one.facts for one in self.sets], store, session.out)
        if session.out is None and self.experiment.timed_trees:
            results.tree_times = time_trees(self.experiment, self.sets, session.say)
        return results

    def load(self, place: Path, session: Session) -> TreesResults:
        """The trees whose results are stored. What is to be known of the data sets is in the manifest."""
        kept = read_manifest(place).get("datasets", {})
        with self.lack_explained(place):
            for name in self.experiment.datasets:
                if name not in kept:
                    raise ValueError(f"the manifest says nothing of data set {name}: no run has come to its end")
            facts = [Facts.of_json(kept[name]) for name in self.experiment.datasets]
            results = self._gathered(facts, self.store(place, session.remark), place)
        results.tree_times = stored_times(place) if self.experiment.timed_trees else None
        return results

    def _gathered(self, facts: list[Facts], store: Any, place: Path | None) -> TreesResults:
        """The trees of all trials, with those of the authors if they are to be compared."""
        results = gathered(self.experiment, facts, store)
        if self.experiment.published:
            kept = place / PUBLISHED if place else None
            if kept and kept.is_file():
                results.authors = pd.read_csv(kept)
            else:
                results.authors = published.trials(places(Path(self.experiment.catalogue)))
        return results

    def manifest(self, results: TreesResults) -> dict[str, Any]:
        """The protocol, the seeds, and what is to be known of the data sets."""
        sets = facts_for_manifest(Path(self.experiment.catalogue), results.sets)
        return {**super().manifest(results), "seeds": list(self.experiment.seeds), "datasets": sets}

    def files(self, results: TreesResults, place: Path) -> dict[str, str]:
        """One row per tree."""
        return {TREES: results.trees_csv}

    def finish(self, results: TreesResults, place: Path, session: Session, store: Any, computed: int) -> None:
        """Write the trees, and take times if that is asked for."""
        write_atomically(place / TREES, results.trees_csv)
        if self.experiment.timed_trees:
            results.tree_times = times_in(
                place,
                computed > 0,
                session,
                lambda kept: fits(kept, self.experiment, results.sets),
                lambda: time_trees(self.experiment, self.sets, session.say),
            )

    def sheets(self, results: TreesResults) -> Sequence[Sheet]:
        """Accuracies, tests between splitters, and times."""
        return [Sheet("trees", results.trees, tuple(tables_of(results)), shown=True)]

    def write_tables(self, results: TreesResults, place: Path, notes: tuple[str, ...] = ()) -> None:
        """The text, csv files of the means and of all tests, and critical difference diagrams."""
        write_tables(results, place)

    def text(self, results: TreesResults, notes: tuple[str, ...] = ()) -> str:
        """All tables, and what came out in a few lines."""
        return text_of(results)

    def verdict(self, results: TreesResults) -> Verdict:
        """Whether mean accuracies are the authors', where trees are grown as they grew them."""
        return verdict_of(results)

    def described(self) -> tuple[tuple[str, str], ...]:
        """The data sets and how often trees are grown on them."""
        e = self.experiment
        what = f"kind trees, {counted(len(e.splitters), 'method')}, {counted(len(e.datasets), 'data set')}"
        return (
            ("run", what),
            ("trials", f"cross-validation, {counted(e.trials, 'trial')} of {counted(e.folds, 'fold')}"),
        )

    def findings(self, results: TreesResults) -> Sequence[str]:
        """The most accurate methods, which differ beyond chance, and ranks or what is left of Table 4."""
        return trees_page.findings(results)

    def terms(self, results: TreesResults) -> tuple[tuple[str, str], ...]:
        """Methods, and words of the tables."""
        return (*glossary(self.experiment.splitters), *trees_page.TERMS)

    def pictures(self, results: TreesResults, plots: Sequence[Plot]) -> list[page.Picture]:
        """Critical difference diagrams."""
        return trees_page.diagrams(results)

    def plan(self, request: PlanRequest) -> str:
        """How much is stored, how long the rest takes, and how much disk."""
        return plan_text(self.experiment, request)

    def block_label(self, block: Block) -> str:
        """Data set and trial."""
        return f"{block.group.label}, trial {block.number + 1}"
