"""Contingency tables from csv files: what is recognised, what is refused, and how that is said."""

import csv
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splitlab.tables import csv_file as table_file
from splitlab.tables.contingency import MAX_TOTAL, as_counts
from splitlab.tables.csv_file import CsvOptions, read_table
from tests.helpers.tables import check_counts, table_strategy

UNTIMED = settings(deadline=None)  # a busy machine is no error


# --- read_table: accepted


def write(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


PLAIN = [[1, 2], [3, 4]]
ANY_HEADER, NO_HEADER = "header line read", "no header line"
ANY_LABELS, NO_LABELS = "first column read as labels", "no label column"

FILES = [
    # content, counts, values, classes, separator
    ("1,2\n3,4\n", PLAIN, None, None, ","),
    ("1,2\n3,4", PLAIN, None, None, ","),
    ("1;2\n3;4\n", PLAIN, None, None, ";"),
    ("1\t2\n3\t4\n", PLAIN, None, None, "\t"),
    ("1,2\r\n3,4\r\n", PLAIN, None, None, ","),
    ("1,2\r3,4\r", PLAIN, None, None, ","),
    ("\n\n1,2\n  \n\n3,4\n\n", PLAIN, None, None, ","),
    ("\ufeff1,2\n3,4\n", PLAIN, None, None, ","),
    ("\ufeffx,y\n1,2\n3,4\n", PLAIN, None, ("x", "y"), ","),
    (" 1 , 2\t\n3,   4 \n", PLAIN, None, None, ","),
    ("1.0,2.000\n3,4.0\n", PLAIN, None, None, ","),
    ('"1","2"\n"3", "4"\n', PLAIN, None, None, ","),
    ("x,y\n1,2\n3,4\n", PLAIN, None, ("x", "y"), ","),
    ("a,1,2\nb,3,4\n", PLAIN, ("a", "b"), None, ","),
    ("v,x,y\na,1,2\nb,3,4\n", PLAIN, ("a", "b"), ("x", "y"), ","),
    ("v\tx\ty\na\t1\t2\nb\t3\t4\n", PLAIN, ("a", "b"), ("x", "y"), "\t"),
    ("x,y\na,1,2\nb,3,4\n", PLAIN, ("a", "b"), ("x", "y"), ","),  # header one cell shorter
    ("0,1\na,1,2\nb,3,4\n", PLAIN, ("a", "b"), ("0", "1"), ","),
    ("x,1\n5,1,2\n6,3,4\n", PLAIN, ("5", "6"), ("x", "1"), ","),
    (",x,y\n5,1,2\n6,3,4\n", PLAIN, ("5", "6"), ("x", "y"), ","),  # header with an empty first cell
    (",0,1\n0,1,2\n1,3,4\n", PLAIN, ("0", "1"), ("0", "1"), ","),  # as pandas writes it
    (",0,other\n0,1,2\n1,3,4\n", PLAIN, ("0", "1"), ("0", "other"), ","),
    ("5,x,y\na,1,2\nb,3,4\n", PLAIN, ("a", "b"), ("x", "y"), ","),
    ('v,"x,1;2","y ""z"""\n"a;b;c\td",1,2\nb,3,4\n', PLAIN, ("a;b;c\td", "b"), ("x,1;2", 'y "z"'), ","),
    ('"a,b";x;y\n"l\nm";1;2\nn;3;4\n', PLAIN, ("l\nm", "n"), ("x", "y"), ";"),
    ("v;x,1;y\na;1;2\nb;3;4\n", PLAIN, ("a", "b"), ("x,1", "y"), ";"),
    ('5" pipe,1,2\nb,3,4\n', PLAIN, ('5" pipe', "b"), None, ","),
    ('"";"x,y"\n"a";"1"\n"b";"3"\n', [[1], [3]], ("a", "b"), ("x,y",), ";"),
    ("Köln,1,2\n東京,3,4\n", PLAIN, ("Köln", "東京"), None, ","),
    ("yes,1,2\nnan,3,4\n", PLAIN, ("yes", "nan"), None, ","),
    ("v,no,nan,inf\na,1,2,3\nb,3,4,5\n", [[1, 2, 3], [3, 4, 5]], ("a", "b"), ("no", "nan", "inf"), ","),
    ("v,18-25,26+\na,1,2\nb,3,4\n", PLAIN, ("a", "b"), ("18-25", "26+"), ","),
    ("a,1\nb,3\n", [[1], [3]], ("a", "b"), None, ","),
    ("v,n\na,1\nb,3\n", [[1], [3]], ("a", "b"), ("n",), ","),
    ("0,0,0\n0,7,0\n", [[0, 0, 0], [0, 7, 0]], None, None, ","),
    (f"{MAX_TOTAL},0\n0,0\n", [[MAX_TOTAL, 0], [0, 0]], None, None, ","),
    (f"{MAX_TOTAL - 1}.0,0\n0,1\n", [[MAX_TOTAL - 1, 0], [0, 1]], None, None, ","),
]


@pytest.mark.parametrize(("content", "counts", "values", "classes", "separator"), FILES)
def test_files(
    tmp_path: Path, content: str, counts: list[list[int]], values: object, classes: object, separator: str
) -> None:
    table = read_table(write(tmp_path, content))
    check_counts(table.counts, counts)
    assert table.values == values
    assert table.classes == classes
    size = f"{len(counts)} values x {len(counts[0])} class{'es' if len(counts[0]) > 1 else ''}"
    header, labels = (ANY_HEADER if classes else NO_HEADER), (ANY_LABELS if values else NO_LABELS)
    assert table.recognised == f"{size}; {header}; {labels}; separator {separator!r}"


@pytest.mark.parametrize(("content", "classes"), [("5\n7\n", None), ("x\n5\n7\n", ("x",)), ("x\n\n5\n\n7", ("x",))])
def test_one_column(tmp_path: Path, content: str, classes: object) -> None:
    table = read_table(write(tmp_path, content))
    check_counts(table.counts, [[5], [7]])
    assert (table.values, table.classes) == (None, classes)
    assert table.recognised.startswith("2 values x 1 class; ")
    assert table.recognised.endswith("; no separator")


def test_the_file_name_may_look_like_a_message(tmp_path: Path) -> None:
    path = write(tmp_path, "0,0\n0,0\n", name="table: entry.csv")
    with pytest.raises(ValueError) as error:
        read_table(path)
    assert str(error.value) == f"{path}: every count is 0; at least one example is needed"


def test_text_and_path_are_accepted(tmp_path: Path) -> None:
    path = write(tmp_path, "1,2\n3,4\n")
    np.testing.assert_array_equal(read_table(str(path)).counts, read_table(path).counts)


def test_separator_ties_and_majority(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "a;b,c\n1,2\n3,4\n")).classes == ("a;b", "c")
    assert read_table(write(tmp_path, "a,b;c;d\n1;2;3\n4;5;6\n"), CsvOptions(labels=False)).classes == ("a,b", "c", "d")
    assert read_table(write(tmp_path, "a\tb;c\n1;2\n3;4\n")).classes == ("a\tb", "c")


