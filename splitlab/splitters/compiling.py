"""Says on stderr what takes long: that kernels are being compiled, wherever that happens, or that a table is split.

The first compilation takes up to a minute; nothing is said where all kernels are in the cache, nor of splits that take
less than three seconds. ``TQDM_DISABLE=1`` in the environment silences it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.event import Event, Listener, install_listener
from tqdm import tqdm

from splitlab.text import duration
from splitlab.ticker import ticking

LABEL = "compiling kernels, which is done once"
LONG_SECONDS = 3.0  # what takes longer is announced
PAUSE = 0.2  # seconds between two looks at what other processes have done


def _bar(label: str = LABEL, **options: Any) -> tqdm[Any]:
    """Progress of one step: rewritten in place, which terminals and notebooks show, at most once a second."""
    return tqdm(desc=label, file=sys.stderr, mininterval=1.0, miniters=0, **options)


class _Shown(Listener):
    """Counts the functions that Numba compiles; there is a bar from the first one on."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None

    def on_start(self, event: Event) -> None:
        """A function begins to be compiled."""
        if self._bar is None:
            self._bar = _bar(unit=" functions", bar_format="{desc}: {n_fmt}{unit} [{elapsed}]")

    def on_end(self, event: Event) -> None:
        """A function is compiled."""
        if self._bar is not None:
            self._bar.update()

    def close(self) -> None:
        """Leave the finished line."""
        if self._bar is not None:
            self._bar.close()


@contextmanager
def compilation_shown() -> Iterator[None]:
    """Show what is compiled in this process within the block, or, as a decorator, within a call."""
    shown = _Shown()
    try:
        with install_listener("numba:compile", shown):
            yield
    finally:
        shown.close()


def wait_shown(kernels: int, left: Callable[[], int], working: Callable[[], bool]) -> None:
    """Wait while other processes are ``working``, and show how many of the ``kernels`` that they compile are done."""
    with _bar(total=kernels, bar_format="{desc}: {n_fmt} of {total_fmt} [{elapsed}]") as bar:
        while working():
            time.sleep(PAUSE)
            bar.update(max(0, kernels - left() - bar.n))


@contextmanager
def long_step_shown(what: str, seconds: float) -> Iterator[None]:
    """Say, before the block begins, what is done in it and about how long that takes, if it takes ``seconds`` or so."""
    if seconds < LONG_SECONDS:
        yield
        return
    pause = 1.0 if sys.stderr is not None and sys.stderr.isatty() else 10.0
    label = f"{what}, about {duration(seconds)}"
    with _bar(label, bar_format="{desc} [{elapsed}]") as bar, ticking(bar.refresh, pause, pause):
        yield
