"""The theory of Laber, Molinaro, Pereira (ICML 2018), executable: sections 2 to 4, on random and hard tables.

The tests bear the numbers of the paper's statements. "As we read it" means that the number is the paper's and the
wording is not: it is the step for which the argument needs the statement, which the paper may put in another form or
more generally.

Every statement about the class C is tried on Gini, on entropy, and on two more members.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splitlab.splitters import reference
from splitlab.splitters.reference import common, impurity, split_impurity
from tests.helpers.theory import (
    COUNTS,
    F,
    Table,
    a_d,
    b_d,
    collapsed,
    contingency_tables,
    directions,
    dot,
    largest_class,
    least_unseen,
    measure,
    on_tables,
    optimum,
    p3_gap,
    reached,
    rest,
    shares,
    slack,
    steady,
    sums,
    tangent,
    thorough,
    vectors,
    within,
    without_the_largest,
)

every_impurity = pytest.mark.parametrize("name", F)
gini_and_entropy = pytest.mark.parametrize("name", ["gini", "entropy"])


@pytest.fixture(scope="module", autouse=True)
def further_members_of_the_class() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in F.keys() - common.MEASURES.keys():
            patch.setitem(common.MEASURES, name, measure(F[name]))
        yield


# --- the class C --------------------------------------------------------------------------------------

GRID = [x / 64 for x in range(65)]


@every_impurity
@steady
@given(u=vectors)
def test_p0_the_impurity_is_a_sum_of_f_over_the_classes(name: str, u: list[int]) -> None:
    assert impurity(u, name) == pytest.approx(sum(u) * sum(F[name](x / sum(u)) for x in u), rel=1e-9, abs=slack(u))


@every_impurity
def test_p1_pure_sets_have_none(name: str) -> None:
    assert F[name](0.0) == F[name](1.0) == 0.0


@every_impurity
def test_p2_f_is_strictly_concave(name: str) -> None:
    f = F[name]
    for p, q in product(GRID, GRID):
        if p < q:
            assert f((p + q) / 2) > (f(p) + f(q)) / 2 + 1e-6


@every_impurity
def test_p3_on_a_grid(name: str) -> None:
    for p, q in product(GRID[1:], GRID[1:]):
        if p <= q:
            assert p3_gap(F[name], p, q) >= -1e-12
            assert name != "entropy" or p3_gap(F[name], p, q) <= 1e-12  # the chain rule


@every_impurity
@steady
@given(q=st.floats(1e-6, 1), ratio=st.floats(1e-6, 1))
def test_p3_on_random_pairs(name: str, q: float, ratio: float) -> None:
    assert p3_gap(F[name], q * ratio, q) >= -1e-12


def test_p3_is_a_condition_of_its_own() -> None:
    """sqrt x - x vanishes at 0 and 1 and is strictly concave, and is not in the class."""
    assert p3_gap(lambda x: math.sqrt(x) - x, 0.25, 0.5) < -0.03


# --- section 2 ----------------------------------------------------------------------------------------


@every_impurity
@steady
@given(pairs=st.lists(st.tuples(COUNTS, COUNTS), min_size=2, max_size=5), c=st.integers(2, 1000))
def test_lemma_2_1_superadditivity(name: str, pairs: list[tuple[int, int]], c: int) -> None:
    """As we read it: I(a + b) >= I(a) + I(b), from concavity and I(c u) = c I(u); equality for proportional ones."""
    a, b = map(list, zip(*pairs, strict=True))
    whole = [x + y for x, y in pairs]
    assert impurity(whole, name) >= impurity(a, name) + impurity(b, name) - slack(whole)
    assert impurity([c * x for x in a], name) == pytest.approx(c * impurity(a, name), rel=1e-9, abs=c * slack(a))


@every_impurity
@steady
@given(data=st.data(), u=vectors)
def test_lemma_2_3_subsystems(name: str, data: st.DataObject, u: list[int]) -> None:
    """As we read it: I(u) <= I((u.d, u.(1-d))) + I(u * d) + I(u * (1-d)) for d in [0,1]^k; from (P3)."""
    d = data.draw(st.lists(shares, min_size=len(u), max_size=len(u)))
    assert impurity(u, name) <= impurity(collapsed(u, d), name) + within(u, d, name) + slack(u)


@steady
@given(data=st.data(), u=vectors)
def test_lemma_2_3_is_an_equality_for_entropy_and_class_sets(data: st.DataObject, u: list[int]) -> None:
    d = data.draw(st.lists(st.integers(0, 1), min_size=len(u), max_size=len(u)))
    whole = impurity(collapsed(u, d), "entropy") + within(u, d, "entropy")
    assert impurity(u, "entropy") == pytest.approx(whole, rel=1e-9, abs=slack(u))


@every_impurity
@steady
@given(data=st.data(), u=vectors)
def test_lemma_2_5_joining_classes_never_adds_impurity(name: str, data: st.DataObject, u: list[int]) -> None:
    """As we read it: I((u.d, u.(1-d))) <= I(u) for d in {0,1}^k."""
    d = data.draw(st.lists(st.integers(0, 1), min_size=len(u), max_size=len(u)))
    assert impurity(collapsed(u, d), name) <= impurity(u, name) + slack(u)


@every_impurity
def test_lemma_2_5_needs_whole_classes(name: str) -> None:
    assert impurity(collapsed([8, 0], [0.5, 0.5]), name) > impurity([8, 0], name) + 1


@every_impurity
@steady
@given(table=contingency_tables(classes=(2, 2)))
def test_two_class_theorem(name: str, table: Table) -> None:
    """For two classes the order by p_v[0] has an optimal prefix (Breiman et al., 1984)."""
    assert reached(table, "two_class", name) <= optimum(table, name) + slack(*table)


@every_impurity
@on_tables
def test_hyperplanes_lemma(name: str, table: Table) -> None:
    """Every optimal split is separated by the hyperplane d.p = 0 with d = grad I(u_L) - grad I(u_R)."""
    best = optimum(table, name)
    for mask in product((True, False), repeat=len(table)):
        if len(set(mask)) == 2 and split_impurity(table, mask, name) <= best + 1e-12 * sum(map(sum, table)):
            left = sums([row for row, is_left in zip(table, mask, strict=True) if is_left])
            right = [x - y for x, y in zip(sums(table), left, strict=True)]
            for row, is_left in zip(table, mask, strict=True):
                own, other = (left, right) if is_left else (right, left)
                assert tangent(own, row, name) <= tangent(other, row, name) + slack(*table)


@every_impurity
@on_tables
def test_hyperplanes_lemma_as_a_search(name: str, table: Table) -> None:
    """Equal probability vectors need not be separated: `hyperplanes` never does, and finds the optimum."""
    doubled = [*table, [3 * x for x in table[0]]]
    mask = reference.SPLITTERS["hyperplanes"](doubled, name)
    proportional = len(common.merge(table)[0]) == 1
    assert mask[0] == mask[-1] or proportional
    assert split_impurity(doubled, mask, name) <= optimum(doubled, name) + slack(*doubled)


# --- section 3: Hypercube Cover -----------------------------------------------------------------------


@every_impurity
@on_tables
def test_proposition_3_1_the_collapsed_table_is_no_harder(name: str, table: Table) -> None:
    """As we read it: opt of the table collapsed by d is at most opt, for every d in {0,1}^k."""
    for d in directions(len(table[0])):
        assert optimum([collapsed(row, d) for row in table], name) <= optimum(table, name) + slack(*table)


@every_impurity
@on_tables
def test_theorem_3_2(name: str, table: Table) -> None:
    """As we read it: B_d <= A_d <= opt of the collapsed table + I(u * d) + I(u * (1-d)) <= opt + the same."""
    best, u = optimum(table, name), sums(table)
    for d in directions(len(u)):
        unseen = within(u, d, name)
        collapsed_best = optimum([collapsed(row, d) for row in table], name)
        assert b_d(table, d, name) <= a_d(table, d, name) + slack(u)
        assert a_d(table, d, name) <= collapsed_best + unseen + slack(u)
        assert a_d(table, d, name) <= best + unseen + slack(u)


@gini_and_entropy
@steady
@given(data=st.data(), table=contingency_tables())
def test_theorem_3_2_for_fractional_directions(name: str, data: st.DataObject, table: Table) -> None:
    """The first half needs no whole classes: A_d is at most the collapsed optimum plus the unseen impurity."""
    d = data.draw(st.lists(shares, min_size=len(table[0]), max_size=len(table[0])))
    sixteenths = [[round(16 * x) for x in collapsed(row, d)] for row in table]
    assert a_d(table, d, name) <= optimum(sixteenths, name) / 16 + within(sums(table), d, name) + slack(*table)


@every_impurity
@steady
@given(data=st.data(), u=vectors)
def test_proposition_3_3_the_unseen_impurity_is_concave(name: str, data: st.DataObject, u: list[int]) -> None:
    """As we read it: I(u * t) + I(u * (1-t)) is concave in t, so over the cube it is least at a class set."""
    s, t = (data.draw(st.lists(shares, min_size=len(u), max_size=len(u))) for _ in range(2))
    middle = [(x + y) / 2 for x, y in zip(s, t, strict=True)]
    assert within(u, middle, name) >= (within(u, s, name) + within(u, t, name)) / 2 - slack(u)
    assert min(within(u, d, name) for d in directions(len(u))) <= within(u, t, name) + slack(u)


@every_impurity
@on_tables
def test_lemma_3_4_some_direction_leaves_at_most_the_optimum_unseen(name: str, table: Table) -> None:
    """As we read it: min over d in {0,1}^k of I(u * d) + I(u * (1-d)) <= opt, since an optimal split is a t."""
    u = sums(table)
    assert min(within(u, d, name) for d in directions(len(u))) <= optimum(table, name) + slack(u)


@every_impurity
@on_tables
def test_theorem_3_5_hcc_is_within_2(name: str, table: Table) -> None:
    """As we read it: HcC is within 2 for the class C, and already the best A_d over d in {0,1}^k is."""
    bound = 2 * optimum(table, name) + slack(*table)
    best_a = min(a_d(table, d, name) for d in directions(len(table[0])) if 0 < sum(d) < len(d))
    assert reached(table, "hcc", name) <= best_a + slack(*table)
    assert best_a <= bound


@on_tables
def test_theorem_3_6_for_entropy_the_most_balanced_direction_will_do(table: Table) -> None:
    """As we read it: the most balanced d leaves least unseen, so its A_d and B_d are within 2, without 2^k walks."""
    u = sums(table)
    d = max(directions(len(u)), key=lambda d: min(dot(u, d), dot(u, rest(d))))
    assert within(u, d, "entropy") <= min(within(u, e, "entropy") for e in directions(len(u))) + slack(u)
    assert a_d(table, d, "entropy") <= 2 * optimum(table, "entropy") + slack(u)
    assert reached(table, "balanced", "entropy") <= 2 * optimum(table, "entropy") + slack(u)


# --- section 4: Largest Class Alone -------------------------------------------------------------------


@thorough
@given(u=vectors)
def test_lemma_4_1_for_gini_the_largest_class_leaves_least_unseen(u: list[int]) -> None:
    """As we read it: min over d of I(u * d) + I(u * (1-d)) is attained at d = e_i, i the largest class."""
    assert without_the_largest(u, "gini") == pytest.approx(least_unseen(u, "gini"), rel=1e-9, abs=slack(u))


def test_lemma_4_1_does_not_hold_for_entropy() -> None:
    assert without_the_largest([2] * 6, "entropy") > 1.2 * least_unseen([2] * 6, "entropy")


@on_tables
def test_theorem_4_2_lca_is_within_2_for_gini(table: Table) -> None:
    """As we read it; and already the A_d of the largest class, here and below."""
    bound = 2 * optimum(table, "gini") + slack(*table)
    assert reached(table, "lca", "gini") <= a_d(table, largest_class(table), "gini") + slack(*table)
    assert a_d(table, largest_class(table), "gini") <= bound


@thorough
@given(u=vectors)
def test_lemma_4_3_for_entropy_the_largest_class_leaves_at_most_twice_the_least_unseen(u: list[int]) -> None:
    """As we read it: I(u * (1-e_i)) <= 2 min over d of I(u * d) + I(u * (1-d)), i the largest class."""
    assert without_the_largest(u, "entropy") <= 2 * least_unseen(u, "entropy") + slack(u)


@on_tables
def test_theorem_4_4_lca_is_within_3_for_entropy(table: Table) -> None:
    """As we read it."""
    bound = 3 * optimum(table, "entropy") + slack(*table)
    assert reached(table, "lca", "entropy") <= a_d(table, largest_class(table), "entropy") + slack(*table)
    assert a_d(table, largest_class(table), "entropy") <= bound


@every_impurity
@on_tables
def test_theorem_4_5_lca_is_within_3_and_sqrt_3_for_the_class(name: str, table: Table) -> None:
    """As we read it."""
    bound = (3 + math.sqrt(3)) * optimum(table, name) + slack(*table)
    assert reached(table, "lca", name) <= a_d(table, largest_class(table), name) + slack(*table)
    assert a_d(table, largest_class(table), name) <= bound


def tight_table(x: int, c: int) -> Table:
    """{(x,0,0), (0,x,0), (c,0,c)}, with a larger first row so that nothing hangs on a tie."""
    return [[x + x // 10, 0, 0], [0, x, 0], [c, 0, c]]


@pytest.mark.parametrize(("name", "table"), [("gini", tight_table(10**6, 10)), ("entropy", tight_table(10**10, 1))])
def test_the_tight_table_costs_a_d_its_factor_of_2(name: str, table: Table) -> None:
    """Collapsed to the largest class the two cuts look alike, and the wrong one costs twice the other."""
    assert reference.collapsed_along(table, name, [1, 0, 0]) == [False, True, True]
    assert reference.along_direction(table, name, [1, 0, 0]) == [False, True, False]
    assert 1.99 < a_d(table, [1, 0, 0], name) / optimum(table, name) < 2
    assert b_d(table, [1, 0, 0], name) == optimum(table, name)


@gini_and_entropy
def test_a_small_class_gives_a_d_no_guarantee(name: str) -> None:
    """Collapsed to the smallest class of that table, A_d is as bad as one likes: it is the largest that counts."""
    table = tight_table(10**6, 1)
    assert a_d(table, [0, 0, 1], name) > 10**4 * optimum(table, name)
