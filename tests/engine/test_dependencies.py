"""What a user-defined function depends on: helper modules are watched, and packages recorded with their versions."""

from __future__ import annotations

import importlib
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import splitlab
from splitlab import dependencies, plugins
from splitlab.cli import main
from tests.helpers.own import write_config, write_module

pytestmark = pytest.mark.usefixtures("elsewhere")

FIRST = "import numpy as np\n\ndef first(table, impurity):\n    return np.arange(len(table)) == 0\n"


def package(folder: Path, helper: str) -> str:
    """A package of a user's: a function, its relative and absolute helpers, an import inside a function."""
    name = f"{helper}_package"
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("")
    (folder / name / "deep.py").write_text("import scipy\n")
    source = f"import json\nimport {helper}\nfrom . import deep\nfrom .deep import scipy\n\n"
    source += "def f(table, impurity):\n    from sklearn.tree import DecisionTreeClassifier\n"
    (folder / name / "own.py").write_text(f"{source}    return {helper}.first(table, impurity)\n")
    return name


def test_modules_are_followed_and_packages_recorded(tmp_path: Path) -> None:
    helper = write_module(tmp_path, FIRST)
    name = package(tmp_path, helper)
    plugins.search([tmp_path])
    found = dependencies.dependencies(f"{name}.own:f")
    own = (f"{name}/__init__.py", f"{name}/deep.py", f"{name}/own.py")
    assert set(found.files) == {f"{helper}.py", *own}
    assert found.packages == {p: version(p) for p in ("numpy", "scipy", "scikit-learn")}


def forget(*modules: str) -> None:
    for module in modules:
        sys.modules.pop(module, None)
    importlib.invalidate_caches()


def test_an_edit_of_a_helper_changes_the_fingerprint(tmp_path: Path) -> None:
    helper = write_module(tmp_path, FIRST)
    module = write_module(tmp_path, f"import {helper}\n\ndef f(table, impurity):\n    return {helper}.first(table, 0)")
    plugins.search([tmp_path])
    before = dependencies.fingerprint(f"{module}:f")
    (tmp_path / f"{helper}.py").write_text(f"{FIRST}# edited\n")
    assert dependencies.fingerprint(f"{module}:f") == before  # what was imported before is what runs
    forget(module, helper)
    after = dependencies.fingerprint(f"{module}:f")
    assert after != before
    forget(module, helper)
    assert dependencies.fingerprint(f"{module}:f") == after


def test_a_function_by_itself_keeps_its_fingerprint(tmp_path: Path) -> None:
    """So what was stored before helpers were watched still counts."""
    name = f"{write_module(tmp_path, FIRST)}:first"
    plugins.search([tmp_path])
    assert dependencies.fingerprint(name) == plugins.fingerprint(name)


def test_a_folder_notices_the_edit_and_its_manifest_says_what_ran(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    helper = write_module(tmp_path, FIRST)
    module = write_module(tmp_path, f"from {helper} import first\n\ndef f(t, i):\n    return first(t, i)\n")
    path, out = write_config(tmp_path, "lca", f"{module}:f"), tmp_path / "out"

    def computed() -> int:
        assert main(["run", str(path), "--out", str(out)]) == 0
        capsys.readouterr()
        manifest = json.loads((out / "manifest.json").read_text())
        described = manifest["function_sources"][f"{module}:f"]
        assert list(described["files"]) == sorted([f"{helper}.py", f"{module}.py"])
        assert described["packages"] == {"numpy": np.__version__}
        number: int = manifest["runs_computed"]
        return number

    assert computed() == 20
    assert computed() == 0
    (tmp_path / f"{helper}.py").write_text(FIRST.replace("== 0", "== 1"))
    forget(module, helper)
    assert computed() == 20


def test_manifests_without_functions_say_nothing_of_them(tmp_path: Path) -> None:
    splitlab.run(write_config(tmp_path, "lca"), out=tmp_path / "out")
    assert "function_sources" not in (tmp_path / "out" / "manifest.json").read_text()


def test_a_function_of_a_notebook_tells_the_packages_that_it_uses() -> None:
    scope: dict[str, Any] = {"np": np, "__name__": "a_notebook"}
    exec("def typed(table, impurity):\n    return np.arange(len(table)) == 0", scope)
    found = dependencies.dependencies(plugins.hand_over(scope["typed"]))
    assert (found.files, found.packages) == ({}, {"numpy": np.__version__})


# Errors in a user's code

KIND = """from splitlab.engine.config import Experiment
from splitlab.engine.kind import Kind

class Config(Experiment):
    numbers: tuple[int, ...] = ()

class Mine(Kind):
    Config = Config

    def blocks(self):
        return iter({fault})

    def columns(self, block):
        return ()

    compute = results = sheets = columns
"""


@pytest.mark.parametrize(
    ("fault", "says"), [("nothing", "NameError: name 'nothing' is not defined"), ("1 + 'a'", "TypeError: unsupported")]
)
def test_an_error_in_a_users_kind_names_its_line(
    fault: str, says: str, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = write_module(elsewhere, KIND.format(fault=fault))
    Path("c.yaml").write_text(f"name: k\nkind: {module}:Mine\nnumbers: [1, 2]\n")
    assert main(["run", "c.yaml"]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"splitlab: error: {elsewhere / module}.py, line 11, in blocks: {says}")
