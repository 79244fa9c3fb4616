"""Lines of a csv file, cut into cells: what every reader of csv files here has in common."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

from splitlab.tables.csv_cells import Record

SEPARATORS = ",;\t|"  # the comma wins ties


def decoded(data: bytes, name: str) -> str:
    """The text of a csv file, without a byte order mark; ValueError that names the line where it is no text."""
    bad = data.find(b"\0")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = error.start if bad < 0 else min(bad, error.start)
    if bad >= 0:
        line = data.count(b"\n", 0, bad) + 1
        raise ValueError(f"{name}:{line}: byte 0x{data[bad]:02x} is not UTF-8 text; save as UTF-8 csv")
    return text.removeprefix("\ufeff")


def csv_reader(text: str, separator: str, strip: bool = True) -> Any:
    """Python's csv reader of a text; with ``strip`` there may be blanks around quoted cells."""
    if strip and '"' in text:  # the reader itself allows blanks before them only
        text = re.sub(rf'("(?:[^"]|"")*") +(?={re.escape(separator)}|[\r\n]|\Z)', r"\1", text)
    stream = io.StringIO(text, newline="")
    return csv.reader(stream, delimiter=separator, skipinitialspace=strip, strict=True)


def read_records(text: str, separator: str, name: str, strip: bool = True) -> Iterator[Record]:
    """The lines that are not blank, each with its number from 1, cut into cells.

    Parameters
    ----------
    text : str
        The content of the file.
    separator : str
        The character between cells.
    name : str
        The name of the file, for messages.
    strip : bool
        Whether blanks around cells are left out. At the end of a line they always are.

    Raises
    ------
    ValueError
        The quotes of a line do not fit.
    """
    reader = csv_reader(text, separator, strip)
    line = 1
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if len(cells) > 1 or any(stripped):
                yield line, stripped if strip else [*cells[:-1], cells[-1].rstrip()]
            line = reader.line_num + 1
    except csv.Error as error:
        problem = str(error).replace("\t", r"\t")  # a separator is quoted as it is
        raise ValueError(f"{name}:{line}: {problem}; check the quotes in this line") from None
