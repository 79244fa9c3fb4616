"""Contingency tables from csv files: what is a header, what are labels, and what is wrong, said with its line."""

import csv
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splitlab.files import is_regular_file
from splitlab.tables.contingency import MAX_TOTAL, TOO_LARGE, WHOLE, as_counts, show

MAX_FILE_BYTES = 64 * 10**6
MAX_FILE_CELLS = 10**6

_COUNT = re.compile(r"(0|[1-9][0-9]*)(?:\.0+)?")
# Whatever may have been meant as a number. Wider than _COUNT on purpose: a mistyped count in the first line
# must be an error and not make that line a header, nor one in the first column make that a label.
_NUMBER_LIKE = re.compile(r"[-+−]?(?:[.,]?\d[\d\s.,'_]*(?:e[-+]?\d+)?%?|0x[0-9a-f]+)", re.IGNORECASE)
_NAN_LIKE = re.compile(r"[-+]?(?:nan|inf|infinity)", re.IGNORECASE)
_Record = tuple[int, list[str]]  # the line where it starts, and its cells


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """A contingency table from a file, with what was recognised in it; made by `read_table`.

    `counts` has shape (n, k); `values` and `classes` are the n row and k column labels (which may repeat),
    None without a label column or header line; `recognised` says it in words, such as
    "5 values x 3 classes; header line read; first column read as labels; separator ','".
    """

    counts: NDArray[np.int64]
    values: tuple[str, ...] | None
    classes: tuple[str, ...] | None
    recognised: str


