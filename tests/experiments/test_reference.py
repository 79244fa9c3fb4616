"""The committed reference runs: blocks recomputed here give the same integers, and the summaries fit together."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from splitlab.engine.blocks import Block, Task
from splitlab.kinds.random_tables.plan import BLOCK_RUNS
from splitlab.kinds.random_tables.work import computed, start_state
from splitlab.kinds.splits.config import SplitsExperiment
from splitlab.kinds.splits.summary import wins
from splitlab.study import load_experiment
from tests.helpers import ROOT

REFERENCE = ROOT / "results" / "reference"
RUNS = ["table1", "table2", "table1_corrected", "table2_corrected", "replay", "replay_excess", "between", "excess"]
TIMED = ["table3"]


def stored(name: str) -> SplitsExperiment:
    """The experiment of a committed run."""
    experiment = load_experiment(REFERENCE / name / "config.yaml")
    assert isinstance(experiment, SplitsExperiment)
    return experiment


def block_counts(experiment: SplitsExperiment, cell_number: int, number: int, impurity: str) -> list[int]:
    """Wins of every splitter in one block, computed here and now."""
    cell, _ = experiment.cells[cell_number]
    block = Block(cell, number, BLOCK_RUNS)
    columns = tuple((impurity, s) for s in experiment.splitters)
    state = start_state(experiment.draws, block)
    data = computed(Task(block, columns, 0, BLOCK_RUNS, experiment.seed, state))
    values = np.stack([data.columns[c] for c in columns], axis=1)
    return wins(values, data.totals).sum(axis=0).tolist()


@pytest.mark.parametrize("name", RUNS)
def test_random_blocks_give_the_same_integers(name: str) -> None:
    experiment = stored(name)
    counted = pd.read_csv(REFERENCE / name / "block_wins.csv")
    rng = np.random.default_rng()  # other blocks each time
    for _ in range(2):
        cell_number = int(rng.integers(len(experiment.cells)))
        cell, runs = experiment.cells[cell_number]
        number, impurity = int(rng.integers(runs // BLOCK_RUNS)), str(rng.choice(experiment.impurities))
        place = {"impurity": impurity, "n": cell.n, "k": cell.k, "max_count": cell.max_count, "block": number}
        row = counted[(counted[list(place)] == list(place.values())).all(axis=1)]
        assert row[list(experiment.splitters)].to_numpy().tolist() == [
            block_counts(experiment, cell_number, number, impurity)
        ], place


@pytest.mark.parametrize("name", RUNS)
def test_blocks_add_up_to_the_wins(name: str) -> None:
    experiment = stored(name)
    key = ["impurity", "n", "k", "max_count"]
    blocks = pd.read_csv(REFERENCE / name / "block_wins.csv").groupby(key)[list(experiment.splitters)].sum()
    won = pd.read_csv(REFERENCE / name / "win_percentage.csv")
    assert len(won) == sum(len(experiment.columns(cell)) for cell, _ in experiment.cells)
    for row in won.to_dict(orient="records"):
        assert blocks.loc[tuple(row[k] for k in key), row["splitter"]] == row["wins"]
        assert row["percent"] == pytest.approx(100 * row["wins"] / row["runs"], rel=1e-12)


@pytest.mark.parametrize("name", [*RUNS, *TIMED])
def test_they_come_from_a_commit(name: str) -> None:
    manifest = json.loads((REFERENCE / name / "manifest.json").read_text())
    assert manifest["git"]["clean"] is True
    assert len(manifest["git"]["commit"]) == 40
    assert manifest["machine"]["cpu"]


def test_the_verdicts_of_the_paper() -> None:
    def verdict(name: str) -> str:
        return (REFERENCE / name / "verdict.txt").read_text()

    assert verdict("table1").startswith("48 of 48 entries agree")
    assert verdict("table2").startswith("48 of 48 entries agree")
    entries, maxima = verdict("replay").splitlines()
    assert entries.startswith("96 of 96 entries equal, digit for digit: 92 by the rules of this package, 4 of")
    assert maxima.startswith("8 of 8 maxima of the relative excess equal, digit for digit")


def test_both_tables_are_from_the_same_random_tables() -> None:
    one, two = (stored(name) for name in ("table1", "table2"))
    assert (one.seed, one.cells, one.draws) == (two.seed, two.cells, two.draws)
