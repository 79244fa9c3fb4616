"""Files: which can be read to their end, atomic writing, checksums, and tables as csv."""

from __future__ import annotations

import errno
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

STREAMS = ("/dev/stdin", "/dev/fd/")  # what a shell has opened for us, with somebody at the other end
NOT_THERE_AS_A_FILE = (errno.ELOOP, errno.ENOTDIR)


def is_regular_file(path: Path) -> bool:
    """Whether something is a file, or an open stream: no folder, pipe, device or loop of links.

    Raises OSError when nothing is there, or it cannot be looked at.
    """
    if str(path).startswith(STREAMS):
        return True
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        if error.errno in NOT_THERE_AS_A_FILE:
            return False
        raise


LARGEST = 1 << 26  # bytes
LINE = re.compile(rb"# sha256 of what follows: ([0-9a-f]{64})\n")
UNFINISHED = ".part"  # ends the names of files that are being written
LARGEST_FILE = 1 << 28  # bytes; a block of a thousand columns is far below


def read_regular_file(path: Path) -> bytes:
    """The content of an ordinary file; ValueError where something else is in its place."""
    if not is_regular_file(path):
        raise ValueError("it is no ordinary file")
    if (size := path.stat().st_size) > LARGEST_FILE:
        raise ValueError(f"it has {size} bytes, more than any block")
    return path.read_bytes()


def read_bounded(path: Path) -> bytes:
    """The content of a file; ConfigError if it is far larger than any that we write, or no ordinary file."""
    if not is_regular_file(path):
        raise ConfigError(f"{path}: is damaged: it is no ordinary file")
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ConfigError(f"{path}: is damaged: it has more than {LARGEST >> 20} MB")
    return content


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write a file so that it is there whole or not at all."""
    try:
        _write_beside(path, content.encode() if isinstance(content, str) else content)
    except IsADirectoryError:
        raise ConfigError(f"{path}: is a folder where a file belongs; remove it") from None
    except (FileExistsError, NotADirectoryError):
        raise ConfigError(f"{path.parent}: is no folder, and {path.name} belongs into one; remove it") from None
    except OSError as error:  # in the user's words: not the temporary file, and not nothing
        if error.errno is None:
            raise
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
    content = read_bounded(path)
    line = LINE.match(content)
    intact = line is not None and checksum(content[line.end() :]).encode() == line[1]
    if not intact:
        raise ConfigError(f"{path}: is damaged, or was edited: it does not match its checksum")


def as_csv(frame: pd.DataFrame) -> str:
    """A frame for programs."""
    return frame.to_csv(index=False, lineterminator="\n")
