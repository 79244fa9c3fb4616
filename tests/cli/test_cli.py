"""The command line as a user meets it: every call is a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from splitlab import cli
from tests.helpers import ROOT
from tests.helpers.command import refused, splitlab

GOOD = """name: small
impurities: [gini, entropy]
splitters: [hcc, pc_ext_counts, sliq_ext, lca]
grid:
  - {n: [5, 6], k: 3, max_count: 7, runs: 300}
published: paper
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(GOOD)
    return path


def test_run_writes_everything_and_prints_the_tables(config: Path, tmp_path: Path) -> None:
    done = splitlab("run", config, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results" / "small"
    names = {path.name for path in folder.iterdir()}
    tables = {f"{t}.{e}" for t in ("win_percentage", "relative_excess") for e in ("csv", "md", "tex")}
    assert names >= {"config.yaml", "manifest.json", "blocks"} | tables
    head = (folder / "win_percentage.csv").read_text().splitlines()[0]
    assert head.startswith("impurity,n,k,max_count,splitter,runs,wins,percent,standard_error,published")
    assert "Percentage of tables won, Gini" in done.stdout
    assert "Percentage of tables won, Entropy" in done.stdout
    assert "1,200 of" not in done.stdout  # progress belongs to stderr
    assert "tables/s" in done.stderr
    assert "\r" not in done.stderr


def test_report_writes_figures_and_a_page_without_computing(config: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert splitlab("run", config, "--out", out).returncode == 0
    tables = {path.name: path.read_bytes() for path in out.glob("*.*")}
    for name in ("win_percentage.csv", "relative_excess.md"):
        (out / name).unlink()
    done = splitlab("report", out)
    assert done.returncode == 0, done.stderr
    assert "tables/s" not in done.stderr
    for name, content in tables.items():
        assert (out / name).read_bytes() == content, name
    for kind in ("png", "svg", "csv", "txt"):
        assert (out / "figures" / f"win_percentage.{kind}").stat().st_size > 100
    page = (out / "report.html").read_text()
    assert "not compared" in page
    assert page.count("<svg") >= 2
    assert "http://" not in page.replace("http://www.w3.org", "")
    before = {path.name: path.read_bytes() for path in (out / "figures").iterdir()}
    assert splitlab("report", out).returncode == 0
    assert {path.name: path.read_bytes() for path in (out / "figures").iterdir()} == before


BAD_CONFIGS = {
    "empty": ("", ["empty"]),
    "misspelt key": (GOOD.replace("splitters:", "spliters:"), [":3:", "spliters", "did you mean 'splitters'"]),
    "repeated key": (GOOD + "name: again\n", [":7:", "name"]),
    "wrong type": (GOOD.replace("runs: 300", "runs: many"), [":5:", "many", "whole number"]),
    "negative": (GOOD.replace("runs: 300", "runs: -3"), [":5:", "-3"]),
    "float notation": (GOOD.replace("runs: 300", "runs: 1e4"), [":5:", "1e4"]),
    "octal": (GOOD.replace("runs: 300", "runs: 010"), [":5:", "010"]),
    "sexagesimal": (GOOD.replace("runs: 300", "runs: 10:30"), [":5:", "10:30"]),
    "boolean word": (GOOD.replace("runs: 300", "runs: no"), [":5:", "no"]),
    "unknown splitter": (GOOD.replace("hcc", "hccc"), [":3:", "hccc", "did you mean 'hcc'"]),
    "unknown impurity": (GOOD.replace("entropy", "entropie"), [":2:", "entropie"]),
    "name with a path": (GOOD.replace("name: small", "name: ../up"), [":1:", "../up"]),
    "unknown published": (GOOD.replace("paper", "table9"), ["table9", "table1"]),
    "absurd hcc": (GOOD.replace("k: 3", "k: 30"), ["hcc", "k = 30", "2^k"]),
}


@pytest.mark.parametrize("case", BAD_CONFIGS)
def test_a_wrong_config_is_one_line_and_leaves_nothing(case: str, tmp_path: Path) -> None:
    text, words = BAD_CONFIGS[case]
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    refused(splitlab("run", path, "--out", tmp_path / "out", cwd=tmp_path), "bad.yaml", *words)
    assert [p.name for p in tmp_path.iterdir()] == ["bad.yaml"]


def test_other_wrong_calls(config: Path, tmp_path: Path) -> None:
    refused(splitlab("run", tmp_path / "none.yaml"), "none.yaml", "no such file")
    refused(splitlab("run", tmp_path), str(tmp_path))
    refused(splitlab("run", config, "--out", config / "sub"), str(config))
    refused(splitlab("run", config, "--runs", "1e4"), "1e4", "--runs")
    refused(splitlab("run", config, "--runs", "0", "--out", tmp_path / "x"), "--runs", "0")
    refused(splitlab("run", config, "--jobs", "0", "--out", tmp_path / "x"), "0", "jobs")
    refused(splitlab("run", config, "--set", "sed=1", "--out", tmp_path / "x"), "sed", "seed")
    refused(splitlab("report", tmp_path), str(tmp_path), "no results")
    refused(splitlab("compare", tmp_path / "nowhere"), "nowhere")
    refused(splitlab("runn"), "runn")
    refused(splitlab(), "COMMAND")
    assert not (tmp_path / "x").exists()


def test_a_run_cannot_be_called_like_the_folder_of_committed_results(config: Path, tmp_path: Path) -> None:
    refused(splitlab("run", config, "--set", "name=reference", cwd=tmp_path), "'reference' is where committed results")
    assert not (tmp_path / "results").exists()


def test_an_unwritable_folder(config: Path) -> None:
    refused(splitlab("run", config, "--out", "/proc/splitlab"), "/proc/splitlab")


def test_replay_shows_the_stored_impurities(config: Path, tmp_path: Path) -> None:
    import splitlab as library

    out = tmp_path / "out"
    assert splitlab("run", config, "--out", out).returncode == 0
    done = splitlab("replay", out, "--n", 5, "--k", 3, "--run", 123)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    table = [[int(c) for c in row[1:]] for row in rows if row and row[0].endswith(":") and row[0][:-1].isdigit()]
    assert len(table) == 5
    stored = library.run(str(config)).impurities(5, 3, 7, "gini")[123]
    shown = [float(row[1].rstrip("*")) for row in rows if row and row[0] in ("hcc", "lca")][:2]
    assert shown == pytest.approx([stored[0], stored[3]], abs=1e-9)
    assert library.split(table, "gini", "lca").impurity == pytest.approx(stored[3], rel=1e-12)
    refused(splitlab("replay", out, "--n", 5, "--k", 3, "--run", 300), "300", "0 to 299")
    refused(splitlab("replay", out, "--n", 9, "--k", 3, "--run", 3), "n = 9", "n5_k3_m7")


def test_replay_asks_for_max_count_when_there_are_several(tmp_path: Path) -> None:
    path = tmp_path / "several.yaml"
    path.write_text(GOOD.replace("max_count: 7", "max_count: [2, 7]"))
    assert splitlab("run", path, "--out", tmp_path / "out").returncode == 0
    refused(splitlab("replay", tmp_path / "out", "--n", 5, "--k", 3, "--run", 1), "--max-count", "2, 7")
    assert splitlab("replay", tmp_path / "out", "--n", 5, "--k", 3, "--max-count", 2, "--run", 1).returncode == 0


def test_compare_is_the_verdict(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(GOOD.replace("n: [5, 6]", "n: 12").replace("runs: 300", "runs: 2000"))
    out = tmp_path / "out"
    assert splitlab("run", path, "--out", out).returncode == 0
    done = splitlab("compare", out)
    assert done.returncode == 0, done.stdout
    assert "8 of 8 entries agree" in done.stdout
    wrong = tmp_path / "wrong.csv"  # what the paper would have printed had two methods been swapped
    rows = (ROOT / "splitlab" / "published" / "paper.csv").read_text()
    rows = "\n".join(rows.splitlines()[:97])  # Tables 1 and 2
    wrong.write_text(rows.replace(",hcc,", ",x,").replace(",lca,", ",hcc,").replace(",x,", ",lca,"))
    assert splitlab("run", path, "--out", out, "--set", f"published={wrong}").returncode == 0
    done = splitlab("compare", out)
    assert done.returncode == 1
    assert "4 of 8 entries agree" in done.stdout
    assert done.stdout.count("differs: ") == 4


def test_results_with_published_numbers_of_ones_own_stand_by_themselves(tmp_path: Path) -> None:
    path, own, out = tmp_path / "t.yaml", tmp_path / "own.csv", tmp_path / "out"
    own.write_text("table,impurity,n,k,max_count,splitter,value\nmine,gini,5,3,7,hcc,95.5\n")
    path.write_text(GOOD.replace("published: paper", "published: own.csv"))
    assert splitlab("run", path, "--out", out).returncode == 0
    own.unlink()
    moved = out.rename(tmp_path / "moved")
    assert splitlab("report", moved).returncode == 0
    assert ",hcc,300," in (moved / "win_percentage.csv").read_text()
    assert ",95.5," in (moved / "win_percentage.csv").read_text()


def test_split_says_what_it_recognised(tmp_path: Path) -> None:
    path = tmp_path / "weather.csv"
    path.write_text("outlook,yes,no\nsunny,2,3\novercast,4,0\nrainy,3,2\n")
    done = splitlab("split", path, "--impurity", "entropy")
    assert done.returncode == 0, done.stderr
    assert "3 values x 2 classes" in done.stdout
    assert "gain 0.2257" in done.stdout or "gain 0.226" in done.stdout
    left, right = (line.split(": ")[1] for line in done.stdout.splitlines()[-2:])
    assert {left, right} == {"overcast", "sunny, rainy"}
    refused(splitlab("split", path, "--splitter", "hc"), "hc", "hcc")
    refused(splitlab("split", path, "--impurity", "gin"), "gin")
    refused(splitlab("split", tmp_path / "none.csv"), "none.csv")


BAD_TABLES = {
    "one row": ("1,2\n", ["bad.csv"]),
    "empty": ("", ["bad.csv"]),
    "ragged": ("1,2\n3\n", ["bad.csv:2"]),
    "negative": ("1,2\n3,-4\n", ["bad.csv:2", "-4"]),
    "fraction": ("1,2\n3,0.5\n", ["bad.csv:2", "0.5"]),
    "text": ("1,2\n3,x\n", ["bad.csv:2", "x"]),
    "nan": ("1,2\n3,nan\n", ["bad.csv:2", "nan"]),
    "too large": ("1,2\n3,2000000000000000\n", ["bad.csv"]),
    "all zero": ("0,0\n0,0\n", ["bad.csv"]),
    "k = 30": ("\n".join(",".join(str(1 + (7 * v + i * v) % 11) for i in range(30)) for v in range(5)), ["2^k"]),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_wrong_table_is_one_line(case: str, tmp_path: Path) -> None:
    text, words = BAD_TABLES[case]
    path = tmp_path / "bad.csv"
    path.write_text(text)
    refused(splitlab("split", path), *words)


def test_list_shows_every_splitter() -> None:
    from splitlab.splitters import names

    done = splitlab("list")
    assert done.returncode == 0
    for name in (*names(), "gini", "entropy"):
        assert name in done.stdout


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (MemoryError("Unable to allocate 9.0 GiB"), "error: out of memory (MemoryError: Unable to allocate 9.0 GiB); "),
        (RuntimeError("can't start new thread"), "error: out of memory (RuntimeError: can't start new thread); "),
        (AttributeError("'Table' object has no attribute 'rows'"), "internal error: AttributeError: 'Table' object "),
    ],
)
def test_too_little_memory_is_no_internal_error(
    error: Exception, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def action() -> int:
        raise error

    assert cli.guarded("splitlab", action) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"splitlab: {says}")
