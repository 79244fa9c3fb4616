"""``split``: one table in, one split out."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from splitlab.impurity import code, gains, score
from splitlab.plugins import hand_over
from splitlab.splitters.catalogue import NEEDS_DIRECTION
from splitlab.splitters.registry import Splitter, along, get, refuse_hopeless, split_batch
from splitlab.tables.contingency import as_counts, is_margin, proportional_groups, reduce_table, show
from splitlab.text import escape

LARGEST_ENTRY = 1e100  # of a direction: far from overflow in d . A[v]


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """A binary split of the values of a contingency table. ``print`` shows the counts of both sides.

    Attributes
    ----------
    left : bool array, shape (n,)
        True for the values on the left side; neither side is empty.
    impurity : float
        I(u_L) + I(u_R): in counts for Gini, in bits for entropy.
    gain : float
        (I(u) - impurity) / N, the decrease of impurity per example.
    counts : int array, shape (n, k)
        The table that was split.
    values : tuple, length n
        The labels of the rows: the index of a DataFrame, else the places 0, 1, ...
    classes : tuple, length k
        The names of the columns: those of a DataFrame, else the places 0, 1, ...

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"no": [3, 1, 2], "yes": [1, 3, 2]}, index=["blue", "green", "red"])
    >>> found = split(table)
    >>> found
    Split(left=['green'], right=['blue', 'red'], impurity=5.25, gain=0.0625)
    >>> found.left_labels, found.left_counts
    (['green'], array([1, 3]))
    >>> print(found)
             no  yes  total
    left      1    3      4
      green   1    3      4
    right     5    3      8
      blue    3    1      4
      red     2    2      4
    """

    left: NDArray[np.bool_]
    impurity: float
    gain: float
    counts: NDArray[np.int64]
    values: tuple[Any, ...]
    classes: tuple[Any, ...]

    @property
    def left_labels(self) -> list[Any]:
        """The labels of the values on the left side."""
        return [label for label, here in zip(self.values, self.left, strict=True) if here]

    @property
    def right_labels(self) -> list[Any]:
        """The labels of the values on the right side."""
        return [label for label, here in zip(self.values, self.left, strict=True) if not here]

    @property
    def left_counts(self) -> NDArray[np.int64]:
        """The examples of each class on the left side, shape (k,)."""
        return self.counts[self.left].sum(axis=0)

    @property
    def right_counts(self) -> NDArray[np.int64]:
        """The examples of each class on the right side, shape (k,)."""
        return self.counts[~self.left].sum(axis=0)

    def __repr__(self) -> str:
        left, right = (reprlib.repr(labels) for labels in (self.left_labels, self.right_labels))
        return f"Split(left={left}, right={right}, impurity={self.impurity:.10g}, gain={self.gain:.10g})"

    def __str__(self) -> str:
        lines = [("", [*map(str, self.classes), "total"])]
        for side, here in (("left", self.left), ("right", ~self.left)):
            rows = [(side, self.counts[here].sum(axis=0))]
            rows += [(f"  {self.values[v]}", self.counts[v]) for v in np.flatnonzero(here)]
            lines += [(label, [*map(str, row.tolist()), str(row.sum())]) for label, row in rows]
        lines = [(escape(label), [escape(cell) for cell in cells]) for label, cells in lines]
        first = max(len(label) for label, _ in lines)
        widths = [max(map(len, column)) for column in zip(*(cells for _, cells in lines), strict=True)]
        return "\n".join(
            label.ljust(first) + "".join("  " + cell.rjust(w) for cell, w in zip(cells, widths, strict=True))
            for label, cells in lines
        )


def split(
    table: ArrayLike,
    impurity: str | Callable[[float], float] = "gini",
    splitter: str | Splitter | Callable[[NDArray[np.int64], str], ArrayLike] = "hcc",
    direction: ArrayLike | None = None,
    collapsed: bool = False,
) -> Split:
    """Split the values of a nominal attribute into two groups of small impurity.

    Parameters
    ----------
    table : array_like, shape (n, k)
        Contingency table: counts of n >= 2 values (rows) and k classes (columns), whole numbers of at most 1e15
        in total. Lists, integer arrays, integral floats and DataFrames will do; it is not modified. The labels of a
        DataFrame must differ, and it must have no sums (``margins=True`` of ``pandas.crosstab``).
    impurity : {"gini", "entropy"}, or a function
        What is minimised; a user-defined one is a function f of a class's share, or its name as
        ``package.module:function``.
    splitter : str, entry, or a function
        A name or an entry of ``splitlab.splitters()``; a user-defined one is a function (table, name of the impurity)
        -> booleans, True for the left side, or its name. The default, HcC, is proven to be within a factor of 2 of the
        optimum. Trees take ``"hd"``, which is not, but comes closer in practice and takes any number of classes.
    direction : array_like, shape (k,)
        For ``splitter="direction"`` only, and needed there: one finite number d_i per class of ``table``. The values
        v are ordered by (d . A[v]) / |v|, and the best prefix is taken (Algorithm 1 of the paper, B_d).
    collapsed : bool
        Choose the prefix by the impurity of the table collapsed to the two columns d . A[v] and (1-d) . A[v] (A_d);
        the d_i are from 0 to 1 then.

    Returns
    -------
    Split
        Zero rows are put on the left side and do not matter otherwise; nor do zero columns. When all rows are
        proportional every split has the same impurity, and the first row is split from the rest.

    Raises
    ------
    ValueError, TypeError
        The table, impurity, splitter or direction is not one; or the splitter would take hopelessly long.

    Examples
    --------
    >>> s = split([[0, 1], [1, 0], [3, 2]])
    >>> s.left.tolist(), round(s.impurity, 4), round(s.gain, 4)
    ([True, False, False], 2.6667, 0.1088)
    >>> split([[4, 0, 1], [0, 3, 2], [1, 4, 4]], splitter="direction", direction=[1, 0, 0.5]).left.tolist()
    [False, True, True]
    """
    counts = as_counts(table)
    values, classes = _names(table, counts)
    taken: dict[str, Callable[..., Any]] = {}
    of = hand_over(impurity, taken) if callable(impurity) else impurity
    by = hand_over(splitter, taken) if callable(splitter) else splitter
    for option, given, allowed in (("impurity", of, str), ("splitter", by, (str, Splitter))):
        if not isinstance(given, allowed):
            raise TypeError(f"{option}: {given!r} is not a name; write it as text")
    kind, entry, reduced = code(of), get(by), reduce_table(counts)
    if entry.name == "direction":
        entry = along(_as_direction(direction, counts.shape[1], collapsed)[reduced.columns], collapsed)
    elif direction is not None or collapsed:
        name = "direction" if direction is not None else "collapsed"
        raise ValueError(f"{name}: goes with splitter 'direction' only; the splitter is {entry.name!r}")
    left = reduced.expand(_split_reduced(reduced.counts, kind, entry))
    value = float(score(counts[None], left[None], kind)[0])
    sides = np.stack([counts[left].sum(axis=0), counts[~left].sum(axis=0)])
    return Split(left, value, float(gains(sides[None], kind)[0]), counts, values, classes)


def _names(table: Any, counts: NDArray[np.int64]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Labels of rows and names of columns; an error where they repeat, or name sums."""
    n, k = counts.shape
    if not hasattr(table, "iloc"):
        return tuple(range(n)), tuple(range(k))
    names = tuple(table.index.tolist()), tuple(table.columns.tolist())
    for labels, sums, kind in (
        (names[0], counts[:-1].sum(axis=0) == counts[-1], "row"),
        (names[1], counts[:, :-1].sum(axis=1) == counts[:, -1], "column"),
    ):
        if len(set(labels)) < len(labels):
            again = next(i for i, label in enumerate(labels) if label in labels[:i])
            places = f"{kind}s {labels.index(labels[again])} and {again} are both named {show(labels[again])}"
            raise ValueError(f"table: {places}; add them up, or give each its own name")
        if isinstance(labels[-1], str) and is_margin(labels[-1]) and sums.all():
            raise ValueError(f"table: the last {kind}, {show(labels[-1])}, is the sum of the others; leave it out")
    return names


