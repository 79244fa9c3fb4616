"""Configs, tables and results folders are data: whatever is in them is taken with sense or refused in one line."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import splitlab
from splitlab import cli
from splitlab.engine.names import Plugins
from splitlab.study import load_experiment, write_document, write_tables
from splitlab.tables.csv_file import read_table
from splitlab.text import ConfigError

CONFIG = """name: small
impurities: [gini, entropy]
splitters: [hcc, "lca", my.module:function]
grid:
  - {n: [5, 6], k: 3, max_count: 7, runs: 300}
  - n: 12
    k: 2
    max_count: [2, 15]
    runs: 10
seed: 2018
draws: independent
on_error: stop
keep_runs: true
published: paper
"""
TABLE = 'outlook,yes,"no, not"\nsunny,2,3\n"over ""cast""",4,0\nrainy,3,2\n'
PIECES = [
    *("", " ", "\n", "\t", "\0", "\x1b[2J", "\r", "\ufeff", "\u2028", "\ud800", "é", "𝟙", "٣", "²", "a" * 5000),
    *("-", "- ", ":", ": ", ",", ";", "#", "|", ">", "[", "]", "{", "}", '"', "'", "&a", "*a", "<<: ", "? ", "[" * 30),
    *(
        "!!python/object/apply:os.system ['true']",
        "!!binary",
        "%YAML 9.9\n",
        "---\n",
        "...",
        '"\\xZZ"',
        '"\\UFFFFFFFF"',
    ),
    *(
        "1e999",
        "-1",
        "0",
        "-0",
        "+1",
        "007",
        "0x10",
        "1_000",
        "10:30",
        "1,5",
        "1.0",
        "1.5",
        "9" * 400,
        "1." + "0" * 310,
    ),
    *("1." + "0" * 310, "nan", ".inf", "null", "no", "true", "1000000000000000", "9223372036854775808", "100001"),
    *("=1+1", "@SUM(1)", "<script>", "../", "os:system", "builtins:eval"),
    *("kind: timing\n", "kind: trees\n", "kind: optimality\n", "runs: ", "grid: ", "name: "),
]
NO_IMPORTS = Plugins(allowed=False)


def mutated(text: str) -> st.SearchStrategy[bytes]:
    """The text with pieces put in, taken out and doubled; or other bytes altogether."""

    def change(edits: list[tuple[int, int, str]]) -> bytes:
        result = text
        for at, length, piece in edits:
            at %= len(result) + 1
            result = result[:at] + piece + result[at + length :]
        return result.encode("utf-8", "surrogatepass")

    pieces = st.sampled_from(PIECES) | st.text(max_size=5) | st.sampled_from(text.splitlines(keepends=True))
    edit = st.tuples(st.integers(0, 10**4), st.integers(0, 12), pieces)
    return st.lists(edit, min_size=1, max_size=4).map(change) | st.binary(max_size=60)


def fuzz(strategy: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Any]:
    """Hundreds of inputs in the normal suite, thousands in the slow one; each has two seconds."""
    amounts = [pytest.param(300), pytest.param(5000, marks=pytest.mark.slow)]

    def decorate(test: Callable[..., None]) -> Any:
        def run(examples: int, tmp_path: Path) -> None:
            @settings(
                max_examples=examples,
                deadline=2000,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            )
            @given(strategy)
            def tried(data: Any) -> None:
                test(data, tmp_path)

            tried()

        run.__name__, run.__doc__ = test.__name__, test.__doc__
        return pytest.mark.parametrize("examples", amounts)(run)

    return decorate


def one_line(error: BaseException) -> None:
    text = str(error)
    assert text.isprintable(), text
    assert 5 < len(text) < 1500


@fuzz(mutated(CONFIG))
def test_any_config_is_accepted_with_sense_or_refused(data: bytes, folder: Path) -> None:
    path = folder / "c.yaml"
    path.write_bytes(data)
    try:
        experiment = load_experiment(path, plugins=NO_IMPORTS)
    except ConfigError as error:
        one_line(error)
        return
    assert re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", experiment.name)
    for cell, runs in experiment.cells:
        assert 2 <= cell.n <= 10**5 and 2 <= cell.k <= 10**5 and cell.max_count >= 1 and 1 <= runs <= 10**9
    path.write_text(experiment.to_yaml())
    assert load_experiment(path, plugins=NO_IMPORTS) == experiment


values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = ("name", "kind", "impurities", "splitters", "grid", "seed", "draws", "published", "on_error", "keep_runs", "x")


@fuzz(st.dictionaries(st.sampled_from(KEYS), values, max_size=4))
def test_any_dictionary_is_accepted_with_sense_or_refused(changes: dict[str, Any], folder: Path) -> None:
    grid = [{"n": 5, "k": 3, "max_count": 7, "runs": 300}]
    config = {"name": "a", "impurities": "gini", "splitters": ["lca"], "grid": grid, **changes}
    try:
        load_experiment(config, plugins=NO_IMPORTS)
    except ConfigError as error:
        one_line(error)


