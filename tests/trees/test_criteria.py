"""The split criteria against their definitions written out, the facts about them, and the worked examples."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from decimal import Decimal, localcontext
from math import exp, log, log2, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splitlab.trees import criteria
from splitlab.trees.criteria import CRITERIA, first_best, get
from splitlab.trees.proposals import Values, numeric
from tests.helpers.tables import random_tables

Table = list[list[int]]


def entropy(p: list[float]) -> float:
    return -sum(x * log2(x) for x in p if x > 0)


def gini(p: list[float]) -> float:
    return sum(x * (1 - x) for x in p)


def parts(table: Table) -> tuple[list[int], list[float], list[list[float]], list[float]]:
    """Class sums, class probabilities of the node, those of the non-empty branches, shares of these."""
    of_class = [sum(column) for column in zip(*table, strict=True)]
    n = sum(of_class)
    branches = [row for row in table if sum(row)]
    return (of_class, [c / n for c in of_class], [[c / sum(row) for c in row] for row in branches],
            [sum(row) / n for row in branches])  # fmt: skip


def plain_gain(table: Table, f: Callable[[list[float]], float]) -> float:
    _, p, branches, rho = parts(table)
    return f(p) - sum(r * f(q) for r, q in zip(rho, branches, strict=True))


def plain_gain_ratio(table: Table) -> float:
    information = entropy(parts(table)[3])
    return plain_gain(table, entropy) / information if information else 0.0


def plain_twoing(table: Table) -> float:
    _, _, (p, q), (left, right) = parts(table)
    return left * right / 4 * sum(abs(x - y) for x, y in zip(p, q, strict=True)) ** 2


def plain_dcsm(table: Table) -> float:
    of_class, _, branches, rho = parts(table)
    total, d = 0.0, sum(c > 0 for c in of_class)
    for r, p in zip(rho, branches, strict=True):
        here = sum(x > 0 for x in p)
        total += r * here * exp(here) * sum(x * exp(here / d * (1 - x * x)) for x in p)
    return total


def plain_distance(table: Table, group: set[int]) -> float:
    plus = [sum(c for j, c in enumerate(row) if j in group) for row in table]
    minus = [sum(row) - x for row, x in zip(table, plus, strict=True)]
    if not sum(plus) or not sum(minus):
        return 0.0
    pairs = zip(plus, minus, strict=True)
    return sqrt(sum((sqrt(x / sum(plus)) - sqrt(y / sum(minus))) ** 2 for x, y in pairs))


def plain_hddt(table: Table) -> float:
    return max(plain_distance(table, {j}) for j in range(len(table[0])))


def plain_hddt_all(table: Table) -> float:
    k = len(table[0])
    groups = itertools.chain.from_iterable(itertools.combinations(range(k), size) for size in range(1, k))
    return max((plain_distance(table, set(group)) for group in groups), default=0.0)


def plain_ccp(table: Table, f: Callable[[list[float]], float], normalize: bool) -> float:
    of_class, _, _, rho = parts(table)
    n = sum(of_class)

    def confidence(row: list[int]) -> list[float]:
        found = []
        for c, total in zip(row, of_class, strict=True):
            here = c / total if total else 0.0
            other = (sum(row) - c) / (n - total) if n - total else 0.0
            found.append(here / (here + other) if here + other else 0.0)
        return [x / sum(found) for x in found] if normalize else found

    rows = [row for row in table if sum(row)]
    return f(confidence(of_class)) - sum(r * f(confidence(row)) for r, row in zip(rho, rows, strict=True))


def plain_ihd(table: Table, weighted: bool) -> float:
    of_class, p, branches, rho = parts(table)
    total = 0.0
    for r, q, row in zip(rho, branches, (row for row in table if sum(row)), strict=True):
        weight = 1.0
        if weighted:
            weight -= np.prod([c / u for c, u in zip(row, of_class, strict=True) if u])
        total += r * weight * (1 - sum(sqrt(x * y) for x, y in zip(q, p, strict=True)))
    return total


PLAIN: dict[str, Callable[[Table], float]] = {
    "gini": lambda t: plain_gain(t, gini),
    "entropy": lambda t: plain_gain(t, entropy),
    "gain_ratio": plain_gain_ratio,
    "twoing": plain_twoing,
    "dcsm": plain_dcsm,
    "hddt": plain_hddt,
    "hddt_all": plain_hddt_all,
    "ccp_gini": lambda t: plain_ccp(t, gini, False),
    "ccp_entropy": lambda t: plain_ccp(t, entropy, False),
    "ccp_gini_normalized": lambda t: plain_ccp(t, gini, True),
    "ccp_entropy_normalized": lambda t: plain_ccp(t, entropy, True),
    "ihd": lambda t: plain_ihd(t, False),
    "ihdw": lambda t: plain_ihd(t, True),
}


def tables(branches: st.SearchStrategy[int]) -> st.SearchStrategy[Table]:
    """Tables with empty branches and absent classes, but not without examples."""
    counts = st.one_of(st.just(0), st.integers(0, 4), st.integers(0, 10**6))

    def of_shape(shape: tuple[int, int]) -> st.SearchStrategy[Table]:
        row = st.lists(counts, min_size=shape[1], max_size=shape[1])
        return st.lists(row, min_size=shape[0], max_size=shape[0])

    return st.tuples(branches, st.integers(1, 4)).flatmap(of_shape).filter(lambda t: any(map(any, t)))


def test_every_criterion_has_a_plain_definition() -> None:
    assert tuple(PLAIN) == criteria.names()


@pytest.mark.parametrize("name", PLAIN)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_values_are_those_of_the_definition(name: str, data: st.DataObject) -> None:
    both = data.draw(tables(st.just(2)).filter(lambda t: all(map(any, t)))) if name == "twoing" else None
    table = both or data.draw(tables(st.integers(1, 5)))
    value = get(name)(table)
    assert value == pytest.approx(PLAIN[name](table), rel=1e-9, abs=1e-9)
    low, high = get(name).range
    assert low <= value <= high + 1e-12


@pytest.mark.parametrize("name", PLAIN)
def test_a_stack_of_tables_is_a_table_each(name: str) -> None:
    stack = random_tables(3, 2, 3, 9, 12).reshape(3, 4, 2, 3)
    found = get(name).formula(stack)
    assert found.shape == (3, 4)
    assert found.ravel().tolist() == pytest.approx(
        [get(name)(t) for t in stack.reshape(-1, 2, 3)], rel=1e-14, abs=1e-15
    )


@pytest.mark.parametrize("name", PLAIN)
def test_no_split_and_one_class_are_the_worst_of_the_range(name: str) -> None:
    for table in ([[3, 5], [0, 0]], [[4, 0], [3, 0]], [[0], [7]]):
        entry = get(name)
        if entry.maximise:
            assert entry(table) == pytest.approx(0, abs=1e-15)
        counts = np.array(table)
        assert entry.improvement(counts, entry.keys(counts)) == pytest.approx(0, abs=1e-15)


def test_functions_and_their_options() -> None:
    table = [[40, 0, 0, 10], [0, 20, 10, 0]]
    assert criteria.hddt(table, "all") == get("hddt_all")(table)
    assert criteria.ccp(table, "gini", normalize=True) == get("ccp_gini_normalized")(table)
    assert criteria.information_gain(table, "gini") == get("gini")(table)
    for name in ("gain_ratio", "twoing", "dcsm", "hddt", "ihd", "ihdw"):
        assert getattr(criteria, name)(table) == get(name)(table)
    for frame in (pd.DataFrame(table), np.array(table, float), tuple(map(tuple, table))):
        assert criteria.ihd(frame) == criteria.ihd(table)


@pytest.mark.parametrize("bad", [[], [[]], [[0, 0], [0, 0]], [[1, -1]], [[1.5, 2], [1, 1]], [1, 2], [[1, 2], [3]]])
@pytest.mark.parametrize("name", ["gini", "hddt"])
def test_no_table(name: str, bad: object) -> None:
    with pytest.raises(ValueError, match="table"):
        get(name)(bad)  # type: ignore[arg-type]


def test_wrong_calls() -> None:
    with pytest.raises(ValueError, match="2 branches; the table has 3"):
        get("twoing")([[1, 2], [2, 1], [3, 3]])
    with pytest.raises(ValueError, match="did you mean 'gain_ratio'"):
        get("gainratio")
    with pytest.raises(TypeError, match="criterion: 3"):
        get(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="partitions"):
        criteria.hddt([[1, 2], [2, 1]], "some")
    for impurity in ("twoing", ["gini"]):
        with pytest.raises(ValueError, match=r"'impurity' parameter of ccp must be .*entropy.* Got .* instead"):
            criteria.ccp([[1, 2], [2, 1]], impurity)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"'normalize' parameter of ccp must be .* Got 'no' instead"):
        criteria.ccp([[1, 2], [2, 1]], normalize="no")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at most 16"):
        criteria.hddt(np.ones((2, 17), int), "all")


def test_entries_can_be_pickled() -> None:
    for entry in CRITERIA.values():
        copy = pickle.loads(pickle.dumps(entry))
        assert copy([[3, 1], [1, 4]]) == entry([[3, 1], [1, 4]])


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("factor", [10**6, 10**13])
def test_large_counts_change_nothing(name: str, factor: int) -> None:
    table = np.array([[3, 1, 4], [1, 5, 9]])
    assert get(name)(table * factor) == pytest.approx(get(name)(table), rel=1e-12)


def test_gain_ratio_of_one_example_against_very_many() -> None:
    # One example that is all of its class: gain and split information are the same tiny number.
    assert get("gain_ratio")([[0, 1, 0], [10**13, 0, 7]]) == pytest.approx(1, rel=1e-12)
    assert get("gain_ratio")([[1, 0], [0, 10**15 - 1]]) == pytest.approx(1, rel=1e-12)


def exactly(table: np.ndarray) -> dict[str, Decimal]:
    """Criteria by their definitions, with 70 digits."""
    rows = [[Decimal(int(count)) for count in row] for row in table]
    total, of_class = sum(map(sum, rows)), [sum(column) for column in zip(*rows, strict=True)]
    p = [count / total for count in of_class]
    branches = [(sum(row) / total, [count / sum(row) for count in row]) for row in rows]

    def bits(q: list[Decimal]) -> Decimal:
        return -sum(x * x.ln() for x in q if x) / Decimal(2).ln()

    def hellinger(j: int) -> Decimal:
        plus = [row[j] / of_class[j] for row in rows]
        minus = [(sum(row) - row[j]) / (total - of_class[j]) for row in rows]
        return sum((a.sqrt() - b.sqrt()) ** 2 for a, b in zip(plus, minus, strict=True)).sqrt()

    gain = bits(p) - sum(rho * bits(q) for rho, q in branches)
    (left, p_left), (right, p_right) = branches
    return {
        "gini": sum(rho * sum(x * x for x in q) for rho, q in branches) - sum(x * x for x in p),
        "entropy": gain,
        "gain_ratio": gain / bits([left, right]),
        "twoing": left * right / 4 * sum(abs(a - b) for a, b in zip(p_left, p_right, strict=True)) ** 2,
        "hddt": max(map(hellinger, range(len(p)))),
        "ihd": 1 - sum(rho * sum((a * b).sqrt() for a, b in zip(q, p, strict=True)) for rho, q in branches),
    }


@pytest.mark.parametrize("largest", [10, 10**4, 10**9, 10**13])
def test_splits_that_change_next_to_nothing_have_accurate_values(largest: int) -> None:
    rng = np.random.default_rng(largest)
    with localcontext(prec=70):
        for k in (2, 3, 4):
            row = rng.integers(1, largest, k)
            table = np.array([row * 3 + rng.integers(0, 3, k), row * 2])
            for name, value in exactly(table).items():
                assert get(name)(table) == pytest.approx(float(value), rel=1e-14), (name, table)


@pytest.mark.parametrize("name", CRITERIA)
def test_the_best_threshold_of_a_rare_class_among_millions(name: str) -> None:
    counts = np.array([[630788, 2], [921804, 3], [814210, 2], [507204, 2]])
    values = Values(np.zeros(4, np.int64), np.arange(4.0), counts)
    assert numeric(values, counts.sum(0)[None], get(name), 1).threshold.tolist() == [2.5]


def test_dcsm_with_1000_classes() -> None:
    shared = np.ones((2, 1000), int)
    exclusive = np.zeros((2, 1000), int)
    exclusive[0, :500] = exclusive[1, 500:] = 2
    uneven = np.zeros((2, 1000), int)
    uneven[0, :400] = uneven[1, 400:] = 2
    values = [criteria.dcsm(t) for t in (exclusive, uneven, shared)]
    assert values == sorted(values)
    # Every branch of the first has 500 classes of probability 1/500, and the node 1,000.
    assert values[0] == pytest.approx(log(500) + 500 + (1 - 500**-2) / 2, rel=1e-12)
    assert values[2] == pytest.approx(log(1000) + 1000 + (1 - 1000**-2), rel=1e-12)
    many = np.eye(2000, dtype=int)
    assert criteria.dcsm(many) == pytest.approx(1.0, rel=1e-12)  # log(exp(1)): 2,000 pure branches


def test_one_against_the_rest_cannot_tell_x_from_y() -> None:
    x, y = [[40, 0, 0, 10], [0, 20, 10, 0]], [[40, 0, 5, 5], [0, 20, 5, 5]]
    assert criteria.hddt(x) == pytest.approx(criteria.hddt(y), rel=1e-12)
    assert criteria.hddt(x) == pytest.approx(1.0879, abs=5e-5)
    assert criteria.hddt(x, "all") == pytest.approx(sqrt(2), rel=1e-12)
    assert criteria.hddt(y, "all") < 1.4
    assert (round(criteria.ihd(x), 4), round(criteria.ihd(y), 4)) == (0.2763, 0.2036)


def splits(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All splits with row 0 on the left: masks (m, n) and tables (m, 2, k)."""
    masks = np.array([(True, *rest) for rest in itertools.product((True, False), repeat=len(table) - 1)][1:])
    left = masks.astype(int) @ table
    return masks, np.stack([left, table.sum(0) - left], 1)


