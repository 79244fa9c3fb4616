"""Contingency tables: the one door through which counts come in (`csv_file` reads them from csv files).

A table A has n rows (attribute *values*) and k columns (*classes*); A[v, i] counts the examples of class i
whose attribute has value v. Behind this door it is an int64 array, n >= 2, k >= 1, 1 <= N <= MAX_TOTAL.
"""

import math
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splitlab.text import counted

# Below 2**53, so that counts and all their sums are exact in float64 too.
MAX_TOTAL = 10**15

WHOLE = "counts must be whole numbers >= 0"
_MARGINS = frozenset({"all", "total", "totals", "sum", "grand total", "row total", "column total"})
TOO_LARGE = "counts may be at most 10**15, also in total"


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
        got = f"{show(table)} ({type(table).__name__})"
        raise TypeError(f"table: got {got}; give a list of rows, a numpy array or a pandas DataFrame")
    _check_total(counts)
    return counts


def show(value: object) -> str:
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


def is_margin(name: str) -> bool:
    """Whether a label names sums, such as All (as pandas writes it) or Total."""
    return name.casefold() in _MARGINS


def _is_number(value: object) -> bool:
    # bool is an int to Python, and timedelta64 an integer to numpy.
    kinds = (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, (bool, np.timedelta64))


def _check_entry(row: int, column: int, value: Any) -> None:
    entry = f"table: entry at row {row}, column {column} is {show(value)}"
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0):
        raise ValueError(f"{entry}; a table must be two-dimensional")
    if not _is_number(value):
        raise TypeError(f"{entry} ({type(value).__name__}); {WHOLE}")
    if isinstance(value, np.generic):
        value = value.item()  # a float16 cannot be compared with 1e15
    if not 0 <= value < math.inf or (value <= MAX_TOTAL and value % 1):
        raise ValueError(f"{entry}; {WHOLE}")
    if value > MAX_TOTAL:
        raise ValueError(f"{entry}; {TOO_LARGE}")


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
        raise ValueError(f"table: the counts add up to {sum(counts.ravel().tolist())}; {place}; {TOO_LARGE}")


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
    entry = f"table: entry at row 0, column 0 is {show(array[0, 0])}"
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
        raise error(f"table: row {i} is {show(row)} ({type(row).__name__}); {hint}")
    if len(row) != len(first):
        lengths = f"row {i} has {counted(len(row), 'entry')}, row 0 has {len(first)}"
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
