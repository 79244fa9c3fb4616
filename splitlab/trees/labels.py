"""Labels of a user's data: the classes, in their own type, and the class of each example as a number."""

from __future__ import annotations

import sys
import warnings
from traceback import walk_stack
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from splitlab._jit import Ints
from splitlab.contingency import show
from splitlab.trees.columns import unmasked

COLUMN = "A column-vector y was passed when a 1d array was expected; it is taken as a label for each example"


def read_labels(y: Any, n: int) -> tuple[NDArray[Any], Ints]:
    """The classes (k,), ascending, and the places (n,) of the labels among them.

    Whole numbers, truth values and text stay what they are, also in those types of pandas that know missing values.

    Raises
    ------
    ValueError, TypeError
        Not one label for each of n examples; one is missing; they are of several types, or measurements.
    """
    labels = _one_column(y)
    if len(labels) != n:
        raise ValueError(f"y: {n} examples need as many labels; got {len(labels)}")
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise ValueError(f"Input y contains NaN: example {missing[0]} has no label; leave such examples out")
    if labels.dtype == object:
        labels = _of_one_type(labels)
    if isinstance(labels[0], str) and labels.dtype == object:
        codes, texts = pd.factorize(labels, sort=True)  # much faster than to sort them all
        return texts, codes.astype(np.int64)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_classification_targets(labels)
    for warning in caught:
        _warn(str(warning.message), warning.category)
    classes, places = np.unique(labels, return_inverse=True)
    return classes, places.astype(np.int64)


def _one_column(y: Any) -> NDArray[Any]:
    """Labels (n,); objects where numpy has no such type, or where it would make text of numbers among text."""
    if isinstance(y, np.ndarray):
        labels = unmasked(y)
    elif hasattr(y, "dtype"):
        labels = np.asarray(y if isinstance(y.dtype, np.dtype) else y.astype(object))
    else:
        labels = unmasked(np.asarray(y, dtype=object))
    if labels.ndim == 2 and labels.shape[1] == 1:
        _warn(COLUMN, DataConversionWarning)
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    return labels


def _of_one_type(labels: NDArray[np.object_]) -> NDArray[Any]:
    """Objects that are all numbers or all truth values as such; text as it is."""
    kinds = {_kind(of) for of in set(map(type, labels))}
    if len(kinds) > 1:
        raise TypeError(f"y: labels of several types, {' and '.join(sorted(kinds))}; make them all text or all numbers")
    if not kinds <= {"number", "truth value"}:
        return labels
    values = labels.tolist()
    found = np.array(values)
    if found.dtype.kind in "biu":
        return found
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    whole = [value for value in values if isinstance(value, int)]
    if len(whole) == len(values) and min(whole) >= 0 and max(whole) < 1 << 64:
        return np.array(values, np.uint64)  # numpy would make floats of large and small ones
    for value in whole:
        if not _is_float(value) or len(whole) == len(values):
            raise ValueError(f"y: no type of numpy has {show(value)} and all other labels; make text of them")
    return found


def _is_float(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def _warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called this package."""
    names = [frame.f_globals.get("__name__", "") for frame, _ in walk_stack(sys._getframe())]
    own = next((i for i, name in enumerate(names) if not name.startswith("splitlab.")), 0)
    warnings.warn(message, category, stacklevel=own + 1)


def _kind(of: type) -> str:
    kinds: dict[str, tuple[type, ...]] = {
        "text": (str,),
        "truth value": (bool, np.bool_),
        "number": (int, float, np.number),
    }
    return next((kind for kind, types in kinds.items() if issubclass(of, types)), of.__name__)
