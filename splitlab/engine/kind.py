"""The interface of a kind of experiment.

A kind is one class: it says which blocks of runs an experiment has, how one is computed, and what the numbers become.
The engine runs, stores, continues and verifies the experiments of any kind, and knows none. To add a kind, write its
class, in a folder of ``splitlab/kinds`` with its name in ``splitlab/kinds/__init__.py``, or in another file that
a config names: ``kind: my_module:MyKind``.

How a run goes: `check`; for each of `blocks` the store is asked which of its `columns` it lacks; `tasks` cuts that
into pieces, workers `compute` them, and the finished block is stored; `results` reads the blocks in order; `sheets`,
`figures` and `verdict` say what came out.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeVar

from splitlab import dependencies
from splitlab.engine import cluster, folder, runner
from splitlab.engine.blocks import Block, BlockData, Column, Task, Work
from splitlab.engine.config import Experiment
from splitlab.engine.names import Plugins, functions_of
from splitlab.engine.planning import PlanRequest, default_plan
from splitlab.engine.progress import shown
from splitlab.engine.provenance import now, provenance
from splitlab.engine.session import Session
from splitlab.engine.store import FolderStore, MemoryStore, Store, remark_outdated
from splitlab.files import write_atomically
from splitlab.plugins import is_plugin
from splitlab.report import page
from splitlab.report.layout import Entry, Sheet, Table, Verdict, frame_files
from splitlab.report.style import Plot
from splitlab.sources import source_hash
from splitlab.text import ConfigError

E = TypeVar("E", bound=Experiment)
R = TypeVar("R")


class Kind(ABC, Generic[E, R]):
    """An experiment of some kind: what is computed, and what becomes of the numbers.

    Parameters
    ----------
    experiment : Experiment
        An instance of the class's ``Config``.
    """

    Config: ClassVar[type[Experiment]]  # the pydantic model of its config
    DISTRIBUTED: ClassVar[bool] = True  # whether a cluster can do the work
    UNIT: ClassVar[str] = "runs"  # what progress calls them
    SUMMARY: ClassVar[str | None] = None  # the csv file that a run does not replace where its blocks are missing

    def __init__(self, experiment: E) -> None:
        self.experiment = experiment

    # What is computed

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """All blocks, group by group."""

    @abstractmethod
    def columns(self, block: Block) -> tuple[Column, ...]:
        """What a block holds for every run."""

    @classmethod
    @abstractmethod
    def compute(cls, task: Task) -> BlockData:
        """Compute a task; in a thread, another process, or on a cluster: the task is all that counts."""

    def tasks(self, block: Block, lacking: tuple[Column, ...]) -> list[Task]:
        """What workers take of a block that lacks some columns: slices of about a second each."""
        return [Task(block, lacking, 0, block.size, getattr(self.experiment, "seed", 0))]

    def seconds(self, block: Block, column: Column) -> float:
        """Rough core seconds of a column of a block, for progress and plans."""
        return 1e-5 * block.size

    def shared_seconds(self, block: Block) -> float:
        """Rough core seconds of what all columns of a block need, such as drawing its tables."""
        return 0.0

    def origin(self) -> dict[str, Any]:
        """What decides the numbers of a block besides the code of its columns; it stands in the header of each."""
        return {"seed": getattr(self.experiment, "seed", 0)}

    def fingerprint(self, column: Column, imported: bool = True) -> str | None:
        """Hash of the code behind a column; None where it is not looked at.

        ``imported`` says whether user-defined functions are imported for that.
        """
        name = self.experiment.kind
        return dependencies.fingerprint(name) if is_plugin(name) else source_hash(type(self).__module__)[:16]

    def ready(self) -> Self:
        """The experiment with the files that it names located; ConfigError, before computing, if they are no good."""
        return self

    def check(self) -> None:
        """ConfigError when the experiment cannot be run, or would take absurdly long."""

    # How it is run and stored

    def run(self, session: Session) -> R:
        """Run the experiment, or what is left of it."""
        self.check()
        if session.out is None:
            store = self.store(None, session.remark)
            with self.failures_explained(None):
                self.compute_missing(store, session)
            return self.results(store, session)
        place = session.out
        self.make_way(place, session)
        with folder.locked(place):
            self.before_run(place, session)
            earlier, (written, files) = folder.earlier_sessions(place, session.remark), self.kept(place)
            folder.write_config(place, written)
            store, began = self.store(place, session.remark), time.monotonic()
            with self.failures_explained(place):
                computed = self.compute_missing(store, session)
            results = self.results(store, session)
            wall = {"wall_seconds": round(time.monotonic() - began, 3)}
            content = {**self.manifest(results), "runs_computed": computed, **session.facts(), **wall}
            content |= {**self.provenance(), **self.function_sources(), "finished": now()}
            folder.write_manifest(place, content, earlier, {**self.files(results, place), **files})
            self.finish(results, place, session, store, computed)
        return results

    def make_way(self, place: Path, session: Session) -> None:
        """Set old results aside if asked to; ConfigError if what is there cannot be continued."""
        if session.fresh and (backup := folder.set_aside(place)):
            session.remark(f"the old results are kept in {backup}")
        if not folder.holds_results(place, self.SUMMARY):
            return
        wanted = {"kind": self.experiment.kind, **self.identity()}
        try:
            stored = session.opened(place)
        except ConfigError as error:
            lost = folder.what_is_lost(place, error)
            folder.refuse_difference(
                place, {**wanted, **self.identity_of_header(folder.lost_header(place, lost))}, wanted
            )
            session.remark(f"{lost}; it is written again, and the blocks are kept")
            return
        folder.refuse_difference(place, {**wanted, "kind": stored.experiment.kind}, wanted)
        folder.refuse_difference(place, {**wanted, **stored.identity()}, wanted)
        self.check_continuation(stored, place)

    def load(self, place: Path, session: Session) -> R:
        """The results of a folder, from what is stored there, without computing any."""
        store = self.store(place, session.remark, imported=False)
        return self.results(store, Session(out=place, say=session.say), stored_only=True)

    def store(self, place: Path | None, warn: Any, *, imported: bool = True) -> Any:
        """The blocks of a results folder as far as they fit the experiment and the present code; or in memory."""
        if place is None:
            return MemoryStore()
        marks = {column: self.fingerprint(column, imported) for column in self.all_columns()}
        known = {column: mark for column, mark in marks.items() if mark is not None}
        return FolderStore(place, self.origin(), known, warn)

    def all_columns(self) -> tuple[Column, ...]:
        """The columns of any block."""
        return tuple(dict.fromkeys(column for block in self.blocks() for column in self.columns(block)))

    def compute_missing(self, store: Store, session: Session, *, continued: bool = True) -> int:
        """Compute and store what the store lacks, here or on a cluster; the number of runs that were.

        ``continued`` says whether the runs that the store does not lack are of interest.
        """
        work = runner.missing_work(self, store)
        remark_outdated(store, session.remark)
        if not continued:
            work = replace(work, stored=0)
        if not work.runs:
            return 0
        self.remark_stored(work, session)
        try:
            if session.scheduler is not None:
                with (
                    cluster.cluster(session.scheduler, session.remark) as elsewhere,
                    shown(session.say, work, self.UNIT) as progress,
                ):
                    runner.run_missing(self, store, session.workers, progress, elsewhere)
            else:
                self.prepare(session)
                with shown(session.say, work, self.UNIT, session.workers) as progress:
                    runner.run_missing(self, store, session.workers, progress)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("finished blocks are kept, and the same command continues") from None
        return round(work.runs)

    def remark_stored(self, work: Work, session: Session) -> None:
        """Say how much is stored, if anything, and how much there is left to do."""
        if work.stored:
            whole = round(work.runs) + work.stored
            session.remark(f"{work.stored:,} of {whole:,} {self.UNIT} are stored; {work.runs:,.0f} to go")

    def prepare(self, session: Session) -> None:
        """Whatever has to be there before workers start, such as compiled kernels."""

    def functions(self) -> tuple[str, ...]:
        """The names of the user-defined functions that another process needs."""
        return ()

    def serial_columns(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns among these that hold the GIL: threads would only make them wait for each other."""
        return ()

    def identity(self) -> dict[str, Any]:
        """What may not change when a results folder is continued; a difference is an error that names the key."""
        return self.origin()

    def identity_of_header(self, header: Mapping[str, Any]) -> dict[str, Any]:
        """As much of `identity` as the header of a stored block says, for a folder whose config is lost."""
        return {key: header[key] for key in self.origin() if key in header}

    def check_continuation(self, stored: Kind[Any, Any], place: Path) -> None:
        """ConfigError when results of the experiment ``stored`` cannot be continued, though `identity` is the same."""

    def failures_explained(self, place: Path | None) -> AbstractContextManager[None]:
        """Say in the user's words what went wrong while runs were computed."""
        return nullcontext()

    def kept(self, place: Path) -> tuple[Experiment, dict[str, str]]:
        """The experiment as it is written into its folder, and the files that it needs there, which are written."""
        return self.experiment, {}

    def before_run(self, place: Path, session: Session) -> None:
        """Called when the folder is locked, before anything is computed."""

    def finish(self, results: R, place: Path, session: Session, store: Any, computed: int) -> None:
        """Called at the end of a run, when the manifest is written."""

    def manifest(self, results: R) -> dict[str, Any]:
        """What the manifest says of the experiment, before the facts of the session."""
        return {"name": self.experiment.name, "kind": self.experiment.kind, **self.origin()}

    def provenance(self) -> dict[str, Any]:
        """Versions, machine and code, for the end of the manifest."""
        return provenance()

    def function_sources(self) -> dict[str, Any]:
        """For the manifest: the files and the versions of packages that user-defined functions depend on, if any."""
        described = dependencies.described(functions_of(self.experiment))
        return {"function_sources": described} if described else {}

    def conditions(self) -> dict[str, Any]:
        """What of this machine and code could make bits differ, to be held against a manifest."""
        return folder.conditions({"code": None, "functions": {}, **provenance()})

    def files(self, results: R, place: Path) -> dict[str, str]:
        """Files whose checksums go into the manifest: name -> content."""
        return {}

    # What comes out

    @abstractmethod
    def results(self, store: Any, session: Session, *, stored_only: bool = False) -> R:
        """The numbers of stored blocks; ConfigError with ``stored_only`` where some are missing."""

    @abstractmethod
    def sheets(self, results: R) -> Sequence[Sheet]:
        """The tables: each becomes NAME.csv, NAME.md and NAME.tex, and the shown ones are printed."""

    def figures(self, results: R) -> list[Plot]:
        """The figures; written by ``splitlab report``."""
        return []

    def verdict(self, results: R) -> Verdict:
        """How the results compare with what is known of them."""
        return Verdict(False, True, "not compared: nothing is published on this kind of experiment")

    def write_tables(self, results: R, place: Path, notes: tuple[str, ...] = ()) -> None:
        """Write all tables and the verdict into the results folder; ``notes`` go under the first ones."""
        write_atomically(place / "verdict.txt", self.verdict(results).text + "\n")
        for name, content in self.table_files(results, notes).items():
            write_atomically(place / name, content)

    def table_files(self, results: R, notes: tuple[str, ...] = ()) -> dict[str, str]:
        """The files of all tables, csv, Markdown and LaTeX, and what is in them."""
        files: dict[str, str] = {}
        verdict = self.verdict(results)
        for number, sheet in enumerate(self.sheets(results)):
            below = (*notes, *([verdict.text] if verdict.judged else [])) if number == 0 else ()
            files |= frame_files(sheet.name, sheet.frame, sheet.tables, below)
        return files

    def text(self, results: R, notes: tuple[str, ...] = ()) -> str:
        """For the terminal: the shown tables, notes, and the verdict."""
        tables = [table.as_text() for sheet in self.sheets(results) if sheet.shown for table in sheet.tables]
        return "\n".join([*tables, *(f"{note}\n" for note in notes), self.verdict(results).text])

    def described(self) -> tuple[tuple[str, str], ...]:
        """What was run, for readers: pairs of a name and a value."""
        return (("kind", self.experiment.kind),)

    def findings(self, results: R) -> Sequence[str]:
        """What came out, in sentences that follow from the numbers; the page begins with them."""
        return ()

    def terms(self, results: R) -> tuple[tuple[str, str], ...]:
        """Letters, titles of methods and other words of the tables, with what they mean."""
        return ()

    def further(self, results: R) -> Sequence[Table]:
        """Tables of the page that are no files of their own."""
        return ()

    def section(
        self, results: R, manifest: Mapping[str, Any], plots: Sequence[Plot], *notes: str, title: str
    ) -> page.Section:
        """The part of an HTML page about the experiment: what was run and what came out; the rest can be unfolded."""
        tables = [table for sheet in self.sheets(results) for table in sheet.tables if table.rows]
        verdict, when = self.verdict(results), manifest.get("finished", "")
        finished = [str(when)] if when else []
        finished += [f"splitlab {manifest['splitlab']}"] if "splitlab" in manifest else []
        run = (*self.described(), *((("finished", ", ".join(finished)),) if finished else ()))
        blocks: tuple[page.Block, ...] = (
            page.Facts(run),
            page.Findings(tuple(self.findings(results))),
            *self.page_verdict(verdict),
            page.Folded(
                "What the letters and names mean", (page.Facts(terms),) if (terms := self.terms(results)) else ()
            ),
            *tables[:1],
            *notes,
            *self.differences(verdict),
            page.Folded("Figures", tuple(self.pictures(results, plots))),
            page.Folded("Further tables", (*tables[1:], *self.further(results))),
            page.Source("Config", self.experiment.to_yaml()),
            *([page.facts_of_manifest(manifest)] if manifest else []),
        )
        return page.Section(title, blocks)

    def differences(self, verdict: Verdict) -> Sequence[Table]:
        """The entries that differ from the published ones, for the page."""
        rows = [[Entry(str(entry))] for entry in verdict.differing]
        return [Table("Entries that differ from the published ones", ["entry"], rows, 1)] if rows else []

    def page_verdict(self, verdict: Verdict) -> Sequence[page.Verdict]:
        """The verdict, as the page shows it; none where nobody asked for a comparison."""
        if not verdict.judged and getattr(self.experiment, "published", None) is None:
            return []
        return [page.Verdict(verdict.text, verdict.agrees if verdict.judged else None)]

    def pictures(self, results: R, plots: Sequence[Plot]) -> list[page.Picture]:
        """The figures, as the page shows them."""
        return [page.picture_of(plot) for plot in plots]

    def loaded(self, store: Any, block: Block) -> BlockData:
        """A stored block; ConfigError where some of its columns are not there."""
        data: BlockData = store.load(block)
        if data.missing(block, self.columns(block)):
            raise ConfigError(f"{self.block_label(block)} is not there (yet); `splitlab run` computes it")
        return data

    # What else can be asked

    def plan(self, request: PlanRequest) -> str:
        """What is left to do, how long it takes and how much disk: the text of ``splitlab plan``."""
        return default_plan(self, request)

    def replay(self, place: Path, n: int, k: int, max_count: int | None, run: int, plugins: Plugins) -> str:
        """One run again: its table, and what every splitter makes of it."""
        self._refuse(place, " and has no runs to replay")

    def verifiable(self, place: Path, warn: Any) -> Any:
        """The store that ``splitlab verify`` compares with; ConfigError where nothing can be computed again."""
        return self.store(place, warn)

    def block_label(self, block: Block) -> str:
        """How messages call a block."""
        return f"{block.group.label}, block {block.number}"

    def number_label(self, block: Block, name: str, at: int) -> tuple[str, str]:
        """What a block holds many of, and what number ``at`` of them is called."""
        return "run", f"run {at}"

    def _refuse(self, place: Path | str, why: str) -> NoReturn:
        raise ConfigError(f"{place}: is of kind {self.experiment.kind}{why}")
