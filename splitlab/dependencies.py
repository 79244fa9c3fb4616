"""What a user-defined function depends on: its own modules, and the packages that these import.

The user's modules are those that lie in no folder of installed packages. They are found by following the imports of
the function's file, and read, not imported. An edit in any of them changes the function's fingerprint. Of packages the
versions are recorded.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from splitlab import plugins

INSTALLED = ("site-packages", "dist-packages")  # the folders of installed packages


@dataclass(frozen=True)
class Dependencies:
    """What a function depends on.

    Attributes
    ----------
    files : dict of str -> str
        A hash of each of the user's source files, by the name under which its module is imported.
    packages : dict of str -> str
        The version of each installed package that these import.
    """

    files: dict[str, str]
    packages: dict[str, str]


@dataclass(frozen=True, eq=False)
class _Function:
    """A function by its identity: not all of them have a hash."""

    function: Any

    def __hash__(self) -> int:
        return id(self.function)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Function) and other.function is self.function


def dependencies(name: str) -> Dependencies:
    """What the function of that name depends on, as it was when it was first looked at; ValueError if there is none."""
    return _dependencies(name, _Function(plugins.load(name)))


@cache
def _dependencies(name: str, of: _Function) -> Dependencies:
    files: dict[str, str] = {}
    roots: set[str] = set()
    own = _modules_of(name, of.function)
    seen: set[str] = set()
    to_read = [*own, *(() if any(map(_file, own)) else _named_in(of.function))]
    while to_read:
        module = to_read.pop()
        root = module.partition(".")[0]
        if module in seen or root in sys.stdlib_module_names or (root == plugins.OURS and module not in own):
            continue
        seen.add(module)
        path = _file(module)
        if any(part in INSTALLED for part in (path or _file(root) or Path()).parts):
            roots.add(root)
        elif path and path.suffix == ".py":
            content = path.read_bytes()
            files[_label(module, path)] = hashlib.sha256(content).hexdigest()[:16]
            to_read += _imported(content, module, path)
    return Dependencies(dict(sorted(files.items())), _versions(roots))


def _modules_of(name: str, function: Any) -> list[str]:
    """The modules that a function and its name come from: the files that its fingerprint by itself covers."""
    modules = [name.partition(":")[0]]
    with suppress(TypeError):  # not everything that can be called has a module
        if found := inspect.getmodule(inspect.unwrap(function)):
            modules.append(found.__name__)
    return list(dict.fromkeys(modules))


def _named_in(function: Any) -> Iterator[str]:
    """The modules of what a function of a notebook, which has no file, uses by name."""
    for name in getattr(getattr(function, "__code__", None), "co_names", ()):
        value = function.__globals__.get(name)
        if module := value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None):
            yield module


def fingerprint(name: str) -> str:
    """Hash of the code behind a function: of its own file, and of the user's modules that this imports.

    A function that imports none has the fingerprint of its file.
    """
    own, found = plugins.fingerprint(name), dependencies(name).files
    covered = {_label(module, path) for module in _modules_of(name, plugins.load(name)) if (path := _file(module))}
    helpers = sorted((label, mark) for label, mark in found.items() if label not in covered)
    return hashlib.sha256(f"{own} {helpers}".encode()).hexdigest()[:16] if helpers else own


def described(names: Iterable[str]) -> dict[str, dict[str, dict[str, str]]]:
    """For a manifest: files and packages of each function."""
    found = {name: dependencies(name) for name in dict.fromkeys(names)}
    return {name: {"files": each.files, "packages": each.packages} for name, each in found.items()}


def user_code_of(error: BaseException) -> str:
    """Where in a user's kind or function an error was raised: file, line and function; empty if it was elsewhere.

    The error was caught by the command line: a user's code is what the package calls behind that.
    """
    frames = traceback.extract_tb(error.__traceback__)
    ours, library = str(Path(__file__).parent), sysconfig.get_path("stdlib")
    for frame in reversed(frames):
        path = Path(frame.filename)
        if any(part in INSTALLED for part in path.parts) or frame.filename.startswith((library, "<frozen")):
            continue  # what raised it is a library; the question is who called that
        if path.is_relative_to(ours) or not any(f.filename.startswith(ours) for f in frames[1:]):
            return ""
        return f"{frame.filename}, line {frame.lineno}, in {frame.name}"
    return ""


def _file(module: str) -> Path | None:
    """The file of a module, found without importing anything; None if it has none, or there is no such module."""
    file: str | None = None
    root, *inner = module.split(".")
    if module in sys.modules:
        file = getattr(sys.modules[module], "__file__", None)
    else:
        with suppress(ImportError, ValueError):
            if spec := importlib.util.find_spec(root):
                folders = spec.submodule_search_locations or () if inner else ()
                places = (Path(folder, *inner) for folder in folders)
                both = (path for place in places for path in (place / "__init__.py", place.with_suffix(".py")))
                file = next((str(path) for path in both if path.is_file()), None) if inner else spec.origin
    return Path(file) if file and Path(file).is_file() else None


def _label(module: str, path: Path) -> str:
    """The name of a module's file below the folder from which it is imported."""
    parts = module.split(".") if module != "__main__" else [path.stem]
    return "/".join([*parts, "__init__.py"] if path.name == "__init__.py" else [*parts[:-1], path.name])


def _imported(content: bytes, module: str, path: Path) -> Iterator[str]:
    """The modules that a file may import, by their full names."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    try:
        tree = ast.parse(content)
    except SyntaxError:  # what cannot be imported decides nothing
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = f"{'.' * node.level}{node.module or ''}"
            with suppress(ImportError, ValueError):  # beyond the top: its import would fail, too
                full = importlib.util.resolve_name(base, package) if node.level else base
                yield full
                yield from (f"{full}.{alias.name}" for alias in node.names)  # a module, or something out of one


def _versions(roots: Iterable[str]) -> dict[str, str]:
    """The versions of the distributions that hold these packages."""
    if not (wanted := sorted(roots)):
        return {}
    holders = packages_distributions()
    return {name: version(name) for root in wanted for name in dict.fromkeys(holders.get(root, ()))}
