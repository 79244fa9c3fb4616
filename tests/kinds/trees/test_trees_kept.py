"""Stored trees: continued, verified and planned as random tables are."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from splitlab import run
from splitlab.cli import DIFFERS, DONE, WRONG_INPUT, main
from splitlab.engine.blocks import BlockData
from splitlab.engine.verify import Verified, verify
from splitlab.kinds.trees.config import TreesExperiment
from splitlab.kinds.trees.work import load_all, tree_store, trial_block
from splitlab.published.program.protocol import SEEDS
from splitlab.study import load_experiment, opened
from splitlab.text import ConfigError
from tests.helpers import made_up
from tests.helpers.published_program import REFERENCE
from tests.helpers.trees import config, study

TRIALS = 3


def changed(out: Path, trial: int, at: int) -> None:
    """Change a number of LCA's in a trial, with a fresh checksum, as a lie would."""
    experiment = load_experiment(out / "config.yaml")
    assert isinstance(experiment, TreesExperiment)
    store = tree_store(out, experiment, None)
    block = trial_block(load_all(experiment)[0].cell, trial - 1, experiment.folds)
    data = store.load(block)
    column = data.columns["gini", "lca"].copy()
    column[at] += 1
    store.save(block, BlockData(data.totals, data.drawn, {**data.columns, ("gini", "lca"): column}))


def verified(out: Path) -> Verified:
    return verify(opened(out), out)


def test_trials_are_verified(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out"
    study(folder, out, arithmetic="tolerant", splitters=["lca", "hcc"])
    found = verified(out)
    assert replace(found, tables=0) == Verified(TRIALS, TRIALS)
    assert found.tables
    assert main(["verify", str(out), "--sample", "2", "--seed", "1"]) == DONE
    assert "2 of 3 blocks computed again (--seed 1): every bit is the same" in capsys.readouterr().out
    changed(out, 2, 7)
    line, table = verified(out).differing
    assert table.startswith("trees.csv, line ")
    for word in ("made_up-", "trial 2: gini lca", "1 of 15 numbers differ", "of fold 2, nodes", "computed again"):
        assert word in line
    assert main(["verify", str(out)]) == DIFFERS


def test_damaged_and_absent_trials(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out"
    study(folder, out)
    first, second, third = sorted(out.glob("blocks/*/*.block"))
    first.write_bytes(first.read_bytes()[:-1])
    second.unlink()
    found = verified(out)
    assert (found.compared, len(found.absent), len(found.damaged)) == (1, 1, 1)
    assert str(first) in found.damaged[0]
    assert found.absent[0].endswith("trial 2")
    first.unlink()
    third.unlink()
    assert main(["verify", str(out)]) == WRONG_INPUT  # nothing is the same as nothing
    assert "nothing is verified" in capsys.readouterr().err
    (folder / "made_up.csv").unlink()
    assert main(["verify", str(out)]) == WRONG_INPUT
    assert "no made_up.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"max_depth": 4}, ["max_depth: 5", "max_depth: 4"]),
        ({"arithmetic": "tolerant"}, ["arithmetic: published", "arithmetic: tolerant"]),
        ({"seeds": [*SEEDS[:2], 7]}, ["the seed of trial 3", "7"]),
    ],
)
@pytest.mark.parametrize("config_is_lost", [False, True])
def test_another_protocol_is_refused(config_is_lost: bool, changes: Any, words: list[str], folder: Path) -> None:
    out = folder / "out"
    study(folder, out, splitters=["lca"])
    before = {path: path.read_bytes() for path in out.glob("blocks/*/*")}
    if config_is_lost:
        (out / "config.yaml").unlink()
    if config_is_lost and "seeds" in changes:  # then the blocks of other seeds are named, and made again
        study(folder, out, splitters=["lca"], **changes)
        after = {path: path.read_bytes() for path in out.glob("blocks/*/*")}
        assert [path.name for path in before if after[path] != before[path]] == ["000002.block"]
        return
    with pytest.raises(ConfigError) as refused:
        study(folder, out, splitters=["lca"], **changes)
    for word in words:
        assert word in str(refused.value)
    assert {path: path.read_bytes() for path in out.glob("blocks/*/*")} == before


def test_more_seeds_keep_what_is_there(folder: Path) -> None:
    out = folder / "out"
    study(folder, out, splitters=["lca"], trials=2, seeds=[5, 6])
    kept = {path: path.stat().st_mtime_ns for path in out.glob("blocks/*/*")}
    more = study(folder, out, splitters=["lca"], trials=3, seeds=[5, 6, 7])
    assert len(kept) == 2
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    pd.testing.assert_frame_equal(more.trees, study(folder, splitters=["lca"], trials=3, seeds=[5, 6, 7]).trees)


def test_a_plan(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(folder)
    text = "\n".join(f"{key}: {str(entry).replace(chr(39), '')}" for key, entry in config(folder).items())
    Path("mine.yaml").write_text(text + "\n")
    methods, out = 2 * len(REFERENCE), Path("results") / "small"

    def planned() -> list[str]:
        assert main(["plan", "mine.yaml"]) == DONE
        said = capsys.readouterr().out.splitlines()
        row = next(line for line in said if line.lstrip().startswith("made_up"))
        return [*row.split()[1:5], said[-1]]

    left = "`splitlab run mine.yaml` makes them."
    assert planned() == ["3", str(methods), "0", str(3 * methods), left]
    assert main(["run", "mine.yaml", "--runs", "1"]) == DONE
    capsys.readouterr()
    assert planned() == ["3", str(methods), str(methods), str(2 * methods), left]
    assert main(["run", "mine.yaml"]) == DONE
    capsys.readouterr()
    *numbers, last = planned()
    assert numbers == ["3", str(methods), str(3 * methods), "0"]
    taken = sum(path.stat().st_size for path in out.glob("blocks/*/*"))
    assert last.startswith("Everything is stored")
    assert np.isclose(1000 * float(last.split("; ")[1].split()[0]), taken, rtol=0.1)
    assert main(["plan", "mine.yaml", "--half-width", "1"]) == WRONG_INPUT
    assert "does not go with kind trees" in capsys.readouterr().err


def test_data_of_another_content_are_not_there(folder: Path) -> None:
    study(folder, folder / "out", splitters=["lca"])
    made_up.write(folder, 200)
    changed_data = "made_up: its data, or the types of its columns, are others than those of the stored results"
    found = verified(folder / "out")
    assert (found.compared, len(found.absent), found.differing) == (0, TRIALS, [changed_data])
    for computed in (True, False):
        said = io.StringIO()
        run(config(folder, splitters=["lca"]), out=folder / "out", say=said)
        assert (f"{changed_data}; they are computed again" in said.getvalue()) == computed
    found = verified(folder / "out")
    assert (found.compared, found.absent, found.differing, found.damaged) == (TRIALS, [], [], [])
    (orphan,) = found.orphans  # the trials of the data as they were
    assert orphan.parent.name == "blocks"


def test_what_the_config_names_and_is_not_there_is_named(folder: Path) -> None:
    study(folder, folder / "out", splitters=["lca"], trials=1)
    said = io.StringIO()
    (folder / "out" / "datasets.yaml").unlink()
    run(config(folder, splitters=["lca"], trials=1), out=folder / "out", say=said)
    (line,) = (line for line in said.getvalue().splitlines() if "written again" in line)
    assert line.startswith(f"{folder}/out/datasets.yaml: no such file; ")


def test_more_folds_than_rows(folder: Path) -> None:
    path = folder / "made_up.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    with pytest.raises(ValueError, match="made_up: has no class of 3 rows or more, and folds: 3"):
        study(folder)
