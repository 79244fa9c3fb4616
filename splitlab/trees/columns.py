"""Columns of a user's data as numbers: the one door through which examples come in.

A column is numeric or nominal. Numeric ones become float64, nominal ones the codes 0, 1, ... of their categories. NaN
stands for what is missing and, later, for categories that were not there in training. The order of the categories,
which decides between equal splits, is that of a pandas categorical, else ascending, or by type and text where values
of several types cannot be compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from splitlab._jit import Bools, Floats
from splitlab.contingency import show

COMPLEX = (complex, np.complexfloating)
Column = Any  # a one-dimensional numpy array or pandas Series


def read_columns(data: Any, estimator: Any = None) -> list[Column]:
    """The columns of array-like data (n, p): numpy arrays or pandas Series.

    Raises
    ------
    ValueError, TypeError
        Not two-dimensional, no rows, no columns, sparse, complex.
    """
    if isinstance(data, pd.DataFrame):
        if not all(data.shape):
            raise ValueError(f"Found array with {data.shape[0]} sample(s) and {data.shape[1]} feature(s); 1 is needed")
        columns = [data.iloc[:, j] for j in range(data.shape[1])]
        _refuse_complex(columns, list(data.columns))
        return columns
    if isinstance(data, (list, tuple)) and np.asarray(data, dtype=object).ndim == 2:
        data = np.asarray(data, dtype=object)  # otherwise 1 beside "a" would become "1"
    data = unmasked(data)
    if isinstance(data, np.ndarray) and data.ndim == 2:
        _refuse_complex(list(data.T), range(data.shape[1]))
    array = check_array(data, dtype=None, ensure_all_finite=False, estimator=estimator)
    return list(array.T)


def unmasked(data: Any) -> Any:
    """The same with NaN for the masked entries of an array."""
    if isinstance(data, np.ma.MaskedArray):
        if not np.ma.is_masked(data):
            return np.asarray(data)
        return np.ma.filled(data if data.dtype.kind == "f" else data.astype(object), np.nan)
    if isinstance(data, np.ndarray) and data.dtype == object and type(np.ma.masked) in set(map(type, data.flat)):
        return np.where([value is np.ma.masked for value in data.flat], np.nan, data.ravel()).reshape(data.shape)
    return data


def _refuse_complex(columns: list[Column], names: Iterable[object]) -> None:
    for column, name in zip(columns, names, strict=True):
        kind = getattr(column.dtype, "kind", "O")
        if kind == "c" or (kind == "O" and any(issubclass(t, COMPLEX) for t in set(map(type, column)))):
            raise ValueError(f"Complex data not supported: column {name!r} has some; make real numbers or text of it")


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
    """Which of p columns are named by ``nominal``: a name, a place, several of them, or one bool per column."""
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
            raise ValueError(f"nominal: {name!r} is neither the name nor the place of one of {p} columns")
    return chosen


def numbers(column: Column, name: object) -> Floats:
    """A numeric column as float64, NaN where missing; ValueError or TypeError that names the column."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "Mm":
        raise TypeError(f"column {name!r} is of type {column.dtype}; make real numbers or text of it")
    try:
        if isinstance(column, pd.Series):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = np.where(pd.isna(column), np.nan, column).astype(np.float64) if kind == "O" else column
            values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        bad = next(value for value in column if not pd.isna(value) and not _is_number(value))
        raise ValueError(f"column {name!r} is numeric; {show(bad)} could not be converted to a float") from None
    if np.isinf(values).any():
        raise ValueError(f"Input X contains infinity, in column {name!r}")
    return values


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _objects(column: Column) -> NDArray[np.object_]:
    """Values that can be looked up: Python objects; as text where they have no hash."""
    values = np.asarray(column, dtype=object)
    try:
        pd.factorize(values)
    except TypeError:
        return np.array([re.sub(r"\s+", " ", repr(value)) for value in values], dtype=object)
    return values


def categories_of(column: Column) -> NDArray[np.object_]:
    """The categories of a nominal column, in their order."""
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
    """The places of the values of a nominal column among ``categories``; NaN where missing or not among them."""
    place = pd.Index(categories, dtype=object).get_indexer(pd.Index(_objects(column), dtype=object))
    return np.where(place < 0, np.nan, place.astype(np.float64))


@dataclass(frozen=True, eq=False)
class Encoding:
    """How columns become numbers: their names, and the categories of the nominal ones (None for numeric ones)."""

    names: list[object]
    categories: list[NDArray[np.object_] | None]

    @classmethod
    def of(cls, columns: list[Column], names: Sequence[str] | None, nominal: Any = None) -> Encoding:
        """Learn it from training data; ``nominal`` names nominal columns besides those that are by their type."""
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
        """float64 (n, p), column by column in memory."""
        x = np.empty((len(columns[0]), len(columns)), order="F")
        for j, (column, name, categories) in enumerate(zip(columns, self.names, self.categories, strict=True)):
            x[:, j] = numbers(column, name) if categories is None else codes(column, categories)
        return x
