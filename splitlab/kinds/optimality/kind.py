"""Kind optimality: how often splitters find the optimum, how far from it they are, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splitlab.engine.blocks import Column
from splitlab.engine.planning import PlanRequest
from splitlab.engine.session import Session
from splitlab.files import write_atomically
from splitlab.kinds.optimality import lower_bound
from splitlab.kinds.optimality.config import LOWER_BOUND, OptimalityExperiment
from splitlab.kinds.optimality.costs import costs
from splitlab.kinds.optimality.figures import optimality_plots
from splitlab.kinds.optimality.results import optimality_frame
from splitlab.kinds.optimality.tables import findings, optimality_tables, percent_tables, verdict
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.random_tables.kind import RandomTables
from splitlab.kinds.random_tables.work import impurities_of, timing_provenance
from splitlab.kinds.splits.kind import incomplete
from splitlab.kinds.splits.precision import plan_text
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.summary import IncompleteError, summarise
from splitlab.kinds.timing.times import TIMING
from splitlab.report.layout import Sheet, Verdict, write_frame
from splitlab.report.style import Plot
from splitlab.sources import source_hash


class Optimality(RandomTables[OptimalityExperiment, Results]):
    """The splitters against the optimum, or where it is out of reach against the best split known and a bound."""

    Config = OptimalityExperiment
    SUMMARY = "optimality.csv"

    @staticmethod
    def values(
        tables: NDArray[np.int64], column: Column, failures: dict[int, str] | None = None
    ) -> NDArray[np.float64]:
        """Impurities of a splitter's splits of tables (b, n, k), or lower bounds on all splits'; shape (b,)."""
        if column[1] == LOWER_BOUND:
            return lower_bound.bounds_of(tables, column[0])
        return impurities_of(tables, column, failures)

    def column_seconds(self, cell: Cell, column: Column) -> float:
        """Rough core seconds of a splitter, or of the bounds, for one table."""
        if column[1] == LOWER_BOUND:
            return 1e-9 * lower_bound.nanoseconds(cell.n, cell.k, column[0])
        return super().column_seconds(cell, column)

    def splitter_fingerprint(self, splitter: str, imported: bool) -> str | None:
        """Hash of the code of a splitter, or of the bounds."""
        if splitter == LOWER_BOUND:
            return source_hash(lower_bound.bounds_of)[:16]
        return super().splitter_fingerprint(splitter, imported)

    def prepare(self, session: Session) -> None:
        """Have the kernels compiled, those of the bounds too."""
        super().prepare(session)
        if any(LOWER_BOUND in self.experiment.references(cell) for cell, _ in self.experiment.cells):
            lower_bound.compile_bounds(self.experiment.impurities)

    def results(self, store: Any, session: Session, *, stored_only: bool = False) -> Results:
        """The stored runs against their references; costs are measured unless ``stored_only``."""
        try:
            summary = summarise(self.experiment, store, session.say)
        except IncompleteError as error:
            raise incomplete(error, session.out) from None
        times = costs(self.experiment, session, measure=not stored_only)
        return Results(self.experiment, store, summary, optimality_frame(self.experiment, store, times))

    def provenance(self) -> dict[str, Any]:
        """Versions, machine, and the code that was timed."""
        return timing_provenance(self.experiment)

    def files(self, results: Results, place: Path) -> dict[str, str]:
        """The times."""
        return {TIMING: (place / TIMING).read_text()}

    def sheets(self, results: Results) -> Sequence[Sheet]:
        """How often the reference is reached, ratios to it, and costs."""
        assert results.optimality is not None
        return [Sheet("optimality", results.optimality, tuple(optimality_tables(results)), shown=True)]

    def write_tables(self, results: Results, place: Path, notes: tuple[str, ...] = ()) -> None:
        """Write ``optimality.csv``, ``.md`` and ``.tex``, and which method finds the optimum most often."""
        (sheet,) = self.sheets(results)
        write_atomically(place / "verdict.txt", verdict(sheet.frame) + "\n")
        write_frame(place, sheet.name, sheet.frame, list(sheet.tables), notes)

    def text(self, results: Results, notes: tuple[str, ...] = ()) -> str:
        """For the terminal: how often the reference is reached."""
        where = "Ratios, maxima and costs are in optimality.md and optimality.csv."
        return "\n".join([*(table.as_text() for table in percent_tables(results)), *notes, where])

    def figures(self, results: Results) -> list[Plot]:
        """Cost against success."""
        assert results.optimality is not None
        return optimality_plots(results.optimality)

    def findings(self, results: Results) -> Sequence[str]:
        """Which method finds the reference most often, and at what cost."""
        assert results.optimality is not None
        return findings(results.optimality)

    def verdict(self, results: Results) -> Verdict:
        """Nothing to compare with."""
        return Verdict(False, True, "not compared: nothing is published on how often the optimum is found")

    def plan(self, request: PlanRequest) -> str:
        """How many runs a precision takes."""
        return plan_text(self, request)
