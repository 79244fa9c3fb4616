"""The best split of one attribute, without a tree."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from splitlab._jit import Ints
from splitlab.splitters import Splitter
from splitlab.splitters.compiling import compilation_shown
from splitlab.tables.contingency import as_counts, reduce_table
from splitlab.text import counted
from splitlab.trees import proposals
from splitlab.trees.columns import Column, Encoding, in_pandas
from splitlab.trees.criteria import Criterion, get
from splitlab.trees.grouping import DEFAULT_SPLITTER, Grouping
from splitlab.trees.labels import read_labels
from splitlab.trees.parameters import FLAG, check, whole
from splitlab.trees.proposals import Proposals, Values, boundaries, short_midpoint, values_of, weighted_counts
from splitlab.trees.weights import in_units, read_weights


@dataclass(frozen=True, eq=False)
class AttributeSplit:
    """The best split of an attribute; its truth value is true.

    Attributes
    ----------
    value : float
        What the criterion says of it.
    threshold : float or None
        Of a numeric attribute: values <= threshold are in the first branch.
    branches : list of list, or None
        Of a nominal attribute: the values in each branch.
    table : int64 or float64 (branches, k)
        Class counts, missing values included; with weights the sums of these.
    classes : ndarray (k,)
        The labels, ascending.
    missing : int
        The branch of missing values, the one with more of the known ones.
    """

    value: float
    threshold: float | None
    branches: list[list[Any]] | None
    table: NDArray[Any]
    classes: NDArray[Any]
    missing: int


@dataclass(frozen=True)
class NoSplit:
    """Why an attribute has no split; its truth value is false."""

    reason: str

    def __bool__(self) -> bool:
        """False: there is no split."""
        return False


class Threshold(NamedTuple):
    """A candidate threshold and what the criterion says of it."""

    threshold: float
    value: float


def best_split(
    values: ArrayLike,
    y: ArrayLike,
    criterion: str | Criterion | Callable[[float], float] = "gini",
    *,
    splitter: str | Splitter | Callable[..., Any] = DEFAULT_SPLITTER,
    nominal: bool | None = None,
    min_samples_leaf: int = 1,
    sample_weight: ArrayLike | None = None,
) -> AttributeSplit | NoSplit:
    """The best split of an attribute by a criterion.

    Parameters
    ----------
    values : array_like, shape (n,)
        Numbers, or categories; NaN, None and ``pandas.NA`` are missing.
    y : array_like, shape (n,)
        Labels.
    criterion : str, or a function
        A name of ``splitlab.trees.criteria`` or of an impurity; a function is an impurity as for ``splitlab.split``.
    splitter : str, or a function
        How values of a nominal attribute are grouped, as for `DecisionTreeClassifier`.
    nominal : bool, optional
        Whether the attribute is nominal; by default its type tells.
    min_samples_leaf : int
        Fewest examples in a branch, missing values included; a grouping that has fewer is not replaced by another one.
    sample_weight : array_like, shape (n,), optional
        The weights of the examples, not negative, as for `DecisionTreeClassifier`: whole numbers are as repeated
        examples, and examples of weight 0 are left out. ``min_samples_leaf`` counts examples whatever their weights.

    Returns
    -------
    AttributeSplit or NoSplit
        Equally good thresholds, up to rounding: the lowest. Groupings found by a splitter of an impurity, ``"exact"``
        among them, are equally good to it where the impurity differs by at most 1e-12 N.

    Raises
    ------
    ValueError, TypeError
        The data, criterion or splitter is not one; or the splitter would take hopelessly long.

    Examples
    --------
    >>> best_split([0, 0, 5, 10], [0, 0, 1, 1], "entropy").threshold
    2.5
    >>> best_split(list("abcab"), [0, 1, 1, 0, 1]).branches
    [['a'], ['b', 'c']]
    >>> best_split([3, 3, 3], [0, 1, 1])
    NoSplit(reason='the attribute has a single value')
    """
    entry = get(criterion)
    grouping = Grouping(entry, splitter)
    check("best_split", nominal=(nominal, [*FLAG, None]), min_samples_leaf=(min_samples_leaf, whole(1)))
    data = _Data.read(values, y, nominal, sample_weight)
    if reason := data.obstacle():
        return NoSplit(reason)
    with compilation_shown():
        found = _proposed(data, entry, grouping, min_samples_leaf)
    if found.keys[0, 0] == -inf:
        split = "every threshold" if data.categories is None else "the grouping of the splitter"
        return NoSplit(f"{split} leaves a branch with fewer than {counted(min_samples_leaf, 'example')}")
    return data.described(found, entry)


def thresholds(
    values: ArrayLike,
    y: ArrayLike,
    criterion: str | Criterion | Callable[[float], float] = "entropy",
    *,
    all_values: bool = False,
) -> list[Threshold]:
    """The candidate thresholds of a numeric attribute, ascending, with their values.

    Parameters
    ----------
    values : array_like, shape (n,)
        Numbers; missing values are left out.
    y : array_like, shape (n,)
        Labels.
    criterion : str, or a function
        A name of ``splitlab.trees.criteria`` or of an impurity; a function is an impurity as for ``splitlab.split``.
    all_values : bool
        Whether thresholds between values of one and the same class come too: they are never better where the criterion
        is convex, and are left out by default there.

    Returns
    -------
    list of Threshold

    Raises
    ------
    ValueError, TypeError
        The data or the criterion is not one.

    Examples
    --------
    >>> [(t, round(gain, 4)) for t, gain in thresholds([1, 2, 3, 4, 5], [1, 1, 0, 0, 1])]
    [(2.5, 0.42), (4.5, 0.171)]
    """
    entry = get(criterion)
    check("thresholds", all_values=(all_values, FLAG))
    data = _Data.read(values, y, False)
    known = data.values
    if len(known.node) < 2:
        return []
    places = boundaries(known, np.array([entry.hyperplanes and not all_values]))
    left = known.counts.cumsum(0)
    with compilation_shown():
        found = entry.formula(np.stack([left[places], left[-1] - left[places]], 1))
    cuts = short_midpoint(known.value[places], known.value[places + 1])
    return [Threshold(float(t), float(v)) for t, v in zip(cuts, found, strict=True)]


def best_table_split(
    table: ArrayLike,
    criterion: str | Criterion | Callable[[float], float] = "gini",
    splitter: str | Splitter | Callable[..., Any] = DEFAULT_SPLITTER,
) -> NDArray[np.int64]:
    """The branch of each value of a contingency table; values without examples go to branch 0.

    Parameters
    ----------
    table : array_like, shape (n, k)
        Counts of n values and k classes, as for ``splitlab.split``.
    criterion : str, or a function
        A name of ``splitlab.trees.criteria`` or of an impurity; a function is an impurity as for ``splitlab.split``.
    splitter : str, or a function
        How the values are grouped, as for `DecisionTreeClassifier`.

    Returns
    -------
    int64 (n,)
        All 0 where there is nothing to split: one value, or one class.

    Raises
    ------
    ValueError, TypeError
        The table, criterion or splitter is not one; or the splitter would take hopelessly long.

    Examples
    --------
    >>> best_table_split([[2, 3], [4, 0], [3, 2]], "hddt").tolist()
    [0, 1, 0]
    """
    reduced = reduce_table(as_counts(table))
    branch = np.zeros(reduced.n_rows, np.int64)
    entry = get(criterion)
    grouping = Grouping(entry, splitter)
    n, k = reduced.counts.shape
    if n > 1 and k > 1:
        grouping.refuse_hopeless([n], k)
        with compilation_shown():
            branch[reduced.rows] = grouping(reduced.counts[None])[0]
    return branch


@dataclass(frozen=True, eq=False)
class _Data:
    """One attribute of one node.

    Attributes
    ----------
    values : Values
        The known values, counted.
    totals : int64 (k,)
        Class counts of all examples, missing values included.
    classes : ndarray (k,)
        The labels, ascending.
    categories : ndarray or None
        The categories of a nominal attribute; None for a numeric one.
    examples : int or None
        How many examples there are, where they have weights.
    unit : float
        What a weight of 1 is worth.
    """

    values: Values
    totals: Ints
    classes: NDArray[Any]
    categories: NDArray[np.object_] | None
    examples: int | None = None
    unit: float = 1.0

    @classmethod
    def read(
        cls, values: ArrayLike, y: ArrayLike, nominal: bool | None, sample_weight: ArrayLike | None = None
    ) -> _Data:
        """Read a user's values (n,) and labels (n,); ValueError or TypeError where they are wrong."""
        column = _column(values)
        if nominal is False:
            column = replace(column, nominal=False)
        encoding = Encoding.of([column], None if nominal is None else [nominal])
        for remark in encoding.remarks:
            warnings.warn(remark, stacklevel=3)  # at the call of `best_split`
        x = encoding.matrix([column])[:, 0]
        classes, codes = read_labels(y, len(x))
        given, weight, examples, unit = read_weights(sample_weight, None, classes, codes), None, None, 1.0
        if given is not None:
            x, codes = x[given > 0], codes[given > 0]
            weight, unit = in_units(given[given > 0])
            examples = len(x)
        order = np.argsort(x, kind="stable")[: int((~np.isnan(x)).sum())]
        of_known = None if weight is None else weight[order]
        counted = values_of(np.zeros(len(order), np.int64), x[order], codes[order], len(classes), of_known)
        totals = weighted_counts(codes, weight, len(classes))
        return cls(counted, totals, classes, encoding.categories[0], examples, unit)

    def obstacle(self) -> str:
        """The reason that there can be no split; empty if there can be one."""
        if (self.totals > 0).sum() < 2:
            return "the target is constant"
        if not len(self.values.node):
            return "no value is known"
        if len(self.values.node) < 2:
            return "the attribute has a single value"
        if self.categories is not None and (self.values.counts.sum(0) > 0).sum() < 2:
            return "the target is constant where the value is known"
        return ""

    def described(self, found: Proposals, entry: Criterion) -> AttributeSplit:
        """The split that was found for the one node, with the user's values in place of codes."""
        known = self.values
        place = known.value.astype(np.int64) if self.categories is not None else None
        branch = found.branch if place is not None else (known.value > found.threshold[0]).astype(np.int64)
        table = np.zeros((int(found.n_branches[0]), len(self.totals)), np.int64)
        np.add.at(table, branch, known.counts)
        missing = int(found.default[0])
        table[missing] += self.totals - known.counts.sum(0)
        branches = None
        if self.categories is not None and place is not None:
            branches = [self.categories[place[branch == b]].tolist() for b in range(len(table))]
        threshold = float(found.threshold[0]) if place is None else None
        value = float(entry.formula(table))
        return AttributeSplit(
            value, threshold, branches, table if self.unit == 1 else table * self.unit, self.classes, missing
        )


