"""Splitters: one family per file, all built on one prefix sweep, listed in one registry.

The package itself can be called: ``splitlab.splitters()`` is the list of all splitters.
"""

import sys
from types import ModuleType

from splitlab.splitters.registry import (
    Splitter,
    fingerprint,
    get,
    known,
    names,
    refuse_hopeless,
    serving,
    split_batch,
    splitters,
    titles,
)

__all__ = [
    "Splitter",
    "fingerprint",
    "get",
    "known",
    "names",
    "refuse_hopeless",
    "serving",
    "split_batch",
    "splitters",
    "titles",
]


class _Callable(ModuleType):
    """A package that is also the function of its name."""

    def __call__(self) -> list[Splitter]:
        return splitters()


sys.modules[__name__].__class__ = _Callable
