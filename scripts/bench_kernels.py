"""Times of the kernels: microseconds per table of every splitter, and how they grow with n and k.

Notation: a *subject* is what is timed: (code, splitter, impurity, cell), where code is ``kernel``, or ``plain`` for
HcC's loop without lanes. Its *job* is one call over a batch of tables, its *loops* how often the job must be run to
take ``seconds``, so that the clock's resolution does not matter.

A round times every subject once; a subject's rounds are therefore far apart, and a slow spell of the machine spoils
at most one or two of them. The minimum over the rounds estimates the undisturbed time, the median says how far that
can be trusted. What is to be compared by ratio (HcC's kernel and its plain loop) is neighbours in every round, and the
ratio is the median of the rounds' own. The clock is the processor time of the thread, as in kind timing.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from splitlab.impurity import NAMES, code, lookup_table
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.timing.measure import Job, Tables, compiled_job, draw_tables, elapsed
from splitlab.splitters import get, serving
from splitlab.splitters.kernels.hypercube import hcc_scalar

SEED = 2018
MAX_COUNT = 7
KERNEL, PLAIN = "kernel", "plain"
MOST_TABLES = 1000  # of a batch: a block, which is what a worker hands to a kernel
FEWEST_TABLES = 2
PROBED = 8


@dataclass(frozen=True)
class Subject:
    """What is timed."""

    code: str
    splitter: str
    impurity: str
    cell: Cell


@dataclass(frozen=True)
class Prepared:
    """A subject with its job, the tables in one call of it, and the calls in a round."""

    subject: Subject
    job: Job
    tables: int
    loops: int


@dataclass(frozen=True)
class Growth:
    """A splitter whose time is fitted against ``variable``.

    Attributes
    ----------
    model : str
        The cost that theory gives, in words, and
    cost : callable
        as a function of the variable: what is expected is the exponent that the same fit gives to it.
    base : float
        0 for a power of the variable; else the exponent is per unit of the variable, to this base.
    """

    splitter: str
    variable: str
    values: tuple[int, ...]
    model: str
    cost: Callable[[float], float]
    base: float = 0.0

    def cells(self) -> list[Cell]:
        """n varies at three classes, k at twelve values."""
        return [Cell(v, 3, MAX_COUNT) if self.variable == "n" else Cell(12, v, MAX_COUNT) for v in self.values]

    def fit(self, times: ArrayLike) -> Fit:
        """The exponent of times at the values."""
        return fit(self.values, times, self.base)


@dataclass(frozen=True)
class Fit:
    """An exponent, its standard error (nan for two points), and the factor in front."""

    exponent: float
    standard_error: float
    factor: float


def growths(n: tuple[int, ...], k: tuple[int, ...]) -> list[Growth]:
    """What grows how, at these n and k."""
    log_linear = [Growth(s, "n", n, "n log n", lambda x: x * math.log(x)) for s in ("lca", "pc", "pc_ext")]
    return [
        *log_linear,
        Growth("sliq_ext", "n", n, "n^2", lambda x: x**2.0),
        Growth("hcc", "k", k, "2^k", lambda x: 2.0**x, 2.0),
    ]


def fit(values: ArrayLike, times: ArrayLike, base: float = 0.0) -> Fit:
    """Least squares of log time on log value, or on the value itself for exponents to a ``base``.

    Examples
    --------
    >>> round(fit([1, 2, 4, 8], [3.0, 12.0, 48.0, 192.0]).exponent, 6)
    2.0
    """
    x = np.asarray(values, float)
    x = x * math.log(base) if base else np.log(x)
    y = np.log(np.asarray(times, float))
    away = x - x.mean()
    exponent = float(away @ y / (away @ away))
    rest = y - y.mean() - exponent * away
    degrees = x.size - 2
    error = math.sqrt(float(rest @ rest) / degrees / float(away @ away)) if degrees > 0 else math.nan
    return Fit(exponent, error, math.exp(float(y.mean()) - exponent * float(x.mean())))


DEAREST = 1e7  # nanoseconds for one table: the optimum of a large one would take up the whole benchmark


def every_splitter(cells: Iterable[Cell]) -> Iterator[Subject]:
    """All splitters that take less than DEAREST, and impurities, in these cells; HcC's plain loop after its kernel."""
    for cell in cells:
        for impurity in NAMES:
            for splitter in serving(cell.n, cell.k):
                if get(splitter).nanoseconds(cell.n, cell.k) > DEAREST:
                    continue
                yield Subject(KERNEL, splitter, impurity, cell)
                if splitter == "hcc":
                    yield Subject(PLAIN, splitter, impurity, cell)


def growing(wanted: Iterable[Growth]) -> Iterator[Subject]:
    """The subjects of the growth fits."""
    for growth in wanted:
        for cell in growth.cells():
            for impurity in NAMES:
                yield Subject(KERNEL, growth.splitter, impurity, cell)


