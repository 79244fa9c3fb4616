"""All splitters: what each is, what it guarantees, what it costs, where it comes from.

A splitter is a compiled function ``kernel(tables, kind, masks, *options)`` that fills the bool masks (b, n), True
for the left side, for int64 tables (b, n, k) without zero rows or columns, n >= 2 and k >= 2; ``kind`` is the
impurity's number. To add one, write its kernel in a file of ``kernels`` and an entry here; everything else (configs,
command line, tables, tests) goes by this list. The entries name their kernels as text, so that reading the list
compiles nothing.
"""

from __future__ import annotations

from dataclasses import replace
from math import log2

from splitlab.splitters import costs
from splitlab.splitters.entry import Splitter
from splitlab.splitters.guarantee import NO_GUARANTEE, Guarantee

# Nanoseconds of one table, fitted to `scripts.bench_estimates`: the geometric mean of Gini and entropy on random tables
# of small counts. Where entropy's logarithms dominate, Gini takes a third of it, and entropy three times as much.


def _sweep(n: int, k: int) -> float:
    return 600.0 + n * (6.0 * log2(n) + 3.0 * k)


def _directions(k: int) -> float:
    return 2.0 ** min(k - 1, 900)


def _hcc(n: int, k: int) -> float:
    return 850.0 + _directions(k) * (40.0 + 2.3 * n * log2(n))


def _beyond_simd(n: int, k: int, examples: float) -> float:
    """What HcC costs on top where counts are too large for its SIMD form."""
    return _directions(k) * 9.0 * n * log2(n) if examples > LARGEST_TOTAL and k > 2 else 0.0


def _pc(n: int, k: int) -> float:
    return 1600.0 + n * (7.5 * log2(n) + 20.0 * k) + 5.0 * k**2 + 1.2 * k**3


def _sliq(n: int, k: int) -> float:
    """All n steps; where SLIQ stops early it takes less."""
    return 950.0 + n * (1.4 * n + 0.5 * n * k + 6.0 * k)


def _ova(n: int, k: int) -> float:
    return 900.0 + k * n * (5.0 * log2(n) + 1.7 * k)


def _balanced(n: int, k: int) -> float:
    return 2.0 * _sweep(n, k)  # and what the set costs, by the counts


def _balance(n: int, k: int, examples: float) -> float:
    """What the set of classes closest to half of the examples costs; sum by sum, several are done in a step."""
    return costs.balanced(n, k, examples) / (1.0 if costs.by_halves(k, examples) else 4.0)


def _twoing(n: int, k: int) -> float:
    return 220.0 + _directions(k) * (290.0 + 5.6 * n * log2(n))


def _flip_flop(n: int, k: int) -> float:
    return 2300.0 + n * (13.0 * log2(n) + 8.0 * k) + 8.5 * k * log2(k)


def _two_classes(n: int, k: int, examples: int) -> str | None:
    return None if k == 2 else "it is for two classes only; choose 'hcc' or 'twoing'"


NEEDS_DIRECTION = (
    "it needs a direction, which only splitlab.split(..., direction=[...]) and `splitlab split --direction` take"
)


def _needs_direction(n: int, k: int, examples: int) -> str | None:
    return NEEDS_DIRECTION


def _exact(n: int, k: int) -> float:
    return _sweep(n, k) if k == 2 else min(costs.exhaustive(n, k), costs.hyperplanes(n, k))


def _pull_left(n: int, k: int) -> float:
    return 800.0 + 22.0 * n * k + min(n, k) * n * (13.0 * log2(n) + 0.3 * k)


def descent(n: int, k: int) -> float:
    """What hyperplane descent from a good split takes, in nanoseconds; n^0.6 is about the number of its steps."""
    return 500.0 + n**0.6 * (800.0 + 2.3 * n * k)


def _hd(n: int, k: int) -> float:
    return 2500.0 + 0.5 * k * (k + 3) * n**0.6 * (260.0 + 1.6 * n * k)


