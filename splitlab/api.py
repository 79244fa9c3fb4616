"""``split``: a table in, a split out, or many at once; and what a partition of one's own is worth."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Callable, Hashable, Mapping, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from splitlab import notebook
from splitlab.impurity import code, gains, score
from splitlab.plugins import hand_over
from splitlab.splitters.catalogue import NEEDS_DIRECTION
from splitlab.splitters.compiling import compilation_shown, long_step_shown
from splitlab.splitters.custom import SplitterError
from splitlab.splitters.registry import Splitter, along, get, refuse_hopeless, split_batch
from splitlab.tables.contingency import MAX_TOTAL, as_counts, is_margin, proportional_groups, reduce_table, show
from splitlab.text import counted, escape

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

    def _lines(self) -> list[tuple[str, list[str]]]:
        """A label and cells for each line of the table: the head, each side, and its values."""
        lines = [("", [*map(str, self.classes), "total"])]
        for side, here in (("left", self.left), ("right", ~self.left)):
            rows = [(side, self.counts[here].sum(axis=0))]
            rows += [(f"  {self.values[v]}", self.counts[v]) for v in np.flatnonzero(here)]
            lines += [(label, [*map(str, row.tolist()), str(row.sum())]) for label, row in rows]
        return [(escape(label), [escape(cell) for cell in cells]) for label, cells in lines]

    def _repr_html_(self) -> str:
        """For notebooks: the counts of both sides, and what the split is worth."""
        head, *lines = ([label, *cells] for label, cells in self._lines())
        bold = [not label.startswith(" ") for label, *_ in lines]
        worth = f"impurity {self.impurity:.10g}, gain {self.gain:.10g}"
        return notebook.grid(head, lines, bold) + notebook.paragraph(worth)

    def __str__(self) -> str:
        lines = self._lines()
        first = max(len(label) for label, _ in lines)
        widths = [max(map(len, column)) for column in zip(*(cells for _, cells in lines), strict=True)]
        return "\n".join(
            label.ljust(first) + "".join("  " + cell.rjust(w) for cell, w in zip(cells, widths, strict=True))
            for label, cells in lines
        )


@dataclass(frozen=True, eq=False, repr=False)
class Splits:
    """The splits of b contingency tables of n values and k classes; entry i is the `Split` of table i.

    Attributes
    ----------
    left : bool array, shape (b, n)
        True for the values on the left side.
    impurity, gain : float64 array, shape (b,)
        As in `Split`.
    counts : int64 array, shape (b, n, k)
        The tables that were split.

    Examples
    --------
    >>> found = split(np.array([[[5, 0], [0, 5], [4, 1]], [[1, 0], [3, 2], [0, 2]]]))
    >>> found
    Splits(3 values, 2 classes, impurity=[1.8, 2.666666667])
    >>> found.left.tolist(), found[1].right_labels
    ([[False, True, False], [False, False, True]], [0, 1])
    """

    left: NDArray[np.bool_]
    impurity: NDArray[np.float64]
    gain: NDArray[np.float64]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, table: int) -> Split:
        """The split of one table."""
        at, (_, n, k) = operator.index(table), self.counts.shape
        numbers = float(self.impurity[at]), float(self.gain[at])
        return Split(self.left[at], *numbers, self.counts[at], tuple(range(n)), tuple(range(k)))

    def __repr__(self) -> str:
        _, n, k = self.counts.shape
        shown = [f"{value:.10g}" for value in self.impurity[:4]] + ["..."] * (len(self) > 4)
        tables = "" if len(self) <= 4 else f"{len(self)} tables, "
        return f"Splits({tables}{n} values, {k} classes, impurity=[{', '.join(shown)}])"


@compilation_shown()
def split(
    table: ArrayLike,
    impurity: str | Callable[[float], float] = "gini",
    splitter: str | Splitter | Callable[..., ArrayLike] = "hcc",
    direction: ArrayLike | None = None,
    collapsed: bool = False,
) -> Any:
    """Split the values of a nominal attribute into two groups of small impurity.

    Parameters
    ----------
    table : array_like, shape (n, k)
        Contingency table: counts of n >= 2 values (rows) and k classes (columns), whole numbers of at most 1e15
        in total. Lists, integer arrays, integral floats and DataFrames will do; it is not modified. The labels of a
        DataFrame must differ, and it must have no sums (``margins=True`` of ``pandas.crosstab``). An array of shape
        (b, n, k) is b tables, which are split at once: much faster than one by one, with the same splits.
    impurity : {"gini", "entropy"}, or a function
        What is minimised; a user-defined one is a function f of a class's share, or its name as
        ``package.module:function``.
    splitter : str, entry, or a function
        A name or an entry of ``splitlab.splitters()``; a user-defined one is a function (table, name of the impurity)
        -> booleans, True for the left side, or its name; a third parameter ``rng`` gets a generator that is seeded by
        the table. The default, HcC, is proven to be within a factor of 2 of the
        optimum. Trees take ``"hd"``, which is not, but comes closer in practice and takes any number of classes.
    direction : array_like, shape (k,)
        For ``splitter="direction"`` only, and needed there: one finite number d_i per class of ``table``. The values
        v are ordered by (d . A[v]) / |v|, and the best prefix is taken (Algorithm 1 of the paper, B_d).
    collapsed : bool
        Choose the prefix by the impurity of the table collapsed to the two columns d . A[v] and (1-d) . A[v] (A_d);
        the d_i are from 0 to 1 then.

    Returns
    -------
    Split, or Splits for an array (b, n, k)
        Zero rows are put on the left side and do not matter otherwise; nor do zero columns. When all rows are
        proportional every split has the same impurity, and the first row is split from the rest.

    Raises
    ------
    ValueError, TypeError
        The table, impurity, splitter or direction is not one; or the splitter would take hopelessly long. Of several
        tables the message names a bad one by its number, from 0 on.

    Examples
    --------
    >>> s = split([[0, 1], [1, 0], [3, 2]])
    >>> s.left.tolist(), round(s.impurity, 4), round(s.gain, 4)
    ([True, False, False], 2.6667, 0.1088)
    >>> split([[4, 0, 1], [0, 3, 2], [1, 4, 4]], splitter="direction", direction=[1, 0, 0.5]).left.tolist()
    [False, True, True]
    """
    batch = np.ndim(table) == 3 if hasattr(table, "ndim") else False
    counts = _as_batch(np.asanyarray(table)) if batch else as_counts(table)
    values, classes = ((), ()) if batch else _names(table, counts)
    taken: dict[str, Callable[..., Any]] = {}
    kind = _kind_of(impurity, taken)
    by = hand_over(splitter, taken) if callable(splitter) else splitter
    if not isinstance(by, (str, Splitter)):
        raise TypeError(f"splitter: {by!r} is not a name; write it as text")
    entry = get(by)
    if entry.name == "direction":
        entry = along(_as_direction(direction, counts.shape[-1], collapsed), collapsed)
    elif direction is not None or collapsed:
        name = "direction" if direction is not None else "collapsed"
        raise ValueError(f"{name}: goes with splitter 'direction' only; the splitter is {entry.name!r}")
    if batch:
        left = _split_all(counts, kind, entry)
        return Splits(left, *_worth(counts, left, kind), counts)
    reduced = reduce_table(counts)
    left = reduced.expand(_split_reduced(reduced.counts, kind, _on_columns(entry, reduced.columns)))
    value, gained = _worth(counts[None], left[None], kind)
    return Split(left, float(value[0]), float(gained[0]), counts, values, classes)


@compilation_shown()
def impurity(table: ArrayLike, left: Any, impurity: str | Callable[[float], float] = "gini") -> float:
    """The impurity of a partition of one's own: I(u_L) + I(u_R), as `Split.impurity` is.

    Parameters
    ----------
    table : array_like, shape (n, k)
        As for `split`.
    left : bool array_like, shape (n,), or list of labels
        The left side: one boolean for each row, or the labels of its rows, those of a DataFrame or the places 0, 1, ...
        Neither side may be empty.
    impurity : {"gini", "entropy"}, or a function
        As for `split`.

    Returns
    -------
    float
        In counts for Gini, in bits for entropy.

    Raises
    ------
    ValueError, TypeError
        The table, the left side or the impurity is not one.

    Examples
    --------
    >>> import splitlab
    >>> splitlab.impurity([[3, 1], [1, 3], [2, 2]], [False, True, False])
    5.25
    >>> splitlab.impurity([[3, 1], [1, 3], [2, 2]], [1]), splitlab.gain([[3, 1], [1, 3], [2, 2]], [1])
    (5.25, 0.0625)
    """
    return _of_partition(table, left, impurity)[0]


@compilation_shown()
def gain(table: ArrayLike, left: Any, impurity: str | Callable[[float], float] = "gini") -> float:
    """The gain of a partition of one's own, per example: (I(u) - I(u_L) - I(u_R)) / N, as `Split.gain` is.

    The parameters and errors are those of `splitlab.impurity`.
    """
    return _of_partition(table, left, impurity)[1]


def _of_partition(table: Any, left: Any, impurity: str | Callable[[float], float]) -> tuple[float, float]:
    """Impurity and gain of a user's partition."""
    counts = as_counts(table)
    values, _ = _names(table, counts)
    mask, kind = _as_mask(left, values), _kind_of(impurity, {})
    value, gained = _worth(counts[None], mask[None], kind)
    return float(value[0]), float(gained[0])


