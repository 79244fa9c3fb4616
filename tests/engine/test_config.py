"""The config reader: every rule, and the one-line message with the place, the value and what would be right."""

# ruff: noqa: E501  (the tables of bad inputs hold one case per line)

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import splitlab
from splitlab.engine.config import Experiment
from splitlab.engine.yaml_source import read_text
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.splits.config import SplitsExperiment
from splitlab.study import load_experiment
from splitlab.text import ConfigError
from splitlab.trees import best_table_split

SPLITTERS = ("lca", "hcc", "pc", "pc_ext", "pc_counts", "pc_ext_counts", "sliq", "sliq_ext")

GOOD = """\
name: table1
impurities: [gini]
splitters: [hcc, pc_ext_counts, sliq_ext, lca]
grid:
  - {n: [12, 25, 50], k: [3, 5, 7, 9], max_count: 7, runs: 10000}
  - n: 100
    k: 4
    max_count: [1, 2]
    runs: 5
seed: 2018
draws: independent
published: table1
"""

ENTRY = {"n": 12, "k": 3, "max_count": 7, "runs": 1000}
AUTHORS = "draws: authors\ngrid:\n  - {n: 12, k: [9, 3], max_count: 7, runs: 500}\n"
HEAD = "name: x\nimpurities: gini\nsplitters: lca\n"  # three lines
TAIL = "grid:\n- {n: 12, k: 3, max_count: 7, runs: 10}\n"


