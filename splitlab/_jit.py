"""The one decorator for compiled functions, and where their machine code is kept.

Numba's disk cache looks only at the file that holds a function: after an edit in an *imported* file the old
machine code would go on being used. So the cache folder's name contains a hash of every source file that holds
compiled code and of the versions that compile it; an edit anywhere there leads to a new folder.
"""

from __future__ import annotations

import hashlib
import os
import platform
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

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

PACKAGE = Path(__file__).parent
KERNEL_SOURCES = ("_jit.py", "bounds.py", "impurity.py", "splitters/*.py", "published/program/*.py")

# Nobody calls a kernel by its C address, so that entry point need not be compiled.
OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}

F = TypeVar("F", bound=Callable[..., Any])


def source_hash(patterns: tuple[str, ...] = KERNEL_SOURCES) -> str:
    """Hash of the package's source files that match ``patterns``, names included."""
    digest = hashlib.sha256()
    for pattern in patterns:
        for path in sorted(PACKAGE.glob(pattern)):
            digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


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


def _usable(folder: Path) -> bool:
    """Whether ``folder`` can be made, is ours (nobody else plants machine code in it) and takes a file."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def cache_folder() -> Path:
    """The folder for compiled code: a new one for every state of the sources and of the compiler."""
    versions = f"{numba.__version__} {llvmlite.__version__} {np.__version__} {platform.python_version()}"
    key = hashlib.sha256(f"{PACKAGE} {source_hash()} {versions}".encode()).hexdigest()[:20]
    for root in _candidates():
        if _usable(root / key):
            return root / key
    return Path(tempfile.mkdtemp(prefix="splitlab-"))


def kernel(function: F) -> F:
    """Compile ``function`` on first use: no Python objects, no GIL, machine code cached on disk.

    Numba reads its cache folder at decoration, so it is set for just that moment; the caller's own Numba
    functions keep theirs.
    """
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder())
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
