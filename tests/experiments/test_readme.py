"""The README is true: its numbers are those of the reference runs, its code runs, its commands exist."""

from __future__ import annotations

import math
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts import readme
from scripts.readme import README, TABLES, written
from splitlab.cli import main, parser
from splitlab.kinds.optimality.results import OPTIMUM
from splitlab.kinds.splits.compare import LEVEL, Entry
from splitlab.published import PAPER_COMPETITORS
from splitlab.splitters import get, names
from splitlab.statistics import holm_rejected
from splitlab.study import load_experiment
from tests.helpers import ROOT

REFERENCE = ROOT / "results" / "reference"
TEXT = README.read_text(encoding="utf-8")
SAID = " ".join(TEXT.split())


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


def commands() -> list[str]:
    lines = [line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    return [*filter(None, lines), *re.findall(r"`(make [a-z0-9-]+|splitlab [^`]+)`", TEXT)]


def test_results_are_those_of_the_reference_runs() -> None:
    assert "entries agree" in TEXT
    assert "digit for digit" in TEXT
    assert written(TEXT) == TEXT, "run `make reference`"


@pytest.mark.parametrize("code", blocks("python"))
def test_the_code_runs(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(code.replace("runs=1000", "runs=20"), "README.md", "exec"), {})


@pytest.mark.parametrize("text", blocks("yaml"))
def test_the_configs_are_valid(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert load_experiment(path).cells


def test_the_functions_of_the_example_are_a_splitter_and_an_impurity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"<!-- mine.py -->\n```python\n(.*?)```", TEXT, flags=re.DOTALL)
    (tmp_path / "mine.py").write_text(code)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    assert main(["check", "mine:purest"]) == 1
    broken = [line for line in capsys.readouterr().out.splitlines() if line.startswith("broken")]
    assert broken == ["broken  separates two classes that no row mixes"]
    assert main(["list", "--impurity", "mine:cubic"]) == 0
    assert "hcc: 2" in capsys.readouterr().out


def test_every_splitter_is_described() -> None:
    assert [name for name in names() if f"`{name}`" not in TEXT] == []


@pytest.mark.parametrize("command", [c for c in commands() if c.startswith("make")])
def test_make_targets_exist(command: str) -> None:
    done = subprocess.run(["make", "-n", *shlex.split(command)[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [c for c in commands() if len(c.split()) > 2 and "splitlab " in c])
def test_command_lines_parse(command: str) -> None:
    words = shlex.split(command)
    args = parser().parse_args(words[1:])
    assert args.command.__name__ == f"{words[1].replace('-', '_')}_command"


def test_make_help_lists_the_targets() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in ("env", "table1", "table1-corrected", "replay", "run", "test", "test-slow", "lint", "clean"):
        assert re.search(rf"^  {target} ", done.stdout, flags=re.MULTILINE), target


def test_nothing_speaks_of_the_machine_it_was_made_on() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in listed.stdout.split():
        path = ROOT / name
        assert path.stat().st_size < 1_000_000, name
        if path.suffix in {".py", ".md", ".yaml", ".csv", ".json", ".toml", ".txt", ".html", ".svg"}:
            text = path.read_text(encoding="utf-8")
            for word in ("/wor" + "k/", "/roo" + "t/", "/hom" + "e/"):
                assert word not in text, (name, word)


# What the text between the tables says


def table(name: str, heads: bool = False) -> list[list[str]]:
    """The rows of a generated table, with its heads or without."""
    (text,) = re.findall(rf"<!-- {name}: [^\n]*-->\n(.*?)<!-- end of {name} -->", TEXT, flags=re.DOTALL)
    head, _, *rows = ([entry.strip() for entry in line.split("|")[1:-1]] for line in text.splitlines())
    return [head, *rows] if heads else rows


def csv(folder: str, file: str) -> pd.DataFrame:
    return pd.read_csv(REFERENCE / folder / f"{file}.csv", keep_default_na=False, dtype={"published": str})


def verdict(name: str) -> str:
    return (REFERENCE / name / "verdict.txt").read_text(encoding="utf-8")


def entries(name: str) -> list[Entry]:
    """The entries of a reference run that have a published number."""
    fields = ["impurity", "n", "k", "max_count", "splitter", "wins", "runs"]
    found = csv(name, "win_percentage").query("published != ''")
    return [
        Entry(**row, printed=p) for row, p in zip(found[fields].to_dict("records"), found["published"], strict=True)
    ]


def test_every_table_has_its_place() -> None:
    assert sorted(re.findall(r"<!-- (\w+): written by", TEXT)) == sorted(TABLES)
    assert all(table(name) for name in TABLES)


def test_what_is_said_of_tables_1_and_2() -> None:
    for name, words in (("table1", "{} entries agree with the published ones"), ("table2", "and so do {} of Table 2")):
        compared = entries(name)
        differing = holm_rejected([entry.p_value() for entry in compared], LEVEL)
        assert words.format(f"{len(compared) - len(differing)} of {len(compared)}") in SAID
        z = [z for entry in compared if (z := entry.z()) is not None]
        assert f"rms z = {math.sqrt(sum(one * one for one in z) / len(z)):.2f})" in SAID
    farthest = max(entries("table1"), key=lambda entry: abs(entry.z() or 0.0))
    assert (
        f"farthest entry** of Table 1 is {get(farthest.splitter).title} at n = {farthest.n}, k = {farthest.k}: "
        f"{100 * farthest.wins / farthest.runs:.1f} against {farthest.printed}, {abs(farthest.z() or 0.0):.1f} standard"
    ) in SAID
    place = (farthest.impurity, farthest.n, farthest.k, farthest.splitter)
    (again,) = (e for e in entries("replay") if (e.impurity, e.n, e.k, e.splitter) == place)
    assert f"with the authors' own random numbers it is {100 * again.wins / again.runs:.1f}." in SAID


def test_what_is_said_of_the_replay() -> None:
    replayed = entries("replay")
    alike = sum(entry.rounds_alike() for entry in replayed)
    others = [(entry.impurity, entry.splitter) for entry in replayed if not entry.rounds_alike()]
    assert {(entry.n, entry.k) for entry in replayed if not entry.rounds_alike()} == {(50, 3)}
    nearest = csv("replay", "arithmetic").groupby(["impurity", "splitter"])["apart"].min()
    right = sum(int(nearest[other]) == 0 for other in others)
    assert f"{alike + right} of {len(replayed)} entries are equal, digit for digit: {alike} by the rules" in SAID
    assert f"{right} of n = 50, k = 3 in the arithmetic of the published program" in SAID
    found = csv("replay", "maxima")
    assert f"So are {found['alike'].sum()} of {len(found)} maxima of the relative excess." in SAID
    assert (found["max_count"] == 2).all()


def test_what_is_said_of_maxima_and_of_other_max_count() -> None:
    found = csv("excess", "maxima")
    ratios = found["ours"] / found["published"].astype(float)
    same, others = ratios[found["max_count"] == 2], ratios[found["max_count"] != 2]
    assert f"with max_count 2 give {same.min():.2f} to {same.max():.2f} times the published ones" in SAID
    assert f"tables with other max_count reach {(others >= 1).sum()} of {len(others)}." in SAID
    won = csv("excess", "win_percentage").pivot_table("percent", ["impurity", "splitter", "n", "k"], "max_count")
    for count, words in ((2, "{} win percentages with max_count 2,"), (15, "and {} with max_count 15, differ")):
        differing = re.search(rf"max_count {count}: (\d+ of \d+) win percentages differ", verdict("excess"))
        assert differing is not None
        assert words.format(differing[1]) in SAID
        impurity, splitter, n, k = place = (won[count] - won[7]).abs().idxmax()
        assert (impurity, splitter) == ("entropy", "hcc")
        assert (
            f"{won.loc[place, count]:.1f} with max_count {count} against {won.loc[place, 7]:.1f} (n = {n}, k = {k})"
            in SAID
        )


def test_what_is_said_of_running_times() -> None:
    growing = {row[0]: [float(text) for text in row[2:]] for row in table("growth")}
    assert [*growing] == ["HcC", "SLIQext", "PCext (counts)"]
    for paper, python, compiled in growing.values():
        assert paper > python > compiled
    assert growing["HcC"][1] > growing["HcC"][0] / 2, "somewhat less"
    assert all(growing[name][1] < growing[name][0] / 2 for name in ("SLIQext", "PCext (counts)")), "much less"


def test_what_is_said_of_the_optimum() -> None:
    reference = csv("optimality", "optimality")
    heuristics = reference[reference["splitter"] != "exact"]
    shares, solved, known, follows, above = [], {}, {}, {}, {}
    for impurity, own in heuristics.groupby("impurity"):
        reached = own.pivot_table("reached", ["n", "k"], "splitter")
        assert (reached.max(axis=1) == reached["hd"]).all(), "no method does better than HD anywhere"
        assert (reached.drop(columns="hd").max(axis=1) == reached["hcc+hd"]).all(), "HcC+hd follows everywhere"
        best, second = (own[own["splitter"] == name].set_index(["n", "k"]) for name in ("hd", "hcc+hd"))
        is_solved = best["reference"] == OPTIMUM
        assert f"In the {is_solved.sum()} configurations where the optimum can be computed" in SAID
        assert f"In the other {(~is_solved).sum()} it finds the best split known" in SAID
        solved[impurity], known[impurity] = (best[which]["percent"] for which in (is_solved, ~is_solved))
        follows[impurity] = second["percent"]
        shares += [*(100 * second["microseconds"] / best["microseconds"])]
        above[impurity] = 100 * (best[~is_solved]["bound_mean_ratio"].astype(float) - 1)
    assert f"{span(solved['gini'], 2)} of the tables for Gini and on {span(solved['entropy'], 2)} for entropy" in SAID
    assert f"split known on {span(known['gini'])} and on {span(known['entropy'])}." in SAID
    assert "No method does better than HD anywhere. HcC+hd follows everywhere" in SAID
    assert f"with {span(follows['gini'])} for Gini and {span(follows['entropy'])} for entropy" in SAID
    assert f"in {min(shares):.0f} to {max(shares):.0f} % of the time of HD." in SAID
    assert f"by {span(above['gini'])} for Gini and by {span(above['entropy'])} for entropy." in SAID


def span(found: pd.Series, decimals: int = 1) -> str:
    """The least and the largest percentage."""
    ends = dict.fromkeys(f"{end:.{decimals}f}" for end in (found.min(), found.max()))
    return f"{' to '.join(ends)} %"


@pytest.mark.parametrize("impurity", ["gini", "entropy"])
def test_who_is_ahead_of_the_papers_methods(impurity: str) -> None:
    """Checked cell by cell, by other code than that which writes the table."""
    reference, (head, *lines) = csv("optimality", "optimality"), table("leaders", heads=True)
    four = reference[(reference["impurity"] == impurity) & reference["splitter"].isin(PAPER_COMPETITORS)]
    assert len(four.groupby(["n", "k"])) == len(lines) * (len(head) - 1)
    for (n, k), part in four.groupby(["n", "k"]):
        first, second = part.sort_values("percent", ascending=False).to_dict("records")[:2]
        error = math.hypot(first["standard_error"], second["standard_error"])
        clear = first["percent"] - second["percent"] > 2 * error
        (line,) = (line for line in lines if line[0] == f"n = {n}")
        said = line[head.index(f"k = {k}")].split(" / ")[["gini", "entropy"].index(impurity)]
        assert said == (get(first["splitter"]).title if clear else "–"), (n, k)


def test_what_is_said_of_trees() -> None:
    found = csv("table4", "means")
    missing = (found["trials"] - found["equal"]).groupby(found["splitter"]).sum().loc[lambda gap: gap > 0]
    assert [*missing.index] == ["pc_ext_counts"]
    assert f"The {missing.sum()} trials that differ are all of PCext (counts)." in SAID
    apart = (found["accuracy"] - found["authors_accuracy"]).abs().max()
    assert f"differs by at most {apart:.3f} percentage points" in SAID
    pairs, trials = csv("table4_corrected", "survival"), csv("table4_corrected", "means")["trials"].unique()
    assert f"and ours, of {pairs['datasets'].max()} and {trials.item()} trials, by" in SAID
    assert (pairs[["holm_better", "holm_worse"]] == 0).all(axis=None), "no difference is left"
    even = pairs["published_better"] == pairs["published_worse"]
    assert (pairs["verdict"] == even.map({True: "even", False: "not shown"})).all()
    assert f"{even.sum()} of the {len(pairs)} pairs are even in the paper too, and of the other {(~even).sum()}" in SAID


def test_the_tables_are_drawn_whatever_the_numbers_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other runs, other winners: the tables change, and nothing raises."""
    shutil.copytree(REFERENCE, tmp_path / "reference", ignore=shutil.ignore_patterns("figures", "bench"))
    numbers = np.random.default_rng(1)
    for path in (tmp_path / "reference").glob("*/*.csv"):
        frame = pd.read_csv(path, keep_default_na=False)
        for column in {"wins", "reached", "equal", "ours", "percent", "ratio", "plain_better"} & {*frame}:
            frame[column] = numbers.permutation(frame[column].to_numpy())
        frame.to_csv(path, index=False)
    monkeypatch.setattr(readme, "REFERENCE", tmp_path / "reference")
    changed = {name for name, drawn in TABLES.items() if drawn() not in TEXT}
    assert changed == {*TABLES} - {"worst"}
