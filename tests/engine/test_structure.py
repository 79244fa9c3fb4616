"""The shape of the library: what imports what, what is loaded when, and that compiled code follows its sources."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from splitlab.kinds import KINDS
from tests.helpers import ROOT

PACKAGE = ROOT / "splitlab"

# Each room may import from itself and from the rooms above it.
ROOMS = [
    {"text", "sources", "statistics", "plugins", "processes", "notebook", "ticker"},
    {"files", "_jit", "shipped", "dependencies"},
    {"custom_impurity", "examples"},
    {"impurity", "tables"},
    {"splitters"},
    {"api", "bounds", "contract"},
    {"trees"},
    {"published"},
    {"report"},
    {"engine"},
    {"adversary"},
    {"kinds"},
    {"kinds.random_tables"},
    {"kinds.splits"},
    {"kinds.timing"},
    {"kinds.data_sets"},
    {"kinds.optimality", "kinds.trees", "kinds.criteria"},
    {"study"},
    {"cli"},
    {"__main__"},
]
# The only room besides kinds that knows one of them: its commands are about trees.
KNOWS_TREES = "splitlab.cli.trees"


def room(module: str) -> int | None:
    """The number of the room of ``splitlab.X...``; None for other modules and for the package itself."""
    parts = module.split(".")
    if parts[0] != "splitlab" or len(parts) == 1:
        return None
    for name in (".".join(parts[1:3]), parts[1]):
        for number, names in enumerate(ROOMS):
            if name in names:
                return number
    return None


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> set[str]:
    """The modules that a file imports, within functions and for type checkers too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in NAMES else node.module for name in inner}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


SOURCES = sorted(PACKAGE.rglob("*.py"))
NAMES = {module_name(path) for path in SOURCES}


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_imports_go_one_way(path: Path) -> None:
    name = module_name(path)
    own = room(name)
    assert own is not None or name == "splitlab", f"{name} is in no room"
    for imported in imports(path):
        other = room(imported)
        if own is not None and other is not None:
            assert other <= own, f"{name} imports {imported}"


def test_no_module_imports_itself_by_a_detour() -> None:
    # The package itself loads its parts when they are asked for, and is left out.
    modules = [path for path in SOURCES if path != PACKAGE / "__init__.py"]
    left = {module_name(path): imports(path) & NAMES - {"splitlab"} for path in modules}
    while left:
        free = {name for name, imported in left.items() if not imported & left.keys() - {name}}
        assert free, f"a circle of imports among {', '.join(sorted(left))}"
        left = {name: imported for name, imported in left.items() if name not in free}


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_only_kinds_know_kinds(path: Path) -> None:
    name = module_name(path)
    if not name.startswith(("splitlab.engine", "splitlab.report", "splitlab.cli")) or name == KNOWS_TREES:
        return
    assert not {imported for imported in imports(path) if imported.startswith("splitlab.kinds.")}
    words = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
    assert not words & set(KINDS)


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_habits(path: Path) -> None:
    text = path.read_text()
    assert "np.random.seed" not in text
    assert "pyplot" not in text


HEAVY = ("numba", "pandas", "scipy", "sklearn", "matplotlib")


@pytest.mark.parametrize(
    "code",
    [
        "import splitlab",
        "import splitlab; splitlab.splitters()",
        "import splitlab.trees; dir(splitlab.trees)",
        "import splitlab.cli; splitlab.cli.parser().format_help()",
        "import splitlab.engine.config",
    ],
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    check = f"{code}; import sys; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_edit_of_the_impurity_changes_the_results(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "splitlab", ignore=shutil.ignore_patterns("__pycache__"))
    code = "import splitlab; print(splitlab.split([[3, 1], [1, 2]], 'gini', 'lca').impurity)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "SPLITLAB_CACHE": str(tmp_path / "cache")}

    def value() -> float:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=True)
        return float(done.stdout)

    assert value() == pytest.approx(2 * 3 / 4 + 2 * 2 / 3)
    source = tmp_path / "splitlab" / "impurity.py"
    before = "result += float(c) * (float(total - c) / float(total))"
    text = source.read_text()
    assert text.count(before) == 1
    source.write_text(text.replace(before, before + " * 10.0"))
    assert value() == pytest.approx(10 * (2 * 3 / 4 + 2 * 2 / 3))


def test_the_cache_falls_back_to_a_temporary_folder(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    code = "from splitlab._jit import cache_folder; print(cache_folder())"
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    environment |= {"SPLITLAB_CACHE": str(blocked), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=True)
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)


def test_compiling_leaves_the_users_own_cache_setting_alone() -> None:
    import numba

    from splitlab._jit import cache_folder

    assert str(cache_folder()) != numba.config.CACHE_DIR


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_cache_that_others_can_write_to_is_not_used(tmp_path: Path, mode: int) -> None:
    open_to_all = tmp_path / "shared"
    open_to_all.mkdir()
    open_to_all.chmod(mode)
    code = "from splitlab._jit import cache_folder; print(cache_folder())"
    environment = {**os.environ, "SPLITLAB_CACHE": str(open_to_all), "HOME": str(tmp_path / "home")}
    environment.pop("XDG_CACHE_HOME", None)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=True)
    assert Path(done.stdout.strip()).is_relative_to(tmp_path / "home")
