"""The splitters of the published tree program in a few lines."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np


def side(counts: Sequence[int], impurity: str) -> float:
    size = sum(counts)
    if not size:
        return 1.0 if impurity == "gini" else 0.0
    result = 1.0 if impurity == "gini" else 0.0
    for c in counts:
        if c:
            result -= (c / size) ** 2 if impurity == "gini" else c / size * math.log2(c / size)
    return result


def value(table: np.ndarray, left: Sequence[int], impurity: str, products: bool) -> float:
    a = [sum(int(table[v, i]) for v in left) for i in range(table.shape[1])]
    b = [int(total) - x for total, x in zip(table.sum(0), a, strict=True)]
    m, n = sum(a), int(table.sum())
    if products and impurity == "gini":
        return (m * side(a, impurity) + (n - m) * side(b, impurity)) / n
    return (m / n) * side(a, impurity) + ((n - m) / n) * side(b, impurity)


def first_least(table: np.ndarray, candidates: list[list[int]], impurity: str, products: bool) -> list[int]:
    return min(candidates, key=lambda left: value(table, left, impurity, products))


def along(table: np.ndarray, classes: Sequence[int]) -> list[list[int]]:
    rest = [(int(row.sum()) - sum(int(row[i]) for i in classes)) / int(row.sum()) for row in table]
    order = sorted(range(len(table)), key=rest.__getitem__)
    return [order[:j] for j in range(1, len(order))]


def lca(table: np.ndarray, impurity: str) -> list[int]:
    return first_least(table, along(table, [int(table.sum(0).argmax())]), impurity, True)


def hcc(table: np.ndarray, impurity: str) -> list[int]:
    k = table.shape[1]
    sets = [c for size in range(1, k // 2 + 1) for c in itertools.combinations(range(k), size)]
    return first_least(table, [left for c in sets for left in along(table, c)], impurity, True)


def sliq_ext_prefix(table: np.ndarray, impurity: str) -> list[int]:
    n = len(table)  # rows are numbered below 8, so a set of them is ascending, whatever has been taken out
    return first_least(table, [list(range(j, n)) for j in range(1, n + 1)], impurity, False)


REFERENCE = {"lca": lca, "hcc": hcc, "sliq_ext_prefix": sliq_ext_prefix}
