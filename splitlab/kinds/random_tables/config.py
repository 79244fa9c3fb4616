"""What the configs of experiments on random tables share: cells, the grid, names, seed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field

from splitlab.engine.blocks import Column
from splitlab.engine.config import (
    MAX_RUNS,
    Closed,
    Experiment,
    Names,
    as_tuple,
    check_published,
    one_or_more,
    refuse_repeats,
    whole,
)
from splitlab.engine.yaml_source import Path_, Place, Source

MAX_SIZE = 100_000  # of n and of k
MAX_ENTRIES = 1_000_000  # n * k: a table is a few MB at most
MAX_TOTAL = 10**15  # n * k * max_count: totals stay exact in float64
MAX_CELLS = 10_000
DEFAULT_SEED = 2018
CELL = ["n", "k", "max_count"]  # the columns of results that name a cell
ENTRY = ["impurity", *CELL, "splitter"]  # and those that name an entry: a splitter in a cell


@dataclass(frozen=True, order=True)
class Cell:
    """One size of random table: n values (rows), k classes (columns), entries 0..max_count.

    Examples
    --------
    >>> Cell(12, 3, 7).label
    'n12_k3_m7'
    """

    n: int
    k: int
    max_count: int

    @property
    def label(self) -> str:
        """A name for files and messages."""
        return f"n{self.n}_k{self.k}_m{self.max_count}"

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The three numbers, for the headers of files."""
        return self.n, self.k, self.max_count


Sizes = Annotated[tuple[Annotated[int, whole(2, MAX_SIZE)], ...], *one_or_more]
Counts = Annotated[tuple[Annotated[int, whole(1, MAX_TOTAL // 4)], ...], *one_or_more]


class GridEntry(Closed):
    """One entry of `grid`; the lists multiply out."""

    n: Sizes
    k: Sizes
    max_count: Counts
    runs: Annotated[int, whole(1, MAX_RUNS)]

    def cells(self, path: Path_ = ()) -> Iterator[tuple[Cell, tuple[Path_, ...]]]:
        """The cells, each with the paths of the entry itself and of its n, k and max_count."""
        axes = (enumerate(self.n), enumerate(self.k), enumerate(self.max_count))
        for (a, n), (b, k), (c, max_count) in itertools.product(*axes):
            yield Cell(n, k, max_count), (path, (*path, "n", a), (*path, "k", b), (*path, "max_count", c))


class RandomTablesExperiment(Experiment):
    """An experiment on random tables.

    Attributes
    ----------
    impurities, splitters : tuple of str
        Registered names, or functions as ``package.module:function``, in the order of the config.
    grid : tuple of GridEntry
        As written; in a resolved experiment one entry for each cell.
    seed : int
    published : str or None
        A name in `splitlab/published`, or the path of a csv; not looked up here.
    """

    impurities: Names
    splitters: Names
    grid: Annotated[tuple[GridEntry, ...], BeforeValidator(as_tuple), Field(min_length=1)]
    seed: Annotated[int, whole(0, 2**63 - 1)] = DEFAULT_SEED
    published: Annotated[str, AfterValidator(check_published)] | None = None

    @property
    def cells(self) -> tuple[tuple[Cell, int], ...]:
        """Cells with their number of runs, sorted."""
        return tuple((cell, entry.runs) for entry in self.grid for cell, _ in entry.cells())

    def references(self, cell: Cell) -> tuple[str, ...]:
        """What is computed in a cell besides the splitters, for them to be held against."""
        return ()

    def competitors(self, cell: Cell) -> tuple[str, ...]:
        """All splitters that are run in a cell, a reference that is one included."""
        return self.splitters

    def columns(self, cell: Cell) -> tuple[Column, ...]:
        """The columns of a cell: impurities times splitters, then the impurities with what these are held against."""
        pairs = ((impurity, splitter) for impurity in self.impurities for splitter in self.splitters)
        further = ((impurity, name) for impurity in self.impurities for name in self.references(cell))
        return (*pairs, *further)

    def with_cells(self, cells: Iterable[tuple[Cell, int]]) -> Self:
        """The experiment on these cells."""
        entries = [
            GridEntry.model_construct(n=(c.n,), k=(c.k,), max_count=(c.max_count,), runs=runs)
            for c, runs in sorted(cells)
        ]
        return self.changed(grid=tuple(entries))

    def resolved(self, source: Source) -> Self:
        """The experiment with its grid multiplied out; ConfigError for what is there twice or too large."""
        refuse_repeats("impurities", self.impurities, source)
        refuse_repeats("splitters", self.splitters, source)
        return self.with_cells(_expand(self.grid, source))

    @classmethod
    def put_runs(cls, source: Source, given: Source, place: Place) -> None:
        """Put ``given`` into every grid entry."""
        grid = source.value.get("grid")
        for i, entry in enumerate(grid if isinstance(grid, list) else ()):
            if isinstance(entry, dict):
                entry["runs"] = given.value
                source.places["grid", i, "runs"] = place


def _expand(grid: Sequence[GridEntry], source: Source) -> tuple[tuple[Cell, int], ...]:
    total = sum(len(entry.n) * len(entry.k) * len(entry.max_count) for entry in grid)
    if total > MAX_CELLS:
        raise source.error(("grid",), f"the lists multiply out to {total:,} cells; at most {MAX_CELLS:,} can be run")
    origins: dict[Cell, tuple[Path_, ...]] = {}
    runs: dict[Cell, int] = {}
    for i, entry in enumerate(grid):
        for cell, origin in entry.cells(("grid", i)):
            _check_size(cell, ("grid", i), source)
            if cell in origins:
                # In two entries, these differ at once; in one entry, where its list repeats itself.
                path, earlier = next((b, a) for a, b in zip(origins[cell], origin, strict=True) if a != b)
                rule = f"it is already in {source.at(earlier)}"
                raise source.error(path, f"cell {cell.label} is repeated; {rule}")
            origins[cell], runs[cell] = origin, entry.runs
    return tuple(sorted(runs.items()))


def _check_size(cell: Cell, path: Path_, source: Source) -> None:
    entries = cell.n * cell.k
    limits = (("n * k", entries, MAX_ENTRIES), ("n * k * max_count", entries * cell.max_count, MAX_TOTAL))
    for formula, size, limit in limits:
        if size > limit:
            raise source.error(path, f"cell {cell.label}: {formula} = {size} is too large; at most {limit}")
