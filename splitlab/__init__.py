"""splitlab: Monte Carlo experiments on splitting nominal attributes into two groups of small impurity.

>>> import splitlab
>>> splitlab.split([[5, 0], [0, 5], [4, 1]]).left.tolist()
[False, True, False]
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # typing itself takes longer to load than everything here
if TYPE_CHECKING:
    from typing import Any

    from splitlab import impurity, splitters
    from splitlab.api import Split, Splits, gain, split
    from splitlab.contract import check
    from splitlab.kinds.splits.results import Results
    from splitlab.study import load, run

__version__ = "0.1.0"
__all__ = ["Results", "Split", "Splits", "check", "gain", "impurity", "load", "run", "split", "splitters"]

# Loaded on first use: numba and pandas take their time, and `splitlab --help` needs neither.
_LAZY = {
    "split": "splitlab.api",
    "Split": "splitlab.api",
    "Splits": "splitlab.api",
    "gain": "splitlab.api",
    "check": "splitlab.contract",
    "run": "splitlab.study",
    "load": "splitlab.study",
    "Results": "splitlab.kinds.splits.results",
}
_MODULES = ("impurity", "splitters")  # which can also be called


class _Impurity(ModuleType):
    """The module of that name, which is also the function ``splitlab.impurity(table, left, impurity)``."""

    def __call__(self, *arguments: Any, **options: Any) -> float:
        value: float = import_module("splitlab.api").impurity(*arguments, **options)
        return value


class _Package(ModuleType):
    """This package, which makes its module ``impurity`` one that can be called as soon as that is loaded.

    The module cannot say so itself: the fingerprints of stored results depend on what is in its file.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "impurity":
            value.__class__ = _Impurity
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"splitlab.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'splitlab' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY, *_MODULES])
