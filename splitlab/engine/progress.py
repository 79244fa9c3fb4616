"""Progress on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn, TextIO

from tqdm import tqdm

from splitlab.engine.blocks import Work

LINE_SECONDS = 10.0


class Bar:
    """A bar that advances by expected time, so that cells of different cost do not mislead it."""

    def __init__(self, whole: Work, stream: TextIO) -> None:
        self._whole, self._runs, self._began = whole, 0, time.monotonic()
        self._bar: tqdm[NoReturn] = tqdm(
            total=whole.seconds,
            file=stream,
            bar_format="{percentage:3.0f}%|{bar}|{postfix} [{elapsed}, {remaining} left]",
        )

    def __call__(self, work: Work) -> None:
        """Take note of finished work."""
        self._runs += work.runs
        text = rate(self._runs, self._whole.runs, time.monotonic() - self._began)
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(work.seconds)

    def close(self) -> None:
        """Leave the finished bar on the terminal."""
        self._bar.close()


class Lines:
    """A line every ten seconds, and one at the end."""

    def __init__(self, whole: Work, stream: TextIO) -> None:
        self._whole, self._stream, self._runs, self._seconds = whole, stream, 0, 0.0
        self._began = self._said = time.monotonic()

    def __call__(self, work: Work) -> None:
        """Take note of finished work."""
        self._runs += work.runs
        self._seconds += work.seconds
        now = time.monotonic()
        if self._runs == self._whole.runs or now - self._said >= LINE_SECONDS:
            self._said = now
            elapsed = now - self._began
            left = elapsed * (self._whole.seconds / self._seconds - 1.0)
            text = rate(self._runs, self._whole.runs, elapsed)
            tell(f"{text}, {elapsed:.0f} s so far, about {max(0.0, left):.0f} s left", self._stream)

    def close(self) -> None:
        """Nothing to do: every line is complete."""


def tell(text: str, stream: TextIO | None) -> None:
    """Print a line if it can be printed: a full disk under a log of the progress ends no run."""
    if stream is not None:
        with suppress(OSError):
            print(text, file=stream, flush=True)


def rate(runs: int, whole: int, elapsed: float) -> str:
    """How far, and how fast."""
    return f"{runs:,} of {whole:,} tables, {runs / max(elapsed, 1e-9):,.0f} tables/s"


def reporter(whole: Work, stream: TextIO) -> Bar | Lines:
    """The kind of progress that suits the stream."""
    return Bar(whole, stream) if stream.isatty() else Lines(whole, stream)


@contextmanager
def shown(say: TextIO | None, work: Work) -> Iterator[Callable[[Work], None]]:
    """Something that takes note of finished work, and shows it where progress is wanted."""
    if say is None:
        yield lambda done: None
        return
    bar = reporter(work, say)
    try:
        yield bar
    finally:
        bar.close()
