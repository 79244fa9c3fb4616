"""Kind trees: decision trees grown with different splitters, cross-validated on data sets.

A group is a data set, a block one trial of it. The trees of several trials are grown together, which is much faster for
small data; so this kind does not compute block by block, but in parts of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from splitlab.engine.blocks import Block, BlockData, Column, Task
from splitlab.engine.config import Experiment
from splitlab.engine.folder import CONFIG, refuse_difference
from splitlab.engine.kind import Kind
from splitlab.engine.planning import PlanRequest
from splitlab.engine.progress import shown
from splitlab.engine.session import Session
from splitlab.engine.store import MemoryStore, Store
from splitlab.files import as_csv, write_atomically
from splitlab.kinds.trees import page as trees_page
from splitlab.kinds.trees.config import CATALOGUE, TreesExperiment
from splitlab.kinds.trees.plan import plan_text
from splitlab.kinds.trees.results import TREES, TreesResults, gathered, stored_times, times_in
from splitlab.kinds.trees.tables import replays, tables_of, text_of, verdict_lines, within, write_tables
from splitlab.kinds.trees.times import time_trees
from splitlab.kinds.trees.work import (
    NUMBERS,
    Loaded,
    changed_data,
    columns_on,
    load_all,
    missing_parts,
    run_parts,
    tree_store,
    work_of,
)
from splitlab.report import page
from splitlab.report.layout import Sheet, Verdict
from splitlab.report.style import Plot
from splitlab.text import ConfigError, counted


class Trees(Kind[TreesExperiment, TreesResults]):
    """Cross-validated decision trees."""

    Config = TreesExperiment
    DISTRIBUTED = False

    @cached_property
    def sets(self) -> list[Loaded]:
        """The data sets, which are read when they are first asked for."""
        return load_all(self.experiment)

    @cached_property
    def _columns(self) -> dict[Any, tuple[Column, ...]]:
        return {one.cell: tuple(columns_on(self.experiment, one)) for one in self.sets}

    def blocks(self) -> Iterator[Block]:
        """The trials of each data set."""
        for one in self.sets:
            for trial in range(self.experiment.trials):
                yield one.block(trial, self.experiment.folds)

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
            columns_on(self.experiment, one)

    def store(self, place: Path | None, warn: Any, *, imported: bool = True) -> Any:
        """The stored trials."""
        return MemoryStore() if place is None else tree_store(place, self.experiment, warn)

    def compute_missing(self, store: Store, session: Session) -> int:
        """Grow what is missing; the number of trials that were, each impurity and splitter counted."""
        parts = missing_parts(self.experiment, self.sets, store)
        work = work_of(parts)
        try:
            with shown(session.say if parts else None, work) as progress:
                run_parts(parts, self.experiment, store, session.workers, progress)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("finished trials are kept, and the same command continues") from None
        return work.runs

    def before_run(self, place: Path, session: Session) -> None:
        """Say of which data sets the stored results are not."""
        for line in changed_data(place, self.sets):
            session.remark(f"{line}; they are computed again")

    def kept(self, place: Path) -> tuple[Experiment, dict[str, str]]:
        """The catalogue is kept with the results: the folder then stands by itself, but for the data."""
        described = Path(self.experiment.catalogue).read_text(encoding="utf-8")
        write_atomically(place / CATALOGUE, described)
        return self.experiment.changed(catalogue=CATALOGUE), {CATALOGUE: described}

    def results(self, store: Any, session: Session, *, stored_only: bool = False) -> TreesResults:
        """The trees of all trials."""
        results = gathered(self.experiment, self.sets, store)
        if session.out is None and self.experiment.timed_trees:
            results.tree_times = time_trees(self.experiment, self.sets)
        return results

    def load(self, place: Path, session: Session) -> TreesResults:
        """The trees whose results are stored. The data sets must be there, too."""
        try:
            for line in changed_data(place, self.sets):
                session.remark(line)
            results = gathered(self.experiment, self.sets, self.store(place, session.remark))
        except ValueError as error:
            how = f"`splitlab run {place}/{CONFIG} --out {place}` computes them"
            raise ConfigError(f"{place}: {error}; {how}") from None
        results.tree_times = stored_times(place) if self.experiment.timed_trees else None
        return results

    def manifest(self, results: TreesResults) -> dict[str, Any]:
        """The protocol, the seeds, and the sizes of the data sets."""
        sizes = {
            one.cell.name: {"rows": one.cell.n, "classes": one.cell.k, "file": one.cell.label} for one in self.sets
        }
        return {**super().manifest(results), "seeds": list(self.experiment.seeds), "datasets": sizes}

    def files(self, results: TreesResults, place: Path) -> dict[str, str]:
        """One row per tree."""
        return {TREES: as_csv(results.trees)}

    def finish(self, results: TreesResults, place: Path, session: Session, store: Any, computed: int) -> None:
        """Write the trees, and take times if that is asked for."""
        write_atomically(place / TREES, as_csv(results.trees))
        if self.experiment.timed_trees:
            results.tree_times = times_in(self.experiment, self.sets, place, computed > 0, session)

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
        """Trees are compared in their tables."""
        return Verdict(False, True, "not compared: the config names no published numbers")

    def described(self) -> tuple[tuple[str, str], ...]:
        """The data sets and how often trees are grown on them."""
        e = self.experiment
        what = f"kind trees, {counted(len(e.splitters), 'method')}, {counted(len(e.datasets), 'data set')}"
        return (
            ("run", what),
            ("trials", f"cross-validation, {counted(e.trials, 'trial')} of {counted(e.folds, 'fold')}"),
        )

    def findings(self, results: TreesResults) -> Sequence[str]:
        """Ranks, or how much is equal to what the authors got."""
        return [line.strip() for line in verdict_lines(results)]

    def page_verdict(self, results: TreesResults) -> page.Verdict:
        """For a replay whether the mean accuracies are those of the authors."""
        agrees = within(results) if replays(results) else None
        if agrees is None:
            return super().page_verdict(results)
        return page.Verdict("mean accuracies beside the authors', see the findings", agrees)

    def pictures(self, results: TreesResults, plots: Sequence[Plot]) -> list[page.Picture]:
        """Critical difference diagrams."""
        return trees_page.diagrams(results)

    def plan(self, request: PlanRequest) -> str:
        """How much is stored, how long the rest takes, and how much disk."""
        return plan_text(self.experiment, request)

    def verifiable(self, place: Path, warn: Any) -> Any:
        """The stored trials; data sets that have changed since are said."""
        store = self.store(place, warn)
        for line in changed_data(place, self.sets):
            warn(line)
        return store

    def block_label(self, block: Block) -> str:
        """Data set and trial."""
        return f"{block.group.label}, trial {block.number + 1}"

    def number_label(self, block: Block, name: str, at: int) -> tuple[str, str]:
        """One of the numbers of a fold."""
        return "number", f"of fold {at // len(NUMBERS) + 1}, {NUMBERS[at % len(NUMBERS)]}"
