"""Progress on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import NoReturn, TextIO, TypeVar

from tqdm import tqdm

from splitlab.engine.blocks import SHARED, Column, Work
from splitlab.engine.estimate import Estimate
from splitlab.text import duration
from splitlab.ticker import ticking

SILENT_SECONDS = 3.0  # what takes no longer says nothing before it is done
LINE_SECONDS = 10.0
BAR_SECONDS = 1.0

T = TypeVar("T")

# Takes note of finished work and, where that is known, of the core seconds that its columns took.
Progress = Callable[..., None]


class Shown:
    """How far some work is, as a bar or in lines.

    Parameters
    ----------
    whole : Work
    stream : text stream
    unit : str
        What runs are called.
    workers : int
        How many there are.
    doing : str
        What is done, where that does not go without saying. Such a step says nothing unless it takes seconds.
    """

    def __init__(self, whole: Work, stream: TextIO, unit: str, workers: int, doing: str) -> None:
        self.whole, self.stream, self.unit, self.doing = whole, stream, unit, doing
        self._estimate, self._runs, self._began = Estimate(whole, workers), 0.0, time.monotonic()
        self._lock = Lock()

    def __call__(self, work: Work, took: Mapping[Column, float] | None = None) -> None:
        """Take note of finished work."""
        with self._lock:
            self._runs += work.runs
            self._estimate.note(work, took, self.elapsed)
            self.advance()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    @property
    def complete(self) -> bool:
        """Whether all runs are done."""
        return round(self._runs) >= self.whole.runs

    @property
    def share(self) -> float:
        """How much of the work is done."""
        return 1.0 if self.complete else self._estimate.share()

    def counts(self) -> str:
        """How far, and how fast."""
        done, all_runs = round(self._runs) + self.whole.stored, round(self.whole.runs) + self.whole.stored
        speed = self._runs / max(self.elapsed, 1e-9)
        return f"{done:,} of {all_runs:,} {self.unit}, {speed:,.{0 if speed >= 10 else 1}f} {self.unit}/s"

    def left(self) -> str:
        """How much longer."""
        seconds = 0.0 if self.complete else self._estimate.seconds_left(self.elapsed)
        return f"about {duration(round(seconds, 0 if seconds >= 1.0 else 1))} left"

    def advance(self) -> None:
        """Called when work was noted."""

    @contextmanager
    def open(self) -> Iterator[None]:
        """Show the progress of what is done in the block."""
        raise NotImplementedError
        yield


class Bar(Shown):
    """A bar that advances by expected time, so that cells of different cost do not mislead it."""

    @contextmanager
    def open(self) -> Iterator[None]:
        """Show the bar, refreshed every second."""
        name = f"{self.doing}: " if self.doing else ""
        self._bar: tqdm[NoReturn] = tqdm(
            total=1.0,
            file=self.stream,
            delay=SILENT_SECONDS if self.doing else 0.0,
            bar_format=name + "{percentage:3.0f}%|{bar}|{postfix} [{elapsed}]",
        )
        with self._bar, ticking(self._tick, BAR_SECONDS, BAR_SECONDS):
            yield

    def _tick(self) -> None:
        with self._lock:
            self.advance()

    def advance(self) -> None:
        """Draw the bar again, unless that was done just now."""
        self._bar.set_postfix_str(f"{self.counts()}, {self.left()}", refresh=False)
        self._bar.update(self.share - self._bar.n)


class Lines(Shown):
    """A line after three seconds, one every ten from then on, and one at the end."""

    _said = False

    @contextmanager
    def open(self) -> Iterator[None]:
        """Say lines."""
        with ticking(self._tick, SILENT_SECONDS, LINE_SECONDS):
            yield
        if self.complete and (self._said or not self.doing):
            self._tell(f"{self.counts()}, took {duration(self.elapsed)}")

    def _tick(self) -> None:
        with self._lock:
            if not self.complete:
                self._said = True
                self._tell(f"{self.counts()}, {duration(self.elapsed)} so far, {self.left()}")

    def _tell(self, text: str) -> None:
        tell(f"{self.doing}: {text}" if self.doing else text, self.stream)


def tell(text: str, stream: TextIO | None) -> None:
    """Print a line if it can be printed: a full disk under a log of the progress ends no run."""
    if stream is not None:
        with suppress(OSError):
            print(text, file=stream, flush=True)


@contextmanager
def shown(
    say: TextIO | None, whole: Work, unit: str = "tables", workers: int = 1, doing: str = ""
) -> Iterator[Progress]:
    """Something that takes note of finished work, and shows it where progress is wanted; see `Shown`."""
    if say is None:
        yield lambda done, took=None: None
        return
    progress = (Bar if say.isatty() else Lines)(whole, say, unit, workers, doing)
    with progress.open():
        yield progress


def alike(number: float) -> Work:
    """The work of a number of things that take as long as each other, as far as is known."""
    return Work(number, {("", SHARED): float(number)})


def followed(items: Sequence[T], say: TextIO | None, doing: str, unit: str) -> Iterator[T]:
    """The items; while they are gone through it is said how far that is, if it takes long."""
    with shown(say, alike(len(items)), unit, doing=doing) as progress:
        for item in items:
            yield item
            progress(alike(1))
