"""Where blocks are kept: in memory, or as one checked file per block.

A block file is one line of JSON (the header) and then the numbers, little-endian float64: the two arrays that all
columns share, then one column after the other. The header says what the numbers are, what they were computed with, and
their SHA-256, so that a damaged or foreign file is noticed. Files are written beside their place and then renamed into
it: a reader sees a whole block or none.

Blocks of another origin are computed again, and so are columns of another version of their code.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from splitlab.engine.blocks import EMPTY, Block, BlockData, Column
from splitlab.engine.folder_layout import BLOCKS, group_folders, prepare_group
from splitlab.files import UNFINISHED, read_regular_file, write_atomically
from splitlab.plugins import is_plugin
from splitlab.text import shorten

FORMAT = 1


class Store(Protocol):
    """What the runner writes to and the summary reads from."""

    def load(self, block: Block) -> BlockData:
        """The stored part of a block; ``EMPTY`` if there is none."""
        ...

    def save(self, block: Block, data: BlockData) -> None:
        """Keep ``data`` as the block's content."""
        ...


class MemoryStore:
    """Blocks in a dictionary."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[Any, int], BlockData] = {}

    def load(self, block: Block) -> BlockData:
        """The stored part of a block."""
        return self._blocks.get((block.group, block.number), EMPTY)

    def save(self, block: Block, data: BlockData) -> None:
        """Keep ``data``."""
        self._blocks[block.group, block.number] = data


class FolderStore:
    """Blocks as files ``FOLDER/blocks/GROUP/NUMBER.block``.

    Parameters
    ----------
    folder : Path
        The results folder.
    origin : dict
        What decides the numbers of every block besides the code of its columns, such as a seed.
    fingerprints : dict of Column -> str
        Hash of the code behind each column. Columns of other code count as missing.
    warn : callable
        Is told of damaged files, which count as missing.
    """

    def __init__(
        self,
        folder: Path,
        origin: Mapping[str, Any],
        fingerprints: Mapping[Column, str],
        warn: Any = lambda text: None,
    ) -> None:
        self.folder = folder
        self.origin = dict(origin)
        self.fingerprints = dict(fingerprints)
        self.warn = warn
        self._named: set[Path] = set()

    def path(self, block: Block) -> Path:
        """The file of a block."""
        return self.folder / BLOCKS / block.group.label / f"{block.number:06d}.block"

    def holds(self, block: Block) -> bool:
        """Whether something is kept of a block; its file is not read."""
        return os.path.lexists(self.path(block))

    def load(self, block: Block) -> BlockData:
        """The stored part of a block; a damaged or foreign file is named and counts as missing."""
        path = self.path(block)
        try:
            return self._decode(read_regular_file(path), block)
        except FileNotFoundError:
            return EMPTY
        except (ValueError, KeyError, TypeError, IndexError) as error:
            if path not in self._named:
                self.warn(f"{path}: not usable ({error}); it counts as missing")
            self._named.add(path)
            return EMPTY

    def save(self, block: Block, data: BlockData) -> None:
        """Write the block's file atomically."""
        prepare_group(self.folder, block.group.label)
        write_atomically(self.path(block), self._encode(block, data))

    def compared(self, block: Block, data: BlockData) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
        """What of a block is held against numbers computed again: its name, as it is stored, as it was computed."""
        stored = self.load(block)
        yield "number of examples", stored.totals, data.totals
        yield "tables drawn", stored.drawn, data.drawn
        for column, now in data.columns.items():
            yield " ".join(column), stored.columns[column], now

    def origin_of(self, block: Block) -> dict[str, Any]:
        """What decides the content of a block, besides the code of its columns."""
        return self.origin

    def _encode(self, block: Block, data: BlockData) -> bytes:
        columns = sorted(data.columns)  # the order in which they came does not show
        body = np.concatenate([data.totals, data.drawn, *(data.columns[c] for c in columns)]).astype("<f8").tobytes()
        header = {
            "format": FORMAT,
            **self.origin_of(block),
            "cell": list(block.group.sizes),
            "block": block.number,
            "runs": data.totals.size,
            "columns": [[*c, data.columns[c].size, self.fingerprints.get(c, "")] for c in columns],
        }
        return framed(header, body)

    def _decode(self, content: bytes, block: Block) -> BlockData:
        header, body = unframed(content)
        cell = list(block.group.sizes)
        check_header(header, {"format": FORMAT, **self.origin_of(block), "cell": cell, "block": block.number})
        check_columns(header["columns"], (int, str))
        numbers = np.frombuffer(body, "<f8").astype(np.float64)
        columns = {}
        runs = header["runs"]
        sizes = [runs, runs, *(column[2] for column in header["columns"])]
        if not all(type(size) is int and 0 <= size <= runs for size in sizes) or sum(sizes) != numbers.size:
            raise ValueError("its header does not fit its numbers")
        at = 2 * runs
        check_numbers(numbers[:at])
        for impurity, splitter, size, fingerprint in header["columns"]:
            # A column that is not of this experiment has no fingerprint here: it is kept as it is.
            current = self.fingerprints.setdefault((impurity, splitter), fingerprint)
            if not (is_plugin(impurity) or is_plugin(splitter)):  # those may return anything, and fail
                check_numbers(numbers[at : at + size])
            if fingerprint == current:
                columns[impurity, splitter] = numbers[at : at + size]
            at += size
        return BlockData(numbers[:runs], numbers[runs : 2 * runs], columns)


