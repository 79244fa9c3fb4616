"""The door to the artefacts: one table of them, their options and exit codes, and notes that say what the csv says."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments import all as everything
from experiments import artefact as artefacts
from experiments.__main__ import ARTEFACTS, main, parser
from experiments.artefact import Artefact
from experiments.notes import PCEXT_ENTROPY, PCEXT_GINI
from splitlab.cli import DIFFERS, DONE, WRONG_INPUT
from splitlab.kinds.data_sets.catalogue import VARIABLE
from splitlab.kinds.splits.compare import Entry
from splitlab.report.layout import Verdict
from splitlab.study import load_experiment
from tests.helpers import ROOT, made_up

REFERENCE = ROOT / "results" / "reference"


def test_without_a_name_the_artefacts_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == DONE
    listed = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert listed == [[one.name, one.heading] for one in ARTEFACTS]


def test_the_configs_are_there_and_named_like_their_artefacts() -> None:
    assert len({one.name for one in ARTEFACTS}) == len(ARTEFACTS)
    for one in ARTEFACTS:
        assert one.config is not None or one.program is not None
        if one.config is not None:
            assert load_experiment(ROOT / "configs" / one.config).name == one.name


def test_every_target_of_make_makes_an_artefact_with_its_options() -> None:
    called = re.findall(r"-m experiments (\w+)", (ROOT / "Makefile").read_text())
    assert sorted(called) == sorted(one.name for one in ARTEFACTS)
    for name in {*called} - {"adversary"}:
        args = parser().parse_args([name, "--runs", "5", "--jobs", "1"])
        assert (args.runs, args.jobs, args.artefact.name) == (5, 1, name)
    assert parser().parse_args(["table3", "--fresh"]).fresh is True
    assert parser().parse_args(["adversary", "--seconds", "9"]).seconds == 9


def test_everything_is_made_of_artefacts() -> None:
    assert {part.name for part in everything.PARTS} <= {one.name for one in ARTEFACTS}


@pytest.mark.parametrize("line", [["table9"], ["table1", "--runs", "1e4"], ["table1", "--run", "5"]])
def test_what_is_wrong_is_said_in_one_line(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(line)
    assert left.value.code == WRONG_INPUT
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_an_artefact_is_made_as_a_program(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "experiments", "table1", "--runs", "20", "--jobs", "1"]
    done = subprocess.run([*command, "--out", str(tmp_path / "out")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == DONE, done.stderr
    assert done.stdout.startswith("Table 1. Percentage of wins, Gini: ours beside the paper's\n===")
    assert PCEXT_GINI in done.stdout
    assert "pc\\_ext\\_counts" in (tmp_path / "out" / "win_percentage.md").read_text()
    (tmp_path / "file").write_text("")
    done = subprocess.run([*command, "--out", str(tmp_path / "file")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == WRONG_INPUT
    assert done.stderr.startswith("experiments table1: error: ")
    assert "Traceback" not in done.stderr


def test_a_number_that_differs_is_an_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = ["table1", "--runs", "5", "--jobs", "1", "--out", str(tmp_path)]
    assert main(line) == DONE
    monkeypatch.setattr(artefacts, "verdict", lambda results: Verdict(True, False, "one differs"))
    assert main(line) == DIFFERS


def test_trees_are_made_like_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    made_up.write(tmp_path)
    config = {"name": "small", "kind": "trees", "datasets": "[made_up]", "catalogue": tmp_path / "datasets.yaml"}
    config |= {"splitters": "[lca, hcc]", "max_depth": 5, "min_second": 5, "trials": 1}
    (tmp_path / "small.yaml").write_text("".join(f"{key}: {entry}\n" for key, entry in config.items()))
    small = Artefact("small", str(tmp_path / "small.yaml"), "Small trees")
    assert small.make(parser().parse_args(["table4", "--jobs", "1", "--out", str(tmp_path / "out")])) == DONE
    said = capsys.readouterr().out
    assert said.startswith("Small trees\n===========\n\nMean accuracy in percent over 1 trial")
    assert (tmp_path / "out" / "means.csv").is_file()


def program(code: int) -> Callable[..., int]:
    return lambda artefact, args: code


@pytest.mark.parametrize("code", [DONE, DIFFERS])
def test_a_program_decides_its_exit_code(code: int) -> None:
    one = Artefact("mine", None, "Mine", program=program(code))
    assert one.make(parser().parse_args(["table1"])) == code


def test_the_summary_has_all_artefacts_and_their_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everything, "ROOT", tmp_path)
    monkeypatch.setattr(everything, "RESULTS", tmp_path / "results")
    (tmp_path / "results" / "table2").mkdir(parents=True)
    (tmp_path / "results" / "table2" / "verdict.txt").write_text("47 of 48 agree\n")
    outcomes = {part.name: everything.Outcome(int(part.name == "table2"), 1.0) for part in everything.PARTS}
    outcomes["table3"] = everything.Outcome(WRONG_INPUT, 1.0)
    table = everything.summary(outcomes)
    states = {row[0].text: row[1].text for row in table.rows}
    assert len(states) == len(everything.PARTS)
    assert (states["Table 1"], states["Table 2"], states["Table 3"]) == ("done", "DIFFERS", "FAILED")
    assert table.notes[0] == "Table 2: 47 of 48 agree"


@pytest.mark.parametrize(("table", "note"), [("table1", PCEXT_GINI), ("table2", PCEXT_ENTROPY)])
def test_the_notes_on_pcext_say_what_the_reference_says(table: str, note: str) -> None:
    counts, defined = (_pcext(name) for name in (table, f"{table}_corrected"))
    far = [sum(abs(entry.z() or 0.0) > 3 for entry in entries) for entries in (counts, defined)]
    worst = max(defined, key=lambda entry: abs(entry.z() or 0.0))
    assert f"{far[0]} of the {len(counts)} entries of PCext with raw counts lie more than 3 standard" in note
    assert f"{far[1]} of the {len(defined)} lie that far from it: at n = {worst.n}, k = {worst.k} it wins" in note
    assert f"it wins {100 * worst.wins / worst.runs:.1f} %, published are {worst.printed} %" in note
    assert {entry.runs for entry in (*counts, *defined)} == {10_000}
    assert "reference runs of 10,000 tables" in note
    assert f"`make {table}-corrected`" in note


def _pcext(name: str) -> list[Entry]:
    """The entries on PCext of a reference run that have a published number."""
    with (REFERENCE / name / "win_percentage.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["splitter"].startswith("pc_ext") and row["published"]]
    whole = ("n", "k", "max_count", "wins", "runs")
    return [
        Entry(
            impurity=row["impurity"],
            splitter=row["splitter"],
            printed=row["published"],
            **{field: int(row[field]) for field in whole},
        )
        for row in rows
    ]
