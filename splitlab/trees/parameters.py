"""Parameters of trees, checked: every error says in one line which parameter, what it is and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2, sqrt
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from splitlab.contingency import show


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: must be True or False; got {show(value)}")
    return bool(value)


def whole(name: str, value: Any, least: int, what: str = "") -> int:
    """A whole number, at least ``least``, of what."""
    allowed = f"at least {least}{what and f' {what}'}"
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name}: must be a whole number, {allowed}; got {show(value)}")
    if value < least:
        raise ValueError(f"{name}: must be {allowed}; got {show(value)}")
    return int(value)


def _within(name: str, value: Any, allowed: str, is_allowed: Callable[[float], bool]) -> float:
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name}: {show(value)} is too large for a float") from None
    if not is_allowed(number):
        raise ValueError(f"{name}: must be {allowed}; got {show(value)}")
    return number


def real(name: str, value: Any) -> float:
    """A number, at least 0."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}: must be a number, at least 0; got {show(value)}")
    return _within(name, value, "at least 0", lambda x: x >= 0)


def between(name: str, value: Any, low: float, high: float) -> float:
    """A number above ``low`` and below ``high``."""
    allowed = f"above {low} and below {high}"
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}: must be a number {allowed}; got {show(value)}")
    return _within(name, value, allowed, lambda x: low < x < high)


def share(name: str, value: Any) -> float:
    """A number above 0 and at most 1."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}: must be a number above 0 and at most 1; got {show(value)}")
    return _within(name, value, "above 0 and at most 1", lambda x: 0 < x <= 1)


def samples(name: str, value: Any, n: int, least: int) -> int:
    """A number of examples; a float is a share of all n, rounded up."""
    if isinstance(value, Integral):
        return whole(name, value, least)
    if not isinstance(value, Real):
        raise TypeError(
            f"{name}: must be a whole number, at least {least}, or a share of the examples; got {show(value)}"
        )
    return max(least, ceil(share(name, value) * n))


def features(value: Any, p: int) -> int | None:
    """How many of p attributes are considered; None for all."""
    if value is None:
        return None
    if isinstance(value, str) and value in ("sqrt", "log2"):
        return max(1, int(sqrt(p) if value == "sqrt" else log2(p)))
    if isinstance(value, Integral):
        return whole("max_features", value, 1)
    if isinstance(value, Real):
        return max(1, int(share("max_features", value) * p))
    kind = ValueError if isinstance(value, str) else TypeError
    raise kind(f"max_features: must be a number of attributes, a share of them, 'sqrt' or 'log2'; got {show(value)}")


def random_state(value: Any) -> np.random.RandomState:
    """The generator that scikit-learn makes of it."""
    try:
        return check_random_state(value)
    except ValueError:
        allowed = "a whole number from 0 to 4294967295 or a numpy.random.RandomState"
        raise ValueError(f"random_state: must be {allowed}; got {show(value)}") from None
