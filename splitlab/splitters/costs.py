"""What the optimum and the most balanced set cost, in nanoseconds per table and impurity on one core, by method.

The registry estimates with these, and ``exact`` chooses by them, compiled. Measured within a factor of two on random
tables of small counts; large ones, for which logarithms are computed and not looked up, cost up to five times as much.
"""

from __future__ import annotations

LARGEST = 1e250  # stands for everything beyond, lest a product overflow
MOST_CLASSES = 44  # of subset sums by halves: 2^22 sums in a list, 32 MB
MOST_SUMS = 500_000_000  # k N / 2, of subset sums one by one: two seconds


def exhaustive(n: int, k: int) -> float:
    """Trying all 2^(n-1) splits."""
    return 1000.0 + 2.0 ** min(n - 1.0, 800.0) * (10.0 + 3.0 * k)


def hyperplanes(n: int, k: int) -> float:
    """Trying C(n, k-1) hyperplanes: the sides of n rows and 2^(k-1) splits at each; up to k rows, every split."""
    if n <= k:
        return exhaustive(n, k)
    number = 1.0
    for j in range(min(k - 1, n - k + 1)):
        number = min(LARGEST, number * (n - j) / (j + 1.0))
    return 1000.0 + number * (100.0 + 3.0 * n * k + 2.0 ** (min(k, 150) - 1.0) * (10.0 + 3.0 * k))


def by_halves(k: int, examples: float) -> bool:
    """Whether the set of classes closest to half of the examples is sought by halves, and not sum by sum."""
    return k <= MOST_CLASSES and k * (examples // 2) > 16 << (k // 2)


def balanced(n: int, k: int, examples: float) -> float:
    """Finding the set of classes closest to half of the examples."""
    return 300.0 * 2.0 ** (k / 2) if by_halves(k, examples) else 4.0 * k * examples / 2


def balanced_limit(n: int, k: int, examples: int) -> str | None:
    """Why the set of classes closest to half of the examples cannot be found in seconds; None if it can."""
    if k <= MOST_CLASSES or k * examples // 2 <= MOST_SUMS:
        return None
    return (
        f"with up to {examples:,} examples it would take too long (cost the lesser of k N and 2^(k/2)); "
        "choose 'list_scheduling', or smaller counts"
    )
