"""What the optimum costs, in nanoseconds per table and impurity on one core, by method.

The registry estimates with these, and ``exact`` chooses by them, compiled. Measured within a factor of two on random
tables of small counts; large ones, for which logarithms are computed and not looked up, cost up to five times as much.
"""

from __future__ import annotations

LARGEST = 1e250  # stands for everything beyond, lest a product overflow


def exhaustive(n: int, k: int) -> float:
    """2^(n-1) splits."""
    return 1000.0 + 2.0 ** min(n - 1.0, 800.0) * (10.0 + 3.0 * k)


def hyperplanes(n: int, k: int) -> float:
    """C(n, k-1) hyperplanes, the sides of n rows and 2^(k-1) splits at each; up to k rows, every split."""
    if n <= k:
        return exhaustive(n, k)
    number = 1.0
    for j in range(min(k - 1, n - k + 1)):
        number = min(LARGEST, number * (n - j) / (j + 1.0))
    return 1000.0 + number * (100.0 + 3.0 * n * k + 2.0 ** (min(k, 150) - 1.0) * (10.0 + 3.0 * k))
