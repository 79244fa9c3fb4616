"""What every splitter has to keep to, tried on a splitter: the check behind ``splitlab check``.

The tables are random ones without ties: other names for the values or classes, in another order, or all counts
multiplied, must not change what the split is worth. Small tables are compared with the true optimum, by trying every
split. A splitter that fails on a table fails the rule at hand, and the message shows the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from splitlab.impurity import NAMES, code, score
from splitlab.plugins import hand_over, load
from splitlab.splitters import Splitter, get, split_batch
from splitlab.splitters.custom import SplitterError, called
from splitlab.splitters.registry import refusal

SHAPES = ((2, 2), (3, 2), (4, 3), (6, 3), (7, 4), (9, 3), (12, 2), (12, 5))
LARGE_SHAPES = ((25, 3), (60, 4), (120, 2))  # where an order may matter that does not in small tables
SCALES = (30, 1000, 10**6)
PER_SCALE = 4
SMALL = 9  # rows; up to here every split is tried
CLOSE = 1e-9
VALID = "returns one boolean per row, and both sides have rows"
SAME = "gives the same when called again"
NEEDED = (VALID, SAME)  # where one of them is broken, the rules after it say nothing
Mask = NDArray[np.bool_]
Table = NDArray[np.int64]
Call = Callable[[Table, str], Mask]


@dataclass(frozen=True)
class Finding:
    """A rule, what breaks it (nothing, where ``problem`` is empty), and what was seen besides."""

    rule: str
    problem: str
    seen: str = ""


def check(
    splitter: str | Splitter | Callable[[Table, str], ArrayLike], ratio: float | None = None, seed: int = 0
) -> list[Finding]:
    """Try a splitter's contract.

    Parameters
    ----------
    splitter : str or function
        A registered splitter, or a user-defined one: a function, or its name as ``package.module:function``.
    ratio : float, optional
        The most times the optimum that it is claimed to reach.
    seed : int
        Of the random tables.

    Returns
    -------
    list of Finding
        One per rule, but none after a broken one without which the others say nothing.

    Raises
    ------
    ValueError
        There is no such splitter, it cannot be imported, or it splits none of the tables; or the ratio is below 1.

    Examples
    --------
    >>> all(not finding.problem for finding in check("lca"))
    True
    """
    if ratio is not None and not 1.0 <= ratio < np.inf:
        raise ValueError(f"ratio: {ratio:g} is no ratio to the least impurity; write a number from 1 on")
    entry = get(hand_over(splitter) if callable(splitter) else splitter)
    if entry.custom:
        load(entry.kernel_path)
    everything = tables_without_ties(seed)
    refusals = [refusal(entry, len(table), table.shape[1], int(table.sum())) for table in everything]
    tables = [table for table, refused in zip(everything, refusals, strict=True) if not refused]
    if not tables:
        raise ValueError(refusals[0])
    call = _caller(entry)
    rng = np.random.default_rng([seed, 1])
    rules: tuple[tuple[str, Callable[[Table, str], str]], ...] = (
        (VALID, lambda table, impurity: _valid(call, table, impurity)),
        ("leaves the table as it is", lambda table, impurity: _untouched(entry, table, impurity)),
        (SAME, lambda table, impurity: _repeatable(call, table, impurity)),
        ("does not depend on the order of the rows", lambda table, impurity: _rows(call, table, impurity, rng)),
        ("does not depend on the order of the classes", lambda table, impurity: _classes(call, table, impurity, rng)),
        ("gives as good a split when all counts are tripled", lambda table, impurity: _scaled(call, table, impurity)),
        ("separates two classes that no row mixes", lambda table, impurity: _pure(call, table, impurity)),
    )
    found: list[Finding] = []
    for rule, test in rules:
        found.append(Finding(rule, _first_problem(test, tables)))
        if rule in NEEDED and found[-1].problem:
            return found
    return [*found, _against_optimum(call, [t for t in tables if len(t) <= SMALL], ratio)]


def tables_without_ties(seed: int) -> list[Table]:
    """Tables of several sizes and scales without equal rows, classes or shares."""
    rng = np.random.default_rng([seed, 0])
    tables = []
    for (n, k), scale, _ in product(SHAPES, SCALES, range(PER_SCALE)):
        table = rng.integers(1, scale, (n, k))
        while _has_ties(table):
            table = rng.integers(1, scale + n * k, (n, k))
        tables.append(table)
    return [*tables, *(rng.integers(1, 10**9, shape) for shape in LARGE_SHAPES)]


def _has_ties(table: Table) -> bool:
    """Whether two totals are equal, or two shares of a class."""
    shares = table / table.sum(axis=1, keepdims=True)
    lines = (table.sum(axis=1), table.sum(axis=0), *shares.T)
    return any(len(np.unique(line)) < line.size for line in lines)


def _caller(splitter: Splitter) -> Call:
    def call(table: Table, impurity: str) -> Mask:
        mask: Mask = split_batch(splitter, table[None].copy(), code(impurity))[0]
        return mask

    return call


def _first_problem(test: Callable[[Table, str], str], tables: list[Table]) -> str:
    """The first table on which a rule is broken, and how."""
    for table, impurity in product(tables, NAMES):
        try:
            problem = test(table, impurity)
        except SplitterError as error:
            problem = str(error)
        if problem:
            return f"{problem} (table {table.tolist()}, {impurity})"
    return ""


def _worth(table: Table, mask: Mask, impurity: str) -> float:
    return float(score(table[None], np.ascontiguousarray(mask)[None], code(impurity))[0])


def _differ(before: float, now: float) -> bool:
    return abs(now - before) > CLOSE * max(before, now, 1e-300)


def _valid(call: Call, table: Table, impurity: str) -> str:
    mask = call(table, impurity)
    return "" if mask.any() and not mask.all() else "an empty side"


def _untouched(splitter: Splitter, table: Table, impurity: str) -> str:
    given = table.copy()
    if splitter.custom:
        _, problem = called(load(splitter.kernel_path), given, impurity)
        if problem:
            return problem
    else:
        split_batch(splitter, given[None], code(impurity))
    return "" if (given == table).all() else f"the table became {given.tolist()}"


def _repeatable(call: Call, table: Table, impurity: str) -> str:
    first = call(table, impurity)
    for _ in range(3):
        if ((again := call(table, impurity)) != first).any():
            return f"left rows {np.flatnonzero(first).tolist()}, then {np.flatnonzero(again).tolist()}"
    return ""


def _rows(call: Call, table: Table, impurity: str, rng: np.random.Generator) -> str:
    order = rng.permutation(len(table))
    before = _worth(table, call(table, impurity), impurity)
    now = _worth(table[order], call(table[order], impurity), impurity)
    return (
        f"impurity {before:.10g}, with the rows in the order {order.tolist()} {now:.10g}"
        if _differ(before, now)
        else ""
    )


def _classes(call: Call, table: Table, impurity: str, rng: np.random.Generator) -> str:
    order = rng.permutation(table.shape[1])
    permuted = np.ascontiguousarray(table[:, order])
    before = _worth(table, call(table, impurity), impurity)
    now = _worth(permuted, call(permuted, impurity), impurity)
    if not _differ(before, now):
        return ""
    return f"impurity {before:.10g}, with the classes in the order {order.tolist()} {now:.10g}"


def _scaled(call: Call, table: Table, impurity: str) -> str:
    before = 3.0 * _worth(table, call(table, impurity), impurity)
    now = _worth(3 * table, call(3 * table, impurity), impurity)
    return f"impurity {now:.10g}, three times that before is {before:.10g}" if _differ(before, now) else ""


def _pure(call: Call, table: Table, impurity: str) -> str:
    if table.shape[1] != 2:
        return ""
    pure = table.copy()
    pure[np.arange(len(pure)), np.arange(len(pure)) % 2] = 0
    value = _worth(pure, call(pure, impurity), impurity)
    return f"impurity {value:.10g} on {pure.tolist()}, where 0 is possible" if value > CLOSE else ""


def _against_optimum(call: Call, tables: list[Table], ratio: float | None) -> Finding:
    """How far above the optimum it is; below it, or above what is claimed, it must not be."""
    rule = "is not below the optimum of small tables" + (f", nor above {ratio:g} times it" if ratio else "")
    ratios = []
    for table, impurity in product(tables, NAMES):
        try:
            value = _worth(table, call(table, impurity), impurity)
        except SplitterError as error:
            return Finding(rule, f"{error} (table {table.tolist()}, {impurity})")
        best = least_impurity(table, impurity)
        ratios.append(value / best if best else 1.0 if value == best else np.inf)
        if ratios[-1] < 1.0 - CLOSE or (ratio and ratios[-1] > ratio + CLOSE):
            return Finding(rule, f"{ratios[-1]:.6g} times the optimum (table {table.tolist()}, {impurity})")
    seen = f"on average {np.mean(ratios):.4f} times the optimum, at most {np.max(ratios):.4f} times"
    return Finding(rule, "", f"{seen}, on {len(ratios)} small tables")


def least_impurity(table: Table, impurity: str) -> float:
    """The optimum of a table, by trying every split."""
    n = len(table)
    masks = (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n)) & 1 == 1
    tables = np.broadcast_to(table, (len(masks), *table.shape)).copy()
    return float(score(tables, np.ascontiguousarray(masks), code(impurity)).min())
