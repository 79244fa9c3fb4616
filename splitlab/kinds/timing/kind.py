"""Kind timing: how long splitters take for a table, relative to one of them.

Times do not repeat: they are measured once, in one thread, and never continued or merged. So this kind has no blocks
and runs by itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from splitlab.engine.checksums import check_file, read_manifest
from splitlab.engine.folder import (
    AGAIN,
    conditions,
    earlier_sessions,
    locked,
    refuse_difference,
    write_config,
    write_manifest,
)
from splitlab.engine.names import Plugins
from splitlab.engine.planning import PlanRequest
from splitlab.engine.progress import shown
from splitlab.engine.provenance import now
from splitlab.engine.session import Session
from splitlab.files import as_csv, write_atomically
from splitlab.kinds.random_tables.kind import RandomTables
from splitlab.kinds.random_tables.work import timing_provenance
from splitlab.kinds.timing.config import TimingExperiment
from splitlab.kinds.timing.figures import time_plots
from splitlab.kinds.timing.measure import (
    check_rows,
    compile_seconds,
    refuse_absurd_timing,
    time_splitters,
    whole_work,
    with_published,
)
from splitlab.kinds.timing.results import TimingResults
from splitlab.kinds.timing.tables import findings, text_of, timing_tables, write_tables
from splitlab.kinds.timing.times import TIMING, stored_times
from splitlab.published import RATIO_TABLE, Published, load_ratios
from splitlab.report.layout import Sheet, Verdict
from splitlab.report.style import Plot
from splitlab.text import ConfigError


class Timing(RandomTables[TimingExperiment, TimingResults]):
    """Times of every splitter, compiled and as its reference implementation in Python."""

    Config = TimingExperiment
    DISTRIBUTED = False
    TABLES: ClassVar[tuple[str, ...]] = (RATIO_TABLE,)

    def load_published(self, name: str) -> Published:
        """Published relative times by their name or file; ValueError if there are none."""
        return load_ratios(name)

    def check(self) -> None:
        """ConfigError when the timing would take absurdly long or too much memory."""
        refuse_absurd_timing(self.experiment)

    def run(self, session: Session) -> TimingResults:
        """Time the splitters, unless the folder holds these times."""
        if session.jobs is not None and session.workers != 1:
            session.remark(f"jobs: {session.jobs} is ignored; timing uses one thread")
        self.check()
        if session.out is None:
            return self._timed(session)
        place = session.out
        self.make_way(place, session)
        with locked(place):
            if self._has_times(place, session):
                session.remark(
                    f"{place} holds these times already; they are shown, and nothing is timed again (--fresh does)"
                )
                write_config(place, self.experiment)
                return self.load(place, session)
            results = self._timed(session)
            # The times come last: where they are, the config and the manifest that belong to them are there.
            times = as_csv(results.timing)
            write_config(place, self.experiment)
            write_manifest(place, results.manifest, earlier_sessions(place, session.remark), {TIMING: times})
            write_atomically(place / TIMING, times)
        return results

    def load(self, place: Path, session: Session) -> TimingResults:
        """The times of a folder."""
        frame, manifest = stored_times(place)
        try:
            check_rows(self.experiment, frame)
            check_file(place, TIMING)
        except ValueError as error:
            raise ConfigError(f"{place / TIMING}: {error}") from None
        return TimingResults(self.experiment, with_published(self.experiment, frame), manifest)

    def _has_times(self, place: Path, session: Session) -> bool:
        """Whether a folder holds the times that would be measured here; ConfigError if it holds others.

        Times of another config, machine, set of versions or code are other times: they are never merged, nor replaced.
        """
        if not (place / TIMING).is_file():
            return False
        refuse_difference(place, _timed_by(session.opened(place).experiment), _timed_by(self.experiment))
        before = conditions(read_manifest(place))
        for name, here in conditions(timing_provenance(self.experiment)).items():
            if before[name] != here:
                raise ConfigError(
                    f"{place}: was timed with {name}: {before[name]}, and here it is {here}; "
                    f"times of different machines or programs are never merged; {AGAIN}"
                )
        return True

    def _timed(self, session: Session) -> TimingResults:
        """Compile, time, and say what with."""
        experiment = self.experiment
        compiling = compile_seconds(experiment)
        if compiling:
            session.remark(f"kernels compiled, or loaded from the cache, in {compiling:.1f} s, apart from all times")
        began, worked = time.monotonic(), time.thread_time()
        try:
            with shown(session.say, whole_work(experiment)) as progress:
                frame = time_splitters(experiment, progress)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("of an unfinished timing nothing is kept") from None
        manifest = {
            "name": experiment.name,
            "kind": experiment.kind,
            "seed": experiment.seed,
            "engines": list(experiment.engines),
            "compile_seconds": round(compiling, 3),
            "wall_seconds": round(time.monotonic() - began, 3),
            "processor_seconds": round(time.thread_time() - worked, 3),
            **timing_provenance(experiment),
            **self.function_sources(),
            "finished": now(),
        }
        return TimingResults(experiment, with_published(experiment, frame), manifest)

    def results(self, store: Any, session: Session, *, stored_only: bool = False) -> TimingResults:
        """Times are not made of blocks."""
        raise NotImplementedError("kind timing has no blocks")

    def sheets(self, results: TimingResults) -> Sequence[Sheet]:
        """Ratios and absolute times."""
        return [Sheet("timing", results.timing, tuple(timing_tables(results)), shown=True)]

    def write_tables(self, results: TimingResults, place: Path, notes: tuple[str, ...] = ()) -> None:
        """Write ``timing.md`` and ``timing.tex``; ``timing.csv`` is what they are made from, and stays as it is."""
        write_tables(results, place)

    def text(self, results: TimingResults, notes: tuple[str, ...] = ()) -> str:
        """Ratios and absolute times."""
        return text_of(results)

    def figures(self, results: TimingResults) -> list[Plot]:
        """Time against k and n."""
        return time_plots(results.timing)

    def findings(self, results: TimingResults) -> Sequence[str]:
        """Which method is the fastest and which the slowest."""
        return findings(results)

    def verdict(self, results: TimingResults) -> Verdict:
        """Times of another machine are not judged."""
        if self.experiment.published is None:
            return Verdict(False, True, "not compared: the config names no published numbers")
        return Verdict(False, True, "not judged: the published times are of another machine and another program")

    def plan(self, request: PlanRequest) -> str:
        """Nothing can be planned."""
        self._refuse(self.experiment.source or "config", ", and measured times do not repeat: there is nothing to plan")

    def replay(self, place: Path, n: int, k: int, max_count: int | None, run: int, plugins: Plugins) -> str:
        """A timing has no runs."""
        self._refuse(place, " and has no runs to replay; name a folder of kind splits")

    def verifiable(self, place: Path, warn: Any) -> Any:
        """Times cannot be computed again."""
        self._refuse(place, ", and measured times do not repeat: there is nothing to verify")


def _timed_by(experiment: TimingExperiment) -> dict[str, Any]:
    """The keys of the config that decide what is timed."""
    cells = ", ".join(f"{cell.label} x {runs}" for cell, runs in experiment.cells)
    lists = {key: ", ".join(getattr(experiment, key)) for key in ("engines", "impurities", "splitters")}
    numbers = {key: getattr(experiment, key) for key in ("seed", "repeats", "python_runs", "baseline")}
    return {**numbers, **lists, "grid": cells}
