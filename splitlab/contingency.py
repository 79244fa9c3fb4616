"""Contingency tables: the one door through which counts come in, from Python or from a csv file.

A table A has n rows (attribute *values*) and k columns (*classes*); A[v, i] counts the examples of class i
whose attribute has value v. Behind this door it is an int64 array, n >= 2, k >= 1, 1 <= N <= MAX_TOTAL.
"""

import csv
import io
import math
import os
import re
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Below 2**53, so that counts and all their sums are exact in float64 too.
MAX_TOTAL = 10**15
MAX_FILE_BYTES = 64 * 10**6
MAX_FILE_CELLS = 10**6

_WHOLE = "counts must be whole numbers >= 0"
_TOO_LARGE = "counts may be at most 10**15, also in total"
_COUNT = re.compile(r"(0|[1-9][0-9]*)(?:\.0+)?")
# Whatever may have been meant as a number. Wider than _COUNT on purpose: a mistyped count in the first line
# must be an error and not make that line a header, nor one in the first column make that a label.
_NUMBER_LIKE = re.compile(r"[-+−]?(?:[.,]?\d[\d\s.,'_]*(?:e[-+]?\d+)?%?|0x[0-9a-f]+)", re.IGNORECASE)
_NAN_LIKE = re.compile(r"[-+]?(?:nan|inf|infinity)", re.IGNORECASE)
_Record = tuple[int, list[str]]  # the line where it starts, and its cells


def as_counts(table: object) -> NDArray[np.int64]:
    """Check a contingency table and copy it into an int64 array.

    Parameters
    ----------
    table : list or tuple of rows, numpy.ndarray or pandas.DataFrame, shape (n, k)
        Counts of examples, as integers or integral floats; n >= 2 values, k >= 1 classes. Never modified.

    Returns
    -------
    numpy.ndarray of int64, shape (n, k)
        A fresh C-contiguous copy.

    Raises
    ------
    TypeError
        Booleans, text, objects, complex numbers, dates, None, masked entries; something that is no table.
    ValueError
        Negative, fractional, infinite or NaN entries; counts above `MAX_TOTAL` alone or in total; another
        shape; no example at all. Messages name the first bad entry and its place, counted from 0.

    Examples
    --------
    >>> as_counts([[3, 0], [1.0, 2]])
    array([[3, 0],
           [1, 2]])
    >>> as_counts([[3, 0], [-3, 2]])
    Traceback (most recent call last):
    ValueError: table: entry at row 1, column 0 is -3; counts must be whole numbers >= 0
    """
    if isinstance(table, np.ndarray):
        counts = _from_array(table)
    elif isinstance(table, (list, tuple)):
        counts = _from_rows(table)
    elif any(c.__module__.startswith("pandas") for c in type(table).__mro__) and hasattr(table, "ndim"):
        counts = _from_frame(table)
    else:
        got = f"{_show(table)} ({type(table).__name__})"
        raise TypeError(f"table: got {got}; give a list of rows, a numpy array or a pandas DataFrame")
    _check_total(counts)
    return counts


def _show(value: object) -> str:
    """Show a value in a message: short, on one line, control characters escaped; never fails."""
    if isinstance(value, int) and value.bit_length() > 200:  # repr refuses more than 4300 digits
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, (str, bytes)):
        return repr(value) if len(value) <= 40 else f"{value[:40]!r}... ({len(value)} long)"
    if isinstance(value, (np.bool_, np.number)):
        return str(value)
    if isinstance(value, (list, tuple, dict, set, frozenset, np.ndarray)):
        return f"a {type(value).__name__}"
    shown = reprlib.repr(value)
    return shown if shown.isprintable() else repr(shown)


def _is_number(value: object) -> bool:
    # bool is an int to Python, and timedelta64 an integer to numpy.
    kinds = (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, (bool, np.timedelta64))


def _check_entry(row: int, column: int, value: Any) -> None:
    entry = f"table: entry at row {row}, column {column} is {_show(value)}"
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0):
        raise ValueError(f"{entry}; a table must be two-dimensional")
    if not _is_number(value):
        raise TypeError(f"{entry} ({type(value).__name__}); {_WHOLE}")
    if isinstance(value, np.generic):
        value = value.item()  # a float16 cannot be compared with 1e15
    if not 0 <= value < math.inf or (value <= MAX_TOTAL and value % 1):
        raise ValueError(f"{entry}; {_WHOLE}")
    if value > MAX_TOTAL:
        raise ValueError(f"{entry}; {_TOO_LARGE}")


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ValueError(f"table: must be two-dimensional (values x classes); got shape {shape}")
    if shape[0] == 0:
        raise ValueError("table: is empty: no rows (values)")
    if shape[1] == 0:
        raise ValueError(f"table: is empty: no columns (classes) in {shape[0]} rows")
    if shape[0] == 1:
        raise ValueError("table: a split needs at least 2 rows (values); got 1")


