"""The arithmetic of the published decision-tree study, for growing trees by it.

Its program takes the attribute, the threshold and the grouping whose weighted impurity is the lowest float, the first
of equal ones; see ``splitlab.splitters.published_sums`` for the sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import inf

import numpy as np

from splitlab._jit import Floats, Ints
from splitlab.impurity import ENTROPY, GINI, code, lookup_table
from splitlab.splitters import Splitter, get
from splitlab.trees.criteria import Criterion
from splitlab.trees.grouping import Grouping
from splitlab.trees.protocol import IMPURITIES

KERNELS = "splitlab.splitters.published_"
SOURCE = "Laber, Molinaro, Pereira (ICML 2018), section 5: the published program"

# The splitters that the program has: kernel, options, and whether Gini is summed by products (see the kernels' file).
SPLITTERS = {
    "lca": ("trees:along_classes", (False,), True),
    "hcc": ("lanes:hcc", (), True),
    "pc_ext_counts": ("trees:pc_ext_counts", (), False),
    "sliq_ext_prefix": ("trees:sliq_ext_prefix", (), False),
}


def weighted(tables: Ints, sums: int) -> Floats:
    """The weighted impurity of splits (..., b, k) by the program's sums; b is 1 or 2."""
    from splitlab.splitters.published_sums import split_values

    return split_values(tables.reshape(-1, *tables.shape[-2:]), sums).reshape(tables.shape[:-2])


def cuts(counts: Ints, starts: Ints, sums: int) -> Ints:
    """The first of the best thresholds of each node; see ``first_least_cuts``."""
    from splitlab.splitters.published_sums import BITS, first_least_cuts

    nodes = np.add.reduceat(counts, starts)[:, None]
    return first_least_cuts(counts, starts, sums, lookup_table(nodes, ENTROPY if sums == BITS else GINI))


def splitter(name: str) -> Splitter:
    """The splitter as the program computes it; ValueError where it has none of that name."""
    if name not in SPLITTERS:
        raise ValueError(f"splitter: {name!r} is not in the published program, which has {', '.join(SPLITTERS)}")
    kernel, options, _ = SPLITTERS[name]
    return replace(get(name), kernel_path=KERNELS + kernel, options=options)


def criterion(impurity: str, name: str) -> Criterion:
    """The weighted impurity as the program computes it for the splitter of that name."""
    from splitlab.splitters.published_sums import BITS, PRODUCTS, SHARES

    if impurity not in IMPURITIES:
        raise ValueError(f"impurity: {impurity!r} is not in the published program, which has gini and entropy")
    sums = BITS if impurity == "entropy" else PRODUCTS if SPLITTERS[name][2] else SHARES
    return Criterion(
        f"{impurity}_as_published",
        f"weighted {impurity}, as published",
        maximise=False,
        range=(0.0, inf),
        two_class_order=True,
        hyperplanes=False,  # every threshold is looked at
        impurity=impurity,
        source=SOURCE,
        formula=partial(weighted, sums=sums),
        is_gain=True,
        binary=True,
        same=0.0,
        cuts=partial(cuts, sums=sums),
    )


@dataclass(frozen=True)
class AsPublished(Grouping):
    """The groupings of the program, which depend on the numbers by which it knows the values."""

    def __call__(self, tables: Ints, values: Floats | None = None) -> Ints:
        """As `Grouping`; ``values`` (g, n) are the values' numbers in the file, ascending."""
        assert values is not None
        masks = np.zeros(tables.shape[:2], np.bool_)
        kind = code(self.criterion.impurity)
        self.entry.kernel()(tables, values.astype(np.int64), kind, masks, *self.entry.options)
        return 1 - masks.astype(np.int64)


def grouping(impurity: str, name: str) -> Grouping:
    """How the program groups the values of a nominal attribute."""
    entry = splitter(name)
    return AsPublished(criterion(impurity, name), entry)
