"""What all reference implementations share: the impurity, the walk along an order of the rows, the choice of the best.

The words and the rules for ties are those of the package's docstring.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, compress
from operator import add, index, sub
from typing import TypeVar

from splitlab.plugins import load

T = TypeVar("T")
Table = Sequence[Sequence[int]]
Rows = list[list[int]]
Measure = Callable[[list[int]], float]
Candidate = tuple[list[int], int]  # an order of the rows and a cut: order[:cut] goes to the left
Scored = Iterator[tuple[float, Candidate]]  # candidates with their impurities

MARGIN = 1e-12  # times N: below this, two impurities differ by rounding only


def _gini(counts: list[int]) -> float:
    """I(u) = |u| - sum u_i^2 / |u|, written without the cancellation: the sum is an exact integer."""
    total = sum(counts)
    return sum(c * (total - c) for c in counts) / total if total else 0.0


def _entropy(counts: list[int]) -> float:
    """I(u) = sum u_i log2(|u| / u_i): no negative term, and log1p where the ratio is close to 1."""
    total, bits = sum(counts), 0.0
    for c in filter(None, counts):
        bits += c * (math.log2(total / c) if 2 * c <= total else math.log1p((total - c) / c) / math.log(2))
    return bits


MEASURES: dict[str, Measure] = {"gini": _gini, "entropy": _entropy}


def measure_of(name: str) -> Measure:
    """I(u) as a function of class counts u; of a user-defined impurity, |u| sum f(u_i / |u|)."""
    if name in MEASURES:
        return MEASURES[name]
    f = load(name)

    def own(counts: list[int]) -> float:
        total = sum(counts)
        return total * math.fsum(f(c / total) for c in counts if c)

    return own


def impurity(counts: Sequence[int], name: str) -> float:
    """Frequency-weighted impurity I(u) of class counts u, in counts (Gini) or bits (entropy); I(0) = 0.

    >>> impurity([1, 1], "gini"), impurity([1, 1], "entropy"), impurity([100], "entropy")
    (1.0, 2.0, 0.0)
    """
    return measure_of(name)(list(counts))


def split_impurity(table: Table, mask: Sequence[bool], name: str) -> float:
    """I(u_L) + I(u_R) of the split that puts the rows with a true mask on the left.

    >>> split_impurity([[0, 1], [1, 0], [3, 2]], [True, False, False], "gini")
    2.6666666666666665
    """
    rows = integers(table)
    left = [sum(compress(column, mask)) for column in zip(*rows, strict=True)]
    return cost_of(rows, measure_of(name))(left)


def integers(table: Table) -> Rows:
    """The rows as Python integers, which cannot overflow as numpy's would."""
    return [[index(c) for c in row] for row in table]


def column_sums(rows: Rows) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def plus(a: list[int], b: list[int]) -> list[int]:
    return list(map(add, a, b))


def minus(a: list[int], b: list[int]) -> list[int]:
    return list(map(sub, a, b))


def cost_of(rows: Rows, measure: Measure) -> Measure:
    """I(u_L) + I(u - u_L) as a function of the class counts u_L of the left side."""
    sums = column_sums(rows)
    return lambda left: measure(left) + measure(minus(sums, left))


def margin_of(rows: Rows) -> float:
    """What an impurity must gain to count as strictly better."""
    return MARGIN * sum(map(sum, rows))


def first_least(candidates: Iterator[tuple[float, T]], margin: float) -> tuple[float, T]:
    """The first candidate of least impurity: a later one must be lower by more than the margin."""
    least, best = next(candidates)
    for value, candidate in candidates:
        if value < least - margin:
            least, best = value, candidate
    return least, best


def mask_of(order: list[int], cut: int) -> list[bool]:
    """The first ``cut`` rows of an order on the left."""
    left = set(order[:cut])
    return [v in left for v in range(len(order))]


def first_prefix(rows: Rows) -> list[bool]:
    """What every splitter returns when all rows are proportional: the first row alone on the left."""
    return mask_of(list(range(len(rows))), 1)


def prefixes(rows: Rows, order: list[int], measure: Measure, exchange: bool = False) -> Scored:
    """The prefixes of an order; on request, after each, that prefix with the rows next to the cut exchanged."""
    cost, left = cost_of(rows, measure), [0] * len(rows[0])
    for cut in range(1, len(order)):
        last, first = order[cut - 1 : cut + 1]
        left = plus(left, rows[last])
        yield cost(left), (order, cut)
        if exchange:
            swapped = [*order[: cut - 1], first, last, *order[cut + 1 :]]
            yield cost(plus(minus(left, rows[last]), rows[first])), (swapped, cut)


def share_order(rows: Rows, classes: Sequence[int]) -> list[int]:
    """Row indices by increasing share of the classes; `sorted` is stable, so ties stay in row order."""
    shares = [sum(row[i] for i in classes) / sum(row) for row in rows]
    return sorted(range(len(rows)), key=shares.__getitem__)


def hypercube(k: int) -> Iterator[tuple[int, ...]]:
    """The directions of HcC, as sets of classes; of each pair of complements one."""
    for size in range(1, k // 2 + 1):
        yield from combinations(range(k - 1 if 2 * size == k else k), size)


def best_direction(rows: Rows, directions: Iterable[Sequence[int]], measure: Measure) -> list[bool]:
    """Best prefix over all directions. Proportional rows have equal shares: the first prefix is kept."""
    orders = (share_order(rows, classes) for classes in directions)
    candidates = (scored for order in orders for scored in prefixes(rows, order, measure))
    return mask_of(*first_least(candidates, margin_of(rows))[1])


def merge(rows: Rows) -> tuple[Rows, list[list[int]]]:
    """Sums of the proportional rows, in lexicographic order of p, and the row indices behind each sum."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for v, row in enumerate(rows):
        divisor = math.gcd(*row)
        groups.setdefault(tuple(c // divisor for c in row), []).append(v)
    common = math.lcm(*map(sum, groups))  # a common denominator of all probabilities: exact comparisons
    ordered = sorted(groups, key=lambda reduced: [c * (common // sum(reduced)) for c in reduced])
    members = [groups[reduced] for reduced in ordered]
    return [column_sums([rows[v] for v in group]) for group in members], members
