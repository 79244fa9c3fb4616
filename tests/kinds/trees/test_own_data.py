"""Studies of one's own data: checked beforehand, said in words, and readable without the data and without the paper."""

from __future__ import annotations

import io
import lzma
import random
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from splitlab import run
from splitlab.cli import DONE, WRONG_INPUT, main
from splitlab.kinds.data_sets.catalogue import VARIABLE, Dataset
from splitlab.published.program.folds import folds
from splitlab.study import load_experiment, load_results
from splitlab.text import ConfigError
from splitlab.trees import DecisionTreeClassifier
from tests.helpers import ROOT

PAPER = re.compile(r"Table [1-4]|the paper|authors|survives|published (number|value|program)|eleven", re.IGNORECASE)
SIZES = {"Adelie": (38, 190), "Gentoo": (47, 217), "Chinstrap": (49, 196)}
ROWS, INCOMPLETE = 150, 15


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the measures of some penguins, their catalogue and a config."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    rng, lines = random.Random(1), ["rowid,species,island,bill,flipper,sex"]
    for i in range(ROWS):
        species = list(SIZES)[i % 3]
        bill, flipper = SIZES[species]
        island = rng.choice(["Biscoe", "Dream", "Torgersen"][: 1 + i % 3])
        sex = "NA" if i % 10 == 0 else rng.choice(["male", "female"])
        lines.append(f"{i + 1},{species},{island},{rng.gauss(bill, 3):.1f},{rng.gauss(flipper, 9):.0f},{sex}")
    Path("penguins.csv").write_text("\n".join(lines) + "\n\n")
    write("penguins", "missing: NA\n  ignore: [rowid]")
    Path("study.yaml").write_text(
        "name: mine\nkind: trees\ncatalogue: mine.yaml\ndatasets: [penguins]\nsplitters: [lca, hcc]\n"
        "impurities: [gini]\ntrials: 2\nmin_second: 2\nmax_p: 1.0\n"
    )
    return tmp_path


def write(name: str, entry: str, target: str = "species") -> None:
    Path("mine.yaml").write_text(f"{name}:\n  target: {target}\n  {entry}\n")


