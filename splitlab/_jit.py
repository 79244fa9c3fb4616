"""The one decorator for compiled functions, and where their machine code is kept.

Numba's disk cache looks only at the file that holds a function: after an edit in an *imported* file the old
machine code would go on being used. So the cache folder's name contains a hash of all source files that the function
depends on (``sources``) and of the versions that compile it; an edit in any of them leads to a new folder.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from splitlab.sources import PACKAGE, source_hash

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Nobody calls a kernel by its C address, so that entry point need not be compiled.
OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}

F = TypeVar("F", bound=Callable[..., Any])


def _candidates() -> list[Path]:
    """Where the cache may go, best first; a home folder is not always there or writable."""
    folders = []
    if os.environ.get("SPLITLAB_CACHE"):
        folders.append(Path(os.environ["SPLITLAB_CACHE"]))
    if os.environ.get("XDG_CACHE_HOME"):
        folders.append(Path(os.environ["XDG_CACHE_HOME"]) / "splitlab")
    if os.environ.get("HOME"):
        folders.append(Path(os.environ["HOME"]) / ".cache" / "splitlab")
    folders.append(Path(tempfile.gettempdir()) / f"splitlab-{os.getuid() if hasattr(os, 'getuid') else 'user'}")
    return folders


def _usable(root: Path, key: str) -> bool:
    """Whether a folder ``key`` can be made in ``root`` that takes a file, and both are private.

    Numba's cache files are pickles: who can write there can have any code run. So both folders must be the user's own,
    and nobody else may write to them.
    """
    try:
        (root / key).mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid"):
            for folder in (root, root / key):
                status = folder.stat()
                if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                    return False
        with tempfile.TemporaryFile(dir=root / key):
            return True
    except OSError:
        return False


@cache
def cache_folder(module: str = __name__) -> Path:
    """The folder for a module's compiled code: a new one for every state of its sources and of the compiler."""
    versions = f"{numba.__version__} {llvmlite.__version__} {np.__version__} {platform.python_version()}"
    sources = source_hash(module, __name__)  # this file says how to compile
    key = hashlib.sha256(f"{PACKAGE} {module} {sources} {versions}".encode()).hexdigest()[:20]
    for root in _candidates():
        if _usable(root, key):
            return root / key
    return Path(tempfile.mkdtemp(prefix="splitlab-"))


def kernel(function: F) -> F:
    """Compile ``function`` on first use: no Python objects, no GIL, machine code cached on disk.

    Numba reads its cache folder at decoration, so it is set for just that moment; the caller's own Numba
    functions keep theirs.
    """
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder(function.__module__))
    try:
        compiled: Any = numba.njit(function, **OPTIONS)
        return compiled
    finally:
        config.CACHE_DIR = before


def _call_at(typing_context: Any, address: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        pointer = builder.inttoptr(arguments[0], ir.FunctionType(double, [double]).as_pointer())
        return builder.call(pointer, [arguments[1]])

    return types.float64(types.int64, types.float64), generate


# call_at(address, x), within a kernel: the value at x of the compiled function float64 -> float64 at an address.
call_at: Any = intrinsic(_call_at)
