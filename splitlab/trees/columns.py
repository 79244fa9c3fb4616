"""Columns of a user's data as numbers: the one door through which examples come in.

A column is numeric or nominal. Numeric ones become float64, nominal ones the codes 0, 1, ... of their categories. NaN
stands for what is missing and, later, for categories that were not there in training. The order of the categories,
which decides between equal splits, is that of a pandas categorical, else ascending, or by type and text where values
of several types cannot be compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from splitlab._jit import Bools, Floats
from splitlab.tables.contingency import show

Column = Any  # a one-dimensional numpy array or pandas Series


def read_columns(data: Any, estimator: Any = None) -> list[Column]:
    """The columns of a user's examples.

    Parameters
    ----------
    data : array_like or DataFrame, shape (n, p)
        Numbers, categories and text, with missing values.
    estimator : object, optional
        The estimator that reads them, for messages.

    Returns
    -------
    list of ndarray or Series, each (n,)

    Raises
    ------
    ValueError, TypeError
        The data are not two-dimensional, sparse or complex, or have no rows or columns.
    """
    if isinstance(data, pd.DataFrame):
        if not all(data.shape):
            raise ValueError(f"Found array with {data.shape[0]} sample(s) and {data.shape[1]} feature(s); 1 is needed")
        return [data.iloc[:, j] for j in range(data.shape[1])]
    if isinstance(data, (list, tuple)) and np.asarray(data, dtype=object).ndim == 2:
        data = np.asarray(data, dtype=object)  # otherwise 1 beside "a" would become "1"
    array = check_array(unmasked(data), dtype=None, ensure_all_finite=False, estimator=estimator)
    return list(array.T)


def unmasked(data: Any) -> Any:
    """An array with NaN in place of its masked entries; other data as they are."""
    if isinstance(data, np.ma.MaskedArray):
        if not np.ma.is_masked(data):
            return np.asarray(data)
        return np.ma.filled(data if data.dtype.kind == "f" else data.astype(object), np.nan)
    return data


def is_nominal(column: Column) -> bool:
    """Whether a column holds categories: pandas categories, objects or text; numpy objects unless all are numbers."""
    if isinstance(column, pd.Series):
        kinds = (pd.api.types.is_object_dtype, pd.api.types.is_string_dtype)
        return isinstance(column.dtype, pd.CategoricalDtype) or any(kind(column.dtype) for kind in kinds)
    if column.dtype.kind != "O":
        return bool(column.dtype.kind in "US")
    known = column[~pd.isna(column)]
    return not all(isinstance(value, (int, float, np.number, np.bool_)) for value in known)


def named_columns(nominal: Any, names: Sequence[str] | None, p: int) -> Bools:
    """Which of p columns are named: bool (p,).

    Parameters
    ----------
    nominal : str, int, list of these, or bool array (p,)
        Names, indices or a mask of columns.
    names : sequence of str, optional
        The names of the columns, if they have any.
    p : int
        The number of columns.

    Raises
    ------
    ValueError
        There is no such column, or the mask has another length.
    """
    try:
        asked = [nominal] if isinstance(nominal, (str, int, np.integer)) else list(nominal)
    except TypeError:
        asked = [nominal]
    if asked and all(isinstance(name, (bool, np.bool_)) for name in asked):
        if len(asked) != p:
            raise ValueError(f"nominal: a mask needs one bool per column, {p}; got {len(asked)}")
        return np.array(asked, np.bool_)
    chosen = np.zeros(p, np.bool_)
    for name in asked:
        if isinstance(name, str):
            here = np.array([name == other for other in (() if names is None else names)], np.bool_)
            if not here.any():
                raise ValueError(f"nominal: there is no column {name!r}")
            chosen |= here
        elif isinstance(name, (int, np.integer)) and not isinstance(name, bool) and -p <= name < p:
            chosen[int(name)] = True
        else:
            raise ValueError(f"nominal: {name!r} is neither the name nor the index of one of {p} columns")
    return chosen


def numbers(column: Column, name: object) -> Floats:
    """A numeric column as float64 (n,), NaN where missing; ValueError or TypeError that names the column."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "Mmc":
        raise TypeError(f"column {name!r} is of type {column.dtype}; make real numbers or text of it")
    try:
        if isinstance(column, pd.Series):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = np.where(pd.isna(column), np.nan, column).astype(np.float64) if kind == "O" else column
            values = values.astype(np.float64)
    except (TypeError, ValueError):
        bad = next(value for value in column if not pd.isna(value) and not _is_number(value))
        raise ValueError(f"column {name!r} is numeric; {show(bad)} could not be converted to a float") from None
    if np.isinf(values).any():
        raise ValueError(f"Input X contains infinity, in column {name!r}")
    return values