def said(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_target_among_the_columns_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("penguins.csv").write_text("x,class\n" + "".join(f"{i % 3},{'yes' if i % 2 else 'no'}\n" for i in range(60)))
    write("penguins", "columns: {x: nominal, class: nominal}", "class")
    code, _, told = said("run", "study.yaml", capsys=capsys)
    assert code == WRONG_INPUT
    assert (
        told
        == "splitlab: error: mine.yaml:3: penguins.columns.class: is the target, so it cannot be an attribute, too\n"
    )


def test_blanks_around_separators_are_no_part_of_a_value(folder: Path) -> None:
    rows = ["39, State-gov, Male, <=50K", "50, ?, Male, <=50K", "28, Private, Female, >50K"]
    Path("penguins.csv").write_text("age, work, sex, income\n" + "\n".join(rows * 5) + "\n")
    write("penguins", 'missing: "?"', "income")
    results = run("study.yaml")
    (facts,) = results.sets
    assert (facts.rows, facts.rows_used, facts.incomplete, facts.classes) == (15, 10, 5, ("<=50K", ">50K"))
    assert [(c.name, c.type, c.values) for c in facts.columns] == [
        ("age", "numeric", 0), ("work", "nominal", 2), ("sex", "nominal", 2),
    ]  # fmt: skip


def test_a_study_of_ones_own_has_no_word_of_the_paper(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("twin.csv").write_text(Path("penguins.csv").read_text())
    Path("mine.yaml").write_text(
        Path("mine.yaml").read_text() + Path("mine.yaml").read_text().replace("penguins", "twin")
    )
    config = Path("study.yaml").read_text().replace("[penguins]", "[penguins, twin]")
    Path("study.yaml").write_text(config.replace("[lca, hcc]", "[lca, hcc, pc_ext, sliq_ext]"))
    for command in ("run", "report"):
        code, told, error = said(command, "study.yaml" if command == "run" else "results/mine", capsys=capsys)
        assert code == DONE
        assert not PAPER.search(told + error)
    for path in Path("results/mine").iterdir():
        if path.suffix in (".txt", ".html", ".csv"):
            body = path.read_text().partition("<body>")[2] if path.suffix == ".html" else path.read_text()
            assert body
            assert not PAPER.search(body.replace("the config names no published numbers", "")), path
    assert not Path("results/mine/survival.csv").exists()
    assert said("compare", "results/mine", capsys=capsys)[:2] == (
        DONE, "not compared: the config names no published numbers\n",
    )  # fmt: skip


def test_missing_values_are_said_and_kept_if_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told, error = said("run", "study.yaml", capsys=capsys)
    assert code == DONE
    used = (
        f"penguins: {ROWS} rows, {ROWS - INCOMPLETE} of them used; {INCOMPLETE} with missing values (left out, missing"
    )
    assert used in error
    assert re.search(rf"penguins +penguins +{ROWS} +{ROWS - INCOMPLETE} +{INCOMPLETE} +0 +3", told)
    assert "Rows with missing values are left out" in told
    code, told, error = said("run", "study.yaml", "--set", "missing_values=keep", "--out", "kept", capsys=capsys)
    assert code == DONE
    assert f"{ROWS} rows, {ROWS} of them used; {INCOMPLETE} with missing values (kept)" in error
    assert "Rows with missing values are kept" in told
    trees = pd.read_csv("kept/trees.csv")
    assert (trees.groupby(["splitter", "trial"])["tested"].sum() == ROWS).all()
    row = pd.read_csv("kept/datasets.csv").iloc[0]
    assert (row["rows"], row["used"], row["incomplete"], row["numeric"], row["nominal"]) == (
        ROWS,
        ROWS,
        INCOMPLETE,
        2,
        2,
    )


def test_kept_missing_values_are_treated_as_the_classifier_treats_them(folder: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("pqrs"), 300), "b": rng.integers(-4, 5, 300)})
    y = np.where((frame["a"] < "r") ^ (rng.random(300) < 0.1), "no", np.where(frame["b"] > 0, "yes", "maybe"))
    frame = frame.mask(rng.random((300, 2)) < 0.2)
    frame["a"], y = as_they_appear(frame["a"]), as_they_appear(pd.Series(y)).to_numpy()
    frame.assign(y=y).to_csv("penguins.csv", index=False)
    write("penguins", "columns: {a: nominal, b: numeric}", "y")
    results = run("study.yaml", overrides=["missing_values=keep", "folds=2", "splitters=[hcc]", "min_second=0"])
    codes, seeds = pd.factorize(y)[0], results.experiment.seeds
    for row in results.trees.itertuples():
        train, test = folds(codes, 3, seeds[row.trial - 1], 2)[row.fold - 1]
        tree = DecisionTreeClassifier(criterion="gini", splitter="hcc", max_depth=16, chi_square=1.0)
        tree.fit(frame.iloc[train], y[train])
        right = (tree.predict(frame.iloc[test]) == y[test]).sum()
        assert (row.correct, row.tested, row.unseen) == (right, len(test), 0)


def as_they_appear(texts: pd.Series) -> pd.Series:
    """Texts whose ascending order, by which the classifier breaks ties, is that of their appearance in the file."""
    return texts.map({text: f"{place}{text}" for place, text in enumerate(texts.dropna().unique())})


def test_results_are_read_without_the_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run("study.yaml", out="results/mine", overrides=["timed_trees=1"])
    for name in ("penguins.csv", "mine.yaml", "study.yaml"):
        Path(name).rename(f"away-{name}")
    again = load_results("results/mine")
    pd.testing.assert_frame_equal(again.trees, first.trees)
    assert again.sets == first.sets
    assert said("report", "results/mine", capsys=capsys)[0] == DONE
    assert said("compare", "results/mine", capsys=capsys)[0] == DONE
    code, _, error = said("verify", "results/mine", capsys=capsys)
    assert code == WRONG_INPUT
    assert "to verify trees, they are grown again, which takes the data: penguins: no penguins.csv" in error
    assert error.count("\n") == 1
    Path("away-penguins.csv").rename("penguins.csv")  # the manifest says where it was
    assert said("verify", "results/mine", capsys=capsys)[0] == DONE