def job_of(subject: Subject, tables: Tables) -> Job:
    """One call over all tables; the plain loop makes its lookup table itself, as the kernel does."""
    if subject.code == KERNEL:
        return compiled_job((subject.impurity, subject.splitter), tables)
    kind, masks = code(subject.impurity), np.zeros(tables.shape[:2], np.bool_)
    return lambda: hcc_scalar(tables, kind, masks, lookup_table(tables, kind))


def prepared(subjects: Iterable[Subject], seconds: float) -> list[Prepared]:
    """Draw the tables of every cell once, and find batches and loops. The first calls compile."""
    drawn: dict[Cell, Tables] = {}
    ready = []
    for subject in subjects:
        if subject.cell not in drawn:
            drawn[subject.cell] = draw_tables(SEED, subject.cell, _affordable(subject.cell))
        ready.append(_prepare(subject, drawn[subject.cell], seconds))
    return ready


def _affordable(cell: Cell) -> int:
    """Fewer tables where they are large: at most 16 MB of them."""
    return max(PROBED, min(MOST_TABLES, 2_000_000 // (cell.n * cell.k)))


def _prepare(subject: Subject, tables: Tables, seconds: float) -> Prepared:
    probe = job_of(subject, tables[:PROBED])
    probe()
    each = elapsed(probe, 1) / PROBED
    count = min(len(tables), max(FEWEST_TABLES, math.ceil(seconds / each)))
    job = job_of(subject, np.ascontiguousarray(tables[:count]))
    return Prepared(subject, job, count, loops_for(job, seconds))


def loops_for(job: Job, seconds: float) -> int:
    """How often a job must be run to take ``seconds``; a twentieth more, for calls that happen to be faster."""
    loops = 1
    while (took := elapsed(job, loops)) < seconds:
        loops = max(loops + 1, math.ceil(loops * min(10.0, 1.05 * seconds / max(took, 1e-9))))
    return loops


def measure(subjects: Iterable[Subject], rounds: int, seconds: float) -> dict[Subject, NDArray[np.float64]]:
    """Microseconds per table in every round, each of at least ``seconds`` of work. Every other round goes backwards."""
    ready = prepared(subjects, seconds)
    times = {p.subject: np.empty(rounds) for p in ready}
    gc.collect()
    gc.disable()  # a collection would fall on whoever happens to run
    try:
        for r in range(rounds):
            for p in ready if r % 2 == 0 else reversed(ready):
                times[p.subject][r] = 1e6 * elapsed(p.job, p.loops) / (p.loops * p.tables)
    finally:
        gc.enable()
    return times


Times = Mapping[Subject, NDArray[np.float64]]


def table_frame(times: Times) -> pd.DataFrame:
    """A row per subject: minimum and median of the rounds, in microseconds per table and impurity."""
    return pd.DataFrame([{**_key(s), "rounds": t.size, **_numbers(t)} for s, t in times.items()])


def hcc_frame(times: Times) -> pd.DataFrame:
    """HcC's kernel beside its plain loop, a row per impurity and cell; the ratio is plain / kernel."""
    rows = []
    for subject, plain in times.items():
        if subject.code == PLAIN:
            kernel = times[Subject(KERNEL, subject.splitter, subject.impurity, subject.cell)]
            key = {name: value for name, value in _key(subject).items() if name != "code"}
            pair = {"kernel_microseconds": kernel.min(), "plain_microseconds": plain.min()}
            rows.append({**key, **pair, "ratio": float(np.median(plain / kernel))})
    return pd.DataFrame(rows)


def _key(subject: Subject) -> dict[str, str | int]:
    cell = subject.cell
    return {
        "code": subject.code,
        "splitter": subject.splitter,
        "impurity": subject.impurity,
        "n": cell.n,
        "k": cell.k,
        "max_count": cell.max_count,
    }


def _numbers(times: NDArray[np.float64]) -> dict[str, float]:
    return {"microseconds": float(times.min()), "median": float(np.median(times))}


def exponent_frame(wanted: Sequence[Growth], times: Times) -> pd.DataFrame:
    """A row per growth and impurity: the fitted exponent, its standard error, and the expected one."""
    rows = []
    for growth in wanted:
        for impurity in NAMES:
            subjects = [Subject(KERNEL, growth.splitter, impurity, cell) for cell in growth.cells()]
            found = growth.fit([times[s].min() for s in subjects])
            rows.append(
                {
                    "splitter": growth.splitter,
                    "impurity": impurity,
                    "variable": growth.variable,
                    "first": growth.values[0],
                    "last": growth.values[-1],
                    "points": len(growth.values),
                    "model": growth.model,
                    "expected": growth.fit([growth.cost(v) for v in growth.values]).exponent,
                    "exponent": found.exponent,
                    "standard_error": found.standard_error,
                    "factor": found.factor,
                    "base": growth.base,
                }
            )
    return pd.DataFrame(rows)
