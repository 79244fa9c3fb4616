"""The numbers of an experiment of kind criteria: cross-validated trees, and means over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splitlab.engine.blocks import Block
from splitlab.engine.store import MemoryStore, Store
from splitlab.kinds.criteria.config import CriteriaExperiment
from splitlab.kinds.criteria.sets import columns_on
from splitlab.kinds.criteria.work import NUMBERS
from splitlab.kinds.data_sets.loaded import Facts
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.summary import Summary

WHOLE = ("correct", "tested", "nodes", "leaves", "depth")
KEYS = ["group", "dataset", "criterion", "nominal"]


class CriteriaResults(Results):
    """The trees of an experiment of kind criteria. It has no wins: the other data frames are empty.

    Attributes
    ----------
    experiment : CriteriaExperiment
        What was run.
    folds : pandas.DataFrame
        One row per data set, criterion, treatment of text columns, repetition and fold (counted from 1): test examples
        classified right and in all, area under the ROC curve, mean recall; nodes, leaves and depth of the tree.
    sets : tuple of Facts
        What is known of the data sets.
    tree_times : pandas.DataFrame or None
        One row per data set, criterion and treatment of text columns: mean seconds of processor time per tree.
    derived : dict of str -> pandas.DataFrame
        What `splitlab.kinds.criteria.tables.frames_of` has computed.
    """

    experiment: CriteriaExperiment
    folds: pd.DataFrame

    def __init__(self, experiment: CriteriaExperiment, folds: pd.DataFrame, sets: tuple[Facts, ...]) -> None:
        super().__init__(experiment, MemoryStore(), Summary())
        self.folds = folds
        self.sets = sets
        self.tree_times: pd.DataFrame | None = None
        self.derived: dict[str, pd.DataFrame] = {}

    def impurities(self, n: int, k: int, max_count: int, impurity: str) -> NDArray[np.float64]:
        """Trees keep no impurities: ValueError."""
        raise ValueError(f"{self.experiment.name} is of kind criteria, which keeps no impurities; see .folds")

    def runs(self) -> pd.DataFrame:
        """Every tree as a row: the columns of ``folds``."""
        return self.folds.copy()

    def _lead(self) -> str:
        return "mean accuracy in percent, or area under the ROC curve times 100, of each criterion"

    def _main(self) -> pd.DataFrame:
        first = self.compared
        return first.pivot_table(index=["group", "dataset"], columns="criterion", values="measure", sort=False).round(2)

    @cached_property
    def measured(self) -> pd.DataFrame:
        """`folds` with the measure of the group, in percent: accuracy, or area under the ROC curve times 100."""
        by_auc = self.folds["group"].map({g.name: g.measure == "auc" for g in self.experiment.groups})
        accuracy = 100.0 * self.folds["correct"] / self.folds["tested"]
        return self.folds.assign(measure=np.where(by_auc, 100.0 * self.folds["auc"], accuracy))

    @cached_property
    def repetitions(self) -> pd.DataFrame:
        """One row per data set, criterion, treatment of text columns and repetition: means over its folds."""
        means = self.measured.groupby([*KEYS, "repetition"], sort=False)
        return means[["measure", "recall", "nodes", "leaves", "depth"]].mean().reset_index()

    @cached_property
    def compared(self) -> pd.DataFrame:
        """The rows of `repetitions` in which text columns are treated in the first way that goes for the data set."""
        first = self.repetitions.groupby("dataset")["nominal"].transform("first")
        return self.repetitions[self.repetitions["nominal"] == first]


def gathered(
    experiment: CriteriaExperiment, sets: Sequence[Facts], blocks_of: Callable[[Facts], list[Block]], store: Store
) -> CriteriaResults:
    """The results of all repetitions; ValueError where the store lacks some."""
    parts = []
    for one in sets:
        columns = columns_on(experiment, one)
        for block in blocks_of(one):
            kept = store.load(block)
            if missing := kept.missing(block, columns):
                raise ValueError(f"repetition {block.number + 1} of {one.cell.name} lacks {' '.join(missing[0])}")
            keys = {"group": experiment.group_of(one.cell.name).name, "dataset": one.cell.name}
            for criterion, way in columns:
                numbers = kept.columns[criterion, way].reshape(experiment.folds, len(NUMBERS))
                more: dict[str, Any] = {"criterion": criterion, "nominal": way, "repetition": block.number + 1}
                frame = pd.DataFrame(numbers, columns=list(NUMBERS))
                parts.append(frame.assign(**keys, **more, fold=np.arange(1, experiment.folds + 1)))
    whole = pd.concat(parts, ignore_index=True)[[*KEYS, "repetition", "fold", *NUMBERS]]
    return CriteriaResults(experiment, whole.astype(dict.fromkeys(WHOLE, np.int64)), tuple(sets))
