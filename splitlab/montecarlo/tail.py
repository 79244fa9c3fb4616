"""How often an excess reaches a threshold: a pass over many tables that keeps counts only.

The maximum over 10,000 tables is an extreme value, and resampling it cannot reach beyond itself. So the probability
of one table to reach a threshold is counted over a million tables or more, of which nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splitlab.montecarlo.config import Cell, Experiment
from splitlab.montecarlo.plan import Block
from splitlab.montecarlo.store import EMPTY, BlockData
from splitlab.montecarlo.study import compute_missing
from splitlab.montecarlo.summary import relative_excess

Thresholds = Mapping[tuple[str, str], tuple[float, ...]]  # by (impurity, splitter), in percent


class CountingStore:
    """A store that keeps, of every block, only how many tables reach the thresholds."""

    def __init__(self, experiment: Experiment, thresholds: Thresholds) -> None:
        self._experiment = experiment
        self._thresholds = thresholds
        self.counts: dict[tuple[str, str, Cell], NDArray[np.int64]] = {
            (impurity, splitter, cell): np.zeros(len(edges), np.int64)
            for (impurity, splitter), edges in thresholds.items()
            for cell, _ in experiment.cells
        }

    def load(self, block: Block) -> BlockData:
        """Nothing is ever there."""
        return EMPTY

    def save(self, block: Block, data: BlockData) -> None:
        """Count, and forget."""
        for impurity in self._experiment.impurities:
            columns = [data.columns[impurity, s] for s in self._experiment.splitters]
            excess = relative_excess(np.stack(columns, axis=1))
            for s, splitter in enumerate(self._experiment.splitters):
                edges = self._thresholds.get((impurity, splitter), ())
                finite = excess[np.isfinite(excess[:, s]), s]
                if edges:
                    reached = [int((finite >= edge).sum()) for edge in edges]
                    self.counts[impurity, splitter, block.cell] += reached


def exceedances(experiment: Experiment, thresholds: Thresholds, jobs: int, say: TextIO | None = None) -> pd.DataFrame:
    """Count the tables of an experiment whose relative excess reaches thresholds, without storing them.

    Returns
    -------
    pandas.DataFrame
        impurity, splitter, n, k, max_count, threshold (percent), runs, reached.
    """
    store = CountingStore(experiment, thresholds)
    compute_missing(experiment, store, jobs, say)
    rows = [
        {
            "impurity": impurity, "splitter": splitter, "n": cell.n, "k": cell.k, "max_count": cell.max_count,
            "threshold": edge, "runs": runs, "reached": int(store.counts[impurity, splitter, cell][e]),
        }
        for (impurity, splitter), edges in thresholds.items()
        for cell, runs in experiment.cells
        for e, edge in enumerate(edges)
    ]  # fmt: skip
    return pd.DataFrame(rows)
