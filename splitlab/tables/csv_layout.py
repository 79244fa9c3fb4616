"""Header line and label column of a csv file: recognised where the file tells, else an error with both readings."""

from dataclasses import dataclass, field

from splitlab.tables.contingency import is_margin, show
from splitlab.tables.csv_cells import Record, as_floats, is_ascending, is_number, is_word
from splitlab.text import counted


@dataclass(frozen=True)
class CsvOptions:
    """What a user says about a csv file; the reader recognises what is None.

    Attributes
    ----------
    header, labels : bool or None
        Whether the first line is a header, and whether the first column holds labels.
    separator : str or None
        The character between cells.
    thousands : str or None
        The character between thousands, or "none".
    margins : bool or None
        True: a last row or column that is the sum of the others is left out; False: it holds counts.
    merge : bool
        Add up rows of the same label and columns of the same class.
    transpose : bool
        The rows of the file are classes, and its columns are values.
    raw : bool
        Every line is one example; the reader counts them.
    value, target : str or None
        For `raw`: name or number (from 1) of the column of the attribute, and of that of the class.
    """

    header: bool | None = None
    labels: bool | None = None
    separator: str | None = None
    thousands: str | None = None
    margins: bool | None = None
    merge: bool = False
    transpose: bool = False
    raw: bool = False
    value: str | None = None
    target: str | None = None


@dataclass
class Layout:
    """What was recognised in a file, and notes for the user that name the option for another reading."""

    header: bool
    labelled: bool | None  # None for raw data, which has neither labels nor counts
    notes: list[str] = field(default_factory=list)


def recognise_layout(records: list[Record], options: CsvOptions, name: str) -> Layout:
    """Find the header line and the label column.

    Parameters
    ----------
    records : list of (line, cells)
        The lines of the file; not empty.
    options : CsvOptions
        What the user said.
    name : str
        The name of the file, for messages.

    Returns
    -------
    Layout

    Raises
    ------
    ValueError
        If the file can be read in two ways, or its rows differ in length.
    """
    layout = Layout(header=bool(options.header), labelled=bool(options.labels))
    first, others = records[0][1], [cells for _, cells in records[1:]]
    shorter = bool(others) and all(len(cells) == len(first) + 1 for cells in others)
    if options.header is None:
        layout.header = _is_header(records, shorter, options, layout.notes, name)
    width = len(first) + (layout.header and shorter and options.labels is not False)
    for line, cells in records[layout.header :]:
        if len(cells) != width:
            found = f"found {counted(len(cells), 'cell')}, expected {width} (compare line {records[0][0]})"
            raise ValueError(f"{name}:{line}: {found}; all rows must be equally long")
    if options.labels is None:
        layout.labelled = _has_labels(records, layout.header, shorter, layout.notes, name)
        if not layout.labelled or all(is_number(cells[0]) for _, cells in records[layout.header :]):
            _refuse_examples(records[layout.header :], name)
    elif options.labels and width == 1:
        raise ValueError(f"{name}:{records[0][0]}: the only column cannot hold labels; say --no-labels")
    return layout


def _is_header(records: list[Record], shorter: bool, options: CsvOptions, notes: list[str], name: str) -> bool:
    (line, first), others = records[0], [cells for _, cells in records[1:]]
    if shorter and len(first) == 1 and all(is_number(cell) for cells in others for cell in cells):
        # Labels and the counts of a single class, or counts of two classes under a title or a remark?
        hint = "delete it, or, for a header line, name the labels and every class"
        raise ValueError(f"{name}:{line}: {show(first[0])} stands alone above rows of two numbers; {hint}")
    if shorter:
        return any(map(is_word, first)) or not any(is_number(cells[0]) for cells in others)
    if len(first) == 1:
        return is_word(first[0])
    if not first[0] and all(cells[0] for cells in others):  # the empty corner that pandas and spreadsheets write
        return True
    if is_margin(first[-1]):
        return True
    names = first[1:]
    words, numbers = [is_word(c) for c in names], [not c or is_number(c) for c in names]
    if any(words) and any(numbers):
        # Reading over this line would lose a row of counts with one mistyped cell, and nobody would know.
        w, n = words.index(True), numbers.index(True)
        cells = f"column {w + 2}: {show(names[w])} is a word, but column {n + 2} holds {show(names[n])}"
        hint = "correct the count, or, for a header line, give every class a name that is no number, or say --header"
        raise ValueError(f"{name}:{line}: {cells}; {hint}")
    return any(words) or (len(others) >= 2 - options.transpose and _is_header_of_numbers(records, notes, name))


