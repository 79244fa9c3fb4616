"""One run of an experiment again: its table, and what every splitter makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from splitlab.engine.blocks import Block, Task
from splitlab.engine.names import Plugins, lists_of, plugin_problems
from splitlab.impurity import code, score
from splitlab.kinds.random_tables.accumulator import wins
from splitlab.kinds.random_tables.config import Cell, RandomTablesExperiment
from splitlab.kinds.random_tables.plan import BLOCK_RUNS
from splitlab.kinds.random_tables.work import draw, start_state
from splitlab.report.layout import Entry, Table, grid, value_numbers
from splitlab.splitters import get, split_batch
from splitlab.splitters.compiling import compilation_shown
from splitlab.text import ConfigError


@compilation_shown()
def replay(
    kind: Any, folder: Path, n: int, k: int, max_count: int | None, run: int, plugins: Plugins | None = None
) -> str:
    """Draw the table of a run again and show every splitter's split and impurity.

    User-defined functions are imported as ``plugins`` says; the table is shown in any case. ``kind`` is the stored
    experiment, of a kind on random tables. ConfigError when it has no such cell or run, or several that fit.
    """
    experiment = kind.experiment
    cell, runs = _find_cell(experiment, folder, n, k, max_count)
    if not 0 <= run < runs:
        raise ConfigError(f"--run: {run} is out of range; {cell.label} in {folder} has runs 0 to {runs - 1}")
    number, at = divmod(run, BLOCK_RUNS)
    block = Block(cell, number, at + 1)
    draws = getattr(experiment, "draws", "")
    table = draw(Task(block, (), at, at + 1, experiment.seed, start_state(draws, block))).tables
    parts = [f"run {run} of {cell.label} in {folder} (values are numbered from 0)", grid(table[0])]
    had, lacking = _that_can_be_had(experiment, plugins or Plugins())
    if had.splitters:
        parts += [_splits(table, impurity, had.competitors(cell)).as_text() for impurity in had.impurities]
    return "\n".join([*parts, *lacking, _against_stored(type(kind)(had), folder, block, table)])


def _that_can_be_had(experiment: RandomTablesExperiment, plugins: Plugins) -> tuple[RandomTablesExperiment, list[str]]:
    """The experiment without the functions that cannot be imported, and a line about each of those."""
    problems = dict(plugin_problems(lists_of(experiment), plugins))
    splitters = tuple(name for name in experiment.splitters if ("splitters", name) not in problems)
    impurities = tuple(name for name in experiment.impurities if ("impurities", name) not in problems)
    had = experiment.changed(splitters=splitters, impurities=impurities)
    return had, [f"{name} {problem}" for (_, name), problem in problems.items()]


def _against_stored(kind: Any, folder: Path, block: Block, table: np.ndarray) -> str:
    """Whether the folder holds these very impurities; ConfigError when it holds others."""
    if not getattr(kind.experiment, "keep_runs", True):
        return "The folder keeps sums over runs only, so there is nothing to compare these impurities with."
    columns, at = kind.columns(block), block.size - 1
    stored = kind.store(folder, lambda text: None).load(block)
    if not columns or stored.missing(block, columns):
        return "The folder does not hold this run (yet), so there is nothing to compare these impurities with."
    for column in columns:
        if not np.array_equal(kind.values(table, column, {}), stored.columns[column][at : at + 1], equal_nan=True):
            raise ConfigError(
                f"{folder}: holds {stored.columns[column][at]} for {column}, which this table does not give"
            )
    return "These are the impurities that the folder holds."


def _find_cell(
    experiment: RandomTablesExperiment, folder: Path, n: int, k: int, max_count: int | None
) -> tuple[Cell, int]:
    fitting = [(c, r) for c, r in experiment.cells if (c.n, c.k) == (n, k) and max_count in (None, c.max_count)]
    if not fitting:
        labels = ", ".join(cell.label for cell, _ in experiment.cells[:20])
        wanted = f"n = {n}, k = {k}" + ("" if max_count is None else f", max_count {max_count}")
        raise ConfigError(f"{folder}: has no cell with {wanted}; it has {labels}")
    if len(fitting) > 1:
        choices = ", ".join(str(cell.max_count) for cell, _ in fitting)
        raise ConfigError(f"{folder}: has n = {n}, k = {k} with several max_count; add --max-count, one of {choices}")
    return fitting[0]


def _splits(table: np.ndarray, impurity: str, names: tuple[str, ...]) -> Table:
    failures: list[dict[int, str]] = [{} for _ in names]
    masks = [split_batch(get(name), table, code(impurity), f) for name, f in zip(names, failures, strict=True)]
    values = np.array([[score(table, mask, code(impurity))[0] for mask in masks]])
    values[0, [bool(f) for f in failures]] = np.nan
    won = wins(values, table.sum(axis=(1, 2)).astype(float))[0]
    rows = []
    for s, name in enumerate(names):
        texts = ("failed", failures[s][0]) if failures[s] else (f"{values[0, s]:.9f}", value_numbers(masks[s][0]))
        rows.append([Entry(name), Entry(texts[0], bool(won[s])), Entry(texts[1])])
    return Table(f"{impurity}: I(left) + I(right), winners marked", ["splitter", "impurity", "left side"], rows, 1)
