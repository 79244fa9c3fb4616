"""Raw data in a csv file: every line is one example, and the reader counts them."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from splitlab.tables.contingency import show
from splitlab.tables.csv_cells import Record, as_floats
from splitlab.tables.csv_layout import CsvOptions, Layout
from splitlab.text import counted

MAX_TABLE_CELLS = 10**6


def count_examples(
    records: list[Record], options: CsvOptions, name: str
) -> tuple[tuple[NDArray[np.int64], list[str], list[str]], Layout]:
    """Count the examples of each value and class.

    The first line is a header if its cell in the column of the class stands in no other line, or if it names the
    columns that the user asks for.

    Parameters
    ----------
    records : list of (line, cells)
        The lines of the file.
    options : CsvOptions
        `value` and `target` name the columns; without them there must be two, the value first.
    name : str
        The name of the file, for messages.

    Returns
    -------
    (counts, values, classes), layout
        `counts` has shape (n, k); labels are sorted, as numbers where all are.

    Raises
    ------
    ValueError
        For columns that are not there, lines of other lengths, and empty cells.
    """
    line, first = records[0]
    said = [option for option in ("labels", "thousands", "margins") if getattr(options, option) is not None]
    if said or options.merge:
        raise ValueError(f"{name}: --raw counts lines, and does not go with --{(said or ['merge'])[0]}")
    if not (options.value and options.target) and len(first) != 2:
        columns = f"line {line} has {counted(len(first), 'column')} ({show(', '.join(first))})"
        raise ValueError(f"{name}:{line}: {columns}; say which with --value COLUMN and --target COLUMN")
    value, target = (
        _column(first, asked, option, f"{name}:{line}") if asked else default
        for asked, default, option in ((options.value, 0, "--value"), (options.target, 1, "--target"))
    )
    if value == target:
        raise ValueError(f"{name}: --value and --target are both column {value + 1}; give two columns")
    header = options.header
    if header is None:
        named = any(asked in first for asked in (options.value, options.target) if asked)
        header = named or all(len(cells) <= target or cells[target] != first[target] for _, cells in records[1:])
    data = records[header:]
    for at, cells in data:
        if len(cells) != len(first):
            found = f"found {counted(len(cells), 'cell')}, expected {len(first)} (compare line {line})"
            raise ValueError(f"{name}:{at}: {found}; all lines must be equally long")
        for column in (value, target):
            if not cells[column]:
                raise ValueError(f"{name}:{at}: column {column + 1} is empty; fill it in or delete the line")
    pairs = Counter((cells[value], cells[target]) for _, cells in data)
    values, classes = _sorted(v for v, _ in pairs), _sorted(c for _, c in pairs)
    if len(values) * len(classes) > MAX_TABLE_CELLS:
        raise ValueError(f"{name}: {len(values)} values x {len(classes)} classes are too many; choose other columns")
    counts = np.array([[pairs[v, c] for c in classes] for v in values], dtype=np.int64)
    layout = Layout(header, None)
    if options.header is None:
        read = "the header; --no-header reads an example" if header else "an example; --header reads the header"
        layout.notes.append(f"line {line} ({', '.join(first[:6])}) is read as {read}")
    return (counts, values, classes), layout


def _column(first: list[str], asked: str, option: str, place: str) -> int:
    """The place of a column that is named as in the first line, or by its number from 1."""
    if first.count(asked) == 1:
        return first.index(asked)
    if asked.isascii() and asked.isdigit() and len(asked) < 9 and 1 <= int(asked) <= len(first):
        return int(asked) - 1
    problem = f"no column {show(asked)} for {option}"
    raise ValueError(f"{place}: {problem}; there are {show(', '.join(first))}, and their numbers from 1")


def _sorted(labels: Iterable[str]) -> list[str]:
    different = sorted(set(labels))
    numbers = as_floats(different)
    return [different[i] for i in np.argsort(numbers, kind="stable")] if numbers else different
