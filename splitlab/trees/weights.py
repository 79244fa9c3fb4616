"""Weights of examples as whole numbers, which is what tables of counts are made of."""

from __future__ import annotations

from collections.abc import Mapping
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight

from splitlab._jit import Floats, Ints

BITS = 49  # the sum of scaled weights is below 2^49, and so below the 1e15 that splitters take


def read_weights(sample_weight: Any, class_weight: Any, classes: NDArray[Any], y: Ints) -> Floats | None:
    """The weight of each example: the product of its own and that of its class.

    Parameters
    ----------
    sample_weight : array_like, shape (n,), or None
        Not negative, and not all 0.
    class_weight : dict, "balanced" or None
        As in scikit-learn's trees: ``"balanced"`` gives all classes the same total, counted without ``sample_weight``.
    classes : ndarray (k,)
        The labels.
    y : int64 (n,)
        The index of each example's label.

    Returns
    -------
    float64 (n,)
        None if there are no weights of either kind.

    Raises
    ------
    ValueError, TypeError
        A weight is negative, not finite or missing; all are 0; or ``class_weight`` names no class of the data.
    """
    if sample_weight is None and class_weight is None:
        return None
    weight: Floats = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
    if class_weight is not None:
        weight = weight * _class_weights(class_weight, classes, y)[y]
        if not weight.any():
            raise ValueError("class_weight: every example has weight 0; give one class a larger weight")
    return weight


def _class_weights(given: Mapping[Any, float] | str, classes: NDArray[Any], y: Ints) -> Floats:
    """The weight of each class: float64 (k,)."""
    if isinstance(given, str):  # "balanced"
        return len(y) / (len(classes) * np.bincount(y, minlength=len(classes)))
    labels = classes.tolist()
    extra = [label for label in given if label not in labels]
    if extra and any(label not in given for label in labels):  # all classes named and more: a fold may lack some
        raise ValueError(f"class_weight: {extra[0]!r} is no label; the labels are {', '.join(map(repr, labels))}")
    for label, weight in given.items():
        if not (isinstance(weight, (int, float, np.number)) and 0 <= weight < np.inf):
            raise ValueError(f"class_weight: {weight!r} of class {label!r} is not a finite number of at least 0")
    return np.array([given.get(label, 1.0) for label in labels], np.float64)


def in_units(weight: Floats) -> tuple[Ints, float]:
    """Weights (n,) as whole numbers of at least 1, int64 (n,), and what 1 is worth.

    Whole numbers below 2^49 in all stay what they are. Others are scaled by a power of two so that their sum is just
    below 2^49, and rounded: to 1e-14 of the sum. So equal weights stay equal, and splits that differ by no more
    than that may count as equal.
    """
    total = float(weight.sum())
    if total < 2.0**BITS and (weight == np.rint(weight)).all():
        return weight.astype(np.int64), 1.0
    largest = float(weight.max())
    shift = BITS - 1 - frexp(float((weight / largest).sum()))[1] - frexp(largest)[1]
    return np.maximum(np.rint(np.ldexp(weight, shift)), 1.0).astype(np.int64), float(np.ldexp(1.0, -shift))