def _is_header_of_numbers(records: list[Record], notes: list[str], name: str) -> bool:
    """Whether numbers in the first line are names of classes, as in a crosstab of 0/1 or of years."""
    (line, first), others = records[0], [cells for _, cells in records[1:]]
    corner = is_word(first[0])
    numbers = as_floats(first[corner:])
    if numbers is None or len(numbers) < 2:
        return False
    below = [float(c) for cells in others for c in cells[corner:] if c.isascii() and c.isdigit()]
    certain = _are_classes(numbers, max(below, default=0.0))
    shown = ", ".join(first if len(first) <= 6 else [*first[:5], "..."])
    if corner and certain:
        notes.append(f"line {line} ({shown}) is read as names of classes; --no-header reads counts")
        return True
    if certain or (corner and is_ascending(numbers)):
        sizes = f"--header reads {counted(len(others), 'row')} of counts, --no-header reads {len(others) + 1}"
        raise ValueError(f"{name}:{line}: {show(shown)} may be names of classes or counts: {sizes}")
    return False


def _are_classes(numbers: list[float], largest: float) -> bool:
    """Whether numbers are 0, 1, ... or 1, 2, 3, ... or years, and unlike the counts below, up to `largest`."""
    k = len(numbers)
    if numbers in ([-1, 1], [-1, 0, 1]):
        return True
    if numbers == list(range(k)) or (k > 2 and numbers == list(range(1, k + 1))):
        return largest > numbers[-1]
    return is_ascending(numbers) and numbers[0] >= 1900 and numbers[-1] <= 2100 and largest < 1900


def _has_labels(records: list[Record], header: bool, shorter: bool, notes: list[str], name: str) -> bool:
    first, data = records[0][1], records[header:]
    width = len(data[0][1]) if data else len(first)
    if width == 1:
        return False
    if header and (shorter or not first[0]):
        return True
    labels = [cells[0] for _, cells in data]
    if not any(map(is_number, labels)):
        return True
    if len(labels) > 2 and is_margin(labels[-1]):
        labels.pop()
    if not all(map(is_number, labels)):
        return False  # a mistyped count, or labels of both kinds: the error on the word names the option
    if header and is_word(first[0]) and not is_word(first[1]):  # educ,0,1
        return True
    numbers, n = as_floats(labels), len(labels)
    if header and width > 2 and n > 2 and numbers and is_ascending(numbers):
        notes.append("column 1, of ascending numbers, is read as labels; --no-labels reads the counts of a class")
        return True
    rows = n > 2 and numbers in (list(range(n)), list(range(1, n + 1)))  # numbers of rows
    if rows or (header and width > 2):
        _refuse_examples(data, name)
        shown = ", ".join(labels if n <= 5 else [*labels[:4], "..."])
        classes = f"--labels reads {width - 1} class{'es' if width > 2 else ''}, --no-labels reads {width}"
        raise ValueError(f"{name}:{data[0][0]}: column 1 ({show(shown)}) may hold labels or counts: {classes}")
    return False


def _refuse_examples(data: list[Record], name: str) -> None:
    """Refuse numbers whose last column is 0, 1, ... or 1, 2, ... over and over: more likely examples than counts."""
    last = {cells[-1] for _, cells in data}
    k = len(last)
    codes = last in ({str(i) for i in range(k)}, {str(i + 1) for i in range(k)})
    if codes and 2 <= k <= len(data) / 2 and len(data[0][1]) > 1:
        column = f"the last column holds only {', '.join(sorted(last)[:4])}{', ...' if k > 4 else ''}"
        options = "--raw counts the lines if each is one example, --labels or --no-labels reads counts"
        raise ValueError(f"{name}:{data[0][0]}: {column}: {options}")
