"""Columns of a user's data as numbers: the one rule by which a column is numeric, nominal or refused.

Trees, `best_split` and `thresholds` read their data here. Studies of data sets, whose csv files have text only, go by
the last line, unless their catalogue says what a column is.

=============================================  ========  =============================================================
a column of                                    is        remarks
=============================================  ========  =============================================================
truth values, whole numbers, floats: numpy,    numeric   as 64-bit floats; two different numbers that are the same
pandas (``Int64``, sparse, ...), Arrow,                  float (2^53 and 2^53 + 1) are an error in training
polars
``Decimal``, ``Fraction``: objects, Arrow,     numeric   likewise
polars
text, bytes: numpy, pandas, Arrow, polars      nominal   values ascending; a warning where all of it reads as numbers
                                                         and some have a decimal point
categories: pandas, Arrow dictionary, polars   nominal   whatever the categories are, numbers too; in their order, those
``Categorical``, ``Enum``                                without examples left out; a warning where pandas or Arrow say
                                                         that they are ordered, since the order is not used
objects, lists: all known values are numbers   numeric   in a frame as in an array
objects, lists: others                         nominal   a warning where numbers and text are mixed
dates, times, durations, periods, complex      refused   make numbers or text of them
anything else, such as intervals               nominal   values without a hash by what Python writes for them
a csv file of a study                          numeric   if all known values are plain numbers, such as -1.5 or 2e3,
                                                         none of them with a leading zero (``007``); else nominal
=============================================  ========  =============================================================

Missing are NaN, None, ``pandas.NA``, NaT, the nulls of Arrow and polars, and masked entries. ``nominal`` makes further
columns nominal, and there is no warning about those. Text in it is a name. A whole number is a place, as in
scikit-learn, or a name where there is no such place; the place of one column that is the name of another is an error.

Numeric columns become float64, nominal ones the codes 0, 1, ... of their categories. NaN stands for what is missing
and, later, for categories that were not there in training. The order of the categories, which decides between equal
splits, is that of the column's type, else ascending, or by type and text where values of several types cannot be
compared.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from splitlab._jit import Bools, Floats
from splitlab.tables.contingency import show
from splitlab.text import counted

NUMBERS = (Real, Decimal, np.bool_)
REFUSED = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64, pd.Period, complex)
EXACT = 2.0**53  # whole numbers up to here are floats
WITH_POINT = re.compile(r"\s*[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?\s*")
PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)  # in a csv file: no 1_0, no nan
CODE = re.compile(r"[+-]?0\d+", re.ASCII)
FEW = 3  # values shown in a message


@dataclass(frozen=True, eq=False)
class Column:
    """A column, and what the rule makes of it.

    Attributes
    ----------
    name : object
        Its name, or its index if it has none.
    values : ndarray (n,)
        Numbers, text or objects.
    nominal : bool
        Whether the rule takes it for nominal.
    order : ndarray (c,), optional
        The categories in the order of the column's type.
    ordered : bool
        Whether its type says that they are ordered.
    """

    name: object
    values: NDArray[Any]
    nominal: bool
    order: NDArray[np.object_] | None = None
    ordered: bool = False

    @classmethod
    def of(cls, data: Any, name: object) -> Column:
        """Apply the rule to a numpy array or pandas Series (n,); TypeError for a type that is refused."""
        dtype = data.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            order = objects(dtype.categories)
            values = objects([*order, None])[data.cat.codes]  # code -1 is missing
            return cls(name, values, True, order, bool(dtype.ordered))
        if isinstance(dtype, pd.PeriodDtype) or dtype.kind in "Mmc":
            raise _refused(name, dtype)
        if isinstance(dtype, np.dtype):
            values = unmasked(data if isinstance(data, np.ndarray) else data.to_numpy())
            text = dtype.kind in "UST"
        else:
            values = _numpy_numbers(data) if dtype.kind in "biuf" else data.to_numpy(dtype=object)
            text = pd.api.types.is_string_dtype(dtype)
        if values.dtype.kind not in "OT":
            return cls(name, values, text)
        values = values.astype(object)
        types = set(map(type, values[~pd.isna(values)]))
        for found in types:
            if issubclass(found, REFUSED):
                raise _refused(name, found.__name__)
        return cls(name, values, text or not all(issubclass(found, NUMBERS) for found in types))

    @property
    def missing(self) -> Bools:
        """Which values are missing: (n,)."""
        return np.asarray(pd.isna(self.values))


def _refused(name: object, what: object) -> TypeError:
    return TypeError(f"column {name!r} is of type {what}; make real numbers or text of it")


def _numpy_numbers(data: pd.Series[Any]) -> NDArray[Any]:
    """A column of numbers of a type of pandas as numpy has them: floats where some are missing, if these are exact."""
    if not data.isna().any():
        dense: Any = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64}[data.dtype.kind]
        return np.asarray(data.to_numpy(dtype=dense))
    values = data.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(data.astype(object)) if (np.abs(values) >= EXACT).any() else values


def objects(values: Any) -> NDArray[np.object_]:
    """Values as Python objects in one dimension, tuples among them as they are."""
    found = np.empty(len(values), dtype=object)
    found[:] = list(values)
    return found


def in_pandas(data: Any) -> Any:
    """Data of polars and pyarrow, and pandas columns of Arrow dictionaries, as pandas has them; other data as they are.

    Neither library is imported here.

    Raises
    ------
    TypeError
        The data are a polars LazyFrame.
    """
    library = type(data).__module__.partition(".")[0]
    if library == "polars":
        if hasattr(data, "collect"):
            raise TypeError("a polars LazyFrame holds no data yet; call its collect()")
        if hasattr(data, "get_columns"):
            return pd.DataFrame({column.name: _from_polars(column) for column in data.get_columns()})
        return _from_polars(data)
    if library == "pyarrow" and hasattr(data, "to_pandas"):
        data = data.to_pandas(types_mapper=pd.ArrowDtype)
    if isinstance(data, pd.DataFrame):
        coded = [j for j, dtype in enumerate(data.dtypes) if _is_dictionary(dtype)]
        if coded:
            columns = [_decoded(data.iloc[:, j]) if j in coded else data.iloc[:, j] for j in range(data.shape[1])]
            data = pd.concat(columns, axis=1)
    elif isinstance(data, pd.Series) and _is_dictionary(data.dtype):
        data = _decoded(data)
    return data


def _is_dictionary(dtype: object) -> bool:
    """Whether a type of pandas is that of an Arrow dictionary."""
    return isinstance(dtype, pd.ArrowDtype) and hasattr(dtype.pyarrow_dtype, "index_type")


def _decoded(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column of an Arrow dictionary as one of categories."""
    arrow = column.array.__arrow_array__().unify_dictionaries().combine_chunks()
    dtype: Any = column.dtype
    categories = pd.Index(arrow.dictionary.to_pylist())
    codes = arrow.indices.to_numpy(zero_copy_only=False)
    codes = np.where(np.isnan(codes), -1, codes).astype(np.int64)
    found = pd.Categorical.from_codes(codes, categories, ordered=dtype.pyarrow_dtype.ordered)
    return pd.Series(found, index=column.index, name=column.name)


