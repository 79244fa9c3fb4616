"""Contingency tables from csv files. What is certain is read; what can be read in two ways is an error that says so."""

import csv
import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from splitlab.files import is_regular_file
from splitlab.tables.contingency import as_counts, is_margin, show
from splitlab.tables.csv_cells import Record, count_array, is_number, recognise_notation
from splitlab.tables.csv_examples import count_examples
from splitlab.tables.csv_layout import CsvOptions, Layout, recognise_layout
from splitlab.tables.csv_records import SEPARATORS, csv_reader, decoded, read_records

__all__ = ["CsvOptions", "LabelledTable", "read_table"]

MAX_FILE_BYTES = 64 * 10**6
MAX_FILE_CELLS = 10**6
_LINES_LOOKED_AT = 200  # to find the separator


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """A contingency table from a file, with what was recognised in it; made by `read_table`.

    Attributes
    ----------
    counts : numpy.ndarray of int64, shape (n, k)
        The counts of examples.
    values, classes : tuple of str, or None
        The n row labels and k column labels, all different; None without a label column or header line.
    recognised : str
        For people, such as "5 values x 3 classes; header line read; first column read as labels; separator ','".
    notes : tuple of str
        What the reader decided, with the option that decides otherwise.
    """

    counts: NDArray[np.int64]
    values: tuple[str, ...] | None
    classes: tuple[str, ...] | None
    recognised: str
    notes: tuple[str, ...] = ()


def read_table(path: str | os.PathLike[str], options: CsvOptions | None = None) -> LabelledTable:
    """Read a contingency table from a csv file.

    The separator is the comma, semicolon, tab or bar that gives rows of equal length and cells of numbers. The
    first line is a header if its cells beyond the first are words, if its first cell (and that of no other line) is
    empty, if it is one cell shorter than all other lines, or if a word stands before class numbers (0, 1, ...) or
    years that are unlike the counts below. The first column holds labels if its cells are words, if the header has
    an empty first cell or is shorter, or, below a header, if its cells are ascending numbers. Last rows and columns
    that are named All or Total and are the sums of the others are left out.

    Parameters
    ----------
    path : str or path-like
        A UTF-8 file of at most 64 MB and 1,000,000 cells. Blank lines and empty last columns are skipped. Counts
        are plain digits, such as 12 or 12.0, or have separators of thousands; one row per value, one column per
        class.
    options : CsvOptions, optional
        What is known about the file; the rest is recognised.

    Returns
    -------
    LabelledTable

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it holds no such table, or can be read in two ways; the message names file, line and column (both from
        1), the cell, and the option that chooses.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "outlook.csv")
    ...     _ = file.write_text("outlook,yes,no\\nsunny,2,3\\novercast,4,0\\n")
    ...     table = read_table(file)
    >>> table.values, table.classes, table.counts[0]
    (('sunny', 'overcast'), ('yes', 'no'), array([2, 3]))
    >>> table.recognised
    "2 values x 2 classes; header line read; first column read as labels; separator ','"
    """
    options = options or CsvOptions()
    name = str(path) if str(path).isprintable() else repr(str(path))
    text = _read_text(Path(path), name)
    separator = options.separator or _recognise_separator(text)
    records = _without_empty_columns(_read_records(text, separator, name))
    values: list[str] | None
    classes: list[str] | None
    if options.raw or options.value or options.target:
        (counts, values, classes), layout = count_examples(records, options, name)
        size = f"{len(records) - layout.header} examples counted, "
    else:
        layout = recognise_layout(records, options, name)
        counts, values, classes = _read_counts(records, layout, separator, options, name)
        size = ""
    if options.transpose:
        counts, values, classes = counts.T, classes, values
    try:
        counts = as_counts(np.ascontiguousarray(counts))
    except ValueError as error:
        raise ValueError(f"{name}: {str(error).removeprefix('table: ')}") from None
    recognised = size + _describe(counts.shape, layout, separator) + ("; transposed" if options.transpose else "")
    if not size and len(counts) > 2 and counts.shape[1] > 1 and (counts.sum(axis=1) == 100).all():
        layout.notes.append("every row adds up to 100; if these are percentages, give the numbers of examples instead")
    if counts.shape[1] == 1:
        layout.notes.append("there is one class only, so every split has impurity 0")
    rows, columns = (tuple(labels) if labels is not None else None for labels in (values, classes))
    return LabelledTable(counts, rows, columns, recognised, tuple(layout.notes))


def _read_text(path: Path, name: str) -> str:
    if path.exists() and not path.is_dir() and not is_regular_file(path):
        raise ValueError(f"{name}: is no regular file; a csv file is wanted")
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)  # sizes told by the file system are wrong for pipes and devices
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"{name}: is larger than {MAX_FILE_BYTES // 10**6} MB; a table of counts is wanted")
    return decoded(data, name)


def _recognise_separator(text: str) -> str:
    """The separator that gives rows of equal length with numbers behind their first cells; else the first line's."""

    def fitness(separator: str) -> tuple[bool, bool, int]:
        rows: list[list[str]] = []
        try:
            for cells in islice(csv_reader(text, separator), _LINES_LOOKED_AT):
                if any(map(str.strip, cells)):
                    rows.append([cell.strip() for cell in cells])
        except csv.Error:  # quotes do not fit this separator; if they fit none, _read_records says so
            pass
        if len(rows) < 2:
            return False, False, len(rows[0]) if rows else 0
        width = len(rows[1])
        regular = width > 1 and len(rows[0]) in (width, width - 1) and all(len(row) == width for row in rows[1:])
        numbers = all(is_number(cell) for row in rows[1:] for cell in row[1:] if cell)
        return regular and numbers, regular, len(rows[0])

    return max(SEPARATORS, key=fitness)  # the comma wins ties


