"""``splitlab`` and ``python -m splitlab``: the door to the command line, where no signal shows a traceback.

SIGINT and SIGTERM become a KeyboardInterrupt, so that what has begun can be put in order and the user be told how to
continue. While modules are loaded, and when all is done, they end the program at once: extension modules do not
expect an exception in the middle of their import, and some answer it with a panic.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # what is loaded here is loaded before an interrupt is dealt with
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def leave(number: int, frame: FrameType | None = None) -> NoReturn:
    """End the program as shells expect it of one that a signal ended."""
    os._exit(128 + number)


def enter() -> int:
    """Run the command line; its exit code."""
    caught: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        if caught or _loading(frame):
            os.write(2, b"splitlab: interrupted\n")
            leave(number)  # also when somebody does not wait for what the first signal set going
        caught.append(number)
        raise KeyboardInterrupt

    heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    _handle(heeded, leave)
    from splitlab.cli import INTERRUPTED, main

    try:
        _handle(heeded, interrupt)
        code = main()
        _handle(heeded, leave)
    except KeyboardInterrupt:  # before a command has begun, or after
        code = INTERRUPTED
    if caught and code == INTERRUPTED:
        _flush()
        leave(caught[0])  # no waiting for what is unfinished, and none of Python's own ways to die of an interrupt
    return code


def _loading(frame: FrameType | None) -> bool:
    """Whether a module is being imported."""
    while frame:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _handle(numbers: list[signal.Signals], handler: object) -> None:
    for number in numbers:
        signal.signal(number, handler)  # type: ignore[arg-type]


def _flush() -> None:
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()


if __name__ == "__main__":
    sys.exit(enter())