def settings_dict(**changes: Any) -> dict[str, Any]:
    config = {"name": "x", "impurities": ["gini"], "splitters": ["lca"], "grid": [dict(ENTRY)], **changes}
    return {key: value for key, value in config.items() if value is not ...}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write configs/x.yaml in a fresh working folder; messages then begin with `configs/x.yaml`."""
    monkeypatch.chdir(tmp_path)
    Path("configs").mkdir()

    def write(content: str | bytes) -> str:
        data = content.encode() if isinstance(content, str) else content
        Path("configs/x.yaml").write_bytes(data)
        return "configs/x.yaml"

    return write


def message(*args: Any, **keywords: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load_experiment(*args, **keywords)
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 700
    assert caught.value.__cause__ is None and (caught.value.__context__ is None or caught.value.__suppress_context__)
    return text


# What is right


def test_a_good_file_becomes_an_experiment(write):
    experiment = load_experiment(write(GOOD))
    large = [(Cell(n, k, 7), 10000) for n in (12, 25, 50) for k in (3, 5, 7, 9)]
    assert isinstance(experiment, SplitsExperiment)
    assert experiment.name == "table1"
    assert experiment.kind == "splits"
    assert experiment.impurities == ("gini",)
    assert experiment.splitters == ("hcc", "pc_ext_counts", "sliq_ext", "lca")
    assert experiment.cells == (*large, (Cell(100, 4, 1), 5), (Cell(100, 4, 2), 5))
    assert (experiment.seed, experiment.draws, experiment.published) == (2018, "independent", "table1")
    assert (experiment.on_error, experiment.keep_runs) == ("stop", True)
    assert experiment.source == Path("configs/x.yaml")
    assert hash(experiment) == hash(load_experiment(Path("configs/x.yaml")))


def test_defaults():
    experiment = load_experiment(settings_dict())
    found = (experiment.kind, experiment.seed, experiment.draws, experiment.published, experiment.source)
    assert found == ("splits", 2018, "independent", None, None)


def test_cells_are_sorted_whatever_the_order_of_writing():
    grid = [{**ENTRY, "n": [50, 12]}, {**ENTRY, "n": 12, "k": 2, "runs": 3}]
    cells = load_experiment(settings_dict(grid=grid)).cells
    assert cells == ((Cell(12, 2, 7), 3), (Cell(12, 3, 7), 1000), (Cell(50, 3, 7), 1000))
    assert [cell.label for cell, _ in cells] == ["n12_k2_m7", "n12_k3_m7", "n50_k3_m7"]


def test_numpy_integers_arrays_and_tuples_are_accepted():
    grid = ({"n": np.array([12, 25]), "k": (np.int64(3),), "max_count": np.uint8(7), "runs": np.int32(5)},)
    config = settings_dict(grid=grid, impurities=("gini", "entropy"), seed=np.uint64(1), name=np.str_("x"))
    experiment = load_experiment(config, runs=np.int64(9))
    assert experiment.cells == ((Cell(12, 3, 7), 9), (Cell(25, 3, 7), 9))
    assert all(
        type(value) is int for cell, runs in experiment.cells for value in (cell.n, cell.k, cell.max_count, runs)
    )
    assert type(experiment.seed) is int and type(experiment.name) is str
    assert experiment.impurities == ("gini", "entropy")


def test_the_dict_handed_over_is_not_changed():
    config = settings_dict()
    load_experiment(config, runs=3, overrides=["seed=5"])
    assert config == settings_dict()


@pytest.mark.parametrize("seed", [0, 2**63 - 1])
def test_every_seed_is_a_seed_like_any_other(write, seed):
    assert load_experiment(write(f"{HEAD}seed: {seed}\n{TAIL}")).seed == seed


def test_one_name_stands_for_a_list_of_one():
    experiment = load_experiment(settings_dict(impurities="entropy", splitters="lca"))
    assert (experiment.impurities, experiment.splitters) == (("entropy",), ("lca",))


def test_null_is_the_default_of_published(write):
    assert load_experiment(write(f"{HEAD}published: ~\n{TAIL}")).published is None


def test_the_largest_and_smallest_sizes_are_accepted():
    grid = [
        {"n": 2, "k": 2, "max_count": 10**15 // 4, "runs": 1},
        {"n": 100_000, "k": 10, "max_count": 10**9, "runs": 10**9},
        {"n": 10, "k": 100_000, "max_count": 1, "runs": 1},
    ]
    assert len(load_experiment(settings_dict(grid=grid)).cells) == 3


def test_byte_order_mark_crlf_and_comments_are_accepted(write):
    plain = load_experiment(write(GOOD))
    text = "# a comment\n---\n" + GOOD
    assert load_experiment(write(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())) == plain


# The authors' stream


def test_authors_draws_take_the_authors_seed(write):
    path = write(HEAD + AUTHORS)
    experiment = load_experiment(path)
    assert (experiment.seed, experiment.draws) == (19880531, "authors")
    assert [cell.k for cell, _ in experiment.cells] == [3, 9]
    assert load_experiment(path, overrides=["seed=19880531"]) == experiment
    assert load_experiment(path, runs=10_000).cells[0][1] == 10_000


def test_authors_draws_refuse_another_seed(write):
    found = message(write(f"{HEAD}{AUTHORS}seed: 2018\n"))
    rule = "the authors' stream has seed 19880531 only (the key can be left out)"
    assert found == f"configs/x.yaml:7: seed: 2018 does not go with draws: authors; {rule}"


def test_authors_draws_refuse_other_cells(write):
    found = message(write((HEAD + AUTHORS).replace("9, 3", "9, 4")))
    cells = "max_count 7 with n = 12, 18, 25, 31, 37, 43, 50; or max_count 2 with n = 12, 25, 50"
    ran = f"the authors ran k = 3, 5, 7, 9 and {cells}; or max_count 15 with n = 12, 25, 50"
    assert found == f"configs/x.yaml:6: grid[0]: cell n12_k4_m7 does not go with draws: authors; {ran}"


@pytest.mark.parametrize(
    "cell", ["n: 18, k: 3, max_count: 2", "n: 30, k: 3, max_count: 7", "n: 12, k: 3, max_count: 3"]
)
def test_authors_draws_refuse_what_lies_between(write, cell):
    found = message(write(f"{HEAD}draws: authors\ngrid:\n  - {{{cell}, runs: 500}}\n"))
    assert "does not go with draws: authors; the authors ran k = 3, 5, 7, 9 and max_count 7 with" in found


def test_authors_draws_refuse_more_runs_than_there_are(write):
    rule = "10001 is too large for draws: authors; the authors' stream has 10,000 tables per cell"
    assert message(write((HEAD + AUTHORS).replace("500", "10001"))) == f"configs/x.yaml:6: grid[0].runs: {rule}"
    assert message(write(HEAD + AUTHORS), runs=10001) == f"--runs: {rule}"


# What is wrong in a file: (text, line, what the message says)

WHOLE = "is not a whole number; write a whole number in plain digits, such as 10000"
LONG = "x" * 101
BAD_FILES = {
    # the reader
    "syntax": ("name: [a\nseed: 1\n", 2, "not valid YAML: "),
    "tab": ("name: x\n\tseed: 1\n", 2, "not valid YAML: "),
    "bad escape": ('name: "\\UFFFFFFFF"\n', 1, "not valid YAML: "),
    "control character": ("name: x\nseed: \x07\n", 2, r"character '\x07' is not allowed"),
    "repeated key": (f"{HEAD}seed: 1\n{TAIL}seed: 2\n", 7, "key 'seed' is repeated; it is already on line 4"),
    "repeated quoted key": (HEAD + '"name": y\n', 4, "key 'name' is repeated; it is already on line 1"),
    "repeated inner key": (HEAD + "grid:\n- n: 2\n  k: 3\n  n: 3\n", 7, "key 'n' is repeated; it is already on line 5"),
    "anchor": (HEAD + "seed: &a 1\n", 4, "anchors (&) and aliases (*) are not read"),
    "alias": (HEAD + "seed: *a\n", 4, "anchors (&) and aliases (*) are not read"),
    "tag": (HEAD + "seed: !!int 1\n", 4, "tags (!) are not read"),
    "local tag": (HEAD + "seed: ! 1\n", 4, "tags (!) are not read"),
    "tag on a list": (HEAD + "grid: !!python/tuple [1]\n", 4, "tags (!) are not read"),
    "merge": (HEAD + "<<: {seed: 1}\n", 4, "merge keys (<<) are not read"),
    "two documents": (f"{HEAD}{TAIL}---\nseed: 1\n", 6, "a second document begins here (---)"),
    "number as key": (HEAD + "12: 1\n", 4, "a key must be text, not 12"),
    "bool as key": (HEAD + "true: 1\n", 4, "a key must be text, not true"),
    "empty key": (HEAD + "?\n: 1\n", 4, "a key must be text, not empty"),
    "list as key": (HEAD + "? [a]\n: 1\n", 4, "a key must be text, not a list or a mapping"),
    "deep list": (HEAD + "grid: " + "[" * 20, 4, "nested deeper than 20 levels"),
    "deep and large": (HEAD + "grid: " + "[" * 900_000, 4, "nested deeper than 20 levels"),
    "deep mapping": (HEAD + "grid: " + "{a: " * 20, 4, "nested deeper than 20 levels"),
    "long list": (HEAD + "grid: [1,\n" + "1," * 9999 + "\n2]\n", 6, "a list of more than 10000 items is too long"),
    "huge number": (f"{HEAD}seed: {'9' * 5000}\n", 4, f"{'9' * 20}... is a number of 5000 digits, which is too long"),
    "huge decimal": (f"{HEAD}seed: {'9' * 500}.5\n", 4, "is a number of 502 digits, which is too long"),
    "no mapping": ("- name: x\n", 1, "the top level must be KEY: VALUE lines, not a list"),
    "text only": ("\nname\n", 2, "the top level must be KEY: VALUE lines, not name"),
    # numbers
    "1e4": (f"{HEAD}seed: 1e4\n{TAIL}", 4, f"seed: 1e4 {WHOLE} (seed must be a whole number from 0 to 922"),
    "octal": (f"{HEAD}seed: 010\n{TAIL}", 4, f"seed: 010 {WHOLE}"),
    "sexagesimal": (f"{HEAD}seed: 10:30\n{TAIL}", 4, f"seed: 10:30 {WHOLE}"),
    "no": (f"{HEAD}seed: no\n{TAIL}", 4, f"seed: no {WHOLE}"),
    "hexadecimal": (f"{HEAD}seed: 0x10\n{TAIL}", 4, f"seed: 0x10 {WHOLE}"),
    "underscore": (f"{HEAD}seed: 1_000\n{TAIL}", 4, f"seed: 1_000 {WHOLE}"),
    "plus": (f"{HEAD}seed: +1\n{TAIL}", 4, f"seed: +1 {WHOLE}"),
    "true": (f"{HEAD}seed: true\n{TAIL}", 4, f"seed: true {WHOLE}"),
    "decimal": (f"{HEAD}seed: 2.0\n{TAIL}", 4, f"seed: 2.0 {WHOLE}"),
    "null": (f"{HEAD}seed:\n{TAIL}", 4, f"seed: an empty value {WHOLE}"),
    "quoted": (f'{HEAD}seed: "12"\n{TAIL}', 4, 'seed: "12" is not a whole number; write a whole number in plain digits without'),
    "single quoted": (f"{HEAD}seed: '12'\n{TAIL}", 4, "seed: '12' is not a whole number; write a whole number in plain digits without"),
    "negative": (f"{HEAD}seed: -1\n{TAIL}", 4, "seed: -1 is too small; seed must be a whole number from 0"),
    "large seed": (f"{HEAD}seed: {2**63}\n{TAIL}", 4, f"seed: {2**63} is too large; seed must be a whole number"),
    "long seed": (f"{HEAD}seed: {'9' * 200}\n{TAIL}", 4, f"seed: {'9' * 60}... is too large"),
    "list for seed": (f"{HEAD}seed: [1]\n{TAIL}", 4, f"seed: a list {WHOLE}"),
    # keys
    "unknown": (f"{HEAD}{TAIL}foo: 1\n", 6, "unknown key 'foo'; known keys: name, kind, impurities, splitters, grid, seed"),
    "misspelt": (f"splitter: lca\n{HEAD}{TAIL}", 1, "unknown key 'splitter'; did you mean 'splitters'?"),
    "misspelt, so missing": (f"nmae: x\n{TAIL}", 1, "unknown key 'nmae'; did you mean 'name'?"),
    "control in key": (f'{HEAD}"a\\nb": 1\n{TAIL}', 4, r"a key must be text, not a\nb"),
    "surrogate in key": (f'{HEAD}"a\\ud800": 1\n{TAIL}', 4, r"a key must be text, not a\ud800"),
    "unknown in grid": (f"{HEAD}grid:\n- n: 2\n  maxcount: 3\n", 6, "grid[0]: unknown key 'maxcount'; did you mean 'max_count'?"),
    "other in grid": (f"{HEAD}grid:\n- n: 2\n  zzz: 3\n", 6, "grid[0]: unknown key 'zzz'; known keys: n, k, max_count, runs"),
    "no name": (f"impurities: gini\nsplitters: lca\n{TAIL}", 1, "key 'name' is missing"),
    "no impurities": (f"name: x\nsplitters: lca\n{TAIL}", 1, "key 'impurities' is missing"),
    "no splitters": (f"name: x\nimpurities: gini\n{TAIL}", 1, "key 'splitters' is missing"),
    "no grid": (HEAD, 1, "key 'grid' is missing"),
    "no n": (HEAD + "grid:\n- {k: 3, max_count: 7, runs: 1}\n", 5, "grid[0]: key 'n' is missing"),
    "no runs": (HEAD + "grid:\n- {n: 3, k: 3, max_count: 7}\n", 5, "grid[0]: key 'runs' is missing"),
    # name, kind, draws, published
    "number as name": (f"{TAIL}name: 12\n", 3, "name: 12 is not text; write a name, in quotes"),
    "null name": (f"{TAIL}name:\n", 3, "name: an empty value is not text"),
    "dot name": (f"{TAIL}name: .x\n", 3, "name: .x cannot be a name; name must have letters"),
    "slash": (f"{TAIL}name: a/b\n", 3, "name: a/b cannot be a name"),
    "newline": (f'{TAIL}name: "a\\n"\n', 3, r'name: "a\n" cannot be a name'),
    "umlaut": (f"{TAIL}name: ä\n", 3, "name: ä cannot be a name"),
    "empty name": (f"{TAIL}name: ''\n", 3, "name: '' cannot be a name"),
    "long name": (f"{TAIL}name: {LONG}\n", 3, f"name: {'x' * 60}... cannot be a name"),
    "timing": (f"{HEAD}kind: timing\n{TAIL}draws: authors\n", 7, "unknown key 'draws'; known keys: name, kind, impurities"),
    "optimality": (f"{HEAD}kind: optimality\n{TAIL}draws: authors\n", 7, "unknown key 'draws'; known keys: name, kind, impurities"),
    "trees": (f"{HEAD}kind: trees\n", 1, "key 'datasets' is missing"),
    "kind": (f"{HEAD}kind: split\n", 4, "kind: split is not a kind; did you mean 'splits'?"),
    "strange kind": (f"{HEAD}kind: 12\n", 4, "kind: 12 is not a kind; available: splits"),
    "list of kinds": (f"{HEAD}kind: [splits]\n", 4, "kind: a list is not a kind; available: splits"),
    "draws": (f"{HEAD}draws: author\n{TAIL}", 4, "draws: author is not possible here; write 'independent' or 'authors'"),
    "published": (f"{HEAD}published: 1\n{TAIL}", 4, "published: 1 is not text"),
    "empty published": (f'{HEAD}published: " "\n{TAIL}', 4, 'published: " " must be a name or a path'),
    "NUL in published": (f'{HEAD}published: "a\\0"\n{TAIL}', 4, r'published: "a\x00" must be a name or a path'),
    # impurities and splitters
    "impurity": (f"name: x\nimpurities: [gini, gnii]\n{TAIL}", 2, "impurities[1]: gnii is not a known impurity; did you mean 'gini'? known: gini, entropy"),
    "one impurity": (f"name: x\nimpurities: xyz\n{TAIL}", 2, "impurities: xyz is not a known impurity; known: gini, entropy"),
    "own impurity": (f"name: x\nimpurities: a:b\n{TAIL}", 2, "impurities: a:b cannot be used: a: there is no module 'a'"),
    "no impurity": (f"name: x\nimpurities: []\n{TAIL}", 2, "impurities: a list has no items; at least one is needed"),
    "twice": (f"{HEAD.replace('gini', '[gini, entropy, gini]')}{TAIL}", 2, "impurities[2]: 'gini' is repeated; it is already in impurities[0] on line 2"),
    "splitter": (f"name: x\nsplitters:\n- lca\n- hc\n{TAIL}", 4, f"splitters[1]: hc is not a known splitter; did you mean 'hcc'? known: {', '.join(SPLITTERS)}"),
    "splitters twice": (f"{HEAD}{TAIL}".replace(" lca", "\n- lca\n- lca"), 5, "splitters[1]: 'lca' is repeated; it is already in splitters[0] on line 4"),
    "no function": (f"name: x\nsplitters: 'a.b:'\n{TAIL}", 2, "splitters: 'a.b:' is not a known splitter"),
    "no module": (f"name: x\nsplitters: ':f'\n{TAIL}", 2, "splitters: ':f' is not a known splitter"),
    "dots": (f"name: x\nsplitters: 'a..b:f'\n{TAIL}", 2, "splitters: 'a..b:f' is not a known splitter"),
    "two colons": (f"name: x\nsplitters: 'a:b:c'\n{TAIL}", 2, "splitters: 'a:b:c' is not a known splitter"),
    "call": (f"name: x\nsplitters: 'a:f()'\n{TAIL}", 2, "splitters: 'a:f()' is not a known splitter"),
    "number as splitter": (f"name: x\nsplitters: [1]\n{TAIL}", 2, "splitters[0]: 1 is not text"),
    # grid
    "empty grid": (f"{HEAD}grid: []\n", 4, "grid: a list has no items"),
    "grid of one mapping": (f"{HEAD}grid:\n  n: 1\n", 4, "grid: a mapping is not a list; write one entry per line"),
    "number in grid": (f"{HEAD}grid:\n- 12\n", 5, "grid[0]: 12 is not a mapping; write KEY: VALUE pairs"),
    "small n": (f"{HEAD}grid:\n- k: 3\n  n: 1\n", 6, "grid[0].n: 1 is too small; n must be a whole number from 2 to 100000"),
    "large n": (f"{HEAD}grid:\n- n: [12, 100001]\n", 5, "grid[0].n[1]: 100001 is too large; n must be a whole number from 2 to 100000"),
    "small k": (f"{HEAD}grid:\n- k: 1\n", 5, "grid[0].k: 1 is too small; k must be a whole number from 2 to 100000"),
    "small max_count": (f"{HEAD}grid:\n- max_count: 0\n", 5, "grid[0].max_count: 0 is too small; max_count must be a whole number from 1 to"),
    "small runs": (f"{HEAD}grid:\n- runs: 0\n", 5, "grid[0].runs: 0 is too small; runs must be a whole number from 1 to 1000000000"),
    "large runs": (f"{HEAD}grid:\n- runs: 1000000001\n", 5, "grid[0].runs: 1000000001 is too large"),
    "list of runs": (f"{HEAD}grid:\n- runs: [1]\n", 5, f"grid[0].runs: a list {WHOLE}"),
    "empty n": (f"{HEAD}grid:\n- n: []\n", 5, "grid[0].n: a list has no items"),
    "list in list": (f"{HEAD}grid:\n- n: [[12]]\n", 5, f"grid[0].n[0]: a list {WHOLE}"),
    "many entries": (f"{HEAD}grid:\n- {{n: 1000, k: 1001, max_count: 1, runs: 1}}\n", 5, "grid[0]: cell n1000_k1001_m1: n * k = 1001000 is too large; at most 1000000"),
    "large total": (f"{HEAD}grid:\n- {{n: 1000, k: 1000, max_count: 1000000001, runs: 1}}\n", 5, "n * k * max_count = 1000000001000000 is too large; at most 1000000000000000"),
    "same cell": (f"{HEAD}{TAIL}- {{n: [2, 12], k: 3, max_count: 7, runs: 9}}\n", 6, "grid[1]: cell n12_k3_m7 is repeated; it is already in grid[0] on line 5"),
    "same n": (f"{HEAD}grid:\n- {{k: 3, max_count: 7, runs: 10,\n   n: [12, 5,\n   12]}}\n", 7, "grid[0].n[2]: cell n12_k3_m7 is repeated; it is already in grid[0].n[0] on line 6"),
    "same max_count": (f"{HEAD}grid:\n- {{n: 12, k: 3, max_count: [7, 7], runs: 1}}\n", 5, "grid[0].max_count[1]: cell n12_k3_m7 is repeated; it is already in grid[0].max_count[0] on line 5"),
    "many cells": (f"{HEAD}grid:\n- {{n: {list(range(2, 103))}, k: {list(range(2, 102))}, max_count: 1, runs: 1}}\n", 4, "grid: the lists multiply out to 10,100 cells; at most 10,000 can be run"),
    "astronomically many": (f"{HEAD}draws: authors\ngrid:\n- {{n: {[12] * 9999}, k: {[3] * 9999}, max_count: {[7] * 9999}, runs: 1}}\n", 5, f"grid: the lists multiply out to {9999**3:,} cells"),
    # the first of several
    "first by line": (f"{HEAD}seed: 1e4\ngrid: 5\nzzz: 1\n", 4, f"seed: 1e4 {WHOLE}"),
    "first by line, other order": (f"{HEAD}grid: 5\nseed: 1e4\nzzz: 1\n", 4, "grid: 5 is not a list"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_refused_with_line_and_value(write, case):
    text, line, says = BAD_FILES[case]
    found = message(write(text))
    assert found.startswith(f"configs/x.yaml:{line}: ")
    assert says in found


def test_the_message_is_exactly_this(write):
    path = write(f"{HEAD}grid:\n\n  - k: 3\n    n: 1\n")
    assert message(path) == "configs/x.yaml:7: grid[0].n: 1 is too small; n must be a whole number from 2 to 100000"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "configs/x.yaml: the file is empty"),
        (b"# only a comment\n", "configs/x.yaml: the file is empty"),
        (b"---\n", "configs/x.yaml: the file is empty"),
        (b"name: x\nseed: \xff\n", "configs/x.yaml:2: not UTF-8 text (byte 0xff)"),
        ("name: x".encode("utf-16"), "configs/x.yaml:1: not UTF-8 text (byte 0xff)"),
        (b"name: x\n\n\0", "configs/x.yaml:3: NUL character; a config is a text file"),
        (b"#" * 1_000_001, "configs/x.yaml: is larger than 1000000 bytes; a config is a small text file"),
    ],
)
def test_a_file_that_is_no_text_is_refused(write, content, says):
    assert message(write(content)) == says


def test_files_that_cannot_be_read(write, monkeypatch):
    write(GOOD)
    assert message("configs/y.yaml") == "configs/y.yaml: no such file"
    assert message("").startswith("'': ")
    assert message(Path("configs")) == "configs: is a directory, not a file"
    assert message("configs/x.yaml/y") == "configs/x.yaml/y: cannot be read (Not a directory)"
    assert message("a\nb") == r"a\nb: no such file"
    assert message("a\0b").startswith(r"a\x00b: is no file name")
    assert message("y" * 300).endswith(": cannot be read (File name too long)")

    def refuse(*args, **keywords):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # root may read everything, so a chmod would not do
    assert message("configs/x.yaml") == "configs/x.yaml: cannot be read (Permission denied)"


@pytest.mark.parametrize("config", [None, 12, [("name", "x")], b"x.yaml", object()])
def test_neither_path_nor_mapping_is_a_type_error(config):
    with pytest.raises(TypeError, match="config must be a path or a mapping, not "):
        load_experiment(config)


# What is wrong in a dict

CYCLE: dict[str, Any] = {}
CYCLE["a"] = CYCLE
BAD_DICTS = {
    "bool": (settings_dict(seed=True), f"config: seed: True {WHOLE}"),
    "numpy bool": (settings_dict(seed=np.True_), f"config: seed: True {WHOLE}"),
    "float": (settings_dict(seed=2.0), f"config: seed: 2.0 {WHOLE}"),
    "numpy float": (settings_dict(seed=np.float64(2)), f"config: seed: 2.0 {WHOLE}"),
    "NaN": (settings_dict(seed=float("nan")), f"config: seed: nan {WHOLE}"),
    "text": (settings_dict(seed="12"), "config: seed: '12' is not a whole number; write a whole number in plain digits w"),
    "object": (settings_dict(seed=Path("y")), f"config: seed: PosixPath('y') {WHOLE}"),
    "huge": (settings_dict(seed=10**5000), "config: seed: a number of thousands of digits is too large"),
    "n": (settings_dict(grid=[{**ENTRY, "n": [12, 1]}]), "config: grid[0].n[1]: 1 is too small; n must be"),
    "range": (settings_dict(grid=[{**ENTRY, "n": range(10**12)}]), "config: grid[0].n: a list of more than 10000 items"),
    "set": (settings_dict(splitters={"lca"}), "config: splitters: {'lca'} is not text"),
    "key": (settings_dict(grid=[{5: 1}]), "config: grid[0]: a key must be text, not 5"),
    "top key": ({None: 1}, "config: a key must be text, not None"),
    "unknown": (settings_dict(seeds=1), "config: unknown key 'seeds'; did you mean 'seed'?"),
    "missing": (settings_dict(name=...), "config: key 'name' is missing"),
    "empty": ({}, "config: key 'name' is missing"),
    "repeated": (settings_dict(grid=[ENTRY, ENTRY]), "config: grid[1]: cell n12_k3_m7 is repeated; it is already in grid[0]"),
    "cycle": (CYCLE, "nested deeper than 20 levels"),
    "surrogate": (settings_dict(name="\ud800"), r"config: name: '\ud800' "),
    "surrogate key": (settings_dict(**{"\ud800": 1}), r"config: a key must be text, not '\ud800'"),
    "braces": (settings_dict(splitters="{message}{0}"), "config: splitters: '{message}{0}' is not a known splitter"),
    "brace draws": (settings_dict(draws="{expected}"), "config: draws: '{expected}' is not possible here"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_DICTS)
def test_a_bad_dict_is_refused_with_place_and_value(case):
    config, says = BAD_DICTS[case]
    assert says in message(config)


# --runs and --set


def test_runs_replaces_the_runs_of_every_cell(write):
    assert {runs for _, runs in load_experiment(write(GOOD), runs=77).cells} == {77}
    without = {key: value for key, value in ENTRY.items() if key != "runs"}
    assert load_experiment(settings_dict(grid=[without]), runs=5).cells == ((Cell(12, 3, 7), 5),)


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        (0, "--runs: 0 is too small; runs must be a whole number from 1 to 1000000000"),
        (-5, "--runs: -5 is too small"),
        (10**9 + 1, "--runs: 1000000001 is too large"),
        (True, f"--runs: True {WHOLE}"),
        (1e4, f"--runs: 10000.0 {WHOLE}"),
        ("5", "--runs: '5' is not a whole number"),
        ([5], f"--runs: a list {WHOLE}"),
    ],
)
def test_bad_runs_are_refused(write, runs, says):
    assert message(write(GOOD), runs=runs).startswith(says)


def test_overrides_replace_top_level_keys(write):
    new = [
        "seed=0",
        "name = y",
        "impurities=[entropy, gini]",
        "published=",
        "grid=[{n: [2, 3], k: 2, max_count: 1, runs: 4}]",
    ]
    experiment = load_experiment(write(GOOD), overrides=new)
    assert (experiment.seed, experiment.name, experiment.published) == (0, "y", None)
    assert experiment.impurities == ("entropy", "gini")
    assert experiment.cells == ((Cell(2, 2, 1), 4), (Cell(3, 2, 1), 4))
    assert load_experiment(settings_dict(), overrides=("published=a=b.csv",)).published == "a=b.csv"


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("seed=1e4", f"--set seed=1e4: seed: 1e4 {WHOLE}"),
        ("seed=", f"--set seed=: seed: an empty value {WHOLE}"),
        ("sed=1", "--set sed=1: unknown key 'sed'; did you mean 'seed'?"),
        ("seed", "--set seed: is not of the form KEY=VALUE, such as seed=1"),
        ("=1", "--set =1: is not of the form KEY=VALUE, such as seed=1"),
        ("seed=[", "--set seed=[: not valid YAML: "),
        ("seed=!!int 1", "--set seed=!!int 1: tags (!) are not read"),
        ("seed=1\n---\n2", r"--set seed=1\n---\n2: a second document begins here"),
        ("grid=[{n: 1}]", "--set grid=[{n: 1}]: grid[0].n: 1 is too small"),
        ("grid=[{n: 2, n: 2}]", "--set grid=[{n: 2, n: 2}]: key 'n' is repeated"),
        ("grid=[{n: [2, 2], k: 2, max_count: 1, runs: 1}]", "--set grid=[{n: [2, 2], k: 2, max_count: 1, runs: 1}]: grid[0].n[1]: cell"),
        ("kind=trees", "configs/x.yaml:4: grid: does not go with this kind of experiment"),
        ("splitters=hc", "--set splitters=hc: splitters: hc is not a known splitter; did you mean 'hcc'?"),
        ("name=" + "y" * 999, "--set name=" + "y" * 55 + "...: name: "),
    ],
)  # fmt: skip
def test_bad_overrides_are_refused(write, override, says):
    assert message(write(GOOD), overrides=[override]).startswith(says)


def test_a_key_set_twice_is_refused(write):
    assert message(write(GOOD), overrides=["seed=1", "seed=2"]) == "--set seed=2: key 'seed' is set twice"


@pytest.mark.parametrize("overrides", ["seed=1", [1], [None]])
def test_overrides_of_a_wrong_type_are_type_errors(overrides):
    with pytest.raises(TypeError, match="sequence of strings"):
        load_experiment(settings_dict(), overrides=overrides)


def test_an_override_repairs_what_it_replaces(write):
    path = write(GOOD.replace("2018", "1e4"))
    assert load_experiment(path, overrides=["seed=10000"]).seed == 10000


def test_name_default_is_used_only_where_there_is_no_name():
    assert load_experiment(settings_dict(name=...), name_default="y").name == "y"
    assert load_experiment(settings_dict(), name_default="y").name == "x"
    assert message(settings_dict(name=...), name_default="a b").startswith("name_default: name: 'a b' cannot be a name")


# The reader alone


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12), ("-3", -3), ("0", 0), ("0.2", 0.2), ("-1.5", -1.5), ("true", True), ("false", False),
        ("", None), ("~", None), ("null", None), ("1e4", "1e4"), ("010", "010"), ("10:30", "10:30"), ("no", "no"),
        ("0x10", "0x10"), ("1_000", "1_000"), ("+1", "+1"), (".5", ".5"), ("1.", "1."), (".inf", ".inf"), ("True", "True"),
        ("2018-01-01", "2018-01-01"), ("'12'", "12"), ('"true"', "true"), ("|\n  12\n", "12\n"), ("=", "="),
        ("٣", "٣"), ("[1, a]", [1, "a"]), ("{a: {b: [2]}}", {"a": {"b": [2]}}),
    ],
)  # fmt: skip
def test_scalars_are_never_reinterpreted(text, value):
    found = read_text(text, "x").value
    assert found == value
    assert type(found) is type(value)


def test_twenty_levels_can_be_read():
    assert read_text("a: " + "[" * 19 + "]" * 19, "x").value["a"][0][0] != []


def test_lines_are_those_of_the_key_or_the_item():
    places = read_text("a:\n\n  b: 1\nc:\n- 2\n-\n  - 3\n", "x").places
    lines = {path: place.line for path, place in places.items()}
    assert lines == {(): 1, ("a",): 1, ("a", "b"): 3, ("c",): 4, ("c", 0): 5, ("c", 1): 7, ("c", 1, 0): 7}


def test_config_error_is_one_printable_line_and_survives_pickling():
    error = ConfigError("a\nb\x1b[31m\ud800 ä")
    assert str(error) == r"a\nb\x1b[31m\ud800 ä"
    assert isinstance(error, ValueError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


# Round trip and fuzzing

names = st.text("abcnoyef019._-", min_size=1, max_size=8).filter(lambda text: not text.startswith((".", "-")))
published = st.none() | st.text(min_size=1, max_size=12).filter(lambda text: text.strip() and text.isprintable())
own = st.sampled_from(["a:b", "no.null:true", "übung.mod:f", "x.y.z:w1"])
sizes = st.lists(st.integers(2, 60), min_size=1, max_size=3, unique=True)
entries = st.fixed_dictionaries(
    {
        "n": sizes,
        "k": sizes | st.integers(2, 9),
        "max_count": st.integers(1, 10**9),
        "runs": st.integers(1, 10**9),
    }
)
configs = st.fixed_dictionaries(
    {
        "name": names,
        "impurities": st.permutations(["gini", "entropy"]),
        "splitters": st.lists(st.sampled_from(SPLITTERS), min_size=1, max_size=4, unique=True),
        "grid": st.lists(entries, min_size=1, max_size=1),
        "seed": st.integers(0, 2**63 - 1),
        "published": published,
    }
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(config=configs)
@example(config=settings_dict(name="no", published="1e4"))
@example(config=settings_dict(name="12", published="null"))
@example(config=settings_dict(name="true", published="C:\\x 'y' \"z\" # no: comment"))
def test_the_resolved_form_reads_back_as_an_equal_experiment(tmp_path, config):
    experiment = load_experiment(config)
    path = tmp_path / "resolved.yaml"
    path.write_text(experiment.to_yaml(), encoding="utf-8")
    assert load_experiment(path) == experiment
    assert load_experiment(path).to_yaml() == experiment.to_yaml()


@pytest.mark.parametrize("name", ["no", "y", "On", "12", "1e4", "1_0", "null", "x-1"])
def test_the_resolved_form_means_the_same_to_other_readers(name):
    written = load_experiment(settings_dict(name=name, published=name)).to_yaml()
    assert yaml.safe_load(written)["name"] == yaml.safe_load(written)["published"] == name


def test_the_resolved_form_of_the_authors_draws_reads_back(write):
    experiment = load_experiment(write(HEAD + AUTHORS))
    assert load_experiment(write(experiment.to_yaml())) == experiment


def test_the_resolved_form_of_the_largest_grid_is_within_the_reader_limit():
    entry = {"n": list(range(100, 200)), "k": list(range(1000, 1100)), "max_count": 10**9, "runs": 10**9}
    experiment = load_experiment(settings_dict(grid=[entry]))
    assert len(experiment.cells) == 10_000
    assert len(experiment.to_yaml()) < 900_000
    assert experiment.to_yaml().count("\n") == 10_009  # as many entries as a list may have


def experiment_or_error(*args: Any, **keywords: Any) -> None:
    try:
        assert isinstance(load_experiment(*args, **keywords), Experiment)
    except ConfigError as error:
        assert str(error).isprintable()


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([*SPLITTERS, "gini"])
)
keys = st.sampled_from(
    ["name", "kind", "impurities", "splitters", "grid", "seed", "draws", "published", "n", "k", "runs"]
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys | st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def flow(tree: Any) -> str:
    """A tree as YAML, carelessly: keys and text stand as they are, so much of it is not YAML at all."""
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{key}: {flow(value)}" for key, value in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(flow, tree)) + "]"
    return str(tree)


pieces = st.sampled_from(
    [*"{}[]:,-?&*!|>'\"%@#~\n\t \\", "\n- ", ": ", "---", "...", "<<", "name", "grid", "seed", "%YAML 1.1\n", "%TAG ! x\n",
     "&a", "*a", "!!int", "\\x", "\\U", "1e4", "0", "\ufeff", "\x85", "\u2028", "\r"]
)  # fmt: skip
texts = st.text(max_size=60) | st.lists(pieces, max_size=25).map("".join)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=texts.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=60))
@example(content=b"%YAML 1." + b"9" * 5000 + b"\n---\nname: x\n")
@example(content=b'name: "\\UFFFFFFFF"\n')
def test_any_file_gives_an_experiment_or_a_config_error(tmp_path, content):
    path = tmp_path / "any.yaml"
    path.write_bytes(content)
    experiment_or_error(path)
    path.write_bytes(f"{HEAD}{TAIL}".encode() + content)
    experiment_or_error(path)


@settings(max_examples=300, deadline=None)
@given(changes=st.dictionaries(keys, trees, max_size=4), runs=st.none() | scalars, override=texts)
def test_any_dict_and_option_give_an_experiment_or_a_config_error(changes, runs, override):
    experiment_or_error({**settings_dict(), **changes}, runs=runs)
    experiment_or_error(settings_dict(), overrides=[override])
    experiment_or_error(settings_dict(), overrides=[f"{key}={flow(value)}" for key, value in changes.items()])


# What is loaded


def test_importing_the_config_loads_no_heavy_package():
    heavy = {"numba", "pandas", "scipy", "matplotlib", "joblib"}
    code = f"import sys, splitlab.engine.config; print(sorted({heavy!r} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True)
    assert run.stdout.strip() == "[]"


def test_the_registries_are_those_of_the_library():
    """In a process of its own, since the other tests here put stand-ins in their place."""
    code = (
        "from splitlab.study import load_experiment as load\n"
        "grid = [{'n': 12, 'k': 3, 'max_count': 7, 'runs': 1}]\n"
        f"load(dict(name='x', impurities=['gini', 'entropy'], splitters={list(SPLITTERS)!r}, grid=grid))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("title", "name"),
    [("HcC", "hcc"), ("PCext", "pc_ext"), ("SLIQext", "sliq_ext"), ("LCA", "lca"), ("PC (counts)", "pc_counts")],
)
def test_titles_are_recognised(title: str, name: str) -> None:
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 2}]
    with pytest.raises(ValueError, match=f"did you mean '{name}'"):
        load_experiment({"name": "t", "impurities": "gini", "splitters": [title], "grid": grid})
    for split in (splitlab.split, best_table_split):
        with pytest.raises(ValueError, match=f"did you mean '{name}'"):
            split([[1, 2], [2, 1]], "gini", title)


def test_impurities_in_capitals_are_recognised() -> None:
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 2}]
    with pytest.raises(ValueError, match="did you mean 'gini'"):
        load_experiment({"name": "t", "impurities": "GINI", "splitters": ["lca"], "grid": grid})
