"""The timing pass: how long splitters take for a table, and how that compares with one of them, the *baseline*.

A *column* is a pair (impurity, splitter), an *engine* the code that runs it: ``compiled``, the kernels, or
``python``, the reference implementation of each splitter. Everything happens in one process and one thread.

For each cell and engine the tables are drawn (those of kind splits), cut into *batches*, and every column is run over
the first batch until that takes 20 ms: this compiles the code, and says how often the batches must be gone over
(*loops*), so that the clock's resolution and the cost of a call do not matter. A *repeat* then takes the batches one
by one and lets the columns in turn go over each of them, so that slow spells of the machine hit all alike; repeat r
begins with splitter r mod S, so that no splitter always follows the same one. One repeat gives each column's mean
seconds per table. Only the splitter's work is timed: tables are there before, and nothing is scored after.

The clock is the processor time of the thread, which on an idle machine is the time that passes. Where other programs
take the processor away, or a container's quota does, wall time would measure them: it came out 2 to 3 times too long
in such a container, for some columns and not for others.

Numbers. The ratio is that of the mean times over all repeats, as in the paper. Its interval is Student's t over the
repeats' own ratios: it covers what varies from repeat to repeat, not what is wrong in all of them.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter, thread_time_ns
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from splitlab.engine.blocks import Task, Work, together
from splitlab.engine.progress import Progress
from splitlab.impurity import code
from splitlab.kinds.random_tables.config import ENTRY, Cell
from splitlab.kinds.random_tables.plan import cell_blocks, draw_seconds, most_examples, splitter_seconds
from splitlab.kinds.random_tables.work import draw
from splitlab.kinds.timing.config import Engine, TimingExperiment
from splitlab.plugins import is_plugin, load
from splitlab.published import load_ratios
from splitlab.splitters import get, reference, refuse_hopeless, split_batch
from splitlab.splitters.precompile import compile_all
from splitlab.splitters.registry import LONGEST_TABLE
from splitlab.text import ConfigError, counted, duration

BATCH_SECONDS = 0.02
PYTHON_SECONDS = 1.0  # one splitter of the python engine, per cell and repeat; at least MIN_TABLES tables in any case
MIN_TABLES = 2
PYTHON_FACTOR = 500.0  # the python engine is about so much slower than the compiled one
PROBED = 64  # tables of the first estimate of a column's time
LONGEST_TIMING = 24 * 3600.0  # seconds; beyond this a config is taken for a mistake
HELD_ENTRIES = 50_000_000  # of the tables of one cell: 400 MB
LEVEL = 0.95
WIDEST = 0.1  # a half-width of more than this share of the ratio makes it untrustworthy
ALL = "all"  # in the place of an impurity: the sum over the impurities of the config

Tables = NDArray[np.int64]
Column = tuple[str, str]
Job = Callable[[], object]


def compiled_job(column: Column, tables: Tables) -> Job:
    """One call that runs a kernel over all tables."""
    entry, kind = get(column[1]), code(column[0])
    return lambda: split_batch(entry, tables, kind)


def python_job(column: Column, tables: Tables) -> Job:
    """One call that runs a reference implementation over all tables; they are made lists before the clock runs."""
    if get(column[1]).custom:
        return custom_job(column, tables)
    splitter, impurity, lists = reference.SPLITTERS[column[1]], column[0], tables.tolist()

    def job() -> None:
        for table in lists:
            splitter(table, impurity)

    return job


def custom_job(column: Column, tables: Tables) -> Job:
    """One call that runs a user-defined splitter over all tables, which it has split correctly once.

    It gets copies, as it does in a run: it may change them.
    """
    impurity, splitter = column
    split_batch(get(splitter), tables, code(impurity))
    function = load(splitter)

    def split_all() -> None:
        for table in tables:
            function(table.copy(), impurity)

    return split_all


JOBS: dict[Engine, Callable[[Column, Tables], Job]] = {"compiled": compiled_job, "python": python_job}


@dataclass(frozen=True)
class Prepared:
    """A column ready to be timed: a job per batch, the tables in all of them, and how often to go over each."""

    column: Column
    jobs: tuple[Job, ...]
    tables: int
    loops: int


@dataclass(frozen=True)
class Times:
    """What was measured for one cell and engine.

    Attributes
    ----------
    tables : tuple of int
        Per splitter, the number of tables that it was timed on.
    seconds : float64 (repeats, impurities, splitters)
        Mean seconds per table.
    """

    engine: Engine
    cell: Cell
    tables: tuple[int, ...]
    seconds: NDArray[np.float64]


def refuse_absurd_timing(experiment: TimingExperiment) -> None:
    """ConfigError when a timing, or one table of it, would take absurdly long or its tables too much memory."""
    place = experiment.source or "config"
    try:
        for cell, runs in experiment.cells:
            _refuse_cell(experiment, cell, runs)
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from None
    parts = {part: _work(experiment, *part).seconds for part in _parts(experiment)}
    if sum(parts.values()) > LONGEST_TIMING:
        (engine, cell, _), dearest = max(parts.items(), key=lambda part: part[1])
        raise ConfigError(
            f"{place}: grid: this timing would take about {duration(sum(parts.values()))} on one core (the {engine} "
            f"engine at n = {cell.n}, k = {cell.k} alone {duration(dearest)}); ask for fewer runs, fewer repeats, "
            f"fewer classes or cheaper splitters"
        )


def _refuse_cell(experiment: TimingExperiment, cell: Cell, runs: int) -> None:
    if (entries := runs * cell.n * cell.k) > HELD_ENTRIES:
        rule = f"a timing keeps the tables of a cell in memory, at most {HELD_ENTRIES:,} entries"
        raise ValueError(
            f"grid: {counted(runs, 'run')} of {cell.label} have {entries:,} entries; {rule}; ask for fewer runs"
        )
    for splitter in experiment.splitters:
        refuse_hopeless(get(splitter), cell.n, cell.k, most_examples(cell))
        if "compiled" in experiment.engines and get(splitter).custom:
            raise ValueError(f"splitters: {splitter!r} is a Python function and no kernel; write engines: [python]")
        if "python" in experiment.engines:
            _refuse_plain(splitter, cell)


def _refuse_plain(splitter: str, cell: Cell) -> None:
    instead = "write engines: [compiled]"
    if splitter not in reference.SPLITTERS and not is_plugin(splitter):
        raise ValueError(f"splitters: {splitter!r} has no plain Python version; {instead}")
    seconds = _seconds("python", splitter, cell)
    if seconds > LONGEST_TABLE:
        raise ValueError(
            f"engines: in plain Python {splitter!r} would take about {duration(seconds)} for one table with "
            f"n = {cell.n}, k = {cell.k} (cost {get(splitter).cost}); {instead}, or choose fewer classes"
        )


def _parts(experiment: TimingExperiment) -> Iterator[tuple[Engine, Cell, int]]:
    """Engine, cell, and the most tables to time there."""
    for engine in experiment.engines:
        for cell, runs in experiment.cells:
            yield engine, cell, runs if engine == "compiled" else experiment.python_runs


def _seconds(engine: Engine, splitter: str, cell: Cell) -> float:
    """Rough time of one splitter for one table and one impurity."""
    as_it_is = engine == "compiled" or get(splitter).custom
    return splitter_seconds(cell, splitter) * (1.0 if as_it_is else PYTHON_FACTOR)


def _affordable(engine: Engine, tables: int, seconds: float) -> int:
    """How many of the tables a splitter is timed on, if one takes it ``seconds`` for all impurities together."""
    if engine == "compiled":
        return tables
    return min(tables, max(MIN_TABLES, int(PYTHON_SECONDS / max(seconds, 1e-9))))


def _work(experiment: TimingExperiment, engine: Engine, cell: Cell, tables: int) -> Work:
    """All repeats of one cell and engine, for progress and refusal; calibrating takes as long as one more repeat."""
    impurities, seconds = len(experiment.impurities), tables * draw_seconds(cell)
    for splitter in experiment.splitters:
        one = _seconds(engine, splitter, cell)
        once = max(BATCH_SECONDS, one * _affordable(engine, tables, one * impurities))
        seconds += (experiment.repeats + 1) * impurities * once
    return Work(tables * experiment.repeats, {(cell.label, ("", engine)): seconds})


def whole_work(experiment: TimingExperiment) -> Work:
    """How much a timing is, for the progress bar."""
    return together(_work(experiment, *part) for part in _parts(experiment))


def compile_seconds(experiment: TimingExperiment) -> float:
    """Compile the kernels, or load them from the cache, and say how long that took; 0 without that engine."""
    if "compiled" not in experiment.engines:
        return 0.0
    began = perf_counter()
    compile_all(experiment.splitters)
    return perf_counter() - began


def time_splitters(experiment: TimingExperiment, progress: Progress) -> pd.DataFrame:
    """Run the timing pass; its numbers as `frame_of` gives them. Compile the kernels before."""
    return frame_of(experiment, [_time_cell(experiment, *part, progress) for part in _parts(experiment)])


def _time_cell(experiment: TimingExperiment, engine: Engine, cell: Cell, tables: int, progress: Progress) -> Times:
    work = _work(experiment, engine, cell, tables)
    prepared = prepare(experiment, engine, draw_tables(experiment.seed, cell, tables))
    seconds = np.empty((experiment.repeats, len(experiment.impurities), len(experiment.splitters)))
    for repeat in range(experiment.repeats):
        seconds[repeat] = _one_repeat(experiment, prepared, repeat)
        progress(work.share(1 / experiment.repeats))
    used = tuple(prepared[experiment.impurities[0], splitter].tables for splitter in experiment.splitters)
    return Times(engine, cell, used, seconds)


def draw_tables(seed: int, cell: Cell, count: int) -> Tables:
    """The first tables of a cell, drawn as kind splits draws them."""
    tasks = (Task(block, (), 0, block.size, seed) for block in cell_blocks(cell, count))
    return np.concatenate([draw(task).tables for task in tasks])


def prepare(experiment: TimingExperiment, engine: Engine, tables: Tables) -> dict[Column, Prepared]:
    """Cut the tables into batches on which the fastest column takes 20 ms, and find every column's loops."""
    probe = {column: _probe(engine, column, tables) for column in columns(experiment, 0)}
    batches = min(len(tables), max(1, int(min(probe.values()) * len(tables) / BATCH_SECONDS)))
    prepared = {}
    for impurity, splitter in probe:
        used = _affordable(engine, len(tables), sum(probe[i, splitter] for i in experiment.impurities))
        parts = [np.ascontiguousarray(part) for part in np.array_split(tables[:used], min(batches, used))]
        jobs = tuple(JOBS[engine]((impurity, splitter), part) for part in parts)
        # The smallest batch is the last: what takes it 20 ms does so for all.
        prepared[impurity, splitter] = Prepared((impurity, splitter), jobs, used, enough_loops(jobs[-1]))
    return prepared


