"""How long trees take: a serial pass after the study, in which nothing else is computed.

For each data set, impurity and splitter the trees of the first folds are grown one by one in this process, after one
that does not count. Time is that of the processor, for growing and pruning; it is comparable on one machine only.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import TextIO

import numpy as np
import pandas as pd

from splitlab._jit import Ints
from splitlab.engine.progress import followed
from splitlab.kinds.data_sets.loaded import Facts, Loaded
from splitlab.kinds.data_sets.times import fit, mean_and_error
from splitlab.kinds.trees.config import TreesExperiment
from splitlab.kinds.trees.work import columns_on, growth_of
from splitlab.published.program.folds import folds
from splitlab.trees.growing import Examples, Growth, grow

COLUMNS = ["dataset", "impurity", "splitter", "trees", "mean_seconds", "standard_error"]


def time_trees(experiment: TreesExperiment, sets: Iterable[Loaded], say: TextIO | None = None) -> pd.DataFrame:
    """One row per data set, impurity and splitter, with the mean time of a tree and its standard error."""
    rows: list[tuple[object, ...]] = []
    timed = [(one, column) for one in sets for column in columns_on(experiment, one.facts)]
    for one, (impurity, splitter) in followed(timed, say, "timing trees", "methods"):
        parts = list(itertools.islice(_training(experiment, one), experiment.timed_trees))
        growth = growth_of(experiment, (impurity, splitter))
        _seconds(one, parts[0], growth)
        seconds = [_seconds(one, part, growth) for part in parts]
        rows.append((one.cell.name, impurity, splitter, *mean_and_error(seconds)))
    return pd.DataFrame(rows, columns=COLUMNS)


def fits(times: pd.DataFrame, experiment: TreesExperiment, sets: Iterable[Facts]) -> bool:
    """Whether times taken earlier are those that are asked for."""
    wanted = [
        (one.cell.name, *column, experiment.timed_trees) for one in sets for column in columns_on(experiment, one)
    ]
    return fit(times, COLUMNS, wanted)


def _training(experiment: TreesExperiment, one: Loaded) -> Iterator[Ints]:
    """The training examples of every tree, trial by trial."""
    for seed in experiment.seeds:
        for train, _ in folds(one.data.y, one.data.k, seed, experiment.folds):
            yield train


def _seconds(one: Loaded, rows: Ints, growth: Growth) -> float:
    data = one.data
    examples = Examples(np.asfortranarray(data.x[rows]), data.nominal, data.y[rows], data.k)
    began = time.process_time()
    grow(examples, growth).pruned()
    return time.process_time() - began
