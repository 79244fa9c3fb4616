"""What ``keep_runs: false`` keeps: per block of 1,000 runs the sums from which all tables are made, and no runs.

A file holds the sums of up to 100 blocks of a cell, kept apart so that they add up in the same order, and thus to the
same bits, as sums over kept runs; and the blocks' histograms, added up. A file is written again, as a whole, with
every block that comes in: what is finished is never lost. The last block of a cell, when it is not a full one, has a
file of its own, since it has to be made again when there are to be more runs.

From sums no column can be left out and none be added: a file is of one list of splitters and impurities, and where
it holds more blocks than are asked for, its histograms cannot be taken apart.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splitlab.engine.blocks import COMPLETE, EMPTY, Block, BlockData, Column
from splitlab.engine.store import BLOCKS, check_header, framed, prepare_group, unframed
from splitlab.files import read_bounded, write_atomically
from splitlab.kinds.random_tables.accumulator import Accumulator, accumulated
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.random_tables.histogram import BINS
from splitlab.kinds.random_tables.paired import Together
from splitlab.kinds.random_tables.plan import BLOCK_RUNS, first_run
from splitlab.text import ConfigError, counted

FORMAT = 1
GROUP_BLOCKS = 100
SUMS = "all that is kept"  # how the sums of a block are called
GROUPS_HELD = 8  # in memory; workers are never so far apart
COUNTS = ("runs", "wins", "failures", "first_failure", "bounded", "unbounded", "maximum_run")
FLOATS = ("total", "squares", "maximum")
Sums = dict[str, tuple[list[Accumulator], Together]]  # by impurity


@dataclass
class _File:
    """Blocks of a cell that share a file: for each its numbers, float64 (m,), and the sum of their histograms."""

    numbers: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    counts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


class SumsStore:
    """A store that keeps sums.

    Parameters
    ----------
    folder : Path or None
        The results folder; without one, everything stays in memory.
    origin : dict
        As a `FolderStore` has it.
    columns : dict of (impurity, splitter) -> str or None
        All columns, with the hashes of their code; None for code that is not looked at.
    warn : callable
        Is told of damaged files, which count as missing, as those made by other code do.

    Attributes
    ----------
    outdated : set of Column
        Columns that were found in files, but of other code.
    """

    def __init__(
        self,
        folder: Path | None,
        origin: Mapping[str, Any],
        columns: Mapping[Column, str | None],
        warn: Any = lambda text: None,
    ) -> None:
        self.folder, self.origin, self.columns, self.warn = folder, dict(origin), dict(columns), warn
        self.impurities = tuple(dict.fromkeys(impurity for impurity, _ in columns))
        self.splitters = tuple(dict.fromkeys(splitter for _, splitter in columns))
        self.outdated: set[Column] = set()
        self._named: set[Path] = set()
        self._groups: OrderedDict[tuple[Cell, str], _File] = OrderedDict()

    def load(self, block: Block) -> BlockData:
        """Nothing, or something that lacks nothing."""
        return COMPLETE if self.holds(block) else EMPTY

    def holds(self, block: Block) -> bool:
        """Whether the sums of a block are kept."""
        return block.number in self._group(block).numbers

    def path(self, block: Block) -> Path:
        """The file of a block."""
        return (self.folder or Path()) / _place(block)

    def save(self, block: Block, data: BlockData) -> None:
        """Keep the sums of a block."""
        group, sums = self._group(block), self._sums_of(block, data)
        group.numbers[block.number] = _flat(data.drawn.sum(), sums)
        counts = np.stack([accumulator.counts for accumulators, _ in sums.values() for accumulator in accumulators])
        group.counts = group.counts + counts if group.counts.size else counts
        if self.folder is not None:
            prepare_group(self.folder, block.group.label)
            write_atomically(self.path(block), self._encode(block, group))

    def _sums_of(self, block: Block, data: BlockData) -> Sums:
        found = {}
        for impurity in self.impurities:
            columns = np.stack([data.columns[impurity, s] for s in self.splitters], axis=1)
            found[impurity] = accumulated(columns, data.totals, first_run(block))
        return found

    def compared(self, block: Block, data: BlockData) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
        """What of a block is held against numbers computed again: all of its sums."""
        yield SUMS, self.numbers(block), self.numbers_of(block, data)

    def numbers(self, block: Block) -> NDArray[np.float64]:
        """What is kept of a block, its histogram apart."""
        return self._group(block).numbers[block.number]

    def numbers_of(self, block: Block, data: BlockData) -> NDArray[np.float64]:
        """What would be kept of a block with that content."""
        return _flat(data.drawn.sum(), self._sums_of(block, data))

    def parts(self, cell_blocks: Iterator[Block]) -> Iterator[tuple[Block, float, Sums]]:
        """For blocks of a cell, all of them and in order: tables drawn, and the sums.

        The histogram of a whole file comes with its first block. ConfigError when a file holds other blocks too.
        """
        wanted = list(cell_blocks)
        place = ""
        for block in wanted:
            group = self._group(block)
            drawn, sums = _unflat(group.numbers[block.number], self.impurities, len(self.splitters))
            if _place(block) != place:
                place = _place(block)
                self._check_no_others(group, wanted)
                for accumulator, counts in zip((t for ts, _ in sums.values() for t in ts), group.counts, strict=True):
                    accumulator.counts = counts.copy()
            yield block, drawn, sums

    def remove_superseded(self, cell_blocks: Iterable[Block]) -> None:
        """Remove the files of last blocks that were not full ones when there were fewer runs; the blocks of a cell,
        all of which are kept, say how many there are now.
        """
        blocks = {block.number: block for block in cell_blocks}
        for path in self.path(blocks[0]).parent.glob("??????-*.sums") if self.folder else ():
            number, _, runs = path.stem.partition("-")
            now = blocks.get(int(number)) if number.isdecimal() and runs.isdecimal() else None
            if now and int(runs) < now.size:
                path.unlink()

    def _check_no_others(self, group: _File, wanted: list[Block]) -> None:
        if not set(group.numbers) <= {block.number for block in wanted}:
            cell, runs = wanted[0].group, sum(block.size for block in wanted)
            raise ConfigError(
                f"{self.folder}: has sums over more than {counted(runs, 'run')} of {cell.label}, and (keep_runs: "
                "false) no runs that could be left out; ask for as many as before, or more"
            )

    def _group(self, block: Block) -> _File:
        key = block.group, _place(block)
        if key not in self._groups:
            self._groups[key] = self._read(block)
            if self.folder is not None and len(self._groups) > GROUPS_HELD:
                self._groups.popitem(last=False)
        self._groups.move_to_end(key)
        return self._groups[key]

    def _read(self, block: Block) -> _File:
        if self.folder is None:
            return _File()
        path = self.path(block)
        try:
            return self._decode(block, read_bounded(path))
        except FileNotFoundError:
            return _File()
        except (ValueError, KeyError) as error:
            if path not in self._named:
                self.warn(f"{path}: not usable ({error}); it counts as missing")
            self._named.add(path)
            return _File()

    def _other_code(self, columns: Iterable[tuple[str, str, str]]) -> bool:
        """Whether stored sums are of these columns, but of other code."""
        stored = {(impurity, splitter): mark for impurity, splitter, mark in columns}
        changed = {column for column, mark in stored.items() if self.columns.get(column) != mark}
        if list(stored) != list(self.columns) or not changed:
            return False
        self.outdated |= changed
        return True

    def _header(self, block: Block) -> dict[str, Any]:
        cell = list(block.group.sizes)
        columns = [[*column, mark] for column, mark in self.columns.items()]
        return {"sums": FORMAT, **self.origin, "cell": cell, "columns": columns}

    def _encode(self, block: Block, group: _File) -> bytes:
        blocks = sorted(group.numbers)
        bins = [np.flatnonzero(counts) for counts in group.counts]
        header = {**self._header(block), "blocks": blocks, "bins": [b.size for b in bins]}
        numbers = np.concatenate([group.numbers[b] for b in blocks]).astype("<f8")
        taken = [(b, counts[b]) for b, counts in zip(bins, group.counts, strict=True)]
        pairs = np.concatenate([x for pair in taken for x in pair]).astype("<i8")
        return framed(header, numbers.tobytes() + pairs.tobytes())

    def _decode(self, block: Block, content: bytes) -> _File:
        header, body = unframed(content)
        for impurity, splitter, mark in header["columns"]:
            if self.columns.get((impurity, splitter), "") is None:
                self.columns[impurity, splitter] = mark
        if self._other_code(header["columns"]):
            return _File()
        check_header(header, self._header(block))
        blocks = header["blocks"]
        if any(_place(replace(block, number=b)) != _place(block) for b in blocks):  # else they would count twice
            raise ValueError("it holds blocks that do not belong into a file of that name")
        length = _length(len(self.impurities), len(self.splitters))
        numbers = np.frombuffer(body, "<f8", len(blocks) * length).astype(np.float64).reshape(-1, length)
        if (numbers[:, 1 + COUNTS.index("runs")] != block.size).any():
            raise ValueError(f"its blocks are not of {counted(block.size, 'run')}")
        pairs = np.frombuffer(body, "<i8", offset=numbers.nbytes).astype(np.int64)
        counts = np.zeros((len(self.columns), 2 * BINS + 1), np.int64)
        at = 0
        for row, size in zip(counts, header["bins"], strict=True):
            bins, found = pairs[at : at + 2 * size].reshape(2, size)
            row[bins] = found
            at += 2 * size
        return _File(dict(zip(blocks, numbers, strict=True)), counts)


def _place(block: Block) -> str:
    """The file of a block, within the results folder."""
    name = f"{block.number // GROUP_BLOCKS:06d}" if block.size == BLOCK_RUNS else f"{block.number:06d}-{block.size}"
    return f"{BLOCKS}/{block.group.label}/{name}.sums"


def kept_bytes(impurities: int, splitters: int) -> int:
    """What is kept of a block, in bytes, its histogram apart."""
    return 8 * _length(impurities, splitters)


def _length(impurities: int, splitters: int) -> int:
    return 1 + impurities * (splitters * len(COUNTS + FLOATS) + sum(a.size for a in Together(splitters).arrays()))


def _flat(drawn: float, sums: Sums) -> NDArray[np.float64]:
    """Sums in a row of numbers; counts are far below 2^53."""
    parts: list[Any] = [[drawn]]
    for accumulators, together in sums.values():
        parts += [[float(getattr(accumulator, name)) for name in (*COUNTS, *FLOATS)] for accumulator in accumulators]
        parts += [array.ravel() for array in together.arrays()]
    return np.concatenate(parts).astype(np.float64)


def _unflat(numbers: NDArray[np.float64], impurities: tuple[str, ...], splitters: int) -> tuple[float, Sums]:
    sums, at = {}, 1
    for impurity in impurities:
        accumulators = []
        for _ in range(splitters):
            accumulators.append(Accumulator())
            for name in (*COUNTS, *FLOATS):
                setattr(accumulators[-1], name, int(numbers[at]) if name in COUNTS else float(numbers[at]))
                at += 1
        together = Together(splitters)
        for array in together.arrays():
            array[...] = numbers[at : at + array.size].reshape(array.shape)
            at += array.size
        sums[impurity] = (accumulators, together)
    return float(numbers[0]), sums
