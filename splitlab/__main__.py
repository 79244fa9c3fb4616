"""``splitlab`` and ``python -m splitlab``: the door to the command line, where no signal shows a traceback.

SIGINT and SIGTERM become a KeyboardInterrupt, so that what has begun can be put in order and the user be told how to
continue. While modules are loaded, and when all is done, they end the program at once: extension modules do not
expect an exception in the middle of their import, and some answer it with a panic.
"""

from __future__ import annotations

import _signal as signal  # without what `signal` adds to it, which takes longer to load than all that comes before
import os
import sys
from os import _exit

TYPE_CHECKING = False  # what is loaded here is loaded before an interrupt is dealt with
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def leave(number: int, frame: FrameType | None = None) -> NoReturn:
    """End the program as shells expect it of one that a signal ended."""
    try:
        os.write(2, b"splitlab: interrupted\n")
    finally:
        _exit(128 + number)


def _handle(numbers: list[int], handler: object) -> None:
    for number in numbers:
        signal.signal(number, handler)


HEEDED = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN]
_handle(HEEDED, leave)  # now, and not when everything below has been read


def enter() -> int:
    """Run the command line; its exit code."""
    caught: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        if caught or _loading(frame):
            leave(number)  # a second signal does not wait for what the first one set going
        caught.append(number)
        raise KeyboardInterrupt

    from splitlab.cli import INTERRUPTED, main

    try:
        _handle(HEEDED, interrupt)
        code = main()
        _handle(HEEDED, leave)
    except KeyboardInterrupt:  # before a command has begun, or after
        leave(caught[0])
    if caught and code == INTERRUPTED:
        _flush()
        _exit(128 + caught[0])  # no waiting for what is unfinished, and none of Python's ways to die of an interrupt
    return code


def _loading(frame: FrameType | None) -> bool:
    """Whether a module is being imported."""
    while frame:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _flush() -> None:
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()


if __name__ == "__main__":
    sys.exit(enter())
