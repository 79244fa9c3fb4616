"""Says on stderr that kernels are being compiled, wherever that happens: the first time it takes up to a minute.

Nothing is said where all of them are in the cache. ``TQDM_DISABLE=1`` in the environment silences it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.event import Event, Listener, install_listener
from tqdm import tqdm

LABEL = "compiling kernels, which is done once"
PAUSE = 0.2  # seconds between two looks at what other processes have done


def _bar(**options: Any) -> tqdm[Any]:
    """Progress of one compilation: rewritten in place, which terminals and notebooks show, at most once a second."""
    return tqdm(desc=LABEL, file=sys.stderr, mininterval=1.0, miniters=0, **options)


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
