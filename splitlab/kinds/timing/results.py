"""The numbers of an experiment of kind timing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splitlab.engine.store import MemoryStore
from splitlab.kinds.random_tables.config import CELL
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.summary import Summary
from splitlab.kinds.timing.config import TimingExperiment


class TimingResults(Results):
    """The times of an experiment of kind timing. It has no wins: the other data frames are empty.

    Attributes
    ----------
    experiment : TimingExperiment
        What was run.
    timing : pandas.DataFrame
        One row per engine, impurity ('all' is the sum over the config's impurities), cell and splitter: tables,
        repeats, microseconds per table and ratio to the baseline's time, both with 95 % interval, the ratio's
        spread over repeats, trustworthy, published (as printed, empty if there is none).
    manifest : dict
        Machine, versions and code that were timed, seconds for compiling and altogether.
    """

    experiment: TimingExperiment
    timing: pd.DataFrame

    def __init__(self, experiment: TimingExperiment, timing: pd.DataFrame, manifest: dict[str, Any]) -> None:
        super().__init__(experiment, MemoryStore(), Summary())
        self.timing = timing
        self.manifest = manifest

    def impurities(self, n: int, k: int, max_count: int, impurity: str) -> NDArray[np.float64]:
        """A timing keeps no impurities: ValueError."""
        raise ValueError(f"{self.experiment.name} is of kind timing, which keeps no impurities; run it as kind splits")

    def runs(self) -> pd.DataFrame:
        """A timing keeps no single runs: ValueError."""
        raise ValueError(f"{self.experiment.name} is of kind timing, which keeps no single runs; see .timing")

    def _lead(self) -> str:
        return "microseconds per table, and times relative to the baseline"

    def _main(self) -> pd.DataFrame:
        keys = ["engine", "impurity", *CELL, "splitter"]
        return self.timing[[*keys, "microseconds", "ratio"]].set_index(keys)
