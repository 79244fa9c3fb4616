"""Parameters of trees, checked: every error says in one line which parameter, what it is and what is allowed."""

from __future__ import annotations

from math import ceil, isnan, log2, sqrt
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: must be True or False; got {value!r}")
    return bool(value)


def whole(name: str, value: Any, least: int, what: str = "") -> int:
    """A whole number, at least ``least``, of what."""
    allowed = f"at least {least}{what and f' {what}'}"
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name}: must be a whole number, {allowed}; got {value!r}")
    if value < least:
        raise ValueError(f"{name}: must be {allowed}; got {value}")
    return int(value)


def real(name: str, value: Any) -> float:
    """A number, at least 0."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}: must be a number, at least 0; got {value!r}")
    if isnan(value) or value < 0:
        raise ValueError(f"{name}: must be at least 0; got {value}")
    return float(value)


def between(name: str, value: Any, low: float, high: float) -> float:
    """A number above ``low`` and below ``high``."""
    allowed = f"above {low} and below {high}"
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}: must be a number {allowed}; got {value!r}")
    if not low < float(value) < high:
        raise ValueError(f"{name}: must be {allowed}; got {value}")
    return float(value)


def share(name: str, value: Any) -> float:
    """A number above 0 and at most 1."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}: must be a number above 0 and at most 1; got {value!r}")
    if not 0 < float(value) <= 1:
        raise ValueError(f"{name}: must be above 0 and at most 1; got {value}")
    return float(value)


def samples(name: str, value: Any, n: int, least: int) -> int:
    """A number of examples; a float is a share of all n, rounded up."""
    if isinstance(value, Integral):
        return whole(name, value, least)
    if not isinstance(value, Real):
        raise TypeError(f"{name}: must be a whole number, at least {least}, or a share of the examples; got {value!r}")
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
    raise kind(f"max_features: must be a number of attributes, a share of them, 'sqrt' or 'log2'; got {value!r}")


def random_state(value: Any) -> np.random.RandomState:
    """The generator that scikit-learn makes of it."""
    try:
        return check_random_state(value)
    except ValueError:
        allowed = "a whole number from 0 to 4294967295 or a numpy.random.RandomState"
        raise ValueError(f"random_state: must be {allowed}; got {value!r}") from None
