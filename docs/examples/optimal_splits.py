"""A kind of experiment in one file: how many different splits of a random table are optimal?

A config names it by module and class, and everything else is as for the kinds of the package::

    name: optima
    kind: optimal_splits:OptimalSplits
    impurities: [gini, entropy]
    grid:
      - {n: [4, 6], k: 3, max_count: [1, 7], runs: 2000}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from splitlab.impurity import code, score
from splitlab.kinds.random_tables.config import RandomTablesExperiment
from splitlab.kinds.random_tables.kind import RandomTables
from splitlab.report.layout import Entry, Sheet, Table


class OptimalSplitsExperiment(RandomTablesExperiment):
    """The config: that of any experiment on random tables, but without splitters."""

    FOREIGN: ClassVar[tuple[str, ...]] = ("splitters",)
    UNWRITTEN: ClassVar[Mapping[str, object]] = {"splitters": ()}
    splitters: tuple[str, ...] = ()

    def columns(self, cell):
        """For each impurity one number of every table."""
        return tuple((impurity, "optima") for impurity in self.impurities)


@dataclass
class OptimalSplitsResults:
    """What ``splitlab.run`` returns: one row per impurity and cell."""

    experiment: OptimalSplitsExperiment
    optima: pd.DataFrame


class OptimalSplits(RandomTables):
    """How many splits are optimal."""

    Config = OptimalSplitsExperiment

    @staticmethod
    def values(tables, column, failures=None):
        """Number of splits of each table (b, n, k) that are within rounding of the best one; shape (b,)."""
        b, n, _ = tables.shape
        # Every split once: the last value is on the left, the bits of a number say which of the others join it.
        masks = (np.arange(2 ** (n - 1) - 1)[:, None] >> np.arange(n) & 1 == 1) | (np.arange(n) == n - 1)
        kind = code(column[0])
        scores = np.stack([score(tables, np.broadcast_to(mask, (b, n)).copy(), kind) for mask in masks], axis=1)
        best = scores.min(axis=1, keepdims=True)
        return (scores <= best * (1 + 1e-9) + 1e-12 * tables.sum(axis=(1, 2))[:, None]).sum(axis=1).astype(float)

    def column_seconds(self, cell, column):
        """Rough core seconds for one table, for progress, slices and plans."""
        return 1e-7 * cell.n * 2.0**cell.n

    def results(self, store, session, *, stored_only=False):
        """Mean and largest number of optimal splits, from the stored blocks."""
        rows = []
        for impurity in self.experiment.impurities:
            for cell, runs in self.experiment.cells:
                blocks = [block for block in self.blocks() if block.group == cell]
                numbers = np.concatenate([self.loaded(store, b).columns[impurity, "optima"][: b.size] for b in blocks])
                place = {"impurity": impurity, "n": cell.n, "k": cell.k, "max_count": cell.max_count, "runs": runs}
                rows.append({**place, "mean": numbers.mean(), "most": int(numbers.max())})
        return OptimalSplitsResults(self.experiment, pd.DataFrame(rows))

    def sheets(self, results):
        """One table, which becomes optima.csv, optima.md and optima.tex and is printed."""
        rows = [[Entry(f"{value:.3f}" if isinstance(value, float) else str(value)) for value in row]
                for row in results.optima.itertuples(index=False)]  # fmt: skip
        table = Table("Optimal splits of a random table", list(results.optima.columns), rows, 5)
        return [Sheet("optima", results.optima, (table,), shown=True)]
