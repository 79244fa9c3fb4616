"""The times of single trees in a results folder, and their mean and standard error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from splitlab.engine.session import Session
from splitlab.files import as_csv, write_atomically

TIMES = "timing.csv"


def mean_and_error(seconds: Sequence[float]) -> tuple[int, float, float]:
    """How many times there are, their mean, and its standard error: NaN for one."""
    error = float(np.std(seconds, ddof=1)) / len(seconds) ** 0.5 if len(seconds) > 1 else np.nan
    return len(seconds), float(np.mean(seconds)), error


def stored_times(folder: Path) -> pd.DataFrame | None:
    """The times that a folder holds, if any."""
    path = folder / TIMES
    return pd.read_csv(path) if path.is_file() else None


def times_in(
    folder: Path,
    again: bool,
    session: Session,
    fits: Callable[[pd.DataFrame], bool],
    take: Callable[[], pd.DataFrame],
) -> pd.DataFrame:
    """The times in the folder, or new ones if there are none or others, or trees were grown (``again``)."""
    kept = stored_times(folder)
    if kept is not None and not again and fits(kept):
        return kept
    session.remark("taking the time of single trees")
    times = take()
    write_atomically(folder / TIMES, as_csv(times))
    return times


def fit(times: pd.DataFrame, columns: list[str], wanted: Sequence[tuple[object, ...]]) -> bool:
    """Whether a frame of times has these columns, and in the first of them these rows."""
    keys = columns[: columns.index("trees") + 1]
    return list(times.columns) == columns and list(times[keys].itertuples(index=False, name=None)) == list(wanted)
