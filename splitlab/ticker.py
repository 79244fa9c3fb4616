"""Calls a function now and then while something else is done, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def ticking(tick: Callable[[], None], first: float, then: float) -> Iterator[None]:
    """Call ``tick`` within the block after ``first`` seconds, and every ``then`` seconds from then on."""
    ended = Event()

    def run() -> None:
        pause = first
        while not ended.wait(pause):
            tick()
            pause = then

    thread = Thread(target=run, name="splitlab-ticker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
