"""Functions of one's own by name: what is imported, from where, and when it is not."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import splitlab
from splitlab import plugins
from splitlab.cli import main
from splitlab.engine.names import with_functions_named
from splitlab.study import load_experiment
from tests.helpers.own import write_config, write_module

pytestmark = pytest.mark.usefixtures("elsewhere")

FIRST_ROW = "import numpy as np\n\ndef first(table, impurity):\n    return np.arange(len(table)) == 0\n"


@pytest.mark.parametrize("name", ["a:f", "a.b:f", "_a:_f", "splitlab.examples:cubic", "größe:f"])
def test_names_of_functions(name: str) -> None:
    assert plugins.is_plugin(name)


# What a spreadsheet, a shell, a page or a path could take for something else is no name.
BAD = ["hcc", "a:", ":f", "a:b:c", "a b:f", "=a:f", "+a:f", "-a:f", "@a:f", "a:f()", "a:f\n", "a:f+hd", "../a:f"]


@pytest.mark.parametrize("name", [*BAD, "a/b:f", "a:<b>", "a:'f'", "a..b:f", ".a:f", "1a:f", "", None, 3])
def test_other_names(name: Any) -> None:
    assert not plugins.is_plugin(name)


@pytest.mark.parametrize("name", [n for n in BAD if n not in ("hcc", "a:f+hd")])
def test_other_names_are_refused_in_configs(name: str) -> None:
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 2}]
    with pytest.raises(ValueError, match="is not a known splitter"):
        load_experiment({"name": "t", "impurities": "gini", "splitters": [name], "grid": grid})


BROKEN = {
    "missing function": ("", "has no function 'f'"),
    "not a function": ("f = 3", "'f' in .* is a int, no function"),
    "fails": ("1 / 0", "its import fails: ZeroDivisionError: division by zero"),
    "leaves": ("raise SystemExit(0)", "its import fails: SystemExit: 0"),
    "needs another": ("import nowhere_to_be_found", "its import fails: no module named 'nowhere_to_be_found'"),
    "syntax": ("def f(:", "its import fails: SyntaxError"),
    "several lines": ("raise ValueError('one\\ntwo')", "its import fails: ValueError: one two$"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_loaded_is_told_in_a_line(case: str, tmp_path: Path) -> None:
    source, expected = BROKEN[case]
    name = write_module(tmp_path, source)
    plugins.search([tmp_path])
    with pytest.raises(ValueError, match=expected) as caught:
        plugins.load(f"{name}:f")
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize(("name", "missing"), [("nowhere:f", "nowhere"), ("json.nowhere:f", "json.nowhere")])
def test_a_module_that_is_not_there(name: str, missing: str) -> None:
    with pytest.raises(ValueError, match=f"there is no module '{missing}' in the config's folder"):
        plugins.load(name)


def test_what_exec_made_is_sent_nowhere(tmp_path: Path) -> None:
    """No file shows what it is, so that it would be taken for something else there."""
    name = write_module(tmp_path, "exec('def f(table, impurity): return 1')")
    plugins.search([tmp_path])
    assert plugins.packed([f"{name}:f"]) is None


def test_an_interrupt_is_no_failure_of_the_import(tmp_path: Path) -> None:
    name = write_module(tmp_path, "raise KeyboardInterrupt")
    plugins.search([tmp_path])
    with pytest.raises(KeyboardInterrupt):
        plugins.load(f"{name}:f")


def test_where_a_function_comes_from_is_known_without_importing_it(tmp_path: Path) -> None:
    module = write_module(tmp_path, "1 / 0")
    (tmp_path / "pack_age" / "inner").mkdir(parents=True)
    (tmp_path / "pack_age" / "one.py").write_text("1 / 0")  # a package without __init__.py
    (tmp_path / "pack_age" / "inner" / "__init__.py").write_text("1 / 0")
    plugins.search([tmp_path])
    assert plugins.where(f"{module}:f") == str(tmp_path / f"{module}.py")
    assert plugins.where("pack_age.one:f") == str(tmp_path / "pack_age" / "one.py")
    assert plugins.where("pack_age.inner:f") == str(tmp_path / "pack_age" / "inner" / "__init__.py")
    assert plugins.where("nowhere:f") == ""
    assert not {module, "pack_age"} & set(sys.modules)


def test_a_library_keeps_its_name(tmp_path: Path) -> None:
    """A file beside the config that is called like a library's is not imported, and that is said."""
    (tmp_path / "wave.py").write_text(FIRST_ROW)
    with pytest.raises(
        ValueError, match=r"another module of that name, .*wave\.py, hides .*wave\.py; rename it"
    ) as caught:
        load_experiment(write_config(tmp_path, "wave:open"))
    assert str(tmp_path / "wave.py") in str(caught.value)


