"""The numbers of an experiment of kind trees: cross-validated trees, and their times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splitlab.engine.store import MemoryStore, Store
from splitlab.files import as_csv
from splitlab.kinds.data_sets.loaded import Facts
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.summary import Summary
from splitlab.kinds.trees.config import TreesExperiment
from splitlab.kinds.trees.work import NUMBERS, stored_numbers

TREES = "trees.csv"


class TreesResults(Results):
    """The cross-validated trees of an experiment of kind trees. It has no wins: the other data frames are empty.

    Attributes
    ----------
    experiment : TreesExperiment
        What was run.
    trees : pandas.DataFrame
        One row per data set, impurity, splitter, trial and fold (counted from 1): test examples classified right and
        in all, nodes and depth of the tree, test examples that met an unseen value.
    tree_times : pandas.DataFrame or None
        One row per data set, impurity and splitter: mean seconds of processor time per tree, where they were taken.
    sets : tuple of Facts
        What is known of the data sets.
    authors : pandas.DataFrame or None
        The authors' single trials, where they are to be compared and are at hand.
    """

    experiment: TreesExperiment
    trees: pd.DataFrame

    def __init__(self, experiment: TreesExperiment, trees: pd.DataFrame, sets: tuple[Facts, ...]) -> None:
        super().__init__(experiment, MemoryStore(), Summary())
        self.trees = trees
        self.sets = sets
        self.authors: pd.DataFrame | None = None
        self.tree_times: pd.DataFrame | None = None

    @cached_property
    def trees_csv(self) -> str:
        """`trees` as the text of a csv file."""
        return as_csv(self.trees)

    def impurities(self, n: int, k: int, max_count: int, impurity: str) -> NDArray[np.float64]:
        """Trees keep no impurities: ValueError."""
        raise ValueError(f"{self.experiment.name} is of kind trees, which keeps no impurities; see .trees")

    def runs(self) -> pd.DataFrame:
        """Every tree as a row: the columns of ``trees``, one row per data set, impurity, splitter, trial and fold."""
        return self.trees.copy()

    def _lead(self) -> str:
        return "mean accuracy in percent of each splitter, over all trials"

    def _main(self) -> pd.DataFrame:
        keys = ["impurity", "dataset"]
        mean = self.trials().pivot_table(index=keys, columns="splitter", values="accuracy", sort=False)
        return mean.round(2).rename_axis(columns=None)

    def trials(self) -> pd.DataFrame:
        """One row per data set, impurity, splitter and trial: percent classified right, mean number of nodes."""
        keys = ["dataset", "impurity", "splitter", "trial"]
        sums = self.trees.groupby(keys, sort=False)[["correct", "tested", "nodes"]].sum()
        frame = pd.DataFrame({"accuracy": 100.0 * sums["correct"] / sums["tested"]})
        return frame.assign(nodes=sums["nodes"] / self.experiment.folds).reset_index()


def gathered(experiment: TreesExperiment, sets: Sequence[Facts], store: Store) -> TreesResults:
    """The results of all trials, which the store has to hold."""
    rows: list[dict[str, Any]] = []
    for name, (impurity, splitter), trial, numbers in stored_numbers(experiment, sets, store):
        for fold, values in enumerate(numbers.astype(int).tolist(), 1):
            keys = {"dataset": name, "impurity": impurity, "splitter": splitter, "trial": trial + 1, "fold": fold}
            rows.append(keys | dict(zip(NUMBERS, values, strict=True)))
    return TreesResults(experiment, pd.DataFrame(rows), tuple(sets))