PAPER = "Laber, Molinaro, Pereira (ICML 2018)"
BURSHTEIN = "Burshtein, Della Pietra, Kanevsky, Nadas (Annals of Statistics 1992)"
COPPERSMITH = "Coppersmith, Hong, Hosking (DMKD 1999)"
CHOU = "after Chou (PAMI 1991)"
PC_COST = "n k^2 + k^3 + n log n"
LCA_RATIOS = Guarantee(gini="2", entropy="3", class_c="3 + sqrt 3")
OPTIMAL_FOR_TWO = Guarantee(optimal_for_two_classes=True)
LARGEST_TOTAL = 32767  # examples, of the SIMD form of HcC
CART = "Breiman, Friedman, Olshen, Stone (CART, 1984)"

CATALOGUE: tuple[Splitter, ...] = (
    Splitter(
        name="lca",
        title="LCA",
        proven=LCA_RATIOS,
        cost="n k + n log n",
        source=f"{PAPER}, section 4",
        kernel_path="splitlab.splitters.kernels.hypercube:lca",
        nanoseconds=_sweep,
    ),
    Splitter(
        name="hcc",
        title="HcC",
        proven=Guarantee(class_c="2"),
        cost="2^k n (k + log n)",
        source=f"{PAPER}, section 3",
        kernel_path="splitlab.splitters.kernels.hypercube:hcc",
        nanoseconds=_hcc,
        large_counts=_beyond_simd,
    ),
    Splitter(
        name="pc",
        title="PC",
        proven=OPTIMAL_FOR_TWO,
        cost=PC_COST,
        source=COPPERSMITH,
        kernel_path="splitlab.splitters.kernels.principal:along_component",
        options=(False, False),
        nanoseconds=_pc,
    ),
    Splitter(
        name="pc_ext",
        title="PCext",
        proven=replace(OPTIMAL_FOR_TWO, never_worse_than=("PC",)),
        cost=PC_COST,
        source=COPPERSMITH,
        kernel_path="splitlab.splitters.kernels.principal:along_component",
        options=(False, True),
        nanoseconds=_pc,
    ),
    Splitter(
        name="pc_counts",
        title="PC (counts)",
        proven=NO_GUARANTEE,
        cost=PC_COST,
        source=f"PC with raw counts scored, as in the program behind {PAPER}",
        kernel_path="splitlab.splitters.kernels.principal:along_component",
        options=(True, False),
        nanoseconds=_pc,
    ),
    Splitter(
        name="pc_ext_counts",
        title="PCext (counts)",
        proven=NO_GUARANTEE,
        cost=PC_COST,
        source=f"PCext with raw counts scored, as in the program behind {PAPER}",
        kernel_path="splitlab.splitters.kernels.principal:along_component",
        options=(True, True),
        nanoseconds=_pc,
    ),
    Splitter(
        name="sliq",
        title="SLIQ",
        proven=NO_GUARANTEE,
        cost="n^2 k",
        source="Mehta, Agrawal, Rissanen (EDBT 1996)",
        kernel_path="splitlab.splitters.kernels.sliq:descend",
        options=(True,),
        nanoseconds=_sliq,
    ),
    Splitter(
        name="sliq_ext",
        title="SLIQext",
        proven=Guarantee(never_worse_than=("SLIQ",)),
        cost="n^2 k",
        source=f"{PAPER}, section 5",
        kernel_path="splitlab.splitters.kernels.sliq:descend",
        options=(False,),
        nanoseconds=_sliq,
    ),
    Splitter(
        name="sliq_ext_prefix",
        title="SLIQext, prefixes",
        proven=NO_GUARANTEE,
        cost="nk",
        source=f"{PAPER}, section 5: what the tree study's program ran as SLIQext",
        kernel_path="splitlab.splitters.kernels.sliq_prefix:sliq_ext_prefix",
        nanoseconds=lambda n, k: 570.0 + 3.5 * n * k,
    ),
    Splitter(
        name="ova",
        title="OvA",
        proven=replace(LCA_RATIOS, never_worse_than=("LCA",)),
        cost="k n (k + log n)",
        source=f"{PAPER}: B_d for every single class",
        kernel_path="splitlab.splitters.kernels.directed:ova",
        nanoseconds=_ova,
    ),
    Splitter(
        name="balanced",
        title="Balanced",
        proven=Guarantee(entropy="2"),
        cost="n k + n log n + min(k N, 2^(k/2))",
        source=f"{PAPER}: B_d for the set of classes closest to half of the examples",
        kernel_path="splitlab.splitters.kernels.directed:balanced",
        nanoseconds=_balanced,
        limit=costs.balanced_limit,
        large_counts=_balance,
    ),
    Splitter(
        name="list_scheduling",
        title="List scheduling",
        proven=NO_GUARANTEE,
        cost="n k + n log n + k log k",
        source="Graham (SIAM J. Appl. Math. 1969), in place of the exact balance",
        kernel_path="splitlab.splitters.kernels.directed:list_scheduling",
        nanoseconds=_sweep,
    ),
    Splitter(
        name="twoing",
        title="Twoing",
        proven=OPTIMAL_FOR_TWO,
        cost="2^k n (k + log n)",
        source=CART,
        kernel_path="splitlab.splitters.kernels.collapsed:twoing",
        options=(True,),
        nanoseconds=_twoing,
    ),
    Splitter(
        name="twoing_min",
        title="Twoing (impurity)",
        proven=OPTIMAL_FOR_TWO,
        cost="2^k n (k + log n)",
        source=f"what {PAPER} and its program call twoing",
        kernel_path="splitlab.splitters.kernels.collapsed:twoing",
        options=(False,),
        nanoseconds=_twoing,
    ),
    Splitter(
        name="flip_flop",
        title="Flip-flop",
        proven=replace(LCA_RATIOS, never_worse_than=("LCA",), optimal_for_two_classes=True),
        cost="iterations (n k + n log n + k log k)",
        source="Nadas, Nahamoo, Picheny, Powell (ICASSP 1991)",
        kernel_path="splitlab.splitters.kernels.collapsed:flip_flop",
        nanoseconds=_flip_flop,
    ),
    Splitter(
        name="two_class",
        title="Two classes",
        proven=Guarantee(optimal=True, two_classes_only=True),
        cost="n log n",
        source=f"{CART}, Theorem 4.5",
        kernel_path="splitlab.splitters.kernels.collapsed:two_class",
        nanoseconds=_sweep,
        limit=_two_classes,
    ),
    Splitter(
        name="direction",
        title="Direction",
        proven=NO_GUARANTEE,
        cost="n k + n log n",
        source=f"{PAPER}: Algorithm 1 (B_d) for a direction of one's own",
        kernel_path="splitlab.splitters.kernels.directed:along_direction",
        nanoseconds=_sweep,
        limit=_needs_direction,
    ),
    Splitter(
        name="exhaustive",
        title="Exhaustive",
        proven=Guarantee(optimal=True),
        cost="2^n k",
        source="definition",
        kernel_path="splitlab.splitters.kernels.exhaustive:exhaustive",
        nanoseconds=costs.exhaustive,
    ),
    Splitter(
        name="hyperplanes",
        title="Hyperplanes",
        proven=Guarantee(optimal=True),
        cost="n^(k-1) (n k + 2^k k)",
        source=f"{BURSHTEIN}; {COPPERSMITH}",
        kernel_path="splitlab.splitters.kernels.hyperplanes:hyperplanes",
        nanoseconds=costs.hyperplanes,
    ),
    Splitter(
        name="exact",
        title="Exact",
        proven=Guarantee(optimal=True),
        cost="n log n (k = 2), else min(2^n k, n^(k-1) (n k + 2^k k))",
        source="the cheapest of HcC (for two classes), Exhaustive and Hyperplanes",
        kernel_path="splitlab.splitters.kernels.exact:exact",
        nanoseconds=_exact,
    ),
    Splitter(
        name="pull_left",
        title="PullLeft",
        proven=NO_GUARANTEE,
        cost="n k^2 + k n log n",
        source="SLIQext with the purest rows as its only candidates",
        kernel_path="splitlab.splitters.kernels.pull_left:pull_left",
        nanoseconds=_pull_left,
    ),
    Splitter(
        name="hd",
        title="HD",
        proven=OPTIMAL_FOR_TWO,
        cost="k^2 n (k + log n) per step",
        source=f"{CHOU}: hyperplane descent from many starts",
        kernel_path="splitlab.splitters.kernels.descent:hd",
        nanoseconds=_hd,
    ),
)
