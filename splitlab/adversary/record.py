"""What searches found, kept in a folder: one JSON line per search in worst.jsonl, only ever added to."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from splitlab import __version__
from splitlab.adversary.certificate import Found, certified
from splitlab.engine.folder import locked
from splitlab.files import is_regular_file, write_atomically
from splitlab.text import ConfigError

FILE = "worst.jsonl"
PATIENCE = 20.0  # seconds that an addition waits for those of other searches


def check(folder: Path) -> None:
    """OSError or ValueError when nothing can be added there, which is better known before a search."""
    with _alone(folder):
        _text(folder / FILE)


def add(folder: Path, one: Found, search: Mapping[str, Any]) -> None:
    """Add a line: the certificate, and by which search it was found. The file is there whole or as it was."""
    with _alone(folder):
        path = folder / FILE
        before = _text(path)
        separator = "" if before.endswith("\n") or not before else "\n"
        write_atomically(path, f"{before}{separator}{json.dumps({**as_dict(one), **search})}\n")


def _text(path: Path) -> str:
    if not path.exists():
        return ""
    if not is_regular_file(path):
        raise ValueError(f"{path}: is no regular file; choose another --out")
    return path.read_text(encoding="utf-8")


def as_dict(one: Found) -> dict[str, Any]:
    """A certificate for JSON; an unbounded ratio is null."""
    return {
        "splitter": one.splitter,
        "impurity": one.impurity,
        "ratio": one.ratio if math.isfinite(one.ratio) else None,
        "table": one.table.tolist(),
        "left": np.flatnonzero(one.left).tolist(),
        "best_left": np.flatnonzero(one.best_left).tolist(),
        "value": one.value,
        "optimum": one.optimum,
        "version": __version__,
    }


def found(folder: Path) -> list[Found]:
    """What the lines of the folder's file hold, computed again from their tables; ValueError where it is nothing."""
    path = folder / FILE
    return [_read(line, f"{path}:{number}") for number, line in enumerate(_text(path).splitlines(), 1)]


def _read(line: str, place: str) -> Found:
    try:
        row = json.loads(line)
        return certified(row["table"], row["splitter"], row["impurity"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{place}: is not a line that a search wrote ({error})") from None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, waiting a little for it."""
    end = time.monotonic() + PATIENCE
    with ExitStack() as stack:
        while time.monotonic() < end:
            with suppress(ConfigError):
                stack.enter_context(locked(folder))
                break
            time.sleep(0.05)
        else:
            stack.enter_context(locked(folder))
        yield
