"""The README is true: its numbers are those of the reference runs, its code runs, its commands exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.readme import README, written
from splitlab.cli import main, parser
from splitlab.splitters import names
from splitlab.study import load_experiment
from tests.helpers import ROOT

TEXT = README.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


def commands() -> list[str]:
    lines = [line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    return [*filter(None, lines), *re.findall(r"`(make [a-z0-9-]+|splitlab [^`]+)`", TEXT)]


def test_results_are_those_of_the_reference_runs() -> None:
    assert "entries agree" in TEXT
    assert "digit for digit" in TEXT
    assert written(TEXT) == TEXT, "run `make reference`"


@pytest.mark.parametrize("code", blocks("python"))
def test_the_code_runs(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(code.replace("runs=1000", "runs=20"), "README.md", "exec"), {})


@pytest.mark.parametrize("text", blocks("yaml"))
def test_the_configs_are_valid(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert load_experiment(path).cells


def test_the_functions_of_the_example_are_a_splitter_and_an_impurity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"<!-- mine.py -->\n```python\n(.*?)```", TEXT, flags=re.DOTALL)
    (tmp_path / "mine.py").write_text(code)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    assert main(["check", "mine:purest"]) == 1
    broken = [line for line in capsys.readouterr().out.splitlines() if line.startswith("broken")]
    assert broken == ["broken  separates two classes that no row mixes"]
    assert main(["list", "--impurity", "mine:cubic"]) == 0
    assert "hcc: 2" in capsys.readouterr().out


def test_every_splitter_is_described() -> None:
    assert [name for name in names() if f"`{name}`" not in TEXT] == []


@pytest.mark.parametrize("command", [c for c in commands() if c.startswith("make")])
def test_make_targets_exist(command: str) -> None:
    done = subprocess.run(["make", "-n", *shlex.split(command)[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [c for c in commands() if len(c.split()) > 2 and "splitlab " in c])
def test_command_lines_parse(command: str) -> None:
    words = shlex.split(command)
    args = parser().parse_args(words[1:])
    assert args.command.__name__ == f"{words[1].replace('-', '_')}_command"


def test_make_help_lists_the_targets() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in ("env", "table1", "table1-corrected", "replay", "run", "test", "test-slow", "lint", "clean"):
        assert re.search(rf"^  {target} ", done.stdout, flags=re.MULTILINE), target


def test_nothing_speaks_of_the_machine_it_was_made_on() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in listed.stdout.split():
        path = ROOT / name
        assert path.stat().st_size < 1_000_000, name
        if path.suffix in {".py", ".md", ".yaml", ".csv", ".json", ".toml", ".txt", ".html", ".svg"}:
            text = path.read_text(encoding="utf-8")
            for word in ("/wor" + "k/", "/roo" + "t/", "/hom" + "e/"):
                assert word not in text, (name, word)
