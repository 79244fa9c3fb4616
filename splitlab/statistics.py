"""Statistics that several rooms need: Holm's procedure, and quantiles of counted values.

The comparison of classifiers is in ``splitlab.trees.statistics``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

NORMAL_975 = 1.959963984540054  # the 97.5 % quantile of the normal distribution


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's adjusted p-values.

    A hypothesis is rejected at a level, for all of them together, if its adjusted p-value is at most that level.

    Parameters
    ----------
    p_values : array_like, shape (m,)
        From 0 to 1, m >= 0.

    Returns
    -------
    float64 (m,)

    Notes
    -----
    The r-th smallest of m p-values is multiplied by m - r + 1; an adjusted p-value is at least that of any smaller
    one, and at most 1. Source: Holm, A simple sequentially rejective multiple test procedure (Scandinavian Journal of
    Statistics, 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def holm_rejected(p_values: ArrayLike, level: float) -> list[int]:
    """The places of the hypotheses that Holm's procedure rejects at a level, smallest p-value first.

    Parameters
    ----------
    p_values : array_like, shape (m,)
        From 0 to 1, m >= 0.
    level : float
        The probability of rejecting any hypothesis that is true, below 1.

    Examples
    --------
    >>> holm_rejected([0.004, 0.04, 0.001], 0.01)
    [2, 0]
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = holm(p)
    return [int(i) for i in np.argsort(p, kind="stable") if adjusted[i] <= level]


def wilson(share: float, runs: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of ``runs``."""
    z2 = NORMAL_975**2 / runs
    centre = (share + z2 / 2) / (1 + z2)
    half = np.sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2)
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def quantile(values: ArrayLike, counts: ArrayLike, q: float) -> float:
    """The least of some values with at least a share ``q`` of all counts at or below it; NaN without counts.

    Parameters
    ----------
    values : array_like, shape (m,)
        Ascending.
    counts : array_like of int, shape (m,)
        How often each value occurs.
    q : float
        Above 0 and at most 1.

    Examples
    --------
    >>> quantile([1.0, 2.0, 5.0], [3, 0, 1], 0.75), quantile([1.0, 2.0, 5.0], [3, 0, 1], 0.76)
    (1.0, 5.0)
    """
    below = np.cumsum(np.asarray(counts))
    if len(below) == 0 or below[-1] == 0:
        return float("nan")
    return float(np.asarray(values)[np.searchsorted(below, np.ceil(q * below[-1]))])
