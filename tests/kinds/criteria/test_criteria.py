"""Kind criteria on data sets of scikit-learn and made-up ones: blocks, folds, tables, mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import splitlab
from splitlab.engine.planning import PlanRequest
from splitlab.engine.session import Session
from splitlab.engine.verify import verify
from splitlab.kinds.criteria import summary
from splitlab.kinds.criteria.config import CriteriaExperiment
from splitlab.kinds.criteria.replay import replay_tree
from splitlab.kinds.criteria.results import CriteriaResults
from splitlab.kinds.criteria.sets import in_natural_order, load_sets
from splitlab.kinds.criteria.tables import verdict
from splitlab.kinds.criteria.work import folds_of
from splitlab.kinds.data_sets.catalogue import VARIABLE
from splitlab.study import load, load_experiment, opened, write_document, write_tables
from splitlab.text import ConfigError

WINE: dict[str, Any] = {
    "name": "wine",
    "kind": "criteria",
    "groups": [{"name": "a", "measure": "accuracy", "datasets": ["wine"]}],
    "criteria": ["gini", "ihdw"],
    "repetitions": 2,
}
TEXT = """\
weather:
  target: play
  columns: {outlook: nominal, wind: numeric}
rare:
  target: play
  columns: {outlook: nominal, wind: numeric}
three:
  target: play
  columns: {outlook: nominal, wind: numeric}
absent:
  target: play
