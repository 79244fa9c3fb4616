"""The plain splitters that are not of the paper's experiments: worked by hand, against brute force, on hard inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splitlab.impurity import NAMES
from splitlab.splitters import reference
from splitlab.splitters.reference import collapsed_along, impurity, split_impurity
from splitlab.splitters.reference.collapsed import _best_classes
from splitlab.splitters.reference.common import MEASURES, hypercube
from splitlab.splitters.reference.directions import balanced_set, direction_order, scheduled_set
from splitlab.splitters.reference.exact import separations
from tests.helpers import tables
from tests.helpers.theory import Table, a_d, b_d, contingency_tables, optimum, reached, shares, slack, steady, sums

DIRECTED = ("ova", "balanced", "list_scheduling", "twoing", "twoing_min", "flip_flop")
EXACT = ("exhaustive", "hyperplanes")
MORE = (*DIRECTED, "pull_left", *EXACT)
every_splitter = pytest.mark.parametrize("splitter", MORE)
both = pytest.mark.parametrize("name", NAMES)


def gini(splitter: str, table: Table) -> tuple[list[bool], float]:
    return reference.SPLITTERS[splitter](table, "gini"), reached(table, splitter, "gini")


# --- worked by hand -----------------------------------------------------------------------------------


def test_twoing_counts_the_gain_and_twoing_min_falls_for_the_rare_class() -> None:
    """Collapsed impurity and gain are 4.7 and 1.73 for class 0, 3.3 and 2.41 for class 1, 1.67 and 0.19 for class 2."""
    table = [[4, 0, 0], [1, 3, 0], [4, 1, 1]]
    assert gini("twoing", table) == ([True, False, True], pytest.approx(4.9))
    assert gini("twoing_min", table) == ([True, True, False], pytest.approx(6.75))


@pytest.mark.parametrize(("name", "ratio"), [("gini", 293.6), ("entropy", 99.9)])
def test_the_worst_known_table_of_twoing_min(name: str, ratio: float) -> None:
    table = [[0, 0, 34], [0, 0, 1050], [1, 17, 0], [0, 1272, 1]]
    assert round(reached(table, "twoing_min", name) / optimum(table, name), 1) == ratio
    assert reached(table, "twoing", name) == pytest.approx(optimum(table, name), rel=1e-12)


def test_flip_flop_step_by_step() -> None:
    """LCA splits {2, 0} | {1} (4.9); that splits the classes {0, 2} | {1}; that the rows {0} | {1, 2}, and so on."""
    table = [[1, 2, 0], [3, 0, 2], [0, 0, 1]]
    assert gini("lca", table) == ([True, False, True], pytest.approx(4.9))
    assert _best_classes(table, [True, False, True], MEASURES["gini"]) == {0, 2}
    assert collapsed_along(table, "gini", [1, 0, 1]) == [True, False, False]
    assert _best_classes(table, [True, False, False], MEASURES["gini"]) == {0, 2}
    assert gini("flip_flop", table) == ([True, False, False], pytest.approx(4 / 3 + 3))


def flips(table: Table, turns: int) -> list[float]:
    """Impurities of the split of LCA and of those after it."""
    mask = reference.SPLITTERS["lca"](table, "gini")
    values = [split_impurity(table, mask, "gini")]
    for _ in range(turns):
        classes = _best_classes(table, mask, MEASURES["gini"])
        mask = collapsed_along(table, "gini", [i in classes for i in range(len(table[0]))])
        values.append(split_impurity(table, mask, "gini"))
    return values


def test_flip_flop_keeps_the_split_of_lca_when_a_d_loses_it() -> None:
    table = [[0, 0, 1], [3, 0, 3], [1, 1, 2]]
    assert flips(table, 2) == pytest.approx([5.8, 83 / 14, 83 / 14])
    assert reference.SPLITTERS["flip_flop"](table, "gini") == reference.SPLITTERS["lca"](table, "gini")


def test_flip_flop_goes_on_after_one_loss() -> None:
    table = [[4, 3, 0, 4], [0, 4, 2, 4], [2, 4, 3, 2], [1, 1, 4, 4]]
    assert [round(value, 4) for value in flips(table, 3)] == [29.7875, 29.7909, 29.5308, 29.5308]
    assert gini("flip_flop", table)[1] == flips(table, 2)[-1]


def test_pull_left_step_by_step() -> None:
    """Row 2 moves (17.0, of rows 0 and 2), then 0 (17.26, of 0 and 3), then 1 (17.0, no better than at first)."""
    table = [[2, 0, 2], [3, 2, 4], [1, 2, 3], [4, 2, 2]]
    assert gini("pull_left", table) == ([True, True, False, True], pytest.approx(17.0))
    assert gini("sliq_ext", table) == ([True, False, False, True], pytest.approx(16 + 14 / 15))


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ([3, 3, 2, 2], (0, 2)),  # 5 of 10; also {0, 3}, {1, 2}, {1, 3}
        ([1, 2, 3], (0, 1)),  # not {2}, which comes later
        ([3, 1, 2], (0,)),  # not {1, 2}
        ([1, 1, 1], (0,)),  # lighter than its complement
        ([5, 1, 1], (1, 2)),
        ([1, 9, 1, 1], (0, 2, 3)),
        ([10**14, 3 * 10**14 + 1, 10**14, 10**14], (0, 2, 3)),
    ],
)
def test_direction_of_balanced(totals: list[int], expected: tuple[int, ...]) -> None:
    assert balanced_set(totals) == expected


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ([5, 4, 3, 3, 3], {0, 3}),  # {0} {1}, {1, 2}, {0, 3}, {1, 2, 4}: the side with fewer classes
        ([4, 3, 2, 1], {0, 3}),  # equally many: the side with class 0, here the first
        ([2, 3], {0}),  # ... here the second
        ([1, 1, 1], {0}),  # equal loads: to the second
        ([9, 1, 1], {0}),
        ([1, 9, 1], {1}),
    ],
)
def test_direction_of_list_scheduling(totals: list[int], expected: set[int]) -> None:
    assert set(scheduled_set(totals)) == expected


@both
@pytest.mark.parametrize(("splitter", "side"), [("balanced", balanced_set), ("list_scheduling", scheduled_set)])
@steady
@given(table=contingency_tables())
def test_the_walk_is_by_the_share_of_that_side(
    splitter: str, side: Callable[[list[int]], Sequence[int]], name: str, table: Table
) -> None:
    d = [int(i in side(sums(table))) for i in range(len(table[0]))]
    assert reference.SPLITTERS[splitter](table, name) == reference.along_direction(table, name, d)


def test_a_direction_of_real_numbers() -> None:
    """Scores 1/2, 3/4, 0 and 1/2: the order is 2, 0, 3, 1."""
    table = [[1, 0, 1], [1, 0, 3], [2, 2, 0], [0, 3, 3]]
    assert direction_order(table, [0, 0, 1]) == [2, 0, 3, 1]
    assert direction_order(table, [-0.5, -0.5, 0.5]) == [2, 0, 3, 1]
    assert direction_order(table, [0, 0, -1]) == [1, 0, 3, 2]


def test_two_class_refuses_others() -> None:
    with pytest.raises(ValueError, match="3 classes, not 2"):
        reference.SPLITTERS["two_class"]([[1, 2, 3], [3, 2, 1]], "gini")


# --- the optimum --------------------------------------------------------------------------------------

DEGENERATE: dict[str, Table] = {
    "on a line": [[1, 2, 2], [0, 0, 2], [1, 2, 0]],
    "all on one line": [[1 + t, 2 + 2 * t, 9 - t] for t in range(7)],
    "two lines": [[t, 2, 6 - t] for t in range(5)] + [[2, t, 4] for t in range(4)],
    "a plane in four dimensions": [[a, b, 3 - a, 4 - b] for a in range(3) for b in range(3)],
    "a plane and a row beside it": [*([a, b, 3 - a, 4 - b] for a in range(3) for b in range(2)), [5, 0, 0, 1]],
    "equal columns": [[1, 1, 4], [3, 3, 1], [2, 2, 2], [0, 0, 5], [4, 4, 1]],
    "fewer rows than classes": [[1, 2, 0, 5, 1], [0, 1, 3, 1, 1], [2, 2, 2, 0, 1]],
    "multiples": [[1, 2, 3], [2, 4, 6], [5, 1, 0], [0, 3, 1], [10, 2, 0]],
    "units": [[5, 0, 0, 0], [0, 5, 0, 0], [0, 0, 5, 0], [0, 0, 0, 5], [1, 1, 1, 1]],
    "zeros and ones": [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)][1:],
    "close together": [[10**12, 10**12 + v, 10**12 + v * v] for v in range(5)],
}


@both
@pytest.mark.parametrize("table", DEGENERATE.values(), ids=DEGENERATE.keys())
def test_exact_splitters_on_degenerate_tables(name: str, table: Table) -> None:
    best = tables.optimum(np.array(table), NAMES.index(name))
    masks = [reference.SPLITTERS[splitter](table, name) for splitter in EXACT]
    assert split_impurity(table, masks[0], name) == pytest.approx(best, rel=1e-12)
    assert masks[0] == masks[1]  # both begin with row 0 on the left and keep the first of equals


@both
@pytest.mark.parametrize("shape", [(2, 2, 7), (7, 2, 3), (6, 3, 1), (8, 3, 7), (6, 4, 2), (5, 5, 3), (6, 3, 10**6)])
def test_exact_splitters_on_random_tables(name: str, shape: tuple[int, int, int]) -> None:
    for array in tables.random_tables(4, *shape, count=8):
        table, best = array.tolist(), tables.optimum(array, NAMES.index(name))
        for splitter in (*EXACT, *(["two_class"] if shape[1] == 2 else [])):
            assert reached(table, splitter, name) == pytest.approx(best, rel=1e-12, abs=slack(*table)), splitter


def points(rows: Sequence[Sequence[int]]) -> list[tuple[Fraction, ...]]:
    return [tuple(map(Fraction, row)) for row in rows]


@pytest.mark.parametrize(("n", "rank"), [(3, 3), (6, 2), (6, 3), (7, 3), (6, 4)])
def test_points_in_general_position_are_separated_in_as_many_ways_as_cover_counted(n: int, rank: int) -> None:
    curve = points([[(v + 1) ** i for i in range(rank)] for v in range(n)])
    padded = [(*x, x[0] + x[-1], Fraction(0)) for x in curve]  # the same dimension in a larger space
    ways = 2 * sum(math.comb(n - 1, i) for i in range(rank))
    assert len(separations(curve)) == len(separations(padded)) == ways


def test_points_on_a_line_are_separated_at_one_place() -> None:
    line = points([[4 - t, t] for t in range(5)])
    cuts = {tuple(v < cut for v in range(5)) for cut in range(6)}
    assert separations(line) == cuts | {tuple(not side for side in mask) for mask in cuts}


def test_a_square_is_not_separated_along_its_diagonals() -> None:
    square = points([[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]])
    diagonal = {(True, False, True, False), (False, True, False, True)}
    assert separations(square).isdisjoint(diagonal)
    assert len(separations(square)) == 14


# --- facts --------------------------------------------------------------------------------------------


@both
@steady
@given(table=contingency_tables(classes=(2, 2)))
def test_two_classes_are_solved_exactly(name: str, table: Table) -> None:
    for splitter in (*DIRECTED, *EXACT, "two_class"):
        assert reached(table, splitter, name) == pytest.approx(optimum(table, name), abs=slack(*table)), splitter


@both
@steady
@given(table=contingency_tables(classes=(3, 3)))
def test_three_classes_leave_hcc_no_more_than_ova(name: str, table: Table) -> None:
    assert reference.SPLITTERS["ova"](table, name) == reference.SPLITTERS["hcc"](table, name)


@both
@steady
@given(table=contingency_tables())
def test_order_among_the_splitters(name: str, table: Table) -> None:
    value = {splitter: reached(table, splitter, name) for splitter in (*MORE, "lca", "hcc", "sliq_ext")}
    assert min(value.values()) >= value["exhaustive"] - slack(*table)
    for better, worse in (("hcc", "ova"), ("ova", "lca"), ("flip_flop", "lca"), ("hcc", "balanced"), ("hcc", "twoing")):
        assert value[better] <= value[worse] + slack(*table), (better, worse)
    if name == "entropy":
        assert value["balanced"] <= 2 * value["exhaustive"] + slack(*table)


@both
@steady
@given(table=contingency_tables(), data=st.data())
def test_b_d_is_never_worse_than_a_d(name: str, table: Table, data: st.DataObject) -> None:
    d = data.draw(st.lists(shares, min_size=len(table[0]), max_size=len(table[0])))
    assert b_d(table, d, name) <= a_d(table, d, name) + slack(*table)


@both
@steady
@given(table=contingency_tables(), data=st.data())
def test_a_d_takes_the_best_prefix_of_the_collapsed_table(name: str, table: Table, data: st.DataObject) -> None:
    d = data.draw(st.lists(shares, min_size=len(table[0]), max_size=len(table[0])))
    pairs = [[sum(x * c for x, c in zip(d, row, strict=True))] for row in table]
    pairs = [[part, sum(row) - part] for (part,), row in zip(pairs, table, strict=True)]
    mask = collapsed_along(table, name, d)
    order = sorted(range(len(table)), key=lambda v: (Fraction(pairs[v][0]) / sum(table[v]), v))
    cuts = [[v in order[:cut] for v in range(len(table))] for cut in range(1, len(table))]
    assert mask in cuts

    def judged(sides: list[bool]) -> float:
        left = [sum(pair[s] for pair, is_left in zip(pairs, sides, strict=True) if is_left) for s in range(2)]
        return impurity(left, name) + impurity([u - x for u, x in zip(sums(pairs), left, strict=True)], name)

    assert judged(mask) <= min(map(judged, cuts)) + slack(*table)


@both
@steady
@given(table=contingency_tables())
def test_twoing_is_the_a_d_of_largest_gain_or_least_impurity(name: str, table: Table) -> None:
    """By another way: every direction's A_d as a split, judged by the collapsed table."""
    judged = []
    for classes in hypercube(len(table[0])):
        d = [int(i in classes) for i in range(len(table[0]))]
        inside = [sum(row[i] for i in classes) for row in table]
        pairs = [[part, sum(row) - part] for part, row in zip(inside, table, strict=True)]
        mask = collapsed_along(table, name, d)
        value = split_impurity(pairs, mask, name)
        judged.append((impurity(sums(pairs), name) - value, value, mask))
    gain, least = max(g for g, _, _ in judged), min(v for _, v, _ in judged)
    assert reference.SPLITTERS["twoing"](table, name) in [mask for g, _, mask in judged if g >= gain - slack(*table)]
    assert reference.SPLITTERS["twoing_min"](table, name) in [
        mask for _, v, mask in judged if v <= least + slack(*table)
    ]


