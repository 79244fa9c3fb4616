"""``split``: one table in, one split out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from splitlab.contingency import as_counts, proportional_groups, reduce_table
from splitlab.impurity import code, score, weighted_impurity
from splitlab.splitters.registry import Splitter, get, refuse_hopeless, split_batch


@dataclass(frozen=True, eq=False)
class Split:
    """A binary split of the values of a contingency table.

    Attributes
    ----------
    left : bool array, shape (n,)
        True for the values on the left side; neither side is empty.
    impurity : float
        I(u_L) + I(u_R): in counts for Gini, in bits for entropy.
    gain : float
        (I(u) - impurity) / N, the decrease of impurity per example.
    """

    left: NDArray[np.bool_]
    impurity: float
    gain: float


def split(table: ArrayLike, impurity: str = "gini", splitter: str = "hcc") -> Split:
    """Split the values of a nominal attribute into two groups of small impurity.

    Parameters
    ----------
    table : array_like, shape (n, k)
        Contingency table: counts of n >= 2 values (rows) and k classes (columns), whole numbers of at most 1e15
        in total. Lists, integer arrays, integral floats and DataFrames will do; it is not modified.
    impurity : {"gini", "entropy"}
        What is minimised.
    splitter : str
        A name of ``splitlab.splitters()``.

    Returns
    -------
    Split
        Zero rows are put on the left side and do not matter otherwise; nor do zero columns. When all rows are
        proportional every split has the same impurity, and the first row is split from the rest.

    Raises
    ------
    ValueError, TypeError
        The table, impurity or splitter is not one; or the splitter would take hopelessly long.

    Examples
    --------
    >>> s = split([[0, 1], [1, 0], [3, 2]])
    >>> s.left.tolist(), round(s.impurity, 4), round(s.gain, 4)
    ([True, False, False], 2.6667, 0.1088)
    """
    counts = as_counts(table)
    for option, given in (("impurity", impurity), ("splitter", splitter)):
        if not isinstance(given, str):
            raise TypeError(f"{option}: {given!r} is not a name; write it as text")
    kind, entry = code(impurity), get(splitter)
    reduced = reduce_table(counts)
    left = reduced.expand(_split_reduced(reduced.counts, kind, entry))
    value = float(score(counts[None], left[None], kind)[0])
    gain = (weighted_impurity(counts.sum(axis=0), impurity) - value) / float(counts.sum())
    return Split(left, value, max(0.0, gain))


def _split_reduced(counts: NDArray[np.int64], kind: int, entry: Splitter) -> NDArray[np.bool_]:
    """The left side for a table without zero rows or columns."""
    n, k = counts.shape
    if k == 1 or not proportional_groups(counts).any():
        # All rows proportional. A single row stands against the zero rows, which are on the left.
        return np.arange(n) < (1 if n > 1 else 0)
    refuse_hopeless(entry, n, k)
    return split_batch(entry, counts[None], kind)[0]
