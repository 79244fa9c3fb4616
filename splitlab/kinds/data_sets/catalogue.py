"""The data sets of tree studies: what is known of each, where its file is, and how it is read.

A catalogue is a YAML file with an entry per set: `configs/datasets.yaml`, or a user's. The files are csv, uncompressed
or compressed as gz or xz, named after the entry, in a folder of the user's: ``--data DIR``, the variable SPLITLAB_DATA,
that of the catalogue, or the cache that ``splitlab data fetch`` fills.

The first line names the columns. Cells may be quoted, and blanks around them do not count. Where a catalogue does not
say whether a column is numeric or nominal, `splitlab.trees.columns` does. Nominal values and classes are numbered as
they first appear, and that numbering decides ties. A row without a class is left out; so is one with a missing value,
unless these are kept: it is left out as the published study's program did it, which numbered its class and the values
before the missing one.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import lzma
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from splitlab import shipped
from splitlab._jit import Bools, Floats, Ints
from splitlab.engine.yaml_source import read_file
from splitlab.tables.contingency import show
from splitlab.tables.csv_cells import Record
from splitlab.tables.csv_records import SEPARATORS, csv_reader, decoded, read_records
from splitlab.text import ConfigError, counted, did_you_mean, shorten
from splitlab.trees.columns import EXACT, PLAIN_NUMBER, Column, nominal_reason, objects, refuse_merged

VARIABLE = "SPLITLAB_DATA"
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
OPENERS: dict[str, Callable[[Path], Any]] = {".csv": lambda p: p.open("rb"), ".csv.gz": gzip.open, ".csv.xz": lzma.open}


def _texts(value: object) -> tuple[str, ...]:
    """A text, a list of texts, or nothing, as a tuple."""
    texts = [] if value is None else value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("must be text as it stands in the file, in quotes, or a list of such")
    return tuple(texts)


class Dataset(BaseModel):
    """What is known of a data set.

    Attributes
    ----------
    name, title : str
        The key of the entry, and what it is called in text; by default the name.
    origin, licence, url, sha256 : str
        Where it comes from; the checksum is that of the uncompressed csv. Empty where not known.
    target : str
        The column of the classes.
    scikit_learn : str or None
        The data set of scikit-learn, ``load_NAME``, that has the same numbers where there is no file.
    labels : tuple of str
        What its classes 0, 1, ... are called in the file; by default their numbers.
    missing : tuple of str
        The texts that stand for a missing value: by default the empty one. None do where the entry says null.
    separator : str or None
        The character between cells; by default the comma, semicolon, tab or bar that cuts the header into most cells.
    strip_blanks : bool
        Whether blanks around cells are left out.
    rows, rows_used, classes : int or None
        What must be found, as far as it is known; used are rows without missing values.
    columns : dict of str -> "numeric", "nominal" or None
        The attributes, and their types; None where the rule of `splitlab.trees.columns` decides. By default all columns
        but the target and those to ignore; other columns are ignored, too.
    ignore : tuple of str
        Columns that are no attributes, where ``columns`` is left out.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    name: str
    title: str = ""
    origin: str = ""
    licence: str = ""
    url: str = ""
    sha256: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")] = ""
    target: str = ""
    scikit_learn: Literal["breast_cancer", "digits", "wine"] | None = None
    labels: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ()
    missing: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ("",)
    separator: Literal[",", ";", "\t", "|"] | None = None
    strip_blanks: bool = True
    rows: int | None = None
    rows_used: int | None = None
    classes: int | None = None
    columns: dict[str, Literal["numeric", "nominal"] | None] = {}
    ignore: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ()

    def require_target(self) -> None:
        """ValueError unless the target is declared."""
        if not self.target:
            raise ValueError(
                f"{self.name}: its target, the column of the classes, is not declared; write target: COLUMN"
            )


@dataclass(frozen=True, eq=False)
class Data:
    """A data set as numbers.

    Attributes
    ----------
    x : float64 (n, p)
        Numbers as they are, nominal values as indices into ``values``, NaN for what is missing.
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
    rows : int
        How many rows the file has.
    incomplete : int
        Rows with a class, but with missing values.
    without_class : int
        Rows without a class, which are left out.
    missing : list of int (p,)
        How many values of each column are missing in the rows with a class.
    reasons : dict of str -> str
        For the columns whose type was not declared why it is what it is; see `splitlab.trees.columns.nominal_reason`.
    ignored : list of str
        The columns that are no attributes.
    """

    x: Floats
    nominal: Bools
    y: Ints
    k: int
    names: list[str]
    values: list[list[str]] = field(repr=False)
    classes: list[str] = field(repr=False)
    rows: int = 0
    incomplete: int = 0
    without_class: int = 0
    missing: list[int] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)

    @property
    def left_out(self) -> int:
        """How many rows with a class are left out, since a value is missing."""
        return self.rows - self.without_class - len(self.y)

    def digest(self) -> str:
        """A short checksum of all that trees depend on."""
        whole = hashlib.sha256(repr((self.names, self.nominal.tolist(), self.values, self.classes)).encode())
        whole.update(self.x.astype("<f8").tobytes("F"))
        whole.update(self.y.astype("<i8").tobytes())
        return whole.hexdigest()[:8]