@fuzz(st.lists(st.text(max_size=20) | st.sampled_from([f"{k}={p}" for k in KEYS for p in PIECES]), max_size=3))
def test_any_override_is_accepted_with_sense_or_refused(overrides: list[str], folder: Path) -> None:
    grid = [{"n": 5, "k": 3, "max_count": 7, "runs": 300}]
    config = {"name": "a", "impurities": "gini", "splitters": ["lca"], "grid": grid}
    try:
        load_experiment(config, overrides=overrides, plugins=NO_IMPORTS)
    except ConfigError as error:
        one_line(error)


@fuzz(mutated(TABLE))
def test_any_table_is_accepted_with_sense_or_refused(data: bytes, folder: Path) -> None:
    path = folder / "t.csv"
    path.write_bytes(data)
    try:
        table = read_table(path)
    except ValueError as error:
        one_line(error)
        return
    assert table.counts.dtype == np.int64 and table.counts.ndim == 2 and len(table.counts) >= 2
    assert table.counts.min() >= 0 and 0 < table.counts.sum() <= 10**15
    digits = re.findall(r"\d+", data.decode())
    assert all(str(count) in digits or str(count) in "".join(digits) for count in table.counts.ravel().tolist())


@fuzz(mutated(CONFIG))
def test_the_command_line_refuses_any_config_in_one_line(data: bytes, folder: Path) -> None:
    (folder / "c.yaml").write_bytes(data)
    code, said = called("plan", folder / "c.yaml", "--half-width", "0", "--no-plugins")
    assert code == 2
    assert said.count("\n") == 1 and "internal error" not in said and "Traceback" not in said, said


@fuzz(mutated(TABLE))
def test_the_command_line_splits_any_table_or_refuses_it(data: bytes, folder: Path) -> None:
    (folder / "t.csv").write_bytes(data)
    code, said = called("split", folder / "t.csv", "--splitter", "lca")
    assert code in (0, 2)
    assert said.count("\n") == (code == 2) and "internal error" not in said and "Traceback" not in said, said


def called(*args: object) -> tuple[int, str]:
    """Exit code and standard error of a command, in this process."""
    from contextlib import redirect_stderr, redirect_stdout

    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.main([str(arg) for arg in args])
    text = out.getvalue().replace("\n", "")
    assert text.isprintable(), text
    return code, err.getvalue()


def test_a_tab_in_a_message_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('\ta\n"c" d\t2\n')
    with pytest.raises(ValueError, match=r"t\.csv:\d+: .*'\\t' expected") as caught:
        read_table(tmp_path / "t.csv")
    one_line(caught.value)


# Sizes


@pytest.mark.parametrize("name", ["config.yaml", "manifest.json"])
def test_a_huge_file_in_a_results_folder_is_not_read(name: str, tmp_path: Path) -> None:
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 10}]
    splitlab.run({"name": "a", "impurities": "gini", "splitters": ["lca"], "grid": grid}, out=tmp_path / "out")
    with (tmp_path / "out" / name).open("ab") as file:
        file.truncate(1 << 40)  # a sparse file
    code, said = called("report", tmp_path / "out")
    assert (code, said.count("\n")) == (2, 1)
    assert name in said


def test_endless_files_are_refused() -> None:
    for command in (["split", "/dev/zero"], ["run", "/dev/zero"]):
        code, said = called(*command)
        assert (code, said.count("\n")) == (2, 1), said


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop"])
@pytest.mark.parametrize("command", ["split", "run", "published"])
def test_what_is_no_regular_file_is_not_waited_for(command: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / ("in.csv" if command != "run" else "in.yaml")
    {"pipe": os.mkfifo, "folder": Path.mkdir, "loop": lambda p: p.symlink_to(p)}[kind](path)
    arguments: list[object] = [command, path]
    if command == "published":
        config = tmp_path / "c.yaml"
        grid = "grid: [{n: 4, k: 3, max_count: 7, runs: 10}]"
        config.write_text(f"name: c\nimpurities: gini\nsplitters: [hcc, lca]\npublished: in.csv\n{grid}\n")
        arguments = ["run", config, "--out", tmp_path / "out"]
    code, said = called(*arguments)
    assert (code, said.count("\n")) == (2, 1), said
    assert str(path) in said
    reasons = {
        "pipe": "is no regular file",
        "folder": "is a directory|is no regular file",
        "loop": "symbolic",
    }
    assert re.search(reasons[kind], said, re.IGNORECASE)


def test_a_stream_that_the_shell_has_opened_can_be_read() -> None:
    command = [sys.executable, "-m", "splitlab", "split", "/dev/stdin"]
    done = subprocess.run(command, input="a,b\n1,2\n3,1\n", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# Names

ESCAPING = ["../up", "..", ".", "/etc/x", "a/b", "a\\b", "~root", "a\0b"]


@pytest.mark.parametrize("name", [*ESCAPING, "x" * 101, "=1+1", "@x", "-rf", "<b>", "a b", "ä", ""])
def test_a_name_cannot_leave_the_results_folder(name: str) -> None:
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 10}]
    with pytest.raises(ConfigError, match="name"):
        load_experiment({"name": name, "impurities": "gini", "splitters": ["lca"], "grid": grid})


