"""What is counted over all splitters of a cell together: ties, and differences of two on the same tables.

Three rules for ties. *All*: every splitter with the least impurity wins the table. *Shared*: m winners get 1/m each.
*Strict*: only who wins alone wins. The first is the published one, and that of the columns ``wins`` and ``percent``.

A difference of two splitters has the standard error of the differences table by table: they share the tables, so
their errors are not independent. For wins (all) it is ((u + v)/N - ((u - v)/N)^2) / N under the root, u and v being
the tables that only the one and only the other wins. The impurities' difference is 200 (I_a - I_b) / (I_a + I_b), in
percent of their mean and 0 where both are 0: it never exceeds 200 and is turned round with a and b.
"""

from __future__ import annotations

from itertools import combinations
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splitlab.statistics import wilson


class Together:
    """Running sums over the tables of one cell and impurity.

    Attributes
    ----------
    winners : int64 (S, S)
        How many tables splitter s won as one of m winners, at [s, m - 1].
    only : int64 (S, S)
        How many tables a won and b did not, at [a, b].
    compared : int64 (S, S)
        On how many tables neither of the two failed, for a < b; so are the next two.
    total, squares : float64 (S, S)
        Sums over these of the difference of the impurities, and of its square.
    """

    def __init__(self, splitters: int) -> None:
        shape = (splitters, splitters)
        self.winners, self.only, self.compared = (np.zeros(shape, np.int64) for _ in range(3))
        self.total, self.squares = np.zeros(shape), np.zeros(shape)

    def add(self, won: NDArray[np.bool_], impurities: NDArray[np.float64]) -> None:
        """Take in the tables of one block, (runs, S) each; impurities are NaN where a splitter failed."""
        number = won.sum(axis=1)
        for s in range(won.shape[1]):
            self.winners[s] += np.bincount(number[won[:, s]] - 1, minlength=won.shape[1])
        points = won.astype(np.float64)
        self.only += (points.T @ (1.0 - points)).astype(np.int64)
        for a in range(won.shape[1] - 1):
            difference = relative_difference(impurities[:, a : a + 1], impurities[:, a + 1 :])
            known = ~np.isnan(difference)
            difference[~known] = 0.0
            self.compared[a, a + 1 :] += known.sum(axis=0)
            self.total[a, a + 1 :] += difference.sum(axis=0)
            self.squares[a, a + 1 :] += (difference * difference).sum(axis=0)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All the sums; what is done to them is done to this."""
        return self.winners, self.only, self.compared, self.total, self.squares

    def merge(self, other: Together) -> None:
        """Take in the sums over other tables."""
        for sums, added in zip(self.arrays(), other.arrays(), strict=True):
            sums += added


def relative_difference(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """200 (a - b) / (a + b), where both are 0: 0; NaN where either is."""
    both = a + b
    return np.divide(200.0 * (a - b), both, out=np.where(np.isnan(both), np.nan, 0.0), where=both > 0)


def tie_fields(together: Together, s: int, runs: int) -> dict[str, float]:
    """The wins of splitter ``s`` when ties are shared, and when they count for none of the tied."""
    counts = together.winners[s].tolist()
    strict = counts[0] if counts else 0
    # fsum rounds once: plain sums of floats differ between versions of Python.
    shared = fsum(count / (m + 1) for m, count in enumerate(counts))
    squares = fsum(count / (m + 1) ** 2 for m, count in enumerate(counts))
    return {**_share_fields("shared", shared, squares, runs), **_share_fields("strict", strict, strict, runs)}


def _share_fields(rule: str, won: float, squares: float, runs: int) -> dict[str, float]:
    """Of points from 0 to 1 per table; Wilson's interval is that of points 0 and 1 only, which vary most."""
    share = won / runs
    low, high = wilson(share, runs)
    return {
        f"wins_{rule}": won,
        f"percent_{rule}": 100.0 * share,
        f"standard_error_{rule}": 100.0 * _error(share, squares / runs, runs),
        f"wilson_low_{rule}": 100.0 * low,
        f"wilson_high_{rule}": 100.0 * high,
    }


def _error(mean: float, mean_square: float, number: int) -> float:
    """The standard error of a mean."""
    return float(np.sqrt(max(0.0, mean_square - mean * mean) / number))


def pair_rows(together: Together, splitters: tuple[str, ...], runs: int) -> list[dict[str, Any]]:
    """For every two splitters, the differences of their wins and impurities."""
    rows = []
    for a, b in combinations(range(len(splitters)), 2):
        u, v, m = (int(x) for x in (together.only[a, b], together.only[b, a], together.compared[a, b]))
        mean = together.total[a, b] / m if m else np.nan
        rows.append(
            {
                "splitter_a": splitters[a],
                "splitter_b": splitters[b],
                "runs": runs,
                "only_a_wins": u,
                "only_b_wins": v,
                "percent_difference": 100.0 * (u - v) / runs,
                "percent_difference_error": 100.0 * _error((u - v) / runs, (u + v) / runs, runs),
                "compared": m,
                "impurity_difference": mean,
                "impurity_difference_error": _error(mean, together.squares[a, b] / m, m) if m else np.nan,
            }
        )
    return rows


TIES = [*tie_fields(Together(1), 0, 1)]
PAIRS = [*pair_rows(Together(2), ("a", "b"), 1)[0]]