def _from_polars(column: Any) -> pd.Series[Any]:
    """A polars Series as one of pandas."""
    dtype, name = column.dtype, column.name
    kind = str(dtype.base_type())
    if kind == "Enum":
        return pd.Series(pd.Categorical(column.to_list(), categories=dtype.categories.to_list()), name=name)
    if kind == "Categorical":
        return pd.Series(pd.Categorical(column.to_list()), name=name)
    if kind == "String":
        return pd.Series(column.to_list(), name=name, dtype="string")
    if dtype.is_float() or ((dtype.is_integer() or kind == "Boolean") and not column.null_count()):
        return pd.Series(column.to_numpy(), name=name)
    return pd.Series(objects(column.to_list()), name=name, dtype=object)


def read_columns(data: Any, estimator: Any = None) -> list[Column]:
    """The columns of a user's examples.

    Parameters
    ----------
    data : array_like or DataFrame, shape (n, p)
        Numbers, categories and text, with missing values; what `in_pandas` returns.
    estimator : object, optional
        The estimator that reads them, for messages.

    Raises
    ------
    ValueError, TypeError
        The data are not two-dimensional, sparse or complex, or have no rows or columns; or the rule refuses a column.
    """
    if isinstance(data, pd.DataFrame):
        if not all(data.shape):
            raise ValueError(f"Found array with {data.shape[0]} sample(s) and {data.shape[1]} feature(s); 1 is needed")
        return [Column.of(data.iloc[:, j], name) for j, name in enumerate(data.columns)]
    if isinstance(data, (list, tuple)) and np.asarray(data, dtype=object).ndim == 2:
        data = np.asarray(data, dtype=object)  # otherwise 1 beside "a" would become "1"
    array = check_array(unmasked(data), dtype=None, ensure_all_finite=False, estimator=estimator)
    return [Column.of(values, j) for j, values in enumerate(array.T)]


