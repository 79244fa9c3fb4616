"""The three ways to the true optimum: against brute force, against each other, and on degenerate tables."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from splitlab.impurity import NAMES, score
from splitlab.splitters import Splitter, get, precompile, refuse_hopeless, split_batch
from splitlab.splitters.kernels.exact import cheapest, merged_rows
from splitlab.splitters.kernels.hyperplanes import arrangement, extend_minors, find_signs
from splitlab.splitters.kernels.modular import (
    PRIMES,
    determinant_sign,
    eliminate,
    independent_columns,
    inverse,
    primes_needed,
)
from tests.helpers.tables import WORST, optimum, random_tables

KINDS = [pytest.param(kind, id=name) for kind, name in enumerate(NAMES)]
EXACT = ("exhaustive", "hyperplanes", "exact")
Table = NDArray[np.int64]


def values(name: str, tables: Table, kind: int) -> NDArray[np.float64]:
    """The impurities that are reached, by splits of which no side is empty."""
    masks = split_batch(get(name), tables, kind)
    assert masks.any(axis=1).all()
    assert not masks.all(axis=1).any()
    return score(tables, masks, kind)


def same(found: NDArray[np.float64], expected: NDArray[np.float64], tables: Table) -> bool:
    """Equal but for what does not count as strictly better."""
    return bool((np.abs(found - expected) <= 5e-12 * tables.sum(axis=(1, 2))).all())


def usable(table: Table) -> Table:
    """Without zero rows and columns."""
    table = table[table.any(axis=1)]
    return np.ascontiguousarray(table[:, table.any(axis=0)])


# ---- against brute force


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("shape", [(2, 2), (2, 5), (4, 4), (5, 3), (7, 2), (8, 4), (6, 7)])
def test_the_optimum_of_small_tables(shape: tuple[int, int], name: str, kind: int) -> None:
    for max_count in (1, 2, 7, 10**6):
        tables = random_tables(max_count % 13, *shape, max_count, 25)
        expected = np.array([optimum(table, kind) for table in tables])
        assert same(values(name, tables, kind), expected, tables)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_count", [1, 2, 7, 100, 10**6, 10**13])
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_hyperplanes_against_exhaustive(k: int, max_count: int, kind: int) -> None:
    for n in (2, 3, 4, 5, 6, 8, 10, 12):
        tables = random_tables(100 * n + k, n, k, max_count, 30)
        assert same(values("hyperplanes", tables, kind), values("exhaustive", tables, kind), tables)


# ---- degenerate tables


def collinear(rng: np.random.Generator, k: int, large: int) -> Table:
    """Rows a + t b, on a line, and a few others."""
    a, b = rng.integers(0, large + 1, (2, k))
    return np.array([*(a + t * b for t in range(7)), *rng.integers(0, 3 * large, (3, k))])


def nearly_collinear(rng: np.random.Generator, k: int, large: int) -> Table:
    """The same, but for one or two examples: determinants far below rounding errors that are not 0."""
    table = collinear(rng, k, large)
    return table + rng.integers(0, 3, table.shape)


def coplanar(rng: np.random.Generator, k: int, large: int) -> Table:
    """Rows s a + t b + c, in a plane, and a few others."""
    a, b, c = rng.integers(0, large + 1, (3, k))
    return np.array([*(s * a + t * b + c for s in range(3) for t in range(3)), *rng.integers(0, 3 * large, (2, k))])


def of_rank(rank: int, rng: np.random.Generator, k: int, large: int) -> Table:
    """Rows that span ``rank`` dimensions."""
    return rng.integers(0, 4, (10, rank)) @ rng.integers(0, large + 1, (rank, k))


def with_double_columns(rng: np.random.Generator, k: int, large: int) -> Table:
    """A column twice, and one that is the sum of two."""
    table = rng.integers(0, large + 1, (9, k))
    return np.hstack([table, table[:, :1], table[:, :1] + table[:, 1:2]])


def with_multiples(rng: np.random.Generator, k: int, large: int) -> Table:
    """Rows in up to four copies and multiples."""
    return rng.integers(0, large + 1, (4, k))[rng.integers(0, 4, 10)] * rng.integers(1, 4, (10, 1))


def sparse(rng: np.random.Generator, k: int, large: int) -> Table:
    """Three entries of four are zero."""
    return rng.integers(0, large + 1, (11, k)) * (rng.random((11, k)) < 0.25)


FAMILIES = {
    "collinear": collinear,
    "nearly collinear": nearly_collinear,
    "coplanar": coplanar,
    "rank 1": lambda *args: of_rank(1, *args),
    "rank 2": lambda *args: of_rank(2, *args),
    "rank 3": lambda *args: of_rank(3, *args),
    "double columns": with_double_columns,
    "multiples": with_multiples,
    "sparse": sparse,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("large", [1, 6, 10**5, 10**12])
@pytest.mark.parametrize("family", FAMILIES)
def test_degenerate_tables(family: str, large: int, kind: int) -> None:
    rng = np.random.default_rng(large)
    compared = 0
    for k in (2, 3, 4, 5):
        for _ in range(6):
            tables = usable(FAMILIES[family](rng, k, large))[None]
            if min(tables.shape[1:]) >= 2:
                expected = values("exhaustive", tables, kind)
                assert same(values("hyperplanes", tables, kind), expected, tables), tables.tolist()
                compared += 1
    assert compared >= 12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2, 2], [0, 0, 2], [1, 2, 0]],  # three rows on one line, to be cut along it
        [[5, 0, 0], [0, 5, 0], [0, 0, 5]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]],
        [[1, 2, 3], [2, 4, 6], [5, 1, 0], [0, 3, 1]],
        [[4, 4, 1, 1], [1, 1, 4, 4], [2, 2, 3, 3], [3, 3, 2, 2]],
        [[10**14, 10**14 - 1, 1], [10**14 - 1, 10**14, 1], [10**14, 10**14, 1], [1, 1, 10**14]],
    ],
)
def test_tables_that_have_been_got_wrong(rows: list[list[int]], name: str, kind: int) -> None:
    table = np.array(rows)
    assert same(values(name, table[None], kind), np.array([optimum(table, kind)]), table[None])


@pytest.mark.parametrize("name", EXACT)
def test_proportional_rows_only(name: str) -> None:
    tables = np.array([[[3, 6, 9], [1, 2, 3], [2, 4, 6]]])
    assert split_batch(get(name), tables, 0).tolist() == [[True, False, False]]


def test_many_rows_in_a_plane_of_four_dimensions() -> None:
    """Without one use of each plane only, and its cells, this would take for ever."""
    rng = np.random.default_rng(2)
    flat = rng.integers(1, 40, (16, 3)) @ rng.integers(1, 9, (3, 4))
    tables = np.vstack([flat, rng.integers(0, 300, (2, 4))])[None]
    assert len(np.unique(tables[0] / tables[0].sum(axis=1, keepdims=True), axis=0)) == 18
    assert same(values("hyperplanes", tables, 1), values("exhaustive", tables, 1), tables)


# ---- what must not matter


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EXACT)
def test_order_scale_and_divided_rows_leave_the_optimum(name: str, kind: int) -> None:
    rng = np.random.default_rng(5)
    tables = random_tables(6, 9, 4, 7, 40)
    expected = values(name, tables, kind)
    shuffled = np.ascontiguousarray(tables[:, rng.permutation(9)][:, :, rng.permutation(4)])
    divided = np.ascontiguousarray(np.concatenate([3 * tables[:, :4], 6 * tables[:, :4], 9 * tables[:, 4:]], axis=1))
    assert same(values(name, shuffled, kind), expected, tables)
    assert same(values(name, divided, kind) / 9, expected, tables)


@pytest.mark.parametrize("kind", KINDS)
def test_no_splitter_is_better_for_tables_too_large_for_brute_force(kind: int) -> None:
    tables = random_tables(7, 40, 3, 7, 40)
    best = values("exact", tables, kind)
    slack = 1e-11 * tables.sum(axis=(1, 2))
    for name in ("lca", "pc_ext"):
        found = values(name, tables, kind)
        assert (best <= found + slack).all(), name
        assert (best < found - slack).any(), name


@pytest.mark.parametrize(("name", "kind", "ratio", "table"), WORST)
def test_ratio_of_the_worst_known_tables(name: str, kind: int, ratio: float, table: list[list[int]]) -> None:
    tables = np.array([table])
    best = values("exact", tables, kind)
    assert values(name, tables, kind) / best == pytest.approx(ratio, abs=1e-4 * ratio)
    assert same(values("hyperplanes", tables, kind), best, tables)


# ---- the choice and the cost


def test_exact_takes_the_cheapest_way_for_each_table() -> None:
    many, few = random_tables(8, 24, 3, 50, 1)[0], np.repeat([[1, 0, 2], [3, 1, 0], [0, 1, 1]], 8, axis=0)
    tables = np.array([many, few])
    assert merged_rows(tables).tolist() == [len({tuple(row / row.sum()) for row in many}), 3]
    assert cheapest(tables).tolist() == [2, 1]
    assert cheapest(random_tables(9, 24, 9, 7, 1)).tolist() == [1]
    assert cheapest(random_tables(9, 24, 2, 7, 1)).tolist() == [0]
    assert same(values("exact", tables, 0), values("hyperplanes", tables, 0), tables)


def test_compiling_ahead_reaches_every_method(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    taken = set[int]()

    def split(splitter: Splitter, tables: Table, kind: int) -> NDArray[np.bool_]:
        taken.update(cheapest(tables).tolist())
        return tables[:, :, 0] > 1

    monkeypatch.setattr(precompile, "split_batch", split)
    monkeypatch.setattr(precompile, "_mark", lambda _: tmp_path / "compiled")
    precompile._compile(get("exact"))
    assert taken == {1, 2}


def test_hopeless_requests_name_the_cost() -> None:
    exact, hyperplanes = get("exact"), get("hyperplanes")
    assert exact.nanoseconds(50, 9) == min(get("exhaustive").nanoseconds(50, 9), hyperplanes.nanoseconds(50, 9))
    with pytest.raises(ValueError, match=r"'exact' would take about \d+ minutes for one table with n = 50, k = 9"):
        refuse_hopeless(exact, 50, 9)
    for n, k in ((12, 9), (25, 9), (50, 3), (50, 5), (10**6, 2)):
        refuse_hopeless(exact, n, k)
    assert math.isfinite(hyperplanes.nanoseconds(5000, 1000))


# ---- exact arithmetic


def determinant(rows: list[list[int]]) -> int:
    """By Laplace's expansion, in Python's integers."""
    if not rows:
        return 1
    rest = rows[1:]
    return sum((-1) ** i * c * determinant([[*r[:i], *r[i + 1 :]] for r in rest]) for i, c in enumerate(rows[0]))


@pytest.mark.parametrize("large", [6, 10**5, 10**12])
@pytest.mark.parametrize("family", ["collinear", "nearly collinear", "coplanar", "double columns"])
def test_signs_are_exact(family: str, large: int) -> None:
    """Every row's side of every hyperplane through the first rows, against Python's integers."""
    for k in (3, 4):
        table = usable(FAMILIES[family](np.random.default_rng(k), k, large))[:8]
        space = arrangement(table, np.arange(8))
        r = space.vectors.shape[1]
        assert r == np.linalg.matrix_rank(table / table.sum(axis=1, keepdims=True)) or family == "nearly collinear"
        for chosen in combinations(range(8), r - 1):
            subset, minors, signs = np.array(chosen), np.ones(1 << r), np.empty(8, np.int64)
            for order, x in enumerate(chosen):
                extend_minors(space.points, x, order, minors)
            flat = np.empty(8, np.int64)
            size = find_signs(space, subset, minors, np.empty(8), signs, flat)
            exact = [determinant(space.vectors[[*chosen, x]].tolist()) for x in range(8)]
            assert signs.tolist() == [(e > 0) - (e < 0) for e in exact], (table.tolist(), chosen)
            assert flat[:size].tolist() == [x for x in range(8) if exact[x] == 0]


def test_primes() -> None:
    assert len(set(PRIMES.tolist())) == PRIMES.size
    for p in PRIMES.tolist():
        assert 2**30.99 < p < 2**31
        assert all(p % d for d in range(2, math.isqrt(p) + 1) if d < 50 or d % 2)
    assert inverse(3, int(PRIMES[0])) * 3 % int(PRIMES[0]) == 1
    assert primes_needed(29, 10**15) <= PRIMES.size < 30 * 2
    assert sum(map(math.log2, PRIMES.tolist())) > 29 * math.log2(10**15) + 1


@pytest.mark.parametrize("r", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("large", [1, 3, 10**6, 10**14])
def test_sign_of_a_determinant(r: int, large: int) -> None:
    rng = np.random.default_rng(r)
    seen = set()
    for _ in range(100):
        rows = rng.integers(0, large + 1, (r, r))
        if r > 1 and rng.random() < 0.3:  # singular, or next to it
            rows[-1] = rows[:-1].sum(axis=0)
            rows[-1, 0] += rng.integers(0, 2)
        exact = determinant(rows.tolist())
        sign = determinant_sign(rows, primes_needed(r, int(rows.sum(axis=1).max()) or 1))
        assert sign == (exact > 0) - (exact < 0), rows.tolist()
        seen.add(sign)
    assert seen == ({0, 1} if r == 1 and large <= 3 else {1} if r == 1 else {-1, 0, 1})


def test_rank_and_independent_rows() -> None:
    p = int(PRIMES[0])
    rows = np.array([[1, 2, 3], [2, 4, 6], [0, 1, 1], [1, 3, 4], [0, 0, 5]])
    independent = np.empty(5, np.bool_)
    assert eliminate(rows, p, independent, np.empty(3, np.int64))[0] == 3
    assert independent.tolist() == [True, False, True, False, True]
    assert len(independent_columns(np.ascontiguousarray(rows[:4]), 1)) == 2
    # Of rank 1 modulo the first prime, of rank 2 in truth.
    assert len(independent_columns(np.array([[1, 0], [0, p]]), 2)) == 2


@pytest.mark.parametrize("processors", [1, 2])
def test_what_is_missing_is_compiled_elsewhere_first(
    processors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler's memory is then not that of the run; what other processes do not manage is compiled here."""
    started: list[list[str]] = []
    here: list[str] = []
    (tmp_path / "splitlab.splitters.kernels.hypercube.lca").touch()
    monkeypatch.setattr(precompile, "_mark", lambda path: tmp_path / path.replace(":", "."))
    monkeypatch.setattr(precompile, "_start", started.append)
    monkeypatch.setattr(precompile, "_compile", lambda splitter: here.append(splitter.name))
    monkeypatch.setattr(precompile.joblib, "cpu_count", lambda: processors)
    precompile.compile_all(["lca", "hcc", "pc", "sliq", "sliq_ext"])
    assert len(started) == processors
    missing = sorted(name for part in started for name in part)
    assert missing == ["hcc", "pc", "sliq"]  # one of each family
    assert here == ["lca", "hcc", "pc", "sliq"]
    started.clear()
    precompile.compile_all(["lca"])
    assert started == []


def test_an_interrupt_while_others_compile_ends_them() -> None:
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])

    class Interrupted:
        def poll(self) -> None:
            raise KeyboardInterrupt

        def terminate(self) -> None:
            pass

    with pytest.raises(KeyboardInterrupt):
        precompile._wait([Interrupted(), other], [])  # type: ignore[list-item]
    assert other.wait(timeout=10) == -signal.SIGTERM
