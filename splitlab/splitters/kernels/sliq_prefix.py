"""SLIQext as the published decision-tree study ran it: a search through prefixes.

The study's program means to move, in each step, the value whose move to the right gives the least impurity. But its
loop over candidates does not put the sides back, so candidate j moves the first j of the remaining values. What comes
out is the best of the n - 1 splits that put the first j values, in the order of the table's rows, on the right:
a sweep in an order that has nothing to do with the classes. It is here to replay that study, not to be used.

Ties: the first (shortest) of equal prefixes. No guarantee. Cost O(nk). Source: Laber, Molinaro, Pereira (ICML 2018),
section 5, the published program. What was meant is ``sliq_ext``.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Ints, kernel
from splitlab.impurity import lookup_table
from splitlab.splitters.kernels.sweep import margins, sweep


@kernel
def sliq_ext_prefix(tables: Ints, kind: int, masks: Bools) -> None:
    """Best prefix of the rows on the right: int64 (b, n, k) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    lookup = lookup_table(tables, kind)
    order, sizes, totals = np.arange(n), np.empty(n, np.int64), np.empty(k, np.int64)
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        _, cut, _ = sweep(tables[t], order, totals, n_total, kind, lookup, False)
        for v in range(n):
            masks[t, v] = v > cut
