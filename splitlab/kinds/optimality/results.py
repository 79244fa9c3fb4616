"""How often splitters find the optimum, and how far from it they are: streamed from stored blocks.

Reference. The optimum where it is computed, and else the *best known*: the best split of all splitters of the
experiment. Only the first is what a proven ratio speaks of. A splitter reaches the reference by the rule of a win
(summary.py): I <= reference + 1e-9 reference + 1e-12 N.

Ratio. I / reference, 1 where the reference is reached. Where the reference is 0 and is not reached it is unbounded:
such tables are counted and left out of mean and maximum. The ratio to a lower bound is at least the one to the
optimum; where a bound is 0 and the impurity is not, the mean is infinite.

Nothing is below the optimum, and no bound is above a split: a number that says so is a mistake in a program, and
`ContradictionError` is raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splitlab.engine.store import Store
from splitlab.kinds.optimality.config import LOWER_BOUND, OptimalityExperiment
from splitlab.kinds.random_tables.config import ENTRY, Cell
from splitlab.kinds.splits.summary import Accumulator, cell_columns, cell_fields, excess_fields, win_fields, wins
from splitlab.splitters.registry import proven_ratio

OPTIMUM, BEST_KNOWN = "optimum", "best known"
COLUMNS = (
    *(*ENTRY, "runs", "reference", "reached", "percent", "standard_error"),
    *("wilson_low", "wilson_high", "mean_ratio", "mean_ratio_se", "maximum_ratio", "maximum_run", "unbounded"),
    *("bound_mean_ratio", "proven_ratio", "microseconds"),
)
Floats = NDArray[np.float64]


class ContradictionError(RuntimeError):
    """A split below the optimum, or below a lower bound."""


def optimality_frame(experiment: OptimalityExperiment, store: Store, times: pd.DataFrame) -> pd.DataFrame:
    """The splitters against the optimum, or the best known.

    Parameters
    ----------
    experiment : OptimalityExperiment
    store : Store
        Holds all its blocks.
    times : pandas.DataFrame
        What `splitlab.kinds.optimality.costs.costs` gives.

    Returns
    -------
    pandas.DataFrame
        One row per impurity, cell and splitter ('exact' too, where it is the reference): runs; reference, 'optimum'
        or 'best known'; the number of tables on which it is reached, and their percentage with standard error and
        Wilson interval; mean ratio with standard error, maximum and the run where it happened, and the number of
        unbounded tables; the mean ratio to the lower bound, where that was computed; the ratio that is proven for
        this impurity, empty if none is; microseconds per table, as measured on one machine.

    Raises
    ------
    IncompleteError
        A block is not stored.
    ContradictionError
        A split is below the optimum, or below its lower bound.
    """
    rows = [
        row
        for impurity in experiment.impurities
        for cell, runs in experiment.cells
        for row in _rows(experiment, store, impurity, cell, runs)
    ]
    return pd.DataFrame(rows).merge(times[[*ENTRY, "microseconds"]], on=ENTRY, how="left")[list(COLUMNS)]


def _rows(
    experiment: OptimalityExperiment, store: Store, impurity: str, cell: Cell, runs: int
) -> Iterator[dict[str, Any]]:
    """One row per splitter of a cell."""
    names, solved = experiment.competitors(cell), experiment.has_optimum(cell)
    columns = names if solved else (*names, LOWER_BOUND)  # the last is below all
    accumulators, over_bound = [Accumulator() for _ in names], [Accumulator() for _ in names]
    for first, totals, numbers in cell_columns(cell, runs, store, tuple((impurity, c) for c in columns)):
        impurities, lowest = numbers[:, : len(names)], numbers[:, -1]
        refuse_contradiction(impurities, lowest, totals, columns, f"{impurity}, {cell.label}", first)
        reached = wins(impurities, totals)
        to_reference = excess(impurities, impurities.min(axis=1), reached)
        to_lowest = excess(impurities, lowest, impurities <= lowest[:, None])
        for s in range(len(names)):
            failed = np.isnan(impurities[:, s])  # never: an experiment of this kind stops at a failure
            accumulators[s].add(reached[:, s], failed, to_reference[:, s], first)
            over_bound[s].add(reached[:, s], failed, to_lowest[:, s], first)
    for splitter, accumulator, bounded in zip(names, accumulators, over_bound, strict=True):
        yield {
            "impurity": impurity,
            **cell_fields(cell),
            "splitter": splitter,
            "runs": runs,
            "reference": OPTIMUM if solved else BEST_KNOWN,
            **ratio_fields(accumulator),
            "bound_mean_ratio": np.nan if solved else _mean_or_infinite(bounded),
            "proven_ratio": proven_ratio(splitter, impurity, cell.k),
        }


def refuse_contradiction(
    impurities: Floats, lowest: Floats, totals: Floats, names: tuple[str, ...], place: str, first: int
) -> None:
    """ContradictionError when an impurity (runs, splitters) is below ``lowest`` (runs,), the last of ``names``."""
    best = impurities.min(axis=1)
    held = wins(np.column_stack([best, lowest]), totals)[:, 1]
    if not held.all():
        at = int(np.flatnonzero(~held)[0])
        splitter = names[int(impurities[at].argmin())]
        raise ContradictionError(
            f"{place}, run {first + at}: the split of {splitter!r} has impurity {best[at]:.17g}, below {names[-1]!r}, "
            f"{lowest[at]:.17g}; one of the two is wrong"
        )


def excess(impurities: Floats, reference: Floats, reached: NDArray[np.bool_]) -> Floats:
    """Ratio - 1 of impurities (runs, splitters) to a reference (runs,): 0 where it is reached, inf if unbounded."""
    below = reference[:, None]
    ratios = np.full_like(impurities, np.inf)
    np.divide(impurities, below, out=ratios, where=below > 0)
    return np.where(reached, 0.0, ratios - 1.0)


def ratio_fields(accumulator: Accumulator) -> dict[str, float]:
    """The numbers of a splitter; ``accumulator`` has taken in ratios less 1."""
    won, beyond = win_fields(accumulator), excess_fields(accumulator)
    return {
        "reached": won.pop("wins"),
        **won,
        "mean_ratio": 1.0 + beyond["mean"],
        "mean_ratio_se": beyond["standard_error"],
        "maximum_ratio": 1.0 + beyond["maximum"],
        "maximum_run": beyond["maximum_run"],
        "unbounded": beyond["unbounded"],
    }


def _mean_or_infinite(accumulator: Accumulator) -> float:
    return 1.0 + accumulator.total / accumulator.runs if accumulator.bounded == accumulator.runs else np.inf
