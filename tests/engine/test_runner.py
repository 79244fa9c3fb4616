"""Running experiments: results depend on what was asked and on nothing else; folders are continued, never spoilt."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import comb, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import splitlab
from splitlab.engine import folder as folder_module
from splitlab.engine import runner
from splitlab.engine.blocks import Block, BlockData, Column, Task, Work, together
from splitlab.engine.session import Session
from splitlab.engine.store import MemoryStore
from splitlab.impurity import weighted_impurity
from splitlab.kinds.random_tables import plan
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.random_tables.work import draw
from splitlab.kinds.splits.config import SplitsExperiment
from splitlab.kinds.splits.kind import Splits
from splitlab.kinds.splits.results import Results
from splitlab.study import kind_of, load_experiment, load_results, write_tables
from tests.helpers import ROOT

RIVALS = ["hcc", "pc_ext_counts", "sliq_ext", "lca"]
CELLS = [(5, 3, 7), (6, 4, 2)]
RUNS = 2500


def config(**changes: Any) -> dict[str, Any]:
    grid = [{"n": n, "k": k, "max_count": m, "runs": changes.pop("runs", RUNS)} for n, k, m in [CELLS[0]]]
    grid += [{**grid[0], "n": n, "k": k, "max_count": m} for n, k, m in CELLS[1:]]
    base = {"name": "t", "impurities": ["gini", "entropy"], "splitters": RIVALS, "grid": grid, "seed": 2018}
    return {**base, **changes}


def one_cell(cell: tuple[int, int, int], runs: int, **changes: Any) -> dict[str, Any]:
    n, k, max_count = cell
    return config(grid=[{"n": n, "k": k, "max_count": max_count, "runs": runs}], **changes)


@pytest.fixture(scope="module")
def whole() -> Results:
    return splitlab.run(config(), jobs=1)


def columns(results: Results) -> Iterator[tuple[tuple[int, int, int], str, str, NDArray[np.float64]]]:
    """Every column of impurities of an experiment."""
    for cell, _ in results.experiment.cells:
        for impurity in results.experiment.impurities:
            values = results.impurities(cell.n, cell.k, cell.max_count, impurity)
            for s, splitter in enumerate(results.experiment.splitters):
                yield (cell.n, cell.k, cell.max_count), impurity, splitter, values[:, s]


def same_numbers(part: Results, whole: Results, runs: int | None = None) -> None:
    """Every impurity in ``part`` is, bit for bit, the one in ``whole``."""
    seen = 0
    for cell, impurity, splitter, values in columns(part):
        place = whole.experiment.splitters.index(splitter)
        expected = whole.impurities(*cell, impurity)[: runs or len(values), place]
        assert values.tobytes() == expected.tobytes(), (cell, impurity, splitter)
        seen += 1
    assert seen > 0


def block_files(folder: Path) -> dict[str, str]:
    """Name and hash of every block file."""
    paths = sorted((folder / "blocks").rglob("*"))
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths if p.is_file()}


# What the numbers depend on


def test_the_number_of_workers_does_not_matter(whole: Results) -> None:
    same_numbers(splitlab.run(config(), jobs=2), whole)


def test_the_tables_of_two_jobs_are_the_same_bytes(whole: Results, tmp_path: Path) -> None:
    write_tables(whole, tmp_path / "one")
    again = splitlab.run(config(), jobs=2, out=tmp_path / "run")
    write_tables(again, tmp_path / "two")
    names = sorted(p.name for p in (tmp_path / "one").iterdir())
    titles = ("win_percentage", "relative_excess", "paired_differences")
    assert names == sorted([*(f"{title}.{e}" for title in titles for e in ("csv", "md", "tex")), "verdict.txt"])
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    csv = (tmp_path / "one" / "win_percentage.csv").read_text().splitlines()
    assert csv[0].startswith("impurity,n,k,max_count,splitter,runs,wins,percent,standard_error,published")
    assert len(csv) == 1 + 2 * 2 * 4


@pytest.mark.parametrize("cell", CELLS)
def test_other_cells_do_not_matter(cell: tuple[int, int, int], whole: Results) -> None:
    same_numbers(splitlab.run(one_cell(cell, RUNS)), whole)


def test_the_order_of_cells_splitters_and_impurities_does_not_matter(whole: Results) -> None:
    turned = config()
    for key in ("grid", "splitters", "impurities"):
        turned[key] = turned[key][::-1]
    same_numbers(splitlab.run(turned), whole)


@pytest.mark.parametrize(("impurity", "splitters"), [("gini", ["lca"]), ("entropy", ["pc", "sliq_ext", "hcc"])])
def test_other_splitters_and_impurities_do_not_matter(impurity: str, splitters: list[str], whole: Results) -> None:
    extended = splitlab.run(config(splitters=[*splitters, *[s for s in RIVALS if s not in splitters]]))
    part = splitlab.run(config(impurities=[impurity], splitters=splitters))
    same_numbers(part, extended)
    common = [s for s in splitters if s in RIVALS]
    same_numbers(splitlab.run(config(impurities=[impurity], splitters=common)), whole)


def test_the_seed_matters_and_zero_is_one(whole: Results) -> None:
    cell = CELLS[0]
    zero, one = (splitlab.run(one_cell(cell, 50, seed=seed)).impurities(*cell, "gini") for seed in (0, 1))
    again = splitlab.run(one_cell(cell, 50, seed=0)).impurities(*cell, "gini")
    assert np.array_equal(zero, again)
    assert not np.array_equal(zero, one)
    assert not np.array_equal(zero, whole.impurities(*cell, "gini")[:50])


def test_blocks_are_different(whole: Results) -> None:
    values = whole.impurities(*CELLS[0], "gini")
    assert not np.array_equal(values[:1000], values[1000:2000])
    assert np.mean(values[:1000, 0] == values[1000:2000, 0]) < 0.1


class Sliced(Splits):
    """Experiments whose blocks are cut into seven slices, however little work they are."""

    def tasks(self, block: Block, lacking: tuple[Column, ...]) -> list[Task]:
        (task,) = super().tasks(block, lacking)
        cuts = plan.slices(block.size, 7.5, 0.1)
        assert len(cuts) == 7
        return [replace(task, start=start, stop=stop) for start, stop in cuts]


@pytest.mark.parametrize("jobs", [1, 2])
def test_slices_do_not_matter(jobs: int, whole: Results) -> None:
    assert plan.slices(1000, 7.5, 0.1)[:2] == [(0, 143), (143, 286)]
    experiment = load_experiment(config())
    assert isinstance(experiment, SplitsExperiment)
    sliced = Sliced(experiment).run(Session(jobs=jobs))
    same_numbers(sliced, whole)
    assert sliced.draws.equals(whole.draws)
    assert sliced.win_percentage.equals(whole.win_percentage)


@pytest.mark.parametrize("cell", [Cell(12, 3, 7), Cell(50, 16, 7), Cell(300, 3, 7), Cell(20000, 50, 7), Cell(2, 20, 1)])
@pytest.mark.parametrize("runs", [1, 999, 1000])
@pytest.mark.parametrize("splitter", ["lca", "hcc", "sliq_ext"])
def test_slices_cover_a_block_once(cell: Cell, runs: int, splitter: str) -> None:
    kind = kind_of(load_experiment(one_cell((cell.n, cell.k, cell.max_count), runs, splitters=[splitter])))
    tasks = kind.tasks(Block(cell, 4, runs), (("gini", splitter),))
    assert [r for task in tasks for r in range(task.start, task.stop)] == list(range(runs))
    block_seconds = runs * (plan.draw_seconds(cell) + plan.splitter_seconds(cell, splitter))
    redrawn = sum(task.start for task in tasks) * plan.draw_seconds(cell)
    assert redrawn <= 0.11 * block_seconds
    if len(tasks) > 1:
        assert block_seconds / len(tasks) >= 0.9 * plan.ITEM_SECONDS


def test_impurities_are_those_of_single_splits(whole: Results) -> None:
    """The whole way from drawing to the score, against the public one-table door."""
    cell = CELLS[0]
    tables = draw(Task(Block(Cell(*cell), 1, 1000), (), 120, 140, 2018)).tables
    for impurity in ("gini", "entropy"):
        values = whole.impurities(*cell, impurity)[1120:1140]
        for t, table in enumerate(tables):
            for s, splitter in enumerate(RIVALS):
                found = splitlab.split(table, impurity, splitter)
                sides = (table[found.left].sum(axis=0), table[~found.left].sum(axis=0))
                assert values[t, s] == pytest.approx(sum(weighted_impurity(side, impurity) for side in sides))


def test_asking_for_what_is_not_there(whole: Results) -> None:
    with pytest.raises(ValueError, match=r"n9_k3_m7.*n5_k3_m7, n6_k4_m2"):
        whole.impurities(9, 3, 7, "gini")
    part = splitlab.run(one_cell(CELLS[0], 3, impurities=["gini"]))
    with pytest.raises(ValueError, match=r"entropy.*gini"):
        part.impurities(*CELLS[0], "entropy")
    assert part.timing is None


# Folders


def test_continuation_equals_a_fresh_run(whole: Results, tmp_path: Path) -> None:
    for runs in (300, 2500, 1500):
        continued = splitlab.run(config(), runs=runs, out=tmp_path / "out")
        assert continued.impurities(*CELLS[0], "gini").shape == (runs, 4)
        same_numbers(continued, whole, runs)
        fresh = splitlab.run(config(), runs=runs)
        assert continued.win_percentage.equals(fresh.win_percentage)
        assert continued.relative_excess.equals(fresh.relative_excess)
        same_numbers(load_results(tmp_path / "out"), whole, runs)


def test_fewer_runs_report_the_first_and_delete_nothing(whole: Results, tmp_path: Path) -> None:
    out = tmp_path / "out"
    splitlab.run(config(), out=out)
    before = block_files(out)
    assert len(before) == 2 * 3
    for runs in (1000, 700):
        fewer = splitlab.run(config(), runs=runs, out=out)
        assert fewer.win_percentage["runs"].tolist() == [runs] * 16
        same_numbers(fewer, whole, runs)
        assert block_files(out) == before
        assert load_results(out).win_percentage.equals(fewer.win_percentage)


def test_a_second_run_computes_nothing(tmp_path: Path, computed: list[Task]) -> None:
    out = tmp_path / "out"
    first = splitlab.run(config(), runs=1200, out=out)
    before = block_files(out)
    computed.clear()
    second = splitlab.run(config(), runs=1200, out=out)
    assert second.win_percentage.equals(first.win_percentage)
    assert second.relative_excess.equals(first.relative_excess)
    splitlab.run(config(splitters=["lca"], impurities=["gini"]), runs=1000, out=out)
    assert block_files(out) == before
    assert computed == []
    splitlab.run(config(), runs=1201, out=out)
    assert {task.block.number for task in computed} == {1}


def test_only_what_is_new_is_computed(whole: Results, tmp_path: Path, computed: list[Task]) -> None:
    out = tmp_path / "out"
    splitlab.run(config(splitters=["lca", "hcc"]), runs=1300, out=out)
    computed.clear()
    more = splitlab.run(config(splitters=["hcc", "pc", "lca"]), runs=1300, out=out)
    assert {c for task in computed for c in task.columns} == {("gini", "pc"), ("entropy", "pc")}
    assert len(computed) == 4
    same_numbers(splitlab.run(config(splitters=["hcc", "lca"]), runs=1300, out=out), whole, 1300)
    assert len(computed) == 4
    computed.clear()
    back = splitlab.run(config(splitters=["hcc", "pc", "lca"]), runs=1300, out=out)
    assert computed == []  # the columns of pc were kept while it was not asked for
    same_numbers(back, more)


def test_a_damaged_block_is_computed_again(whole: Results, tmp_path: Path) -> None:
    out = tmp_path / "out"
    splitlab.run(config(), out=out)
    before = block_files(out)
    victim = out / "blocks" / "n5_k3_m7" / "000001.block"
    content = bytearray(victim.read_bytes())
    content[-5] ^= 4
    victim.write_bytes(content)
    with pytest.raises(ValueError, match=r"n5_k3_m7 lacks runs 1000 to 1999"):
        load_results(out)
    said = io.StringIO()
    same_numbers(splitlab.run(config(), out=out, say=said), whole)
    assert str(victim) in said.getvalue()
    assert block_files(out) == before


def test_a_damaged_block_is_named_once(tmp_path: Path) -> None:
    out, said = tmp_path / "out", io.StringIO()
    splitlab.run(config(), runs=10, out=out)
    victim = out / "blocks" / "n5_k3_m7" / "000000.block"
    victim.write_bytes(victim.read_bytes()[:-1])
    splitlab.run(config(), runs=10, out=out, say=said)
    assert said.getvalue().count(str(victim)) == 1


def test_lost_published_numbers_are_not_called_missing_runs(tmp_path: Path) -> None:
    """`splitlab run` does not bring back a csv file that is gone, so it must not be recommended."""
    path, out = tmp_path / "mine.csv", tmp_path / "out"
    path.write_text("table,impurity,n,k,max_count,splitter,value\nt,gini,5,3,7,hcc,50\n")
    splitlab.run(config(published=str(path)), runs=10, out=out)
    path.unlink()
    load_results(out)  # it has its own copy
    (out / "published.csv").unlink()
    with pytest.raises(ValueError, match=r"published\.csv") as caught:
        load_results(out)
    assert "splitlab run" not in str(caught.value)


def test_another_seed_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    splitlab.run(config(), runs=10, out=out)
    before, written = block_files(out), (out / "config.yaml").read_bytes()
    with pytest.raises(ValueError, match=r"seed: 2018.*seed: 77") as caught:
        splitlab.run(config(seed=77), runs=10, out=out)
    assert str(out) in str(caught.value)
    assert block_files(out) == before
    assert (out / "config.yaml").read_bytes() == written


def test_other_draws_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    authors = one_cell((12, 3, 7), 20, seed=19880531, draws="authors")
    splitlab.run(authors, out=out)
    with pytest.raises(ValueError, match=r"draws: authors.*draws: independent"):
        splitlab.run({**authors, "draws": "independent"}, out=out)


def test_fresh_keeps_a_backup(tmp_path: Path) -> None:
    out = tmp_path / "out"
    splitlab.run(config(), runs=10, out=out)
    before = block_files(out)
    for times in (1, 2):
        said = io.StringIO()
        splitlab.run(config(seed=70 + times), runs=10, out=out, fresh=True, say=said)
        backups = [p for p in tmp_path.iterdir() if p != out]
        assert len(backups) == times
        assert any(str(p) in said.getvalue() for p in backups)
    assert before in [block_files(p) for p in backups]
    assert load_results(out).experiment.seed == 72


def test_fresh_without_old_results_is_an_ordinary_run(tmp_path: Path) -> None:
    splitlab.run(config(), runs=10, out=tmp_path / "out", fresh=True)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_second_run_at_the_same_time_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    splitlab.run(config(), runs=10, out=out)
    written = (out / "config.yaml").read_bytes()
    with folder_module.locked(out), pytest.raises(ValueError, match="another run is writing"):
        splitlab.run(config(), runs=20, out=out)
    assert (out / "config.yaml").read_bytes() == written
    splitlab.run(config(), runs=20, out=out)  # the lock is gone


def test_fresh_is_refused_while_another_run_writes(tmp_path: Path) -> None:
    """Else the folder is renamed under the other run, whose next blocks go into the new one."""
    out = tmp_path / "out"
    splitlab.run(config(), runs=10, out=out)
    with folder_module.locked(out), pytest.raises(ValueError, match="another run is writing"):
        splitlab.run(config(seed=77), runs=10, out=out, fresh=True)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_foreign_folder_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    (foreign / "chapter1.txt").write_text("precious")
    with pytest.raises(ValueError, match=r"thesis.*no splitlab results"):
        splitlab.run(config(), runs=10, out=foreign)
    assert [p.name for p in foreign.iterdir()] == ["chapter1.txt"]
    with pytest.raises(ValueError, match="is a file"):
        splitlab.run(config(), runs=10, out=foreign / "chapter1.txt")
    assert (foreign / "chapter1.txt").read_text() == "precious"


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    splitlab.run(config(), runs=10, out=tmp_path)
    assert (tmp_path / "manifest.json").is_file()


def test_reporting_needs_results(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no results here"):
        load_results(tmp_path)


# Sizes


def test_hcc_with_too_many_classes_is_refused(tmp_path: Path) -> None:
    config_30 = one_cell((12, 30, 7), 1, splitters=["lca", "hcc"])
    with pytest.raises(ValueError, match=r"'hcc' would take about [\d.e+]+ \w+ .*k = 30.*2\^k"):
        splitlab.run(config_30, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_absurd_total_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"about [\d.e+]+ (days|years) .*'hcc' at n = 50, k = 12"):
        splitlab.run(one_cell((50, 12, 7), 10**9), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("cell", [(500, 3, 1), (3, 500, 1)])
def test_a_cell_that_is_practically_never_accepted(cell: tuple[int, int, int]) -> None:
    results = splitlab.run(one_cell(cell, 5, splitters=["lca"], impurities=["gini"]))
    assert np.isfinite(results.impurities(*cell, "gini")).all()
    assert results.draws["drawn"].tolist() == [5]


def test_big_tables_in_small_numbers(tmp_path: Path) -> None:
    cell = (300, 40, 7)
    results = splitlab.run(one_cell(cell, 3, splitters=["lca", "sliq_ext"]), out=tmp_path / "out")
    for impurity in ("gini", "entropy"):
        values = results.impurities(*cell, impurity)
        assert values.shape == (3, 2)
        assert (values > 0).all()
    assert results.win_percentage["runs"].tolist() == [3] * 4


@pytest.mark.parametrize("jobs", [0, -1, 5000])
def test_wrong_numbers_of_workers(jobs: int) -> None:
    with pytest.raises(ValueError, match=f"jobs: {jobs}"):
        splitlab.run(config(), runs=1, jobs=jobs)


@pytest.mark.parametrize("jobs", [True, 1.0, "2"])
def test_workers_of_a_wrong_type(jobs: Any) -> None:
    with pytest.raises(TypeError, match="jobs"):
        splitlab.run(config(), runs=1, jobs=jobs)


# Manifest


def acceptance(n: int, k: int, max_count: int) -> float:
    m = max_count + 1
    return float(sum((-1) ** j * comb(k, j) * (Fraction(m ** (k - j) - 1, m**k)) ** n for j in range(k + 1)))


def test_the_manifest_says_where_the_numbers_come_from(tmp_path: Path) -> None:
    out = tmp_path / "out"
    results = splitlab.run(config(), out=out, jobs=2)
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["name"], manifest["seed"], manifest["draws"], manifest["jobs"]) == ("t", 2018, "independent", 2)
    assert manifest["splitlab"] == splitlab.__version__
    assert manifest["packages"]["numpy"] == np.__version__
    assert {"numpy", "numba", "pandas", "scipy", "joblib"} <= set(manifest["packages"])
    assert re.fullmatch(r"3\.\d+\.\d+.*", manifest["python"])
    assert 0 < manifest["wall_seconds"] < 600
    cpuinfo = Path("/proc/cpuinfo")
    models = re.findall(r"^model name\s*:\s*(.+?)\s*$", cpuinfo.read_text() if cpuinfo.exists() else "", re.MULTILINE)
    if models:
        assert manifest["machine"]["cpu"] in models
    assert manifest["machine"]["cores"] >= 1
    git = manifest["git"]
    known = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    if known.returncode == 0:
        assert re.fullmatch("[0-9a-f]{40}", git["commit"])
        subprocess.run(["git", "cat-file", "-e", git["commit"]], cwd=ROOT, check=True)
        assert git["clean"] in (True, False)
    else:
        assert git == {"commit": None, "clean": None}
    assert [(c["n"], c["k"], c["max_count"]) for c in manifest["cells"]] == CELLS
    for cell in manifest["cells"]:
        q = acceptance(cell["n"], cell["k"], cell["max_count"])
        assert cell["drawn"] - cell["rejected"] == RUNS
        assert cell["expected_rejected"] == pytest.approx(RUNS * (1 - q) / q)
        assert abs(cell["rejected"] - cell["expected_rejected"]) < 4 * sqrt(RUNS * (1 - q)) / q
    assert results.draws["drawn"].tolist() == [c["drawn"] for c in manifest["cells"]]


def test_the_stored_config_is_the_resolved_one(tmp_path: Path) -> None:
    results = splitlab.run(config(), runs=10, out=tmp_path, overrides=["seed=5"])
    stored = load_experiment(tmp_path / "config.yaml")
    assert stored == results.experiment
    assert stored.seed == 5
    assert [runs for _, runs in stored.cells] == [10, 10]


def test_tables_are_counted_once() -> None:
    """Whether or not there are user-defined functions, which are computed apart; each block is read once for that."""

    class Counting(MemoryStore):
        loads = 0

        def load(self, block: Block) -> BlockData:
            self.loads += 1
            return super().load(block)

    config = {"name": "x", "impurities": "gini", "grid": [{"n": [4, 5], "k": 3, "max_count": 7, "runs": 2500}]}
    for splitters in (["lca"], ["lca", "splitlab.examples:above_average"]):
        store, noted = Counting(), list[Work]()
        kind = kind_of(load_experiment({**config, "splitters": splitters}))
        whole = runner.missing_work(kind, store)
        assert (whole.runs, whole.stored, store.loads) == (5000, 0, 6)
        runner.run_missing(kind, store, 1, lambda work, took, noted=noted: noted.append(work))
        done = together(noted)
        assert done.runs == pytest.approx(5000)
        assert done.seconds == pytest.approx(whole.seconds)
        assert done.parts.keys() == whole.parts.keys()
        assert runner.missing_work(kind, store).stored == 5000


def test_the_first_task_of_every_group_comes_first(computed: list[Task]) -> None:
    splitlab.run(config(runs=2500), jobs=1)
    labels = [(task.block.group.label, task.block.number) for task in computed]
    groups = list(dict.fromkeys(label for label, _ in labels))
    assert len(groups) > 1
    assert labels[: len(groups)] == [(label, 0) for label in groups]
    assert labels[len(groups) :] == [(label, number) for label in groups for number in (1, 2)]


def test_a_continued_run_says_what_is_stored(tmp_path: Path) -> None:
    said = io.StringIO()
    splitlab.run(config(), runs=1000, out=tmp_path / "out")
    splitlab.run(config(), runs=3000, out=tmp_path / "out", say=said)
    assert "2,000 of 6,000 tables are stored; 4,000 to go" in said.getvalue()
    assert "6,000 of 6,000 tables, " in said.getvalue()
