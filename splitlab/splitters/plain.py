"""The splitters in plain Python: slow, short, and meant to be read next to the paper.

The module is the executable definition: the compiled kernels are tested against it, and its running times
stand for those of a pure Python program. Only eigenvectors come from numpy.

Notation. A contingency table has a row per *value* v of a nominal attribute and a column per *class* i. |v|
is the sum of row v, p_v = A[v] / |v|, u the column sums, N = |u|; n rows, k classes. A *split* has some rows
left, the rest right, no side empty, and costs I(u_L) + I(u_R): the weighted impurities of the two sides.

Algorithms. A *walk* takes the rows in some order and tries every prefix of it as the left side.
lca       Largest Class Alone: walk by the share of the most frequent class. Guarantee 2 (Gini), 3 (entropy).
hcc       Hypercube Cover: for every d in {0,1}^k, one of each pair d and 1-d, the walk by d.A[v] / |v| (the
          paper's Algorithm 1, B_d); the best of all. Guarantee 2.
pc        Principal component: rows with equal p merged, the walk by v.p_a, where v is the top eigenvector
          of M = sum_a |a| (p_a - u/N)(p_a - u/N)^T. Optimal for two classes.
pc_ext    `pc`, and at every cut also the split with the two rows next to the cut exchanged.
pc_counts, pc_ext_counts: the same by v.A[a] instead of v.p_a. Not the method that the paper describes, but
          what the columns headed PCext in its experiments with random tables were made with.
sliq      All rows left; move the row right that leaves least impurity, the first in any case, while it helps.
sliq_ext  The same until one row is left; the best split on the way.

Order and ties.
* A candidate replaces the best so far only if it is lower by more than 1e-12 N: the first of equals stays,
  over the cuts of a walk, over directions, and over the rows that SLIQ might move (tried in row order).
* Walks sort ascending, stably. A share is one correctly rounded division: equal rationals keep the row order.
* Directions: sets of 1, ..., floor(k/2) classes, lexicographic within a size; sets of k/2 without class k-1.
* Merged rows are sums of exactly proportional rows and stand in lexicographic order of p, compared exactly,
  before the sort by score. The first component of v within 1e-9 of the largest magnitude is positive.
* A repeated top eigenvalue leaves v open. Then v is the projection of the first unit vector e_0, e_1, ...
  that has one (longer than 1e-6) to the space of all eigenvalues within 1e-9 of the top, relative to it.
* Rows that differ by a constant vector tie in the count score, as v is orthogonal to (1, ..., 1). Computed
  as v.(A[a] - min_i A[a][i]), the scores are equal floats too. Other ties of `pc*`, by symmetry, come out
  as rounding noise: neighbouring scores closer than 1e-9 of the largest one count as equal.

A splitter maps (table, name of an impurity) to a list with True for the rows of the left side: the prefix,
or for SLIQ the rows that stayed. Not checked: n, k >= 2, integers >= 0, no zero row or column, the name. If
all rows are proportional, all splits are equal, and every splitter puts the first row alone on the left.

Source: Laber, Molinaro, Mello Pereira, *Binary Partitions with Approximate Minimum Impurity*, ICML 2018
(Algorithm 1, HcC, LCA, the experiments). SLIQ: Mehta et al., 1996. PC: Coppersmith et al., 1999.

>>> hcc([[4, 1, 0], [0, 3, 1], [5, 0, 0], [0, 2, 2]], "gini")
[False, True, False, True]
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, compress, pairwise
from operator import add, index, mul, sub
from typing import TypeVar

import numpy as np

T = TypeVar("T")
Table = Sequence[Sequence[int]]
Rows = list[list[int]]
Measure = Callable[[list[int]], float]
Candidate = tuple[list[int], int]  # an order of the rows and a cut: order[:cut] goes to the left
Scored = Iterator[tuple[float, Candidate]]  # candidates with their impurities

MARGIN = 1e-12  # times N: below this, two impurities differ by rounding only
EQUAL_SCORES = 1e-9  # of the largest score
EQUAL_EIGENVALUES = 1e-9  # relative: far above the error of the solver, far below the gaps of real tables
SHORT_PROJECTION = 1e-6  # a projection no longer than this is too inaccurate to fix a direction
EQUAL_COMPONENTS = 1e-9  # magnitudes of a unit vector closer than this count as equal


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


_MEASURES: dict[str, Measure] = {"gini": _gini, "entropy": _entropy}


def impurity(counts: Sequence[int], name: str) -> float:
    """Frequency-weighted impurity I(u) of class counts u, in counts (Gini) or bits (entropy); I(0) = 0.

    >>> impurity([1, 1], "gini"), impurity([1, 1], "entropy"), impurity([100], "entropy")
    (1.0, 2.0, 0.0)
    """
    return _MEASURES[name](list(counts))


def split_impurity(table: Table, mask: Sequence[bool], name: str) -> float:
    """I(u_L) + I(u_R) of the split that puts the rows with a true mask on the left.

    >>> split_impurity([[0, 1], [1, 0], [3, 2]], [True, False, False], "gini")
    2.6666666666666665
    """
    rows = _integers(table)
    left = [sum(compress(column, mask)) for column in zip(*rows, strict=True)]
    return _cost(rows, _MEASURES[name])(left)


def _integers(table: Table) -> Rows:
    """The rows as Python integers, which cannot overflow as numpy's would."""
    return [[index(c) for c in row] for row in table]


