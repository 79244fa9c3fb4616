"""Made-up impurities of runs, and what kind splits makes of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splitlab.engine.blocks import BlockData
from splitlab.engine.config import Experiment
from splitlab.engine.store import MemoryStore
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.random_tables.plan import cell_blocks, first_run
from splitlab.kinds.splits.summary import Summary, summarise
from splitlab.study import load_experiment

CELL = Cell(4, 3, 7)


NAMES = ("hcc", "lca", "sliq", "pc")


def experiment_of(runs: int, splitters: Sequence[str]) -> Experiment:
    grid = [{"n": CELL.n, "k": CELL.k, "max_count": CELL.max_count, "runs": runs}]
    return load_experiment({"name": "made", "impurities": "gini", "splitters": list(splitters), "grid": grid})


def store_of(impurities: NDArray[np.float64], totals: NDArray[np.float64], drawn: Sequence[int]) -> MemoryStore:
    """The impurities (runs, splitters), cut into blocks."""
    store = MemoryStore()
    for block, candidates in zip(cell_blocks(CELL, len(impurities)), drawn, strict=True):
        part = slice(first_run(block), first_run(block) + block.size)
        columns = {("gini", name): impurities[part, s] for s, name in enumerate(NAMES[: impurities.shape[1]])}
        each = np.ones(block.size)
        each[0] += candidates - block.size
        store.save(block, BlockData(totals[part], each, columns))
    return store


def summary_of(impurities: NDArray[np.float64], totals: NDArray[np.float64] | None = None) -> Summary:
    runs = len(impurities)
    totals = np.full(runs, 40.0) if totals is None else totals
    drawn = [block.size + 3 for block in cell_blocks(CELL, runs)]
    return summarise(experiment_of(runs, NAMES[: impurities.shape[1]]), store_of(impurities, totals, drawn))


def row(frame: pd.DataFrame, splitter: str) -> pd.Series:
    found = frame[frame["splitter"] == splitter]
    assert len(found) == 1
    return found.iloc[0]


def made_up(runs: int, seed: int, count: int = 4) -> NDArray[np.float64]:
    """Impurities with ties, zeros and a long tail."""
    rng = np.random.default_rng(seed)
    impurities = rng.lognormal(2.0, 0.5, (runs, count))
    ties = rng.random((runs, count)) < 0.2
    impurities = np.where(ties, impurities[:, :1], impurities)
    impurities[rng.random((runs, count)) < 0.01] = 0.0
    return impurities