# Pieces that csv, spreadsheets and number formats make something of; the letter keeps them from being numbers
LABELS = st.text(st.sampled_from("abz ,;\t\"'\n\r|é£٣01.-+"), max_size=6).map(lambda t: f"L{t}x")


@UNTIMED
@given(table_strategy(max_count=10**6), st.data())
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, table: np.ndarray, data: st.DataObject
) -> None:
    n, k = table.shape
    values = data.draw(st.none() | st.lists(LABELS, min_size=n, max_size=n, unique=True))
    classes = data.draw(st.none() | st.lists(LABELS, min_size=k, max_size=k, unique=True))
    separator, ending = data.draw(st.sampled_from(",;\t")), data.draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    frame = pd.DataFrame(table, index=values, columns=classes)
    path = tmp_path_factory.getbasetemp() / "round.csv"
    options: dict[str, Any] = {"index": values is not None, "header": classes is not None, "sep": separator}
    frame.to_csv(path, lineterminator=ending, quoting=csv.QUOTE_ALL, **options)
    said = CsvOptions(header=classes is not None, labels=values is not None, margins=False)
    back = read_table(path, said)
    np.testing.assert_array_equal(back.counts, table)
    assert back.values == (values and tuple(values))
    assert back.classes == (classes and tuple(classes))


