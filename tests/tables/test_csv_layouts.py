"""Layouts of csv files: what is certain is read; what can be read in two ways is an error that says how to choose."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import splitlab
from splitlab import cli
from splitlab.tables.csv_file import CsvOptions, LabelledTable, read_table
from tests.helpers import ROOT

COUNTS = [[3, 1], [1, 3], [2, 2]]
DOSES = [[5, 5], [9, 1], [6, 4]]


def read(folder: Path, content: str, **options: object) -> LabelledTable:
    path = folder / "t.csv"
    path.write_bytes(content.encode())
    return read_table(path, CsvOptions(**options))  # type: ignore[arg-type]


def refused(folder: Path, content: str, *words: str, **options: object) -> None:
    with pytest.raises(ValueError) as error:
        read(folder, content, **options)
    message = str(error.value)
    assert message.isprintable()
    assert message.startswith(f"{folder / 't.csv'}:")
    assert all(word in message for word in words), message


READ = {
    # content, counts, values, classes
    "crosstab of 0/1": ("colour,0,1\nb,3,1\ng,1,3\nr,2,2\n", COUNTS, "bgr", ["0", "1"]),
    "of 0.0/1.0": ("colour,0.0,1.0\nb,3,1\ng,1,3\nr,2,2\n", COUNTS, "bgr", ["0.0", "1.0"]),
    "of -1/1": ("colour,-1,1\nb,3,1\ng,1,3\nr,2,2\n", COUNTS, "bgr", ["-1", "1"]),
    "of False/True": ("colour,False,True\nb,3,1\ng,1,3\nr,2,2\n", COUNTS, "bgr", ["False", "True"]),
    "of 1/2/3": ("v,1,2,3\na,3,1,5\nb,1,3,6\nc,0,2,1\n", [[3, 1, 5], [1, 3, 6], [0, 2, 1]], "abc", ["1", "2", "3"]),
    "of years": ("colour,2010,2011\nb,3,1\ng,1,3\nr,2,2\n", COUNTS, "bgr", ["2010", "2011"]),
    "numeric labels": ("dose,no,yes\n1,5,5\n2,9,1\n300,6,4\n", DOSES, ["1", "2", "300"], ["no", "yes"]),
    "decimal labels": ("dose,no,yes\n0.5,5,5\n1,9,1\n2.5,6,4\n", DOSES, ["0.5", "1", "2.5"], ["no", "yes"]),
    "both numeric": ("educ,0,1\n8,5,5\n12,9,1\n16,6,4\n", DOSES, ["8", "12", "16"], ["0", "1"]),
    "empty corner": (",no,yes\n1,5,5\n300,9,1\n2,6,4\n", DOSES, ["1", "300", "2"], ["no", "yes"]),
    "semicolon, BOM, CRLF": ("\ufeffcolour;0;1\r\nb;3;1\r\ng;1;3\r\nr;2;2\r\n", COUNTS, "bgr", ["0", "1"]),
    "tab": ("colour\t0\t1\nb\t3\t1\ng\t1\t3\nr\t2\t2\n", COUNTS, "bgr", ["0", "1"]),
    "bar": ("colour|0|1\nb|3|1\ng|1|3\nr|2|2\n", COUNTS, "bgr", ["0", "1"]),
    "quoted": ('"v;w","x","y"\n"b;c","3","1"\n"g","1","3"\n', COUNTS[:2], ["b;c", "g"], "xy"),
    "blank lines": ("v,x,y\n\nb,3,1\n\n\ng,1,3\n\n", COUNTS[:2], "bg", "xy"),
    "spaces": ("v , x , y\n b , 3, 1\n g, 1, 3\n", COUNTS[:2], "bg", "xy"),
    "last separator": ("v,x,y,\nb,3,1,\ng,1,3,\n", COUNTS[:2], "bg", "xy"),
    "last separator of the rows": ("v,x,y\nb,3,1,\ng,1,3,\n", COUNTS[:2], "bg", "xy"),
    "decimal comma": ("v;x;y\nb;3,0;1,0\ng;1,0;3,0\n", COUNTS[:2], "bg", "xy"),
    "decimal comma alone": ("3,0;1,0\n1,0;3,0\n", COUNTS[:2], None, None),
    "thousands in quotes": ('v,x,y\nb,"3,001",1\ng,1,"12,345,678"\n', [[3001, 1], [1, 12345678]], "bg", "xy"),
    "thousands twice": ("v;x;y\nb;3.001;1\ng;1;12.345.678\n", [[3001, 1], [1, 12345678]], "bg", "xy"),
    "thousands and decimals": ("v;x;y\nb;3.001,0;1\ng;1;2\n", [[3001, 1], [1, 2]], "bg", "xy"),
    "zeros are decimals": ("v,x,y\nb,3.000,1.0\ng,1,3\n", COUNTS[:2], "bg", "xy"),
    "ranges": ("age,x,y\n<18,3,1\n18-25,1,3\n26+,2,2\n", COUNTS, ["<18", "18-25", "26+"], "xy"),
    "no header, by its numbers": ("b,3,1\ng,1,3\nr,2,2\n", COUNTS, "bgr", None),
    "margins": (
        "colour,yes,no,All\nblue,9,1,10\ngreen,1,9,10\nred,8,2,10\nAll,18,12,30\n",
        [[9, 1], [1, 9], [8, 2]], ["blue", "green", "red"], ["yes", "no"],
    ),
    "margins of codes": ("c,0,1,All\nb,3,1,4\ng,1,3,4\nAll,4,4,8\n", COUNTS[:2], "bg", ["0", "1"]),
    "margins of numbers": ("e,0,1,All\n8,3,1,4\n12,1,3,4\nAll,4,4,8\n", COUNTS[:2], ["8", "12"], ["0", "1"]),
    "a last row of sums": ("v,x,y\nb,3,1\ng,1,3\nTotal,4,4\n", COUNTS[:2], "bg", "xy"),
    "a last column of sums": ("v,x,y,total\nb,3,1,4\ng,1,3,4\n", COUNTS[:2], "bg", "xy"),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_what_is_certain_is_read(case: str, tmp_path: Path) -> None:
    content, counts, values, classes = READ[case]
    table = read(tmp_path, content)
    assert table.counts.tolist() == counts
    assert table.values == (None if values is None else tuple(values))
    assert table.classes == (None if classes is None else tuple(classes))


AMBIGUOUS = {
    # content, words of the message, then options and the counts that they give
    "class codes 1/2": ("v,1,2\na,3,1\nb,1,3\nc,2,2\n", ["'v, 1, 2' may be names of classes or counts"],
        {"header": True}, COUNTS, {"header": False}, [[1, 2], *COUNTS]),
    "class codes without a corner": ("0,1\n3,1\n1,3\n2,2\n", ["--header reads 3 rows", "--no-header reads 4"],
        {"header": True}, COUNTS, {"header": False}, [[0, 1], *COUNTS]),
    "0/1 like the counts": ("v,0,1\na,1,0\nb,1,1\n", [":1: "],
        {"header": True}, [[1, 0], [1, 1]], {"header": False}, [[0, 1], [1, 0], [1, 1]]),
    "years like the counts": ("v,1950,2010\na,1900,1\nb,1,3\n", [":1: "],
        {"header": True}, [[1900, 1], [1, 3]], {"header": False}, [[1950, 2010], [1900, 1], [1, 3]]),
    "labels in no order": ("dose,no,yes\n9,5,5\n2,9,1\n3,6,4\n", ["column 1 ('9, 2, 3') may hold labels or counts"],
        {"labels": True}, DOSES, {"labels": False}, [[9, 5, 5], [2, 9, 1], [3, 6, 4]]),
    "numbers of rows": ("1,5,5\n2,9,1\n3,6,4\n", ["--labels reads 2 classes, --no-labels reads 3"],
        {"labels": True}, DOSES, {"labels": False}, [[1, 5, 5], [2, 9, 1], [3, 6, 4]]),
    "a single class": ("dose,n\n1,5\n2,9\n3,6\n", ["--labels reads 1 class, --no-labels reads 2"],
        {"labels": True}, [[5], [9], [6]], {"labels": False}, [[1, 5], [2, 9], [3, 6]]),
    "labels of both kinds": ("age,no,yes\n18,5,5\n19,9,1\nunknown,6,4\n", [":4: column 1: 'unknown'", "--labels"],
        {"labels": True}, DOSES, {"labels": True, "header": True}, DOSES),
    "a point": ("v;x;y\nb;1.234;5\ng;7;2.000\n", [":2: '1.234'", "--thousands '.' reads 1234", "none"],
        {"thousands": "."}, [[1234, 5], [7, 2000]], {"thousands": "."}, [[1234, 5], [7, 2000]]),
    "a point before zeros": ("v;x;y\nb;1.000;5\ng;7;2.000\n", ["'1.000' can be read in two ways"],
        {"thousands": "."}, [[1000, 5], [7, 2000]], {"thousands": "none"}, [[1, 5], [7, 2]]),
    "a comma": ("v\tx\ty\nb\t1,000\t5\ng\t7\t2,000\n", ["'1,000' can be read in two ways"],
        {"thousands": ","}, [[1000, 5], [7, 2000]], {"thousands": "none"}, [[1, 5], [7, 2]]),
    "a blank": ("v,x,y\nb,1 000,5\ng,7,2 000\n", ["'1 000' is not a count", "--thousands"],
        {"thousands": " "}, [[1000, 5], [7, 2000]], {"thousands": " ", "labels": True}, [[1000, 5], [7, 2000]]),
    "sums of another name": ("v,x,y,n\nb,3,1,4\ng,1,3,4\nr,2,2,4\n", ["the last column is the sum of the others"],
        {"margins": True}, COUNTS, {"margins": False}, [[3, 1, 4], [1, 3, 4], [2, 2, 4]]),
    "sums without a name": ("3,1\n1,3\n2,2\n6,6\n", ["the last row is the sum of the others"],
        {"margins": True}, COUNTS, {"margins": False}, [*COUNTS, [6, 6]]),
    "raw data": ("colour,y\nr,0\nr,1\ng,1\nb,0\n", [":3: label 'r' stands in line 2 too", "--raw counts the lines"],
        {"raw": True}, [[1, 0], [0, 1], [1, 1]], {"merge": True}, [[1], [1], [0]]),
    "raw numbers": ("age,y\n20,0\n25,1\n20,1\n30,0\n", ["the last column holds only 0, 1", "--raw", "--no-labels"],
        {"raw": True}, [[1, 1], [0, 1], [1, 0]], {"labels": False}, [[20, 0], [25, 1], [20, 1], [30, 0]]),
    "repeated labels": ("v,yes,no\na,5,0\nb,0,5\na,0,5\n", [":4: label 'a' stands in line 2 too", "--merge"],
        {"merge": True}, [[5, 5], [0, 5]], {"merge": True, "header": True}, [[5, 5], [0, 5]]),
    "repeated classes": ("v,x,y,x\na,5,0,1\nb,0,5,2\n", [":1: class 'x' is named twice", "--merge"],
        {"merge": True}, [[6, 0], [2, 5]], {"merge": True, "header": True}, [[6, 0], [2, 5]]),
}  # fmt: skip


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_what_is_ambiguous_is_an_error_and_an_option_chooses(case: str, tmp_path: Path) -> None:
    content, words, one, counts, other, others = AMBIGUOUS[case]
    refused(tmp_path, content, *words)
    assert read(tmp_path, content, **one).counts.tolist() == counts
    assert read(tmp_path, content, **other).counts.tolist() == others


REFUSED = {
    "percentages": ("v,x,y\na,75%,25%\nb,10%,90%\n", ":2: column 2: '75%' is not a count but a percentage"),
    "fractions": ("v,x,y\na,0.75,0.25\nb,0.1,0.9\n", ":2: column 2: '0.75' is fractional", "not shares"),
    "decimal fractions": ("v;x;y\na;0,75;0,25\nb;0,1;0,9\n", ":2: column 2: '0,75' is not a count"),
    "negative": ("v,x,y\na,5,-1\nb,3,4\n", ":2: column 3: '-1' is negative"),
    "a bad group": ('v,x,y\na,"12,34",5\nb,7,2\n', ":2: column 2: '12,34' is not a count"),
    "a wrong sum": ("v,x,y,Total\na,9,1,10\nb,1,9,11\n", "'Total' holds 11 where the others add up to 10"),
    "a wrong last row": ("v,x,y\na,9,1\nb,1,9\nAll,10,11\n", ":4: the last row 'All' holds 11"),
    "raw words": ("colour,y\nr,no\nr,yes\ng,yes\n", ":2: column 2: 'no' is not a count", "--raw counts them"),
    "raw words, three columns": ("id,colour,y\n1,r,0\n2,r,1\n3,g,1\n", ":2: column 2: 'r'", "--raw counts them"),
    "raw numbers, three columns": ("age,pay,y\n20,5,0\n25,7,1\n20,9,1\n30,3,0\n", "--raw counts the lines"),
    "raw numbers with an id": ("id,age,y\n1,20,0\n2,25,1\n3,30,1\n4,22,0\n", "--raw counts the lines"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_table_of_counts_is_refused(case: str, tmp_path: Path) -> None:
    refused(tmp_path, *REFUSED[case])


def test_decisions_are_said(tmp_path: Path) -> None:
    assert read(tmp_path, "v,x,y\nb,3,1\ng,1,3\n").notes == ()
    for content, option in [
        (READ["crosstab of 0/1"][0], "--no-header"),
        (READ["numeric labels"][0], "--no-labels"),
        (READ["margins"][0], "--no-margins"),
        (READ["thousands twice"][0], "--thousands"),
        ("v,x,y\na,75,25\nb,10,90\nc,5,95\n", "percentages"),
        ("v,x\na,7\nb,1\n", "one class only"),
    ]:
        assert option in " ".join(read(tmp_path, content).notes)


def test_no_margins_keeps_a_class_of_that_name(tmp_path: Path) -> None:
    table = read(tmp_path, "v,x,y,All\nb,3,1,4\ng,1,3,4\n", margins=False)
    assert table.classes == ("x", "y", "All")
    refused(tmp_path, "v,x,y\nb,3,1\ng,1,3\n", "neither the last row nor the last column", margins=True)


def test_transpose(tmp_path: Path) -> None:
    table = read(tmp_path, "y,blue,green,red\nno,3,1,2\nyes,1,3,2\n", transpose=True)
    assert (table.counts.tolist(), table.values, table.classes) == (COUNTS, ("blue", "green", "red"), ("no", "yes"))
    one = read(tmp_path, "y,blue,green\nno,3,1\n", transpose=True)
    assert (one.counts.tolist(), one.classes) == ([[3], [1]], ("no",))
    assert table.recognised.endswith("; transposed")


def test_separators_can_be_said(tmp_path: Path) -> None:
    assert read(tmp_path, "x y\na 3 1\nb 1 3\n", separator=" ").values == ("a", "b")
    assert read(tmp_path, "v:x:y\na:3:1\nb:1:3\n", separator=":").counts.tolist() == COUNTS[:2]


RAW = "id,colour,size,y\n1,r,2,no\n2,r,10,yes\n3,g,2,yes\n4,b,2,no\n"


def test_raw_data(tmp_path: Path) -> None:
    table = read(tmp_path, RAW, raw=True, value="colour", target="y")
    assert (table.values, table.classes) == (("b", "g", "r"), ("no", "yes"))
    assert table.counts.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert table.recognised.startswith("4 examples counted, 3 values x 2 classes; header line read")
    by_number = read(tmp_path, RAW, raw=True, value="3", target="4")
    assert (by_number.values, by_number.counts.tolist()) == (("2", "10"), [[2, 1], [0, 1]])
    refused(tmp_path, RAW, ":1: line 1 has 4 columns", "--value COLUMN and --target COLUMN", raw=True)
    refused(tmp_path, RAW, "no column 'color' for --value", "id, colour, size, y", raw=True, value="color", target="y")
    refused(tmp_path, RAW, "both column 2", raw=True, value="colour", target="2")
    refused(tmp_path, "v,y\na,0\n,1\n", ":3: column 1 is empty", raw=True)
    refused(tmp_path, "v,y\na,0\nb,1,2\n", ":3: found 3 cells, expected 2", raw=True)
    refused(tmp_path, "v,y\na,0\nb,1\n", "does not go with --labels", raw=True, labels=True)


@pytest.mark.parametrize("header", [None, False])
def test_raw_data_without_a_header(header: bool | None, tmp_path: Path) -> None:
    table = read(tmp_path, "r,no\nr,yes\ng,yes\nb,no\n", raw=True, header=header)
    assert (table.values, table.counts.tolist()) == (("b", "g", "r"), [[1, 0], [0, 1], [1, 1]])


def test_raw_data_count_as_pandas_counts_them(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    frame = pd.DataFrame({"v": generator.integers(0, 12, 500), "y": generator.integers(0, 3, 500)})
    table = read(tmp_path, frame.to_csv(index=False), raw=True)
    crosstab = pd.crosstab(frame.v, frame.y)
    np.testing.assert_array_equal(table.counts, crosstab)
    again = read(tmp_path, crosstab.to_csv())
    np.testing.assert_array_equal(again.counts, crosstab)
    assert (again.values, again.classes) == (table.values, table.classes)
    sums = read(tmp_path, pd.crosstab(frame.v, frame.y, margins=True).to_csv())
    np.testing.assert_array_equal(sums.counts, crosstab)


# The command line


def command(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str, str]:
    code = cli.main(["split", *map(str, args)])
    said = capsys.readouterr()
    return code, said.out, said.err


RIGHT = {
    "A1": ("colour,0,1\nb,3,1\ng,1,3\nr,2,2\n", [], {"g"}, {"b", "r"}, 5.25),
    "A2": ("colour,2010,2011\nb,3,1\ng,1,3\nr,2,2\n", [], {"g"}, {"b", "r"}, 5.25),
    "A3": ("dose,no,yes\n1,5,5\n2,9,1\n300,6,4\n", [], {"2"}, {"1", "300"}, 11.7),
    "A4": ("v,yes,no\na,5,0\nb,0,5\na,0,5\n", ["--merge"], {"a"}, {"b"}, 5),
    "A5": (READ["margins"][0], [], {"green"}, {"blue", "red"}, 6.9),
    "A6": ("colour,y\nr,0\nr,1\ng,1\nb,0\n", ["--raw"], {"g"}, {"b", "r"}, 4 / 3),
}


@pytest.mark.parametrize("case", RIGHT)
def test_splits_of_the_collected_files(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, options, one, other, impurity = RIGHT[case]
    (tmp_path / "t.csv").write_text(content)
    code, out, err = command(capsys, tmp_path / "t.csv", "--json", *options)
    assert (code, err) == (0, "")
    found = json.loads(out)
    (result,) = found["results"]
    assert {frozenset(result[side]["values"]) for side in ("left", "right")} == {frozenset(one), frozenset(other)}
    assert result["impurity"] == pytest.approx(impurity, rel=1e-12)
    both = np.add(result["left"]["counts"], result["right"]["counts"])
    assert both.tolist() == np.sum(found["counts"], axis=0).tolist()
    assert len(found["values"]) == len(found["counts"])


def test_the_output_shows_classes_and_counts_of_both_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(RIGHT["A1"][0])
    code, out, _ = command(capsys, tmp_path / "t.csv")
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    assert ["0", "1", "total"] in rows
    assert ["left", "1", "3", "4"] in rows or ["right", "1", "3", "4"] in rows
    assert ["b", "3", "1", "4"] in rows
    assert "note: line 1 (colour, 0, 1) is read as names of classes; --no-header reads counts" in out


def test_several_splitters_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(
        "v,x,y,z\n" + "".join(f"v{i},{i * i % 7},{i * 3 % 5},{i % 4}\n" for i in range(1, 9))
    )
    code, out, _ = command(capsys, tmp_path / "t.csv", "--splitter", "sliq,hcc,exact")
    assert code == 0
    compared = {line.split()[0]: line for line in out.splitlines() if line.startswith(("SLIQ ", "HcC ", "Exact "))}
    assert len(compared) == 3
    assert compared["Exact"].endswith("*")
    code, out, _ = command(capsys, tmp_path / "t.csv", "--splitter", "sliq,hcc,exact", "--json")
    results = json.loads(out)["results"]
    assert [result["splitter"] for result in results] == ["sliq", "hcc", "exact"]
    best = min(result["impurity"] for result in results)
    assert all(result["least"] == (result["impurity"] <= best + 1e-9) for result in results)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--splitter", "hcc,hccc"], "did you mean 'hcc'"),
        (["--value", "colour"], "--value goes with --raw"),
        (["--splitter", "hcc,lca", "--direction", "1,0"], "direction"),
    ],
)
def test_wrong_options_are_one_line(
    args: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(RIGHT["A1"][0])
    code, out, err = command(capsys, tmp_path / "t.csv", *args)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_a_long_separator_is_one_line(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "splitlab", "split", "t.csv", "--separator", "ab"]
    run = subprocess.run(line, capture_output=True, text=True, cwd=ROOT)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert "'ab' is not a separator" in run.stderr


# Python

FRAME = pd.DataFrame({"no": [3, 1, 2], "yes": [1, 3, 2]}, index=["blue", "green", "red"])


def test_labels_of_a_data_frame_are_kept() -> None:
    before = FRAME.copy()
    found = splitlab.split(FRAME)
    assert (found.left_labels, found.right_labels) == (["green"], ["blue", "red"])
    assert found.classes == ("no", "yes")
    assert (found.left_counts.tolist(), found.right_counts.tolist()) == ([1, 3], [5, 3])
    assert repr(found) == "Split(left=['green'], right=['blue', 'red'], impurity=5.25, gain=0.0625)"
    assert [line.split() for line in str(found).splitlines()][:2] == [["no", "yes", "total"], ["left", "1", "3", "4"]]
    pd.testing.assert_frame_equal(FRAME, before)


def test_without_labels_there_are_places() -> None:
    found = splitlab.split(COUNTS)
    assert (found.left_labels, found.right_labels, found.classes) == ([1], [0, 2], (0, 1))


def test_a_frame_of_repeated_labels_or_with_sums_is_refused() -> None:
    with pytest.raises(ValueError, match="rows 0 and 2 are both named 'a'"):
        splitlab.split(FRAME.set_axis(["a", "b", "a"]))
    with pytest.raises(ValueError, match="columns 0 and 1 are both named 'x'"):
        splitlab.split(FRAME.set_axis(["x", "x"], axis=1))
    raw = pd.DataFrame({"v": list("aabbc"), "y": [0, 1, 1, 1, 0]})
    with pytest.raises(ValueError, match="the last row, 'All', is the sum of the others; leave it out"):
        splitlab.split(pd.crosstab(raw.v, raw.y, margins=True))
    assert splitlab.split(FRAME.set_axis(["a", "b", "All"])).left_labels == ["b"]
