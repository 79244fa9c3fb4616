"""Kind timing: its config, the pass with a clock that is made up, the numbers, the folder and the tables."""

from __future__ import annotations

import io
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import splitlab
from splitlab.engine.blocks import Block, Task, Work
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.random_tables.work import draw
from splitlab.kinds.timing import measure as timing
from splitlab.kinds.timing.config import TimingExperiment
from splitlab.kinds.timing.results import TimingResults
from splitlab.kinds.timing.tables import decimals, text_of, timing_tables, write_tables
from splitlab.published import load_ratios
from splitlab.study import load_experiment, load_results, run
from splitlab.text import ConfigError
from tests.helpers.manifests import rewrite_manifest

GOOD = """name: small
kind: timing
impurities: [gini, entropy]
splitters: [hcc, lca]
grid:
  - {n: 12, k: 3, max_count: 7, runs: 20}
repeats: 2
python_runs: 2
published: table3
"""
KEYS = "name, kind, impurities, splitters, grid, seed, published, engines, repeats, python_runs, baseline"


def settings(**changes: Any) -> dict[str, Any]:
    cell = {"n": 12, "k": 3, "max_count": 7, "runs": 20}
    usual = {"name": "small", "kind": "timing", "impurities": ["gini", "entropy"], "splitters": ["hcc", "lca"]}
    return {**usual, "grid": [cell], "repeats": 2, "python_runs": 2, "published": "table3", **changes}


def experiment(**changes: Any) -> TimingExperiment:
    made = load_experiment(settings(**changes))
    assert isinstance(made, TimingExperiment)
    return made


def write(folder: Path, text: str = GOOD) -> Path:
    path = folder / "small.yaml"
    path.write_text(text)
    return path


def command(*args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "splitlab", *map(str, args)]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, timeout=120)


# The config


def test_the_config_is_read_and_its_resolved_form_reads_back_equal(tmp_path: Path) -> None:
    made = load_experiment(write(tmp_path), runs=30, overrides=["engines=python", "seed=5"])
    assert isinstance(made, TimingExperiment)
    assert (made.kind, made.engines, made.repeats, made.python_runs) == ("timing", ("python",), 2, 2)
    assert (made.baseline, made.seed, made.cells) == ("lca", 5, ((Cell(12, 3, 7), 30),))
    assert load_experiment(write(tmp_path, made.to_yaml())) == made


def test_what_is_left_out_has_defaults() -> None:
    config = settings()
    for key in ("repeats", "python_runs", "published"):
        del config[key]
    made = load_experiment(config)
    assert isinstance(made, TimingExperiment)
    assert (made.engines, made.repeats, made.python_runs) == (("compiled", "python"), 5, 20)
    assert (made.baseline, made.published, made.seed) == ("lca", None, 2018)


