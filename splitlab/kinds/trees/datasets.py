"""The data sets of tree studies: what is known of each, where its file is, and how it is read.

A catalogue is a YAML file with an entry per set: `configs/datasets.yaml`, or a user's. The files are csv, uncompressed
or compressed as gz or xz, named after the entry, in a folder of the user's: ``--data DIR``, the variable SPLITLAB_DATA,
or the cache that ``splitlab data fetch`` fills.

Files are read as the published study's program read them. Lines are cut at commas, nothing is quoted; only white space
at the end of a line is dropped. Nominal values and classes are numbered as they first appear, and that numbering
decides ties. A row with the missing string is dropped whole; the values before it have been numbered by then, and its
class too.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from splitlab import shipped
from splitlab._jit import Bools, Floats, Ints
from splitlab.engine.yaml_source import read_file
from splitlab.text import ConfigError

VARIABLE = "SPLITLAB_DATA"
OPENERS: dict[str, Callable[[Path], Any]] = {".csv": lambda p: p.open("rb"), ".csv.gz": gzip.open, ".csv.xz": lzma.open}


class Dataset(BaseModel):
    """What is known of a data set.

    Attributes
    ----------
    name, title : str
        The key of the entry, and what it is called in text.
    origin, licence, url, sha256 : str
        Where it comes from; the checksum is that of the uncompressed csv. Empty where not known.
    target : str
        The column of the classes.
    missing : str or None
        The text that stands for a missing value.
    rows, rows_used, classes : int or None
        What must be found, as far as it is known; used are rows without missing values.
    columns : dict of str -> "numeric" or "nominal"
        The attributes. Other columns are ignored.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    name: str
    title: str
    origin: str = ""
    licence: str = ""
    url: str = ""
    sha256: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")] = ""
    target: str = ""
    missing: str | None = None
    rows: int | None = None
    rows_used: int | None = None
    classes: int | None = None
    columns: dict[str, Literal["numeric", "nominal"]] = {}

    def require_columns(self) -> None:
        """ValueError unless target and columns are declared."""
        if not self.target or not self.columns:
            raise ValueError(f"{self.name}: its target and the types of its columns are not declared; it cannot be run")


@dataclass(frozen=True, eq=False)
class Data:
    """A data set as numbers.

    Attributes
    ----------
    x : float64 (n, p)
        Numbers as they are, nominal values as indices into ``values``.
    nominal : bool (p,)
        Which columns are nominal.
    y : int64 (n,)
        The classes, from 0 to k - 1.
    k : int
        The number of classes.
    names : list of str (p,)
        The names of the columns.
    values : list (p,) of list of str
        The texts of the nominal values of each column, in the order of their numbers.
    classes : list of str (k,)
        The texts of the classes, in the order of their numbers.
    """

    x: Floats
    nominal: Bools
    y: Ints
    k: int
    names: list[str]
    values: list[list[str]] = field(repr=False)
    classes: list[str] = field(repr=False)


def catalogue(path: Path) -> dict[str, Dataset]:
    """The sets of a YAML file; ConfigError where one is wrong."""
    source = read_file(path)
    found = {}
    for name, entry in source.value.items():
        if not isinstance(entry, dict):
            raise source.error((name,), "an entry must be KEY: VALUE lines")
        try:
            found[name] = Dataset.model_validate({"name": name, **entry})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise source.error((name, *first["loc"]), first["msg"][0].lower() + first["msg"][1:]) from None
    return found


def standard_catalogue() -> Path:
    """The catalogue of the paper's data sets, which comes with splitlab."""
    return shipped.folder() / f"{shipped.CATALOGUE}.yaml"