def framed(header: Mapping[str, Any], body: bytes) -> bytes:
    """A file's content: a line with the header and its checksum, in which is that of the body; then the body."""
    line = json.dumps({**header, "sha256": hashlib.sha256(body).hexdigest()}).encode()
    return line + b" " + hashlib.sha256(line).hexdigest().encode() + b"\n" + body


def unframed(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and body again; ValueError where they are not what was written."""
    first_line, _, body = content.partition(b"\n")
    header = _header(first_line)
    if hashlib.sha256(body).hexdigest() != header["sha256"]:
        raise ValueError("its numbers do not match their checksum")
    return header, body


def check_header(header: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """ValueError where a file was made with something else than what is wanted."""
    for key, value in wanted.items():
        if header[key] != value:
            raise ValueError(f"it was made with {key} {shorten(str(header[key]))}, not {value}")


def check_columns(columns: Any, others: tuple[type, ...]) -> None:
    """ValueError unless a header's columns are lists of an impurity, a splitter and ``others``, each pair once."""
    kinds = [str, str, *others]
    if not isinstance(columns, list) or not all(isinstance(c, list) and list(map(type, c)) == kinds for c in columns):
        raise ValueError("its header has no list of columns")
    if len({(column[0], column[1]) for column in columns}) < len(columns):
        raise ValueError("it has a column twice")


def check_numbers(numbers: NDArray[np.float64]) -> None:
    """ValueError unless these may be counts or impurities."""
    if not ((numbers >= 0.0) & (numbers < np.inf)).all():
        raise ValueError("it has numbers that are negative or not finite")


def _header(first_line: bytes) -> dict[str, Any]:
    line, _, checksum = first_line.rpartition(b" ")
    if hashlib.sha256(line).hexdigest().encode() != checksum:
        raise ValueError("its header does not match its checksum")
    try:
        header: dict[str, Any] = json.loads(line)
    except RecursionError:
        raise ValueError("its header is nested too deeply") from None
    if not isinstance(header, dict):
        raise ValueError("its header is none")
    return header


def stored_header(folder: Path) -> dict[str, Any]:
    """The header of the first file of blocks in a results folder that can be read; empty if there is none."""
    for path in sorted(folder.glob("blocks/*/*.*")):
        with suppress(ValueError, KeyError, OSError):
            return _header(read_regular_file(path).partition(b"\n")[0])
    return {}


def remove_unfinished(folder: Path) -> None:
    """Remove what a killed run was about to write; only for who holds the folder's lock."""
    for place in (folder, *group_folders(folder)):
        for path in place.glob(f".*{UNFINISHED}"):
            path.unlink(missing_ok=True)
