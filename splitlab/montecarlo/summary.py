"""From stored blocks to numbers: win percentages and relative excess, streamed block by block.

Win. A splitter wins a table when its impurity is at most best + 1e-9 best + 1e-12 N, best being the least of all
splitters of the experiment: tied splitters all win, and rounding differences between equal splits do not matter.

Where a splitter failed there is NaN: it does not win, and the others are compared without it.

Relative excess. 100 (I(P) / min of the other splitters' I - 1), in percent; 0 where both are 0, or equal but for
rounding (1e-9). Where only the rival's is 0 the excess is unbounded: such tables are counted and left out of
everything else, and so are those on which the splitter, or every other one, failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from splitlab.montecarlo import histogram
from splitlab.montecarlo.config import Cell, Experiment
from splitlab.montecarlo.paired import PAIRS, TIES, Together, pair_rows, tie_fields
from splitlab.montecarlo.plan import BLOCK_RUNS, cell_blocks, rivals
from splitlab.montecarlo.store import Column, Store, cut
from splitlab.published import Published, load
from splitlab.sampling import candidate_acceptance

TIE_RELATIVE = 1e-9
TIE_ABSOLUTE = 1e-12  # times N


class IncompleteError(ValueError):
    """A block is not (or not wholly) stored."""


def wins(impurities: NDArray[np.float64], totals: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which splitters win: impurities (runs, splitters), totals (runs,) -> bool (runs, splitters)."""
    best = np.fmin.reduce(impurities, axis=1, keepdims=True)
    return impurities <= best + TIE_RELATIVE * best + TIE_ABSOLUTE * totals[:, None]