"""


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No file of any data set is at hand."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def own(tmp_path: Path) -> dict[str, Any]:
    """A study of a made-up data set with a text column, beside whose catalogue the files lie."""
    rng = np.random.default_rng(0)
    outlook = np.array([f"o{i}" for i in rng.integers(1, 13, 60)])
    frame = pd.DataFrame({"outlook": outlook, "wind": rng.integers(0, 9, 60)})
    odd = frame["outlook"].isin(["o1", "o3", "o5", "o7", "o9", "o11"])
    frame["play"] = np.where(odd ^ (rng.random(60) < 0.1), "yes", "no")
    frame.to_csv(tmp_path / "weather.csv", index=False)
    frame.assign(play=["once", *frame["play"][1:]]).to_csv(tmp_path / "rare.csv", index=False)
    third = np.where(np.arange(60) % 3 == 0, "perhaps", frame["play"])
    frame.assign(play=third).to_csv(tmp_path / "three.csv", index=False)
    (tmp_path / "own.yaml").write_text(TEXT)
    group = {"name": "mine", "measure": "auc", "datasets": ["weather"]}
    return {**WINE, "name": "own", "catalogue": str(tmp_path / "own.yaml"), "groups": [group]}


def run(config: dict[str, Any], **how: Any) -> CriteriaResults:
    results: Any = splitlab.run(config, jobs=1, **how)
    assert isinstance(results, CriteriaResults)
    return results


def of(results: CriteriaResults, **where: object) -> pd.DataFrame:
    frame = results.folds
    for key, value in where.items():
        frame = frame[frame[key] == value]
    return frame.drop(columns="group").reset_index(drop=True)


def test_a_repetition_depends_on_nothing_but_its_data_and_number(tmp_path: Path) -> None:
    alone = run(WINE)
    groups = [{"name": "b", "measure": "auc", "datasets": ["breast", "wine"]}]
    among: Any = splitlab.run(
        {**WINE, "groups": groups, "criteria": ["dcsm", "ihdw", "gini"], "repetitions": 3}, jobs=2
    )
    for criterion in WINE["criteria"]:
        here = of(among, dataset="wine", criterion=criterion)
        pd.testing.assert_frame_equal(of(alone, criterion=criterion), here[here["repetition"] <= 2])


def test_more_repetitions_extend_a_folder(tmp_path: Path) -> None:
    first = run(WINE, out=tmp_path / "out")
    file = next((tmp_path / "out").glob("blocks/*/000000.block"))
    before = file.stat().st_mtime_ns
    more = run({**WINE, "repetitions": 3}, out=tmp_path / "out")
    assert file.stat().st_mtime_ns == before
    assert len(more.folds) == 3 * 10 * 2
    for criterion in WINE["criteria"]:
        here = of(more, criterion=criterion)
        pd.testing.assert_frame_equal(here[here["repetition"] <= 2], of(first, criterion=criterion))


def test_a_folder_is_verified_reported_and_planned(tmp_path: Path) -> None:
    out = tmp_path / "out"
    results = run(WINE, out=out)
    write_tables(results, out)
    write_document(results, out)
    found = verify(opened(out), out, session=Session(jobs=1))
    assert (found.blocks, found.compared, found.absent, found.differing, found.orphans) == (2, 2, [], [], [])
    request = PlanRequest("wine.yaml", None, None, Session(out=out, jobs=1))
    assert "Everything is stored" in opened(out).plan(request)
    pd.testing.assert_frame_equal(load(out).folds, results.folds)
    assert {"measures.csv", "ranks.csv", "tests.csv", "win_tie_loss.csv", "pairs.csv", "folds.csv"} <= {
        path.name for path in out.iterdir()
    }


def test_holdouts_take_a_share_of_every_class_rounded_up() -> None:
    experiment = load_experiment(WINE)
    one = load_sets(experiment)[0][0]
    counts = np.bincount(one.data.y)
    for train, test in folds_of(one.data.y, one.data.k, experiment, 0):
        assert np.bincount(one.data.y[test]).tolist() == [-(-c // 10) for c in counts]
        assert sorted([*train, *test]) == list(range(len(one.data.y)))


def test_a_partition_tests_every_row_once() -> None:
    experiment = load_experiment({**WINE, "fold_scheme": "stratified"})
    one = load_sets(experiment)[0][0]
    tests = [test for _, test in folds_of(one.data.y, one.data.k, experiment, 0)]
    assert sorted(np.concatenate(tests)) == list(range(len(one.data.y)))
    share = np.array([np.bincount(one.data.y[test], minlength=3) for test in tests])
    assert (np.ptp(share, axis=0) <= 1).all()


def test_numbers_of_a_fold_are_those_of_the_classifier() -> None:
    experiment = load_experiment(WINE)
    one = load_sets(experiment)[0][0]
    train, test = folds_of(one.data.y, one.data.k, experiment, 1)[3]
    model = splitlab.trees.DecisionTreeClassifier(criterion="ihdw").fit(one.data.x[train], one.data.y[train])
    row = of(run(WINE), criterion="ihdw", repetition=2, fold=4).iloc[0]
    assert row["correct"] == (model.predict(one.data.x[test]) == one.data.y[test]).sum()
    assert row["nodes"] == model.tree_.node_count and row["leaves"] == (model.tree_.node_count + 1) / 2
    auc = splitlab.trees.statistics.roc_auc(one.data.y[test], model.predict_proba(one.data.x[test]), model.classes_)
    assert row["auc"] == pytest.approx(auc, abs=1e-12)


def test_texts_are_numbered_in_their_natural_order(own: dict[str, Any]) -> None:
    one = load_sets(load_experiment(own))[0][0]
    assert one.data.values[0] == [f"o{i}" for i in range(1, 13)]
    assert one.data.classes == ["no", "yes"]
    again = in_natural_order(one.data)
    assert (again.x == one.data.x).all() and (again.y == one.data.y).all()


def test_texts_are_coded_and_grouped_on_the_same_folds(own: dict[str, Any]) -> None:
    results = run({**own, "nominal": ["coded", "grouped"]})
    frame = summary.nominal(results)
    assert list(frame["criterion"]) == ["gini", "ihdw"]
    nodes = results.folds.groupby("nominal")["nodes"].mean()
    assert nodes["grouped"] < nodes["coded"]  # odd and even values are no interval
    assert set(results.compared["nominal"]) == {"coded"}
    alone = run({**own, "nominal": "grouped"})
    pd.testing.assert_frame_equal(of(alone), of(results, nominal="grouped"))


def test_ties_at_random_and_the_rule_below_make_a_difference(own: dict[str, Any]) -> None:
    plain = run(own).folds
    assert not plain["nodes"].equals(run({**own, "ties": "random"}).folds["nodes"])
    below = run({**own, "rule": "below"}).folds
    assert plain["nodes"].equals(below["nodes"])


def test_mean_measures_are_those_of_the_folds() -> None:
    results = run(WINE)
    row = summary.measures(results).iloc[1]
    folds = of(results, criterion="ihdw")
    each = (100 * folds["correct"] / folds["tested"]).groupby(folds["repetition"]).mean()
    assert row["mean"] == pytest.approx(each.mean()) and row["sd"] == pytest.approx(each.std())


def test_published_values_are_judged_by_ten_repetitions() -> None:
    few = verdict(run({**WINE, "published": "ihd"}))
    assert not few.judged and few.agrees and "levels are not judged: 2 repetitions" in few.text
    many = verdict(run({**WINE, "published": "ihd", "repetitions": 10, "max_depth": 1}))
    assert many.judged and not many.agrees and many.differing


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criteria": ["gini", "ihd2"]}, "'ihd2' is not a known criterion; did you mean 'ihd'"),
        ({"criteria": ["gini", "gini"]}, "'gini' is repeated"),
        ({"groups": []}, "at least one is needed"),
        ({"groups": [{"name": "a", "measure": "accuracy", "datasets": ["wine", "wine"]}]}, "'wine' is there twice"),
        (
            {"groups": [{"name": n, "measure": "auc", "datasets": ["wine"]} for n in "ab"]},
            "data set 'wine' is there twice, first in group 'a'",
        ),
        ({"groups": [{"name": "a", "measure": "f1", "datasets": ["wine"]}]}, "is not possible here; write 'accuracy'"),
        (
            {"groups": [{"name": "a", "measure": "auc", "datasets": ["vine"]}]},
            "data set 'vine' is not in the catalogue",
        ),
        ({"groups": [{"name": "all", "measure": "auc", "datasets": ["wine"]}]}, "'all' stands for all groups together"),
        ({"folds": 1}, "folds must be a whole number from 2"),
        ({"splitter": "multiway"}, "more than two branches"),
        ({"nominal": "ranked"}, "is not possible here; write 'coded' or 'grouped'"),
        ({"splitters": ["hcc"]}, "does not go with this kind of experiment"),
    ],
)
def test_mistakes_in_a_config(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_experiment({**WINE, **change})
    assert "\n" not in str(caught.value)


def test_a_class_of_one_row_cannot_be_held_out(own: dict[str, Any]) -> None:
    group = {"name": "mine", "measure": "auc", "datasets": ["rare"]}
    with pytest.raises(ConfigError, match="rare: class 'once' has 1 row only: it cannot be held out"):
        run({**own, "groups": [group]})


def test_missing_files_stop_or_are_left_out(own: dict[str, Any]) -> None:
    group = {"name": "mine", "measure": "auc", "datasets": ["absent", "weather"]}
    with pytest.raises(ConfigError, match=r"absent: no absent.csv.*where_missing: leave_out goes on without it"):
        run({**own, "groups": [group]})
    results = run({**own, "groups": [group], "where_missing": "leave_out"})
    assert set(results.folds["dataset"]) == {"weather"}


def test_a_splitter_for_two_classes_only(own: dict[str, Any]) -> None:
    group = {"name": "mine", "measure": "auc", "datasets": ["three"]}
    config = {**own, "groups": [group], "nominal": "grouped", "splitter": "two_class", "criteria": ["gini"]}
    with pytest.raises(ConfigError, match=r"three: .*it is for two classes only.*or nominal: coded"):
        run(config)


def test_a_tree_is_shown_again(tmp_path: Path) -> None:
    results = run(WINE, out=tmp_path / "out")
    experiment = load_experiment(tmp_path / "out" / "config.yaml")
    assert isinstance(experiment, CriteriaExperiment)
    text = replay_tree(experiment, tmp_path / "out", "wine", "ihdw", 2, 7)
    row = of(results, criterion="ihdw", repetition=2, fold=7).iloc[0]
    assert f"{row['nodes']} nodes, {row['leaves']} leaves" in text and f"{row['correct']} of 19" in text
    with pytest.raises(ValueError, match="repetition 3 is not in this experiment; it has 1 to 2"):
        replay_tree(experiment, tmp_path / "out", "wine", "ihdw", 3, 7)


def test_times_of_trees_are_kept_until_trees_are_grown(tmp_path: Path) -> None:
    config = {**WINE, "timed_trees": 3}
    first = run(config, out=tmp_path / "out").tree_times
    assert first is not None and list(first["trees"]) == [3, 3] and (first["mean_seconds"] > 0).all()
    again = run(config, out=tmp_path / "out").tree_times
    stored: Any = load(tmp_path / "out")
    assert again is not None
    pd.testing.assert_frame_equal(again, stored.tree_times)
    assert again["mean_seconds"].tolist() == pytest.approx(first["mean_seconds"].tolist())
    assert not run({**config, "repetitions": 3}, out=tmp_path / "out").tree_times.equals(again)  # type: ignore[union-attr]