def cache() -> Path:
    """Where fetched files are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "splitlab" / "data"


def folders(chosen: Path | None = None) -> list[Path]:
    """Where files are looked for: the folder chosen, else the one that SPLITLAB_DATA names; then the cache."""
    named = chosen or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    return [*([named] if named else []), cache()]


def located(dataset: Dataset, chosen: Path | None = None) -> Path | None:
    """The file of a data set; None if there is none."""
    for folder in folders(chosen):
        for ending in OPENERS:
            if (path := folder / f"{dataset.name}{ending}").is_file():
                return path
    return None


def found(dataset: Dataset, chosen: Path | None = None) -> Path:
    """The file of a data set; ValueError that says where it was looked for and how to get it if there is none."""
    if path := located(dataset, chosen):
        return path
    places = ", ".join(map(str, folders(chosen)))
    named = f"{VARIABLE} names the folder where it is"
    how = f"`splitlab data fetch {dataset.name}` gets it, or {named}" if dataset.url else f"put it there, or {named}"
    raise ValueError(f"{dataset.name}: no {dataset.name}.csv, .csv.gz or .csv.xz in {places}; {how}")


def content(path: Path) -> bytes:
    """The bytes of the uncompressed csv; ValueError if the file cannot be read or unpacked."""
    ending = next(ending for ending in OPENERS if path.name.endswith(ending))
    try:
        with OPENERS[ending](path) as stream:
            read: bytes = stream.read()
            return read
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from None


def verify_checksum(dataset: Dataset, unpacked: bytes, path: Path) -> None:
    """ValueError unless the csv, the content of the file at ``path``, is the one that is described."""
    if dataset.sha256 and (digest := hashlib.sha256(unpacked).hexdigest()) != dataset.sha256:
        raise ValueError(f"{path}: its sha256 is {digest}, not {dataset.sha256}: it is another file than described")


def load(dataset: Dataset, chosen: Path | None = None) -> Data:
    """Find, verify and read a data set.

    Raises
    ------
    ValueError
        There is no file, it is not the one described, or it does not hold what is declared.
    """
    dataset.require_columns()
    path = found(dataset, chosen)
    unpacked = content(path)
    verify_checksum(dataset, unpacked, path)
    try:
        data = read(dataset, unpacked.decode("utf-8").splitlines())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    expected = {"rows_used": dataset.rows_used, "classes": dataset.classes}
    for what, number in {"rows_used": len(data.y), "classes": data.k}.items():
        if expected[what] not in (None, number):
            raise ValueError(f"{path}: {what.replace('_', ' ')}: {number}, where {expected[what]} are declared")
    return data


def read(dataset: Dataset, lines: Iterable[str]) -> Data:
    """The rows of a csv that have no missing values, as numbers; ValueError where they are not what is declared."""
    rows = (line.rstrip().split(",") for line in lines)
    header = next(rows, [])
    if absent := [name for name in (dataset.target, *dataset.columns) if name not in header]:
        raise ValueError(f"there is no column {absent[0]!r} in its header")
    numbers: dict[str, dict[str, int]] = {name: {} for name in header}
    found = list(_numbered(dataset, header, rows, numbers))
    if not found:
        raise ValueError("no row without missing values")
    names = [name for name in header if name in dataset.columns]
    table: NDArray[np.float64] = np.array(found)
    nominal = np.array([dataset.columns[name] == "nominal" for name in names])
    classes = list(numbers[dataset.target])
    y = table[:, -1].astype(np.int64)
    return Data(np.asfortranarray(table[:, :-1]), nominal, y, len(classes), names,
                [list(numbers[name]) for name in names], classes)  # fmt: skip


def _numbered(
    dataset: Dataset, header: list[str], rows: Iterator[list[str]], numbers: Mapping[str, dict[str, int]]
) -> Iterator[list[float]]:
    """The values of the attributes and the class of each row that is used; ``numbers`` are given meanwhile."""
    target = header.index(dataset.target)
    for line, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise ValueError(f"line {line} has {len(row)} values, and the header {len(header)}")
        label = numbers[dataset.target].setdefault(row[target], len(numbers[dataset.target]))
        values: list[float] = []
        for name, text in zip(header, row, strict=True):
            if name != dataset.target and text == dataset.missing:
                break
            if dataset.columns.get(name) == "nominal":
                values.append(numbers[name].setdefault(text, len(numbers[name])))
            elif name in dataset.columns:
                values.append(_number(text, name, line))
        else:
            yield [*values, label]


def _number(text: str, name: str, line: int) -> float:
    """The number that a text of a numeric column stands for; ValueError that names line and column if there is none."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"line {line}: {text!r} in the numeric column {name!r} is no number") from None
    if not np.isfinite(value):
        raise ValueError(f"line {line}: {text!r} in the numeric column {name!r} is not finite")
    return value


def chosen_sets(known: Mapping[str, Dataset], names: Iterable[str]) -> list[Dataset]:
    """The entries of a catalogue that are named; ConfigError for a name that is not in it."""
    chosen = []
    for name in names:
        if name not in known:
            raise ConfigError(f"data set {name!r} is not in the catalogue; it has {', '.join(known)}")
        chosen.append(known[name])
    return chosen