def _read_records(text: str, separator: str, name: str) -> list[Record]:
    records: list[Record] = []
    size = 0
    for line, cells in read_records(text, separator, name):
        records.append((line, cells))
        size += len(cells)
        if size > MAX_FILE_CELLS:
            raise ValueError(f"{name}:{line}: more than {MAX_FILE_CELLS:,} cells; give a smaller table")
    if not records:
        raise ValueError(f"{name}:1: the file is empty; a row of counts for each value is wanted")
    return records


def _without_empty_columns(records: list[Record]) -> list[Record]:
    """Leave out empty last columns, as of lines that end with a separator."""
    first, others = records[0][1], [cells for _, cells in records[1:]]
    width = len(others[0]) if others else 0
    empty = 0
    while empty < width - 1 and all(len(cells) == width and not cells[width - 1 - empty] for cells in others):
        empty += 1
    if not empty or len(first) not in (width, width - empty) or any(first[width - empty :]):
        return records
    return [(line, cells[: width - empty]) for line, cells in records]


def _read_counts(
    records: list[Record], layout: Layout, separator: str, options: CsvOptions, name: str
) -> tuple[NDArray[np.int64], list[str] | None, list[str] | None]:
    """Counts, labels of rows and names of columns, without sums and without repetitions."""
    data = records[layout.header :]
    if len(data) < 2 - options.transpose:
        got = "got 1" if data else "got only a header line"
        raise ValueError(f"{name}:{records[-1][0]}: a split needs at least 2 rows (values); {got}; add rows")
    labelled = bool(layout.labelled)
    counted = [(line, cells[labelled:]) for line, cells in data]
    notation = recognise_notation(counted, separator, options.thousands, name)
    if notation.thousands and not options.thousands:
        layout.notes.append(f"{notation.thousands!r} is read as a separator of thousands; see --thousands")
    counts = count_array(data, labelled, notation, name)
    values = [cells[0] for _, cells in data] if labelled else None
    classes = records[0][1][-counts.shape[1] :] if layout.header else None
    lines = [line for line, _ in data]
    if options.margins is not False:
        margins = [
            _is_margin(counts, classes, "column", options.margins, f"{name}:{records[0][0]}"),
            _is_margin(counts.T, values, "row", options.margins, f"{name}:{lines[-1]}"),
        ]
        if options.margins and not any(margins):
            raise ValueError(f"{name}: neither the last row nor the last column is the sum of the others")
        for found, names, kind in zip(margins, (classes, values), ("column", "row"), strict=True):
            if found:
                shown = f" {show(names.pop())}" if names else ""
                layout.notes.append(f"the last {kind}{shown} is the sum of the others and left out; see --no-margins")
        counts = counts[: len(counts) - margins[1], : counts.shape[1] - margins[0]]
    if values:
        counts, values = _distinct(counts, values, options.merge, lines, name)
    if classes:
        merged, classes = _distinct(counts.T, classes, options.merge, None, f"{name}:{records[0][0]}")
        counts = merged.T
    return counts, values, classes


def _is_margin(counts: NDArray[np.int64], names: list[str] | None, kind: str, said: bool | None, place: str) -> bool:
    """Whether the last column is the sum of the others, and meant as that."""
    others, last = counts[:, :-1], counts[:, -1]
    if not others.shape[1]:
        return False
    differs = others.sum(axis=1) != last
    if names and is_margin(names[-1]):
        if differs.any():
            v = int(np.argmax(differs))
            found = f"holds {last[v]} where the others add up to {others[v].sum()}"
            hint = "correct the counts, or say --no-margins if it is no sum"
            raise ValueError(f"{place}: the last {kind} {show(names[-1])} {found}; {hint}")
        return True
    if differs.any() or said:
        return not differs.any()
    # By chance, a small table may look like one with sums.
    if others.any(axis=0).sum() > 1 and others.any(axis=0).sum() + others.any(axis=1).sum() > 4:
        readings = "--margins leaves it out, --no-margins reads counts"
        raise ValueError(f"{place}: the last {kind} is the sum of the others: {readings}")
    return False


def _distinct(
    counts: NDArray[np.int64], names: list[str], merge: bool, lines: list[int] | None, place: str
) -> tuple[NDArray[np.int64], list[str]]:
    """Rows of different names; rows of the same name are added up if the user says so."""
    first: dict[str, int] = {}
    row = [first.setdefault(label, len(first)) for label in names]
    if len(first) == len(names):
        return counts, names
    if not merge:
        again = next(v for v, number in enumerate(row) if number != v)
        before = row[again]
        if lines is None:
            where = f"{place}: class {show(names[again])} is named twice; --merge adds up its counts"
        else:
            where = f"{place}:{lines[again]}: label {show(names[again])} stands in line {lines[before]} too"
            where += "; --raw counts the lines if each is one example, --merge adds up their counts"
        raise ValueError(where)
    merged = np.zeros((len(first), counts.shape[1]), dtype=np.int64)
    np.add.at(merged, row, counts)
    return merged, list(first)


def _describe(shape: tuple[int, ...], layout: Layout, separator: str) -> str:
    size = f"{shape[0]} values x {shape[1]} class{'es' if shape[1] > 1 else ''}"
    top = "header line read" if layout.header else "no header line"
    side = {True: "first column read as labels; ", False: "no label column; ", None: ""}[layout.labelled]
    between = "no separator" if layout.labelled is False and shape[1] == 1 else f"separator {separator!r}"
    return f"{size}; {top}; {side}{between}"