def _column(values: Any) -> Column:
    """A user's values (n,) as a column; ValueError if they are not one-dimensional."""
    values = in_pandas(values)
    if isinstance(getattr(values, "dtype", None), pd.api.extensions.ExtensionDtype):
        values = pd.Series(values)
    if isinstance(values, (list, tuple)):
        values = np.array(values, dtype=object)
    elif not isinstance(values, pd.Series):
        values = np.asanyarray(values)
    if values.ndim != 1:
        raise ValueError(f"values: must be those of one attribute, in one dimension; got shape {values.shape}")
    if not len(values):
        raise ValueError("values: there are none; give at least 1")
    name = getattr(values, "name", None)
    return Column.of(values, "values" if name in (None, "") else name)


def _proposed(data: _Data, entry: Criterion, grouping: Grouping, min_leaf: int) -> Proposals:
    """The best threshold, or the grouping of a nominal attribute's values.

    ValueError where the splitter would take hopelessly long.
    """
    size = None if data.examples is None else np.array([data.examples])
    if data.categories is None:
        return proposals.numeric(data.values, data.totals[None], entry, min_leaf, between=short_midpoint, size=size)
    grouping.refuse_hopeless([len(data.values.node)], int((data.totals > 0).sum()))
    return proposals.nominal(data.values, data.totals[None], entry, grouping, min_leaf, np.array([True]), size=size)
