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

import pytest

from splitlab.cli import DIFFERS, DONE, WRONG_INPUT, main
from splitlab.kinds.trees import datasets, download
from splitlab.kinds.trees.datasets import Dataset, read
from splitlab.text import ConfigError
from tests.helpers import ROOT

CSV = "colour,size,label,shape\nred,1.5,yes,round\nblue,?,maybe,flat\ngreen,2,no,?\nblue,3,yes,flat \n"
COLUMNS: dict[str, Any] = {"colour": "nominal", "size": "numeric", "shape": "nominal"}
ENTRY: dict[str, Any] = {"name": "toy", "title": "Toy", "target": "label", "missing": "?", "columns": COLUMNS}
TOY = Dataset(**ENTRY)
DIGEST = hashlib.sha256(CSV.encode()).hexdigest()


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_numbers_are_given_as_the_published_program_gives_them() -> None:
    data = read(TOY, CSV.splitlines())
    assert data.names == ["colour", "size", "shape"]
    # Rows 2 and 3 are dropped; blue and green, before the missing value, have a number by then, and so have classes.
    assert data.values == [["red", "blue", "green"], [], ["round", "flat"]]
    assert data.classes == ["yes", "maybe", "no"]
    assert data.x.tolist() == [[0, 1.5, 0], [1, 3, 1]]
    assert data.y.tolist() == [0, 0]
    assert data.nominal.tolist() == [True, False, True]


def test_leading_blanks_and_empty_texts_are_values() -> None:
    entry = Dataset(name="x", title="x", target="b", columns={"a": "nominal"})
    assert read(entry, ["a,b", ", 1", "2_3, 1", ",1"]).values == [["", "2_3"]]
    assert read(entry, ["a,b", ", 1", "2_3, 1", ",1"]).classes == [" 1", "1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour,size,label\n", "no column 'shape'"),
        ("colour,size,label,shape\nred,1,yes\n", "line 2 has 3 values, and the header 4"),
        ("colour,size,label,shape\nred,1,yes,a\nred,big,yes,a\n", "line 3: 'big' in the numeric column 'size'"),
        ("colour,size,label,shape\nred,inf,yes,a\n", "'inf' in the numeric column 'size' is not finite"),
        ("colour,size,label,shape\nred,?,yes,a\n", "no row without missing values"),
    ],
)
def test_what_is_no_data(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(TOY, text.splitlines())


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.xz"])
def test_files_plain_and_packed(ending: str, tmp_path: Path) -> None:
    pack = {".csv": lambda raw: raw, ".csv.gz": gzip.compress, ".csv.xz": lzma.compress}[ending]
    (tmp_path / f"toy{ending}").write_bytes(pack(CSV.encode()))
    entry = TOY.model_copy(update={"sha256": DIGEST, "rows_used": 2, "classes": 3})
    assert datasets.load(entry, tmp_path).y.tolist() == [0, 0]
    assert download.check_text(entry, tmp_path)[0]


def test_where_files_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"no toy\.csv, \.csv\.gz or \.csv\.xz in .*cache.*put it there"):
        datasets.load(TOY)
    for folder in (datasets.cache(), tmp_path / "named", tmp_path / "chosen"):
        folder.mkdir(parents=True)
        (folder / "toy.csv").write_text(CSV)
    assert datasets.found(TOY).parent == datasets.cache()
    monkeypatch.setenv(datasets.VARIABLE, str(tmp_path / "named"))
    assert datasets.found(TOY).parent == tmp_path / "named"
    assert datasets.found(TOY, tmp_path / "chosen").parent == tmp_path / "chosen"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sha256": "0" * 64}, f"its sha256 is {DIGEST}, not 0000"),
        ({"rows_used": 3}, "rows used: 2, where 3 are declared"),
        ({"classes": 2}, "classes: 3, where 2 are declared"),
        ({"columns": {}}, "are not declared; it cannot be run"),
    ],
)
def test_files_that_are_not_as_described(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "toy.csv").write_text(CSV)
    with pytest.raises(ValueError, match=message):
        datasets.load(TOY.model_copy(update=change), tmp_path)


def test_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "toy.csv.xz").write_bytes(lzma.compress(CSV.encode())[:-20])
    with pytest.raises(ValueError, match="cannot be read"):
        datasets.load(TOY, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("toy: 1\n", "mine.yaml:1: toy: an entry must be"),
        ("toy:\n  title: Toy\n  colums: {}\n", "mine.yaml:3: toy.colums: extra inputs"),
        ("toy:\n  title: Toy\n  columns:\n    a: ordinal\n", "mine.yaml:4: toy.columns.a: input should be 'numeric'"),
        ("toy:\n  title: Toy\n  sha256: abc\n", "mine.yaml:3: toy.sha256"),
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
    assert cli("check", "toy")[0] == DONE
    code, checked = cli("check")
    assert code == DIFFERS
    assert "other: missing" in checked
    assert cli("fetch", "other")[0] == WRONG_INPUT