def _column_sums(rows: Rows) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def _plus(a: list[int], b: list[int]) -> list[int]:
    return list(map(add, a, b))


def _minus(a: list[int], b: list[int]) -> list[int]:
    return list(map(sub, a, b))


def _cost(rows: Rows, measure: Measure) -> Measure:
    """I(u_L) + I(u - u_L) as a function of the class counts u_L of the left side."""
    sums = _column_sums(rows)
    return lambda left: measure(left) + measure(_minus(sums, left))


def _least(candidates: Iterator[tuple[float, T]], margin: float) -> tuple[float, T]:
    """The first candidate of least impurity: a later one must be lower by more than the margin."""
    least, best = next(candidates)
    for value, candidate in candidates:
        if value < least - margin:
            least, best = value, candidate
    return least, best


def _mask(order: list[int], cut: int) -> list[bool]:
    left = set(order[:cut])
    return [v in left for v in range(len(order))]


def _along(rows: Rows, order: list[int], measure: Measure, exchange: bool = False) -> Scored:
    """The prefixes of an order; on request, after each, the same with the rows next to the cut exchanged."""
    cost, left = _cost(rows, measure), [0] * len(rows[0])
    for cut in range(1, len(order)):
        last, first = order[cut - 1 : cut + 1]
        left = _plus(left, rows[last])
        yield cost(left), (order, cut)
        if exchange:
            swapped = [*order[: cut - 1], first, last, *order[cut + 1 :]]
            yield cost(_plus(_minus(left, rows[last]), rows[first])), (swapped, cut)


def _share_order(rows: Rows, classes: Sequence[int]) -> list[int]:
    """Row indices by increasing share of the classes; `sorted` is stable, so ties stay in row order."""
    shares = [sum(row[i] for i in classes) / sum(row) for row in rows]
    return sorted(range(len(rows)), key=shares.__getitem__)


def _best_direction(rows: Rows, directions: Iterable[Sequence[int]], measure: Measure) -> list[bool]:
    """Best prefix over all directions. Proportional rows have equal shares: the first prefix is kept."""
    orders = (_share_order(rows, classes) for classes in directions)
    candidates = (scored for order in orders for scored in _along(rows, order, measure))
    return _mask(*_least(candidates, MARGIN * sum(map(sum, rows)))[1])


def lca(table: Table, impurity: str) -> list[bool]:
    """Largest Class Alone: the walk by the share of the most frequent class (the first of equals)."""
    rows = _integers(table)
    sums = _column_sums(rows)
    return _best_direction(rows, [[sums.index(max(sums))]], _MEASURES[impurity])


