"""How long trees take: a serial pass after the study, in which nothing else is computed.

For each data set and criterion the trees of the first folds are grown one by one in this process, after one that does
not count. Time is that of the processor, and comparable on one machine only.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from splitlab.kinds.criteria.config import CriteriaExperiment
from splitlab.kinds.criteria.sets import columns_on
from splitlab.kinds.criteria.work import Folds, folds_of, grown
from splitlab.kinds.data_sets.loaded import Facts, Loaded
from splitlab.kinds.data_sets.times import fit, mean_and_error

COLUMNS = ["dataset", "criterion", "nominal", "trees", "mean_seconds", "standard_error"]


def time_trees(experiment: CriteriaExperiment, sets: Iterable[Loaded]) -> pd.DataFrame:
    """One row per data set, criterion and treatment of text columns: mean time of a tree, and its standard error."""
    rows: list[tuple[object, ...]] = []
    for one in sets:
        folds = list(itertools.islice(_folds(experiment, one), experiment.timed_trees))
        for column in columns_on(experiment, one.facts):
            seconds = []
            for fold in (folds[0], *folds):
                began = time.process_time()
                grown(one.data, experiment, column, [fold], 0)
                seconds.append(time.process_time() - began)
            rows.append((one.cell.name, *column, *mean_and_error(seconds[1:])))
    return pd.DataFrame(rows, columns=COLUMNS)


def _folds(experiment: CriteriaExperiment, one: Loaded) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The folds of one repetition after the other."""
    for repetition in itertools.count():
        folds: Folds = folds_of(one.data.y, one.data.k, experiment, repetition)
        yield from folds


def fits(times: pd.DataFrame, experiment: CriteriaExperiment, sets: Iterable[Facts]) -> bool:
    """Whether times taken earlier are those that are asked for."""
    return fit(
        times,
        COLUMNS,
        [(one.cell.name, *c, experiment.timed_trees) for one in sets for c in columns_on(experiment, one)],
    )
