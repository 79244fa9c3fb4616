"""What parameters of trees and of their functions may be, in scikit-learn's terms, and what they come to.

The names below are constraints as scikit-learn's estimators have them in ``_parameter_constraints``.
"""

from __future__ import annotations

from math import ceil, log2, sqrt
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import (
    Interval,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)

FLAG = ["boolean"]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]
PROBABILITY = [Interval(Real, 0, 1, closed="neither")]
UP_TO_HALF = [Interval(Real, 0, 0.5, closed="both")]
BELOW_HALF = [Interval(Real, 0, 0.5, closed="neither")]
SHARE = Interval(Real, 0, 1, closed="right")
FRACTION = Interval(RealNotInt, 0, 1, closed="right")  # beside whole numbers, of which 1 is one


def whole(least: int) -> list[Any]:
    """The constraint of whole numbers that are at least ``least``."""
    return [Interval(Integral, least, None, closed="left")]


def one_of(*words: str) -> list[Any]:
    """The constraint of texts that are among ``words``."""
    return [StrOptions(set(words))]


def check(function: str, **parameters: tuple[Any, list[Any]]) -> None:
    """Check the values of parameters against their constraints.

    Parameters
    ----------
    function : str
        The name of the function, for the message.
    **parameters : tuple of a value and a list of constraints
        The value is right if it satisfies one of them.

    Raises
    ------
    sklearn.utils._param_validation.InvalidParameterError
        A ValueError and TypeError that names the first wrong parameter and its value.
    """
    values = {name: value for name, (value, _) in parameters.items()}
    validate_parameter_constraints({name: allowed for name, (_, allowed) in parameters.items()}, values, function)


def samples(value: int | float, n: int, least: int) -> int:
    """A number of examples, at least ``least``: a float is a share of all ``n``, rounded up."""
    return int(value) if isinstance(value, Integral) else max(least, ceil(value * n))


def features(value: int | float | str | None, p: int) -> int | None:
    """How many of ``p`` attributes are considered, at least 1; None for all."""
    if value is None or isinstance(value, Integral):
        return None if value is None else int(value)
    if isinstance(value, str):
        return max(1, int(sqrt(p) if value == "sqrt" else log2(p)))
    return max(1, int(value * p))
