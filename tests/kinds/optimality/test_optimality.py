"""Kind optimality: its config, the numbers against brute force, the folder, the tables, the figure, the reference."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from pandas.testing import assert_frame_equal

import splitlab
from splitlab import cli
from splitlab.engine.blocks import Block, BlockData, Task
from splitlab.impurity import code, score
from splitlab.kinds.optimality import figures as optimality_plot
from splitlab.kinds.optimality.config import OptimalityExperiment
from splitlab.kinds.optimality.figures import on_front, optimality_plots
from splitlab.kinds.optimality.kind import Optimality
from splitlab.kinds.optimality.lower_bound import bounds_of
from splitlab.kinds.optimality.results import (
    BEST_KNOWN,
    COLUMNS,
    OPTIMUM,
    ContradictionError,
    excess,
    refuse_contradiction,
)
from splitlab.kinds.optimality.tables import optimality_tables
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.random_tables.plan import cell_blocks, draw_seconds, splitter_seconds
from splitlab.kinds.splits.config import SplitsExperiment
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.summary import wins
from splitlab.kinds.timing import measure as timing
from splitlab.kinds.timing.measure import draw_tables
from splitlab.report.figures import image
from splitlab.splitters import get, split_batch
from splitlab.splitters.registry import names, proven_ratio
from splitlab.study import load_experiment, load_results
from splitlab.text import ConfigError
from tests.helpers import ROOT
from tests.helpers.figures import check_layout
from tests.helpers.manifests import rewrite_manifest
from tests.helpers.tables import optimum

REFERENCE = ROOT / "results" / "reference" / "optimality"
CELL = ["n", "k", "max_count"]
KEY = ["impurity", *CELL, "splitter"]
SOLVED, KNOWN = [Cell(6, 3, 7), Cell(7, 4, 1)], Cell(20, 5, 7)
SPLITTERS = ["lca", "hcc", "sliq_ext"]


def config(**changes: Any) -> dict[str, Any]:
    grid = [{"n": c.n, "k": c.k, "max_count": c.max_count, "runs": 40} for c in SOLVED]
    grid.append({"n": KNOWN.n, "k": KNOWN.k, "max_count": KNOWN.max_count, "runs": 25})
    own = {"kind": "optimality", "exact_milliseconds": 1, "timing_runs": 5}
    return {"name": "small", "impurities": ["gini", "entropy"], "splitters": SPLITTERS, "grid": grid, **own, **changes}


def experiment(**changes: Any) -> OptimalityExperiment:
    made = load_experiment(config(**changes))
    assert isinstance(made, OptimalityExperiment)
    return made


def one_cell(cell: Cell = SOLVED[0], runs: int = 20, **changes: Any) -> dict[str, Any]:
    return config(grid=[{"n": cell.n, "k": cell.k, "max_count": cell.max_count, "runs": runs}], **changes)


@pytest.fixture(autouse=True, scope="module")
def quick_times() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing, "BATCH_SECONDS", 1e-4)
        yield


@pytest.fixture(scope="module")
def results() -> Results:
    return splitlab.run(config(), jobs=1)


def frame_of(results: Results) -> pd.DataFrame:
    assert results.optimality is not None
    return results.optimality


def untimed(results: Results) -> pd.DataFrame:
    return frame_of(results).drop(columns="microseconds")


def row_of(results: Results, impurity: str, cell: Cell, splitter: str) -> dict[str, Any]:
    frame = frame_of(results)
    (row,) = frame[(frame[KEY] == [impurity, cell.n, cell.k, cell.max_count, splitter]).all(axis=1)].to_dict("records")
    return {str(name): row[name] for name in row}


def split_impurities(splitter: str, tables: NDArray[np.int64], impurity: str) -> NDArray[np.float64]:
    return score(tables, split_batch(get(splitter), tables, code(impurity)), code(impurity))


# ---- the config

HEAD = """name: x
kind: optimality
impurities: gini
splitters: [lca, hcc]
grid:
  - {n: [12, 50], k: [3, 9], max_count: 7, runs: 10}