WRONG = {
    "a key of kind splits": (GOOD + "draws: authors\n", f":10: unknown key 'draws'; known keys: {KEYS}"),
    "misspelt": (GOOD + "repeat: 3\n", ":10: unknown key 'repeat'; did you mean 'repeats'?"),
    "one repeat": (GOOD.replace("repeats: 2", "repeats: 1"), ":7: repeats: 1 is too small; repeats must be"),
    "many repeats": (GOOD.replace("repeats: 2", "repeats: 101"), ":7: repeats: 101 is too large"),
    "a float": (GOOD.replace("python_runs: 2", "python_runs: 2.0"), ":8: python_runs: 2.0 is not a whole number"),
    "an engine": (GOOD + "engines: [compiled, pyton]\n", ":10: engines[1]: pyton is not possible here; write"),
    "an engine twice": (GOOD + "engines: [python, python]\n", ":10: engines[1]: 'python' is repeated"),
    "no engine": (GOOD + "engines: []\n", ":10: engines: a list has no items"),
    "no baseline": (GOOD.replace("lca]", "pc]"), ":4: splitters: the baseline 'lca' is not among the splitters"),
    "a baseline": (GOOD + "baseline: hc\n", ":10: baseline: the baseline 'hc' is not among the splitters; did you"),
    "the paper's baseline": (GOOD + "baseline: hcc\n", ":9: published: table3 does not go with this baseline"),
    "no grid": ("name: x\nkind: timing\nimpurities: gini\nsplitters: lca\n", ":1: key 'grid' is missing"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_config_is_refused(case: str, tmp_path: Path) -> None:
    text, says = WRONG[case]
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_experiment(path)
    assert str(caught.value).startswith(str(path) + says)


def test_keys_of_timing_are_unknown_to_kind_splits() -> None:
    config = {**settings(), "kind": "splits"}
    with pytest.raises(ConfigError, match="unknown key 'repeats'; known keys: name, kind"):
        load_experiment(config)


ABSURD = {
    "one table": ({"splitters": ["hcc", "lca"], "grid": [{"n": 9, "k": 30, "max_count": 7, "runs": 1}]}, r"2\^k"),
    "one table in Python": (
        {"grid": [{"n": 50, "k": 18, "max_count": 7, "runs": 1}]},
        "in plain Python 'hcc' would take about .* engines: \\[compiled\\]",
    ),
    "altogether": (
        {
            "grid": [{"n": 50, "k": 14, "max_count": 7, "runs": 60_000}],
            "repeats": 100,
            "engines": "compiled",
            "splitters": ["hcc", "lca", "twoing"],
        },
        "this timing would take about .*the compiled engine at n = 50, k = 14 alone",
    ),
    "memory": ({"grid": [{"n": 12, "k": 3, "max_count": 7, "runs": 10**9}]}, "keeps the tables of a cell in memory"),
}


@pytest.mark.parametrize("case", ABSURD)
def test_an_absurd_timing_is_refused_with_the_estimate(case: str) -> None:
    changes, says = ABSURD[case]
    told = io.StringIO()
    with pytest.raises(ConfigError, match=says):
        run(settings(**changes), say=told)
    assert told.getvalue() == ""  # not even progress


PUBLISHED = {
    "table1": "'table1' has no relative times; write table3, or a path",
    "tabel3": "'tabel3' has no relative times",
    "no.csv": "cannot be read",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_other_published_numbers_are_refused_before_any_timing(name: str) -> None:
    told = io.StringIO()
    with pytest.raises(ConfigError, match=PUBLISHED[name]):
        run(settings(published=name), say=told)
    assert told.getvalue() == ""  # not even progress


def test_load_ratios_from_the_paper_and_from_a_file(tmp_path: Path) -> None:
    paper = load_ratios("table3")
    assert len(paper.values) == 36
    assert paper.get("", 50, 9, 7, "pc_ext") == paper.get("", 50, 9, 7, "pc_ext_counts") == "10.2"
    path = tmp_path / "own.csv"
    path.write_text("table,impurity,n,k,max_count,splitter,value\nx,,12,3,7,hcc,250\nx,gini,12,3,7,hcc,97\n")
    assert load_ratios(str(path)).values == {("", 12, 3, 7, "hcc"): "250"}
    for bad in ("0", "-1", "inf", "nan", "much"):
        path.write_text(f"table,impurity,n,k,max_count,splitter,value\nx,,12,3,7,hcc,{bad}\n")
        with pytest.raises(ValueError, match=r"own.csv:2: "):
            load_ratios(str(path))


# The pass, with a clock that runs only when a splitter is called


class MadeUp:
    """Engines whose splitters take a known time per table: cost, raised by the repeat as `growth` says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cost: dict[str, int], growth: dict[str, list[float]]) -> None:
        self.now, self.repeat, self.cost, self.growth = 0, None, cost, growth
        self.calls: list[tuple[int | None, str, str, int]] = []
        monkeypatch.setattr(timing, "thread_time_ns", lambda: self.now)
        monkeypatch.setattr(timing, "JOBS", {"compiled": self.job, "python": self.job})
        one_repeat = timing._one_repeat

        def numbered(experiment: Any, prepared: Any, repeat: int) -> Any:
            self.repeat = repeat
            return one_repeat(experiment, prepared, repeat)

        monkeypatch.setattr(timing, "_one_repeat", numbered)

    def job(self, column: tuple[str, str], tables: np.ndarray) -> Any:
        impurity, splitter = column

        def run() -> None:
            factor = 1.0 if self.repeat is None else self.growth.get(splitter, [1.0] * 9)[self.repeat]
            self.now += round(self.cost[splitter] * factor * len(tables)) * (2 if impurity == "entropy" else 1)
            self.calls.append((self.repeat, impurity, splitter, len(tables)))

        return run


def nothing(work: Work) -> None:
    """No progress."""


def test_means_ratios_and_intervals_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    MadeUp(monkeypatch, {"hcc": 30_000, "lca": 10_000}, {"hcc": [1.0, 1.2, 1.4], "lca": [1.0, 1.0, 1.0]})
    made = experiment(repeats=3, engines="compiled")
    frame = timing.time_splitters(made, nothing).set_index(["impurity", "splitter"])
    hcc = frame.loc["gini", "hcc"]
    # Times 30, 36, 42 and 10, 10, 10 microseconds: ratios 3.0, 3.6, 4.2, standard deviation 0.6, t(2) = 4.302653.
    assert hcc["microseconds"] == pytest.approx(36.0)
    assert hcc["ratio"] == pytest.approx(3.6)
    half = 4.302652729911275 * 0.6 / math.sqrt(3)
    assert hcc["ratio_high"] - hcc["ratio"] == pytest.approx(half)
    assert hcc["ratio"] - hcc["ratio_low"] == pytest.approx(half)
    assert hcc["microseconds_high"] - hcc["microseconds"] == pytest.approx(10 * half)
    assert hcc["spread"] == pytest.approx(0.6 / 3.6)
    assert not hcc["trustworthy"]
    assert frame.loc["all", "hcc"]["microseconds"] == pytest.approx(108.0)  # entropy takes twice as long
    assert frame.loc["all", "hcc"]["ratio"] == pytest.approx(3.6)
    assert set(frame["tables"]) == {20}
    assert set(frame["repeats"]) == {3}


def test_the_ratio_is_of_the_mean_times_not_the_mean_of_the_ratios() -> None:
    seconds = np.array([[[3.0, 1.0]], [[4.0, 3.0]]])
    made = experiment(impurities="gini")
    frame = timing.frame_of(made, [timing.Times("compiled", Cell(12, 3, 7), (20, 20), seconds)])
    assert set(frame[frame["splitter"] == "hcc"]["ratio"]) == {3.5 / 2.0}
    assert set(frame[frame["splitter"] == "lca"]["ratio"]) == {1.0}
    assert set(frame[frame["splitter"] == "lca"]["ratio_low"]) == {1.0}


@pytest.mark.parametrize(("off", "trusted"), [(0.011, True), (0.012, False)])
def test_a_wide_interval_is_not_trusted(off: float, trusted: bool) -> None:
    # Two ratios 1 ± d have the half-width t(1) * d = 12.706 d, and 0.1 / 12.706 = 0.00787.
    d = off * 0.7
    seconds = np.array([[[1.0 + d, 1.0]], [[1.0 - d, 1.0]]])
    frame = timing.frame_of(experiment(impurities="gini"), [timing.Times("python", Cell(12, 3, 7), (2, 2), seconds)])
    assert frame["trustworthy"].tolist() == [trusted, True] * 2


def test_splitters_take_turns_and_go_over_the_same_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = MadeUp(monkeypatch, {"hcc": 3_000_000, "pc": 5_000_000, "lca": 2_000_000}, {})
    made = experiment(splitters=["hcc", "pc", "lca"], repeats=4, engines="compiled")
    timing.time_splitters(made, nothing)
    # lca takes 20 tables x 2 ms: two batches of 10 tables, 20 ms each.
    assert {tables for repeat, *_, tables in clock.calls if repeat is not None} == {10}
    turns = [["hcc", "pc", "lca"], ["pc", "lca", "hcc"], ["lca", "hcc", "pc"], ["hcc", "pc", "lca"]]
    for repeat, order in enumerate(turns):
        called = [(impurity, splitter) for r, impurity, splitter, _ in clock.calls if r == repeat]
        assert called == 2 * [(i, s) for s in order for i in ("gini", "entropy")]


def test_a_batch_lasts_at_least_20_ms(monkeypatch: pytest.MonkeyPatch) -> None:
    MadeUp(monkeypatch, {"hcc": 70_000, "lca": 1_000}, {})
    made = experiment(engines="compiled")
    prepared = timing.prepare(made, "compiled", timing.draw_tables(1, Cell(12, 3, 7), 20))
    for column, p in prepared.items():
        assert len(p.jobs) == 1
        lasts = timing.elapsed(p.jobs[0], p.loops)
        assert 0.02 <= lasts < 0.045, (column, lasts)


def test_a_slow_splitter_of_the_python_engine_gets_fewer_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    MadeUp(monkeypatch, {"hcc": 300_000_000, "pc": 80_000_000, "lca": 1_000}, {})
    made = experiment(splitters=["hcc", "pc", "lca"], python_runs=9, engines="python")
    frame = timing.time_splitters(made, nothing)
    # Both impurities of a table take 0.9, 0.24 and 0.000003 s; a second is allowed, but two tables at least.
    assert frame["tables"].tolist() == [2, 4, 9] * 3
    assert frame[frame["splitter"] == "pc"]["microseconds"].tolist() == pytest.approx([240_000, 80_000, 160_000])


def test_tables_are_those_of_kind_splits() -> None:
    cell = Cell(4, 3, 7)
    blocks = [draw(Task(Block(cell, b, runs), (), 0, runs, 9)).tables for b, runs in ((0, 1000), (1, 5))]
    assert np.array_equal(timing.draw_tables(9, cell, 1005), np.concatenate(blocks))


def test_the_garbage_collector_is_off_meanwhile_and_on_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    import gc

    seen: list[bool] = []
    monkeypatch.setattr(timing, "JOBS", {"compiled": lambda column, tables: lambda: seen.append(gc.isenabled())})
    monkeypatch.setattr(timing, "enough_loops", lambda job: 1)
    timing.time_splitters(experiment(engines="compiled"), nothing)
    assert seen[-8:] == [False] * 8  # 2 repeats x 2 splitters x 2 impurities
    assert gc.isenabled()


# A real run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("timing")
    done = command("run", write(folder), "--jobs", 2, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "results" / "small", done


@pytest.fixture
def stored(finished: tuple[Path, Any], tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished[0], tmp_path / "small"))


def test_a_run_writes_everything_and_prints_both_tables(finished: tuple[Path, Any]) -> None:
    folder, done = finished
    files = {path.name for path in folder.iterdir()} - {".lock"}
    assert files == {"config.yaml", "manifest.json", "timing.csv", "timing.md", "timing.tex"}
    assert "Time relative to LCA, Gini and Entropy together" in done.stdout
    assert "HcC: paper" in done.stdout
    assert "Microseconds per table" in done.stdout
    assert "jobs: 2 is ignored; timing uses one thread" in done.stderr
    assert "kernels compiled" in done.stderr
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["machine"]["cores"] > 0
    assert manifest["engines"] == ["compiled", "python"]
    assert manifest["compile_seconds"] > 0.0
    assert {"wall_seconds", "processor_seconds", "git", "packages", "code", "seed"} <= set(manifest)


def test_the_numbers_of_a_run(finished: tuple[Path, Any]) -> None:
    frame = load_results(finished[0]).timing
    assert frame is not None
    columns = (
        "engine impurity n k max_count splitter tables repeats microseconds microseconds_low microseconds_high "
        "ratio ratio_low ratio_high spread trustworthy published"
    )
    assert " ".join(frame) == columns
    assert len(frame) == 2 * 3 * 2  # engines, impurities and their sum, splitters
    lca = frame[frame["splitter"] == "lca"]
    assert (lca[["ratio", "ratio_low", "ratio_high"]] == 1.0).all(axis=None)
    assert lca["trustworthy"].all()
    assert (frame["microseconds"] > 0).all()
    times = frame.pivot_table(index=["engine", "splitter"], columns="impurity", values="microseconds")
    assert np.allclose(times["all"], times["gini"] + times["entropy"])
    assert dict(zip(frame["engine"], frame["tables"], strict=True)) == {"compiled": 20, "python": 2}
    published = frame[frame["published"] != ""]
    assert published[["impurity", "splitter", "published"]].to_numpy().tolist() == [["all", "hcc", "1.6"]] * 2


def test_the_python_call_gives_the_timing_and_no_wins() -> None:
    results = splitlab.run(settings(engines="compiled", impurities="gini"))
    assert results.timing is not None
    assert results.timing["engine"].unique().tolist() == ["compiled"]
    assert results.win_percentage.empty
    with pytest.raises(ValueError, match="kind timing"):
        results.impurities(12, 3, 7, "gini")


def test_report_renders_again_without_timing(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from splitlab.cli import main

    before = {path.name: path.read_bytes() for path in stored.iterdir()}
    for name in ("timing.md", "timing.tex"):
        (stored / name).unlink()
    assert main(["report", str(stored)]) == 0
    assert len(capsys.readouterr().err.splitlines()) == 1  # where the page is; no progress, no compilation
    after = {path.name: path for path in stored.iterdir()}
    assert set(after) - set(before) == {"figures", "report.html"}
    assert {name: after[name].read_bytes() for name in before} == before
    assert (stored / "figures" / "time_against_k.png").is_file()
    assert "Microseconds per table" in (stored / "report.html").read_text()


def test_compare_does_not_judge_and_replay_refuses(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from splitlab.cli import main

    assert main(["compare", str(stored)]) == 0
    assert capsys.readouterr().out.startswith("not judged: the published times are of another machine")
    assert main(["replay", str(stored), "--n", "12", "--k", "3", "--run", "1"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "is of kind timing and has no runs to replay" in said


def test_the_same_again_times_nothing(stored: Path) -> None:
    before, told = load_results(stored).timing, io.StringIO()
    again = run(settings(), out=stored, say=told)
    assert "nothing is timed again" in told.getvalue()
    assert len(told.getvalue().splitlines()) == 1  # no progress
    assert again.timing is not None
    assert again.timing.equals(before)
    assert (splitlab.run(settings(published=None), out=stored).timing["published"] == "").all()


DIFFERENT = {
    "repeats": ({"repeats": 3}, "was made with repeats: 2, and this config says repeats: 3"),
    "runs": ({"grid": [{"n": 12, "k": 3, "max_count": 7, "runs": 21}]}, "n12_k3_m7 x 20, .* n12_k3_m7 x 21"),
    "seed": ({"seed": 1}, "was made with seed: 2018"),
    "engines": ({"engines": "python"}, "was made with engines: compiled, python"),
    "kind": ({"kind": "splits"}, "was made with kind: timing, and this config says kind: splits"),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_another_config_is_refused(case: str, stored: Path) -> None:
    changes, says = DIFFERENT[case]
    config = settings(**changes)
    if case == "kind":
        config = {key: config[key] for key in ("name", "impurities", "splitters", "grid")}
    before = {path.name: path.read_bytes() for path in stored.iterdir()}
    with pytest.raises(ConfigError, match=says):
        splitlab.run(config, out=stored)
    assert {path.name: path.read_bytes() for path in stored.iterdir()} == before


def test_times_are_refused_where_splits_are(tmp_path: Path) -> None:
    wins = {key: settings()[key] for key in ("name", "impurities", "splitters", "grid")}
    splitlab.run(wins, out=tmp_path / "out")
    with pytest.raises(ConfigError, match="was made with kind: splits, and this config says kind: timing"):
        splitlab.run(settings(), out=tmp_path / "out")


FOREIGN = {
    "machine's cpu": lambda manifest: manifest["machine"].update(cpu="i7-6500U"),
    "numba": lambda manifest: manifest["packages"].update(numba="0.1"),
    "code of the splitters": lambda manifest: manifest.update(code="0"),
    "machine's cores": lambda manifest: manifest.pop("machine") and None,
}


@pytest.mark.parametrize("name", FOREIGN)
def test_times_of_another_machine_are_never_merged(name: str, stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = json.loads((stored / "manifest.json").read_text())
    FOREIGN[name](manifest)
    rewrite_manifest(stored, manifest)
    manifest = json.loads((stored / "manifest.json").read_text())
    wanted = name if "machine" in manifest else "machine's cpu"
    with pytest.raises(ConfigError, match=f"was timed with {wanted}: .*never merged; choose another --out, or --fresh"):
        splitlab.run(settings(), out=stored)
    MadeUp(monkeypatch, {"hcc": 3_000_000, "lca": 2_000_000}, {})
    results = splitlab.run(settings(), out=stored, fresh=True)
    assert results.timing is not None
    backups = [path for path in stored.parent.iterdir() if "backup" in path.name]
    assert [json.loads((b / "manifest.json").read_text()) for b in backups] == [manifest]


def test_a_damaged_or_missing_timing_is_named(stored: Path) -> None:
    path = stored / "timing.csv"
    frame = pd.read_csv(path, keep_default_na=False)
    frame.drop(index=0).to_csv(path, index=False)
    with pytest.raises(ConfigError, match=r"timing.csv: its rows are not those of the config"):
        load_results(stored)
    frame.drop(columns="ratio").to_csv(path, index=False)
    with pytest.raises(ConfigError, match=r"timing.csv: lacks the column ratio"):
        load_results(stored)
    frame.assign(ratio="fast").to_csv(path, index=False)
    with pytest.raises(ConfigError, match=r"timing.csv: cannot be read .*'fast'"):
        load_results(stored)
    frame.assign(trustworthy="perhaps").to_csv(path, index=False)
    with pytest.raises(ConfigError, match=r"timing.csv: column trustworthy"):
        load_results(stored)
    path.unlink()
    with pytest.raises(ConfigError, match=r"holds no times .timing.csv is missing.; `splitlab run"):
        load_results(stored)


def test_an_interrupted_timing_keeps_nothing_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(timing, "thread_time_ns", interrupt)  # at the first look at the clock
    with pytest.raises(KeyboardInterrupt, match="of an unfinished timing nothing is kept"):
        splitlab.run(settings(), out=tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".lock"]


# The tables


def made_results(seconds: dict[str, list[list[float]]], manifest: dict[str, Any], **changes: Any) -> TimingResults:
    """Results with these seconds per engine, (repeats, splitters), for one impurity."""
    made = experiment(impurities="gini", engines=list(seconds), **changes)
    used = (20,) * len(made.splitters)
    times = [timing.Times(e, Cell(12, 3, 7), used, np.array(s)[:, None, :]) for e, s in seconds.items()]  # type: ignore[arg-type]
    return TimingResults(made, timing.with_published(made, timing.frame_of(made, times)), manifest)


STEADY = [[3e-6, 1e-6], [3e-6, 1e-6]]
SHAKY = [[3e-4, 1e-4], [5e-4, 1e-4]]


def test_paper_python_and_compiled_stand_side_by_side(tmp_path: Path) -> None:
    results = made_results({"compiled": STEADY, "python": STEADY}, {"machine": {"cpu": "a Z80"}})
    ratios, absolute = timing_tables(results)
    assert list(ratios.heads) == ["n", "k", "HcC: paper", "python", "compiled"]
    assert [e.text for e in ratios.rows[0]] == ["12", "3", "1.6", "3.00 ± 0.00", "3.00 ± 0.00"]
    assert list(absolute.heads) == ["n", "k", "HcC: python", "compiled", "LCA: python", "compiled"]
    assert [e.text for e in absolute.rows[0]] == ["12", "3", "3.00", "3.00", "1.00", "1.00"]
    text = text_of(results)
    for words in ("i7-6500U", "compare how a column grows", "not comparable with the paper's", "a Z80"):
        assert words in text
    assert "Warning" not in text
    write_tables(results, tmp_path)
    assert "HcC: paper" in (tmp_path / "timing.md").read_text()
    assert r"3.00 $\pm$ 0.00" in (tmp_path / "timing.tex").read_text()


def test_untrustworthy_ratios_are_marked_and_counted() -> None:
    results = made_results({"compiled": STEADY, "python": SHAKY}, {"wall_seconds": 10.0, "processor_seconds": 5.0})
    entries = [e.text for e in timing_tables(results)[0].rows[0]]
    assert entries[2:] == ["1.6", "4.00 ± 12.71†", "3.00 ± 0.00"]
    assert "Warning: 1 of 2 ratios are not trustworthy (†)" in text_of(results)
    assert "left this one the processor for 50 % of the time" in text_of(results)


def test_a_single_splitter_and_no_published_numbers() -> None:
    alone = made_results({"compiled": [[1e-6], [2e-6]]}, {}, splitters="lca")
    assert [table.title for table in timing_tables(alone)] == ["Microseconds per table, Gini (entries 0 to 7)"]
    plain = made_results({"compiled": STEADY}, {}, published=None)
    assert list(timing_tables(plain)[0].heads) == ["n", "k", "HcC: compiled"]
    assert "i7-6500U" not in text_of(plain)


@pytest.mark.parametrize(("value", "places"), [(0.0123, 4), (1.0, 2), (9.99, 2), (10.0, 1), (181.5, 0), (5000.0, 0)])
def test_three_significant_digits(value: float, places: int) -> None:
    assert decimals(value) == places