def test_the_authors_trials_are_kept_with_results_that_are_held_against_them(folder: Path) -> None:
    lines = ["impurity,dataset,criterion,trial,accuracy_percent,mean_nodes"]
    lines += [f"gini,penguins,{c},{t},50.5,7" for c in ("Largest Class Alone", "Hypercube Cover") for t in (1, 2)]
    Path("table4_trials.csv.xz").write_bytes(lzma.compress("\n".join(lines).encode()))
    like = ["arithmetic=published", "min_second=15", "max_p=0.1", "published=table4"]
    first = run("study.yaml", out="out", overrides=like)
    assert first.authors is not None
    Path("table4_trials.csv.xz").unlink()
    Path("penguins.csv").unlink()
    assert main(["compare", "out"]) == 1
    pd.testing.assert_frame_equal(load_results("out").authors, first.authors)


def test_another_target_makes_other_data(folder: Path) -> None:
    said = io.StringIO()
    run("study.yaml", out="out")
    write("penguins", "missing: NA\n  ignore: [rowid]", "island")
    results = run("study.yaml", out="out", say=said)
    assert "are others than those of the stored results; they are computed again" in said.getvalue()
    pd.testing.assert_frame_equal(results.trees, run("study.yaml").trees)


def test_data_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--catalogue", "mine.yaml"], ["--config", "study.yaml"]):
        code, told, _ = said("data", "check", *arguments, capsys=capsys)
        assert code == DONE
        first, *others = told.splitlines()
        assert first.startswith(f"penguins: {ROWS} rows, {ROWS - INCOMPLETE} of them used; {INCOMPLETE} with missing")
        assert "3 classes; 2 numeric and 2 nominal columns (types inferred)" in first
        assert others[0].startswith("    classes (species): Adelie ")
        assert others[1].startswith("    numeric: bill, flipper")
        assert "island (3 values, inferred: 'Biscoe' on line 2 is no number)" in others[2]
        assert others[3] == "    not used: rowid"
        assert len(others) == 4


