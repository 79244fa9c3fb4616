"""What every splitter has to keep to, tried on a splitter: the check behind ``splitlab check``.

The tables are random ones without ties: other names for the values or classes, in another order, or all counts
multiplied, must not change what the split is worth. Small tables are compared with the true optimum, by trying every
split. A splitter that fails on a table fails the rule at hand, and the message shows the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from splitlab import notebook
from splitlab.impurity import NAMES, code, score
from splitlab.plugins import hand_over, load
from splitlab.splitters import Splitter, get, split_batch
from splitlab.splitters.compiling import compilation_shown
from splitlab.splitters.custom import SplitterError, called
from splitlab.splitters.registry import refusal
from splitlab.text import did_you_mean

SHAPES = ((2, 2), (3, 2), (4, 3), (6, 3), (7, 4), (9, 3), (12, 2), (12, 5))
LARGE_SHAPES = ((25, 3), (60, 4), (120, 2))  # where an order may matter that does not in small tables
SCALES = (30, 1000, 10**6)
PER_SCALE = 4
SMALL = 9  # rows; up to here every split is tried
CLOSE = 1e-9
RULES = {
    "valid": "returns one boolean per row, and both sides have rows",
    "untouched": "leaves the table as it is",
    "repeatable": "gives the same when called again",
    "rows": "does not depend on the order of the rows",
    "classes": "does not depend on the order of the classes",
    "scale": "gives as good a split when all counts are tripled",
    "pure": "separates two classes that no row mixes",
    "optimum": "is not below the optimum of small tables",
}
NEEDED = ("valid", "repeatable")  # where one of them is broken, the rules after it say nothing
Mask = NDArray[np.bool_]
Table = NDArray[np.int64]
Call = Callable[[Table, str], Mask]


@dataclass(frozen=True)
class Finding:
    """What came out for a rule.

    Attributes
    ----------
    name, rule : str
        The rule's short name and what it says.
    problem : str
        What breaks it; empty where nothing does.
    seen : str
        What was seen besides.
    waived : bool
        Whether it was not tried, as asked.
    """

    name: str
    rule: str
    problem: str = ""
    seen: str = ""
    waived: bool = False

    @property
    def outcome(self) -> str:
        """``broken``, ``holds`` or ``waived``."""
        return "broken" if self.problem else "waived" if self.waived else "holds"


@dataclass(frozen=True)
class Report:
    """What `check` found; ``print`` shows it.

    Attributes
    ----------
    splitter : str
        Its name.
    findings : tuple of Finding
        One per rule, but none after a broken one without which the others say nothing.
    """

    splitter: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether no rule is broken."""
        return not self.broken

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The rules that are broken."""
        return tuple(finding for finding in self.findings if finding.problem)

    @property
    def waived(self) -> tuple[str, ...]:
        """The names of the rules that were not tried, as asked."""
        return tuple(finding.name for finding in self.findings if finding.waived)

    @property
    def conclusion(self) -> str:
        """All in one line."""
        if self.broken:
            return f"{self.splitter}: {len(self.broken)} of {len(self.findings)} rules broken"
        but = f"; waived: {', '.join(self.waived)}" if self.waived else ""
        return f"{self.splitter}: every rule holds{' that was tried' if but else ''}{but}"

    def __str__(self) -> str:
        lines = []
        for finding in self.findings:
            lines.append(f"{finding.outcome:<6}  {finding.rule}")
            if note := finding.problem or finding.seen:
                lines.append(f"        {' '.join(note.splitlines())}")
        return "\n".join([*lines, self.conclusion])

    def _repr_html_(self) -> str:
        """For notebooks: the rules, and what came out."""
        rows = [(f.rule, f.outcome, f.problem or f.seen) for f in self.findings]
        bold = [bool(finding.problem) for finding in self.findings]
        return notebook.grid(["rule", "", ""], rows, bold) + notebook.paragraph(self.conclusion)


@compilation_shown()
def check(
    splitter: str | Splitter | Callable[..., ArrayLike],
    ratio: float | None = None,
    seed: int = 0,
    *,
    waive: str | Iterable[str] = (),
    progress: bool = True,
) -> Report:
    """Try what every splitter has to keep to: the check behind ``splitlab check``.

    Parameters
    ----------
    splitter : str or function
        A registered splitter, or a user-defined one: a function, or its name as ``package.module:function``. A function
        with a parameter ``rng`` gets a generator that is seeded by the table, and so gives the same when called again.
    ratio : float, optional
        The most times the optimum that it is claimed to reach.
    seed : int
        Of the random tables.
    waive : str or list of str
        Rules that it need not keep: ``untouched``, ``repeatable``, ``rows``, ``classes``, ``scale``, ``pure``,
        ``optimum``. A randomised splitter seldom keeps ``rows``, ``classes`` and ``scale``.
    progress : bool
        Whether a check of more than two seconds shows on stderr how far it is.

    Returns
    -------
    Report
        Its ``passed`` says whether no rule is broken, its ``findings`` what came out for each.

    Raises
    ------
    ValueError
        There is no such splitter or rule, the splitter cannot be imported, or splits none of the tables; or the ratio
        is below 1.

    Examples
    --------
    >>> report = check("lca", waive="scale")
    >>> report.passed, report.waived
    (True, ('scale',))
    >>> print(report.conclusion)
    lca: every rule holds that was tried; waived: scale
    """
    if ratio is not None and not 1.0 <= ratio < np.inf:
        raise ValueError(f"ratio: {ratio:g} is no ratio to the least impurity; write a number from 1 on")
    waived = _waived(waive, ratio)
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
    tests: dict[str, Callable[[Table, str], str]] = {
        "valid": lambda table, impurity: _valid(call, table, impurity),
        "untouched": lambda table, impurity: _untouched(entry, table, impurity),
        "repeatable": lambda table, impurity: _repeatable(call, table, impurity),
        "rows": lambda table, impurity: _rows(call, table, impurity, rng),
        "classes": lambda table, impurity: _classes(call, table, impurity, rng),
        "scale": lambda table, impurity: _scaled(call, table, impurity),
        "pure": lambda table, impurity: _pure(call, table, impurity),
    }
    small = [table for table in tables if len(table) <= SMALL]
    found: list[Finding] = []
    steps = len(NAMES) * (len(tables) * sum(name not in waived for name in tests) + len(small))
    with _bar(entry.name, steps, progress) as bar:
        for name, test in tests.items():
            bar.set_postfix_str(RULES[name], refresh=False)
            problem = "" if name in waived else _first_problem(test, tables, bar)
            found.append(Finding(name, RULES[name], problem, waived=name in waived))
            if name in NEEDED and problem:
                return Report(entry.name, tuple(found))
        bar.set_postfix_str(RULES["optimum"], refresh=False)
        last = "optimum" in waived
        found.append(
            Finding("optimum", RULES["optimum"], waived=True) if last else _against_optimum(call, small, ratio, bar)
        )
    return Report(entry.name, tuple(found))


def _waived(waive: str | Iterable[str], ratio: float | None) -> frozenset[str]:
    """The rules that are not tried; ValueError where one is none, or must be."""
    names = [waive] if isinstance(waive, str) else list(waive)
    for name in names:
        if name not in RULES:
            known = f"the rules are {', '.join(rule for rule in RULES if rule != 'valid')}"
            raise ValueError(f"waive: {name!r} is no rule; {did_you_mean(name, RULES) or known}")
        if name == "valid":
            raise ValueError("waive: 'valid' cannot be waived; of what is no split nothing else can be said")
        if name == "optimum" and ratio is not None:
            raise ValueError("waive: 'optimum' does not go with a ratio, which is tried by that rule")
    return frozenset(names)


def _bar(name: str, steps: int, progress: bool) -> tqdm[NoReturn]:
    """Progress on stderr, of a check that takes a while."""
    line = "{desc}: {percentage:3.0f}% [{elapsed}, about {remaining} left] {postfix}"
    seconds = 1.0 if sys.stderr and sys.stderr.isatty() else 5.0
    return tqdm(
        desc=f"checking {name}", total=steps, disable=not progress, file=sys.stderr, bar_format=line,
        mininterval=seconds, miniters=0, delay=2.0, leave=False,
    )  # fmt: skip


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


def _first_problem(test: Callable[[Table, str], str], tables: list[Table], bar: tqdm[NoReturn]) -> str:
    """The first table on which a rule is broken, and how."""
    for table, impurity in product(tables, NAMES):
        bar.update()
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


def _against_optimum(call: Call, tables: list[Table], ratio: float | None, bar: tqdm[NoReturn]) -> Finding:
    """How far above the optimum it is; below it, or above what is claimed, it must not be."""
    name, rule = "optimum", RULES["optimum"] + (f", nor above {ratio:g} times it" if ratio else "")
    ratios = []
    for table, impurity in product(tables, NAMES):
        bar.update()
        try:
            value = _worth(table, call(table, impurity), impurity)
        except SplitterError as error:
            return Finding(name, rule, f"{error} (table {table.tolist()}, {impurity})")
        best = least_impurity(table, impurity)
        ratios.append(value / best if best else 1.0 if value == best else np.inf)
        if ratios[-1] < 1.0 - CLOSE or (ratio and ratios[-1] > ratio + CLOSE):
            return Finding(name, rule, f"{ratios[-1]:.6g} times the optimum (table {table.tolist()}, {impurity})")
    seen = f"on average {np.mean(ratios):.4f} times the optimum, at most {np.max(ratios):.4f} times"
    return Finding(name, rule, "", f"{seen}, on {len(ratios)} small tables")


def least_impurity(table: Table, impurity: str) -> float:
    """The optimum of a table, by trying every split."""
    n = len(table)
    masks = (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n)) & 1 == 1
    tables = np.broadcast_to(table, (len(masks), *table.shape)).copy()
    return float(score(tables, np.ascontiguousarray(masks), code(impurity)).min())