def test_two_configs_with_modules_of_one_name(tmp_path: Path) -> None:
    """The second one would be run with the first one's function."""
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir(), two.mkdir()
    name = write_module(one, FIRST_ROW)
    (two / f"{name}.py").write_text(FIRST_ROW.replace("== 0", "== 1"))
    assert load_experiment(write_config(one, f"{name}:first"))
    with pytest.raises(ValueError, match="hides"):
        load_experiment(write_config(two, f"{name}:first"))


def test_a_config_without_functions_leaves_the_path_alone(tmp_path: Path) -> None:
    before = list(sys.path)
    load_experiment(write_config(tmp_path, "hcc"))
    assert sys.path == before


# Functions handed over


def closure(row: int) -> Any:
    def inner(table: Any, impurity: str) -> Any:
        return np.arange(len(table)) == row

    return inner


def at_module_level(table: Any, impurity: str) -> Any:
    return np.arange(len(table)) == 0


@dataclass
class Callable:  # its instances have no hash
    row: int

    def __call__(self, table: Any, impurity: str) -> Any:
        return np.arange(len(table)) == self.row


NAMES = {
    "lambda": (lambda table, impurity: None, "tests.engine.test_plugins:lambda"),
    "closure": (closure(0), "tests.engine.test_plugins:inner"),
    "object": (Callable(0), "tests.engine.test_plugins:Callable"),
    "partial": (functools.partial(closure, 0), "functools:partial"),
    "at module level": (at_module_level, "tests.engine.test_plugins:at_module_level"),
}


@pytest.mark.parametrize("case", NAMES)
def test_functions_get_names(case: str) -> None:
    function, name = NAMES[case]
    assert plugins.hand_over(function) == name
    assert plugins.is_plugin(name)
    assert plugins.load(name) is function


@pytest.mark.parametrize("module", ["my-script", "3d", "", "=cmd", "a..b", None])
def test_modules_with_odd_names(module: Any) -> None:
    def function(table: Any, impurity: str) -> None:
        pass

    function.__module__ = module
    name = plugins.hand_over(function)
    assert plugins.is_plugin(name)
    assert plugins.load(name) is function


def test_functions_of_one_name_are_told_apart() -> None:
    """Also a splitter from an impurity: all are lambdas, or called f."""
    one, two, f = closure(0), closure(1), closure(2)
    named = with_functions_named({"splitters": [one, "lca", two, one], "impurities": f})
    name = "tests.engine.test_plugins:inner"
    assert named == {"splitters": [name, "lca", f"{name}_2", name], "impurities": [f"{name}_3"]}
    assert [plugins.load(f"{name}{end}") for end in ("", "_2", "_3")] == [one, two, f]


def test_lists_of_names_are_left_as_they_are() -> None:
    config = {"splitters": ("lca", 3), "impurities": "gini", "grid": []}
    assert with_functions_named(config) == config


# Fingerprints


def test_a_fingerprint_is_that_of_the_files(tmp_path: Path) -> None:
    helper = write_module(tmp_path, FIRST_ROW)
    module = write_module(tmp_path, f"from {helper} import first\n")
    plugins.search([tmp_path])
    name, seen = f"{module}:first", []

    def look(forget: tuple[str, ...]) -> None:
        for forgotten in forget:
            del sys.modules[forgotten]
        importlib.invalidate_caches()
        seen.append(plugins.fingerprint(name))

    look(())
    look((module, helper))
    (tmp_path / f"{module}.py").write_text(f"from {helper} import first  # again\n")
    look(())  # what was imported before is what runs
    look((module, helper))
    (tmp_path / f"{helper}.py").write_text(FIRST_ROW + "# again\n")
    look((module, helper))
    assert seen[0] == seen[1] == seen[2]
    assert len(set(seen)) == 3


