"""Criteria and groupings in the arithmetic of the published tree program, for growing trees by it.

The program takes the attribute, the threshold and the grouping whose weighted impurity is the lowest float, the first
of equal ones, without a tolerance. The sums behind these floats are in ``splitlab.published.program.sums``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import NamedTuple

import numpy as np

from splitlab._jit import Floats, Ints
from splitlab.impurity import ENTROPY, GINI, code, lookup_table
from splitlab.published.program.protocol import IMPURITIES
from splitlab.published.program.sums import BITS, PRODUCTS, SHARES, first_least_cuts, split_values
from splitlab.splitters import Splitter, get
from splitlab.trees.criteria import Criterion
from splitlab.trees.grouping import Grouping

SOURCE = "Laber, Molinaro, Pereira (ICML 2018), section 5: the published program"


class Kernel(NamedTuple):
    """How the program computes a splitter.

    Attributes
    ----------
    path : str
        ``module:function`` of the kernel, below this package.
    options : tuple
        Further arguments of the kernel.
    gini_sums : int
        Which sums compare its splits by Gini: `PRODUCTS` or `SHARES` of ``sums``.
    """

    path: str
    options: tuple[bool, ...]
    gini_sums: int


SPLITTERS = {
    "lca": Kernel("splitters:along_classes", (False,), PRODUCTS),
    "hcc": Kernel("hcc_simd:hcc", (), PRODUCTS),
    "pc_ext_counts": Kernel("splitters:pc_ext_counts", (), SHARES),
    "sliq_ext_prefix": Kernel("splitters:sliq_ext_prefix", (), SHARES),
}


def weighted(tables: Ints, sums: int) -> Floats:
    """The weighted impurity of splits by the program's sums.

    Parameters
    ----------
    tables : int64 (..., b, k)
        Class counts of the b branches of each split, b = 1 or 2.
    sums : int
        `PRODUCTS`, `SHARES` or `BITS` of ``sums``.

    Returns
    -------
    float64 (...)
    """
    return split_values(tables.reshape(-1, *tables.shape[-2:]), sums).reshape(tables.shape[:-2])


def cuts(counts: Ints, starts: Ints, sums: int) -> Ints:
    """The first of the best thresholds of each node.

    Parameters
    ----------
    counts : int64 (p, k)
        Class counts of the values of all nodes, ascending within each node.
    starts : int64 (m,)
        Where the values of each node begin.
    sums : int
        `PRODUCTS`, `SHARES` or `BITS` of ``sums``.

    Returns
    -------
    int64
        For each node with several values the place of the last value below its threshold, ascending.
    """
    nodes = np.add.reduceat(counts, starts)[:, None]
    return first_least_cuts(counts, starts, sums, lookup_table(nodes, ENTROPY if sums == BITS else GINI))


def splitter(name: str) -> Splitter:
    """The splitter of that name as the program computes it; ValueError where the program has none.

    >>> splitter("hcc").kernel_path
    'splitlab.published.program.hcc_simd:hcc'
    """
    if name not in SPLITTERS:
        raise ValueError(f"splitter: {name!r} is not in the published program, which has {', '.join(SPLITTERS)}")
    path, options, _ = SPLITTERS[name]
    return replace(get(name), kernel_path=f"{__package__}.{path}", options=options)


def criterion(impurity: str, name: str) -> Criterion:
    """The weighted impurity as the program computes it for the splitter ``name``.

    Raises
    ------
    ValueError
        The program has no such impurity.
    """
    if impurity not in IMPURITIES:
        raise ValueError(f"impurity: {impurity!r} is not in the published program, which has gini and entropy")
    sums = BITS if impurity == "entropy" else SPLITTERS[name].gini_sums
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
class PublishedGrouping(Grouping):
    """The groupings of the program, which depend on the numbers by which it knows the values."""

    def __call__(self, tables: Ints, values: Floats | None = None) -> Ints:
        """The branches of the values of some nodes.

        Parameters
        ----------
        tables : int64 (g, n, k)
            Contingency tables without zero rows or columns.
        values : float64 (g, n)
            The numbers of the values in the file, ascending.

        Returns
        -------
        int64 (g, n)
            0 for the left side, 1 for the right one; all 1 where the program finds no split.
        """
        assert values is not None
        masks = np.zeros(tables.shape[:2], np.bool_)
        kind = code(self.criterion.impurity)
        self.entry.kernel()(tables, values.astype(np.int64), kind, masks, *self.entry.options)
        return 1 - masks.astype(np.int64)


def grouping(impurity: str, name: str) -> PublishedGrouping:
    """How the program groups the values of a nominal attribute by an impurity and the splitter ``name``.

    Raises
    ------
    ValueError
        The program has no such splitter or impurity.
    """
    entry = splitter(name)
    return PublishedGrouping(criterion(impurity, name), entry)