@pytest.mark.parametrize(
    ("entry", "target", "problem"),
    [
        ("columns: {bill: numeric, x: nominal}", "species", "there is no column 'x' in its header"),
        ("missing: NA", "specis", "there is no column 'specis' in its header; did you mean 'species'?"),
        (
            "columns: {sex: numeric}",
            "species",
            "penguins.csv:2: column 'sex' is numeric, and 'NA' is no number; if it stand",
        ),
        ("columns: {bill: numeric}\n  rows: 7", "species", "rows: 150, where 7 are declared"),
        ("columns: {bill: numeric}", "rowid", "has no class of 3 rows or more"),
        ("columns: {bill: numeric}\n  missing: [Gentoo, Chinstrap]", "species", "has one class only, 'Adelie'"),
        ("separator: ;", "species", "separator ';'"),
    ],
)
def test_what_would_stop_a_study(
    entry: str, target: str, problem: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("penguins", entry, target)
    code, told, _ = said("data", "check", "--config", "study.yaml", capsys=capsys)
    assert code == WRONG_INPUT
    assert told.startswith("penguins: cannot be run: ")
    assert problem in told
    assert told.count("\n") == 1
    code, _, error = said("run", "study.yaml", capsys=capsys)
    assert code == WRONG_INPUT
    assert problem in error


def test_a_splitter_that_does_not_serve_is_found_by_the_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("study.yaml").write_text(Path("study.yaml").read_text().replace("hcc", "two_class"))
    code, told, _ = said("data", "check", "--config", "study.yaml", capsys=capsys)
    assert code == WRONG_INPUT
    assert "column 'island'" in told
    assert said("data", "check", "--catalogue", "mine.yaml", capsys=capsys)[0] == DONE


def test_remarks_on_what_may_be_a_mistake(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns: dict[str, Any] = {
        "id": [f"p{i}" for i in range(40)],
        "number": list(range(40)),
        "one": ["x"] * 40,
        "twin": ["A", "B"] * 20,
        "grade": [1, 2, 3, 4] * 10,
        "case": ["Male", "male", "female", "female"] * 10,
        "word": ["NA", "a", "b", "c"] * 10,
        "y": ["a", "b"] * 19 + ["c", "b"],
    }
    pd.DataFrame(columns).to_csv("penguins.csv", index=True)  # with the row labels of pandas, which have no name
    write("penguins", "title: All that may be wrong", "y")
    code, told, _ = said("data", "check", "--catalogue", "mine.yaml", capsys=capsys)
    assert code == DONE
    found = [line.strip() for line in told.splitlines() if "remark" in line]
    for words in (
        "classes with fewer rows than there are folds, 3: 'c'",
        "column 'id': 40 different values in 40 rows: a name or an identifier?",
        "column 'number': counts the rows: an identifier?",
        "column 'one': has one value only",
        "column 'grade': its numbers, 1, 2, 3, 4, may be codes; if so, declare it nominal",
        "column 'case': some values differ in upper and lower case only",
        "column 'word': 'NA' is a value; does it stand for a missing one? Then say missing:",
    ):
        assert sum(words in line for line in found) == 1, (words, found)
    assert "not used: (no name)" in told
    columns["y"] = ["a", "b"] * 20
    pd.DataFrame(columns).to_csv("penguins.csv", index=False)
    _, told, _ = said("data", "check", "--catalogue", "mine.yaml", capsys=capsys)
    assert "column 'twin': each value goes with one class only: is it the target under another name?" in told


def test_a_described_file_can_be_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told, _ = said("data", "describe", "penguins.csv", "--target", "species", capsys=capsys)
    assert code == DONE
    assert "rowid: numeric  # 1 to 150; counts the rows: an identifier?" in told
    assert re.search("sex: nominal  # 2 values: '(male', 'female|female', 'male)'; 15 missing", told)
    assert 'missing: ["NA"]' in told
    Path("penguins_data.yaml").write_text(told)
    config = [line.removeprefix("# ") for line in told.rpartition("\n\n")[2].splitlines()[1:]]
    Path("described.yaml").write_text("\n".join(config) + "\n")
    assert load_experiment("described.yaml").datasets == ("penguins",)
    assert said("data", "check", "--config", "described.yaml", capsys=capsys)[0] == DONE
    for wrong in (
        ["penguins.txt", "--target", "x"],
        ["penguins.csv", "--target", "specie"],
        ["no.csv", "--target", "x"],
    ):
        code, _, error = said("data", "describe", *wrong, capsys=capsys)
        assert code == WRONG_INPUT
        assert error.count("\n") == 1


def test_a_folder_whose_run_has_not_come_to_its_end(folder: Path) -> None:
    run("study.yaml", out="out")
    (Path("out") / "manifest.json").unlink()
    with pytest.raises(
        ConfigError, match=r"says nothing of data set penguins: .*`splitlab run out/config.yaml --out out`"
    ):
        load_results("out")
    assert main(["run", "out/config.yaml", "--out", "out"]) == WRONG_INPUT  # nobody knows where the data are
    assert main(["run", "study.yaml", "--out", "out"]) == DONE
    load_results("out")


def test_the_page_on_own_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    for path in (ROOT / "docs" / "examples").glob("penguins*"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "own_data.md").read_text()
    commands = re.findall("^splitlab (.*?)(?: +#.*)?$", page, re.MULTILINE)
    assert len(commands) == 6
    for command in commands:
        code, _, error = said(*command.split(), capsys=capsys)
        assert code == DONE, (command, error)
    (entry,) = re.findall("```yaml\n(.*?)```", page, re.DOTALL)
    Path("penguins_data.yaml").write_text(entry)
    assert said("data", "check", "--config", "penguins.yaml", capsys=capsys)[0] == DONE
    assert set(re.findall(r"`(\w+)`", page)) >= set(Dataset.model_fields) - {"name"}