def test_closures_have_fingerprints_of_their_own() -> None:
    one, two = closure(0), closure(0)
    prints = [plugins.fingerprint(plugins.hand_over(function)) for function in (one, two, one)]
    assert prints[0] == prints[2] != prints[1]


def test_another_process_gets_the_same_functions(tmp_path: Path) -> None:
    module = write_module(tmp_path, FIRST_ROW)
    plugins.search([tmp_path])
    handed, imported = plugins.hand_over(closure(3)), f"{module}:first"
    content = plugins.packed([handed, imported, "gini"])
    assert content is not None
    plugins.hand_over(closure(1))
    plugins.unpack(content)
    assert plugins.load(handed)(np.eye(5), "gini").tolist() == [False, False, False, True, False]
    other = plugins.packed([imported])
    (tmp_path / f"{module}.py").write_text(FIRST_ROW + "# edited meanwhile\n")
    importlib.reload(sys.modules[module])
    assert other is not None
    with pytest.raises(ValueError, match=rf"{module}\.py is not what it was when it was imported"):
        plugins.unpack(other)


def test_what_cannot_be_sent_is_not() -> None:
    lock = threading.Lock()
    assert plugins.packed([plugins.hand_over(lambda table, impurity: lock)]) is None


# The command line


def test_the_command_line_says_what_it_imports(
    elsewhere: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beside, here = write_module(tmp_path, FIRST_ROW), write_module(elsewhere, FIRST_ROW)
    path = write_config(tmp_path, "lca", f"{beside}:first", f"{here}:first+hd", f"{here}:first")
    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().err.splitlines()
    assert len([line for line in said if line.startswith("importing ")]) == 2  # each function once
    assert f"importing {beside}:first from {tmp_path / beside}.py" in said
    assert f"importing {here}:first from {elsewhere / here}.py" in said


@pytest.mark.parametrize("end", ["", "+hd"])
def test_no_plugins(end: str, elsewhere: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"{write_module(elsewhere, '1 / 0')}:first{end}"
    table = tmp_path / "table.csv"
    table.write_text("1,2\n3,1\n")
    for command in (["run", str(write_config(tmp_path, name))], ["split", str(table), "--splitter", name]):
        assert main([*command, "--no-plugins"]) == 2
        said = capsys.readouterr().err
        assert "names a function to import, which --no-plugins refuses" in said
        assert said.count("\n") == 1
    assert not (elsewhere / "results").exists()


def test_stored_results_are_read_without_importing(
    elsewhere: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = write_module(elsewhere, FIRST_ROW)
    out = str(tmp_path / "out")
    assert main(["run", str(write_config(tmp_path, f"{module}:first")), "--out", out]) == 0
    shown = capsys.readouterr().out
    del sys.modules[module]
    (elsewhere / f"{module}.py").write_text("raise AssertionError('imported')")
    for command in ("report", "compare"):
        assert main([command, out]) == 0
    assert shown in capsys.readouterr().out
    assert module not in sys.modules


def test_results_of_functions_handed_over_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def mine(table: Any, impurity: str) -> Any:
        return np.arange(len(table)) == 0

    mine.__module__ = "__main__"
    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 20}]
    config = {"name": "t", "impurities": ["gini"], "splitters": ["lca", mine], "grid": grid}
    out = tmp_path / "out"
    splitlab.run(config, out=out)
    plugins._handed_over.clear()  # as in another session
    assert main(["report", str(out)]) == 0
    capsys.readouterr()
    assert main(["replay", str(out), "--n", "4", "--k", "3", "--run", "3"]) == 0
    shown = capsys.readouterr().out
    assert "__main__:mine cannot be used" in shown
    assert "only the program that made it has it" in shown
    assert "These are the impurities that the folder holds." in shown  # those of lca