def unmasked(data: Any) -> Any:
    """An array with NaN in place of its masked entries; other data as they are."""
    if isinstance(data, np.ma.MaskedArray):
        if not np.ma.is_masked(data):
            return np.asarray(data)
        return np.ma.filled(data if data.dtype.kind == "f" else data.astype(object), np.nan)
    return data


def named_columns(nominal: Any, names: Sequence[object]) -> Bools:
    """Which of p columns are named: bool (p,).

    Parameters
    ----------
    nominal : str, int, list of these, or bool array (p,)
        Names, indices or a mask of columns.
    names : sequence (p,)
        The names of the columns, or their indices if they have none.

    Raises
    ------
    ValueError
        There is no such column, a number is the place of one column and the name of another one, or the mask has
        another length.
    """
    p = len(names)
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
        number = isinstance(name, (int, np.integer)) and not isinstance(name, bool)
        here = np.array([isinstance(other, int if number else str) and other == name for other in names], np.bool_)
        if isinstance(name, str):
            if not here.any():
                raise ValueError(f"nominal: there is no column {name!r}")
            chosen |= here
        elif number and -p <= name < p:
            if here.any() and not here[int(name)]:
                other = f"column {names[int(name)]!r} is at place {name}, and another column has that name"
                raise ValueError(f"nominal: {other}; give a mask of bools")
            chosen[int(name)] = True
        elif number and here.any():
            chosen |= here
        else:
            raise ValueError(f"nominal: {name!r} is neither the name nor the index of one of {counted(p, 'column')}")
    return chosen


def numbers(column: Column) -> Floats:
    """A numeric column as float64 (n,), NaN where missing; ValueError that names the column and a wrong value."""
    values, name = column.values, column.name
    try:
        if values.dtype.kind == "O":
            values = np.where(column.missing, np.nan, values)
        found = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        known = values[~column.missing]
        bad = next(value for value in known if not _is_number(value))
        raise ValueError(f"column {name!r} is numeric; {show(bad)} could not be converted to a float") from None
    if np.isinf(found).any():
        raise ValueError(f"Input X contains infinity, in column {name!r}")
    return found