def relative_excess(impurities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Excess over the best other splitter, in percent: (runs, splitters) -> same shape, inf where unbounded."""
    count = impurities.shape[1]
    rivals = np.empty_like(impurities)
    for s in range(count):
        rivals[:, s] = np.fmin.reduce(np.delete(impurities, s, axis=1), axis=1)
    excess = np.where(impurities > 0, np.inf, 0.0)
    np.divide(impurities, rivals, out=excess, where=rivals > 0)
    percent = np.where(rivals > 0, 100.0 * (excess - 1.0), excess)
    percent = np.where(np.abs(percent) <= 100.0 * TIE_RELATIVE, 0.0, percent)
    return np.where(np.isnan(impurities) | np.isnan(rivals), np.nan, percent)


@dataclass
class Tally:
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


def cell_columns(
    cell: Cell, runs: int, store: Store, columns: tuple[Column, ...]
) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.float64]]]:
    """For each block of a cell: its first run, totals (runs,) and the columns' impurities (runs, columns)."""
    for block in cell_blocks(cell, runs):
        data = store.load(block)
        if data.missing(block, columns):
            raise IncompleteError(
                f"cell {cell.label} lacks runs {block.first} to {block.first + block.runs - 1} of some splitters"
            )
        yield block.first, *cut(data, block, columns)


@dataclass(frozen=True)
class Summary:
    """The numbers of an experiment, one row per impurity, cell and splitter."""

    win_percentage: pd.DataFrame
    relative_excess: pd.DataFrame
    excess_histogram: pd.DataFrame
    draws: pd.DataFrame
    paired_differences: pd.DataFrame = field(default_factory=pd.DataFrame)


def summarise(experiment: Experiment, store: Store) -> Summary:
    """Read all blocks once, in order."""
    won: list[dict[str, Any]] = []
    excess: list[dict[str, Any]] = []
    histograms: list[pd.DataFrame] = []
    pairs: list[dict[str, Any]] = []
    published = load(experiment.published) if experiment.published else Published({})
    for impurity in experiment.impurities:
        columns = tuple((impurity, s) for s in experiment.splitters)
        for cell, runs in experiment.cells:
            tallies, together = _tally(cell, runs, store, columns)
            place = {"impurity": impurity, **cell_fields(cell)}
            pairs += [{**place, **row} for row in pair_rows(together, experiment.splitters, runs)]
            for s, (splitter, tally) in enumerate(zip(experiment.splitters, tallies, strict=True)):
                place = {"impurity": impurity, **cell_fields(cell), "splitter": splitter, "runs": runs}
                printed = published.get(impurity, cell.n, cell.k, cell.max_count, splitter)
                won.append({**place, **win_fields(tally), **tie_fields(together, s, runs), "published": printed or ""})
                if len(tallies) > 1:
                    excess.append({**place, **excess_fields(tally)})
                    histograms.append(_histogram_rows(place, tally))
    return Summary(
        pd.DataFrame(won)[_WON],
        pd.DataFrame(excess, columns=_EXCESS),
        _joined(histograms),
        _draws(experiment, store),
        pd.DataFrame(pairs, columns=_PAIRS),
    )


def _tally(cell: Cell, runs: int, store: Store, columns: tuple[Column, ...]) -> tuple[list[Tally], Together]:
    tallies, together = [Tally() for _ in columns], Together(len(columns))
    for first, totals, impurities in cell_columns(cell, runs, store, columns):
        won = wins(impurities, totals)
        excess = relative_excess(impurities) if len(columns) > 1 else np.zeros_like(impurities)
        for s, tally in enumerate(tallies):
            tally.add(won[:, s], np.isnan(impurities[:, s]), excess[:, s], first)
        together.add(won, impurities)
    return tallies, together


def block_wins(experiment: Experiment, store: Store) -> pd.DataFrame:
    """Wins in every block: integers by which another machine's run can be checked block by block.

    A reference that is a splitter, the optimum, is one of the rivals.
    """
    rows = []
    for impurity in experiment.impurities:
        for cell, runs in experiment.cells:
            columns = tuple((impurity, s) for s in rivals(experiment, cell))
            for first, totals, impurities in cell_columns(cell, runs, store, columns):
                counts = wins(impurities, totals).sum(axis=0).tolist()
                place = {"impurity": impurity, **cell_fields(cell), "block": first // BLOCK_RUNS, "runs": totals.size}
                rows.append({**place, **dict(zip(experiment.splitters, counts, strict=False))})
    return pd.DataFrame(rows)


def cell_fields(cell: Cell) -> dict[str, int]:
    """The columns that say which cell it is."""
    return {"n": cell.n, "k": cell.k, "max_count": cell.max_count}


def win_fields(tally: Tally) -> dict[str, float]:
    """Wins, and their percentage with standard error and Wilson interval."""
    share = tally.wins / tally.runs
    interval = stats.binomtest(tally.wins, tally.runs).proportion_ci(0.95, method="wilson")
    return {
        "wins": tally.wins,
        "percent": 100.0 * tally.wins / tally.runs,
        "standard_error": 100.0 * float(np.sqrt(share * (1.0 - share) / tally.runs)),
        "wilson_low": 100.0 * float(interval.low),
        "wilson_high": 100.0 * float(interval.high),
        "failures": tally.failures,
        "first_failure": tally.first_failure,
    }


def excess_fields(tally: Tally) -> dict[str, float]:
    """Mean with standard error, quantiles and maximum of the excess, and how many tables have none."""
    m = tally.bounded
    mean = tally.total / m if m else np.nan
    variance = max(0.0, (tally.squares - m * mean * mean) / (m - 1)) if m > 1 else np.nan
    return {
        "mean": mean,
        "standard_error": float(np.sqrt(variance / m)) if m else np.nan,
        **{name: _quantile(tally, q) for name, q in (("median", 0.5), ("p95", 0.95), ("p99", 0.99))},
        "maximum": tally.maximum if m else np.nan,
        "maximum_run": tally.maximum_run,
        "unbounded": tally.unbounded,
    }


def _quantile(tally: Tally, q: float) -> float:
    """The centre of the quantile's bin, which may lie beyond the largest value in it."""
    return min(histogram.quantile(tally.counts, q), tally.maximum) if tally.bounded else np.nan


def _histogram_rows(place: dict[str, Any], tally: Tally) -> pd.DataFrame:
    values, counts = histogram.occupied(tally.counts)
    return pd.DataFrame({**{key: place[key] for key in _PLACE}, "excess": values, "tables": counts})


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*_PLACE, "excess", "tables"])


_PLACE = ["impurity", "n", "k", "max_count", "splitter", "runs"]
_INTERVAL = ["wilson_low", "wilson_high"]
_WON = [*_PLACE, "wins", "percent", "standard_error", "published", *_INTERVAL, "failures", "first_failure", *TIES]
_PAIRS = ["impurity", "n", "k", "max_count", *PAIRS]
_EXCESS = [*_PLACE, *excess_fields(Tally())]


def _draws(experiment: Experiment, store: Store) -> pd.DataFrame:
    """Per cell: candidates drawn and rejected, and how many rejections were to be expected."""
    rows = []
    for cell, runs in experiment.cells:
        drawn = sum(int(store.load(block).drawn[: block.runs].sum()) for block in cell_blocks(cell, runs))
        expected = runs / candidate_acceptance(cell.n, cell.k, cell.max_count) - runs
        rows.append({**cell_fields(cell), "drawn": drawn, "rejected": drawn - runs, "expected_rejected": expected})
    return pd.DataFrame(rows)
