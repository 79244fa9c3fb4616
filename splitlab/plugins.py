"""User-defined functions, named ``package.module:function``: how such a name becomes a function, and back.

A function is looked for among those handed over from Python, and then imported. For an import the folders that
``search`` was told of (a config's, the current one) stand behind everything else on the path, so that a file there
cannot take the place of a library's module by its name; ``hidden`` says which file would.

Handing over and searching change the state of the interpreter, as imports do; that state lives here and nowhere else.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import pickle
import re
import secrets
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

Function = Callable[..., Any]

NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
OURS = __name__.partition(".")[0]

_handed_over: dict[str, Function] = {}
_fingerprints: dict[tuple[str, int], tuple[Function, str]] = {}  # holds the function: its id is not given out again


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
    importlib.invalidate_caches()  # else a file that has just been written may not be seen


def hand_over(function: Function, taken: dict[str, Function] | None = None) -> str:
    """Make a function known by the names of its module and itself; that name is returned.

    In ``taken`` are the names that other functions have already: where there is one of this name, a number is added.
    """
    taken = {} if taken is None else taken
    base = name = _name_of(function)
    number = 2
    while taken.setdefault(name, function) is not function:
        name, number = f"{base}_{number}", number + 1
    if _attribute(name) is function and not name.startswith("__main__:"):
        _handed_over.pop(name, None)  # it can be imported everywhere
    else:
        _handed_over[name] = function
    return name


def _name_of(function: Function) -> str:
    """Where the function says that it comes from, as far as a name can say so."""
    module = re.sub(r"[^A-Za-z0-9_.]", "_", getattr(function, "__module__", None) or "")
    own = re.sub(r"[^A-Za-z0-9_]", "", getattr(function, "__name__", None) or type(function).__name__)
    return f"{module}:{own}" if is_plugin(f"{module}:{own}") else "python:function"


def _attribute(name: str) -> Function | None:
    """What a module that has been imported holds under the name of a function."""
    module, _, own = name.partition(":")
    return getattr(sys.modules.get(module), own, None)


def load(name: str) -> Function:
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
        hint = "; only the program that made it has it" if module_name == "__main__" else ""
        raise ValueError(f"{name}: {_file(module)} has no function {function_name!r}{hint}")
    if not callable(function):
        raise ValueError(f"{name}: {function_name!r} in {_file(module)} is a {type(function).__name__}, no function")
    if module_name == "__main__":
        _handed_over[name] = function
    result: Function = function
    return result


def _import(module_name: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        if not (module_name == missing or module_name.startswith(f"{missing}.")):
            raise ValueError(f"{module_name}: its import fails: no module named {missing!r}") from None
        searched = "the config's folder, the current one, or the environment"
        raise ValueError(f"{module_name}: there is no module {missing!r} in {searched}") from None
    except (Exception, SystemExit) as error:  # a script without a main guard may call sys.exit
        raise ValueError(f"{module_name}: its import fails: {in_one_line(error)}") from None


def in_one_line(error: BaseException) -> str:
    """The type of an error and its message, which may have been of several lines."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _file(module: Any) -> str:
    return getattr(module, "__file__", None) or module.__name__


def where(name: str) -> str:
    """The file that a function comes from, found without importing it; empty if there is none."""
    if name in _handed_over:
        return "Python, where it was handed over"
    first, *inner = name.partition(":")[0].split(".")
    try:
        top = importlib.util.find_spec(first)
    except (ImportError, ValueError):
        return ""
    if top is None:
        return ""
    folders = top.submodule_search_locations or () if inner else ()
    return next((str(f) for folder in folders for f in _files(folder, inner) if f.is_file()), top.origin or "")


def _files(folder: str | os.PathLike[str], parts: list[str]) -> tuple[Path, Path]:
    """Where a module may lie in a folder: as a package, or as a file."""
    return Path(folder, *parts, "__init__.py"), Path(folder, *parts[:-1], f"{parts[-1]}.py")


def hidden(name: str, folders: Iterable[str | os.PathLike[str]]) -> str:
    """The file in these folders that the name seems to mean, if another module of that name is in its place."""
    parts = name.partition(":")[0].split(".")
    files = [file for folder in folders for file in _files(folder, parts) if file.is_file()]
    if not files or name in _handed_over or parts[0] == OURS:
        return ""
    found = where(name)
    return "" if found and Path(found).resolve() == files[0].resolve() else str(files[0])


def fingerprint(name: str) -> str:
    """Hash of the code behind a function: of the files that it and its name come from, when they were first looked at.

    A lambda, a closure, or what was typed in a notebook depends on things that no file shows: its fingerprint is
    random, so that no other session takes its stored results for those of another function.
    """
    function = load(name)
    key = name, id(function)
    if key not in _fingerprints:
        code = name.encode() + b"\0" + (_code(name, function) or secrets.token_bytes())
        _fingerprints[key] = function, hashlib.sha256(code).hexdigest()[:16]
    return _fingerprints[key][1]


def _code(name: str, function: Function) -> bytes:
    """The content of the files that a function comes from; empty if they do not tell all of it."""
    files = [getattr(sys.modules.get(name.partition(":")[0]), "__file__", None)]
    with suppress(TypeError):  # not everything that can be called has a file
        files.append(inspect.getsourcefile(inspect.unwrap(function)))
    with suppress(OSError):
        contents = [Path(file).read_bytes() for file in dict.fromkeys(files) if file]
        if contents and _attribute(name) is function:
            return b"\0".join(contents)
    return b""


def packed(names: Iterable[str]) -> bytes | None:
    """What another process needs to have the same functions; None where one cannot be sent."""
    import joblib

    mine = sorted({name for name in names if is_plugin(name)})
    functions = {name: _handed_over[name] for name in mine if name in _handed_over}
    if not all(name in functions or _code(name, load(name)) for name in mine):
        return None  # whether it is the same there cannot be told
    content = functions, {name: fingerprint(name) for name in mine if name not in functions}
    with suppress(Exception):  # an object may do anything when it is pickled
        return pickle.dumps(joblib.wrap_non_picklable_objects(content, keep_wrapper=False))
    return None


@lru_cache(maxsize=1)
def unpack(content: bytes) -> None:
    """Have the functions that another process ``packed``; ValueError where a file changed after its import there."""
    functions, fingerprints = pickle.loads(content)
    _handed_over.update(functions)
    for name, expected in fingerprints.items():
        _handed_over.pop(name, None)
        if fingerprint(name) != expected:
            raise ValueError(f"{name}: {where(name)} is not what it was when it was imported; start again")
