"""From stored blocks to numbers: win percentages and relative excess, streamed block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from splitlab.engine.blocks import Block, BlockData, Column
from splitlab.engine.progress import Progress, alike, shown
from splitlab.engine.store import Store
from splitlab.kinds.random_tables import histogram
from splitlab.kinds.random_tables.accumulator import Accumulator, accumulated, relative_excess, wins
from splitlab.kinds.random_tables.config import CELL, ENTRY, Cell, RandomTablesExperiment
from splitlab.kinds.random_tables.paired import PAIRS, TIES, Together, pair_rows, tie_fields
from splitlab.kinds.random_tables.plan import BLOCK_RUNS, cell_blocks, first_run
from splitlab.kinds.splits.sums_store import SumsStore
from splitlab.published import Published, load
from splitlab.statistics import quantile
from splitlab.tables.sampling import candidate_acceptance

QUANTILES = {"median": 0.5, "p95": 0.95, "p99": 0.99}

__all__ = [
    "Accumulator",
    "IncompleteError",
    "Summary",
    "block_wins",
    "cell_columns",
    "cell_fields",
    "excess_fields",
    "relative_excess",
    "summarise",
    "win_fields",
    "wins",
]


class IncompleteError(ValueError):
    """A block is not (or not wholly) stored."""


def cell_columns(
    cell: Cell, runs: int, store: Store, columns: tuple[Column, ...]
) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.float64]]]:
    """For each block of a cell: its first run, totals (runs,) and the columns' impurities (runs, columns)."""
    for block in cell_blocks(cell, runs):
        yield first_run(block), *cut(_loaded(block, store, columns), block, columns)


def _loaded(block: Block, store: Store, columns: tuple[Column, ...]) -> BlockData:
    data = store.load(block)
    if data.missing(block, columns):
        first = first_run(block)
        last = first + block.size - 1
        raise IncompleteError(f"cell {block.group.label} lacks runs {first} to {last} of some splitters")
    return data


