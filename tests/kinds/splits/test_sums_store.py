"""Runs of which only sums are kept: the same numbers, little space, and clear words for what cannot be had."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

import splitlab
from splitlab import cli
from splitlab.engine.blocks import Block, BlockData, Task
from splitlab.engine.session import Session
from splitlab.engine.store import framed, unframed
from splitlab.engine.verify import Verified, verify
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.splits import sums_store
from splitlab.kinds.splits.config import SplitsExperiment
from splitlab.kinds.splits.kind import Splits
from splitlab.kinds.splits.results import Results
from splitlab.study import load_experiment, load_results, opened, write_tables

FRAMES = ("win_percentage", "relative_excess", "excess_histogram", "draws", "paired_differences")


def config(runs: int = 5300, **changes: Any) -> dict[str, Any]:
    grid = [{"n": [4, 6], "k": 3, "max_count": 7, "runs": runs}]
    base = {"name": "s", "impurities": ["gini", "entropy"], "splitters": ["hcc", "pc", "lca"], "grid": grid}
    return {**base, "keep_runs": False, **changes}


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Several files for a few thousand runs."""
    monkeypatch.setattr(sums_store, "GROUP_BLOCKS", 2)
    monkeypatch.setattr(sums_store, "GROUPS_HELD", 1)
    yield


@pytest.fixture(scope="module")
def kept() -> Results:
    return splitlab.run(config(keep_runs=True))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    splitlab.run(config(), jobs=2, out=tmp_path / "out")
    return tmp_path / "out"


def same(ours: Results, theirs: Results) -> None:
    """The same numbers, to the last bit."""
    for name in FRAMES:
        assert_frame_equal(getattr(ours, name), getattr(theirs, name), check_exact=True)
    assert_frame_equal(ours.block_wins(), theirs.block_wins(), check_exact=True)


def verified(folder: Path, sample: int) -> Verified:
    return verify(opened(folder), folder, sample)


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted((folder / "blocks").rglob("*.*"))}


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_numbers_are_those_of_kept_runs(jobs: int, kept: Results, tmp_path: Path) -> None:
    same(splitlab.run(config(), jobs=jobs), kept)
    same(splitlab.run(config(), jobs=jobs, out=tmp_path / "out"), kept)
    same(load_results(tmp_path / "out"), kept)
    for folder, results in ((tmp_path / "a", kept), (tmp_path / "b", load_results(tmp_path / "out"))):
        write_tables(results, folder)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_failures_and_functions_of_ones_own(tmp_path: Path) -> None:
    def sometimes(table: Any, impurity: str) -> Any:
        if table[0, 0] == 0:
            raise ValueError("no")
        return np.arange(len(table)) == table[0, 0] % len(table)

    changes: dict[str, Any] = {"splitters": ["lca", sometimes, "hcc"], "on_error": "record"}
    theirs = splitlab.run(config(1500, **changes, keep_runs=True))
    assert theirs.win_percentage["failures"].sum() > 0
    same(splitlab.run(config(1500, **changes), out=tmp_path / "out"), theirs)


def test_files(out: Path) -> None:
    names = [name.split("/")[-1] for name in files(out) if "n4_" in name]
    assert names == ["000000.sums", "000001.sums", "000002.sums", "000005-300.sums"]
    assert "keep_runs: false" in (out / "config.yaml").read_text()


@pytest.mark.parametrize("before", [1, 300, 1000, 2300, 4000])
def test_more_runs_continue(before: int, out: Path, tmp_path: Path, kept: Results) -> None:
    splitlab.run(config(before), out=tmp_path / "grown")
    splitlab.run(config(4700), out=tmp_path / "grown")
    same(splitlab.run(config(), out=tmp_path / "grown"), kept)
    assert files(tmp_path / "grown") == files(out)


class Interrupted(Splits):
    """Experiments that are interrupted while the sixth block is computed."""

    @staticmethod
    def compute(task: Task) -> BlockData:
        if task.block == Block(Cell(4, 3, 7), 5, 300):
            raise KeyboardInterrupt
        return Splits.compute(task)


def test_an_interrupted_run_keeps_what_is_finished(out: Path, tmp_path: Path, computed: list[Task]) -> None:
    experiment = load_experiment(config())
    assert isinstance(experiment, SplitsExperiment)
    with pytest.raises(KeyboardInterrupt):
        Interrupted(experiment).run(Session(jobs=1, out=tmp_path / "cut"))
    computed.clear()
    splitlab.run(config(), jobs=1, out=tmp_path / "cut")
    assert len(computed) == 2 * 6 - 6  # five of one cell, and the first of the other, which is tried first
    assert files(tmp_path / "cut") == files(out)


def test_a_second_run_computes_nothing(out: Path, computed: list[Task]) -> None:
    splitlab.run(config(), out=out)
    assert computed == []