def _is_number(value: Any) -> bool:
    """Whether Python makes a float of a value."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _objects(column: Column) -> NDArray[np.object_]:
    """Values that can be looked up, as Python objects (n,); as text where some have no hash.

    Scikit-learn's checks of an estimator fit it to a dict among numbers.
    """
    values = np.asarray(column, dtype=object)
    try:
        pd.factorize(values)
    except TypeError:
        return np.array([re.sub(r"\s+", " ", repr(value)) for value in values], dtype=object)
    return values


def categories_of(column: Column) -> NDArray[np.object_]:
    """The categories of a nominal column, in their order: (c,), missing values left out."""
    if isinstance(column, pd.Series) and isinstance(column.dtype, pd.CategoricalDtype):
        return np.asarray(column.cat.categories, dtype=object)
    values = pd.factorize(_objects(column))[1]
    found = np.empty(len(values), dtype=object)
    found[:] = list(values)
    try:
        return found[np.argsort(found, kind="stable")]
    except TypeError:
        return found[sorted(range(len(found)), key=lambda i: (type(found[i]).__name__, str(found[i])))]


def codes(column: Column, categories: NDArray[np.object_]) -> Floats:
    """The codes of a nominal column, indices into ``categories``: float64 (n,), NaN for values that are not there."""
    place = pd.Index(categories, dtype=object).get_indexer(pd.Index(_objects(column), dtype=object))
    return np.where(place < 0, np.nan, place.astype(np.float64))


@dataclass(frozen=True, eq=False)
class Encoding:
    """How columns become numbers.

    Attributes
    ----------
    names : list (p,)
        The names of the columns, or their indices if they have none.
    categories : list (p,) of ndarray or None
        The categories of a nominal column; None for a numeric one.
    """

    names: list[object]
    categories: list[NDArray[np.object_] | None]

    @classmethod
    def of(cls, columns: list[Column], names: Sequence[str] | None, nominal: Any = None) -> Encoding:
        """Learn the encoding of training data.

        Parameters
        ----------
        columns : list of ndarray or Series
            The result of `read_columns`.
        names : sequence of str, optional
            The names of the columns.
        nominal : optional
            Columns that are nominal whatever their type, as for `named_columns`.
        """
        p = len(columns)
        chosen = np.array([is_nominal(column) for column in columns])
        if nominal is not None:
            chosen |= named_columns(nominal, names, p)
        found = [categories_of(column) if here else None for column, here in zip(columns, chosen, strict=True)]
        return cls(list(names) if names is not None else list(range(p)), found)

    @property
    def nominal(self) -> Bools:
        """Which columns are nominal: (p,)."""
        return np.array([c is not None for c in self.categories], np.bool_)

    def matrix(self, columns: list[Column]) -> Floats:
        """The columns as numbers: float64 (n, p), column by column in memory."""
        x = np.empty((len(columns[0]), len(columns)), order="F")
        for j, (column, name, categories) in enumerate(zip(columns, self.names, self.categories, strict=True)):
            x[:, j] = numbers(column, name) if categories is None else codes(column, categories)
        return x