def _probe(engine: Engine, column: Column, tables: Tables) -> float:
    """A first estimate of the seconds per table; a first call has kernels compiled and is not timed."""
    some = tables[: PROBED if engine == "compiled" else 1]
    job = JOBS[engine](column, some)
    if engine == "compiled":
        job()
    return elapsed(job, 1) / len(some)


def enough_loops(job: Job) -> int:
    """How often a job must be run to take at least 20 ms."""
    loops = 1
    while (took := elapsed(job, loops)) < BATCH_SECONDS:
        loops = max(loops + 1, math.ceil(loops * min(10.0, 1.1 * BATCH_SECONDS / max(took, 1e-9))))
    return loops


def elapsed(job: Job, loops: int) -> float:
    """Seconds of processor time that a job takes, run ``loops`` times."""
    began = thread_time_ns()
    for _ in range(loops):
        job()
    return (thread_time_ns() - began) * 1e-9


def columns(experiment: TimingExperiment, repeat: int) -> list[Column]:
    """The columns in the order of a repeat: splitters rotated by one each time, the impurities of one together."""
    first = repeat % len(experiment.splitters)
    rotated = experiment.splitters[first:] + experiment.splitters[:first]
    return [(impurity, splitter) for splitter in rotated for impurity in experiment.impurities]