def read_table(path: str | os.PathLike[str]) -> LabelledTable:
    """Read a contingency table from a csv file.

    The separator is the comma, semicolon or tab that makes most cells of the first line. The first line is a
    header if no cell beyond its first looks like a number, if its first cell (and that of no other line) is
    empty, or if it is one cell shorter than all other lines; a single cell above pairs of numbers, which may be
    a remark, is refused. The first column holds labels if none of its cells looks like a number, or if the header
    has an empty first cell or is the shorter line.

    Parameters
    ----------
    path : str or path-like
        A UTF-8 file of at most 64 MB and 1,000,000 cells. Blank lines are skipped. Counts are plain digits,
        such as 12 or 12.0; one row per value, one column per class.

    Returns
    -------
    LabelledTable

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it holds no such table; the message names file, line and column (both from 1) and the cell.

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
    name = str(path) if str(path).isprintable() else repr(str(path))
    text = _read_text(Path(path), name)
    separator = max(",;\t", key=lambda candidate: _first_width(text, candidate))  # the comma wins ties
    records = _read_records(text, separator, name)
    header, labelled = _layout(records, name)
    data = records[header:]
    if len(data) < 2:
        got = "got 1" if data else "got only a header line"
        raise ValueError(f"{name}:{records[-1][0]}: a split needs at least 2 rows (values); {got}; add rows")
    array = _count_array(data, labelled, name)
    try:
        counts = as_counts(array)
    except ValueError as error:
        raise ValueError(f"{name}: {str(error).removeprefix('table: ')}") from None
    values = tuple(cells[0] for _, cells in data) if labelled else None
    classes = tuple(records[0][1][-counts.shape[1] :]) if header else None
    return LabelledTable(counts, values, classes, _describe(counts.shape, header, labelled, separator))


def _read_text(path: Path, name: str) -> str:
    if not path.is_dir() and not is_regular_file(path):  # a pipe could be waited for without an end
        raise ValueError(f"{name}: is no regular file; a csv file is wanted")
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)  # sizes told by the file system are wrong for pipes and devices
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"{name}: is larger than {MAX_FILE_BYTES // 10**6} MB; a table of counts is wanted")
    bad = data.find(b"\0")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = error.start if bad < 0 else min(bad, error.start)
    if bad >= 0:
        line = data.count(b"\n", 0, bad) + 1
        raise ValueError(f"{name}:{line}: byte 0x{data[bad]:02x} is not UTF-8 text; save as UTF-8 csv")
    return text.removeprefix("\ufeff")


def _csv_reader(text: str, separator: str) -> Any:
    stream = io.StringIO(text, newline="")
    return csv.reader(stream, delimiter=separator, skipinitialspace=True, strict=True)


def _first_width(text: str, separator: str) -> int:
    try:
        return next((len(cells) for cells in _csv_reader(text, separator) if any(map(str.strip, cells))), 0)
    except csv.Error:  # quotes do not fit this separator; if they fit none, _read_records says so
        return 0


def _read_records(text: str, separator: str, name: str) -> list[_Record]:
    reader = _csv_reader(text, separator)
    records: list[_Record] = []
    size, line = 0, 1
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if len(cells) > 1 or any(stripped):
                records.append((line, stripped))
            size += len(cells)
            if size > MAX_FILE_CELLS:
                raise ValueError(f"{name}:{line}: more than {MAX_FILE_CELLS:,} cells; give a smaller table")
            line = reader.line_num + 1
    except csv.Error as error:
        problem = str(error).replace("\t", r"\t")  # a separator is quoted as it is
        raise ValueError(f"{name}:{line}: {problem}; check the quotes in this line") from None
    if not records:
        raise ValueError(f"{name}:1: the file is empty; a row of counts for each value is wanted")
    return records


def _layout(records: list[_Record], name: str) -> tuple[bool, bool]:
    """Whether there is a header line, and whether there is a label column."""
    first, others = records[0][1], [cells for _, cells in records[1:]]
    shorter = bool(others) and all(len(cells) == len(first) + 1 for cells in others)
    header = _is_header(records[0], others, shorter, name)
    width = len(first) + (header and shorter)
    for line, cells in records[header:]:
        if len(cells) != width:
            found = f"found {len(cells)} cells, expected {width} (compare line {records[0][0]})"
            raise ValueError(f"{name}:{line}: {found}; all rows must be equally long")
    announced = header and (shorter or not first[0])
    labels = [cells[0] for _, cells in records[header:]]
    return header, width > 1 and (announced or not any(map(_NUMBER_LIKE.fullmatch, labels)))


def _is_header(record: _Record, others: list[list[str]], shorter: bool, name: str) -> bool:
    line, first = record
    numbers = [not c or _NUMBER_LIKE.fullmatch(c) is not None for c in first]
    words = [not (n or _NAN_LIKE.fullmatch(c)) for n, c in zip(numbers, first, strict=True)]
    if shorter and len(first) == 1 and all(_NUMBER_LIKE.fullmatch(cell) for cells in others for cell in cells):
        # Labels and the counts of a single class, or counts of two classes under a title or a remark?
        hint = "delete it, or, for a header line, name the labels and every class"
        raise ValueError(f"{name}:{line}: {show(first[0])} stands alone above rows of two numbers; {hint}")
    if shorter:
        return any(words) or not any(_NUMBER_LIKE.fullmatch(cells[0]) for cells in others)
    beyond = min(1, len(first) - 1)  # the first cell decides only where it is alone
    if beyond and not first[0] and all(cells[0] for cells in others):
        return True
    if any(words[beyond:]) and any(numbers[beyond:]):
        # Reading over this line would lose a row of counts with one mistyped cell, unnoticed.
        w, n = words.index(True, beyond), numbers.index(True, beyond)
        cells = f"column {w + 1}: {show(first[w])} is a word, but column {n + 1} holds {show(first[n])}"
        hint = "correct the count, or, for a header line, give every class a name that is no number"
        raise ValueError(f"{name}:{line}: {cells}; {hint}")
    return any(words[beyond:])


def _count_array(data: list[_Record], labelled: bool, name: str) -> NDArray[np.int64]:
    rows, total = [], 0
    for line, cells in data:
        rows.append([0] * (len(cells) - labelled))
        for j, cell in enumerate(cells[labelled:]):
            fault = _cell_fault(cell, total)
            if fault:
                raise ValueError(f"{name}:{line}: column {j + 1 + labelled}: {show(cell)} {fault}")
            rows[-1][j] = int(cell.partition(".")[0])
            total += rows[-1][j]
    return np.array(rows, dtype=np.int64)


def _cell_fault(cell: str, total: int) -> str | None:
    """Say why a cell is no count that can be added to `total`; None if it is one."""
    count = _COUNT.fullmatch(cell)
    if count:
        within = len(count[1]) <= 16 and total + int(count[1]) <= MAX_TOTAL  # int() refuses 4301 digits
        return None if within else f"is too large after a total of {total}; {TOO_LARGE}"
    if not cell:
        return "is empty; write 0 where there are no examples"
    if not _NUMBER_LIKE.fullmatch(cell):
        return f"is not a count; {WHOLE}, labels stand in the first column of every row or in the first line"
    if re.fullmatch(r"[-−][0-9.]*[1-9][0-9.]*", cell):
        return f"is negative; {WHOLE}"
    if re.fullmatch(r"[0-9]*\.[0-9]*[1-9][0-9]*", cell):
        return f"is fractional; {WHOLE}"
    return "is not a count; write counts in plain digits, such as 1000, without leading zeros"


def _describe(shape: tuple[int, ...], header: bool, labelled: bool, separator: str) -> str:
    size = f"{shape[0]} values x {shape[1]} class{'es' if shape[1] > 1 else ''}"
    top = "header line read" if header else "no header line"
    side = "first column read as labels" if labelled else "no label column"
    between = f"separator {separator!r}" if labelled or shape[1] > 1 else "no separator"
    return f"{size}; {top}; {side}; {between}"
