"""What follows from stored runs: tables that were edited are noticed, and a plan needs no precision."""

from __future__ import annotations

from pathlib import Path

import pytest

from splitlab import cli

CONFIG = """\
name: small
impurities: [gini]
splitters: [hcc, lca]
grid:
  - {n: [4, 5], k: 3, max_count: 7, runs: 1200}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a config."""
    (tmp_path / "small.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["win_percentage", "relative_excess", "paired_differences"])
def test_verify_makes_tables_again(place: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "small.yaml"]) == 0
    assert cli.main(["verify", "results/small", "--seed", "1"]) == 0
    path = place / "results" / "small" / f"{name}.csv"
    lines = path.read_text().splitlines(keepends=True)
    lines[1] = lines[1].replace("1200", "1201", 1)
    path.write_text("".join(lines))
    capsys.readouterr()
    assert cli.main(["verify", "results/small", "--seed", "1"]) == 1
    said = capsys.readouterr().out
    assert f"differs: {name}.csv, line 2: is not what the stored runs give; `splitlab report`" in said
    assert said.rstrip().endswith("4 of 4 blocks computed again (--seed 1): 1 difference")
    assert cli.main(["report", "results/small"]) == 0
    assert cli.main(["verify", "results/small", "--seed", "1"]) == 0


@pytest.mark.parametrize("ending", ["md", "tex"])
def test_tables_for_readers_are_made_again_too(place: Path, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "small.yaml"]) == 0
    path = place / "results" / "small" / f"paired_differences.{ending}"
    note = "A note." if ending == "md" else r"\par\small A note."
    whole = path.read_text()
    lines = whole.splitlines()
    at = max(n for n, line in enumerate(lines) if line.startswith(("|", r"\bottomrule")))
    at += 2 if ending == "tex" else 1
    path.write_text("\n".join([*lines[:at], note, *lines[at:]]) + "\n")
    assert cli.main(["verify", "results/small"]) == 0  # notes are added by `experiments`
    number = next(n for n, line in enumerate(lines) if "±" in line or r"\pm" in line)
    path.write_text("\n".join([*lines[: number + 1], *lines[number:]]) + "\n")  # a row twice
    assert cli.main(["verify", "results/small"]) == 1
    path.write_text(whole.replace("18.8", "18.9", 1))
    capsys.readouterr()
    assert cli.main(["verify", "results/small"]) == 1
    assert f"differs: paired_differences.{ending}, line " in capsys.readouterr().out


def test_a_plan_has_the_options_of_a_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "small.yaml", "--runs", "1000", "--out", "other place"]) == 0
    capsys.readouterr()
    given = ["plan", "small.yaml", "--jobs", "2", "--out", "other place", "--set", "seed=2018"]
    assert cli.main([*given, "--runs", "3000"]) == 0
    said = capsys.readouterr().out
    assert "4 blocks are left" in said
    assert "`splitlab run small.yaml --set seed=2018 --runs 3000 --out 'other place'` makes them." in said
    assert cli.main([*given, "--runs", "1000"]) == 0
    assert "Everything is stored" in capsys.readouterr().out
    assert cli.main([*given, "--half-width", "5"]) == 0
    assert "--out 'other place' --runs 385` makes them" in capsys.readouterr().out
    assert cli.main([*given, "--runs", "1000", "--half-width", "5"]) == 2
    assert "--runs and --half-width: give one" in capsys.readouterr().err


def test_a_plan_of_the_config_as_it_is(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", "small.yaml", "--jobs", "2"]) == 0
    assert "4 blocks are left" in capsys.readouterr().out
    assert cli.main(["run", "small.yaml", "--runs", "1000"]) == 0
    capsys.readouterr()
    assert cli.main(["plan", "small.yaml", "--jobs", "2"]) == 0
    said = capsys.readouterr().out
    assert "2 blocks are left" in said
    assert "`splitlab run small.yaml` makes them." in said
    assert cli.main(["plan", "small.yaml", "--pilot", "300"]) == 2
    assert "--half-width: is needed" in capsys.readouterr().err
