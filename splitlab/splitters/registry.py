"""The splitters by name: what each is, what it guarantees, what it costs, where it comes from.

A splitter is a compiled function ``kernel(tables, kind, masks, *options)`` that fills the bool masks (b, n), True
for the left side, for int64 tables (b, n, k) without zero rows or columns, n >= 2 and k >= 2; ``kind`` is the
impurity's number. To add one, write its kernel in a file of this folder and an entry here; everything else (configs,
command line, tables, tests) goes by this list. The entries name their kernels as text, so that reading the list
compiles nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import log2
from typing import Any

from splitlab.splitters import costs


def _any_size(n: int, k: int) -> str | None:
    return None


@dataclass(frozen=True)
class Splitter:
    """An entry of the registry.

    Attributes
    ----------
    name : str
        The name used in configs and on the command line.
    title : str
        The name used in tables and figures.
    guarantee : str
        Proven ratio to the least possible impurity.
    cost : str
        Time for one table with n values and k classes, in O-notation.
    source : str
        Paper and section.
    kernel_path : str
        Module and function of the compiled kernel.
    nanoseconds : callable
        Rough time on one core for one table and one impurity as a function of (n, k): sizes work items and
        lets absurd requests be refused; no more than an order of magnitude is asked of it.
    options : tuple
        Further arguments of the kernel, by which variants of one family differ.
    builds_on : tuple of str
        Further files of this folder, besides its own and those that many share, whose code the kernel uses.
    limit : callable
        Why tables of n values and k classes cannot be split and what can be done instead, as a function of
        (n, k); None where they can, at whatever cost.
    """

    name: str
    title: str
    guarantee: str
    cost: str
    source: str
    kernel_path: str = field(repr=False)
    nanoseconds: Callable[[int, int], float] = field(repr=False, compare=False)
    options: tuple[Any, ...] = field(default=(), repr=False)
    builds_on: tuple[str, ...] = field(default=(), repr=False)
    limit: Callable[[int, int], str | None] = field(default=_any_size, repr=False, compare=False)

    def kernel(self) -> Callable[..., None]:
        """Import the compiled function (this loads numba)."""
        module, function = self.kernel_path.split(":")
        return getattr(import_module(module), function)

    def source_files(self) -> tuple[str, ...]:
        """The files, relative to the package, whose code decides what this splitter returns."""
        own = self.kernel_path.split(":")[0].removeprefix("splitlab.").replace(".", "/") + ".py"
        shared = ("directions", "eigen", "lane_format", "lanes", "sweep", *self.builds_on)
        return ("impurity.py", *(f"splitters/{name}.py" for name in shared), own)


def _sweep(n: int, k: int) -> float:
    return 30.0 + n * (4.0 * log2(n) + 3.0 * k)


def _hcc(n: int, k: int) -> float:
    return 2.0 ** min(k - 1, 900) * _sweep(n, k)


def _pc(n: int, k: int) -> float:
    return 500.0 + 5.0 * n * k * log2(n) + n * k * k + 30.0 * k**3


def _sliq(n: int, k: int) -> float:
    return 1.5 * n * n * k


def _ova(n: int, k: int) -> float:
    return k * _sweep(n, k)


def _balanced(n: int, k: int) -> float:
    return 2.0 * _sweep(n, k) + min(2.0 * n * k * k, 50.0 * 2.0 ** min(k / 2, 900))  # for N of about 4 n k


def _twoing(n: int, k: int) -> float:
    return 2.0 * _hcc(n, k)


def _flip_flop(n: int, k: int) -> float:
    return 500.0 + 5.0 * (_sweep(n, k) + _sweep(k, 2))


def _two_classes(n: int, k: int) -> str | None:
    return None if k == 2 else "it is for two classes only; choose 'hcc' or 'twoing'"


NEEDS_DIRECTION = (
    "it needs a direction, which only splitlab.split(..., direction=[...]) and `splitlab split --direction` take"
)


def _needs_direction(n: int, k: int) -> str | None:
    return NEEDS_DIRECTION


def _exact(n: int, k: int) -> float:
    return _sweep(n, k) if k == 2 else min(costs.exhaustive(n, k), costs.hyperplanes(n, k))


PAPER = "Laber, Molinaro, Pereira (ICML 2018)"
BURSHTEIN = "Burshtein, Della Pietra, Kanevsky, Nadas (Annals of Statistics 1992)"
COPPERSMITH = "Coppersmith, Hong, Hosking (DMKD 1999)"
NO_GUARANTEE = "none"
PC_COST = "n k^2 + k^3 + n log n"
LCA_RATIOS = "2 (Gini), 3 (entropy), 3 + sqrt 3 (class C)"
CART = "Breiman, Friedman, Olshen, Stone (CART, 1984)"
DIRECTED = ("hypercube", "principal", "subset_sums")  # what directed.py is built on

SPLITTERS: tuple[Splitter, ...] = (
    Splitter(
        name="lca",
        title="LCA",
        guarantee=LCA_RATIOS,
        cost="n k + n log n",
        source=f"{PAPER}, section 4",
        kernel_path="splitlab.splitters.hypercube:lca",
        nanoseconds=_sweep,
    ),
    Splitter(
        name="hcc",
        title="HcC",
        guarantee="2 (class C)",
        cost="2^k n (k + log n)",
        source=f"{PAPER}, section 3",
        kernel_path="splitlab.splitters.hypercube:hcc",
        nanoseconds=_hcc,
    ),
    Splitter(
        name="pc",
        title="PC",
        guarantee="optimal for k = 2",
        cost=PC_COST,
        source=COPPERSMITH,
        kernel_path="splitlab.splitters.principal:along_component",
        options=(False, False),
        nanoseconds=_pc,
    ),
    Splitter(
        name="pc_ext",
        title="PCext",
        guarantee="optimal for k = 2; never worse than PC",
        cost=PC_COST,
        source=COPPERSMITH,
        kernel_path="splitlab.splitters.principal:along_component",
        options=(False, True),
        nanoseconds=_pc,
    ),
    Splitter(
        name="pc_counts",
        title="PC (counts)",
        guarantee=NO_GUARANTEE,
        cost=PC_COST,
        source=f"PC with raw counts scored, as in the program behind {PAPER}",
        kernel_path="splitlab.splitters.principal:along_component",
        options=(True, False),
        nanoseconds=_pc,
    ),
    Splitter(
        name="pc_ext_counts",
        title="PCext (counts)",
        guarantee=NO_GUARANTEE,
        cost=PC_COST,
        source=f"PCext with raw counts scored, as in the program behind {PAPER}",
        kernel_path="splitlab.splitters.principal:along_component",
        options=(True, True),
        nanoseconds=_pc,
    ),
    Splitter(
        name="sliq",
        title="SLIQ",
        guarantee=NO_GUARANTEE,
        cost="n^2 k",
        source="Mehta, Agrawal, Rissanen (EDBT 1996)",
        kernel_path="splitlab.splitters.sliq:descend",
        options=(True,),
        nanoseconds=_sliq,
    ),
    Splitter(
        name="sliq_ext",
        title="SLIQext",
        guarantee="none; never worse than SLIQ",
        cost="n^2 k",
        source=f"{PAPER}, section 5",
        kernel_path="splitlab.splitters.sliq:descend",
        options=(False,),
        nanoseconds=_sliq,
    ),
    Splitter(
        name="ova",
        title="OvA",
        guarantee=f"{LCA_RATIOS}; never worse than LCA",
        cost="k n (k + log n)",
        source=f"{PAPER}: B_d for every single class",
        kernel_path="splitlab.splitters.directed:ova",
        nanoseconds=_ova,
        builds_on=DIRECTED,
    ),
    Splitter(
        name="balanced",
        title="Balanced",
        guarantee="2 (entropy)",
        cost="n k + n log n + min(k N, 2^(k/2))",
        source=f"{PAPER}: B_d for the set of classes closest to half of the examples",
        kernel_path="splitlab.splitters.directed:balanced",
        nanoseconds=_balanced,
        builds_on=DIRECTED,
    ),
    Splitter(
        name="list_scheduling",
        title="List scheduling",
        guarantee=NO_GUARANTEE,
        cost="n k + n log n + k log k",
        source="Graham (SIAM J. Appl. Math. 1969), in place of the exact balance",
        kernel_path="splitlab.splitters.directed:list_scheduling",
        nanoseconds=_sweep,
        builds_on=DIRECTED,
    ),
    Splitter(
        name="twoing",
        title="Twoing",
        guarantee="optimal for k = 2",
        cost="2^k n (k + log n)",
        source=CART,
        kernel_path="splitlab.splitters.collapsed:twoing",
        options=(True,),
        nanoseconds=_twoing,
        builds_on=("directed", *DIRECTED),
    ),
    Splitter(
        name="twoing_min",
        title="Twoing (impurity)",
        guarantee="optimal for k = 2",
        cost="2^k n (k + log n)",
        source=f"what {PAPER} and its program call twoing",
        kernel_path="splitlab.splitters.collapsed:twoing",
        options=(False,),
        nanoseconds=_twoing,
        builds_on=("directed", *DIRECTED),
    ),
    Splitter(
        name="flip_flop",
        title="Flip-flop",
        guarantee=f"{LCA_RATIOS}; never worse than LCA; optimal for k = 2",
        cost="iterations (n k + n log n + k log k)",
        source="Nadas, Nahamoo, Picheny, Powell (ICASSP 1991)",
        kernel_path="splitlab.splitters.collapsed:flip_flop",
        nanoseconds=_flip_flop,
        builds_on=("directed", *DIRECTED),
    ),
    Splitter(
        name="two_class",
        title="Two classes",
        guarantee="optimal; k = 2 only",
        cost="n log n",
        source=f"{CART}, Theorem 4.5",
        kernel_path="splitlab.splitters.collapsed:two_class",
        nanoseconds=_sweep,
        builds_on=("directed", *DIRECTED),
        limit=_two_classes,
    ),
    Splitter(
        name="direction",
        title="Direction",
        guarantee=NO_GUARANTEE,
        cost="n k + n log n",
        source=f"{PAPER}: Algorithm 1 (B_d) for a direction of one's own",
        kernel_path="splitlab.splitters.directed:along_direction",
        nanoseconds=_sweep,
        builds_on=DIRECTED,
        limit=_needs_direction,
    ),
    Splitter(
        name="exhaustive",
        title="Exhaustive",
        guarantee="optimal",
        cost="2^n k",
        source="definition",
        kernel_path="splitlab.splitters.exhaustive:exhaustive",
        nanoseconds=costs.exhaustive,
        builds_on=("principal",),
    ),
    Splitter(
        name="hyperplanes",
        title="Hyperplanes",
        guarantee="optimal",
        cost="n^(k-1) (n k + 2^k k)",
        source=f"{BURSHTEIN}; {COPPERSMITH}",
        kernel_path="splitlab.splitters.hyperplanes:hyperplanes",
        nanoseconds=costs.hyperplanes,
        builds_on=("exhaustive", "modular", "principal"),
    ),
    Splitter(
        name="exact",
        title="Exact",
        guarantee="optimal",
        cost="n log n (k = 2), else min(2^n k, n^(k-1) (n k + 2^k k))",
        source="the cheapest of HcC (for two classes), Exhaustive and Hyperplanes",
        kernel_path="splitlab.splitters.exact:exact",
        nanoseconds=_exact,
        builds_on=("costs", "exhaustive", "hypercube", "hyperplanes", "modular", "principal"),
    ),
)

# The longest that one table may take before a request is refused, in seconds.
LONGEST_TABLE = 30.0


def splitters() -> list[Splitter]:
    """All splitters, in the order of the registry.

    Examples
    --------
    >>> [s.name for s in splitters()][:2]
    ['lca', 'hcc']
    """
    return list(SPLITTERS)


def names() -> tuple[str, ...]:
    """The names of all splitters."""
    return tuple(s.name for s in SPLITTERS)


def get(name: str) -> Splitter:
    """The splitter of that name; ValueError, with a suggestion, if there is none."""
    for splitter in SPLITTERS:
        if splitter.name == name:
            return splitter
    near = difflib.get_close_matches(str(name), names(), 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the splitters are {', '.join(names())}"
    raise ValueError(f"splitter: {name!r} is not known; {hint}")


def along(direction: Any, collapsed: bool) -> Splitter:
    """The splitter ``direction`` with a direction, float64 (k,): B_d, or A_d when ``collapsed``."""
    path = "splitlab.splitters.collapsed:collapsed_along" if collapsed else get("direction").kernel_path
    return replace(get("direction"), kernel_path=path, options=(direction,), limit=_any_size)


def refusal(splitter: Splitter, n: int, k: int) -> str | None:
    """Why ``splitter`` is not run on tables of this size: it cannot split them, or one would take it too long."""
    if reason := splitter.limit(n, k):
        return f"splitter: {splitter.name!r} does not serve tables with n = {n}, k = {k}: {reason}"
    seconds = splitter.nanoseconds(n, k) / 1e9
    if seconds > LONGEST_TABLE:
        return (
            f"splitter: {splitter.name!r} would take about {duration(seconds)} for one table with n = {n}, k = {k} "
            f"(cost {splitter.cost}); choose a cheaper splitter or fewer classes"
        )
    return None


def refuse_hopeless(splitter: Splitter, n: int, k: int) -> None:
    """ValueError, saying why, when ``splitter`` is not run on tables of this size."""
    if message := refusal(splitter, n, k):
        raise ValueError(message)


def serving(n: int, k: int) -> tuple[str, ...]:
    """The names of the splitters that can be run on tables of this size.

    Examples
    --------
    >>> set(serving(12, 2)) - set(serving(12, 3))
    {'two_class'}
    """
    return tuple(s.name for s in SPLITTERS if not refusal(s, n, k))


def duration(seconds: float) -> str:
    """A duration in words, to two digits: '40 s', '3.2 hours', '1.5e+06 years'."""
    for unit, length in (("years", 3.15576e7), ("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds:.2g} s"


def split_batch(splitter: Splitter, tables: Any, kind: int) -> Any:
    """Masks (b, n), bool, of ``splitter`` for tables (b, n, k); True is the left side."""
    import numpy as np

    masks = np.zeros(tables.shape[:2], np.bool_)
    splitter.kernel()(tables, kind, masks, *splitter.options)
    return masks