def _as_mask(left: Any, values: tuple[Any, ...]) -> NDArray[np.bool_]:
    """A user's left side as booleans, one for each of the rows, which are labelled ``values``."""
    if isinstance(left, (str, bytes, Mapping)) or not hasattr(left, "__iter__"):
        raise TypeError(f"left: got {show(left)}; give one boolean for each row, or a list of labels of rows")
    n, given = len(values), list(left)
    if given and all(isinstance(entry, (bool, np.bool_)) for entry in given):
        mask = np.array(given, np.bool_)
        if len(mask) != n:
            raise ValueError(f"left: has {counted(len(mask), 'boolean')}, and the table has {counted(n, 'row')}")
    else:
        place = {value: v for v, value in enumerate(values)}
        mask = np.zeros(n, np.bool_)
        for label in given:
            if not isinstance(label, Hashable) or label not in place:
                raise ValueError(f"left: {show(label)} is no label of a row; the labels are {_listed(values)}")
            if mask[place[label]]:
                twice = f"left: {show(label)} is there twice; name each row once"
                raise ValueError(f"{twice}, or give one boolean (True or False) for each of the {n} rows")
            mask[place[label]] = True
    if mask.all() or not mask.any():
        raise ValueError(f"left: leaves the {'right' if mask.all() else 'left'} side empty; a split has rows on both")
    return mask


