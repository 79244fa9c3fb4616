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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from splitlab.engine.blocks import EMPTY, Block, BlockData, Column
from splitlab.files import UNFINISHED, read_bounded, write_atomically
from splitlab.text import ConfigError, shorten

FORMAT = 1
BLOCKS = "blocks"  # the folder of all blocks, in a results folder
ENDINGS = (".block", ".sums")


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
        """Keep ``data`` as the block's content."""
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

    Attributes
    ----------
    outdated : set of Column
        Columns that were found in files, but of other code.
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
        self.outdated: set[Column] = set()
        self._named: set[Path] = set()

    def path(self, block: Block) -> Path:
        """The file of a block."""
        return self.folder / BLOCKS / block.group.label / f"{block.number:06d}.block"

    def load(self, block: Block) -> BlockData:
        """The stored part of a block; a damaged or foreign file is named and counts as missing."""
        path = self.path(block)
        try:
            return self._decode(read_bounded(path), block)
        except FileNotFoundError:
            return EMPTY
        except (ValueError, KeyError) as error:
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
        numbers = np.frombuffer(body, "<f8").astype(np.float64)
        columns = {}
        runs = header["runs"]
        at = 2 * runs
        for impurity, splitter, size, fingerprint in header["columns"]:
            # A column that is not of this experiment has no fingerprint here: it is kept as it is.
            current = self.fingerprints.setdefault((impurity, splitter), fingerprint)
            if fingerprint == current:
                columns[impurity, splitter] = numbers[at : at + size]
            else:
                self.outdated.add((impurity, splitter))
            at += size
        return BlockData(numbers[:runs], numbers[runs : 2 * runs], columns)


def remark_outdated(store: Store, remark: Callable[[str], None]) -> None:
    """Say which stored columns are computed again because their code has changed."""
    if columns := getattr(store, "outdated", ()):
        remark(f"computed again, since their code has changed since they were stored: {in_words(columns)}")


def in_words(columns: Iterable[Column]) -> str:
    """Columns by impurity: 'gini hcc, lca; entropy hcc'."""
    by_impurity: dict[str, list[str]] = {}
    for impurity, splitter in sorted(columns):
        by_impurity.setdefault(impurity, []).append(splitter)
    return "; ".join(f"{impurity} {', '.join(splitters)}" for impurity, splitters in by_impurity.items())


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


def _header(first_line: bytes) -> dict[str, Any]:
    line, _, checksum = first_line.rpartition(b" ")
    if hashlib.sha256(line).hexdigest().encode() != checksum:
        raise ValueError("its header does not match its checksum")
    header: dict[str, Any] = json.loads(line)
    return header


def stored_header(folder: Path) -> dict[str, Any]:
    """The header of the first file of blocks in a results folder that can be read; empty if there is none."""
    for path in sorted((folder / BLOCKS).glob("*/*.*")):
        with suppress(ValueError, OSError):
            return _header(read_bounded(path).partition(b"\n")[0])
    return {}


def prepare_group(folder: Path, label: str) -> None:
    """Make the folder of a group's blocks.

    ConfigError if the results folder has gone: made again, it would hold some of the blocks only, and no lock.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder}: was moved or removed while a run was writing there; finished blocks are kept")
    (folder / BLOCKS / label).mkdir(parents=True, exist_ok=True)


def orphans(folder: Path, labels: Iterable[str], files: Iterable[Path]) -> list[Path]:
    """Files of blocks in the folders of some groups that are none of ``files``; and what is no folder of a group."""
    groups, known = {folder / BLOCKS / label for label in labels}, set(files)
    found = [path for group in groups for path in group.glob("*.*") if path.suffix in ENDINGS and path not in known]
    return sorted([*found, *(path for path in (folder / BLOCKS).glob("*") if path not in groups)])


def remove_unfinished(folder: Path) -> None:
    """Remove what a killed run was about to write; only for who holds the folder's lock."""
    for pattern in (f".*{UNFINISHED}", f"{BLOCKS}/*/.*{UNFINISHED}"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)
