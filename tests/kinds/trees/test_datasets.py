"""Data sets: how files are found, verified and read, and how they are downloaded from a server that misbehaves."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import lzma
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from splitlab.cli import DONE, WRONG_INPUT, main
from splitlab.kinds.data_sets import catalogue as datasets
from splitlab.kinds.data_sets import download
from splitlab.kinds.data_sets.catalogue import Dataset, read
from splitlab.text import ConfigError
from tests.helpers import ROOT

CSV = "colour,size,label,shape\nred,1.5,yes,round\nblue,?,maybe,flat\ngreen,2,no,?\nblue,3,yes,flat \n"
COLUMNS: dict[str, Any] = {"colour": "nominal", "size": "numeric", "shape": "nominal"}
ENTRY: dict[str, Any] = {"name": "toy", "title": "Toy", "target": "label", "missing": "?", "columns": COLUMNS}
TOY = Dataset(**ENTRY)
HEAD = "colour,size,label,shape\n"
DIGEST = hashlib.sha256(CSV.encode()).hexdigest()


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_numbers_are_given_as_the_published_program_gives_them() -> None:
    data = read(TOY, CSV, "toy.csv")
    assert data.names == ["colour", "size", "shape"]
    # Rows 2 and 3 are dropped; blue and green, before the missing value, have a number by then, and so have classes.
    assert data.values == [["red", "blue", "green"], [], ["round", "flat"]]
    assert data.classes == ["yes", "maybe", "no"]
    assert data.x.tolist() == [[0, 1.5, 0], [1, 3, 1]]
    assert data.y.tolist() == [0, 0]
    assert data.nominal.tolist() == [True, False, True]


def test_blanks_and_empty_texts() -> None:
    text = "a, b\n, 1\n 2_3, 1\n2_3 ,1\n ,2 \n"
    entry = Dataset(name="x", target="b", columns={"a": "nominal"}, missing=())
    assert read(entry, text, "x").values == [["", "2_3"]]
    assert read(entry, text, "x").classes == ["1", "2"]
    spoken = read(entry.model_copy(update={"strip_blanks": False, "target": " b"}), text, "x")
    assert spoken.values == [["", " 2_3", "2_3 ", " "]]
    assert spoken.classes == [" 1", "1", "2"]  # blanks at the end of a line never count
    by_default = read(Dataset(name="x", target="b"), text, "x")  # the empty text is a missing value
    assert by_default.values == [["2_3"]]
    assert (by_default.rows, by_default.incomplete, by_default.left_out) == (4, 2, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column 'label' in its header"),
        ("colour,size,label\n", r"no column 'shape' in its header; it has colour, size, label \(separator ','\)"),
        ("colour,size,label,Shape\n", "no column 'shape' in its header; did you mean 'Shape'"),
        (f"{HEAD}red,1,yes\n", "^toy.csv:2: 3 values, and the header has 4"),
        (f"{HEAD}\nred,1,yes,a,b\n", "^toy.csv:3: 5 values, and the header has 4; a value with a ',' in it must stand"),
        (f"{HEAD}red,1,yes,a\nred,big,yes,a\n", "^toy.csv:3: column 'size' is numeric, and 'big' is no number; if it"),
        *((f"{HEAD}red,{text},yes,a\n", f"{text!r} is no number") for text in ("1_0", "１２", "inf", "nan", "0x1", "")),
        (f"{HEAD}red,1e999,yes,a\n", "'1e999' is too large"),
        (f"{HEAD}red,?,yes,a\n", "no row without missing values"),
        ("colour,size,label,shape,size\n", "^toy.csv:1: the header names column 'size' 2 times"),
        (f'{HEAD}red,1,yes,"a\n', "^toy.csv:2: .*check the quotes"),
        (f"{HEAD}red,9007199254740993,yes,a\nred,9007199254740992,no,a\n", "column 'size'.*same 64-bit float"),
    ],
)
def test_what_is_no_data(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(TOY, text, "toy.csv")


@pytest.mark.parametrize(
    "text",
    [
        CSV + "\n\n",
        "\ufeff" + CSV,
        CSV.replace("\n", "\r\n"),
        CSV.replace(",", ";"),
        CSV.replace(",", "\t"),
        CSV.replace(",", ", "),
        CSV.replace("red", '"red"').replace("flat ", '"flat" '),
        CSV.replace("red", ' "red"'),
    ],
)
def test_the_same_file_written_in_other_ways(text: str, tmp_path: Path) -> None:
    (tmp_path / "toy.csv").write_bytes(text.encode())
    data, plain = datasets.load(TOY, [tmp_path]), read(TOY, CSV, "toy.csv")
    assert data.digest() == plain.digest()
    assert data.missing == plain.missing == [0, 1, 1]


def test_a_quoted_cell_may_have_a_separator_or_a_line_break_in_it() -> None:
    text = f'{HEAD}"red, or so",1,yes,"a\nb"\nred,2,no,big\nred,x,no,a\n'
    with pytest.raises(ValueError, match=r"^toy\.csv:5: column 'size'"):
        read(TOY, text, "toy.csv")
    assert read(TOY, text.replace("x", "3"), "toy.csv").values[0] == ["red, or so", "red"]


def test_missing_values() -> None:
    entry = Dataset(**{**ENTRY, "missing": ["?", "", "NA"]})
    text = f"{HEAD}red,1,yes,a\nNA,2,no,b\nblue,,no,?\nred,3,?,b\n"
    dropped, kept = read(entry, text, "x"), read(entry, text, "x", keep=True)
    assert len(dropped.y) == 1
    assert np.isnan(kept.x).tolist() == [[False] * 3, [True, False, False], [False, True, True]]
    assert kept.classes == dropped.classes == ["yes", "no"]  # of a row without a class nothing is used
    for data in (dropped, kept):
        assert (data.rows, data.incomplete, data.without_class, data.missing) == (4, 2, 1, [1, 1, 1])
    assert (dropped.left_out, kept.left_out) == (2, 0)


def test_types_that_are_not_declared() -> None:
    text = "id,size,zip,grade,note,kind\n7,1.5,01234,1,a,x\n8,-2e3,99999,?,,y\n"
    entry = Dataset(name="x", target="kind", missing=["?", ""], ignore=["id"])
    data = read(entry, text, "x", keep=True)
    assert data.names == ["size", "zip", "grade", "note"]
    assert data.nominal.tolist() == [False, True, False, True]
    assert data.reasons == {
        "size": "",
        "zip": "'01234' on line 2 begins with a zero",
        "grade": "",
        "note": "'a' on line 2 is no number",
    }
    assert data.ignored == ["id"]
    some = Dataset(name="x", target="kind", missing=["?"], columns={"zip": "numeric", "size": None})
    assert read(some, text, "x").names == ["size", "zip"]
    assert read(some, text, "x").x.tolist() == [[1.5, 1234], [-2000, 99999]]
    with pytest.raises(ValueError, match="no column 'rowid' in its header"):
        read(entry.model_copy(update={"ignore": ("rowid",)}), text, "x")
    with pytest.raises(ValueError, match="no column besides the target 'kind'"):
        read(Dataset(name="x", target="kind"), "kind\na\nb\n", "x")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.xz"])
def test_files_plain_and_packed(ending: str, tmp_path: Path) -> None:
    pack = {".csv": lambda raw: raw, ".csv.gz": gzip.compress, ".csv.xz": lzma.compress}[ending]
    (tmp_path / f"toy{ending}").write_bytes(pack(CSV.encode()))
    entry = TOY.model_copy(update={"sha256": DIGEST, "rows_used": 2, "classes": 3})
    assert datasets.load(entry, [tmp_path]).y.tolist() == [0, 0]


def test_where_files_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"no toy\.csv, \.csv\.gz or \.csv\.xz in .*cache.*put it there"):
        datasets.load(TOY, datasets.folders())
    for folder in (datasets.cache(), tmp_path / "named", tmp_path / "chosen"):
        folder.mkdir(parents=True)
        (folder / "toy.csv").write_text(CSV)

    def found(chosen: Path | None = None, beside: tuple[Path, ...] = ()) -> Path:
        return datasets.found(TOY, datasets.folders(chosen, beside)).parent

    assert found() == datasets.cache()
    assert found(beside=(tmp_path, tmp_path / "chosen")) == tmp_path / "chosen"
    monkeypatch.setenv(datasets.VARIABLE, str(tmp_path / "named"))
    assert found(beside=(tmp_path / "chosen",)) == tmp_path / "named"
    assert found(tmp_path / "chosen") == tmp_path / "chosen"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sha256": "0" * 64}, f"its sha256 is {DIGEST}, not 0000"),
        ({"rows_used": 3}, "rows used: 2, where 3 are declared"),
        ({"classes": 2}, "classes: 3, where 2 are declared"),
        ({"rows": 3}, "rows: 4, where 3 are declared"),
        ({"target": ""}, "is not declared; write target: COLUMN"),
    ],
)
def test_files_that_are_not_as_described(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "toy.csv").write_text(CSV)
    with pytest.raises(ValueError, match=message):
        datasets.load(TOY.model_copy(update=change), [tmp_path])


def test_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "toy.csv.xz").write_bytes(lzma.compress(CSV.encode())[:-20])
    with pytest.raises(ValueError, match="cannot be read"):
        datasets.load(TOY, [tmp_path])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("toy: 1\n", "mine.yaml:1: toy: an entry must be"),
        ("toy:\n  title: Toy\n  colums: {}\n", "mine.yaml:3: toy.colums: extra inputs"),
        ("toy:\n  title: Toy\n  columns:\n    a: ordinal\n", "mine.yaml:4: toy.columns.a: input should be 'numeric'"),
        ("toy:\n  title: Toy\n  sha256: abc\n", "mine.yaml:3: toy.sha256"),
        (
            "toy:\n  target: a\n  columns: {b: nominal, a: nominal}\n",
            "mine.yaml:3: toy.columns.a: is the target, so it",
        ),
        ("toy:\n  target: a\n  columns:\n    b: nominal\n    b: numeric\n", "mine.yaml:5: key 'b' is repeated"),
        (
            "toy:\n  target: a\n  missing: -999\n",
            "mine.yaml:3: toy.missing: must be text as it stands in the file, in q",
        ),
        ("toy:\n  columns: {b: nominal}\n  ignore: [c]\n", "mine.yaml:3: toy.ignore: does not go with columns"),
        ("a/b:\n  target: a\n", "mine.yaml:1: a/b: a data set is named with letters, digits"),
    ],
)
def test_catalogues_with_mistakes(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        datasets.catalogue(Path("mine.yaml"))


def test_the_catalogue_of_the_paper() -> None:
    known = datasets.catalogue(ROOT / "configs" / "datasets.yaml")
    assert len(known) == 11
    assert sum(bool(entry.sha256 and entry.columns) for entry in known.values()) == 8
    assert all(entry.url.startswith("https://") for entry in known.values())
    assert known["adult"].columns["fnlwgt"] == "numeric"
    with pytest.raises(ConfigError, match="'adlut' is not in the catalogue; it has adult"):
        datasets.chosen_sets(known, ["adlut"])


class Handler(http.server.BaseHTTPRequestHandler):
    """Sends CONTENT as ``server.manner`` says, and notes the ranges asked for."""

    def do_GET(self) -> None:
        server: Any = self.server
        start = int(self.headers.get("Range", "bytes=0-")[6:-1])
        server.asked.append(start)
        if server.manner == "absent":
            self.send_error(404)
            return
        if start >= len(CSV):
            self.send_error(416)
            return
        body = CSV.encode()[start:] if server.manner != "lie" else b"x" * (len(CSV) - start)
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        half = server.manner in ("truncate", "stall") and not start
        self.wfile.write(body[:40] if half else body)
        self.wfile.flush()
        if server.manner == "stall" and half:
            time.sleep(0.6)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    found: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.manner, found.asked = "well", []
    thread = threading.Thread(target=found.serve_forever, daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()


def remote(server: Any) -> Dataset:
    return TOY.model_copy(update={"sha256": DIGEST, "url": f"http://127.0.0.1:{server.server_port}/data.csv"})


def test_fetching(server: Any, tmp_path: Path) -> None:
    path = download.fetch(remote(server))
    assert path == datasets.cache() / "toy.csv"
    assert path.read_text() == CSV
    assert download.fetch(remote(server)) == path
    assert server.asked == [0]  # the second time it was there


@pytest.mark.parametrize("manner", ["truncate", "stall"])
def test_an_interrupted_download_goes_on(server: Any, manner: str, tmp_path: Path) -> None:
    server.manner = manner
    with pytest.raises(ValueError, match=r"could not be downloaded .*the same command tries again"):
        download.fetch(remote(server), tmp_path, stalled=0.2)
    assert not (tmp_path / "toy.csv").exists()
    server.manner = "well"
    assert download.fetch(remote(server), tmp_path).read_text() == CSV
    assert server.asked == [0, 40]
    assert [path.name for path in tmp_path.glob("*.csv*")] == ["toy.csv"]
    assert not list(tmp_path.glob(".*part"))


def test_a_complete_part_is_not_asked_for_again(server: Any, tmp_path: Path) -> None:
    (tmp_path / ".toy.csv.part").write_text(CSV)
    assert download.fetch(remote(server), tmp_path).read_text() == CSV


def test_another_file_is_not_kept(server: Any, tmp_path: Path) -> None:
    server.manner = "lie"
    with pytest.raises(ValueError, match=r"another file than described \(wrong sha256\); nothing is kept"):
        download.fetch(remote(server), tmp_path)
    assert not list(tmp_path.glob("*toy*"))
    assert not list(tmp_path.glob(".toy*"))


def test_an_address_without_a_file(server: Any, tmp_path: Path) -> None:
    server.manner = "absent"
    with pytest.raises(ValueError, match="Not Found"):
        download.fetch(remote(server), tmp_path)
    with pytest.raises(ValueError, match="has no url"):
        download.fetch(TOY, tmp_path)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.yaml").write_text(
        f"toy:\n  title: Toy\n  target: label\n  sha256: {DIGEST}\n  columns: {{colour: nominal}}\nother:\n  title: B\n"
    )
    (tmp_path / "toy.csv").write_text(CSV)

    def cli(*arguments: str) -> tuple[int, str]:
        code = main(["data", *arguments, "--catalogue", str(tmp_path / "mine.yaml"), "--data", str(tmp_path)])
        return code, capsys.readouterr().out

    code, listed = cli("list")
    assert code == DONE
    assert str(tmp_path / "toy.csv") in listed
    assert "missing" in listed.splitlines()[-1]
    assert cli("check", "toy") == (WRONG_INPUT, "toy: cannot be run: has no class of 3 rows or more, and folds: 3\n")
    assert cli("fetch", "toy")[0] == DONE
    code, checked = cli("check")
    assert code == WRONG_INPUT
    assert "other: cannot be run: its target" in checked
    assert cli("fetch", "other")[0] == WRONG_INPUT


def test_entries_that_no_study_runs_are_said_and_no_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the catalogue that comes with the package; in one of the user's a missing target is a mistake."""
    monkeypatch.setattr(datasets, "standard_catalogue", lambda: tmp_path / "mine.yaml")
    (tmp_path / "mine.yaml").write_text("toy:\n  title: Toy\n  target: label\nlisted:\n  title: Too large\n")
    (tmp_path / "toy.csv").write_text("colour,label\n" + "r,a\ng,b\nr,a\n" * 4)
    assert main(["data", "check", "--data", str(tmp_path)]) == DONE
    said = capsys.readouterr().out
    assert said.endswith("not checked, since the catalogue names no target and no study runs them: listed\n")
    assert main(["data", "check", "listed", "--data", str(tmp_path)]) == WRONG_INPUT
    assert "listed: cannot be run: its target" in capsys.readouterr().out
