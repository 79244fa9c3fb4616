"""splitlab: Monte Carlo experiments on splitting nominal attributes into two groups of small impurity.

>>> import splitlab
>>> splitlab.split([[5, 0], [0, 5], [4, 1]]).left.tolist()
[False, True, False]
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing itself takes longer to load than everything here
if TYPE_CHECKING:
    from typing import Any

    from splitlab import splitters
    from splitlab.api import Split, split
    from splitlab.kinds.splits.results import Results
    from splitlab.study import run

__version__ = "0.1.0"
__all__ = ["Results", "Split", "run", "split", "splitters"]

# Loaded on first use: numba and pandas take their time, and `splitlab --help` needs neither.
_LAZY = {
    "split": "splitlab.api",
    "Split": "splitlab.api",
    "run": "splitlab.study",
    "Results": "splitlab.kinds.splits.results",
}


def __getattr__(name: str) -> Any:
    if name == "splitters":
        return import_module("splitlab.splitters")
    if name not in _LAZY:
        raise AttributeError(f"module 'splitlab' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY, "splitters"])