def test_damaged_files_are_made_again(out: Path, kept: Results, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(out)
    place = out / "blocks" / "n6_k3_m7" / "000001.sums"
    content = place.read_bytes()
    for at in (5, content.index(b"\n") - 3, content.index(b"\n") + 100, len(content) - 1):
        damaged = bytearray(content)
        damaged[at] ^= 4
        place.write_bytes(damaged)
        with pytest.raises(ValueError, match="n6_k3_m7 lacks runs 2000 to 2999"):
            load_results(out)
        same(splitlab.run(config(), out=out), kept)
        assert files(out) == before


def test_sums_of_other_code_are_made_again(out: Path) -> None:
    before = files(out)
    for path in out.glob("blocks/*/*.sums"):
        header, body = unframed(path.read_bytes())
        columns = [[*column[:2], "another"] for column in header["columns"]]
        path.write_bytes(framed({**header, "columns": columns}, body))
    with pytest.raises(ValueError, match="lacks runs 0 to 999"):
        load_results(out)
    splitlab.run(config(), out=out)
    assert files(out) == before


# What cannot be had


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"splitters": ["hcc", "lca"]}, "splitters: hcc, pc, lca.*splitters: hcc, lca"),
        ({"splitters": ["hcc", "pc", "lca", "sliq"]}, "splitters: hcc, pc, lca, sliq"),
        ({"impurities": ["gini"]}, "impurities: gini, entropy"),
        ({"keep_runs": True}, "keep_runs: false.*keep_runs: true"),
        ({"seed": 3}, "seed: 2018.*seed: 3"),
    ],
)
@pytest.mark.parametrize("lost", [False, True])
def test_what_sums_cannot_give_is_refused(lost: bool, changes: dict[str, Any], words: str, out: Path) -> None:
    before = files(out)
    if lost:
        (out / "config.yaml").unlink()
    with pytest.raises(ValueError, match=words):
        splitlab.run(config(**changes), out=out)
    assert files(out) == before


def test_kept_runs_do_not_become_sums(tmp_path: Path) -> None:
    splitlab.run(config(10, keep_runs=True), out=tmp_path)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"keep_runs: true.*keep_runs: false"):
            splitlab.run(config(10), out=tmp_path)
        (tmp_path / "config.yaml").unlink(missing_ok=True)


@pytest.mark.parametrize("runs", [5299, 3000, 10])
def test_fewer_runs_are_refused(runs: int, out: Path, kept: Results) -> None:
    written = (out / "config.yaml").read_bytes()
    with pytest.raises(ValueError, match=f"5300 runs of n4_k3_m7.*cannot be cut to {runs}"):
        splitlab.run(config(runs), out=out)
    assert (out / "config.yaml").read_bytes() == written
    same(load_results(out), kept)


def test_histograms_of_more_runs_are_not_taken_for_those_of_fewer(out: Path) -> None:
    (out / "config.yaml").unlink()
    with pytest.raises(ValueError, match="more than 3,000 runs of n4_k3_m7"):
        splitlab.run(config(3000), out=out)


def test_there_are_no_single_runs(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="keep_runs: false"):
        load_results(out).impurities(4, 3, 7, "gini")
    assert cli.main(["replay", str(out), "--n", "4", "--k", "3", "--run", "17"]) == 0
    assert "sums over runs only" in capsys.readouterr().out


def test_sums_can_be_verified(out: Path) -> None:
    found = verified(out, 5)
    assert (found.compared, found.absent, found.differing) == (5, [], [])
    other = out.with_name("other")
    splitlab.run(config(seed=7), out=other)
    for name in ("000000.sums", "000005-300.sums"):
        place, lie = (folder / "blocks" / "n4_k3_m7" / name for folder in (out, other))
        (header, _), (theirs, body) = unframed(place.read_bytes()), unframed(lie.read_bytes())
        place.write_bytes(framed({**header, "bins": theirs["bins"]}, body))
    found = verified(out, 12)
    assert found.compared == 12
    assert [line.split(":")[0] for line in found.differing] == [f"n4_k3_m7, block {b}" for b in (0, 1, 5)]


@pytest.mark.parametrize("how", ["swapped", "renamed", "of other runs"])
def test_files_under_a_wrong_number_are_named(how: str, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, place = files(out), out / "blocks" / "n4_k3_m7"
    if how == "swapped":
        content = (place / "000000.sums").read_bytes()
        (place / "000001.sums").replace(place / "000000.sums")
        (place / "000001.sums").write_bytes(content)
        named, missing = place / "000000.sums", 4
    elif how == "renamed":
        (place / "000001.sums").rename(place / "000007.sums")
        named, missing = place / "000007.sums", 2
    else:
        (place / "000005-300.sums").rename(place / "000005-299.sums")
        named, missing = place / "000005-299.sums", 1
    assert cli.main(["verify", str(out), "--sample", "12"]) == 1
    said = capsys.readouterr()
    assert str(named) in said.out + said.err
    assert f"{missing} block" in said.out or how == "swapped"
    splitlab.run(config(), out=out)
    assert {name: content for name, content in files(out).items() if name in before} == before


# Space


def test_sums_take_little_space(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What 10,000,000 runs would take is below 50 MB."""
    monkeypatch.setattr(sums_store, "GROUP_BLOCKS", 100)
    grid = [{"n": 12, "k": 3, "max_count": 7, "runs": 20_000}]
    splitters = ["hcc", "pc_ext_counts", "sliq_ext", "lca"]
    splitlab.run(config(grid=grid, splitters=splitters), out=tmp_path)
    (file,) = (tmp_path / "blocks").rglob("*.sums")
    numbers = 20 * sums_store.kept_bytes(2, 4)
    histograms = file.stat().st_size - numbers
    assert (
        10_000 * numbers / 20 + 100 * 3 * histograms < 50e6
    )  # a hundred blocks fill at most thrice the bins of twenty


@pytest.mark.slow
def test_memory_is_flat(tmp_path: Path) -> None:
    code = """
import resource, sys, splitlab
grid = [{"n": 12, "k": 3, "max_count": 7, "runs": int(sys.argv[1])}]
config = {"name": "m", "impurities": "gini", "splitters": ["lca", "hcc"], "grid": grid, "keep_runs": False}
splitlab.run(config, out=sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

    def peak(runs: int) -> int:
        command = [sys.executable, "-c", code, str(runs), str(tmp_path / str(runs))]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert peak(2_000_000) < peak(100_000) + 20_000  # kB