def _split_reduced(counts: NDArray[np.int64], kind: int, entry: Splitter) -> NDArray[np.bool_]:
    """The left side for a table without zero rows or columns."""
    n, k = counts.shape
    if k == 1 or not proportional_groups(counts).any():
        # All rows proportional. A single row stands against the zero rows, which are on the left.
        return np.arange(n) < (1 if n > 1 else 0)
    refuse_hopeless(entry, n, k, int(counts.sum()))
    return split_batch(entry, counts[None], kind)[0]


def _as_direction(direction: Any, k: int, collapsed: bool) -> NDArray[np.float64]:
    """Check a direction for tables of k classes."""
    if direction is None:
        raise ValueError(f"splitter: 'direction' cannot go without: {NEEDS_DIRECTION}")
    scalar = not hasattr(direction, "__iter__") or getattr(direction, "ndim", 1) == 0
    if scalar or isinstance(direction, (str, bytes, Mapping, Set)):
        raise TypeError(f"direction: got {show(direction)}; give a list of numbers, one per class")
    entries = [_entry(i, x, collapsed) for i, x in enumerate(direction)]
    if len(entries) != k:
        raise ValueError(f"direction: has {len(entries)} entries, and the table has {k} columns (classes)")
    return np.array(entries)


def _entry(i: int, x: Any, collapsed: bool) -> float:
    entry = f"direction: entry {i} is {show(x)}"
    if not isinstance(x, (int, float, np.integer, np.floating)) or isinstance(x, bool):
        raise TypeError(f"{entry} ({type(x).__name__}); it must be a number")
    if not -LARGEST_ENTRY <= x <= LARGEST_ENTRY:
        raise ValueError(f"{entry}; it must be a finite number of at most 1e100")
    if collapsed and not 0 <= x <= 1:
        raise ValueError(f"{entry}; for a collapsed table it must be from 0 to 1")
    return float(x)
