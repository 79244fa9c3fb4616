"""Cells of a csv file: what looks like a number, how counts are written, and what is wrong with a cell."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from splitlab.tables.contingency import MAX_TOTAL, TOO_LARGE, WHOLE, show

Record = tuple[int, list[str]]  # the line where it starts, and its cells without outer blanks

# Whatever may have been meant as a number. Wider than a count on purpose: a mistyped count in the first line
# must be an error and not make that line a header, nor one in the first column make that a label.
_NUMBER_LIKE = re.compile(r"[-+−]?(?:[.,]?\d[\d\s.,'_]*(?:e[-+]?\d+)?%?|0x[0-9a-f]+)", re.IGNORECASE)
_NAN_LIKE = re.compile(r"[-+]?(?:nan|inf|infinity)", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,15}(?:[.,][0-9]{1,15})?")


def is_number(cell: str) -> bool:
    """Whether a cell may have been meant as a number."""
    return _NUMBER_LIKE.fullmatch(cell) is not None


def is_word(cell: str) -> bool:
    """Whether a cell is neither empty nor like a number, nor NaN or infinity."""
    return bool(cell) and not is_number(cell) and not _NAN_LIKE.fullmatch(cell)


def as_floats(cells: Iterable[str]) -> list[float] | None:
    """The cells as numbers; None if one of them is not a plain decimal number."""
    cells = list(cells)
    if not all(map(_PLAIN_NUMBER.fullmatch, cells)):
        return None
    return [float(cell.replace(",", ".")) for cell in cells]


def is_ascending(numbers: Sequence[float]) -> bool:
    """Whether every number is larger than the one before."""
    return all(a < b for a, b in pairwise(numbers))


class Notation:
    """How a file writes counts: with or without separators of thousands, and what its decimal mark is.

    Parameters
    ----------
    thousands : str or None
        The character between thousands.
    decimal : str
        The decimal mark. A count may have zeros behind it, as in 12.0.
    """

    def __init__(self, thousands: str | None = None, decimal: str = ".") -> None:
        self.thousands = thousands
        grouped = rf"[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})+|" if thousands else ""
        self._count = re.compile(rf"({grouped}0|[1-9][0-9]*)(?:{re.escape(decimal)}0+)?")

    def digits(self, cell: str) -> str | None:
        """The plain digits of a count; None if the cell is not a count."""
        found = self._count.fullmatch(cell)
        return found[1].replace(self.thousands or "", "") if found else None


def recognise_notation(rows: Iterable[Record], separator: str, thousands: str | None, name: str) -> Notation:
    """Find out how the counts of a file are written.

    A mark before exactly three digits, as in 1.234, separates thousands if it stands twice in a cell (1.234.567),
    or together with the other mark (1.234,0), or is the comma in a file separated by commas; it is a decimal mark
    if any cell has another number of digits behind it. Otherwise the file does not tell.

    Parameters
    ----------
    rows : iterable of (line, cells)
        Cells of counts only.
    separator : str
        What separates the cells of the file.
    thousands : str or None
        What the user said: a character, "none", or nothing.
    name : str
        The name of the file, for messages.

    Raises
    ------
    ValueError
        If 1.234 may be either.
    """
    cells = [(line, cell) for line, row in rows for cell in row if "," in cell or "." in cell]
    decimal_comma = separator != "," and any(re.fullmatch(r"[0-9]+,0+", cell) for _, cell in cells)
    if thousands == "none":
        return Notation(None, "," if decimal_comma else ".")
    if thousands:
        return Notation(thousands, "," if thousands == "." else ".")
    for mark, other in (",.", ".,"):
        group = rf"[1-9][0-9]{{0,2}}(?:\{mark}[0-9]{{3}})+(?:\{other}0+)?"
        grouped = [(line, cell) for line, cell in cells if re.fullmatch(group, cell)]
        fraction = rf"0\{mark}[0-9]+|[0-9]+\{mark}(?![0-9]{{3}}$)[0-9]+"
        if not grouped or any(re.fullmatch(fraction, cell) for _, cell in cells):
            continue
        if mark == separator or any(cell.count(mark) > 1 or other in cell for _, cell in grouped):
            return Notation(mark, other)
        line, cell = grouped[0]
        digits = cell.replace(mark, "")
        options = f"--thousands '{mark}' reads {digits}, --thousands none reads a decimal number"
        raise ValueError(f"{name}:{line}: {cell!r} can be read in two ways: {options}")
    return Notation(None, "," if decimal_comma else ".")


def count_array(data: list[Record], labelled: bool, notation: Notation, name: str) -> NDArray[np.int64]:
    """The counts of all rows.

    Parameters
    ----------
    data : list of (line, cells)
        Rows of equal length.
    labelled : bool
        Whether the first cell of each row is a label.
    notation : Notation
        How the counts are written.
    name : str
        The name of the file, for messages.

    Returns
    -------
    numpy.ndarray of int64, shape (rows, columns)

    Raises
    ------
    ValueError
        At the first cell that is not a count; the message names line and column, both from 1.
    """
    rows, total = [], 0
    for line, cells in data:
        row = []
        for j, cell in enumerate(cells[labelled:], start=1 + labelled):
            fault = _cell_fault(cell, notation.digits(cell), total)
            if fault:
                raise ValueError(f"{name}:{line}: column {j}: {show(cell)} {fault}{_hint(data, cell, j)}")
            row.append(int(notation.digits(cell) or 0))
            total += row[-1]
        rows.append(row)
    return np.array(rows, dtype=np.int64)


def _cell_fault(cell: str, digits: str | None, total: int) -> str | None:
    """Say why a cell is no count that can be added to `total`; None if it is one."""
    if digits is not None:
        within = len(digits) <= 16 and total + int(digits) <= MAX_TOTAL  # int() refuses 4301 digits
        return None if within else f"is too large after a total of {total}; {TOO_LARGE}"
    if not cell:
        return "is empty; write 0 where there are no examples"
    if not is_number(cell):
        return f"is not a count; {WHOLE}, labels stand in the first column of every row or in the first line"
    if cell.endswith("%"):
        return "is not a count but a percentage; give the numbers of examples"
    if re.fullmatch(r"[-−][0-9.]*[1-9][0-9.]*", cell):
        return f"is negative; {WHOLE}"
    if re.fullmatch(r"[0-9]*\.[0-9]*[1-9][0-9]*", cell):
        return f"is fractional; {WHOLE}, not shares"
    return "is not a count; write counts in plain digits, such as 1000, without leading zeros, or say --thousands"


def _hint(data: list[Record], cell: str, column: int) -> str:
    """The option that may be missing where a word stands in place of a count."""
    if not is_word(cell):
        return ""
    if column > 1 and all(is_word(cells[column - 1]) for _, cells in data):
        return "; if each line is one example, --raw counts them"
    return "; --labels reads the first column as labels" if column == 1 and len(data[0][1]) > 1 else ""