def hcc(table: Table, impurity: str) -> list[bool]:
    """Hypercube Cover: the best walk over all 0/1 directions. Takes 2^k steps: mind the number of classes."""
    rows = _integers(table)
    k = len(rows[0])
    pools = [(size, range(k - 1 if 2 * size == k else k)) for size in range(1, k // 2 + 1)]
    cube = (classes for size, pool in pools for classes in combinations(pool, size))
    return _best_direction(rows, cube, _MEASURES[impurity])


def _merge(rows: Rows) -> tuple[Rows, list[list[int]]]:
    """Sums of the proportional rows, in lexicographic order of p, and the row indices behind each sum."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for v, row in enumerate(rows):
        divisor = math.gcd(*row)
        groups.setdefault(tuple(c // divisor for c in row), []).append(v)
    common = math.lcm(*map(sum, groups))  # a common denominator of all probabilities: exact comparisons
    ordered = sorted(groups, key=lambda reduced: [c * (common // sum(reduced)) for c in reduced])
    members = [groups[reduced] for reduced in ordered]
    return [_column_sums([rows[v] for v in group]) for group in members], members


def _scatter(rows: Rows) -> list[list[float]]:
    """M = sum_a |a| (p_a - u/N)(p_a - u/N)^T; the differences are exact fractions until the one division."""
    sums, total = _column_sums(rows), sum(map(sum, rows))
    matrix = [[0.0] * len(sums) for _ in sums]
    for row in rows:
        size = sum(row)
        deviation = [(c * total - u * size) / (size * total) for c, u in zip(row, sums, strict=True)]
        for i, di in enumerate(deviation):
            for j, dj in enumerate(deviation):
                matrix[i][j] += size * di * dj
    return matrix


def _top_eigenvector(matrix: list[list[float]]) -> list[float]:
    """Unit top eigenvector, with the rules above for its sign and for a repeated top eigenvalue."""
    values, vectors = np.linalg.eigh(np.array(matrix))
    space = vectors[:, values >= values[-1] * (1 - EQUAL_EIGENVALUES)]
    projections = (space @ space.T).tolist()  # row i is the projection of e_i: the matrix is symmetric
    v = next(p for p in projections if math.hypot(*p) > SHORT_PROJECTION)
    length, largest = math.hypot(*v), max(map(abs, v))
    leading = next(x for x in v if abs(x) >= largest - EQUAL_COMPONENTS * length)
    return [x / math.copysign(length, leading) for x in v]


def _point(row: list[int], counts: bool) -> list[float]:
    """What v is applied to. A multiple of v.(1, ..., 1) = 0 is taken off counts, so that ties stay exact."""
    least, size = min(row), sum(row)
    return [c - least if counts else c / size for c in row]


def _by_score(scores: list[float]) -> list[int]:
    """Indices by score; a run of scores with gaps below rounding noise ties, and a tie keeps the given order."""
    noise = EQUAL_SCORES * max(map(abs, scores))
    order = sorted(range(len(scores)), key=scores.__getitem__)
    gaps = [j for j in range(1, len(order)) if scores[order[j]] - scores[order[j - 1]] > noise]
    return [a for start, stop in pairwise([0, *gaps, len(order)]) for a in sorted(order[start:stop])]


def _principal(table: Table, measure: Measure, *, counts: bool, exchange: bool) -> list[bool]:
    """Best candidate along the merged rows in the order of their scores, as a mask of the original rows."""
    rows = _integers(table)
    merged, members = _merge(rows)
    if len(merged) == 1:  # all rows proportional: there is no component
        return _mask(list(range(len(rows))), 1)
    v = _top_eigenvector(_scatter(merged))
    scores = [sum(map(mul, v, _point(row, counts))) for row in merged]
    by_score = _by_score(scores)
    _, (order, cut) = _least(_along(merged, by_score, measure, exchange), MARGIN * sum(map(sum, rows)))
    left = {value for a in order[:cut] for value in members[a]}
    return [value in left for value in range(len(rows))]


def pc(table: Table, impurity: str) -> list[bool]:
    """Principal component: the walk by v.p_v, v the main axis of the class probabilities."""
    return _principal(table, _MEASURES[impurity], counts=False, exchange=False)


def pc_ext(table: Table, impurity: str) -> list[bool]:
    """`pc` with exchanges: never worse than `pc`, up to 1e-12 N."""
    return _principal(table, _MEASURES[impurity], counts=False, exchange=True)


def pc_counts(table: Table, impurity: str) -> list[bool]:
    """`pc` with the axis applied to counts, as in the paper's program."""
    return _principal(table, _MEASURES[impurity], counts=True, exchange=False)


def pc_ext_counts(table: Table, impurity: str) -> list[bool]:
    """`pc_ext` with the axis applied to counts: the published PCext columns."""
    return _principal(table, _MEASURES[impurity], counts=True, exchange=True)


def _moves(rows: Rows, measure: Measure) -> Scored:
    """The splits on the greedy way from all rows on the left to one. Lazy: `sliq` stops on the way."""
    cost, margin = _cost(rows, measure), MARGIN * sum(map(sum, rows))
    staying, moved = list(range(len(rows))), list[int]()
    left = _column_sums(rows)  # of the rows in `staying`, at every turn
    while len(staying) > 1:
        value, v = _least(((cost(_minus(left, rows[v])), v) for v in staying), margin)
        moved.append(staying.pop(staying.index(v)))
        left = _minus(left, rows[v])
        yield value, ([*staying, *moved], len(staying))


def _while_improving(path: Iterator[tuple[float, T]], margin: float) -> tuple[float, T]:
    """The last split before the first step that does not improve. The first step is not up for choice."""
    least, best = next(path)
    for value, split in path:
        if value >= least - margin:
            break
        least, best = value, split
    return least, best


def _greedy(table: Table, measure: Measure, choose: Callable[[Scored, float], tuple[float, Candidate]]) -> list[bool]:
    rows = _integers(table)
    if len(_merge(rows)[0]) == 1:  # all rows proportional: the descent would put the first row right
        return _mask(list(range(len(rows))), 1)
    return _mask(*choose(_moves(rows, measure), MARGIN * sum(map(sum, rows)))[1])


def sliq(table: Table, impurity: str) -> list[bool]:
    """Greedy descent that stops at the first step without improvement."""
    return _greedy(table, _MEASURES[impurity], _while_improving)


def sliq_ext(table: Table, impurity: str) -> list[bool]:
    """Greedy descent to the end, and the best split on the way."""
    return _greedy(table, _MEASURES[impurity], _least)


_ALL = (lca, hcc, pc, pc_ext, pc_counts, pc_ext_counts, sliq, sliq_ext)
SPLITTERS: dict[str, Callable[[Table, str], list[bool]]] = {f.__name__: f for f in _ALL}
