"""Kind splits: splitters compared on random tables, win by win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from splitlab.engine.folder import AGAIN, CONFIG
from splitlab.engine.kind import Kind
from splitlab.engine.planning import PlanRequest
from splitlab.engine.session import Session
from splitlab.engine.store import BLOCKS
from splitlab.kinds.random_tables.kind import RandomTables
from splitlab.kinds.random_tables.plan import cell_blocks
from splitlab.kinds.splits import page as splits_page
from splitlab.kinds.splits.compare import judge
from splitlab.kinds.splits.config import SplitsExperiment
from splitlab.kinds.splits.extremes import pooled_excess, pooled_table
from splitlab.kinds.splits.figures import figures_of
from splitlab.kinds.splits.precision import plan_text
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.summary import IncompleteError, summarise
from splitlab.kinds.splits.sums_store import SUMS, SumsStore
from splitlab.kinds.splits.tables import excess_tables, failure_tables, paired_tables, win_tables
from splitlab.report.layout import Sheet, Table, Verdict
from splitlab.report.style import Plot
from splitlab.text import ConfigError


class Splits(RandomTables[SplitsExperiment, Results]):
    """How often each splitter finds the least impurity of all, and by how much it misses it."""

    Config = SplitsExperiment
    SUMMARY = "win_percentage.csv"

    def store(self, place: Path | None, warn: Any, *, imported: bool = True) -> Any:
        """The stored blocks, or with ``keep_runs: false`` the sums over them."""
        if self.experiment.keep_runs:
            return super().store(place, warn, imported=imported)
        marks = {column: self.fingerprint(column, imported) for column in self.all_columns()}
        return SumsStore(place, self.origin(), marks, warn)

    def serial_columns(self, columns: Any) -> Any:
        """The columns of user-defined splitters; where sums are kept all of them, since they are made together."""
        serial = super().serial_columns(columns)
        return columns if serial and not self.experiment.keep_runs else serial

    def identity(self) -> dict[str, Any]:
        """The draws, and whether runs are kept; of sums also the lists of impurities and splitters.

        From sums nothing can be left out, and to them nothing be added.
        """
        experiment = self.experiment
        common = {**self.draws(), "keep_runs": _word(experiment.keep_runs)}
        if experiment.keep_runs:
            return common
        return {**common, **{key: ", ".join(getattr(experiment, key)) for key in ("impurities", "splitters")}}

    def identity_of_header(self, header: Mapping[str, Any]) -> dict[str, Any]:
        """As much of the identity as a stored block says."""
        found = super().identity_of_header(header)
        if "sums" not in header:
            return {**found, **({"keep_runs": _word(True)} if header else {})}
        try:
            names = [dict.fromkeys(str(column[at]) for column in header["columns"]) for at in (0, 1)]
        except (KeyError, TypeError, IndexError):  # nothing that we wrote
            return found
        lists = {key: ", ".join(n) for key, n in zip(("impurities", "splitters"), names, strict=True)}
        return {**found, "keep_runs": _word(False), **lists}

    def check_continuation(self, stored: Kind[Any, Any], place: Path) -> None:
        """ConfigError where sums over more runs are kept: they cannot be cut."""
        before = dict(stored.experiment.cells)
        for cell, runs in self.experiment.cells if not self.experiment.keep_runs else ():
            if runs < before.get(cell, 0):
                raise ConfigError(
                    f"{place}: is for {before[cell]} runs of {cell.label}, of which (keep_runs: false) sums are kept "
                    f"that cannot be cut to {runs}; {AGAIN}"
                )

    def finish(self, results: Results, place: Path, session: Session, store: Any, computed: int) -> None:
        """Remove files of sums that have been replaced by those of more runs."""
        if isinstance(store, SumsStore):
            for cell, runs in self.experiment.cells:
                store.remove_superseded(cell_blocks(cell, runs))

    def results(self, store: Any, session: Session, *, stored_only: bool = False) -> Results:
        """Wins, excess and differences of the stored runs."""
        try:
            return Results(self.experiment, store, summarise(self.experiment, store, session.say))
        except IncompleteError as error:
            raise incomplete(error, session.out) from None

    def sheets(self, results: Results) -> Sequence[Sheet]:
        """Wins, excess, and differences between splitters."""
        wins = (*win_tables(results), *failure_tables(results))
        return [
            Sheet("win_percentage", results.win_percentage, wins, shown=True),
            Sheet("relative_excess", results.relative_excess, tuple(excess_tables(results))),
            Sheet("paired_differences", results.paired_differences, tuple(paired_tables(results)), shown=True),
        ]

    def figures(self, results: Results) -> list[Plot]:
        """Wins, excess, and comparisons with published numbers."""
        return figures_of(results)

    def verdict(self, results: Results) -> Verdict:
        """The comparison with the published win percentages."""
        return judge(results)

    def findings(self, results: Results) -> Sequence[str]:
        """Who wins how often and where, and the largest excess."""
        return splits_page.findings(results)

    def terms(self, results: Results) -> tuple[tuple[str, str], ...]:
        """Letters, methods, and what wins and excess are."""
        win = ("win", "a table on which no other method finds a smaller impurity; ties all win")
        excess = (
            "relative excess",
            "by how much a method's impurity is above that of the best other method, in percent",
        )
        return (*super().terms(results), win, excess)

    def differences(self, verdict: Verdict) -> Sequence[Table]:
        """The entries that differ from the published ones."""
        return [splits_page.differing(verdict.differing)] if verdict.differing else []

    def further(self, results: Results) -> Sequence[Table]:
        """Worst cases: the excess of all configurations together, and where each maximum happened."""
        return [pooled_table(pooled_excess(results))] if len(results.relative_excess) else []

    def plan(self, request: PlanRequest) -> str:
        """How many runs a precision takes."""
        return plan_text(self, request)

    def number_label(self, block: Any, name: str, at: int) -> tuple[str, str]:
        """A run, or one of the sums of a block."""
        return ("sum", f"sum {at}") if name == SUMS else super().number_label(block, name, at)


def incomplete(error: IncompleteError, place: Path | None) -> ConfigError | IncompleteError:
    """What to say of a folder that lacks runs."""
    if place is None:
        return error
    if not (place / BLOCKS).is_dir():
        return ConfigError(f"{place}: holds a summary only, without the runs behind it")
    return ConfigError(f"{place}: {error}; `splitlab run {place}/{CONFIG} --out {place}` computes them")


def _word(yes: bool) -> str:
    return str(yes).lower()
