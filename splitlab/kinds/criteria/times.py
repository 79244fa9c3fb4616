"""How long trees take: a serial pass after the study, in which nothing else is computed.

For each data set and criterion the trees of the first folds are grown one by one in this process, after one that does
not count. Time is that of the processor, and comparable on one machine only.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from splitlab.engine.session import Session
from splitlab.files import as_csv, write_atomically
from splitlab.kinds.criteria.config import CriteriaExperiment
from splitlab.kinds.criteria.sets import columns_on
from splitlab.kinds.criteria.work import Folds, folds_of, grown
from splitlab.kinds.data_sets.loaded import Loaded

TIMES = "timing.csv"
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
            counted = seconds[1:]
            error = float(np.std(counted, ddof=1)) / len(counted) ** 0.5 if len(counted) > 1 else np.nan
            rows.append((one.cell.name, *column, len(counted), float(np.mean(counted)), error))
    return pd.DataFrame(rows, columns=COLUMNS)


def _folds(experiment: CriteriaExperiment, one: Loaded) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The folds of one repetition after the other."""
    for repetition in itertools.count():
        folds: Folds = folds_of(one.data.y, one.data.k, experiment, repetition)
        yield from folds


def times_in(
    experiment: CriteriaExperiment, sets: list[Loaded], folder: Path, again: bool, session: Session
) -> pd.DataFrame:
    """The times in the folder, or new ones if there are none or others, or trees were grown."""
    wanted = [(one.cell.name, *c, experiment.timed_trees) for one in sets for c in columns_on(experiment, one.facts)]
    kept = stored_times(folder)
    if kept is not None and not again and list(kept[COLUMNS[:4]].itertuples(index=False, name=None)) == wanted:
        return kept
    session.remark("taking the time of single trees")
    times = time_trees(experiment, sets)
    write_atomically(folder / TIMES, as_csv(times))
    return times


def stored_times(folder: Path) -> pd.DataFrame | None:
    """The times that a folder holds, if any."""
    path = folder / TIMES
    return pd.read_csv(path) if path.is_file() else None
