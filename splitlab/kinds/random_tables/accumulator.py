"""What is counted of tables, splitter by splitter, as running sums.

Win. A splitter wins a table when its impurity is at most best + 1e-9 best + 1e-12 N, best being the least of all
splitters of the experiment: tied splitters all win, and rounding differences between equal splits do not matter.

Where a splitter failed there is NaN: it does not win, and the others are compared without it.

Relative excess. 100 (I(P) / min of the other splitters' I - 1), in percent; 0 where both are 0, or equal but for
rounding (1e-9). Where only the others' least is 0 the excess is unbounded: such tables are counted and left out of
everything else, and so are those on which the splitter, or every other one, failed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from splitlab.kinds.random_tables import histogram
from splitlab.kinds.random_tables.paired import Together

TIE_RELATIVE = 1e-9
TIE_ABSOLUTE = 1e-12  # times N


def wins(impurities: NDArray[np.float64], totals: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which splitters win: impurities (runs, splitters), totals (runs,) -> bool (runs, splitters)."""
    best = np.fmin.reduce(impurities, axis=1, keepdims=True)
    return impurities <= best + TIE_RELATIVE * best + TIE_ABSOLUTE * totals[:, None]


def relative_excess(impurities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Excess over the best other splitter, in percent: (runs, splitters) -> same shape, inf where unbounded."""
    count = impurities.shape[1]
    competitors = np.empty_like(impurities)
    for s in range(count):
        competitors[:, s] = np.fmin.reduce(np.delete(impurities, s, axis=1), axis=1)
    excess = np.where(impurities > 0, np.inf, 0.0)
    np.divide(impurities, competitors, out=excess, where=competitors > 0)
    percent = np.where(competitors > 0, 100.0 * (excess - 1.0), excess)
    percent = np.where(np.abs(percent) <= 100.0 * TIE_RELATIVE, 0.0, percent)
    return np.where(np.isnan(impurities) | np.isnan(competitors), np.nan, percent)


@dataclass
class Accumulator:
    """Running sums over the tables of one cell and impurity, for one splitter."""

    runs: int = 0
    wins: int = 0
    failures: int = 0
    first_failure: int = -1
    bounded: int = 0
    unbounded: int = 0
    total: float = 0.0
    squares: float = 0.0
    maximum: float = -np.inf
    maximum_run: int = -1
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(2 * histogram.BINS + 1, np.int64))

    def add(
        self, won: NDArray[np.bool_], failed: NDArray[np.bool_], excess: NDArray[np.float64], first_run: int
    ) -> None:
        """Take in the tables of one block, (runs,) each; ``first_run`` is the number of the first."""
        self.runs += won.size
        self.wins += int(won.sum())
        if failed.any():
            self.failures += int(failed.sum())
            if self.first_failure < 0:
                self.first_failure = first_run + int(failed.argmax())
        finite = np.isfinite(excess)
        self.unbounded += int(np.isinf(excess).sum())
        values = excess[finite]
        self.bounded += values.size
        self.total += float(values.sum())
        self.squares += float((values * values).sum())
        self.counts += histogram.bin_counts(values)
        if values.size and values.max() > self.maximum:
            self.maximum = float(values.max())
            self.maximum_run = first_run + int(np.flatnonzero(finite)[values.argmax()])

    def merge(self, other: Accumulator) -> None:
        """Take in the sums over later tables; the numbers are those of adding these tables themselves."""
        for name in ("runs", "wins", "failures", "bounded", "unbounded", "total", "squares", "counts"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if self.first_failure < 0:
            self.first_failure = other.first_failure
        if other.maximum > self.maximum:
            self.maximum, self.maximum_run = other.maximum, other.maximum_run


def accumulated(
    impurities: NDArray[np.float64], totals: NDArray[np.float64], first_run: int
) -> tuple[list[Accumulator], Together]:
    """The sums over some tables: impurities (runs, splitters), totals (runs,), and the number of the first run."""
    accumulators, together = [Accumulator() for _ in impurities.T], Together(impurities.shape[1])
    won = wins(impurities, totals)
    excess = relative_excess(impurities) if len(accumulators) > 1 else np.zeros_like(impurities)
    for s, accumulator in enumerate(accumulators):
        accumulator.add(won[:, s], np.isnan(impurities[:, s]), excess[:, s], first_run)
    together.add(won, impurities)
    return accumulators, together