# --- read_table: refused


REFUSED = [
    # content, message after the file name
    ("", ":1: the file is empty"),
    ("\n \n\n", ":1: the file is empty"),
    ("\ufeff", ":1: the file is empty"),
    ("x,y\n", ":1: a split needs at least 2 rows (values); got only a header line; add rows"),
    ("\n\nv,x,y\n\n", ":3: a split needs at least 2 rows (values); got only a header line"),
    (",0,1\n", ":1: a split needs at least 2 rows (values); got only a header line"),
    ("x\n", ":1: a split needs at least 2 rows (values); got only a header line"),
    ("1,2\n", ":1: a split needs at least 2 rows (values); got 1; add rows"),
    ("a,1,2\n", ":1: a split needs at least 2 rows (values); got 1; add rows"),
    ("x,y\n1,2\n", ":2: a split needs at least 2 rows (values); got 1; add rows"),
    ("x,y\n1,2\n3,oops\n", ":3: column 2: 'oops' is not a count; counts must be whole numbers >= 0"),
    ("a,1,2\nb,3,oops\n", ":2: column 3: 'oops' is not a count"),
    ("x,y\n\n\n1,2\n3,oops\n", ":5: column 2: 'oops' is not a count"),
    ('v,x\n"two\nlines",1\nb,oops\n', ":4: column 2: 'oops' is not a count"),
    ('v,x\na,1\n"two\nlines",oops\n', ":3: column 2: 'oops' is not a count"),
    ("a,1,2\n7,3,4\n", ":1: column 1: 'a' is not a count"),  # a label column has labels only
    ("1,2\n3,\n", ":2: column 2: '' is empty; write 0 where there are no examples"),
    ("1,2\n,4\n", ":2: column 1: '' is empty; write 0"),
    ("1,\n3,4\n", ":1: column 2: '' is empty; write 0"),
    ("5,,\n3,4,1\n6,7,8\n", ":1: column 2: '' is empty; write 0"),  # no header of empty names
    ("1,2\n,\n", ":2: column 1: '' is empty"),
    ("1,2\n-3,4\n", ":2: column 1: '-3' is negative; counts must be whole numbers >= 0"),
    ("-1,-2\n3,4\n", ":1: column 1: '-1' is negative"),
    ("1,2\n3,-4.5\n", ":2: column 2: '-4.5' is negative"),
    ("1,2\n3,−4\n", ":2: column 2: '−4' is negative"),
    ("1,2\n3,4.5\n", ":2: column 2: '4.5' is fractional; counts must be whole numbers >= 0"),
    ("1.5,2.5\n3,4\n", ":1: column 1: '1.5' is fractional"),
    ("1,2\n3,.5\n", ":2: column 2: '.5' is fractional"),
    ("1,2\n3,0.0000000000000000000001\n", ":2: column 2: '0.0000000000000000000001' is fractional"),
    ("1;2\n3;4,5\n", ":2: column 2: '4,5' is not a count; write counts in plain digits"),
    *(
        (
            f"1,2\n3,{cell}\n",
            f":2: column 2: {cell!r} is not a count; write counts in plain digits, such as 1000",
        )
        for cell in [
            "1e3",
            "1E3",
            "1e+3",
            "0x10",
            "1_000",
            "007",
            "00",
            "00.0",
            "+5",
            "-0",
            "-0.0",
            "3.",
            "1 000",
        ]
    ),
    *((f"1,2\n3,{c}\n", f":2: column 2: {c!r} is not a count") for c in ["١٢", "１２", "²", "½", "५", "5%", "1'000"]),
    *((f"1,2\n3,{c}\n", f":2: column 2: {c!r} is not a count") for c in ["nan", "NaN", "inf", "-inf", "NA", "True"]),
    *((f"{c}\n3\n4\n", f":1: column 1: {c!r} is") for c in ["1e3", "0x10", "007", "-3", "2.5", "1_000", "١٢", "nan"]),
    ("007,0x10\n3,4\n5,6\n", ":1: column 1: '007' is not a count"),  # no header of mistyped counts
    ("nan,nan\n3,4\n5,6\n", ":1: column 1: 'nan' is not a count"),
    ("1 000,2 000\n3,4\n5,6\n", ":1: column 1: '1 000' is not a count"),
    (
        "5,2O,3\n3,4,1\n6,7,8\n",
        ":1: column 2: '2O' is a word, but column 3 holds '3'; correct the count, or, for",
    ),
    (f"1,2\n3,{MAX_TOTAL + 1}\n", f":2: column 2: '{MAX_TOTAL + 1}' is too large"),
    (
        f"{MAX_TOTAL - 5},2\n4,0\n",
        ":2: column 1: '4' is too large after a total of 999999999999997; counts may be",
    ),
    ("1,2\n3," + "9" * 5000 + "\n", ":2: column 2: '" + "9" * 40 + "'... (5000 long) is too large"),
    (",1,2\n,3,4\n", ":2: label '' stands in line 1 too"),  # the first line is a row like the other
    ("a,1,2\na,3,4\n", ":2: label 'a' stands in line 1 too"),
    ("v,x,x\na,1,2\nb,3,4\n", ":1: class 'x' is named twice"),
    ("0,0\n0,0\n", ": every count is 0; at least one example is needed"),
    ("x\n1,2\n3,4\n", ":1: 'x' stands alone above rows of two numbers; delete it, or"),
    ("my counts\n1,2\n3,4.0\n", ":1: 'my counts' stands alone above rows of two numbers"),
    ("1,2\n3\n", ":2: found 1 cell, expected 2 (compare line 1); all rows must be equally long"),
    ("1,2\n3,4,5\n6,7\n", ":2: found 3 cells, expected 2 (compare line 1)"),
    ("\n1,2\n3,4\n5\n", ":4: found 1 cell, expected 2 (compare line 2)"),
    ("v,x,y\na,1,2\nb,3\n", ":3: found 2 cells, expected 3 (compare line 1)"),
    ("x,y\na,1,2\nb,3\n", ":2: found 3 cells, expected 2 (compare line 1)"),
    ("1,2\n3,4,5\n6,7,8\n", ":2: found 3 cells, expected 2 (compare line 1)"),  # the rows have no labels
    ("v\na;1;2\nb;3;4\n", ":2: column 1: 'a;1;2' is not a count"),
    ("1 2\n3 4\n", ":1: column 1: '1 2' is not a count"),
    ('1,2\n3,"4\n', ":2: unexpected end of data; check the quotes in this line"),
    ('1,2\n3,"4"5\n', ":2: ',' expected after '\"'; check the quotes in this line"),
    ("1,2\n3," + "x" * 200_000 + "\n", ":2: field larger than field limit (131072)"),
    ("1,2\n3," + "x" * 1000 + "\n", ":2: column 2: '" + "x" * 40 + "'... (1000 long) is not a count"),
    ('1,2\n3,"x\n\x1b[31m\u202ey"\n', r":2: column 2: 'x\n\x1b[31m\u202ey' is not a count"),
    (b"1,2\n3,\xff\n", ":2: byte 0xff is not UTF-8 text; save as UTF-8 csv"),
    (b"K\xf6ln,1\nx,2\n", ":1: byte 0xf6 is not UTF-8 text"),
    (b"1,2\n3,4\0\n", ":2: byte 0x00 is not UTF-8 text"),
    (b"1,\0\n3,\xff\n", ":1: byte 0x00 is not UTF-8 text"),
    ("1,2\n3,4\n".encode("utf-16"), ":1: byte 0xff is not UTF-8 text"),
    (b"\x89PNG\r\n\x1a\n\0\0", ":1: byte 0x89 is not UTF-8 text"),
]