"""
WRONG = {
    "published": (f"{HEAD}published: table1\n", ":7: published: does not go with kind optimality"),
    "the reference": (HEAD.replace("hcc", "exact"), ":4: splitters[1]: 'exact' is the reference; leave it out"),
    "no bounds": (f"{HEAD}bounds: false\n", ":6: grid[0]: cell n50_k9_m7: the optimum of a table would take about "),
    "bounds": (f"{HEAD}bounds: maybe\n", ":7: bounds: maybe is neither true nor false"),
    "unknown": (f"{HEAD}bound: true\n", ":7: unknown key 'bound'; did you mean 'bounds'?"),
    "draws": (f"{HEAD}draws: authors\n", ":7: unknown key 'draws'"),
    "no time": (f"{HEAD}exact_milliseconds: 0\n", ":7: exact_milliseconds: 0 is too small"),
    "no tables": (f"{HEAD}timing_runs: 0\n", ":7: timing_runs: 0 is too small"),
    "quoted": (f'{HEAD}timing_runs: "5"\n', ':7: timing_runs: "5" is not a whole number'),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_config_is_one_line(case: str, tmp_path: Path) -> None:
    text, says = WRONG[case]
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_experiment(path)
    assert str(caught.value).startswith(str(path) + says)


def test_a_splitter_that_needs_a_direction_is_refused() -> None:
    with pytest.raises(ConfigError, match="'direction' does not serve tables"):
        splitlab.run(one_cell(splitters=["lca", "direction"]))


def test_keys_of_optimality_are_unknown_to_kind_splits() -> None:
    with pytest.raises(ConfigError, match="unknown key 'exact_milliseconds'"):
        load_experiment({**config(), "kind": "splits"})


def test_the_resolved_config_reads_back(tmp_path: Path) -> None:
    made = load_experiment(config(bounds=True, timing_runs=7))
    path = tmp_path / "config.yaml"
    path.write_text(made.to_yaml())
    assert load_experiment(path) == made
    assert isinstance(made, OptimalityExperiment)


def test_the_optimum_is_computed_where_it_is_affordable() -> None:
    grid = [{"n": [12, 25, 50], "k": [3, 5, 7, 9], "max_count": 7, "runs": 1}]
    made, splits = experiment(grid=grid, exact_milliseconds=100), load_experiment(SPLITS)
    assert isinstance(splits, SplitsExperiment)
    solved = {(c.n, c.k) for c, _ in made.cells if made.references(c) == ("exact",)}
    assert solved == {(12, 3), (12, 5), (12, 7), (12, 9), (25, 3), (25, 5), (50, 3)}
    assert all(made.references(c) == ("lower_bound",) for c, _ in made.cells if (c.n, c.k) not in solved)
    assert all(splits.references(c) == () for c, _ in made.cells)


SPLITS = {k: v for k, v in config().items() if k in ("name", "impurities", "splitters", "grid")}


def test_what_the_reference_costs_counts() -> None:
    made = experiment()
    plain = draw_seconds(KNOWN) + sum(splitter_seconds(KNOWN, s) for _ in made.impurities for s in made.splitters)
    assert Optimality(made).run_seconds(KNOWN) > plain
    with pytest.raises(ConfigError, match=r"would take about .*'exact' at n = 25, k = 9"):
        splitlab.run(one_cell(Cell(25, 9, 7), 10**6, exact_milliseconds=30_000))


# ---- the numbers


@pytest.mark.parametrize("cell", SOLVED, ids=lambda cell: cell.label)
@pytest.mark.parametrize("impurity", ["gini", "entropy"])
def test_against_brute_force(results: Results, cell: Cell, impurity: str) -> None:
    tables = draw_tables(results.experiment.seed, cell, 40)
    best = np.array([optimum(table, code(impurity)) for table in tables])
    tolerance = 1e-9 * best + 1e-12 * tables.sum(axis=(1, 2))
    for splitter in [*SPLITTERS, "exact"]:
        found = split_impurities(splitter, tables, impurity)
        reached, row = found <= best + tolerance, row_of(results, impurity, cell, splitter)
        bounded = reached | (best > 0)
        ratios = np.where(reached, 1.0, found / np.where(best > 0, best, 1.0))[bounded]
        assert (row["reference"], row["runs"], row["reached"]) == (OPTIMUM, 40, reached.sum())
        assert row["unbounded"] == 40 - bounded.sum()
        assert row["percent"] == pytest.approx(100 * reached.mean())
        assert row["standard_error"] == pytest.approx(100 * math.sqrt(reached.mean() * (1 - reached.mean()) / 40))
        assert row["mean_ratio"] == pytest.approx(ratios.mean(), rel=1e-12)
        assert row["mean_ratio_se"] == pytest.approx(ratios.std(ddof=1) / math.sqrt(ratios.size), rel=1e-9)
        assert row["maximum_ratio"] == pytest.approx(ratios.max(), rel=1e-12)
        assert found[row["maximum_run"]] / best[row["maximum_run"]] == pytest.approx(ratios.max(), rel=1e-12)
        assert math.isnan(row["bound_mean_ratio"])


def test_the_tables_are_hard_enough_to_tell(results: Results) -> None:
    """Else the comparison with brute force would say nothing."""
    frame = frame_of(results)
    solved = frame[frame["reference"] == OPTIMUM]
    assert (solved[solved["splitter"] == "lca"]["reached"] < 40).all()
    assert (solved[solved["splitter"] == "exact"]["percent"] == 100).all()


@pytest.mark.parametrize("impurity", ["gini", "entropy"])
def test_beyond_the_optimum(results: Results, impurity: str) -> None:
    tables = draw_tables(results.experiment.seed, KNOWN, 25)
    found = {splitter: split_impurities(splitter, tables, impurity) for splitter in SPLITTERS}
    best = np.min(list(found.values()), axis=0)
    bounds, optima = bounds_of(tables, impurity), split_impurities("exact", tables, impurity)
    assert (bounds <= optima * (1 + 1e-12)).all()
    assert (bounds < optima * (1 - 1e-6)).any()
    assert (optima <= best * (1 + 1e-12)).all()
    for splitter, impurities in found.items():
        row = row_of(results, impurity, KNOWN, splitter)
        assert (row["reference"], row["reached"]) == (BEST_KNOWN, (impurities <= best * (1 + 1e-9)).sum())
        assert row["mean_ratio"] == pytest.approx((impurities / best).mean(), rel=1e-8)
        assert row["bound_mean_ratio"] == pytest.approx((impurities / bounds).mean(), rel=1e-12)
    assert "exact" not in set(frame_of(results).query(f"n == {KNOWN.n}")["splitter"])


def test_ratios_to_zero() -> None:
    impurities, reference = np.array([[0.0, 0.0, 3.0], [2.0, 2.0, 3.0]]), np.array([0.0, 2.0])
    found = excess(impurities, reference, impurities <= reference[:, None])
    assert found.tolist() == [[0.0, 0.0, np.inf], [0.0, 0.0, 0.5]]


PROVEN = {
    "gini": {"lca": "2", "ova": "2", "flip_flop": "2", "lca+hd": "2", "hcc": "2", "hcc+hd": "2", "exact": "1"},
    "entropy": {"lca": "3", "ova": "3", "flip_flop": "3", "lca+hd": "3", "hcc": "2", "hcc+hd": "2", "exact": "1"},
}
PROVEN["entropy"]["balanced"] = "2"
SOLVERS = {"exact": "1", "exhaustive": "1", "hyperplanes": "1", "two_class": "1"}


@pytest.mark.parametrize("impurity", PROVEN)
def test_proven_ratios(impurity: str) -> None:
    assert {s: p for s in names() if (p := proven_ratio(s, impurity, 5))} == {**PROVEN[impurity], **SOLVERS}
    assert {s for s in names() if proven_ratio(s, impurity, 2) == "1"} >= {"pc", "pc_ext", "twoing", "hd", "flip_flop"}
    assert proven_ratio("lca", "somebody's own", 5) == ""
    assert proven_ratio("exact", "somebody's own", 5) == "1"


@pytest.mark.parametrize("wrong", ["exact", "lower_bound"])
def test_what_cannot_be_is_not_passed_over(wrong: str) -> None:
    impurities, totals = np.array([[5.0, 7.0], [4.0, 3.0]]), np.array([20.0, 20.0])
    refuse_contradiction(impurities, np.array([5.0, 3.0 + 1e-9]), totals, ("lca", "hcc", wrong), "gini", 1000)
    with pytest.raises(ContradictionError, match=rf"gini, run 1001: the split of 'hcc' has .* below '{wrong}', 3\.1"):
        refuse_contradiction(impurities, np.array([5.0, 3.1]), totals, ("lca", "hcc", wrong), "gini", 1000)


@pytest.mark.parametrize("cell", [SOLVED[0], KNOWN], ids=lambda cell: cell.label)
def test_a_stored_contradiction_is_loud(cell: Cell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    results = splitlab.run(one_cell(cell, 10), out=out)
    store, block = results._store, Block(cell, 0, 10)
    assert isinstance(results.experiment, OptimalityExperiment)
    column = ("gini", results.experiment.references(cell)[0])
    data = store.load(block)
    store.save(block, BlockData(data.totals, data.drawn, {**data.columns, column: 1.5 * data.columns[column]}))
    with pytest.raises(ContradictionError, match="one of the two is wrong"):
        load_results(out)
    assert cli.main(["report", str(out)]) == 2
    assert "ContradictionError: gini" in capsys.readouterr().err


# ---- what does not matter, and continuing


def test_the_number_of_workers_does_not_matter(results: Results) -> None:
    assert_frame_equal(untimed(splitlab.run(config(), jobs=2)), untimed(results), check_exact=True)


def test_more_splitters_compute_only_what_is_new(results: Results, tmp_path: Path, computed: list[Task]) -> None:
    out = tmp_path / "out"
    splitlab.run(config(splitters=["lca", "hcc"]), out=out)
    computed.clear()
    grown = splitlab.run(config(), out=out, jobs=1)
    assert {splitter for task in computed for _, splitter in task.columns} == {"sliq_ext"}
    assert_frame_equal(untimed(grown), untimed(results), check_exact=True)
    assert frame_of(grown)["microseconds"].notna().all()


def test_a_second_run_times_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = splitlab.run(config(), out=out)  # times that are taken twice are never the same to the last bit
    assert_frame_equal(frame_of(splitlab.run(config(), out=out)), frame_of(first), check_exact=True)
    assert_frame_equal(frame_of(load_results(out)), frame_of(first), check_exact=True)
    (out / "timing.csv").unlink()
    with pytest.raises(ConfigError, match="holds no times of cell n6_k3_m7; `splitlab run`"):
        load_results(out)


def test_times_of_another_machine_are_not_taken_for_ours(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = splitlab.run(one_cell(), out=out)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["machine"]["cpu"] = "another"
    rewrite_manifest(out, manifest)
    assert_frame_equal(frame_of(load_results(out)), frame_of(first), check_exact=True)
    again = splitlab.run(one_cell(), out=out)
    assert (frame_of(again)["microseconds"] != frame_of(first)["microseconds"]).any()


def test_a_column_of_bounds_is_what_a_run_stores(results: Results) -> None:
    tables = draw_tables(results.experiment.seed, KNOWN, 25)
    stored = results._store.load(Block(KNOWN, 0, 25)).columns["entropy", "lower_bound"]
    assert stored.tolist() == bounds_of(tables, "entropy").tolist()


# ---- files, tables, command line


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], results: Results) -> None:
    path, out = tmp_path / "small.yaml", tmp_path / "out"
    path.write_text(load_experiment(config(impurities="gini", grid=[*config()["grid"][::2]])).to_yaml())
    assert cli.main(["run", str(path), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "on which the optimum is found, Gini" in shown
    assert "on which the best split known is found, Gini" in shown
    assert {f"optimality.{end}" for end in ("csv", "md", "tex")} <= {file.name for file in out.iterdir()}
    assert not (out / "win_percentage.csv").exists()
    written = pd.read_csv(out / "optimality.csv", dtype={"proven_ratio": str}, keep_default_na=False)
    assert tuple(written) == COLUMNS
    assert written["reached"].tolist() == frame_of(results).query("impurity == 'gini' and n != 7")["reached"].tolist()
    assert cli.main(["report", str(out)]) == 0
    assert [file.name for file in (out / "figures").glob("*.png")] == ["optimality_gini.png"]
    assert "the lower bound, mean, Gini" in (out / "report.html").read_text()
    capsys.readouterr()
    assert cli.main(["compare", str(out)]) == 0
    assert "nothing is published" in capsys.readouterr().out
    for cell, named in ((SOLVED[0], True), (KNOWN, False)):
        assert cli.main(["replay", str(out), "--n", str(cell.n), "--k", str(cell.k), "--run", "3"]) == 0
        shown = capsys.readouterr().out
        assert ("exact" in shown) == named
        assert "These are the impurities that the folder holds." in shown


def test_a_committed_summary_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(load_experiment(config()).to_yaml())
    (tmp_path / "optimality.csv").write_text("a summary\n")
    with pytest.raises(ConfigError, match="holds a summary only"):
        splitlab.run(config(), out=tmp_path)


def test_tables_show_the_csv_and_claim_no_optimum_where_there_is_none(results: Results) -> None:
    tables = {table.title: table for table in optimality_tables(results)}
    assert len(tables) == len(optimality_tables(results))
    table = tables["Percentage of tables on which the optimum is found, Gini"]
    assert list(table.heads[2:]) == ["n=6, k=3, max 7", "n=7, k=4, max 1"]
    shown = {row[0].text: row for row in table.rows}
    row = row_of(results, "gini", SOLVED[0], "lca")
    assert shown["LCA"][1].text == "2"
    assert shown["LCA"][2].text == f"{row['percent']:.1f} ± {row['standard_error']:.1f}"
    assert [entry.text for entry in shown["tables"][2:]] == ["40", "40"]
    for title, known in tables.items():
        if "best split known" in title:
            assert "Exact" not in {row[0].text for row in known.rows}
            assert "optimum" not in title
    cost_row = next(row for row in tables["Microseconds per table, Gini"].rows if row[0].text == "Exact")
    assert [entry.text == "–" for entry in cost_row[2:]] == [False, False, True]


def test_block_wins_are_counts_against_the_optimum(results: Results) -> None:
    counted = results.block_wins().groupby(["impurity", *CELL])[SPLITTERS].sum()
    for row in frame_of(results).to_dict("records"):
        if row["splitter"] != "exact":
            assert counted.loc[tuple(row[c] for c in ("impurity", *CELL)), row["splitter"]] == row["reached"]


# ---- the figure


def test_the_front_is_what_nobody_beats() -> None:
    rng = np.random.default_rng(5)
    part = pd.DataFrame({"microseconds": rng.integers(1, 9, 40), "percent": rng.integers(0, 9, 40)})
    beaten = [
        any(
            (b.microseconds <= a.microseconds and b.percent >= a.percent)
            and ((b.microseconds, b.percent) != (a.microseconds, a.percent) or j < i)
            for j, b in enumerate(part.itertuples())
        )
        for i, a in enumerate(part.itertuples())
    ]
    assert on_front(part).tolist() == [not b for b in beaten]


def test_the_figure_shows_the_numbers(results: Results) -> None:
    plots = optimality_plots(frame_of(results))
    assert [plot.name for plot in plots] == ["optimality_gini", "optimality_entropy"]
    for plot, impurity in zip(plots, ("gini", "entropy"), strict=True):
        check_layout(plot)
        assert "finds the optimum or best known. Best known: the optimum is out of reach there" in plot.caption
        axes = {axes.get_title(): axes for axes in plot.figure.axes}
        assert set(axes) == {
            "$n$ = 6, $k$ = 3, 0 to 7", "$n$ = 7, $k$ = 4, 0 to 1", "$n$ = 20, $k$ = 5, 0 to 7 (best known)",
        }  # fmt: skip
        panel = axes["$n$ = 6, $k$ = 3, 0 to 7"]
        row = row_of(results, impurity, SOLVED[0], "sliq_ext")
        (line,) = [line for line in panel.lines if line.get_label() == "sliq_ext"]
        assert line.get_xydata().tolist() == [[row["microseconds"], row["percent"]]]
        front = plot.data[plot.data["front"] & (plot.data["n"] == 6)]
        labels = {text.get_text() for text in panel.texts}
        assert labels <= {get(s).title for s in front["splitter"]}
        assert labels


def test_labels_keep_clear_of_each_other_and_of_the_markers() -> None:
    plot = optimality_plots(crowded())[0]
    for axes in plot.figure.axes:
        boxes = [text.get_window_extent() for text in axes.texts]
        assert len(boxes) >= 2
        for i, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:i])
            for line in axes.lines:
                if len(line.get_xdata()) == 1:
                    x, y = axes.transData.transform(line.get_xydata()[0])
                    assert not box.contains(x, y)


def crowded() -> pd.DataFrame:
    """All splitters in the cells of the paper, many of them close to 100 %."""
    rng = np.random.default_rng(1)
    rows = []
    for n in (12, 50):
        for k in (3, 9):
            for s, splitter in enumerate(n for n in names() if n not in ("direction", "two_class")):
                time = 1.3**s * n * k / 36
                percent = 100.0 - 60.0 * float(rng.random()) ** 2 / (1 + s)
                rows.append(("gini", n, k, 7, splitter, 1000, BEST_KNOWN if k > 5 else OPTIMUM, percent, time))
    head = ["impurity", *CELL, "splitter", "runs", "reference", "percent", "microseconds"]
    frame = pd.DataFrame(rows, columns=head)
    return frame.assign(wilson_low=frame["percent"] - 1.0, wilson_high=frame["percent"].clip(upper=99) + 1.0)


def test_the_same_numbers_give_the_same_bytes(results: Results) -> None:
    frame = frame_of(results).query("n == 20 and impurity == 'gini'")
    (one,), (two,) = (optimality_plots(frame) for _ in range(2))
    assert image(one, "png") == image(two, "png")
    assert image(one, "svg") == image(two, "svg")


def test_too_many_panels_are_thinned_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimality_plot, "MOST_VALUES", 4)
    small = crowded().query("n == 12 and k == 3").head(3)
    frame = pd.concat([small.assign(n=n) for n in range(2, 9)], ignore_index=True)
    plot = optimality_plots(frame)[0]
    assert sorted(plot.data["n"].unique()) == [2, 4, 6, 8]
    assert "Shown are 4 of the 7 configurations." in plot.caption


# ---- the reference run


@pytest.fixture(scope="module")
def reference() -> pd.DataFrame:
    return pd.read_csv(REFERENCE / "optimality.csv", keep_default_na=False, dtype={"proven_ratio": str})


def test_a_block_of_the_reference_gives_the_same_integers(reference: pd.DataFrame) -> None:
    experiment = load_experiment(REFERENCE / "config.yaml")
    assert isinstance(experiment, OptimalityExperiment)
    stored = pd.read_csv(REFERENCE / "block_wins.csv")
    cell, number = Cell(12, 3, 7), int(np.random.default_rng().integers(10))  # another block each time
    (block,) = [b for b in cell_blocks(cell, 10_000) if b.number == number]
    data = Optimality.compute(Task(block, experiment.columns(cell), 0, block.size, experiment.seed))
    for impurity in experiment.impurities:
        values = np.stack([data.columns[impurity, s] for s in experiment.competitors(cell)], axis=1)
        row = stored.query(f"impurity == '{impurity}' and n == 12 and k == 3 and block == {number}")
        counts = wins(values, data.totals).sum(axis=0)[: len(experiment.splitters)]
        assert row[list(experiment.splitters)].to_numpy().tolist() == [counts.tolist()]


def test_the_parts_of_the_reference_fit_together(reference: pd.DataFrame) -> None:
    counted = pd.read_csv(REFERENCE / "block_wins.csv").groupby(["impurity", *CELL]).sum()
    for row in reference.query("splitter != 'exact'").to_dict("records"):
        assert counted.loc[tuple(row[c] for c in ("impurity", *CELL)), row["splitter"]] == row["reached"]
    manifest = json.loads((REFERENCE / "manifest.json").read_text())
    assert manifest["git"]["clean"] is True
    solved = reference.query("reference == 'optimum'")
    assert {*zip(solved["n"], solved["k"], strict=True)} == {
        *itertools.product([12], [3, 5, 7, 9]), (25, 3), (50, 3), (25, 5),
    }  # fmt: skip
    proven = solved.query("proven_ratio != ''")
    assert (proven["maximum_ratio"] <= proven["proven_ratio"].astype(float) * (1 + 1e-9)).all()
