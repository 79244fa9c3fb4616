"""Somebody's own splitter: a Python function ``(table, impurity) -> mask``, named ``package.module:function``.

It gets a table, int64 (n, k) without zero rows or columns, and the name of the impurity, and returns the left side as
n booleans, neither side empty. It is called table by table and gets copies, so that it cannot change a table that
others split too. What it returns is checked, and what goes wrong is told by a ``SplitterError``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from splitlab.plugins import load, where
from splitlab.splitters.entry import Splitter

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNKNOWN_NANOSECONDS = 1e6  # of a function that fails on the table by which it is timed


class SplitterError(ValueError):
    """A splitter failed on a table of a batch, or returned no split.

    Attributes
    ----------
    index : int
        The number of the table in the batch.
    """

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message, index)  # both, since pickling makes an error anew from them
        self.index = index

    def __str__(self) -> str:
        """What happened."""
        return str(self.args[0])


def own_splitter(name: str) -> Splitter:
    """The entry of the function of that name, which is loaded when it is needed."""
    return Splitter(
        name=name,
        title=name,
        guarantee="none known",
        cost="not known",
        source=where(name),
        kernel_path=name,
        nanoseconds=lambda n, k: measured_nanoseconds(name, n, k),
        own=True,
    )


@cache
def measured_nanoseconds(name: str, n: int, k: int) -> float:
    """How long the function takes for a table of that size: measured once, on one table."""
    import numpy as np

    table = np.random.default_rng(0).integers(0, 8, (n, k)) + np.eye(n, k, dtype=np.int64)
    table[:, 0] += table.sum(axis=1) == 0
    function = load(name)
    began = time.perf_counter()
    try:
        function(table, "gini")
    except Exception:
        return UNKNOWN_NANOSECONDS
    return max(1000.0, 1e9 * (time.perf_counter() - began))


def split_tables(
    name: str, tables: NDArray[Any], kind: int, masks: NDArray[Any], failures: dict[int, str] | None
) -> None:
    """Fill the masks (b, n) for tables (b, n, k).

    Where the function fails the first row stands alone and ``failures`` gets the number of the table and the reason;
    without ``failures`` the first one is raised as a SplitterError.
    """
    from splitlab.impurity import name_of

    function, impurity = load(name), name_of(kind)
    for t in range(len(tables)):
        found, problem = _called(function, tables[t], impurity)
        if not problem:
            masks[t] = found
        elif failures is None:
            raise SplitterError(f"{name}: {problem}", t)
        else:
            masks[t, 0] = True
            failures[t] = problem


def _called(function: Callable[..., Any], table: NDArray[Any], impurity: str) -> tuple[Any, str]:
    """What the function returns for a table, and what is wrong with it."""
    try:
        found = function(table.copy(), impurity)
    except Exception as error:
        return None, " ".join(f"raised {type(error).__name__}: {error}".splitlines())
    problem = problem_of(found, len(table))
    return found, f"returned {problem}" if problem else ""


def problem_of(mask: Any, n: int) -> str:
    """What is wrong with what a splitter returned for a table of n rows; empty if nothing is."""
    import numpy as np

    try:
        array = np.asarray(mask)
    except Exception as error:
        return f"something that is no array ({type(error).__name__}: {error}); return {n} booleans"
    if array.dtype != np.bool_:
        return f"{type(mask).__name__} of {array.dtype}, not of booleans; return {n} booleans, True for the left side"
    if array.shape != (n,):
        return f"an array of shape {array.shape}; return {n} booleans, one per row of the table"
    if array.all() or not array.any():
        return f"an empty {'right' if array.all() else 'left'} side; a split has rows on both"
    return ""