def _one_repeat(experiment: TimingExperiment, prepared: dict[Column, Prepared], repeat: int) -> list[list[float]]:
    """Mean seconds per table, by impurity and splitter."""
    totals = dict.fromkeys(prepared, 0.0)
    with _collector_off():
        for batch in range(max(len(p.jobs) for p in prepared.values())):
            for column in columns(experiment, repeat):
                if batch < len(prepared[column].jobs):
                    totals[column] += elapsed(prepared[column].jobs[batch], prepared[column].loops)
    means = {column: totals[column] / (p.loops * p.tables) for column, p in prepared.items()}
    return [[means[impurity, splitter] for splitter in experiment.splitters] for impurity in experiment.impurities]


@contextmanager
def _collector_off() -> Iterator[None]:
    """No garbage collection meanwhile: it would fall on whoever happens to run."""
    before = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def frame_of(experiment: TimingExperiment, measured: Iterable[Times]) -> pd.DataFrame:
    """The numbers of a timing.

    Returns
    -------
    pandas.DataFrame
        One row per engine, impurity ('all': the times of all impurities added), cell and splitter: tables, repeats,
        microseconds per table and their interval, the ratio to the baseline's time and its interval, the ratio's
        relative spread (standard deviation) over repeats, whether the ratio is trustworthy.
    """
    return pd.DataFrame([row for times in measured for row in _rows(experiment, times)])


