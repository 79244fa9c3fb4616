"""Labels of a user's data: the classes, in their own type, and the class of each example as a number."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from splitlab._jit import Ints
from splitlab.trees.columns import in_pandas, unmasked

COLUMN = "A column-vector y was passed when a 1d array was expected; it is taken as a label for each example"
KINDS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "truth value": (bool, np.bool_),
    "number": (int, float, np.number),
}


def read_labels(y: Any, n: int) -> tuple[NDArray[Any], Ints]:
    """The classes of a user's labels, and the class of each example.

    Parameters
    ----------
    y : array_like, shape (n,) or (n, 1)
        Labels. Whole numbers, truth values and text stay what they are, also in those types of pandas that know
        missing values.
    n : int
        The number of examples.

    Returns
    -------
    classes : ndarray (k,)
        The different labels, ascending.
    codes : int64 (n,)
        The index of each example's label in ``classes``.

    Raises
    ------
    ValueError, TypeError
        There is not one label for each example; one is missing; they are of several types, or measurements.
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
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int64)


def _one_column(y: Any) -> NDArray[Any]:
    """Labels (n,); objects where numpy has no such type, or where it would make text of numbers among text."""
    y = in_pandas(y)
    if isinstance(y, np.ndarray):
        labels = unmasked(y)
    elif hasattr(y, "dtype"):
        labels = np.asarray(y if isinstance(y.dtype, np.dtype) else y.astype(object))
    else:
        labels = np.asarray(y, dtype=object)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(COLUMN, DataConversionWarning, stacklevel=5)  # at the call of `fit`
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    return labels


def _of_one_type(labels: NDArray[np.object_]) -> NDArray[Any]:
    """Objects that are all numbers or all truth values as an array of these; other objects as they are."""
    kinds = {_kind(of) for of in set(map(type, labels))}
    if len(kinds) > 1:
        raise TypeError(f"y: labels of several types, {' and '.join(sorted(kinds))}; make them all text or all numbers")
    return np.array(labels.tolist()) if kinds <= {"number", "truth value"} else labels


def _kind(of: type) -> str:
    """What labels of a type are called in a message."""
    return next((kind for kind, types in KINDS.items() if issubclass(of, types)), of.__name__)