@pytest.mark.parametrize(("content", "message"), REFUSED)
def test_refused_files(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(ValueError) as error:
        read_table(path)
    assert type(error.value) is ValueError  # a UnicodeDecodeError is one too
    assert str(error.value).startswith(f"{path}{message}")
    assert str(error.value).isprintable()


def test_a_mistyped_count_in_the_first_line_does_not_make_it_a_header(tmp_path: Path) -> None:
    for content, word, number in [("a,5,2O\nb,3,4\nc,5,6\n", 3, 2), ("a,2O,5\nb,3,4\nc,5,6\n", 2, 3)]:
        with pytest.raises(ValueError, match=rf":1: column {word}: '2O' is a word, but column {number} holds '5'"):
            read_table(write(tmp_path, content))
    with pytest.raises(ValueError, match=":1: column 2: 'x' is a word, but column 3 holds ''"):
        read_table(write(tmp_path, "v,x,\na,1,2\nb,3,4\n"))


def test_file_errors_pass_through(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing\.csv"):
        read_table(tmp_path / "missing.csv")
    with pytest.raises(IsADirectoryError):
        read_table(tmp_path)
    with pytest.raises(NotADirectoryError):
        read_table(write(tmp_path, "1,2\n3,4\n") / "t.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path: Path) -> None:
    path = write(tmp_path, "1,2\n3,4\n")
    path.chmod(0)
    with pytest.raises(PermissionError):
        read_table(path)


def test_control_characters_in_the_file_name(tmp_path: Path) -> None:
    path = write(tmp_path, "1,2\n3,x\n", name="a\x1b[31m.csv")
    with pytest.raises(ValueError) as error:
        read_table(path)
    assert str(error.value).startswith(f"{str(path)!r}:2: column 2: 'x' is not a count")


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(table_file.MAX_FILE_BYTES + 1)
    with pytest.raises(ValueError, match=r"large\.csv: is larger than 64 MB; a table of counts is wanted"):
        read_table(path)
    monkeypatch.setattr(table_file, "MAX_FILE_BYTES", 8)
    assert read_table(write(tmp_path, "1,2\n3,4\n")).counts.tolist() == PLAIN
    with pytest.raises(ValueError, match="is larger than"):
        read_table(write(tmp_path, "1,2\n3,4\n\n"))


def test_too_many_cells(tmp_path: Path) -> None:
    line = "1" + ",1" * 999 + "\n"
    assert read_table(write(tmp_path, line * 1000)).counts.shape == (1000, 1000)
    with pytest.raises(ValueError, match=r":1001: more than 1,000,000 cells; give a smaller table"):
        read_table(write(tmp_path, line * 1000 + "1\n"))


@UNTIMED
@given(st.binary(max_size=60) | st.text(st.sampled_from('01a,;\t\n\r". -e_x\0\ufeff'), max_size=40).map(str.encode))
def test_no_file_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content)
    try:
        table = read_table(path)
    except ValueError as error:
        assert type(error) is ValueError
        assert str(error).startswith(str(path) + ":")
    else:
        check_counts(table.counts, as_counts(table.counts))
        assert table.values is None or len(table.values) == table.counts.shape[0]
        assert table.classes is None or len(table.classes) == table.counts.shape[1]


# --- the module


def test_import_loads_neither_pandas_nor_numba() -> None:
    code = "import sys, splitlab.tables.contingency; print(sorted({'pandas', 'numba', 'scipy'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