def _listed(values: tuple[Any, ...]) -> str:
    few = [show(value) for value in values[:8]]
    return ", ".join(few if len(values) <= 8 else [*few, "..."])


def _kind_of(impurity: Any, taken: dict[str, Callable[..., Any]]) -> int:
    """The number by which kernels know an impurity that a user gave, a name or a function."""
    name = hand_over(impurity, taken) if callable(impurity) else impurity
    if not isinstance(name, str):
        raise TypeError(f"impurity: {name!r} is not a name; write it as text")
    return code(name)


def _worth(
    tables: NDArray[np.int64], left: NDArray[np.bool_], kind: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Impurity and gain of a split of each table: (b, n, k), bool (b, n) -> two float64 (b,)."""
    of_left = (tables * left[:, :, None]).sum(axis=1)
    sides = np.stack([of_left, tables.sum(axis=1) - of_left], axis=1)
    return score(tables, left, kind), gains(sides, kind)


def _as_batch(tables: NDArray[Any]) -> NDArray[np.int64]:
    """Check tables (b, n, k) and copy them; errors name the first bad one."""
    good = np.zeros(len(tables), np.bool_)
    if tables.dtype.kind in "iuf" and not np.ma.is_masked(tables) and min(tables.shape) > 0 and tables.shape[1] > 1:
        wide = tables.astype(np.promote_types(tables.dtype, np.float64), copy=False)
        good = ((wide >= 0) & (wide <= MAX_TOTAL) & (wide == np.floor(wide))).all(axis=(1, 2))
        total = wide.sum(axis=(1, 2))
        good &= (total > 0) & (total <= MAX_TOTAL)
    for t in np.flatnonzero(~good):
        try:
            as_counts(tables[t])
        except (TypeError, ValueError) as error:
            raise type(error)(str(error).replace("table:", f"table {t}:", 1)) from None
    return np.array(tables, np.int64, order="C")


def _split_all(tables: NDArray[np.int64], kind: int, entry: Splitter) -> NDArray[np.bool_]:
    """The left sides (b, n) for tables (b, n, k): those with the same rows and columns of zeros together."""
    b, n, _ = tables.shape
    left = np.ones((b, n), np.bool_)
    if not b:
        return left
    present = np.hstack([tables.any(axis=2), tables.any(axis=1)])
    whole = present.all(axis=1)
    patterns, pattern = np.unique(present[~whole], axis=0, return_inverse=True)
    groups = [(here, np.flatnonzero(~whole)[pattern.ravel() == p]) for p, here in enumerate(patterns)]
    if whole.any():
        groups.append((np.ones_like(present[0]), np.flatnonzero(whole)))
    for here, which in groups:
        rows, columns = np.flatnonzero(here[:n]), np.flatnonzero(here[n:])
        reduced = np.ascontiguousarray(tables[np.ix_(which, rows, columns)])
        left[np.ix_(which, rows)] = _split_alike(reduced, kind, _on_columns(entry, columns), which)
    return left


def _split_alike(tables: NDArray[np.int64], kind: int, entry: Splitter, numbers: NDArray[np.intp]) -> NDArray[np.bool_]:
    """The left sides for tables without zero rows and columns, of which ``numbers`` are those that the user knows."""
    b, n, k = tables.shape
    shares = tables / tables.sum(axis=2, keepdims=True)
    alike = (np.abs(shares - shares[:, :1]) < 1e-6).all(axis=(1, 2))  # to be looked at without rounding
    for t in np.flatnonzero(alike):
        alike[t] = not proportional_groups(tables[t]).any()
    left = np.zeros((b, n), np.bool_)
    left[:, 0] = n > 1
    others = np.flatnonzero(~alike)
    if not len(others):
        return left
    totals = tables[others].sum(axis=(1, 2))
    try:
        refuse_hopeless(entry, n, k, int(totals.max()))
    except ValueError as error:
        raise ValueError(f"table {numbers[others[totals.argmax()]]}: {error}") from None
    try:
        with _announced(entry, tables[others]):
            left[others] = split_batch(entry, tables[others], kind)
    except SplitterError as error:
        raise SplitterError(f"table {numbers[others[error.index]]}: {error}", error.index) from error
    return left


def _on_columns(entry: Splitter, columns: NDArray[np.intp]) -> Splitter:
    """The splitter for tables of which only these columns are left: a direction has an entry for each."""
    return replace(entry, options=tuple(d[columns] for d in entry.options)) if entry.name == "direction" else entry


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
    with _announced(entry, counts[None]):
        return split_batch(entry, counts[None], kind)[0]


def _announced(entry: Splitter, tables: NDArray[np.int64]) -> AbstractContextManager[None]:
    """Say on stderr what splitting these tables (b, n, k) takes, if that is long."""
    b, n, k = tables.shape
    which = "a table" if b == 1 else f"{b:,} tables"
    seconds = b * entry.seconds(n, k, tables.sum() / b)
    return long_step_shown(f"{entry.title} splits {which} with n = {n}, k = {k}", seconds)


def _as_direction(direction: Any, k: int, collapsed: bool) -> NDArray[np.float64]:
    """Check a direction for tables of k classes."""
    if direction is None:
        raise ValueError(f"splitter: 'direction' cannot go without: {NEEDS_DIRECTION}")
    scalar = not hasattr(direction, "__iter__") or getattr(direction, "ndim", 1) == 0
    if scalar or isinstance(direction, (str, bytes, Mapping, Set)):
        raise TypeError(f"direction: got {show(direction)}; give a list of numbers, one per class")
    entries = [_entry(i, x, collapsed) for i, x in enumerate(direction)]
    if len(entries) != k:
        raise ValueError(
            f"direction: has {counted(len(entries), 'entry')}, and the table has {counted(k, 'column')} (classes)"
        )
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
