"""The splitters by name: what each is, what it guarantees, what it costs, where it comes from.

A splitter is a compiled function ``kernel(tables, kind, masks, *options)`` that fills the bool masks (b, n), True
for the left side, for int64 tables (b, n, k) without zero rows or columns, n >= 2 and k >= 2; ``kind`` is the
impurity's number. To add one, write its kernel in a file of this folder and an entry here; everything else (configs,
command line, tables, tests) goes by this list. The entries name their kernels as text, so that reading the list
compiles nothing.

Every splitter also comes *polished*: ``lca+hd`` is the split of ``lca`` and then hyperplane descent from there. A few
of them are in the list; the others can be asked for by name all the same.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import log2
from typing import Any


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
    options : tuple of bool
        Further arguments of the kernel, by which variants of one family differ.
    polished : bool
        Whether hyperplane descent goes on from the kernel's splits.
    """

    name: str
    title: str
    guarantee: str
    cost: str
    source: str
    kernel_path: str = field(repr=False)
    nanoseconds: Callable[[int, int], float] = field(repr=False, compare=False)
    options: tuple[bool, ...] = field(default=(), repr=False)
    polished: bool = field(default=False, repr=False)

    def kernel(self) -> Callable[..., None]:
        """Import the compiled function (this loads numba)."""
        return _load(self.kernel_path)

    def kernel_paths(self) -> tuple[str, ...]:
        """The kernel and, of a polished splitter, the descent."""
        return (self.kernel_path, POLISH) if self.polished else (self.kernel_path,)

    def source_files(self) -> tuple[str, ...]:
        """The files, relative to the package, whose code decides what this splitter returns."""
        own = [path.split(":")[0].rpartition(".")[2] for path in self.kernel_paths()]
        shared = ["directions", "eigen", "lane_format", "lanes", "sweep"]
        if "descent" in own:
            shared += ["components", "principal"]
        return ("impurity.py", *(f"splitters/{name}.py" for name in dict.fromkeys(shared + own)))


def _load(path: str) -> Callable[..., None]:
    module, function = path.split(":")
    return getattr(import_module(module), function)


def _sweep(n: int, k: int) -> float:
    return 30.0 + n * (4.0 * log2(n) + 3.0 * k)


def _hcc(n: int, k: int) -> float:
    return 2.0 ** min(k - 1, 900) * _sweep(n, k)


def _pc(n: int, k: int) -> float:
    return 500.0 + 5.0 * n * k * log2(n) + n * k * k + 30.0 * k**3


def _sliq(n: int, k: int) -> float:
    return 1.5 * n * n * k


def _pull_left(n: int, k: int) -> float:
    return k * _sweep(n, k) + 2.0 * n * k * k


def _descent(n: int, k: int) -> float:
    return 6.0 * _sweep(n, k)


def _hd(n: int, k: int) -> float:
    return 0.5 * k * (k + 3) * _descent(n, k) + 30.0 * k**3


PAPER = "Laber, Molinaro, Pereira (ICML 2018)"
COPPERSMITH = "Coppersmith, Hong, Hosking (DMKD 1999)"
CHOU = "after Chou (PAMI 1991)"
NO_GUARANTEE = "none"
PC_COST = "n k^2 + k^3 + n log n"

POLISHED = "+hd"  # ends the names of polished splitters
POLISH = "splitlab.splitters.descent:polish"

UNPOLISHED: tuple[Splitter, ...] = (
    Splitter(
        name="lca",
        title="LCA",
        guarantee="2 (Gini), 3 (entropy), 3 + sqrt 3 (class C)",
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
        name="pull_left",
        title="PullLeft",
        guarantee=NO_GUARANTEE,
        cost="n k^2 + k n log n",
        source="SLIQext with the purest rows as its only candidates",
        kernel_path="splitlab.splitters.pull_left:pull_left",
        nanoseconds=_pull_left,
    ),
    Splitter(
        name="hd",
        title="HD",
        guarantee="optimal for k = 2",
        cost="k^2 n (k + log n) per step",
        source=f"{CHOU}: hyperplane descent from many starts",
        kernel_path="splitlab.splitters.descent:hd",
        nanoseconds=_hd,
    ),
)


def polished(splitter: Splitter) -> Splitter:
    """The splitter followed by hyperplane descent."""
    return replace(
        splitter,
        name=splitter.name + POLISHED,
        title=splitter.title + POLISHED,
        guarantee=f"{splitter.guarantee}; never worse than {splitter.title}",
        cost=f"{splitter.cost}, then n (k + log n) per step",
        source=f"{splitter.source}; hyperplane descent {CHOU}",
        nanoseconds=lambda n, k: splitter.nanoseconds(n, k) + _descent(n, k),
        polished=True,
    )


SPLITTERS: tuple[Splitter, ...] = (
    *UNPOLISHED,
    *(polished(splitter) for splitter in UNPOLISHED if splitter.name in ("lca", "hcc", "pc_ext")),
)

# The longest that one table may take before a request is refused, in seconds.
LONGEST_TABLE = 30.0


def splitters() -> list[Splitter]:
    """All splitters, in the order of the registry; of the polished ones, a few.

    Examples
    --------
    >>> [s.name for s in splitters()][:2]
    ['lca', 'hcc']
    """
    return list(SPLITTERS)


def names() -> tuple[str, ...]:
    """The names of these splitters."""
    return tuple(s.name for s in SPLITTERS)


def get(name: str) -> Splitter:
    """The splitter of that name; ValueError, with a suggestion, if there is none.

    Examples
    --------
    >>> get("sliq+hd").title
    'SLIQ+hd'
    """
    for splitter in SPLITTERS:
        if splitter.name == name:
            return splitter
    base = str(name).removesuffix(POLISHED)
    if base != name:
        if base == "hd" or base.endswith(POLISHED):
            raise ValueError(f"splitter: {name!r} would descend again from where a descent ended; write {base!r}")
        return polished(get(base))
    near = difflib.get_close_matches(str(name), names(), 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the splitters are {', '.join(names())}"
    raise ValueError(f"splitter: {name!r} is not known; {hint}")


def known(name: str) -> bool:
    """Whether there is a splitter of that name."""
    try:
        get(name)
    except ValueError:
        return False
    return True


def refuse_hopeless(splitter: Splitter, n: int, k: int) -> None:
    """ValueError with the estimate when one table of this size would take ``splitter`` too long."""
    seconds = splitter.nanoseconds(n, k) / 1e9
    if seconds > LONGEST_TABLE:
        raise ValueError(
            f"splitter: {splitter.name!r} would take about {duration(seconds)} for one table with n = {n}, k = {k} "
            f"(cost {splitter.cost}); choose a cheaper splitter or fewer classes"
        )


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
    if splitter.polished:
        _load(POLISH)(tables, kind, masks)
    return masks
