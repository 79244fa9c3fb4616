"""What the kinds of experiment on random tables have in common: a block is 1,000 runs of a cell."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splitlab import dependencies, plugins
from splitlab.engine.blocks import Block, BlockData, Column, Task
from splitlab.engine.checksums import check_file
from splitlab.engine.config import Experiment
from splitlab.engine.folder import PUBLISHED, conditions
from splitlab.engine.kind import Kind, R
from splitlab.engine.names import Plugins
from splitlab.engine.session import Session
from splitlab.files import write_atomically
from splitlab.kinds.random_tables import replay
from splitlab.kinds.random_tables.config import CELL, Cell, RandomTablesExperiment
from splitlab.kinds.random_tables.plan import (
    cell_blocks,
    draw_seconds,
    first_run,
    refuse_absurd,
    slices,
    splitter_seconds,
)
from splitlab.kinds.random_tables.work import (
    RunError,
    all_splitters,
    computed,
    impurities_of,
    is_custom,
    start_state,
    timing_provenance,
    user_code,
)
from splitlab.published import Published, load, located, table_names
from splitlab.sources import source_hash
from splitlab.splitters import fingerprint, get, known
from splitlab.splitters.precompile import compile_all
from splitlab.splitters.summaries import glossary
from splitlab.text import ConfigError, counted

LETTERS = ("n, k, max_count", "values (rows), classes (columns), and the largest entry of a table")
SAMPLER = "splitlab.tables.sampling"

T = TypeVar("T", bound=RandomTablesExperiment)


class RandomTables(Kind[T, R]):
    """An experiment on random tables: its groups are cells, its columns impurities times splitters."""

    UNIT = "tables"
    TABLES: ClassVar[tuple[str, ...]] = table_names()  # of published numbers that come with the package

    def blocks(self) -> Iterator[Block]:
        """The blocks of 1,000 runs, cell by cell."""
        for cell, runs in self.experiment.cells:
            yield from cell_blocks(cell, runs)

    def columns(self, block: Block) -> tuple[Column, ...]:
        """Impurities times splitters, and what these are held against."""
        return self.experiment.columns(block.group)

    @classmethod
    def compute(cls, task: Task) -> BlockData:
        """Draw the tables of a task and give the `values` of its columns."""
        return computed(task, cls.values)

    @staticmethod
    def values(
        tables: NDArray[np.int64], column: Column, failures: dict[int, str] | None = None
    ) -> NDArray[np.float64]:
        """The numbers of a column for tables (b, n, k), one for each: impurities of a splitter's splits."""
        return impurities_of(tables, column, failures)

    def tasks(self, block: Block, lacking: tuple[Column, ...]) -> list[Task]:
        """Slices of about a second each."""
        experiment, drawing = self.experiment, block.size * draw_seconds(block.group)
        state = start_state(getattr(experiment, "draws", ""), block)
        keep = getattr(experiment, "on_error", "stop") == "record"
        seconds = drawing + sum(self.seconds(block, column) for column in lacking)
        cuts = slices(block.size, seconds, drawing)
        return [Task(block, lacking, start, stop, experiment.seed, state, keep) for start, stop in cuts]

    def seconds(self, block: Block, column: Column) -> float:
        """Rough core seconds of a splitter for the tables of a block."""
        return block.size * self.column_seconds(block.group, column)

    def shared_seconds(self, block: Block) -> float:
        """Rough core seconds of drawing the tables of a block."""
        return block.size * draw_seconds(block.group)

    def column_seconds(self, cell: Cell, column: Column) -> float:
        """Rough core seconds of a column for one table; a guess for a column that is no splitter's."""
        return splitter_seconds(cell, column[1]) if known(column[1]) else 1e-5

    def run_seconds(self, cell: Cell) -> float:
        """Rough core seconds of one run of a cell, drawing included."""
        return draw_seconds(cell) + sum(self.column_seconds(cell, column) for column in self.experiment.columns(cell))

    def origin(self) -> dict[str, Any]:
        """Seed, kind of draws, and the hash of the sampler."""
        return {**self.draws(), "sampler": source_hash(SAMPLER)[:16]}

    def identity(self) -> dict[str, Any]:
        """Seed and kind of draws: other tables do not belong into the same folder."""
        return self.draws()

    def identity_of_header(self, header: Mapping[str, Any]) -> dict[str, Any]:
        """Seed and kind of draws, as far as a stored block says them."""
        return {key: header[key] for key in self.draws() if key in header}

    def draws(self) -> dict[str, Any]:
        """The seed, and where the tables come from."""
        return {"seed": self.experiment.seed, "draws": getattr(self.experiment, "draws", "independent")}

    def fingerprint(self, column: Column, imported: bool = True) -> str | None:
        """Hash of the code of a column's splitter and of its impurity, if that is user-defined."""
        impurity, splitter = column
        with suppress(ValueError):
            own = self.splitter_fingerprint(splitter, imported)
            if own is None or not plugins.is_plugin(impurity):
                return own
            return own + dependencies.fingerprint(impurity) if imported else None
        return None  # a function that is not to be had any more

    def splitter_fingerprint(self, splitter: str, imported: bool) -> str | None:
        """Hash of the code of a splitter, or of the kind's own column; None for a function that is not imported."""
        if not known(splitter):
            return super().fingerprint(("", splitter), imported)
        return fingerprint(get(splitter)) if imported or not get(splitter).custom else None

    def all_columns(self) -> tuple[Column, ...]:
        """The columns of any cell."""
        return tuple(dict.fromkeys(c for cell, _ in self.experiment.cells for c in self.experiment.columns(cell)))

    def ready(self) -> Self:
        """The experiment with its published numbers located; ConfigError if they are no good."""
        name, source = self.experiment.published, self.experiment.source
        if name is None:
            return self
        if name not in self.TABLES:
            name = located(name, source.parent if source else Path())
            if Path(name).name == PUBLISHED:
                check_file(Path(name).parent, PUBLISHED)
        try:
            self.load_published(name)
        except ValueError as error:
            raise ConfigError(f"{source or 'config'}: {error}") from None
        return type(self)(self.experiment.changed(published=name))

    def load_published(self, name: str) -> Published:
        """Published numbers by their name or file; ValueError if there are none."""
        return load(name)

    def check(self) -> None:
        """ConfigError when a splitter cannot be run, or all would take absurdly long."""
        refuse_absurd(self.experiment, self.run_seconds)

    def prepare(self, session: Session) -> None:
        """Have the kernels compiled, so that workers find them."""
        compile_all(all_splitters(self.experiment))

    def functions(self) -> tuple[str, ...]:
        """The user-defined splitters and impurities."""
        return (*(get(name).kernel_path for name in self.experiment.splitters), *self.experiment.impurities)

    def serial_columns(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns of user-defined splitters, which are Python functions."""
        return tuple(column for column in columns if is_custom(column[1]))

    @contextmanager
    def failures_explained(self, place: Path | None) -> Iterator[None]:
        """Say where a splitter failed and how the table can be seen; ``place`` is None where nothing is kept."""
        kept = "; finished blocks are kept" if place else ""
        try:
            yield
        except BrokenProcessPool:
            names = ", ".join(name for name in self.experiment.splitters if get(name).custom)
            reasons = "it left the program, or took too much memory"
            raise ConfigError(f"{names}: a process that ran it has ended: {reasons}{kept}") from None
        except RunError as error:
            raise ConfigError(f"{error}; {self._how_to_replay(error, place)}{kept}") from error

    def _how_to_replay(self, error: RunError, place: Path | None) -> str:
        cell, source = error.cell, self.experiment.source
        elsewhere = source is not None and source.parent.resolve() != Path.cwd()
        path = f"PYTHONPATH={shlex.quote(str(source.parent))} " if source and elsewhere else ""
        which = f"{shlex.quote(str(place or 'DIR'))} --n {cell.n} --k {cell.k} --max-count {cell.max_count}"
        shown = f"{'' if place else 'with out=DIR, '}`{path}splitlab replay {which} --run {error.run}` shows the table"
        return f"{shown}, and on_error: record keeps such runs as failures"

    def kept(self, place: Path) -> tuple[Experiment, dict[str, str]]:
        """The experiment with the csv file of its published numbers copied into the folder, and that file."""
        published = self.experiment.published
        if published is None or published in self.TABLES:
            return self.experiment, {}
        content = Path(published).read_text(encoding="utf-8-sig")
        write_atomically(place / PUBLISHED, content)
        return self.experiment.changed(published=PUBLISHED), {PUBLISHED: content}

    def conditions(self) -> dict[str, Any]:
        """What of this machine and code could make bits differ."""
        return conditions(timing_provenance(self.experiment))

    def manifest(self, results: R) -> dict[str, Any]:
        """Name, seed, draws, user-defined functions, and how many tables were drawn for each cell."""
        functions = user_code(self.experiment.impurities, self.experiment.splitters)
        draws: pd.DataFrame | None = getattr(results, "draws", None)
        return {
            "name": self.experiment.name,
            **self.draws(),
            **({"functions": functions} if functions else {}),
            **({} if draws is None else {"cells": draws.to_dict(orient="records")}),
        }

    def described(self) -> tuple[tuple[str, str], ...]:
        """The grid, the seed and the impurities."""
        cells = self.experiment.cells
        axes = [f"{axis} = {', '.join(str(v) for v in sorted({getattr(c, axis) for c, _ in cells}))}" for axis in CELL]
        runs = sorted({runs for _, runs in cells})
        number = " to ".join(f"{r:,}" for r in dict.fromkeys((runs[0], runs[-1])))
        grid = f"{counted(len(cells), 'configuration')} of random tables: {'; '.join(axes)}; {number} tables each"
        what = f"kind {self.experiment.kind}, {counted(len(self.experiment.splitters), 'method')}"
        return (("run", f"{what}, seed {self.experiment.seed}"), ("grid", grid))

    def terms(self, results: R) -> tuple[tuple[str, str], ...]:
        """Letters, impurities and methods."""
        return (
            LETTERS,
            (
                "I",
                "impurity of the two sides of a split together, in counts (Gini) or bits (entropy); smaller is better",
            ),
            *glossary(self.experiment.splitters),
        )

    def number_label(self, block: Block, name: str, at: int) -> tuple[str, str]:
        """Runs are counted within their cell, as ``splitlab replay`` counts them."""
        return "run", f"run {first_run(block) + at}"

    def replay(self, place: Path, n: int, k: int, max_count: int | None, run: int, plugins: Plugins) -> str:
        """Draw the table of a run again and show every splitter's split and impurity."""
        return replay.replay(self, place, n, k, max_count, run, plugins)