def catalogue(path: Path) -> dict[str, Dataset]:
    """The sets of a YAML file; ConfigError where one is wrong."""
    source = read_file(path)
    found = {}
    for name, entry in source.value.items():
        if not NAME.fullmatch(name):
            raise source.error((name,), "a data set is named with letters, digits, and . _ -, as its file is")
        if not isinstance(entry, dict):
            raise source.error((name,), "an entry must be KEY: VALUE lines")
        try:
            one = Dataset.model_validate({"name": name, **entry})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            told = first["msg"].removeprefix("Value error, ")
            raise source.error((name, *first["loc"]), told[0].lower() + told[1:]) from None
        if one.target in one.columns:
            raise source.error((name, "columns", one.target), "is the target, so it cannot be an attribute, too")
        if one.columns and one.ignore:
            raise source.error((name, "ignore"), "does not go with columns, which names the attributes; leave one out")
        found[name] = one if one.title else one.model_copy(update={"title": name})
    return found


def standard_catalogue() -> Path:
    """The catalogue of the paper's data sets, which comes with splitlab."""
    return shipped.folder() / f"{shipped.CATALOGUE}.yaml"


def cache() -> Path:
    """Where fetched files are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "splitlab" / "data"


def folders(chosen: Path | None = None, beside: Iterable[Path] = ()) -> list[Path]:
    """Where files are looked for: the folder chosen, else that of SPLITLAB_DATA; then ``beside``, and the cache."""
    named = chosen or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    return list(dict.fromkeys([*([named] if named else []), *beside, cache()]))


def located(dataset: Dataset, places: Iterable[Path]) -> Path | None:
    """The file of a data set in the first of some folders that has it; None if there is none."""
    for folder in places:
        for ending in OPENERS:
            if (path := folder / f"{dataset.name}{ending}").is_file():
                return path
    return None


def found(dataset: Dataset, places: Sequence[Path]) -> Path:
    """The file of a data set; ValueError that says where it was looked for and how to get it if there is none."""
    if path := located(dataset, places):
        return path
    listed = ", ".join(map(str, places))
    named = f"{VARIABLE} names the folder where it is"
    how = f"`splitlab data fetch {dataset.name}` gets it, or {named}" if dataset.url else f"put it there, or {named}"
    raise ValueError(f"{dataset.name}: no {dataset.name}.csv, .csv.gz or .csv.xz in {listed}; {how}")


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


def load(dataset: Dataset, places: Sequence[Path], keep: bool = False) -> Data:
    """Find, verify and read a data set.

    Parameters
    ----------
    dataset : Dataset
    places : sequence of Path
        Where its file is looked for; see `folders`.
    keep : bool
        Whether rows with missing values are kept.

    Raises
    ------
    ValueError
        There is no file, it is not the one described, or it does not hold what is declared.
    """
    dataset.require_target()
    path = found(dataset, places)
    unpacked = content(path)
    verify_checksum(dataset, unpacked, path)
    data = read(dataset, decoded(unpacked, str(path)), str(path), keep)
    used = data.rows - data.without_class - data.incomplete
    for what, number in {"rows": data.rows, "rows_used": used, "classes": data.k}.items():
        expected = getattr(dataset, what)
        if expected not in (None, number):
            raise ValueError(f"{path}: {what.replace('_', ' ')}: {number}, where {expected} are declared")
    return data


def read(dataset: Dataset, text: str, path: str, keep: bool = False) -> Data:
    """The rows of a csv as numbers; ValueError, which begins with ``path``, where they are not what is declared."""
    separator = dataset.separator or most_cells(text)
    header, rows = _lines(text, separator, path, dataset.strip_blanks)
    attributes = _attributes(dataset, header, separator, path)
    reasons = {}
    for name in (name for name in attributes if not dataset.columns.get(name)):
        place = header.index(name)
        known = ((line, row[place]) for line, row in rows if row[place] not in dataset.missing)
        reasons[name] = nominal_reason(known)
    nominal = [bool(reasons[n]) if n in reasons else dataset.columns[n] == "nominal" for n in attributes]
    columns = [
        _Attribute(name, header.index(name), is_nominal) for name, is_nominal in zip(attributes, nominal, strict=True)
    ]
    return _numbered(dataset, header, rows, columns, path, keep, reasons)


def most_cells(text: str) -> str:
    """The separator that cuts the first line of a csv into most cells."""
    first = text.lstrip().partition("\n")[0]

    def cells(separator: str) -> int:
        try:
            return len(next(csv_reader(first, separator), []))
        except csv.Error:
            return 0

    return max(SEPARATORS, key=cells)


def _lines(text: str, separator: str, path: str, strip: bool) -> tuple[list[str], list[Record]]:
    """The header of a csv, and its rows, which are as long."""
    (line, header), *rows = read_records(text, separator, path, strip) if text.strip() else [(1, [""])]
    for name, times in Counter(header).items():
        if name and times > 1:
            raise ValueError(f"{path}:{line}: the header names column {show(name)} {times} times; give it other names")
    for at, row in rows:
        if len(row) != len(header):
            cells = f"{counted(len(row), 'value')}, and the header has {len(header)}"
            raise ValueError(f"{path}:{at}: {cells}; a value with a {show(separator)} in it must stand in quotes")
    return header, rows


def _attributes(dataset: Dataset, header: list[str], separator: str, path: str) -> list[str]:
    """The names of the attributes, in the order of the header."""
    known = [name for name in header if name]
    for name in (dataset.target, *dataset.columns, *dataset.ignore):
        if name not in known:
            hint = did_you_mean(name, known) or f"it has {shorten(', '.join(known), 100)} (separator {show(separator)})"
            raise ValueError(f"{path}: there is no column {show(name)} in its header; {hint}")
    if dataset.columns:
        return [name for name in known if name in dataset.columns]
    left = [name for name in known if name not in (dataset.target, *dataset.ignore)]
    if not left:
        raise ValueError(f"{path}: has no column besides the target {show(dataset.target)}")
    return left


@dataclass(frozen=True)
class _Attribute:
    """A column that is read: its name, its place in the header, and the numbers of its values, if it is nominal."""

    name: str
    place: int
    nominal: bool
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str, path: str, line: int) -> float:
        """The number that stands for a text."""
        if self.nominal:
            return self.numbers.setdefault(text, len(self.numbers))
        value = float(text) if PLAIN_NUMBER.fullmatch(text) else None
        if value is None or not np.isfinite(value):
            fault = "is no number" if value is None else "is too large"
            hint = f"; if it stands for a missing value, say missing: {json.dumps(text)}" if value is None else ""
            raise ValueError(f"{path}:{line}: column {show(self.name)} is numeric, and {show(text)} {fault}{hint}")
        return value


def _numbered(
    dataset: Dataset,
    header: list[str],
    rows: list[Record],
    columns: list[_Attribute],
    path: str,
    keep: bool,
    reasons: dict[str, str],
) -> Data:
    """Give numbers to the values and classes of the rows that are used."""
    target, classes = header.index(dataset.target), dict[str, int]()
    used: list[list[float]] = []
    y, missing, without_class, incomplete = [], [0] * len(columns), 0, 0
    for line, row in rows:
        if row[target] in dataset.missing:
            without_class += 1
            continue
        label = classes.setdefault(row[target], len(classes))
        values: list[float] = []
        complete = True
        for at, column in enumerate(columns):
            if (text := row[column.place]) in dataset.missing:
                missing[at] += 1
                complete = False
                values.append(np.nan)
            elif complete or keep:
                values.append(column.number(text, path, line))
        incomplete += not complete
        if complete or keep:
            used.append(values)
            y.append(label)
    if not used:
        raise ValueError(f"{path}: no row {'with a class' if keep else 'without missing values'}")
    x = np.array(used)
    for at, column in enumerate(columns):
        if not column.nominal and (np.abs(x[:, at]) >= EXACT).any():
            texts = (row[column.place] for _, row in rows)
            refuse_merged(
                Column(column.name, objects([int(t) for t in texts if re.fullmatch(r"[+-]?[0-9]+", t)]), False)
            )
    read = {column.name for column in columns}
    return Data(
        x=np.asfortranarray(x),
        nominal=np.array([column.nominal for column in columns]),
        y=np.array(y, np.int64),
        k=len(classes),
        names=[column.name for column in columns],
        values=[list(column.numbers) for column in columns],
        classes=list(classes),
        rows=len(rows),
        incomplete=incomplete,
        without_class=without_class,
        missing=missing,
        reasons=reasons,
        ignored=[name or "(no name)" for name in header if name not in read and name != dataset.target],
    )


def chosen_sets(known: Mapping[str, Dataset], names: Iterable[str]) -> list[Dataset]:
    """The entries of a catalogue that are named; ConfigError for a name that is not in it."""
    chosen = []
    for name in names:
        if name not in known:
            raise ConfigError(f"data set {name!r} is not in the catalogue; it has {', '.join(known)}")
        chosen.append(known[name])
    return chosen