def _check_total(counts: NDArray[np.int64]) -> None:
    # Float sums decide exactly: up to 2**53 they are exact, and beyond they are far above the limit.
    running = np.cumsum(counts, dtype=np.float64)
    if running[-1] == 0:
        raise ValueError("table: every count is 0; at least one example is needed")
    if running[-1] > MAX_TOTAL:
        row, column = divmod(int(np.argmax(running > MAX_TOTAL)), counts.shape[1])
        place = f"the entry at row {row}, column {column}, {counts[row, column]}, goes beyond the limit"
        raise ValueError(f"table: the counts add up to {sum(counts.ravel().tolist())}; {place}; {_TOO_LARGE}")


def _from_array(array: NDArray[Any]) -> NDArray[np.int64]:
    _check_shape(array.shape)
    if np.ma.is_masked(array):
        row, column = np.argwhere(np.ma.getmaskarray(array))[0]
        raise TypeError(f"table: entry at row {row}, column {column} is masked; fill masked entries first")
    array = np.asarray(array)
    if array.dtype.kind not in "iuf":
        _refuse_dtype(array)
    wide = array.astype(np.promote_types(array.dtype, np.float64))  # 1e15 is not exact in float32
    good = (wide >= 0) & (wide <= MAX_TOTAL) & (wide == np.floor(wide))
    if not good.all():
        row, column = divmod(int(np.argmin(good)), array.shape[1])
        _check_entry(row, column, array[row, column])
    return array.astype(np.int64, order="C", copy=True)


def _refuse_dtype(array: NDArray[Any]) -> None:
    for (row, column), value in np.ndenumerate(array):
        if not _is_number(value):
            _check_entry(row, column, value)
    entry = f"table: entry at row 0, column 0 is {_show(array[0, 0])}"
    raise TypeError(f"{entry}, of dtype {array.dtype}; convert the table with .astype(int)")


def _from_rows(rows: Sequence[Any]) -> NDArray[np.int64]:
    # Not np.asarray: it makes True a 1, 2 a '2' beside text, and 10**30 an object.
    for i, row in enumerate(rows):
        _check_row(i, row, rows[0])
        for j, value in enumerate(row):
            _check_entry(i, j, value)
    shape = (len(rows), len(rows[0]) if rows else 0)
    _check_shape(shape)
    return np.array([[int(c) for c in row] for row in rows], dtype=np.int64)


def _check_row(i: int, row: Any, first: Any) -> None:
    if not isinstance(row, (list, tuple, range)) and not (isinstance(row, np.ndarray) and row.ndim > 0):
        error = ValueError if _is_number(row) else TypeError
        hint = "a table must be two-dimensional, every row a list of counts"
        raise error(f"table: row {i} is {_show(row)} ({type(row).__name__}); {hint}")
    if len(row) != len(first):
        lengths = f"row {i} has {len(row)} entries, row 0 has {len(first)}"
        raise ValueError(f"table: {lengths}; rows must be equally long")


def _from_frame(frame: Any) -> NDArray[np.int64]:
    _check_shape(frame.shape)
    if any(dtype.kind not in "iuf" for dtype in frame.dtypes):
        _refuse_dtype(frame.astype(object).to_numpy())
    # By column and by place: names may repeat, and nullable integers would come out as objects.
    return _from_array(np.column_stack([frame.iloc[:, j].to_numpy() for j in range(frame.shape[1])]))