# --- hard inputs --------------------------------------------------------------------------------------


@both
@every_splitter
@pytest.mark.parametrize("table", [[[1, 2], [2, 4]], [[3, 3, 3]] * 4, [[2, 4, 6], [1, 2, 3], [3, 6, 9]]])
def test_proportional_rows_give_the_first_prefix(table: Table, splitter: str, name: str) -> None:
    assert reference.SPLITTERS[splitter](table, name) == [True] + [False] * (len(table) - 1)


@both
@every_splitter
def test_counts_up_to_1e15(splitter: str, name: str) -> None:
    table = [[1, 2, 3], [2, 5, 6], [5, 1, 0], [0, 3, 1], [4, 4, 1]]
    huge = [[10**13 * c for c in row] for row in table]
    assert reference.SPLITTERS[splitter](huge, name) == reference.SPLITTERS[splitter](table, name)


@both
@every_splitter
def test_ties_on_the_diagonal(splitter: str, name: str) -> None:
    table = [[5, 0, 0], [0, 5, 0], [0, 0, 5]]
    assert reached(table, splitter, name) == {"gini": 5.0, "entropy": 10.0}[name]


@every_splitter
def test_tables_are_left_as_they_were_and_masks_are_plain_booleans(splitter: str) -> None:
    table = [[4, 1, 0], [0, 3, 1], [5, 0, 0], [0, 2, 2], [0, 4, 4]]
    mask = reference.SPLITTERS[splitter](table, "entropy")
    assert [type(is_left) for is_left in mask] == [bool] * 5
    assert table == [[4, 1, 0], [0, 3, 1], [5, 0, 0], [0, 2, 2], [0, 4, 4]]


def test_every_pair_of_complements_is_walked_once() -> None:
    for k in range(2, 7):
        seen = {frozenset(classes) for classes in hypercube(k)}
        proper = [frozenset(c) for size in range(1, k) for c in combinations(range(k), size)]
        assert len(seen) == 2 ** (k - 1) - 1 == len(list(hypercube(k)))
        assert all((c in seen) != (frozenset(range(k)) - c in seen) for c in proper)