def prefixes(table: np.ndarray) -> np.ndarray:
    """The splits along the order of the share of class 0: tables (n - 1, 2, k)."""
    order = np.argsort(table[:, 0] / table.sum(1), kind="stable")
    left = table[order].cumsum(0)[:-1]
    return np.stack([left, table.sum(0) - left], 1)


@pytest.mark.parametrize("name", [n for n in PLAIN if get(n).two_class_order])
@pytest.mark.parametrize("max_count", [1, 5, 100])
def test_a_prefix_of_the_class_order_is_optimal(name: str, max_count: int) -> None:
    rng = np.random.default_rng(max_count)
    for table in random_tables(max_count, 6, 2, max_count, 40) ** rng.integers(1, 4, (40, 1, 2)):
        best = get(name).keys(splits(table)[1])[0].max()
        assert get(name).keys(prefixes(table))[0].max() == pytest.approx(best, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("name", ["ccp_gini", "ccp_entropy"])
def test_ccp_has_no_optimal_prefix(name: str) -> None:
    table = np.array([[2027, 59], [8, 9], [0, 4], [9, 0]])
    masks, all_splits = splits(table)
    keys = get(name).keys(all_splits)
    assert masks[keys[0].argmax()].tolist() == [True, False, False, False]
    assert get(name).keys(prefixes(table))[0].max() < 0.9 * keys[0].max()
    assert not get(name).two_class_order
    assert not get(name).hyperplanes


@pytest.mark.parametrize("name", [n for n in PLAIN if get(n).hyperplanes])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_convex_criteria_are_never_best_in_the_midst_of_a_segment(name: str, k: int) -> None:
    rng = np.random.default_rng(k)
    totals = 2 * np.floor(np.exp(rng.uniform(1, 14, (2000, k)))).astype(int)
    ends = [2 * np.floor(totals * rng.random(totals.shape) ** rng.choice([0.1, 1, 5], totals.shape) / 2) for _ in "ab"]
    lefts = [np.where(rng.random(totals.shape) < 0.2, 0, end).astype(int) for end in ends]
    lefts.append((lefts[0] + lefts[1]) // 2)
    a, b, middle = (get(name).keys(np.stack([left, totals - left], 1))[0] for left in lefts)
    highest = np.maximum(a, b)
    assert (middle <= highest + 1e-9 * np.maximum(1, np.abs(highest))).all()


def test_ihdw_is_not_convex_from_four_classes_on() -> None:
    totals = np.array([7681126, 2412, 344, 12817130])
    ends = np.array([[6786346, 2410, 296, 3509762], [6020046, 0, 0, 2118156]])
    lefts = np.array([*ends, ends.sum(0) // 2])
    a, b, middle = get("ihdw").formula(np.stack([lefts, totals - lefts], 1))
    assert middle > max(a, b) * 1.01


@pytest.mark.parametrize("name", ["ihd", "ihdw"])
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_exclusivity_preference(name: str, data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 5))
    totals = np.array(data.draw(st.lists(st.integers(1, 30), min_size=k, max_size=k)))
    group = np.array(data.draw(st.lists(st.booleans(), min_size=k, max_size=k).filter(lambda g: any(g) and not all(g))))
    exclusive = np.where(group, totals, 0)
    # Any other left side of that size: examples dealt in any order.
    deck = np.array(data.draw(st.permutations(np.repeat(np.arange(k), totals).tolist())))
    other = np.bincount(deck[: exclusive.sum()], minlength=k)
    value = get(name)([other, totals - other])
    assert 0 <= value <= get(name)([exclusive, totals - exclusive]) + 1e-12
    assert get(name)([totals, 3 * totals]) == pytest.approx(0, abs=1e-15)


def test_the_best_exclusive_split_balances_the_sides() -> None:
    totals = np.array([30, 20, 10, 10, 10])
    values = {}
    for bits in range(1, 31):
        left = np.where([bits >> j & 1 for j in range(5)], totals, 0)
        share = left.sum() / 80
        values[bits] = criteria.ihdw([left, totals - left])
        assert values[bits] == pytest.approx(1 - share**1.5 - (1 - share) ** 1.5, rel=1e-12)
    best = max(values, key=lambda bits: values[bits])
    assert sum(totals[j] for j in range(5) if best >> j & 1) == 40


def test_the_first_of_equal_candidates() -> None:
    group = np.array([0, 0, 0, 2, 2, 3, 5, 5])
    values = np.array([1.0, 2.0, 2.0 + 1e-13, -np.inf, 4.0, -np.inf, 7.0, 7.0 - 1e-6])
    assert first_best(values[None], group).tolist() == [1, 4, 6]
    second = np.array([9.0, 0.0, 1.0, 9.0, 9.0, 9.0, 0.0, 9.0])
    assert first_best(np.stack([values, second]), group).tolist() == [2, 4, 6]
    assert first_best(np.full((1, 8), -np.inf), group).tolist() == []


def test_equal_is_a_matter_of_shares_unless_values_are_noisy() -> None:
    group, keys = np.zeros(2, np.int64), np.array([[1e-15, 3e-13]])
    assert first_best(keys, group).tolist() == [1]
    assert first_best(keys, group, floor=1.0).tolist() == [0]
    assert first_best(keys * 1e20, group, floor=1.0).tolist() == [1]


def test_ties_of_ccp_go_by_hellinger_distance() -> None:
    entry = get("ccp_entropy")
    table = np.array([[3, 1], [1, 4]])
    assert entry.keys(table).tolist() == [criteria.ccp(table), criteria.hddt(table)]
    assert get("dcsm").keys(table).tolist() == [-criteria.dcsm(table)]
