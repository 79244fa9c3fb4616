"""Files: which can be read to their end, atomic writing, checksums, and tables as csv."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from splitlab.text import ConfigError

if TYPE_CHECKING:
    import pandas as pd

STREAMS = ("/dev/stdin", "/dev/fd/")  # opened by the shell, as in `splitlab split <(command)`
LARGEST = 1 << 28  # bytes; a block of a thousand columns is far below
LINE = re.compile(rb"# sha256 of what follows: ([0-9a-f]{64})\n")
UNFINISHED = ".part"  # ends the names of files that are being written


def is_regular_file(path: Path) -> bool:
    """Whether something is a regular file or an open stream, and no folder, pipe or device, which may never end.

    Raises OSError when nothing is there.
    """
    return str(path).startswith(STREAMS) or stat.S_ISREG(path.stat().st_mode)


def read_bounded(path: Path) -> bytes:
    """The content of a file that splitlab wrote; ValueError if it is far larger than any, or no regular file."""
    if not is_regular_file(path):
        raise ValueError("it is no regular file")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"it has more than {LARGEST >> 20} MB")
    return path.read_bytes()


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write a file so that it is there whole or not at all."""
    try:
        _write_beside(path, content.encode() if isinstance(content, str) else content)
    except OSError as error:  # names the temporary file, of which the user knows nothing
        raise type(error)(error.errno, error.strerror, str(path)) from None


def _write_beside(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=UNFINISHED)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def checksum(content: bytes | str) -> str:
    """The checksum of a file's content."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def with_checksum(text: str) -> str:
    """The text under a line with its checksum."""
    return f"# sha256 of what follows: {checksum(text)}\n{text}"


def verify_checksum(path: Path) -> None:
    """ConfigError unless a text that was written with its checksum is what was written."""
    try:
        content = read_bounded(path)
    except ValueError as error:
        raise ConfigError(f"{path}: is damaged: {error}") from None
    line = LINE.match(content)
    intact = line is not None and checksum(content[line.end() :]).encode() == line[1]
    if not intact:
        raise ConfigError(f"{path}: is damaged, or was edited: it does not match its checksum")


def as_csv(frame: pd.DataFrame) -> str:
    """A frame as the text of a csv file, without its index."""
    return frame.to_csv(index=False, lineterminator="\n")
