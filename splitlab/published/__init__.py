"""The paper's numbers, and how to read others of the same form.

``paper.csv`` has one row per printed number (table, impurity, n, k, max_count, splitter, value), the value as
printed. Its splitter ``pc_ext_counts`` is the column that the paper heads PCext.

Source: Laber, Molinaro, Pereira (ICML 2018), Tables 1 to 3 and section 5.1.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

from splitlab.files import is_regular_file
from splitlab.splitters.registry import known, names

PAPER_RUNS = 10_000  # behind every published percentage
PAPER_COMPETITORS = frozenset({"hcc", "pc_ext_counts", "sliq_ext", "lca"})
# The paper heads its pc_ext_counts column PCext, so its numbers are what PCext itself is to be held against.
HEADED_ALIKE = {"pc_ext": "pc_ext_counts"}
WHOLE = re.compile("[1-9][0-9]{0,14}")
NUMBER = re.compile("[0-9]{1,9}([.][0-9]{1,9})?")
RATIO_TABLE = "table3"
FIELDS = ("table", "impurity", "n", "k", "max_count", "splitter", "value")

Key = tuple[str, int, int, int, str]


@dataclass(frozen=True)
class Published:
    """Printed numbers.

    Attributes
    ----------
    values : mapping
        From (impurity, n, k, max_count, splitter) to the number, as text.
    """

    values: Mapping[Key, str]

    def get(self, impurity: str, n: int, k: int, max_count: int, splitter: str) -> str | None:
        """The printed value of an entry, or of the entry that the paper heads alike; None if there is none."""
        for name in (splitter, HEADED_ALIKE.get(splitter)):
            if name and (value := self.values.get((impurity, n, k, max_count, name))) is not None:
                return value
        return None


def maxima() -> dict[tuple[str, str], str]:
    """The published maxima of the relative excess in percent, as printed, by (impurity, splitter).

    Examples
    --------
    >>> maxima()["entropy", "sliq_ext"]
    '14'
    """
    rows = [row for row in _paper() if row["table"] == "maximum_relative_excess"]
    return {(row["impurity"], row["splitter"]): row["value"] for row in rows}


def _paper() -> list[dict[str, str]]:
    """All rows of ``paper.csv``."""
    text = files(__package__).joinpath("paper.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def located(name: str, folder: Path) -> str:
    """The name itself of a table of the paper; of a csv file the absolute path, sought in ``folder`` and then here."""
    if name in table_names():
        return name
    inside = folder / name
    return str((inside if os.path.lexists(inside) else Path(name)).absolute())


def table_names() -> tuple[str, ...]:
    """The names that ``load`` knows: ``paper`` for Tables 1 and 2 together, or one of them."""
    return ("paper", "table1", "table2")


def load(name: str) -> Published:
    """Win percentages of a table of the paper, or from a csv file of the same form.

    Parameters
    ----------
    name : str
        ``"table1"``, ``"table2"``, ``"paper"`` (both), or the path of a csv file.

    Raises
    ------
    ValueError
        There is no such table or file, or the file is not of that form.

    Examples
    --------
    >>> load("table1").get("gini", 12, 3, 7, "hcc")
    '97.3'
    """
    tables = {table: table_names()[1:] if table == "paper" else (table,) for table in table_names()}
    return _loaded(name, tables, "is not known", True, _percentage_fault)


def load_ratios(name: str) -> Published:
    """Relative times of the paper, or from a csv file of the same form; the impurity of their keys is empty.

    Parameters
    ----------
    name : str
        ``"table3"``, or the path of a csv file; of its rows, those without an impurity are relative times.

    Raises
    ------
    ValueError
        There is no such table or file, or the file is not of that form.

    Examples
    --------
    >>> load_ratios("table3").get("", 12, 9, 7, "hcc")
    '138.4'
    """
    return _loaded(name, {RATIO_TABLE: (RATIO_TABLE,)}, "has no relative times", False, _ratio_fault)


def _loaded(
    name: str, tables: Mapping[str, tuple[str, ...]], unknown: str, with_impurity: bool, fault: Callable[[str], str]
) -> Published:
    """The tables of the paper that ``name`` stands for, or the rows of a csv file.

    Parameters
    ----------
    name : str
        A key of ``tables``, or the path of a csv file.
    tables : mapping
        The tables of ``paper.csv`` that a name stands for.
    unknown : str
        What a message says of any other name.
    with_impurity : bool
        Whether rows of a csv file with an impurity are read, or those without one.
    fault : callable
        What is wrong with a printed value; empty if nothing is.
    """
    if name in tables:
        return Published({_key(row): row["value"] for row in _paper() if row["table"] in tables[name]})
    if not name.endswith(".csv"):
        rule = f"write {', '.join(tables)}, or a path to a csv file"
        raise ValueError(f"published: {Path(name).name!r} {unknown}; {rule}")
    return Published(_from_file(Path(name), with_impurity, fault))


def _from_file(path: Path, with_impurity: bool, value_fault: Callable[[str], str]) -> dict[Key, str]:
    """The rows of a csv file that have an impurity (win percentages), or that have none (relative times).

    Raises
    ------
    ValueError
        The file cannot be read or a row is wrong; the message names file and line.
    """
    values: dict[Key, str] = {}
    try:
        if not is_regular_file(path):
            raise ValueError(f"published: {path}: is no regular file; a csv file is wanted")
        reader = csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines())
        if missing := [f for f in FIELDS if f not in (reader.fieldnames or ())]:
            header = ",".join(FIELDS)
            raise ValueError(f"published: {path}:1: lacks the column {missing[0]}; its header must be {header}")
        for row in reader:
            fault = _fault(row)
            if not fault and bool(row["impurity"]) != with_impurity:
                continue
            fault = fault or value_fault(row["value"].strip())
            fault = fault or ("this entry is there twice" if _key(row) in values else "")
            if fault:
                raise ValueError(f"published: {path}:{reader.line_num}: {fault}")
            values[_key(row)] = row["value"].strip()
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"published: {path}: cannot be read ({reason})") from None
    return values


def _fault(row: Mapping[str, str]) -> str:
    """What is wrong with the cell and splitter that a row of a csv file names; empty if nothing is."""
    if None in row or None in row.values():
        return "has not as many cells as the header"
    for name in ("n", "k", "max_count"):
        if not WHOLE.fullmatch(row[name]):
            return f"{name} is {row[name][:40]!r}; write a whole number in plain digits"
    if not known(row["splitter"]):
        return f"splitter is {row['splitter'][:40]!r}; known: {', '.join(names())}"
    return ""


def _percentage_fault(value: str) -> str:
    """What is wrong with a printed percentage; empty if nothing is."""
    if NUMBER.fullmatch(value) and Decimal(value) <= 100:
        return ""
    return f"value is {value[:40]!r}; write a percentage between 0 and 100 as it is printed, such as 97.3"


def _ratio_fault(value: str) -> str:
    """What is wrong with a printed relative time; empty if nothing is."""
    if NUMBER.fullmatch(value) and Decimal(value) > 0:
        return ""
    return f"value is {value[:40]!r}; write a positive number as it is printed, such as 3.5"


def _key(row: Mapping[str, str]) -> Key:
    """The entry that a row of a csv file belongs to."""
    return row["impurity"], int(row["n"]), int(row["k"]), int(row["max_count"]), row["splitter"]
