"""The adversary: certificates verify, searches find bad tables and repeat themselves, proven ratios hold."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from experiments.adversary import Call, challenge, frame_of, improvements, table_of
from scripts.worst_tables import take_over
from splitlab.adversary import Found, certified, proven, record, search, worst_known
from splitlab.adversary.certificate import quotients
from splitlab.adversary.known import as_json, challenged, with_better
from splitlab.adversary.moves import MOVES, changed, repaired, starts
from splitlab.adversary.refine import neighbours, raised, simplified
from splitlab.adversary.search import climb, posed
from splitlab.adversary.text import number, standing
from splitlab.cli import WRONG_INPUT, main
from splitlab.impurity import NAMES, code, score
from splitlab.splitters import get, names
from splitlab.splitters.registry import always_optimal
from tests.helpers import ROOT
from tests.helpers.command import refused, splitlab
from tests.helpers.tables import optimum, random_tables

KNOWN = worst_known()

# Tables that a search must at least come up to, by (splitter, impurity), as found before there was this one.
EARLIER = {
    ("lca", "gini"): [[39, 6, 0], [0, 13, 40], [0, 58, 76], [34, 27, 0], [59, 32, 0], [0, 0, 19]],
    ("lca", "entropy"): [[39, 6, 0], [0, 13, 40], [0, 58, 76], [34, 27, 0], [59, 32, 0], [0, 0, 19]],
    ("hcc", "gini"): [[0, 0, 43], [2, 0, 4], [0, 542, 0], [5, 0, 0], [0, 5, 6], [4, 3, 0], [3, 0, 16], [0, 17, 0]],
    ("hcc", "entropy"): [[18, 6, 30], [15, 0, 0], [9, 9, 0], [1, 34, 0], [0, 2, 2]],
    ("pc_ext", "entropy"): [
        [4, 19, 0, 0], [24, 0, 2, 0], [7, 4, 0, 0], [0, 0, 10, 1], [0, 0, 5, 0], [8, 6, 0, 0], [28, 0, 8, 1],
    ],
    ("sliq_ext", "entropy"): [
        [0, 2, 9, 27], [0, 4, 4, 18], [24, 0, 0, 4], [0, 58, 3, 0], [65, 0, 0, 0], [3, 2, 0, 0], [12, 4, 0, 0],
    ],
    ("sliq", "gini"): [[0, 0, 1, 24], [0, 15, 0, 0], [3, 1, 0, 26], [0, 40, 0, 1], [0, 13, 0, 0], [21, 0, 0, 0]],
    ("twoing_min", "gini"): [[0, 0, 34], [0, 0, 1050], [1, 17, 0], [0, 1272, 1]],
    ("twoing_min", "entropy"): [[0, 0, 34], [0, 0, 1050], [1, 17, 0], [0, 1272, 1]],
}  # fmt: skip


@pytest.mark.parametrize("key", KNOWN, ids="-".join)
def test_the_worst_known_tables_are_as_bad_as_the_list_says(key: tuple[str, str]) -> None:
    known, (splitter, impurity) = KNOWN[key], key
    found = certified(known.table, splitter, impurity)
    assert found.ratio == pytest.approx(known.ratio, rel=1e-9)
    assert found.optimum == pytest.approx(optimum(known.counts, code(impurity)), rel=1e-9)  # by brute force
    assert 1.0 <= known.ratio <= (proven(splitter, impurity) or np.inf)


def test_the_list_is_complete_and_small() -> None:
    assert list(KNOWN) == challenged()
    text = files("splitlab.published").joinpath("worst_tables.json").read_text()
    assert as_json(KNOWN) == text
    assert len(text) < 200_000
    assert {s for s in names() if s not in {key[0] for key in KNOWN}} == {
        "two_class", "direction", "exhaustive", "hyperplanes", "exact",
    }  # fmt: skip


@pytest.mark.parametrize("key", EARLIER, ids="-".join)
def test_the_list_has_at_least_what_was_known_earlier(key: tuple[str, str]) -> None:
    earlier = certified(EARLIER[key], *key).ratio
    assert earlier > 1.02
    assert KNOWN[key].ratio >= earlier


def test_proven_ratios_are_those_of_the_registry() -> None:
    expected = {
        "lca": (2, 3), "hcc": (2, 2), "ova": (2, 3), "balanced": (None, 2), "flip_flop": (2, 3), "sliq": (None, None),
        "twoing": (None, None), "exact": (1, 1), "two_class": (1, 1), "hcc+hd": (2, 2), "pc": (None, None),
    }  # fmt: skip
    for name, bounds in expected.items():
        assert tuple(proven(name, impurity) for impurity in NAMES) == bounds, name
    assert proven("hcc", "of one's own") is None


@pytest.mark.parametrize("impurity", NAMES)
def test_a_certificate_verifies(impurity: str) -> None:
    for table in random_tables(5, 7, 4, 9, 20):
        found = certified(table, "sliq", impurity)
        for side, value in ((found.left, found.value), (found.best_left, found.optimum)):
            assert side.any()
            assert not side.all()
            assert value == score(table[None], side[None], code(impurity))[0]
        assert found.optimum == pytest.approx(optimum(table, code(impurity)), rel=1e-12)
        assert found.ratio == found.value / found.optimum


@pytest.mark.parametrize("table", [[[1, 0], [2, 0]], [[0, 0], [2, 1]], [[1, -1], [2, 1]], [[1, 2]], "x"])
def test_no_certificate_for_what_kernels_do_not_take(table: object) -> None:
    with pytest.raises((ValueError, TypeError), match="table"):
        certified(table, "lca", "gini")


def test_a_ratio_to_an_optimum_of_zero() -> None:
    assert quotients(np.array([0.0, 2.0, 3.0]), np.array([0.0, 0.0, 2.0])).tolist() == [1.0, np.inf, 1.5]
    assert certified([[3, 0], [0, 2], [4, 0]], "lca", "gini").ratio == 1.0


@pytest.mark.parametrize("largest", [10, 10**3, 10**5])
def test_twoing_by_impurity_has_no_bound(largest: int) -> None:
    table = [[0, largest, 0], [0, 0, largest], [1, 0, 0], [0, 0, largest]]
    assert certified(table, "twoing_min", "gini").ratio == pytest.approx((2 * largest + 2) / 3, rel=1e-9)


def legal(tables: np.ndarray, max_count: int) -> bool:
    within = tables.dtype == np.int64 and tables.min() >= 0 and tables.max() <= max_count
    return bool(within and tables.any(axis=1).all() and tables.any(axis=2).all())


@pytest.mark.parametrize("max_count", [1, 5, 10**6])
@pytest.mark.parametrize(("n", "k"), [(2, 2), (6, 3), (3, 7)])
def test_starts_and_changes_are_tables_that_kernels_take(n: int, k: int, max_count: int) -> None:
    rng = np.random.default_rng(0)
    tables = starts(rng, 50, n, k, max_count)
    for _ in range(20):
        assert legal(tables, max_count)
        before = tables.copy()
        after = changed(tables, rng, max_count)
        assert np.array_equal(tables, before)  # copies are changed, not the tables
        tables = after


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
def test_every_move_moves_and_leaves_the_rest_of_a_table_alone(move: object) -> None:
    before = random_tables(2, 5, 4, 100, 200)
    after = before.copy()
    move(after, np.random.default_rng(1))  # type: ignore[operator]
    changes = (after != before).any(axis=(1, 2))
    assert changes.mean() > 0.5
    lines = [(after != before).any(axis=axis).sum(axis=1).max() for axis in (1, 2)]
    whole = move.__name__ in ("double", "halve")  # type: ignore[attr-defined]
    assert (min(lines) > 2) == whole
    assert legal(repaired(after, np.random.default_rng(1), 10**6), 10**6)


def test_raising_ends_at_a_local_maximum_and_simplifying_keeps_it() -> None:
    problem = posed("lca", "gini", 4, 3, 500)
    table = random_tables(1, 4, 3, 50, 1)[0] * 2
    before = problem.ratios(table[None])[0]
    high = raised(table, problem.ratios, 500, 10**5)
    top = problem.ratios(high[None])[0]
    assert top > before
    assert problem.ratios(neighbours(high, 500)).max() <= top * (1 + 1e-9)
    simple = simplified(np.concatenate([high, high[:1]]) * 3, problem.ratios, 10**5)
    assert len(simple) <= 5
    assert simple.sum() < high.sum() * 3
    assert problem.ratios(simple[None])[0] >= problem.ratios(np.concatenate([high, high[:1]])[None])[0] * (1 - 1e-9)


@pytest.mark.parametrize(("splitter", "impurity", "least"), [("lca", "gini", 1.37), ("sliq", "entropy", 1.9)])
def test_a_short_search_beats_random_tables(splitter: str, impurity: str, least: float) -> None:
    found = search(splitter, impurity, 6, 3, steps=100, seed=1)
    problem = posed(splitter, impurity, 6, 3)
    assert found.ratio > problem.ratios(random_tables(1, 6, 3, 7, 20_000)).max()
    assert found.ratio > least
    assert found.ratio == pytest.approx(found.value / optimum(found.table, code(impurity)), rel=1e-12)
    n, k = found.table.shape
    assert n <= 6
    assert k <= 3
    assert legal(found.table[None], 10**4)


def test_steps_decide_what_is_found() -> None:
    first, again, other = (search("hcc", "entropy", 5, 3, steps=20, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.table, again.table)
    assert first.table.shape != other.table.shape or not np.array_equal(first.table, other.table)
    steps: list[int] = []
    search("hcc", "entropy", 5, 3, steps=160, seed=3, watch=lambda best: steps.append(best.steps))
    assert steps == list(range(161))  # beyond a round


def test_a_search_gets_no_worse_and_begins_where_it_is_told() -> None:
    known = KNOWN["hcc", "gini"]
    n, k = known.counts.shape
    found = search("hcc", "gini", n + 1, k, steps=3, begin=[known.counts])
    best = [best.ratio for best, _ in zip(climb(posed("lca", "gini", 4, 3), 0), range(200), strict=False)]
    assert best == sorted(best)
    assert best[-1] > best[0]
    assert found.ratio > 1.0 + (known.ratio - 1.0) / 2  # a further row, of one example, does not hide it


def test_seconds_end_a_search() -> None:
    assert search("lca", "gini", 4, 3, seconds=0.2).ratio > 1.1


@pytest.mark.parametrize("impurity", NAMES)
@pytest.mark.parametrize("splitter", ["exact", "exhaustive", "hyperplanes"])
def test_nothing_is_found_against_the_optimum(splitter: str, impurity: str) -> None:
    assert always_optimal(get(splitter))
    assert search(splitter, impurity, 5, 3, steps=30).ratio == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("splitter", "impurity"),
    [
        ("lca", "gini"),
        ("lca", "entropy"),
        ("hcc", "gini"),
        ("hcc", "entropy"),
        ("ova", "gini"),
        ("balanced", "entropy"),
    ],
)
def test_proven_ratios_hold_against_the_adversary(splitter: str, impurity: str) -> None:
    ratio = search(splitter, impurity, 5, 4, steps=60, seed=2).ratio
    assert 1.001 < ratio <= (proven(splitter, impurity) or 0.0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"splitter": "lcaa"}, "did you mean 'lca'"),
        ({"splitter": "direction"}, "direction"),
        ({"splitter": "two_class"}, "two classes only"),
        ({"impurity": "gin"}, "gin"),
        ({"n": 1}, "n: must be at least 2; got 1"),
        ({"k": 1}, "k: must be at least 2; got 1"),
        ({"n": 60, "k": 12}, "exact"),
        ({"n": 20, "k": 9}, "one step"),
        ({"max_count": 0}, "max_count: must be at least 1"),
        ({"max_count": 10**7}, "max_count"),
        ({"steps": None}, "never end"),
        ({"steps": -1}, "steps"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_searched(changes: dict[str, object], words: str) -> None:
    arguments = {"splitter": "lca", "impurity": "gini", "n": 6, "k": 3, "steps": 5, **changes}
    with pytest.raises(ValueError, match=words):
        search(**arguments)  # type: ignore[arg-type]


CALL = ("adversary", "--splitter", "lca", "--impurity", "gini", "--n", 4, "--k", 3)


def test_every_call_adds_a_line_that_finds_the_same_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = splitlab(*CALL, "--steps", 20, "--seed", 7, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    for words in (
        "LCA",
        "optimum",
        "left side",
        "ratio 1.",
        "proven: at most 2",
        "the committed list has 1.4",
    ):
        assert words in done.stdout
    row = json.loads((tmp_path / "worst.jsonl").read_text())
    assert main([*row["command"].split()[1:], "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == done.stdout
    lines = (tmp_path / "worst.jsonl").read_text().splitlines()
    assert len(lines) == 2
    assert lines[0] == lines[1]
    assert certified(row["table"], "lca", "gini").value == row["value"]
    assert np.flatnonzero(certified(row["table"], "lca", "gini").left).tolist() == row["left"]


def test_a_wrong_call_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    refused(splitlab(*CALL, "--seconds", 1, "--steps", 1, "--out", tmp_path / "out"), "--steps")
    refused(splitlab(*CALL[:-3], 60, "--k", 12, "--out", tmp_path / "out"), "exact", "n = 60, k = 12")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (("--splitter", "lcaa"), "did you mean 'lca'"),
        (("--impurity", "gin"), "'gin' is not known"),
        (("--k", 1), "k: must be at least 2; got 1"),
        (("--steps", -1), "steps: must be at least 0; got -1"),
        (("--out", __file__), __file__),
    ],
)
def test_wrong_arguments(changes: tuple[object, ...], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*map(str, CALL), *map(str, changes)]) == WRONG_INPUT
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.count("\n") == 1
    assert words in errors


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "splitlab", *map(str, CALL), "--seconds", "300", "--out", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_an_interruption_keeps_the_best(running: subprocess.Popen[str], tmp_path: Path) -> None:
    assert running.stderr is not None
    assert running.stderr.readline().startswith("step ")
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in errors
    assert "interrupted; the best so far is kept" in errors
    (one,) = record.found(tmp_path)
    assert f"ratio {one.ratio:.4f}" in output


def test_a_damaged_record_is_named_by_line(tmp_path: Path) -> None:
    record.add(tmp_path, certified([[1, 2, 3], [4, 5, 0]], "lca", "gini"), {"seed": 1})
    path = tmp_path / "worst.jsonl"
    path.write_text(path.read_text() + '{"splitter": "lca", "table": [[1,')  # as if by another program
    with pytest.raises(ValueError, match=r"worst.jsonl:2: is not a line"):
        record.found(tmp_path)
    record.add(tmp_path, certified([[1, 2, 3], [4, 5, 0]], "hcc", "gini"), {"seed": 2})
    assert json.loads(path.read_text().splitlines()[2])["seed"] == 2


def test_a_held_folder_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from splitlab.engine.folder import locked

    monkeypatch.setattr(record, "PATIENCE", 0.2)
    with locked(tmp_path), pytest.raises(ValueError, match="another run is writing"):
        record.check(tmp_path)
    record.check(tmp_path)


def test_only_a_higher_ratio_changes_the_list(tmp_path: Path) -> None:
    def claim(ratio: float) -> Found:
        honest = certified(KNOWN["lca", "gini"].table, "lca", "gini")
        return Found("lca", "gini", honest.table, honest.left, honest.best_left, ratio * honest.optimum, honest.optimum)

    known = KNOWN["lca", "gini"].ratio
    assert with_better(KNOWN, [claim(known * (1 + 1e-12)), claim(1.2)]) == KNOWN
    assert with_better(KNOWN, [claim(1.9), claim(1.8)])["lca", "gini"].ratio == pytest.approx(1.9)
    assert "beats" in standing(claim(1.9), KNOWN["lca", "gini"])
    assert "beats" not in standing(claim(known), KNOWN["lca", "gini"])
    record.add(tmp_path, claim(1.9), {})  # what a line claims does not count, only what its table gives
    take_over([tmp_path], tmp_path / "list.json")
    assert (tmp_path / "list.json").read_text() == as_json(KNOWN)


def test_the_experiment_keeps_what_is_worse(tmp_path: Path) -> None:
    table = [[3, 0, 0], [0, 3, 1], [1, 0, 3]]
    known = with_better({}, [certified(table, "lca", "gini")])
    scratch = challenge(("lca", "gini"), known, Call(tmp_path, 0.1, 5, "a command"))
    kept = record.found(tmp_path)
    assert [one.ratio for one in kept] == sorted({one.ratio for one in kept})  # each worse than those before
    assert kept[-1].ratio == pytest.approx(known["lca", "gini"].ratio)
    assert known["lca", "gini"].ratio >= scratch * (1 - 1e-9)
    assert scratch > 1.2
    assert json.loads((tmp_path / "worst.jsonl").read_text().splitlines()[0])["command"] == "a command"


def test_the_list_as_table_and_frame() -> None:
    scratch = {("lca", "gini"): 1.25, ("sliq", "entropy"): float("inf")}
    frame = frame_of(KNOWN, scratch).set_index(["splitter", "impurity"])
    row = frame.loc[("lca", "gini")]
    assert (row["found"], row["worst"], row["proven"]) == (1.25, KNOWN["lca", "gini"].ratio, 2.0)
    assert certified(row["table"], "lca", "gini").table.shape == (row["n"], row["k"])
    texts = [[entry.text for entry in line] for line in table_of(KNOWN, scratch).rows]
    assert [line[2] for line in texts] == ["1.2500", "unbounded"]
    assert [line[5] for line in texts] == ["2", "–"]
    assert row["committed"] == row["worst"]


def test_what_is_committed_what_is_known_and_what_was_found_now_are_told_apart() -> None:
    worse = {**KNOWN, ("lca", "gini"): replace(KNOWN["lca", "gini"], ratio=1.473)}
    (line,) = table_of(worse, {("lca", "gini"): 1.428}).rows
    assert [entry.text for entry in line[2:5]] == ["1.4280", number(KNOWN["lca", "gini"].ratio), "1.4730"]
    assert [entry.best for entry in line[2:5]] == [False, False, True]
    assert improvements(KNOWN, KNOWN) == f"This call found no table worse than the {len(KNOWN)} known ones."
    said = improvements(KNOWN, worse)
    assert f"1 of the {len(KNOWN)} known ones: lca gini {number(KNOWN['lca', 'gini'].ratio)} -> 1.4730." in said
