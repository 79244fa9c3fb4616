"""Which source files of the package a function depends on, found by following imports, and a hash of these.

Stored results, compiled code and times are good as long as the code behind them is the same. What that code is follows
from the imports: the file that holds the function, the files of the package that it imports, the files that those
import, and so on. The files are read and not imported, so that asking loads nothing.

Imports within functions count. Imports for type checkers only do not, and an import of a module does not count as one
of the packages around it. The walk ends at the modules that hand out splitters by name (``BY_NAME``): what they hand
out is no part of whoever asks, and has a hash to itself.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent
BY_NAME = ("splitlab", "splitlab.splitters", "splitlab.splitters.catalogue", "splitlab.splitters.registry")


def source_files(*origins: str | Callable[..., Any], package: Path = PACKAGE) -> tuple[str, ...]:
    """The files that the given modules, or the modules of the given functions, depend on.

    Parameters
    ----------
    *origins : str or callable
        Names of modules of the package, or functions in them.
    package : pathlib.Path
        The folder of the package, or of a copy of it.

    Returns
    -------
    tuple of str
        Paths relative to the package, each once, sorted.

    Examples
    --------
    >>> source_files("splitlab.splitters.kernels.simd_format")[-1]
    'splitters/kernels/simd_format.py'
    """
    found: set[Path] = set()
    to_read = [_file(origin if isinstance(origin, str) else origin.__module__, package) for origin in origins]
    while to_read:
        path = to_read.pop()
        if path is not None and path not in found:
            found.add(path)
            to_read += [_file(name, package) for name in imported_modules(path, package) if name not in BY_NAME]
    return tuple(sorted(path.relative_to(package).as_posix() for path in found))


def source_hash(*origins: str | Callable[..., Any], package: Path = PACKAGE) -> str:
    """Hash of the files that the given modules or functions depend on, names included."""
    return _hash(source_files(*origins, package=package), package)


def package_hash() -> str:
    """Hash of every source file of the package."""
    return _hash(tuple(sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))), PACKAGE)


def _hash(files: tuple[str, ...], package: Path) -> str:
    digest = hashlib.sha256()
    for name in files:
        digest.update(name.encode() + b"\0" + (package / name).read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def imported_modules(path: Path, package: Path = PACKAGE) -> frozenset[str]:
    """The modules of the package that a file imports, by their full names.

    They are remembered: a file that is edited while the program runs is not read again for its imports.
    """
    names = set()
    for node in _running_code(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, path, package)
            for alias in node.names:  # ``from a import b`` may take the module a.b, or something out of a
                inner = f"{module}.{alias.name}"
                names.add(inner if _file(inner, package) else module)
    return frozenset(name for name in names if _file(name, package))


def _running_code(node: ast.AST) -> Iterator[ast.AST]:
    """The statements below ``node`` that can run: all but the bodies of ``if TYPE_CHECKING``.

    Expressions are passed over, which is most of a file: an import is a statement.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            if isinstance(child, ast.If) and _is_for_type_checkers(child.test):
                for part in child.orelse:
                    yield part
                    yield from _running_code(part)
            else:
                yield from _running_code(child)


def _is_for_type_checkers(test: ast.expr) -> bool:
    """Whether a condition is ``TYPE_CHECKING`` or ``typing.TYPE_CHECKING``."""
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def _absolute(node: ast.ImportFrom, path: Path, package: Path) -> str:
    """The full name of the module that a ``from`` import names, be it relative or not."""
    if not node.level:
        return node.module or ""
    parts = [package.name, *path.relative_to(package).parts]
    return ".".join([*parts[: len(parts) - node.level], *([node.module] if node.module else [])])


def _file(module: str, package: Path) -> Path | None:
    """The file of a module of the package; None for other modules."""
    first, *parts = module.split(".")
    if first != package.name:
        return None
    path = package.joinpath(*parts)
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)