def _rows(experiment: TimingExperiment, times: Times) -> Iterator[dict[str, Any]]:
    base = experiment.splitters.index(experiment.baseline)
    by_impurity = {ALL: times.seconds.sum(axis=1)}
    by_impurity |= {impurity: times.seconds[:, i] for i, impurity in enumerate(experiment.impurities)}
    for impurity, seconds in by_impurity.items():
        for s, splitter in enumerate(experiment.splitters):
            yield {
                "engine": times.engine,
                "impurity": impurity,
                "n": times.cell.n,
                "k": times.cell.k,
                "max_count": times.cell.max_count,
                "splitter": splitter,
                "tables": times.tables[s],
                "repeats": experiment.repeats,
                **_numbers(seconds[:, s], seconds[:, base]),
            }


def _numbers(seconds: NDArray[np.float64], base: NDArray[np.float64]) -> dict[str, Any]:
    """Means and intervals from the seconds of every repeat, a splitter's and the baseline's."""
    time, ratio = 1e6 * float(seconds.mean()), float(seconds.mean() / base.mean())
    time_half, ratio_half = half_width(1e6 * seconds), half_width(seconds / base)
    return {
        "microseconds": time,
        "microseconds_low": max(0.0, time - time_half),
        "microseconds_high": time + time_half,
        "ratio": ratio,
        "ratio_low": ratio - ratio_half,
        "ratio_high": ratio + ratio_half,
        "spread": float((seconds / base).std(ddof=1)) / ratio,
        "trustworthy": ratio_half <= WIDEST * ratio,
    }


def half_width(values: NDArray[np.float64]) -> float:
    """Half the width of Student's 95 % interval for the mean of independent values."""
    return float(stats.t.ppf((1.0 + LEVEL) / 2.0, values.size - 1) * values.std(ddof=1) / math.sqrt(values.size))


def with_published(experiment: TimingExperiment, frame: pd.DataFrame) -> pd.DataFrame:
    """The numbers with the published ratios as a last column: of all impurities together, empty elsewhere."""
    if experiment.published is None:
        return frame.assign(published="")
    ratios = load_ratios(experiment.published)
    rows = frame[ENTRY].itertuples(index=False)
    return frame.assign(published=[ratios.get("", *row[1:]) or "" if row[0] == ALL else "" for row in rows])


def check_rows(experiment: TimingExperiment, frame: pd.DataFrame) -> None:
    """ValueError unless the numbers are those of this experiment, as `frame_of` makes them."""
    shape = (experiment.repeats, len(experiment.impurities), len(experiment.splitters))
    none = tuple(0 for _ in experiment.splitters)
    like = frame_of(experiment, [Times(e, cell, none, np.ones(shape)) for e, cell, _ in _parts(experiment)])
    if missing := [name for name in like if name not in frame]:
        raise ValueError(f"lacks the column {missing[0]}")
    key = ["engine", *ENTRY, "repeats"]
    if frame[key].to_numpy().tolist() != like[key].to_numpy().tolist():
        raise ValueError("its rows are not those of the config beside it")
    for name in like.columns.difference(key):
        if frame[name].dtype != like[name].dtype:
            raise ValueError(f"column {name} holds something that is not of the right type")