EVIL = "<script>alert(1)</script>"


def test_no_cell_of_a_csv_file_is_a_formula_and_no_name_is_html(tmp_path: Path) -> None:
    def function(table: Any, impurity: str) -> Any:
        return np.arange(len(table)) == 0

    function.__name__, function.__module__ = EVIL, '=HYPERLINK("http://evil")'
    (tmp_path / f"{EVIL.replace('/', '')}.csv").write_text(
        "table,impurity,n,k,max_count,splitter,value\nt,gini,4,3,7,lca,50\n"
    )
    config = {
        "name": "a",
        "impurities": ["gini"],
        "splitters": ["lca", "hcc", function],
        "grid": [{"n": 4, "k": 3, "max_count": 7, "runs": 50}],
        "published": str(tmp_path / f"{EVIL.replace('/', '')}.csv"),
    }
    out = tmp_path / "out"
    results = splitlab.run(config, out=out)
    write_tables(results, out)
    write_document(results, out)
    for path in (*out.glob("*.csv"), *out.glob("figures/*.csv")):
        for row in csv.reader(io.StringIO(path.read_text())):
            assert not any(re.match(r"[=@\t\r]|[+-](?![\d.])", cell) for cell in row), (path, row)
    for path in (*out.glob("*.html"), *out.glob("*.md"), *out.glob("figures/*.svg")):
        assert "<script>" not in path.read_text(), path


def test_labels_cannot_move_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,a,b\n\x1b]0;evil\x07,2,3\n\x1b[2Jb,4,0\n")
    code, _ = called("split", tmp_path / "t.csv")
    assert code == 0


# Code


MODULE = """
from pathlib import Path
Path({mark!r}).touch()
def f(table, impurity):
    return [True] + [False] * (len(table) - 1)
"""


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, str]:
    """A config whose splitter leaves a mark when it is imported: the config, the mark, the splitter's name."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    module = f"trap_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(MODULE.format(mark=str(tmp_path / "mark")))
    path = tmp_path / "c.yaml"
    grid = "grid: [{n: 4, k: 3, max_count: 7, runs: 10}]"
    path.write_text(f"name: t\nimpurities: gini\nsplitters: [lca, '{module}:f']\n{grid}\n")
    return path, tmp_path / "mark", f"{module}:f"


@pytest.mark.parametrize("command", ["run", "plan", "split", "check", "list", "adversary"])
def test_no_plugins_refuses_what_a_config_or_option_names(command: str, trap: tuple[Path, Path, str]) -> None:
    path, mark, name = trap
    table = path.with_name("t.csv")
    table.write_text("1,2\n3,4\n")
    options: dict[str, list[object]] = {
        "run": [path, "--out", path.with_name("out")],
        "plan": [path, "--half-width", 1],
        "split": [table, "--splitter", name],
        "check": [name],
        "list": ["--impurity", name],
        "adversary": ["--splitter", name, "--impurity", "gini", "--n", 4, "--k", 3, "--steps", 1, "--out", path.parent],
    }
    code, said = called(command, *options[command], "--no-plugins")
    assert code == 2
    assert "--no-plugins refuses" in said
    assert not mark.exists()
    code, said = called(command, *options[command])
    assert code == (2 if command == "list" else 1 if command == "check" else 0), (
        said
    )  # it is no impurity, nor a good one
    assert f"importing {name} from {path.parent}" in said
    assert mark.exists()


def test_reading_results_imports_nothing(trap: tuple[Path, Path, str]) -> None:
    path, mark, name = trap
    out = path.with_name("out")
    assert called("run", path, "--out", out)[0] == 0
    mark.unlink()
    del sys.modules[name.partition(":")[0]]
    replay: list[object] = ["replay", out, "--n", 4, "--k", 3, "--run", 2, "--no-plugins"]
    for command, code in (
        (["report", out], 0),
        (["compare", out], 0),
        (replay, 0),
        (["verify", out, "--no-plugins"], 2),
    ):
        assert called(*command)[0] == code
        assert not mark.exists(), command
    assert called("verify", out)[0] == 0
    assert mark.exists()


def test_a_manifest_is_no_code(tmp_path: Path) -> None:
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 10}]
    splitlab.run({"name": "a", "impurities": "gini", "splitters": ["lca"], "grid": grid}, out=tmp_path)
    for content in (
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
        "null",
    ):
        (tmp_path / "manifest.json").write_text(content)
        code, said = called("report", tmp_path)
        assert (code, said.count("\n")) == (2, 1)
    (tmp_path / "manifest.json").write_text(
        json.dumps({"packages": EVIL, "machine": [EVIL], "git": EVIL, "cells": EVIL})
    )
    code, said = called("report", tmp_path)
    assert code in (0, 2) and "internal error" not in said, said
    if code == 0:
        assert "<script>" not in (tmp_path / "report.html").read_text()
