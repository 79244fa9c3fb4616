"""Somebody's own splitter in an experiment: what it may return, what its failures do, and that nothing else changes."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import splitlab
from splitlab import dependencies, plugins
from splitlab.cli import main
from splitlab.engine import runner
from splitlab.engine.blocks import Block, Task
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.random_tables.work import draw
from splitlab.kinds.splits.compare import judge
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.tables import failure_tables
from splitlab.splitters import get, split_batch
from splitlab.splitters.custom import measured_nanoseconds
from splitlab.study import load_results, text_of
from tests.helpers import ROOT
from tests.helpers.own import write_config, write_module
from tests.helpers.tables import random_tables

pytestmark = pytest.mark.usefixtures("elsewhere")

CELL = Cell(5, 3, 7)
RUNS = 1100
AS_LCA = "import splitlab\n\ndef mine(table, impurity):\n    return splitlab.split(table, impurity, 'lca').left\n"


def config(*splitters: Any, runs: int = RUNS, **changes: Any) -> dict[str, Any]:
    grid = [{"n": CELL.n, "k": CELL.k, "max_count": CELL.max_count, "runs": runs}]
    return {"name": "t", "impurities": ["gini", "entropy"], "splitters": list(splitters), "grid": grid, **changes}


def run(*splitters: Any, **changes: Any) -> Results:
    """An experiment in this process and one thread."""
    return splitlab.run(config(*splitters, **changes), jobs=1)


def tables(runs: int = RUNS) -> np.ndarray:
    """The tables of the experiment."""
    blocks = [Block(CELL, number, min(1000, runs - 1000 * number)) for number in range(-(-runs // 1000))]
    return np.concatenate([draw(Task(block, (), 0, block.size, 2018)).tables for block in blocks])


def values(results: Results, impurity: str = "gini") -> np.ndarray:
    return results.impurities(CELL.n, CELL.k, CELL.max_count, impurity)


def mine(table: np.ndarray, impurity: str) -> Any:
    return splitlab.split(table, impurity, "lca").left


def largest(table: np.ndarray, impurity: str) -> Any:
    return np.arange(len(table)) == table.sum(axis=1).argmax()


def fails_on(table: np.ndarray) -> bool:
    return bool(table[0, 0] == 7 and table[1, 1] > 3)


def sometimes(table: np.ndarray, impurity: str) -> Any:
    if fails_on(table):
        raise ValueError("seven\nof them")
    return mine(table, impurity)


@pytest.mark.parametrize("where", ["beside the config", "in the current folder"])
def test_a_function_in_a_module(where: str, tmp_path: Path, elsewhere: Path) -> None:
    name = write_module(tmp_path if where == "beside the config" else elsewhere, AS_LCA)
    splitters = ("hcc", "lca", f"{name}:mine", f"{name}:mine+hd")
    path = write_config(tmp_path, *splitters, impurities="gini, entropy", n=CELL.n, runs=RUNS)
    results = splitlab.run(path, jobs=1)
    for impurity in ("gini", "entropy"):
        found = values(results, impurity)
        assert found[:, 1].tobytes() == found[:, 2].tobytes()
    polished = splitlab.run(config("lca+hd"))
    assert values(results)[:, 3].tobytes() == values(polished)[:, 0].tobytes()


def test_functions_handed_over() -> None:
    """A function, a lambda, and two closures of one name."""

    def row(number: int) -> Any:
        def alone(table: np.ndarray, impurity: str) -> Any:
            return np.arange(len(table)) == number

        return alone

    found = values(run("lca", mine, lambda table, impurity: mine(table, impurity), row(0), row(1)))
    assert found[:, 0].tobytes() == found[:, 1].tobytes() == found[:, 2].tobytes()
    for column, number in ((3, 0), (4, 1)):
        table = tables()[17]
        left, right = table[number], table.sum(axis=0) - table[number]
        expected = sum(side.sum() - (side**2).sum() / side.sum() for side in (left, right))
        assert found[17, column] == pytest.approx(expected)


def test_a_single_split_takes_functions() -> None:
    table = [[5, 0, 1], [0, 5, 2], [4, 1, 4]]
    by_name = splitlab.split(table, "gini", "lca")
    found = splitlab.split(table, lambda p: p * (1 - p), lambda table, impurity: mine(table, "gini"))
    assert found.left.tolist() == by_name.left.tolist()
    assert found.impurity == pytest.approx(by_name.impurity, rel=1e-12)
    with pytest.raises(ValueError, match="returned an array of shape"):
        splitlab.split(table, splitter=lambda table, impurity: np.array([True, False]))


# What it may return


ALONE = [True, False, False, False, False]


def read_only(mask: Any) -> np.ndarray:
    array = np.array(mask)
    array.flags.writeable = False
    return array


ACCEPTED = {
    "list": ALONE,
    "tuple": tuple(ALONE),
    "list of numpy's": [np.bool_(b) for b in ALONE],
    "read-only": read_only(ALONE),
    "every other of twice as many": np.repeat(ALONE, 2)[::2],
    "series": pd.Series(ALONE, index=list("abcde")),
}
REFUSED = {
    "too short": (ALONE[:-1], r"an array of shape \(4,\); return 5 booleans"),
    "too long": ([*ALONE, True], r"an array of shape \(6,\)"),
    "two dimensions": ([[b] for b in ALONE], r"an array of shape \(5, 1\)"),
    "no dimension": (True, r"an array of shape \(\)"),
    "empty": (np.zeros(0, bool), r"an array of shape \(0,\)"),
    "integers": ([1, 0, 0, 0, 0], "list of int64, not of booleans; return 5 booleans"),
    "floats": (np.array(ALONE, float), "ndarray of float64"),
    "text": ("10000", "str of <U5"),
    "nothing": (None, "NoneType of object"),
    "a generator": ((b for b in ALONE), "generator of object"),
    "a set": ({True, False}, "set of object"),
    "objects": (np.array(ALONE, object), "ndarray of object"),
    "no left side": ([False] * 5, "an empty left side"),
    "no right side": ([True] * 5, "an empty right side"),
    "ragged": ([[True], [True, False]], "inhomogeneous"),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_booleans_of_every_kind_are_accepted(case: str) -> None:
    def splitter(table: np.ndarray, impurity: str) -> Any:
        return ACCEPTED[case]

    masks = split_batch(get(plugins.hand_over(splitter)), tables(30), 0)
    assert (masks == ALONE).all()


@pytest.mark.parametrize("case", REFUSED)
def test_anything_else_is_refused(case: str) -> None:
    returned, problem = REFUSED[case]
    name = plugins.hand_over(lambda table, impurity: returned)
    with pytest.raises(ValueError, match=f"^{name}: .*{problem}"):
        split_batch(get(name), tables(30), 0)


def test_a_view_of_the_table_is_no_mask_and_does_no_harm() -> None:
    with pytest.raises(ValueError, match="ndarray of int64, not of booleans"):
        run(lambda table, impurity: table[:, 0], runs=20)


def recurse(table: np.ndarray, impurity: str) -> Any:
    return recurse(table, impurity)


def raising(error: BaseException) -> Any:
    def splitter(table: np.ndarray, impurity: str) -> Any:
        raise error

    return splitter


FAILURES = {
    "error": (raising(KeyError("a")), "raised KeyError: 'a'"),
    "lines": (raising(ValueError("one\ntwo")), "raised ValueError: one two"),
    "leaves": (raising(SystemExit(0)), "raised SystemExit: 0"),
    "leaves silently": (raising(SystemExit()), "raised SystemExit"),
    "recursion": (recurse, "raised RecursionError: maximum recursion depth exceeded"),
    "arguments": (lambda table: None, r"raised TypeError: .*takes 1 positional argument but 2 were given"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_function_that_raises_is_told_in_a_line(case: str) -> None:
    function, message = FAILURES[case]
    with pytest.raises(ValueError, match=f": {message}.*, for gini \\(cell n5_k3_m7, run 0\\)") as caught:
        run(function, runs=20)
    assert "\n" not in str(caught.value)


def test_an_interrupt_is_no_failure() -> None:
    with pytest.raises(KeyboardInterrupt):
        run(raising(KeyboardInterrupt()), runs=20, on_error="record")


def test_what_it_does_to_its_table_and_to_the_terminal_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def spoils(table: np.ndarray, impurity: str) -> Any:
        print("hello")
        left = mine(table, impurity)
        table[:] = 1
        return left

    found = values(run(spoils, "lca", "hcc", runs=50))
    assert found.tobytes() == values(run("lca", "lca+hd", "hcc", runs=50))[:, [0, 0, 2]].tobytes()
    assert capsys.readouterr().out.count("hello") >= 100


def test_it_gets_the_name_of_the_impurity_and_int64() -> None:
    seen = set()

    def looks(table: np.ndarray, impurity: str) -> Any:
        seen.add((impurity, table.dtype.name, table.shape))
        return mine(table, impurity)

    run(looks, runs=20)
    assert seen == {("gini", "int64", (5, 3)), ("entropy", "int64", (5, 3))}


# on_error


FAILED = [run for run, table in enumerate(tables()) if fails_on(table)]


def test_there_are_failures_in_both_blocks() -> None:
    assert 1 < len(FAILED) < 100
    assert FAILED[-1] >= 1000


def test_stop_names_cell_run_and_how_to_replay(tmp_path: Path, elsewhere: Path) -> None:
    name = plugins.hand_over(sometimes)
    place = rf"for gini \(cell n5_k3_m7, run {FAILED[0]}\)"
    with pytest.raises(ValueError, match=rf"{name}: raised ValueError: seven of them, {place}.*with out=DIR"):
        run("lca", sometimes)
    out = tmp_path / "out"
    with pytest.raises(ValueError, match="finished blocks are kept") as caught:
        splitlab.run(config("lca", sometimes), jobs=1, out=out)
    command = re.search("`(splitlab replay [^`]*)`", str(caught.value))
    assert command is not None
    assert command[1] == f"splitlab replay {out} --n 5 --k 3 --max-count 7 --run {FAILED[0]}"
    assert main(command[1].split()[1:]) == 0


def test_the_replay_of_a_config_elsewhere_finds_its_functions(tmp_path: Path) -> None:
    module = write_module(tmp_path, "def bad(table, impurity):\n    raise ValueError('never')\n")
    with pytest.raises(ValueError, match=rf"`PYTHONPATH={tmp_path} splitlab replay out "):
        splitlab.run(write_config(tmp_path, f"{module}:bad"), out="out")


@pytest.fixture(scope="module")
def recorded() -> Results:
    return run("lca", sometimes, "pc", on_error="record")


def test_recorded_failures_are_kept_and_counted(recorded: Results) -> None:
    for impurity in ("gini", "entropy"):
        found = values(recorded, impurity)
        assert np.flatnonzero(np.isnan(found[:, 1])).tolist() == FAILED
        assert not np.isnan(found[:, [0, 2]]).any()
        fine = ~np.isnan(found[:, 1])
        assert found[fine, 1].tobytes() == found[fine, 0].tobytes()
    frame = recorded.win_percentage.set_index(["impurity", "splitter"])
    for splitter, failures, first in (("lca", 0, -1), (plugins.hand_over(sometimes), len(FAILED), FAILED[0])):
        row = frame.loc[("entropy", splitter)]
        assert (row["runs"], row["failures"], row["first_failure"]) == (RUNS, failures, first)


def test_a_failure_is_a_loss_and_changes_no_other_win(recorded: Results) -> None:
    without = run("lca", "pc").win_percentage.set_index(["impurity", "splitter"])["wins"]
    wins = recorded.win_percentage.set_index(["impurity", "splitter"])["wins"]
    assert wins.drop(plugins.hand_over(sometimes), level="splitter").equals(without)
    won_by_lca = values(run("lca", "pc"))
    fine = np.setdiff1d(np.arange(RUNS), FAILED)
    expected = (won_by_lca[fine, 0] <= won_by_lca[fine].min(axis=1) * (1 + 1e-9)).sum()
    assert wins["gini", plugins.hand_over(sometimes)] == expected


def test_failures_are_reported(recorded: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (table,) = failure_tables(recorded)
    texts = [[entry.text for entry in row] for row in table.rows]
    assert len(texts) == 2
    wins = int(recorded.win_percentage.query("splitter.str.endswith('sometimes')")["wins"].iloc[0])
    most = f"{100 * (wins + len(FAILED)) / RUNS:.1f}"
    failed = f"{len(FAILED)} of {RUNS}"
    assert texts[0] == ["5", "3", "7", "Gini", "sometimes", failed, str(FAILED[0]), *texts[0][7:8], most]
    out = tmp_path / "out"
    splitlab.run(config("lca", sometimes, "pc", on_error="record"), jobs=1, out=out)
    assert main(["report", str(out)]) == 0
    assert table.title in capsys.readouterr().out
    for file in ("win_percentage.md", "win_percentage.tex", "report.html"):
        assert table.title in (out / file).read_text(), file
    assert "& sometimes" in (out / "win_percentage.tex").read_text()
    header, *rows = (out / "win_percentage.csv").read_text().splitlines()
    assert ",failures,first_failure" in header
    assert rows[1].startswith(f"gini,5,3,7,{plugins.hand_over(sometimes)},")
    assert f",{len(FAILED)},{FAILED[0]}," in rows[1]
    assert "on_error: record" in (out / "config.yaml").read_text()
    assert main(["compare", str(out)]) == 0


def test_beside_published_numbers_nothing_is_judged() -> None:
    """A win depends on the competitors; the published values are shown all the same."""
    grid = [{"n": 12, "k": 3, "max_count": 7, "runs": 20}]
    results = run("lca", largest, impurities=["gini"], grid=grid, published="paper")
    assert results.win_percentage["published"].tolist() == ["42.8", ""]
    verdict = judge(results)
    assert not verdict.judged
    assert "not judged: a win depends on the competitors" in text_of(results)


def test_a_failing_run_can_be_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    splitlab.run(config("lca", sometimes, on_error="record"), jobs=1, out=out)
    assert main(["replay", str(out), "--n", "5", "--k", "3", "--run", str(FAILED[1])]) == 0
    shown = capsys.readouterr().out
    assert shown.count("raised ValueError: seven of them") == 2
    assert "These are the impurities that the folder holds." in shown


def test_a_splitter_that_always_fails_leaves_a_table(tmp_path: Path) -> None:
    results = run(raising(ValueError("no")), "lca", runs=30, on_error="record")
    frame = results.win_percentage
    assert frame["percent"].tolist() == [0.0, 100.0] * 2
    assert frame["failures"].tolist() == [30, 0] * 2
    assert results.relative_excess["mean"].isna().all()
    alone = run(raising(ValueError("no")), runs=30, on_error="record")
    assert alone.win_percentage["wins"].tolist() == [0, 0]
    for each in (results, alone):
        assert "30 of 30" in text_of(each)


def test_stop_again_where_failures_were_recorded(tmp_path: Path) -> None:
    """Stopping, recording and stopping again continue one another."""
    out = tmp_path / "out"
    for on_error, fails in (("stop", True), ("record", False), ("stop", False)):
        if fails:
            with pytest.raises(ValueError, match="seven of them"):
                splitlab.run(config("lca", sometimes, on_error=on_error), jobs=1, out=out)
        else:
            results = splitlab.run(config("lca", sometimes, on_error=on_error), jobs=1, out=out)
            assert np.isnan(values(results)).sum() == len(FAILED)


# Continuing


def test_only_the_columns_of_a_changed_function_are_computed_again(
    elsewhere: Path, tmp_path: Path, computed: list[Task]
) -> None:
    changing, staying = write_module(elsewhere, AS_LCA), write_module(elsewhere, AS_LCA)
    splitters, out = ("lca", f"{changing}:mine", f"{staying}:mine", f"{changing}:mine+hd"), tmp_path / "out"

    def anew() -> set[str]:
        computed.clear()
        results = splitlab.run(config(*splitters, runs=30), jobs=1, out=out)
        assert load_results(out).win_percentage.equals(results.win_percentage)
        return {splitter for task in computed for _, splitter in task.columns}

    assert anew() == set(splitters)
    assert anew() == set()
    (elsewhere / f"{changing}.py").write_text(AS_LCA.replace("lca", "pc"))
    assert anew() == set()  # this session goes on with what it has imported
    del sys.modules[changing]
    importlib.invalidate_caches()
    assert anew() == {f"{changing}:mine", f"{changing}:mine+hd"}
    found = values(load_results(out))
    assert found[:, 1].tobytes() == values(run("pc", runs=30))[:, 0].tobytes()


def test_a_closure_is_computed_again_when_it_is_another_one(tmp_path: Path) -> None:
    def row(number: int) -> Any:
        return lambda table, impurity: np.arange(len(table)) == number

    first, second = row(0), row(1)
    out = tmp_path / "out"
    one = values(splitlab.run(config(first, second, runs=30), jobs=1, out=out))
    turned = values(splitlab.run(config(second, first, runs=30), jobs=1, out=out))
    assert turned.tobytes() == one[:, ::-1].tobytes() != one.tobytes()


def test_a_manifest_says_which_code_ran(tmp_path: Path) -> None:
    splitlab.run(config("lca", largest, runs=20), out=tmp_path / "out")
    name = plugins.hand_over(largest)
    assert f'"{name}": "{dependencies.fingerprint(name)}"' in (tmp_path / "out" / "manifest.json").read_text()


# Time


def test_the_first_call_is_not_taken_for_all_of_them() -> None:
    def slow_at_first(table: np.ndarray, impurity: str) -> Any:
        if not calls:
            time.sleep(0.3)
        calls.append(table)
        return largest(table, impurity)

    calls: list[np.ndarray] = []
    assert get(plugins.hand_over(slow_at_first)).nanoseconds(5, 3) < 0.1e9


def test_functions_of_one_name_are_timed_each() -> None:
    def after(seconds: float) -> Any:
        def waits(table: np.ndarray, impurity: str) -> Any:
            time.sleep(seconds)
            return largest(table, impurity)

        return waits

    quick = get(plugins.hand_over(after(0.0))).nanoseconds(5, 3)
    slow = get(plugins.hand_over(after(0.1))).nanoseconds(5, 3)
    assert quick < 0.05e9 < 0.1e9 <= slow


def test_a_table_without_zero_rows_and_columns_is_used_for_that() -> None:
    seen = []

    def looks(table: np.ndarray, impurity: str) -> Any:
        seen.append(table)
        return largest(table, impurity)

    name = plugins.hand_over(looks)
    for shape in ((3, 9), (9, 3), (2, 2)):
        measured_nanoseconds(name, plugins.fingerprint(name), *shape)
    assert all(table.any(axis=0).all() and table.any(axis=1).all() for table in seen)
    assert {table.shape for table in seen} == {(3, 9), (9, 3), (2, 2)}


def timing(**changes: Any) -> dict[str, Any]:
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 4}]
    base = {"name": "t", "kind": "timing", "impurities": ["gini"], "splitters": ["lca", largest], "grid": grid}
    return {**base, "repeats": 2, "python_runs": 2, "engines": ["python"], **changes}


def test_own_functions_are_timed_as_python() -> None:
    def waits(table: np.ndarray, impurity: str) -> Any:
        until = time.thread_time() + 0.01
        while time.thread_time() < until:
            pass
        left = largest(table, impurity)
        table[:] = 0
        return left

    name = plugins.hand_over(waits)
    frame = splitlab.run(timing(splitters=[largest, waits], baseline=name)).timing
    assert frame is not None
    times = frame[frame["impurity"] == "gini"].set_index("splitter")["microseconds"]
    assert times[name] == pytest.approx(1e4, rel=0.5)
    assert times[plugins.hand_over(largest)] < 1e3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"engines": ["compiled"]}, r"'.*:largest' is a Python function and no kernel; write engines: \[python\]"),
        ({"splitters": ["lca", sometimes, raising(KeyError("x"))]}, "raised KeyError: 'x'"),
        ({"splitters": ["lca", f"{__name__}:largest+hd"]}, r"largest\+hd' has no plain Python version"),
    ],
)
def test_what_cannot_be_timed_is_told_in_a_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        splitlab.run(timing(**changes))


def test_times_of_other_code_are_not_these(elsewhere: Path, tmp_path: Path) -> None:
    module, out = write_module(elsewhere, AS_LCA), tmp_path / "out"
    wanted = timing(splitters=["lca", f"{module}:mine"])
    first = splitlab.run(wanted, out=out).timing
    again = splitlab.run(wanted, out=out).timing
    assert first is not None
    assert first["microseconds"].tolist() == again["microseconds"].tolist()  # type: ignore[index]
    (elsewhere / f"{module}.py").write_text(AS_LCA + "# edited\n")
    del sys.modules[module]
    with pytest.raises(ValueError, match="was timed with functions"):
        splitlab.run(wanted, out=out)


# Processes


def elsewhere_only(function: Any) -> Any:
    """A closure that calls ``function``, and tells in which processes."""
    here = os.getpid()

    def splitter(table: np.ndarray, impurity: str) -> Any:
        return function(table, impurity, os.getpid() != here)

    return splitter


@pytest.fixture
def in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "PROCESS_SECONDS", 0.0)


def test_processes_give_the_same_numbers(elsewhere: Path, in_processes: None) -> None:
    """Of a module's function, a closure, a polished one, and one with an impurity of one's own."""
    module = write_module(elsewhere, AS_LCA)
    away = elsewhere_only(lambda table, impurity, away: [away, *[False] * (len(table) - 1)] if away else None)

    def own(p: float) -> float:
        return p * (1.0 - p)

    chosen = config("lca", f"{module}:mine+hd", f"{module}:mine", away, impurities=["gini", own], runs=40)
    chosen["on_error"] = "record"
    parallel, serial = (splitlab.run(chosen, jobs=jobs) for jobs in (2, 1))
    for impurity in parallel.experiment.impurities:
        found, expected = values(parallel, impurity), values(serial, impurity)
        assert found[:, :3].tobytes() == expected[:, :3].tobytes()
        assert not np.isnan(found).any()
        assert np.isnan(expected[:, 3]).all()  # it fails in this process, so it ran in others


def test_a_failure_in_a_process(in_processes: None, tmp_path: Path) -> None:
    def splitter(table: np.ndarray, impurity: str, away: bool) -> Any:
        if away and fails_on(table):
            raise ValueError(f"far away {away}")
        return largest(table, impurity)

    failing = elsewhere_only(splitter)
    place = f"run ({'|'.join(map(str, FAILED))})"
    with pytest.raises(ValueError, match=rf"far away True, for .*, {place}\).*`splitlab replay"):
        splitlab.run(config("lca", failing), jobs=2, out=tmp_path / "out")
    results = splitlab.run(config("lca", failing, on_error="record"), jobs=2, out=tmp_path / "out")
    assert np.flatnonzero(np.isnan(values(results)[:, 1])).tolist() == FAILED


def test_what_cannot_be_sent_to_a_process_stays_here(in_processes: None) -> None:
    lock, here = threading.Lock(), os.getpid()

    def locked(table: np.ndarray, impurity: str) -> Any:
        with lock:
            assert os.getpid() == here
            return largest(table, impurity)

    assert not np.isnan(values(splitlab.run(config("lca", locked, runs=30), jobs=2))).any()


def test_functions_are_not_called_at_the_same_time_in_one_process() -> None:
    """Unless they say so themselves, they need not be ready for that."""
    inside: list[int] = []

    def alone(table: np.ndarray, impurity: str) -> Any:
        inside.append(1)
        time.sleep(0.0001)
        assert len(inside) == 1
        inside.pop()
        return largest(table, impurity)

    splitlab.run(config("lca", alone, runs=1500, impurities="gini"), jobs=2)


def test_a_process_that_ends(in_processes: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(table: np.ndarray, impurity: str, away: bool) -> Any:
        if away and (table[0] == 7).all():
            os.kill(os.getpid(), signal.SIGKILL)
        return largest(table, impurity)

    leaves, out = elsewhere_only(leave), tmp_path / "out"
    assert any((table[0] == 7).all() for table in tables())
    with pytest.raises(ValueError, match=r"a process that ran it has ended: .*; finished blocks are kept") as caught:
        splitlab.run(config("lca", leaves), jobs=2, out=out)
    assert plugins.hand_over(leaves) in str(caught.value)
    assert "\n" not in str(caught.value)
    monkeypatch.setattr(runner, "PROCESS_SECONDS", np.inf)
    results = splitlab.run(config("lca", leaves), jobs=2, out=out)
    assert values(results).tobytes() == values(run("lca", largest)).tobytes()


INTERRUPTED = """
import sys
from splitlab.cli import main
from splitlab.engine import runner
runner.PROCESS_SECONDS = 0.0
sys.exit(main(["run", "t.yaml", "--jobs", "2", "--out", "out"]))
"""
WAITS = """
import multiprocessing, pathlib, time
def waits(table, impurity):
    if multiprocessing.parent_process() or "oky" in multiprocessing.current_process().name:
        pathlib.Path("begun").touch()
        time.sleep(60)
    return table[:, 0] >= table[:, 0].max() if (table[:, 0] < table[:, 0].max()).any() else [True] + [False] * 3
"""


def test_an_interrupt_ends_the_processes_too(elsewhere: Path) -> None:
    module = write_module(elsewhere, WAITS)
    write_config(elsewhere, "lca", f"{module}:waits")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    until = time.monotonic() + 60
    while not (elsewhere / "begun").exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 130, said
    # On a busy machine the process that tracks the pool's semaphores may still warn of those that the others removed.
    lines = [line for line in said.splitlines() if "resource_tracker" not in line]
    assert lines[-1].endswith("interrupted; finished blocks are kept, and the same command continues"), said
    assert "Traceback" not in said
    assert (elsewhere / "out" / "blocks").is_dir()  # those of lca


# One splitter against the kernels


@pytest.mark.parametrize("impurity", ["gini", "entropy"])
def test_polishing_goes_on_from_the_functions_split(impurity: str) -> None:
    batch = random_tables(4, 12, 4, 7, 20)
    kind = ("gini", "entropy").index(impurity)
    found = split_batch(get(plugins.hand_over(mine) + "+hd"), batch, kind)
    assert (found == split_batch(get("lca+hd"), batch, kind)).all()