@dataclass(frozen=True, eq=False)
class Reduced:
    """A table without its rows and columns of zeros; made by `reduce_table`.

    `counts` (int64) is what is left, possibly a single row or column; `rows` and `columns` are the places of
    its rows and columns in the original table, ascending; `n_rows` is the number of rows there.
    """

    counts: NDArray[np.int64]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    n_rows: int

    def expand(self, left: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Carry a split of the reduced rows over to the original rows; rows of zeros go left.

        Parameters
        ----------
        left : numpy.ndarray of bool, shape (len(rows),)
            True for the reduced rows on the left side.

        Returns
        -------
        numpy.ndarray of bool, shape (n_rows,)

        Raises
        ------
        TypeError, ValueError
            If `left` is not boolean (indices would pass for a mask), or has another shape.

        Examples
        --------
        >>> reduce_table(np.array([[0, 0], [3, 1], [0, 2]])).expand(np.array([False, True]))
        array([ True, False,  True])
        """
        left = np.asarray(left)
        if left.dtype != np.bool_:
            raise TypeError(f"left: must be boolean; got {left.dtype}")
        if left.shape != self.rows.shape:
            raise ValueError(f"left: must have shape {self.rows.shape}; got {left.shape}")
        original = np.ones(self.n_rows, dtype=np.bool_)
        original[self.rows] = left
        return original


def reduce_table(counts: NDArray[np.int64]) -> Reduced:
    """Drop the rows and columns of zeros.

    Parameters
    ----------
    counts : numpy.ndarray of int64, shape (n, k)
        As `as_counts` returns it; not modified.

    Returns
    -------
    Reduced

    Examples
    --------
    >>> reduced = reduce_table(np.array([[0, 0, 0], [3, 0, 1]]))
    >>> reduced.counts, reduced.rows, reduced.columns
    (array([[3, 1]]), array([1]), array([0, 2]))
    """
    rows, columns = np.flatnonzero(counts.any(axis=1)), np.flatnonzero(counts.any(axis=0))
    return Reduced(np.ascontiguousarray(counts[np.ix_(rows, columns)]), rows, columns, len(counts))


def proportional_groups(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row, the index of the first row with the same class probabilities.

    Proportional rows are equal once divided by their greatest common divisor: no tolerance, no products that
    overflow. By the hyperplanes lemma they need never be separated. Rows of zeros form a group of their own.

    Parameters
    ----------
    counts : numpy.ndarray of int64, shape (n, k)
        As `as_counts` returns it; not modified.

    Returns
    -------
    numpy.ndarray of int64, shape (n,)

    Examples
    --------
    >>> proportional_groups(np.array([[1, 2], [5, 1], [2, 4], [0, 0]]))
    array([0, 1, 0, 3])
    """
    divisors = np.maximum(np.gcd.reduce(counts, axis=1, keepdims=True), 1)
    _, first, inverse = np.unique(counts // divisors, axis=0, return_index=True, return_inverse=True)
    return first[inverse.ravel()].astype(np.int64)


def merge_proportional(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add up the rows of each group of proportional rows.

    Parameters
    ----------
    counts : numpy.ndarray of int64, shape (n, k)
        As `as_counts` returns it; not modified.

    Returns
    -------
    numpy.ndarray of int64, shape (m, k), m <= n
        One row per group, in order of first appearance; possibly a single one.

    Examples
    --------
    >>> merge_proportional(np.array([[1, 2, 3], [5, 1, 0], [2, 4, 6]]))
    array([[3, 6, 9],
           [5, 1, 0]])
    """
    first, group = np.unique(proportional_groups(counts), return_inverse=True)
    merged = np.zeros((len(first), counts.shape[1]), dtype=np.int64)
    np.add.at(merged, group, counts)
    return merged


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """A contingency table from a file, with what was recognised in it; made by `read_table`.

    `counts` has shape (n, k); `values` and `classes` are the n row and k column labels (which may repeat),
    None without a label column or header line; `recognised` is for people, such as
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
    empty, or if it is one cell shorter than all other lines. The first column holds labels if none of its
    cells looks like a number, or if the header has an empty first cell or is the shorter line.

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
        raise ValueError(f"{name}:{line}: {error}; check the quotes in this line") from None
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
    if shorter:
        return any(words) or not any(_NUMBER_LIKE.fullmatch(cells[0]) for cells in others)
    beyond = min(1, len(first) - 1)  # the first cell decides only where it is alone
    if beyond and not first[0] and all(cells[0] for cells in others):
        return True
    if any(words[beyond:]) and any(numbers[beyond:]):
        # Reading over this line would lose a row of counts with one mistyped cell, and nobody would know.
        w, n = words.index(True, beyond), numbers.index(True, beyond)
        cells = f"column {w + 1}: {_show(first[w])} is a word, but column {n + 1} holds {_show(first[n])}"
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
                raise ValueError(f"{name}:{line}: column {j + 1 + labelled}: {_show(cell)} {fault}")
            rows[-1][j] = int(cell.partition(".")[0])
            total += rows[-1][j]
    return np.array(rows, dtype=np.int64)


def _cell_fault(cell: str, total: int) -> str | None:
    """Say why a cell is no count that can be added to `total`; None if it is one."""
    count = _COUNT.fullmatch(cell)
    if count:
        within = len(count[1]) <= 16 and total + int(count[1]) <= MAX_TOTAL  # int() refuses 4301 digits
        return None if within else f"is too large after a total of {total}; {_TOO_LARGE}"
    if not cell:
        return "is empty; write 0 where there are no examples"
    if not _NUMBER_LIKE.fullmatch(cell):
        return f"is not a count; {_WHOLE}, labels stand in the first column of every row or in the first line"
    if re.fullmatch(r"[-−][0-9.]*[1-9][0-9.]*", cell):
        return f"is negative; {_WHOLE}"
    if re.fullmatch(r"[0-9]*\.[0-9]*[1-9][0-9]*", cell):
        return f"is fractional; {_WHOLE}"
    return "is not a count; write counts in plain digits, such as 1000, without leading zeros"


def _describe(shape: tuple[int, ...], header: bool, labelled: bool, separator: str) -> str:
    size = f"{shape[0]} values x {shape[1]} class{'es' if shape[1] > 1 else ''}"
    top = "header line read" if header else "no header line"
    side = "first column read as labels" if labelled else "no label column"
    between = f"separator {separator!r}" if labelled or shape[1] > 1 else "no separator"
    return f"{size}; {top}; {side}; {between}"
