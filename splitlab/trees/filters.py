"""Which nominal attributes are worth a split: a test of independence, and enough examples beyond the first value.

Each function looks at one attribute in m nodes at once; ``values`` are its values in these nodes.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from splitlab._jit import Bools, Floats, Ints
from splitlab.trees.proposals import Values


def independence(values: Values, m: int, unit: float = 1.0) -> Floats:
    """Pearson's chi-square test of the values against the classes that are present in each node.

    Parameters
    ----------
    values : Values
        The values of the attribute in the nodes.
    m : int
        The number of nodes.
    unit : float
        What a count of 1 is worth, where examples have weights.

    Returns
    -------
    float64 (m,)
        p-values, without correction for continuity; 1 where a node has fewer than two values or classes.
    """
    p = np.ones(m)
    if not len(values.node):
        return p
    starts, lengths = values.runs
    of_class = np.add.reduceat(values.counts, starts)
    size = values.counts.sum(1)
    expected = np.repeat(of_class, lengths, axis=0) * size[:, None].astype(np.float64)
    share = np.divide(values.counts.astype(np.float64) ** 2, expected, out=np.zeros(expected.shape), where=expected > 0)
    total = of_class.sum(1) * unit
    statistic = np.maximum(total * (np.add.reduceat(share.sum(1), starts) - 1), 0.0)
    freedom = (lengths - 1) * ((of_class > 0).sum(1) - 1)
    tested = freedom > 0
    p[values.node[starts[tested]]] = chdtrc(freedom[tested], statistic[tested])
    return p


def second_most_frequent(values: Values, m: int) -> Ints:
    """How many examples of each node have its second most frequent value: int64 (m,), 0 with fewer than two values."""
    result = np.zeros(m, np.int64)
    size = values.size
    order = np.lexsort((-size, values.node))
    starts, lengths = values.runs
    several = starts[lengths > 1]
    result[values.node[several]] = size[order][several + 1]
    return result


def several_values(values: Values, m: int) -> Bools:
    """Which nodes have at least two values of the attribute: bool (m,)."""
    result = np.zeros(m, np.bool_)
    starts, lengths = values.runs
    result[values.node[starts[lengths > 1]]] = True
    return result
