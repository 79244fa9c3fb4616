"""A data set that has been read, with what is to be known of it; the manifest of a study keeps that."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from splitlab.engine.checksums import read_manifest
from splitlab.engine.store import BLOCKS
from splitlab.kinds.data_sets.catalogue import Data, Dataset, content, folders, found, load
from splitlab.text import counted


@dataclass(frozen=True, order=True)
class DataCell:
    """A data set in the place of a cell: its size, and a name that changes with its content."""

    name: str
    n: int
    k: int
    max_count: int
    label: str

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Rows, classes and columns, for the headers of files."""
        return self.n, self.k, self.max_count


@dataclass(frozen=True)
class Attribute:
    """A column of a data set.

    Attributes
    ----------
    name, type : str
        The type is 'numeric' or 'nominal'.
    values : int
        How many different values a nominal one has.
    missing : int
        In how many rows with a class its value is missing.
    inferred : str
        Empty where the catalogue says the type; else why it is that.
    """

    name: str
    type: str
    values: int
    missing: int
    inferred: str = ""


@dataclass(frozen=True)
class Facts:
    """What is to be known of a data set when its results are read: the manifest keeps it.

    Attributes
    ----------
    cell : DataCell
    title, path, sha256 : str
        What it is called, the file that was read, and the checksum of the csv in it. The manifest has the file only
        where it lay beside the catalogue.
    rows, rows_used : int
        Of the file, and those that trees are grown and tested on.
    incomplete, without_class : int
        Rows with missing values, which are left out or kept, and rows without a class, which are left out.
    classes : tuple of str
    columns : tuple of Attribute
    """

    cell: DataCell
    title: str
    path: str
    sha256: str
    rows: int
    rows_used: int
    incomplete: int
    without_class: int
    classes: tuple[str, ...]
    columns: tuple[Attribute, ...]

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> Facts:
        """What `dataclasses.asdict` made, after it has been JSON."""
        columns = tuple(Attribute(**column) for column in kept["columns"])
        cell, classes = DataCell(**kept["cell"]), tuple(kept["classes"])
        return cls(**{**kept, "cell": cell, "classes": classes, "columns": columns})

    def number(self, type: str) -> int:
        """How many columns are numeric, or nominal."""
        return sum(column.type == type for column in self.columns)

    @property
    def line(self) -> str:
        """How many rows are used and why not the others, how many classes and columns there are: in one line."""
        used = f"{counted(self.rows, 'row')}, {self.rows_used:,} of them used"
        parts = []
        if self.incomplete:
            kept = self.rows_used == self.rows - self.without_class
            what = "kept" if kept else "left out, missing_values: keep keeps them"
            parts.append(f"{self.incomplete:,} with missing values ({what})")
        if self.without_class:
            parts.append(f"{self.without_class:,} without a class (left out)")
        inferred = sum(column.inferred != "" for column in self.columns)
        types = f"{self.number('numeric')} numeric and {self.number('nominal')} nominal columns"
        types += f" ({'types' if inferred == len(self.columns) else f'{inferred} types'} inferred)" if inferred else ""
        return f"{self.cell.name}: {'; '.join([used, *parts])}; {counted(self.cell.k, 'class')}; {types}"


@dataclass(frozen=True, eq=False)
class Loaded:
    """A data set that has been read."""

    facts: Facts
    data: Data

    @property
    def cell(self) -> DataCell:
        """Its size, and a name that changes with its content."""
        return self.facts.cell


def beside(catalogue: Path) -> list[Path]:
    """The folder of a catalogue; and, where that is one of results, those beside whose catalogue the data were."""
    folder = catalogue.parent
    earlier = (kept["path"] for kept in read_manifest(folder).get("datasets", {}).values())
    return [folder, *(Path(path).parent for path in earlier if path)]


def facts_for_manifest(catalogue: Path, sets: Iterable[Facts]) -> dict[str, Any]:
    """What a manifest keeps of data sets; of files only those beside the catalogue have their path there."""
    near = {folder.resolve() for folder in beside(catalogue)}
    return {one.cell.name: {**asdict(one), "path": one.path if Path(one.path).parent in near else ""} for one in sets}


def places(catalogue: Path, chosen: Path | None = None) -> list[Path]:
    """Where the data of a catalogue are looked for; ``chosen`` first."""
    return folders(chosen, beside(catalogue))


def read_set(dataset: Dataset, where: Sequence[Path], n_folds: int, keep: bool = False) -> Loaded:
    """Read a data set from the first of some folders that has it; ValueError where it cannot be cross-validated."""
    one = read_file(dataset, where, keep)
    data, counts = one.data, np.bincount(one.data.y)
    if (counts > 0).sum() < 2:
        only = data.classes[int(counts.argmax())]
        raise ValueError(f"{one.facts.path}: column {dataset.target!r}, the target, has one class only, {only!r}")
    if counts.max() < n_folds:
        raise ValueError(f"{dataset.name}: has no class of {n_folds} rows or more, and folds: {n_folds}")
    return one


def read_file(dataset: Dataset, where: Sequence[Path], keep: bool = False) -> Loaded:
    """Read a data set from the first of some folders that has it."""
    data, path = load(dataset, where, keep), found(dataset, where)
    return Loaded(facts_of(dataset, data, path, content(path)), data)


def facts_of(dataset: Dataset, data: Data, path: Path | str, unpacked: bytes) -> Facts:
    """What is kept of a data set that was read from a file, or from elsewhere, and of the csv in it."""
    columns = [
        Attribute(name, "nominal" if nominal else "numeric", len(values), missing, _inferred(data.reasons.get(name)))
        for name, nominal, values, missing in zip(data.names, data.nominal, data.values, data.missing, strict=True)
    ]
    n, p = data.x.shape
    return Facts(
        cell=DataCell(dataset.name, n, data.k, p, f"{dataset.name}-{data.digest()}"),
        title=dataset.title,
        path=path if isinstance(path, str) else str(path.resolve()),
        sha256=hashlib.sha256(unpacked).hexdigest(),
        rows=data.rows,
        rows_used=n,
        incomplete=data.incomplete,
        without_class=data.without_class,
        classes=tuple(data.classes),
        columns=tuple(columns),
    )


def _inferred(reason: str | None) -> str:
    return "" if reason is None else reason or "all known values are plain numbers"


def changed_data(folder: Path, sets: Iterable[Loaded]) -> Iterator[str]:
    """For each data set of which results are stored, but not of its present content, a line that says so."""
    for cell in (one.cell for one in sets):
        others = (folder / BLOCKS).glob(f"{glob.escape(cell.name)}-{'[0-9a-f]' * 8}")
        if not (folder / BLOCKS / cell.label).exists() and any(others):
            yield f"{cell.name}: its data, or the types of its columns, are others than those of the stored results"
