"""What an experiment is cut into: groups, blocks of their runs, and the tasks that workers take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Column = tuple[str, str]  # such as an impurity and a splitter: what is computed for every run
Part = tuple[str, Column]  # of the work: the label of a group, and a column
SHARED: Column = ("", "")  # stands for what all columns of a block need, such as drawing its tables


class Group(Protocol):
    """What a results folder has a folder for, such as a cell of random tables or a data set; hashable."""

    @property
    def label(self) -> str:
        """A name for its folder and for messages."""
        ...

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Three numbers that describe it, for the headers of its files."""
        ...


@dataclass(frozen=True)
class Block:
    """A number of runs of a group, stored as one file: the unit of seeding and of storage.

    Attributes
    ----------
    group : Group
    number : int
        From 0 on within the group.
    size : int
        How many numbers each of its columns has.
    """

    group: Any
    number: int
    size: int


@dataclass(frozen=True)
class BlockData:
    """What is known of a block.

    Attributes
    ----------
    totals, drawn : float64 (size,)
        What all columns share: for random tables, each table's number of examples N, and the number of candidates
        that were drawn for it.
    columns : dict of Column -> float64 (m,)
        The first m <= size numbers of each column.
    took : dict of Column -> float
        Seconds that the columns took a worker, for the estimate of what is left; not stored.
    """

    totals: NDArray[np.float64]
    drawn: NDArray[np.float64]
    columns: Mapping[Column, NDArray[np.float64]] = field(default_factory=dict)
    took: Mapping[Column, float] = field(default_factory=dict, compare=False, kw_only=True)

    def missing(self, block: Block, wanted: tuple[Column, ...]) -> tuple[Column, ...]:
        """The wanted columns that are absent or shorter than the block."""
        return tuple(c for c in wanted if c not in self.columns or self.columns[c].size < block.size)

    def merged_with(self, newer: BlockData) -> BlockData:
        """Both together; columns of ``newer`` replace those of the same name."""
        longer = newer if newer.totals.size >= self.totals.size else self
        return BlockData(longer.totals, longer.drawn, {**self.columns, **newer.columns})


EMPTY = BlockData(np.empty(0), np.empty(0))


class _Complete(BlockData):
    """Stands for a block of which nothing has to be computed."""

    def missing(self, block: Block, wanted: tuple[Column, ...]) -> tuple[Column, ...]:
        return ()


COMPLETE = _Complete(EMPTY.totals, EMPTY.drawn)


@dataclass(frozen=True)
class Task:
    """A block, or a slice of one, with everything that another process needs to compute it.

    Attributes
    ----------
    block : Block
    columns : tuple of Column
        What to compute.
    start, stop : int
        The slice, counted within the block.
    seed : int
        Of the experiment.
    state : tuple, optional
        The state of a generator to start from, where blocks have no seeds of their own.
    keep_failures : bool
        Whether a failure is kept, as NaN, and not raised.
    """

    block: Block
    columns: tuple[Column, ...]
    start: int
    stop: int
    seed: int = 0
    state: tuple[Any, ...] | None = None
    keep_failures: bool = False


@dataclass(frozen=True)
class Work:
    """What is left to do, or was done.

    Attributes
    ----------
    runs : float
        A run of which only some columns are done counts in part.
    parts : dict of Part -> float
        Their estimated core seconds.
    stored : int
        Runs that were there before.
    """

    runs: float
    parts: Mapping[Part, float]
    stored: int = 0

    @property
    def seconds(self) -> float:
        """Estimated core seconds of all parts."""
        return sum(self.parts.values())

    def share(self, share: float) -> Work:
        """Some of the work, as much of each part."""
        return Work(share * self.runs, {part: share * seconds for part, seconds in self.parts.items()})


def together(works: Iterable[Work]) -> Work:
    """Some works as one."""
    runs, stored, parts = 0.0, 0, Counter[Part]()
    for work in works:
        runs, stored = runs + work.runs, stored + work.stored
        parts.update(work.parts)
    return Work(runs, parts, stored)


def joined(ordered: Sequence[BlockData]) -> BlockData:
    """Consecutive slices of a block as one."""
    took = Counter[Column]()
    for data in ordered:
        took.update(data.took)
    return BlockData(
        np.concatenate([d.totals for d in ordered]),
        np.concatenate([d.drawn for d in ordered]),
        {c: np.concatenate([d.columns[c] for d in ordered]) for c in ordered[0].columns},
        took=took,
    )


class Computation(Protocol):
    """What runner and plan ask of a kind of experiment; `splitlab.engine.kind.Kind` says what each does."""

    @property
    def experiment(self) -> Any: ...
    def blocks(self) -> Iterator[Block]: ...
    def columns(self, block: Block) -> tuple[Column, ...]: ...
    def tasks(self, block: Block, lacking: tuple[Column, ...]) -> list[Task]: ...
    def compute(self, task: Task) -> BlockData: ...
    def seconds(self, block: Block, column: Column) -> float: ...
    def shared_seconds(self, block: Block) -> float: ...
    def serial_columns(self, columns: tuple[Column, ...]) -> tuple[Column, ...]: ...
    def functions(self) -> tuple[str, ...]: ...
    def check(self) -> None: ...
    def store(self, place: Any, warn: Any) -> Any: ...
