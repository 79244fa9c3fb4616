"""A user-defined splitter: a Python function ``(table, impurity) -> mask``, named ``package.module:function``.

It gets a table, int64 (n, k) without zero rows or columns, and the name of the impurity, and returns the left side as
n booleans, neither side empty. A randomised one has a third parameter, ``rng``, a numpy Generator that is seeded by the
table. It is called table by table and gets copies, so that it cannot change a table that
others split too. What it returns is checked, and what goes wrong is told by a ``SplitterError``.
"""

from __future__ import annotations

import hashlib
import inspect
import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from splitlab.plugins import fingerprint, in_one_line, load
from splitlab.splitters.entry import Splitter
from splitlab.splitters.guarantee import Guarantee

if TYPE_CHECKING:
    import numpy as np
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
        super().__init__(message, index)  # both, since pickling makes the error again from them
        self.index = index

    def __str__(self) -> str:
        """What happened."""
        return str(self.args[0])


def custom_splitter(name: str) -> Splitter:
    """The entry of the function of that name, which is loaded when it is needed."""
    return Splitter(
        name=name,
        title=name.rpartition(":")[2],
        proven=Guarantee(known=False),
        cost="not known",
        source="a user-defined function",
        kernel_path=name,
        nanoseconds=lambda n, k: measured_nanoseconds(name, fingerprint(name), n, k),
        custom=True,
    )


@cache
def measured_nanoseconds(name: str, version: str, n: int, k: int) -> float:
    """How long the function of that name and fingerprint takes for a table of that size.

    It is called twice, since the first call may have something to import or to compile.
    """
    import numpy as np

    table, function = np.random.default_rng(0).integers(1, 9, (n, k)), load(name)
    took = []
    for _ in range(2):
        began = time.perf_counter()
        if called(function, table.copy(), "gini")[1]:
            return UNKNOWN_NANOSECONDS
        took.append(time.perf_counter() - began)
    return max(1000.0, 1e9 * min(took))


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
        found, problem = called(function, tables[t].copy(), impurity)
        if not problem:
            masks[t] = found
        elif failures is None:
            raise SplitterError(f"{name}: {problem}", t)
        else:
            masks[t, 0] = True
            failures[t] = problem


def takes_generator(function: Callable[..., Any]) -> bool:
    """Whether a function wants random numbers: it has a parameter ``rng`` without a default."""
    try:
        wanted = inspect.signature(function).parameters.get("rng")
    except (TypeError, ValueError):  # of some built-in functions nothing is known
        return False
    return wanted is not None and wanted.default is inspect.Parameter.empty


def generator_for(table: NDArray[Any]) -> np.random.Generator:
    """The generator for a function that is called for a table; what it gives depends on the table alone.

    So a randomised splitter gives the same for the same table, whatever the number of workers and the order of runs.
    """
    import numpy as np

    content = f"{table.shape}".encode() + table.astype("<i8").tobytes()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(content).digest(), "little"))


def called(function: Callable[..., Any], table: NDArray[Any], impurity: str) -> tuple[Any, str]:
    """What the function returns for this very table, as an array, and what is wrong with it."""
    import numpy as np

    try:
        found = function(table, impurity, **({"rng": generator_for(table)} if takes_generator(function) else {}))
        array = np.asarray(found)  # fails for lists of unequal lengths, and may call the user's __array__
    except (Exception, SystemExit) as error:
        return None, f"raised {in_one_line(error)}"
    problem = problem_of(array, type(found).__name__, len(table))
    return array, f"returned {problem}" if problem else ""


def problem_of(mask: NDArray[Any], what: str, n: int) -> str:
    """What is wrong with what a splitter returned for a table of n rows, of type ``what``; empty if nothing is."""
    if mask.dtype != bool:
        return f"{what} of {mask.dtype}, not of booleans; return {n} booleans, True for the left side"
    if mask.shape != (n,):
        return f"an array of shape {mask.shape}; return {n} booleans, one per row of the table"
    if mask.all() or not mask.any():
        return f"an empty {'right' if mask.all() else 'left'} side; a split has rows on both"
    return ""
