"""Kind criteria: decision trees grown with different criteria, on repeated folds of data sets.

A group is a data set, a block one repetition of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from splitlab.engine.blocks import Block, BlockData, Column, Task
from splitlab.engine.checksums import read_manifest
from splitlab.engine.config import Experiment
from splitlab.engine.session import Session
from splitlab.files import write_atomically
from splitlab.kinds.criteria import tables, work
from splitlab.kinds.criteria.config import CATALOGUE, GROUPED, PROTOCOL, CriteriaExperiment
from splitlab.kinds.criteria.figures import diagrams
from splitlab.kinds.criteria.published import title
from splitlab.kinds.criteria.results import CriteriaResults, gathered
from splitlab.kinds.criteria.sets import StudyCell, columns_on, load_sets
from splitlab.kinds.criteria.times import fits, time_trees
from splitlab.kinds.criteria.work import NUMBERS
from splitlab.kinds.data_sets.kind import DataSetsKind
from splitlab.kinds.data_sets.loaded import DataCell, Facts, Loaded, facts_for_manifest
from splitlab.kinds.data_sets.times import stored_times, times_in
from splitlab.report.layout import Sheet, Verdict
from splitlab.report.style import Plot
from splitlab.sources import source_hash
from splitlab.splitters import fingerprint, get, names
from splitlab.text import ConfigError, counted
from splitlab.trees.criteria import get as get_criterion
from splitlab.trees.formulas import MOST_CLASSES
from splitlab.trees.grouping import Grouping


class Criteria(DataSetsKind[CriteriaExperiment, CriteriaResults]):
    """Split criteria, compared over data sets."""

    Config = CriteriaExperiment
    NUMBERS = NUMBERS

    @cached_property
    def _read(self) -> tuple[list[Loaded], list[str]]:
        return load_sets(self.experiment)

    @property
    def sets(self) -> list[Loaded]:
        """The data sets, which are read when they are first asked for."""
        return self._read[0]

    @cached_property
    def _columns(self) -> dict[DataCell, tuple[Column, ...]]:
        return {_cell(self.experiment, one): columns_on(self.experiment, one.facts) for one in self.sets}

    def run(self, session: Session) -> CriteriaResults:
        """Say which data sets are there, and run the experiment."""
        sets, absent = self._read
        without = f"; left out, since there is no file: {', '.join(absent)}" if absent else ""
        session.remark(f"{counted(len(sets), 'data set')}{without}")
        return super().run(session)

    def blocks(self) -> Iterator[Block]:
        """The repetitions of each data set."""
        for cell in self._columns:
            yield from self._blocks_of(cell)

    def columns(self, block: Block) -> tuple[Column, ...]:
        """The criteria, and the ways to treat text columns."""
        return self._columns[block.group]

    @classmethod
    def compute(cls, task: Task) -> BlockData:
        """Grow the trees of a repetition of a data set."""
        return work.compute(task)

    def seconds(self, block: Block, column: Column) -> float:
        """Rough core seconds of the trees of a criterion on all folds."""
        n, _, p = block.group.sizes
        return 1.5e-7 * self.experiment.folds * n * (p + 20) + 0.01

    def origin(self) -> dict[str, Any]:
        """What decides the trees besides data, criterion and the number of the repetition."""
        return {key: getattr(self.experiment, key) for key in PROTOCOL}

    def fingerprint(self, column: Column, imported: bool = True) -> str | None:
        """Hash of the code that grows trees, and of the splitter where values are grouped."""
        grower, splitter = source_hash(work.compute)[:16], self.experiment.splitter
        grouping = fingerprint(get(splitter)) if column[1] == GROUPED and splitter in names() else ""
        return grower + grouping[:16]

    def all_columns(self) -> tuple[Column, ...]:
        """The columns of any block; data need not be there."""
        return tuple((criterion, way) for way in ("coded", GROUPED) for criterion in self.experiment.criteria)

    def check(self) -> None:
        """ConfigError when a data set is not to be had, or a criterion or splitter does not serve it."""
        for one in self.sets:
            for criterion, way in columns_on(self.experiment, one.facts):
                self._check_served(one, criterion, way)

    def _check_served(self, one: Loaded, criterion: str, way: str) -> None:
        if criterion == "hddt_all" and one.data.k > MOST_CLASSES:
            rule = f"tries all groups of classes, of at most {MOST_CLASSES}; leave out one of the two"
            raise ConfigError(f"{one.cell.name}: has {one.data.k} classes, and criterion hddt_all {rule}")
        if way == GROUPED:
            sizes = [column.values for column in one.facts.columns if column.type == "nominal" and column.values > 1]
            try:
                Grouping(get_criterion(criterion), self.experiment.splitter).refuse_hopeless(sizes, one.data.k)
            except ValueError as error:
                raise ConfigError(f"{one.cell.name}: {error}; choose another splitter, or nominal: coded") from None

    def kept(self, place: Path) -> tuple[Experiment, dict[str, str]]:
        """The catalogue is kept with the results."""
        text = Path(self.experiment.catalogue).read_text(encoding="utf-8")
        write_atomically(place / CATALOGUE, text)
        return self.experiment.changed(catalogue=CATALOGUE), {CATALOGUE: text}

    def results(self, store: Any, session: Session, *, stored_only: bool = False) -> CriteriaResults:
        """The trees of all repetitions."""
        cells = {cell.label: cell for cell in self._columns}
        facts = [one.facts for one in self.sets]
        results = gathered(self.experiment, facts, lambda one: self._blocks_of(cells[one.cell.label]), store)
        if session.out is None and self.experiment.timed_trees:
            results.tree_times = time_trees(self.experiment, self.sets)
        return results

    def finish(self, results: CriteriaResults, place: Path, session: Session, store: Any, computed: int) -> None:
        """Take times if that is asked for."""
        if self.experiment.timed_trees:
            results.tree_times = times_in(
                place,
                computed > 0,
                session,
                lambda kept: fits(kept, self.experiment, results.sets),
                lambda: time_trees(self.experiment, self.sets),
            )

    def _blocks_of(self, cell: DataCell) -> list[Block]:
        size = self.experiment.folds * len(NUMBERS)
        return [Block(cell, repetition, size) for repetition in range(self.experiment.repetitions)]

    def load(self, place: Path, session: Session) -> CriteriaResults:
        """The trees whose results are stored; what is to be known of the data sets is in the manifest."""
        kept = read_manifest(place).get("datasets", {})
        with self.lack_explained(place):
            if not kept:
                raise ValueError("the manifest says nothing of its data sets: no run has come to its end")
            facts = [Facts.of_json(kept[name]) for name in self.experiment.datasets if name in kept]
            store = self.store(place, session.remark, imported=False)
            results = gathered(self.experiment, facts, lambda one: self._blocks_of(one.cell), store)
        results.tree_times = stored_times(place) if self.experiment.timed_trees else None
        return results

    def manifest(self, results: CriteriaResults) -> dict[str, Any]:
        """The protocol, and what is to be known of the data sets."""
        sets = facts_for_manifest(Path(self.experiment.catalogue), results.sets)
        return {**super().manifest(results), "repetitions": self.experiment.repetitions, "datasets": sets}

    def sheets(self, results: CriteriaResults) -> Sequence[Sheet]:
        """Measures, ranks, tests, differences, and single trees."""
        return tables.sheets(results)

    def figures(self, results: CriteriaResults) -> list[Plot]:
        """Critical difference diagrams."""
        return diagrams(results)

    def verdict(self, results: CriteriaResults) -> Verdict:
        """Whether printed values are those of one more repetition, and which statements hold."""
        return tables.verdict(results)

    def text(self, results: CriteriaResults, notes: tuple[str, ...] = ()) -> str:
        """The shown tables, the verdict, and what came out in sentences."""
        return "\n".join([super().text(results, notes), *tables.findings(results)])

    def write_tables(self, results: CriteriaResults, place: Path, notes: tuple[str, ...] = ()) -> None:
        """The tables; the findings go with the verdict."""
        super().write_tables(results, place, notes)
        lines = [self.verdict(results).text, *tables.findings(results)]
        write_atomically(place / "verdict.txt", "\n".join(lines) + "\n")

    def findings(self, results: CriteriaResults) -> Sequence[str]:
        """Which criterion is best, and what is sure of it."""
        return tables.findings(results)

    def described(self) -> tuple[tuple[str, str], ...]:
        """The data sets, and how often trees are grown on them."""
        e = self.experiment
        what = f"kind criteria, {len(e.criteria)} criteria"
        how = "independent hold-outs" if e.fold_scheme == "holdout" else "folds of a stratified partition"
        each = f"{counted(e.repetitions, 'repetition')} of {e.folds} {how}, from seed {e.seed} on"
        return (("run", what), ("trees", each))

    def terms(self, results: CriteriaResults) -> tuple[tuple[str, str], ...]:
        """The criteria."""
        return tuple(
            (title(name), f"{get_criterion(name).title}: {get_criterion(name).source}")
            for name in self.experiment.criteria
        )

    def block_label(self, block: Block) -> str:
        """Data set and repetition."""
        return f"{block.group.label}, repetition {block.number + 1}"


def _cell(experiment: CriteriaExperiment, one: Loaded) -> StudyCell:
    return StudyCell(**asdict(one.cell), data=one.data, experiment=experiment)