def _is_number(value: Any) -> bool:
    """Whether Python makes a float of a value."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def refuse_merged(column: Column) -> None:
    """ValueError when two different values of a numeric column are one and the same float."""
    values = column.values
    if values.dtype.kind in "iu":
        if not len(values) or (values.max() < EXACT and values.min() > -EXACT):
            return
        values = np.unique(values)
    elif values.dtype.kind == "O":
        values = values[~column.missing]
        if set(map(type, values)) <= {float, bool}:
            return
    else:
        return
    seen: dict[float, Any] = {}
    for value in (value for value in values.tolist() if not isinstance(value, float) and _is_number(value)):
        other = seen.setdefault(float(value), value)
        if other != value:
            both = f"{show(other)} and {show(value)} are the same 64-bit float"
            raise ValueError(f"column {column.name!r}: {both}; subtract a constant from all, or make it nominal")


def _with_hash(values: NDArray[Any]) -> NDArray[np.object_]:
    """Values that can be looked up, as Python objects (n,); as text where some have no hash.

    Scikit-learn's checks of an estimator fit it to a dict among numbers.
    """
    values = np.asarray(values, dtype=object)
    try:
        pd.factorize(values)
    except TypeError:
        return np.array([re.sub(r"\s+", " ", repr(value)) for value in values], dtype=object)
    return values


def categories_of(column: Column) -> NDArray[np.object_]:
    """The categories of a nominal column that have examples, in their order: (c,)."""
    found = objects(pd.factorize(_with_hash(column.values))[1])
    if column.order is not None:
        place = pd.Index(column.order, dtype=object).get_indexer(pd.Index(found, dtype=object))
        return found[np.argsort(place)]
    try:
        return found[np.argsort(found, kind="stable")]
    except TypeError:
        return found[sorted(range(len(found)), key=lambda i: (type(found[i]).__name__, str(found[i])))]


def codes(column: Column, categories: NDArray[np.object_]) -> Floats:
    """The codes of a nominal column, indices into ``categories``: float64 (n,), NaN for values that are not there."""
    place = pd.Index(categories, dtype=object).get_indexer(pd.Index(_with_hash(column.values), dtype=object))
    return np.where(place < 0, np.nan, place.astype(np.float64))


def surprise(column: Column, categories: NDArray[np.object_]) -> str:
    """What a user may not expect of a column that the rule takes for nominal, in one line; empty if nothing."""
    name = f"column {column.name!r}"
    if column.order is not None:
        if not column.ordered or len(categories) < 3:
            return ""
        return f"{name}: is nominal, and the order of its categories is not used; for thresholds pass its codes"
    text = [value for value in categories if isinstance(value, str)]
    if text and any(isinstance(value, NUMBERS) for value in categories):
        return f"{name}: is nominal, since it has text ({_few(text)}) among numbers; clean it, or ask for nominal"
    if len(text) == len(categories) and all(map(_is_number, text)) and any(map(WITH_POINT.fullmatch, text)):
        return f"{name}: is nominal, since its numbers are text ({_few(text)}); convert them, or ask for nominal"
    return ""


def _few(values: Sequence[Any]) -> str:
    """The first few of some values."""
    return ", ".join(map(show, values[:FEW])) + (", ..." if len(values) > FEW else "")


def nominal_reason(texts: Iterable[tuple[int, str]]) -> str:
    """Why a column of a csv file is nominal: its first value that makes it so, with its line; empty if it is numeric.

    Parameters
    ----------
    texts : iterable of (line, text)
        The known values.

    Examples
    --------
    >>> nominal_reason([(2, "1.5"), (3, "-2e3")])
    ''
    >>> nominal_reason([(2, "1"), (3, "big")])
    "'big' on line 3 is no number"
    """
    any_known = False
    for line, text in texts:
        any_known = True
        if not PLAIN_NUMBER.fullmatch(text):
            return f"{show(text)} on line {line} is no number"
        if CODE.fullmatch(text):
            return f"{show(text)} on line {line} begins with a zero"
    return "" if any_known else "no value is known"


@dataclass(frozen=True, eq=False)
class Encoding:
    """How columns become numbers.

    Attributes
    ----------
    names : list (p,)
        The names of the columns, or their indices if they have none.
    categories : list (p,) of ndarray or None
        The categories of a nominal column; None for a numeric one.
    remarks : list of str
        What may be surprising in the training data, a line each.
    """

    names: list[object]
    categories: list[NDArray[np.object_] | None]
    remarks: list[str] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, columns: list[Column], nominal: Any = None) -> Encoding:
        """Learn the encoding of training data.

        Parameters
        ----------
        columns : list of Column
            The result of `read_columns`.
        nominal : optional
            Columns that are nominal whatever their type, as for `named_columns`.

        Raises
        ------
        ValueError
            ``nominal`` names no column, or two different numbers are the same float.
        """
        names = [column.name for column in columns]
        named = np.zeros(len(columns), np.bool_) if nominal is None else named_columns(nominal, names)
        found: list[NDArray[np.object_] | None] = []
        remarks = []
        for column, here in zip(columns, named, strict=True):
            if not (column.nominal or here):
                refuse_merged(column)
                found.append(None)
                continue
            categories = categories_of(column)
            found.append(categories)
            if not here and (remark := surprise(column, categories)):
                remarks.append(remark)
        return cls(names, found, remarks)

    @property
    def nominal(self) -> Bools:
        """Which columns are nominal: (p,)."""
        return np.array([c is not None for c in self.categories], np.bool_)

    def matrix(self, columns: list[Column]) -> Floats:
        """The columns as numbers: float64 (n, p), column by column in memory."""
        x = np.empty((len(columns[0].values), len(columns)), order="F")
        for j, (column, categories) in enumerate(zip(columns, self.categories, strict=True)):
            x[:, j] = numbers(column) if categories is None else codes(column, categories)
        return x

    def unseen(self, columns: list[Column], x: Floats) -> Iterator[tuple[str, bool]]:
        """For each nominal column with values that training has not seen: which, in words, and whether that is all.

        ``x`` (n, p) are the columns as numbers.
        """
        for j, (column, categories) in enumerate(zip(columns, self.categories, strict=True)):
            if categories is None or not (unknown := np.isnan(x[:, j])).any():
                continue
            unknown &= ~column.missing
            values = list(pd.unique(_with_hash(column.values[unknown])))
            if not values:
                continue
            here, there = (sorted({type(value).__name__ for value in of}) for of in (values, categories))
            types = f" ({here[0]}, not {there[0]})" if len(here) == len(there) == 1 and here != there else ""
            seen = f"training has seen {_few(list(categories)) or 'none'}"
            yield f"column {column.name!r}: {_few(values)}{types}; {seen}", bool(np.isnan(x[~column.missing, j]).all())
