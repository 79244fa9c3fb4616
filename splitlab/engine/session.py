"""How an experiment is run, as against what is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TextIO

import joblib
import numpy as np

from splitlab.engine.progress import tell
from splitlab.text import ConfigError


def _unknown(place: Path) -> NoReturn:
    raise ConfigError(f"{place}: holds results, and the session does not say how to read them")


@dataclass
class Session:
    """How an experiment is run.

    Attributes
    ----------
    out : Path or None
        The results folder; None keeps everything in memory.
    jobs : int or None
        Worker threads; None: one for every processor.
    scheduler : str or None
        Address of a Dask scheduler, whose workers then do the work.
    fresh : bool
        Keep an existing folder as a backup and start again.
    say : text stream or None
        Gets progress and remarks.
    opened : callable
        Gives the stored experiment of a results folder, as an instance of its kind.
    """

    out: Path | None = None
    jobs: int | None = None
    scheduler: str | None = None
    fresh: bool = False
    say: TextIO | None = None
    opened: Callable[[Path], Any] = _unknown

    @property
    def workers(self) -> int:
        """How many workers there are; ConfigError or TypeError where ``jobs`` is no good."""
        return check_jobs(self.jobs)

    def remark(self, text: str) -> None:
        """Say a line, if there is a stream to say it to."""
        tell(text, self.say)

    def facts(self) -> dict[str, object]:
        """Where the work is done, for the manifest."""
        return {"jobs": self.workers} if self.scheduler is None else {"scheduler": self.scheduler}


def check_jobs(jobs: int | None) -> int:
    """The number of workers; all processors that this process may use by default."""
    if jobs is None:
        return joblib.cpu_count()
    if isinstance(jobs, bool) or not isinstance(jobs, int | np.integer):
        raise TypeError(f"jobs: {jobs!r} is not a whole number; write how many workers there shall be, at least 1")
    if not 1 <= jobs <= 1024:
        raise ConfigError(f"jobs: {jobs} is out of range; write a whole number from 1 to 1024")
    return jobs
