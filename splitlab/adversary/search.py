"""The search: many climbers side by side, annealed in rounds.

Each of CLIMBERS tables gets PROPOSALS changed copies per step (moves.py), and all copies are split in one batch, by the
splitter and exactly. A climber goes to the best of its copies when its ratio is no lower, and otherwise with
probability exp(-loss / temperature). Heights are logarithms of ratios; the temperature is a share of the greatest
height so far, falling by a constant factor from step to step of a round. After a round the better half of the climbers
stays; changed copies of some of it and new tables come in place of the others. The best table ever is refined at the
end (refine.py).

Counts are at most ``max_count``, 10**4 unless told otherwise and never above MOST: splitters tell splits apart that
differ by 1e-12 of all examples, and the optimum must stay far above that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from splitlab._jit import Floats, Ints
from splitlab.adversary.certificate import OPTIMUM, Found, certified, ratios
from splitlab.adversary.moves import changed, fitted, repaired, starts
from splitlab.adversary.refine import raised, simplified
from splitlab.impurity import code
from splitlab.splitters import Splitter, get, refuse_hopeless
from splitlab.text import duration

CLIMBERS, PROPOSALS = 48, 8
ROUND = 150  # steps
HOTTEST, COLDEST = 0.1, 0.001  # temperatures, as shares of the greatest height
LARGEST_COUNT, MOST = 10**4, 10**6
LONGEST_STEP, REFINING = 1.0, 2.0  # seconds, by the cost models, so that no clock decides what is found


@dataclass(frozen=True)
class Problem:
    """Which ratio is sought: of which splitter, for which impurity, on which tables."""

    splitter: Splitter
    impurity: str
    n: int
    k: int
    max_count: int

    def ratios(self, tables: Ints) -> Floats:
        """The ratios of a batch of tables, (b,)."""
        return ratios(tables, self.splitter, code(self.impurity))

    def refined(self, table: Ints) -> Found:
        """The certificate of the table, raised and simplified."""
        budget = int(REFINING / self.seconds())
        table = simplified(raised(table, self.ratios, self.max_count, budget), self.ratios, budget)
        return certified(table, self.splitter.name, self.impurity)

    def seconds(self) -> float:
        """What the ratio of one table takes, roughly."""
        return sum(entry.nanoseconds(self.n, self.k) for entry in (self.splitter, get(OPTIMUM))) / 1e9


@dataclass(frozen=True, eq=False)
class Best:
    """The best table after a number of steps, before it is refined."""

    steps: int
    ratio: float
    table: Ints


def posed(splitter: str, impurity: str, n: int, k: int, max_count: int = LARGEST_COUNT) -> Problem:
    """Check what is sought; ValueError when it is not possible."""
    problem = Problem(get(splitter), impurity, n, k, max_count)
    code(impurity)
    for name, value, least in (("n", n, 2), ("k", k, 2), ("max_count", max_count, 1)):
        if value < least:
            raise ValueError(f"{name}: must be at least {least}; got {value}")
    if max_count > MOST:
        raise ValueError(f"max_count: {max_count} is too large; up to {MOST} rounding is sure not to matter")
    for entry in (problem.splitter, get(OPTIMUM)):
        refuse_hopeless(entry, n, k, n * k * max_count)
    if (seconds := CLIMBERS * PROPOSALS * problem.seconds()) > LONGEST_STEP:
        raise ValueError(
            f"n: with n = {n}, k = {k} one step of the search would take about {duration(seconds)}, since each needs "
            f"the optimum of {CLIMBERS * PROPOSALS} tables; choose smaller tables"
        )
    return problem


def search(
    splitter: str,
    impurity: str,
    n: int,
    k: int,
    *,
    seconds: float | None = None,
    steps: int | None = None,
    seed: int = 0,
    max_count: int = LARGEST_COUNT,
    begin: Sequence[Ints] = (),
    watch: Callable[[Best], None] = lambda best: None,
) -> Found:
    """Search for a table on which a splitter's impurity is a large multiple of the optimum.

    Parameters
    ----------
    splitter, impurity : str
        Their names.
    n, k : int
        The table has at most n values and k classes.
    seconds, steps : float, int
        When to stop: the first that is reached. Limited by steps the result depends on the other arguments only;
        limited by time it depends on the machine, too. Compiling does not count.
    seed : int
        Of the random numbers.
    max_count : int
        The largest entry.
    begin : sequence of int64 arrays
        Tables of at most that size that take the place of some random ones at the start.
    watch : callable
        Is told the best so far after every step.

    Returns
    -------
    Found
        The table with the largest ratio that was met, raised and simplified.

    Raises
    ------
    ValueError
        There is no such splitter or impurity; it cannot be searched with tables of this size; or no limit is given.

    Examples
    --------
    >>> search("exact", "gini", 4, 3, steps=2).ratio
    1.0
    """
    problem = posed(splitter, impurity, n, k, max_count)
    check_limits(seconds, steps, seed)
    end = np.inf
    for best in climb(problem, seed, begin):
        watch(best)
        end = time.monotonic() + seconds if best.steps == 0 and seconds is not None else end
        if best.steps == steps or time.monotonic() >= end:
            break
    return problem.refined(best.table)


def check_limits(seconds: float | None, steps: int | None, seed: int) -> None:
    """ValueError unless a search so limited ends."""
    if seconds is None and steps is None:
        raise ValueError("seconds: neither seconds nor steps are given, and the search would never end")
    for name, value in (("seconds", seconds), ("steps", steps), ("seed", seed)):
        if value is not None and not 0 <= value < np.inf:
            raise ValueError(f"{name}: must be at least 0; got {value}")


def climb(problem: Problem, seed: int, begin: Sequence[Ints] = ()) -> Iterator[Best]:
    """The best table after 0, 1, 2, ... steps; ends only with a ratio that nothing exceeds."""
    rng = np.random.default_rng(seed)
    tables = starts(rng, CLIMBERS, problem.n, problem.k, problem.max_count)
    for place, table in zip(range(CLIMBERS), begin, strict=False):
        tables[place] = fitted(table, problem.n, problem.k)
    tables = repaired(tables, rng, problem.max_count)
    heights = np.log(problem.ratios(tables))
    best, top, steps = tables[np.argmax(heights)], heights.max(), 0
    yield Best(steps, float(np.exp(top)), best)
    while top < np.inf:
        share = HOTTEST * (COLDEST / HOTTEST) ** (steps % ROUND / ROUND)
        tables, heights = _step(problem, tables, heights, share * top, rng)
        if heights.max() > top:
            best, top = tables[np.argmax(heights)], heights.max()
        steps += 1
        yield Best(steps, float(np.exp(top)), best)
        if steps % ROUND == 0:
            tables = _renewed(problem, tables, heights, best, rng)
            heights = np.log(problem.ratios(tables))


def _step(problem: Problem, tables: Ints, heights: Floats, temperature: float, rng: Generator) -> tuple[Ints, Floats]:
    """Every climber at the best of its proposals, or where it was."""
    proposals = changed(np.repeat(tables, PROPOSALS, axis=0), rng, problem.max_count)
    reached = np.log(problem.ratios(proposals)).reshape(CLIMBERS, PROPOSALS)
    choice = reached.argmax(axis=1)
    gains = reached.max(axis=1) - heights
    go = gains >= np.log(rng.random(CLIMBERS)) * temperature
    chosen = proposals.reshape(CLIMBERS, PROPOSALS, problem.n, problem.k)[np.arange(CLIMBERS), choice]
    return np.where(go[:, None, None], chosen, tables), np.where(go, reached.max(axis=1), heights)


def _renewed(problem: Problem, tables: Ints, heights: Floats, best: Ints, rng: Generator) -> Ints:
    """The climbers of the next round: the best table, the better half, changed copies of some of it, and new ones."""
    half, quarter = CLIMBERS // 2, CLIMBERS // 4
    better = tables[np.argsort(-heights, kind="stable")[:half]]
    new = starts(rng, CLIMBERS - half - quarter, problem.n, problem.k, problem.max_count)
    return np.concatenate([best[None], better[:-1], changed(better[:quarter], rng, problem.max_count), new])
