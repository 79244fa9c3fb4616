"""The decision-tree study: against a plain program, on made-up data, and against the authors' trials on theirs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from experiments import report
from splitlab import run
from splitlab.cli import DONE, WRONG_INPUT, main
from splitlab.kinds.data_sets.catalogue import VARIABLE, catalogue, load
from splitlab.kinds.trees import comparisons as trees_tests
from splitlab.kinds.trees import published as trees_published
from splitlab.kinds.trees import tables as trees_table
from splitlab.kinds.trees.replay import replay_tree
from splitlab.kinds.trees.results import TreesResults
from splitlab.published.program.folds import folds
from splitlab.published.program.protocol import METHODS, SEEDS
from splitlab.report.layout import Table
from splitlab.study import load_experiment, load_results, stored_experiment
from splitlab.text import ConfigError
from tests.helpers import ROOT, made_up
from tests.helpers.published_program import REFERENCE, value
from tests.helpers.trees import config, study

DATA = os.environ.get(VARIABLE)
AUTHORS = pytest.mark.skipif(not DATA, reason=f"the authors' data are not there: {VARIABLE} is not set")


class PlainTree:
    """The published program in a few lines: node by node, value by value, in floats."""

    def __init__(self, x: np.ndarray, y: np.ndarray, nominal: np.ndarray, impurity: str, name: str) -> None:
        self.x, self.y, self.nominal, self.impurity, self.name = x, y, nominal, impurity, name
        self.root = self.grow(np.arange(len(y)), 0, set())

    def grow(self, rows: np.ndarray, depth: int, dead: set[int]) -> dict[str, Any]:
        counts = np.bincount(self.y[rows], minlength=3)
        node: dict[str, Any] = {"label": int(counts.argmax()), "children": None}
        if depth == 5 or (counts > 0).sum() == 1:
            return node
        best, dead = None, set(dead)
        for j in range(self.x.shape[1]):
            column = self.x[rows, j]
            values = np.unique(column)
            if len(values) < 2 or j in dead:
                dead.add(j)
                continue
            table = np.array([np.bincount(self.y[rows][column == v], minlength=3) for v in values])
            table = table[:, table.sum(0) > 0]
            if not self.nominal[j]:
                lefts = [list(range(i)) for i in range(1, len(values))]
                left = min(lefts, key=lambda side: value(table, side, self.impurity, self.name in ("lca", "hcc")))
            else:
                if np.sort(table.sum(1))[-2] < 5:
                    dead.add(j)
                    continue
                if chi2_contingency(table, correction=False).pvalue >= 0.1:
                    continue
                left = REFERENCE[self.name](table, self.impurity)
            found = value(table, left, self.impurity, self.name in ("lca", "hcc"))
            if best is None or found < best[0]:
                best = found, j, values, set(left)
        if best is None:
            return node
        _, j, values, left = best
        side = {float(v): i not in left for i, v in enumerate(values)}
        goes = np.array([side[float(v)] for v in self.x[rows, j]])
        node["feature"], node["side"] = j, side
        if not self.nominal[j]:
            node["threshold"] = (values[max(left)] + values[max(left) + 1]) / 2
        node["children"] = [self.grow(rows[goes == b], depth + 1, dead) for b in (False, True)]
        if all(c["children"] is None for c in node["children"]) and len({c["label"] for c in node["children"]}) == 1:
            node["children"] = None
        return node

    def size(self, node: dict[str, Any]) -> int:
        return 1 + sum(self.size(child) for child in node["children"] or ())

    def predict(self, row: np.ndarray) -> int:
        node = self.root
        while node["children"] is not None:
            v = float(row[node["feature"]])
            if "threshold" in node:
                branch = bool(v > node["threshold"])
            elif v in node["side"]:
                branch = node["side"][v]
            else:
                break
            node = node["children"][branch]
        return int(node["label"])


@pytest.mark.parametrize("impurity", ["gini", "entropy"])
@pytest.mark.parametrize("name", REFERENCE)
def test_the_study_is_that_of_a_plain_program(name: str, impurity: str, folder: Path) -> None:
    trees = study(folder, splitters=[name], impurities=[impurity], trials=2).trees
    data = load(catalogue(folder / "datasets.yaml")["made_up"], [folder])
    for trial in range(2):
        for fold, (train, test) in enumerate(folds(data.y, data.k, SEEDS[trial])):
            plain = PlainTree(data.x[train], data.y[train], data.nominal, impurity, name)
            right = sum(plain.predict(row) == label for row, label in zip(data.x[test], data.y[test], strict=True))
            ours = trees[(trees["trial"] == trial + 1) & (trees["fold"] == fold + 1)].iloc[0]
            assert (ours["nodes"], ours["correct"], ours["tested"]) == (plain.size(plain.root), right, len(test))


def test_folds_are_stratified_and_depend_on_the_seed() -> None:
    y = np.repeat([0, 1, 2], [10, 8, 5])
    parts = folds(y, 3, 1)
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(23))
    assert [np.bincount(y[test]).tolist() for _, test in parts] == [[4, 3, 2], [3, 3, 2], [3, 2, 1]]
    assert all(set(train) | set(test) == set(range(23)) for train, test in parts)
    assert folds(y, 3, 2)[0][1].tolist() != parts[0][1].tolist()


def test_a_study_is_continued_and_read_again(folder: Path) -> None:
    first = study(folder, folder / "out", trials=1)
    more = study(folder, folder / "out", trials=3, splitters=[*REFERENCE, "pc_ext_counts"])
    alone = study(folder, trials=3, splitters=[*REFERENCE, "pc_ext_counts"])
    pd.testing.assert_frame_equal(more.trees, alone.trees)
    old = more.trees[(more.trees["trial"] == 1) & more.trees["splitter"].isin(list(REFERENCE))]
    pd.testing.assert_frame_equal(old.reset_index(drop=True), first.trees)
    again = load_results(folder / "out")
    pd.testing.assert_frame_equal(again.trees, more.trees)
    assert (folder / "out" / "trees.csv").is_file()


def test_another_data_set_of_the_same_name_is_not_taken_for_the_old_one(folder: Path) -> None:
    study(folder, folder / "out", trials=1)
    made_up.write(folder, 200)
    assert study(folder, folder / "out", trials=1).trees["tested"].sum() < 240 * 2 * len(REFERENCE) * 200 / 240 + 1
    (folder / "made_up.csv").write_text("a,b,c,d,kind\n")
    with pytest.raises(ValueError, match="no row without missing values"):
        study(folder, folder / "out", trials=1)
    assert load_results(folder / "out").trees["tested"].sum() > 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"datasets": ["made"]}, "data set 'made' is not in the catalogue"),
        ({"splitters": ["ova"]}, "'ova' does not go with arithmetic: published"),
        ({"trials": 4, "seeds": [1, 2, 3]}, "4 trials need as many seeds; there are 3"),
        ({"seeds": [1, 1]}, "'1' is repeated"),
        ({"max_p": 1.5}, "max_p"),
        ({"arithmetic": "exact"}, "arithmetic"),
        ({"folds": 1}, "folds"),
        ({"catalogue": "nowhere.yaml"}, "no such file"),
        ({"depth": 3}, "unknown key 'depth'"),
        ({"published": "table1"}, "published"),
        ({"missing_values": "keep"}, "keep does not go with arithmetic: published"),
        ({"missing_values": "impute"}, "missing_values"),
    ],
)
def test_configs_with_mistakes(changes: dict[str, Any], message: str, folder: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        load_experiment(config(folder, **changes))


@pytest.mark.parametrize("name", ["table4", "table4_corrected"])
def test_the_configs_of_the_paper(name: str, tmp_path: Path) -> None:
    experiment = load_experiment(ROOT / "configs" / f"{name}.yaml", runs=5)
    assert experiment.trials == 5
    assert len(experiment.datasets) == 8
    (tmp_path / "again.yaml").write_text(experiment.to_yaml())
    assert load_experiment(tmp_path / "again.yaml") == experiment


def test_a_splitter_that_cannot_serve_a_column(folder: Path) -> None:
    changes: dict[str, Any] = {"arithmetic": "tolerant", "splitters": ["lca", "two_class"], "trials": 2}
    with pytest.raises(ValueError, match=r"made_up, column 'a': .*two classes only.*where_unserved: leave_out"):
        study(folder, **changes)
    results = study(folder, where_unserved="leave_out", **changes)
    assert set(results.trees["splitter"]) == {"lca"}
    assert "–" in trees_table.accuracy_table(results, "gini").as_text()


def test_the_tables(folder: Path) -> None:
    results = study(folder, folder / "out", arithmetic="tolerant", splitters=["lca", "hcc", "sliq_ext"])
    trees_table.write_tables(results, folder / "out")
    tests = pd.read_csv(folder / "out" / "tests.csv")
    assert len(tests) == 6
    assert (tests["p_holm"] >= 2 * np.minimum(tests["p_corrected"], 1 - tests["p_corrected"]) - 1e-12).all()
    text = (folder / "out" / "trees.txt").read_text()
    assert re.search(r"gini +LCA +HcC +\d / \d", text)
    assert "trials equal" not in text
    assert len(pd.read_csv(folder / "out" / "means.csv")) == 6
    replay = study(folder, max_depth=16, min_second=15, published="table4")
    assert "no trial can be compared" in trees_table.text_of(replay)
    assert trees_table.means(replay)["authors_accuracy"].isna().all()  # theirs are of twenty trials, ours of three


AS_PUBLISHED: dict[str, Any] = {"max_depth": 16, "min_second": 15, "published": "table4"}


@pytest.mark.parametrize(
    "changes", [{"max_depth": 5}, {"seeds": [1, 2, 3]}, {"folds": 4}, {"arithmetic": "tolerant"}, {"published": None}]
)
def test_other_trees_are_not_put_beside_the_authors(changes: dict[str, Any], folder: Path) -> None:
    results = study(folder, **{**AS_PUBLISHED, "splitters": ["lca", "hcc"], **changes})
    assert "authors_accuracy" not in trees_table.means(results)
    assert "authors" not in trees_table.text_of(results)


def test_what_survives_of_table_4() -> None:
    pairs = [("lca", "pc_ext"), ("lca", "hcc"), ("pc_ext", "hcc"), ("lca", "sliq_ext"), ("sliq_ext", "hcc")]
    rows = [
        (impurity, name, first, second, difference, p, p, 2 * min(p, 1 - p))
        for impurity in ("gini", "entropy")
        for name in ("one", "two")
        for (first, second), difference, p in zip(
            pairs, (1.0, 2.0, 0.5, -3.0, -4.0), (0.5, 0.001, 0.001, 0.999, 0.999), strict=True
        )
    ]
    columns = ["impurity", "dataset", "first", "second", "difference", "p_plain", "p_corrected", "p_holm"]
    frame = trees_tests.survival(pd.DataFrame(rows, columns=columns))
    found = {tuple(row[:3]): row[3:] for row in frame.drop(columns="datasets").itertuples(index=False, name=None)}
    assert len(found) == len(frame) == 10
    assert found["gini", "lca", "pc_ext"] == (3, 3, 0, 0, 0, 0, 0, 0, 1.0, "even")
    assert found["entropy", "lca", "pc_ext"][-1] == "not shown"  # 4 better, 0 worse in the paper
    assert found["gini", "lca", "hcc"] == (1, 3, 2, 0, 2, 0, 2, 0, 2.0, "reversed")
    assert found["gini", "hcc", "pc_ext"] == (2, 2, 0, 2, 0, 2, 0, 2, -0.5, "even")
    assert found["gini", "lca", "sliq_ext"][-1] == "reversed"
    assert found["gini", "hcc", "sliq_ext"] == (8, 3, 2, 0, 2, 0, 2, 0, 4.0, "survives")


def test_times_are_taken_once(folder: Path) -> None:
    results = study(folder, folder / "out", timed_trees=2, splitters=["lca", "hcc"])
    times = results.tree_times
    assert times is not None
    assert times[["trees", "splitter"]].value_counts().to_dict() == {(2, "lca"): 2, (2, "hcc"): 2}
    assert (times["mean_seconds"] > 0).all()
    again = study(folder, folder / "out", timed_trees=2, splitters=["lca", "hcc"]).tree_times
    pd.testing.assert_frame_equal(again, times)
    more = study(folder, folder / "out", timed_trees=3, splitters=["lca", "hcc"]).tree_times
    assert more is not None
    assert set(more["trees"]) == {3}
    assert "Milliseconds to grow a tree" in trees_table.text_of(load_results(folder / "out"))  # type: ignore[arg-type]
    assert study(folder).tree_times is None


def test_the_page_has_tables_verdict_and_diagrams(folder: Path) -> None:
    (folder / "twin.csv").write_text((folder / "made_up.csv").read_text())
    (folder / "datasets.yaml").write_text(made_up.CATALOGUE + made_up.CATALOGUE.replace("made_up", "twin"))
    changes: dict[str, Any] = {"arithmetic": "tolerant", "splitters": ["lca", "hcc", "sliq_ext"], "trials": 2}
    changes["published"] = "table4"
    results = study(folder, folder / "out", datasets=["made_up", "twin"], **changes)
    assert main(["report", str(folder / "out")]) == DONE
    text = (folder / "out" / "report.html").read_text()
    for part in ("Mean accuracy in percent", "by three tests", "What survives of Table 4", "Who is ahead in Table 4"):
        assert part in text
    assert text.count("<svg") == 2
    assert trees_table.means(results)["accuracy"].between(0, 100).all()


def test_table_4_by_the_papers_rule() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"impurity": "gini", "title": title, "splitter": splitter, "trial": trial, "accuracy": mean + rng.normal()}
        for title, means in (("one", (90, 80)), ("two", (50, 70)), ("three", (60, 60)))
        for splitter, mean in zip(("lca", "hcc"), means, strict=True)
        for trial in range(20)
    ]
    counts = trees_tests.better_worse(pd.DataFrame(rows), "title")
    assert counts == {("gini", "lca", "hcc"): (1, 1), ("gini", "hcc", "lca"): (1, 1)}


def test_the_published_counts() -> None:
    frame = trees_published.counts()
    assert len(frame) == 12
    differ = frame["published_better"] != frame["recomputed_better"]
    assert int(differ.sum()) == 3
    assert set(frame["method"]) | set(frame["rival"]) == set(METHODS.values())
    assert len(trees_published.means()) == 88


def test_where_trees_part(folder: Path) -> None:
    study(folder, folder / "out", max_depth=16, min_second=1)
    experiment = stored_experiment(folder / "out")
    text = replay_tree(experiment, folder / "out", "made_up", ("gini", "sliq_ext_prefix"), 1, 1)
    assert "published: " in text
    assert "tolerant: " in text
    with pytest.raises(ValueError, match="trial: 9 is not in this experiment"):
        replay_tree(experiment, folder / "out", "made_up", ("gini", "lca"), 9, 1)


def test_the_page_about_everything_has_trees_or_says_how_to_get_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", folder)
    missing = report.trees_section("table4_corrected")
    assert missing.blocks == (report.NO_TREES.format(target="table4-corrected"),)
    study(folder, folder / "table4", splitters=["lca"], impurities=["gini"], trials=1)
    section = report.trees_section("table4")
    assert next(block.title for block in section.blocks if isinstance(block, Table)).startswith("Mean accuracy")
    (folder / "table4" / "manifest.json").unlink()
    assert "no run has come to its end" in str(report.trees_section("table4").blocks[1])


def test_the_command_line(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    written = config(folder, trials=1, **AS_PUBLISHED)
    text = "\n".join(f"{key}: {str(entry).replace(chr(39), '')}" for key, entry in written.items())
    (folder / "mine.yaml").write_text(text + "\n")
    monkeypatch.chdir(folder)
    assert main(["run", "mine.yaml", "--out", "out"]) == DONE
    told = capsys.readouterr().out
    assert "Mean accuracy in percent over 1 trial," in told
    assert main(["report", "out"]) == DONE
    assert capsys.readouterr().out == told
    assert "no trial can be compared" in Path("out/report.html").read_text()
    assert main(["compare", "out"]) == DONE
    assert "no trial can be compared" in capsys.readouterr().out
    which = ["--dataset", "made_up", "--impurity", "gini", "--splitter", "lca", "--trial", "1"]
    assert main(["replay-tree", "out", *which]) == DONE
    (folder / "made_up.csv").unlink()
    assert main(["run", "mine.yaml", "--out", "elsewhere"]) == WRONG_INPUT
    assert "no made_up.csv" in capsys.readouterr().err


@AUTHORS
def test_two_trials_of_the_authors() -> None:
    results = run(ROOT / "configs" / "table4.yaml", runs=2, overrides=["datasets=[cars_with_aggreg]", "timed_trees=0"])
    theirs = trees_published.trials()
    assert isinstance(results, TreesResults)
    assert theirs is not None
    both = trees_published.beside_authors(results, theirs)
    assert len(both) == 16
    assert both["equal"].all()
    assert trees_table.within(results)  # the means over these two trials


@AUTHORS
@pytest.mark.slow
def test_all_trials_of_the_authors() -> None:
    results = run(ROOT / "configs" / "table4.yaml", overrides=["timed_trees=0"])
    theirs = trees_published.trials()
    assert isinstance(results, TreesResults)
    assert theirs is not None
    both = trees_published.beside_authors(results, theirs)
    equal = both.groupby("dataset")["equal"].sum()
    assert equal["cars_with_aggreg"] == equal["nursery_with_aggreg"] == equal["mushroom"] == 160
    assert both[both["splitter"] != "pc_ext_counts"]["equal"].all()  # PCext goes by the rounding of a library
    means = both.groupby(["dataset", "impurity", "splitter"])[["accuracy", "accuracy_authors"]].mean()
    assert (means["accuracy"] - means["accuracy_authors"]).abs().max() < 0.05
    counts = trees_tests.better_worse(theirs, "title")
    for row in trees_published.counts().itertuples():
        expected = (row.recomputed_better, row.recomputed_worse)
        assert counts[row.impurity, row.method, row.rival] == expected