def cut(data: BlockData, block: Block, wanted: tuple[Column, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The block's totals (runs,) and the wanted columns side by side, (runs, len(wanted))."""
    runs = min(block.size, BLOCK_RUNS)
    return data.totals[:runs], np.stack([data.columns[c][:runs] for c in wanted], axis=1)


@dataclass(frozen=True)
class Summary:
    """The numbers of an experiment, one row per impurity, cell and splitter."""

    win_percentage: pd.DataFrame = field(default_factory=pd.DataFrame)
    relative_excess: pd.DataFrame = field(default_factory=pd.DataFrame)
    excess_histogram: pd.DataFrame = field(default_factory=pd.DataFrame)
    draws: pd.DataFrame = field(default_factory=pd.DataFrame)
    paired_differences: pd.DataFrame = field(default_factory=pd.DataFrame)


def summarise(experiment: RandomTablesExperiment, store: Store, say: TextIO | None = None) -> Summary:
    """Read all blocks once, in order, for each impurity; say how far that is, if it takes long."""
    whole = alike(len(experiment.impurities) * sum(runs for _, runs in experiment.cells))
    with shown(say, whole, doing="summing up") as progress:
        return _summarised(experiment, store, progress)


def _summarised(experiment: RandomTablesExperiment, store: Store, progress: Progress) -> Summary:
    won: list[dict[str, Any]] = []
    excess: list[dict[str, Any]] = []
    histograms: list[pd.DataFrame] = []
    pairs: list[dict[str, Any]] = []
    published = load(experiment.published) if experiment.published else Published({})
    for impurity in experiment.impurities:
        columns = tuple((impurity, s) for s in experiment.splitters)
        for cell, runs in experiment.cells:
            accumulators, together = _accumulated(cell, runs, store, columns, progress)
            place = {"impurity": impurity, **cell_fields(cell)}
            pairs += [{**place, **row} for row in pair_rows(together, experiment.splitters, runs)]
            for s, (splitter, accumulator) in enumerate(zip(experiment.splitters, accumulators, strict=True)):
                place = {"impurity": impurity, **cell_fields(cell), "splitter": splitter, "runs": runs}
                printed = published.get(impurity, cell.n, cell.k, cell.max_count, splitter)
                won.append(
                    {**place, **win_fields(accumulator), **tie_fields(together, s, runs), "published": printed or ""}
                )
                if len(accumulators) > 1:
                    excess.append({**place, **excess_fields(accumulator)})
                    histograms.append(_histogram_rows(place, accumulator))
    return Summary(
        pd.DataFrame(won)[_WON],
        pd.DataFrame(excess, columns=_EXCESS),
        _joined(histograms),
        _draws(experiment, store),
        pd.DataFrame(pairs, columns=_PAIRS),
    )


def _accumulated(
    cell: Cell, runs: int, store: Store, columns: tuple[Column, ...], progress: Progress
) -> tuple[list[Accumulator], Together]:
    accumulators, together = [Accumulator() for _ in columns], Together(len(columns))
    for block, parts, pairs in _block_sums(cell, runs, store, columns):
        for accumulator, part in zip(accumulators, parts, strict=True):
            accumulator.merge(part)
        together.merge(pairs)
        progress(alike(block.size))
    return accumulators, together


def _block_sums(
    cell: Cell, runs: int, store: Store, columns: tuple[Column, ...]
) -> Iterator[tuple[Block, list[Accumulator], Together]]:
    """For each block of a cell, the sums over its runs, as they are kept or made of kept runs."""
    if isinstance(store, SumsStore):
        for block in cell_blocks(cell, runs):
            _loaded(block, store, columns)
        for block, _, sums in store.parts(cell_blocks(cell, runs)):
            yield block, *sums[columns[0][0]]
        return
    for block in cell_blocks(cell, runs):
        totals, impurities = cut(_loaded(block, store, columns), block, columns)
        yield block, *accumulated(impurities, totals, first_run(block))


def block_wins(experiment: RandomTablesExperiment, store: Store) -> pd.DataFrame:
    """Wins in every block: integers by which another machine's run can be checked block by block.

    A reference that is a splitter, the optimum, is one of the competitors.
    """
    rows = []
    for impurity in experiment.impurities:
        for cell, runs in experiment.cells:
            columns = tuple((impurity, s) for s in experiment.competitors(cell))
            for block, accumulators, _ in _block_sums(cell, runs, store, columns):
                counts = [accumulator.wins for accumulator in accumulators]
                place = {"impurity": impurity, **cell_fields(cell), "block": block.number, "runs": block.size}
                rows.append({**place, **dict(zip(experiment.splitters, counts, strict=False))})
    return pd.DataFrame(rows)


def cell_fields(cell: Cell) -> dict[str, int]:
    """The columns that say which cell it is."""
    return {"n": cell.n, "k": cell.k, "max_count": cell.max_count}


def win_fields(accumulator: Accumulator) -> dict[str, float]:
    """Wins, and their percentage with standard error and Wilson interval."""
    share = accumulator.wins / accumulator.runs
    interval = stats.binomtest(accumulator.wins, accumulator.runs).proportion_ci(0.95, method="wilson")
    return {
        "wins": accumulator.wins,
        "percent": 100.0 * accumulator.wins / accumulator.runs,
        "standard_error": 100.0 * float(np.sqrt(share * (1.0 - share) / accumulator.runs)),
        "wilson_low": 100.0 * float(interval.low),
        "wilson_high": 100.0 * float(interval.high),
        "failures": accumulator.failures,
        "first_failure": accumulator.first_failure,
    }


def excess_fields(accumulator: Accumulator) -> dict[str, float]:
    """Mean with standard error, quantiles and maximum of the excess, and how many tables have none."""
    m = accumulator.bounded
    mean = accumulator.total / m if m else np.nan
    maximum = accumulator.maximum if m else np.nan
    variance = max(0.0, (accumulator.squares - m * mean * mean) / (m - 1)) if m > 1 else np.nan
    return {
        "mean": mean,
        "standard_error": float(np.sqrt(variance / m)) if m else np.nan,
        # The centre of the quantile's bin may lie beyond the largest value in it.
        **{name: min(quantile(histogram.VALUES, accumulator.counts, q), maximum) for name, q in QUANTILES.items()},
        "maximum": maximum,
        "maximum_run": accumulator.maximum_run,
        "unbounded": accumulator.unbounded,
    }


def _histogram_rows(place: dict[str, Any], accumulator: Accumulator) -> pd.DataFrame:
    values, counts = histogram.occupied(accumulator.counts)
    return pd.DataFrame({**{key: place[key] for key in _PLACE}, "excess": values, "tables": counts})


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*_PLACE, "excess", "tables"])


_PLACE = [*ENTRY, "runs"]
_INTERVAL = ["wilson_low", "wilson_high"]
_WON = [*_PLACE, "wins", "percent", "standard_error", "published", *_INTERVAL, "failures", "first_failure", *TIES]
_PAIRS = ["impurity", *CELL, *PAIRS]
_EXCESS = [*_PLACE, *excess_fields(Accumulator())]


def _draws(experiment: RandomTablesExperiment, store: Store) -> pd.DataFrame:
    """Per cell: candidates drawn and rejected, and how many rejections were to be expected."""
    rows = []
    for cell, runs in experiment.cells:
        drawn = int(sum(_drawn(cell, runs, store)))
        expected = runs / candidate_acceptance(cell.n, cell.k, cell.max_count) - runs
        rows.append({**cell_fields(cell), "drawn": drawn, "rejected": drawn - runs, "expected_rejected": expected})
    return pd.DataFrame(rows)


def _drawn(cell: Cell, runs: int, store: Store) -> Iterator[float]:
    """Candidate tables drawn for each block."""
    if isinstance(store, SumsStore):
        yield from (drawn for _, drawn, _ in store.parts(cell_blocks(cell, runs)))
    else:
        yield from (store.load(block).drawn[: block.size].sum() for block in cell_blocks(cell, runs))
