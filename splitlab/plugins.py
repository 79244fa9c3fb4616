"""Functions of one's own, named ``package.module:function``: how such a name becomes a function.

A function is looked for among those handed over from Python, and then imported. For an import the folders that
``search`` was told of (a config's, the current one) stand behind everything else on the path, so that a file there
cannot take the place of a library's module by its name; a file that would is pointed out.

Handing over and searching change the state of the interpreter, as imports do; that state lives here and nowhere else.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")

_handed_over: dict[str, Callable[..., Any]] = {}


def is_plugin(name: object) -> bool:
    """Whether ``name`` has the form ``package.module:function``.

    Examples
    --------
    >>> is_plugin("my.module:function"), is_plugin("hcc")
    (True, False)
    """
    return isinstance(name, str) and NAME.fullmatch(name) is not None


def search(folders: Iterable[str | os.PathLike[str]]) -> None:
    """Let modules be imported from these folders too."""
    for folder in folders:
        path = str(Path(folder).resolve())
        if path not in sys.path:
            sys.path.append(path)


def hand_over(function: Callable[..., Any], name: str | None = None) -> str:
    """Make a function known by a name, its module's and its own unless ``name`` is given; the name is returned."""
    if name is None:
        own = getattr(function, "__name__", type(function).__name__)
        name = f"{getattr(function, '__module__', None) or 'unknown'}:{re.sub(r'[^A-Za-z0-9_]', '', own) or 'function'}"
    _handed_over[name] = function
    return name


def handed_over(names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """Those of these functions that were handed over: another process cannot import them by their names."""
    return {name: _handed_over[name] for name in names if name in _handed_over}


def load(name: str) -> Callable[..., Any]:
    """The function of that name.

    Raises ValueError, in one line, when the name has another form, the module cannot be found or fails when it is
    imported, or has no such function.
    """
    if name in _handed_over:
        return _handed_over[name]
    if not is_plugin(name):
        raise ValueError(f"{name!r} does not name a function; write package.module:function")
    module_name, _, function_name = name.partition(":")
    module = _import(module_name)
    function = getattr(module, function_name, None)
    if function is None:
        raise ValueError(f"{name}: {_file(module)} has no function {function_name!r}")
    if not callable(function):
        raise ValueError(f"{name}: {function_name!r} in {_file(module)} is a {type(function).__name__}, no function")
    result: Callable[..., Any] = function
    return result


def _import(module_name: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        if not (module_name == missing or module_name.startswith(f"{missing}.")):
            raise ValueError(f"{module_name}: its import fails: no module named {missing!r}") from None
        beside = [str(path) for folder in sys.path for path in [Path(folder or ".", *missing.split(".")[:1])]]
        shadowed = next((p for p in beside if Path(f"{p}.py").is_file() or Path(p).is_dir()), None)
        hint = f"; another module of the same name hides {shadowed}" if shadowed and missing == module_name else ""
        raise ValueError(
            f"{module_name}: there is no module {missing!r} in the config's folder, the current one, or the "
            f"environment{hint}"
        ) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may fail in any way, even by leaving the program
        raise ValueError(f"{module_name}: its import fails: {type(error).__name__}: {error}") from None


def _file(module: Any) -> str:
    return getattr(module, "__file__", None) or module.__name__


def where(name: str) -> str:
    """The file that a function of one's own comes from, found without importing it; or how it came here."""
    if name in _handed_over:
        return "handed over from Python"
    module_name = name.partition(":")[0]
    try:
        top = importlib.util.find_spec(module_name.partition(".")[0])
    except (ImportError, ValueError):
        top = None
    if top is None or not top.origin:
        return "not found"
    inner = Path(top.origin).parent.joinpath(*module_name.split(".")[1:])
    for file in (inner.with_suffix(".py"), inner / "__init__.py"):
        if "." in module_name and file.is_file():
            return str(file)
    return str(top.origin)


def fingerprint(name: str) -> str:
    """Hash of the code behind a function: of its module's file where there is one, else of what Python compiled."""
    function = load(name)
    try:
        content = Path(inspect.getsourcefile(inspect.unwrap(function)) or "").read_bytes()
    except (TypeError, OSError):
        code = getattr(function, "__code__", None)
        content = repr((code.co_code, code.co_consts, code.co_names)).encode() if code else repr(function).encode()
    return hashlib.sha256(name.encode() + b"\0" + content).hexdigest()[:16]
