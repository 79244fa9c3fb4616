"""The best binary split of a table for any criterion, by trying all splits that can be best.

Let p_v be the class probabilities of row v. Which splits can be best depends on the criterion (see ``criteria``):

- two classes and ``two_class_order``: the n - 1 prefixes in the order of p_v0, O(n log n);
- ``hyperplanes``: proportional rows are merged, and the splits by hyperplanes through the origin of the space of counts
  are tried, O(n^(k-1) 2^(k-1)) of them;
- neither: all 2^(n-1) - 1 splits.

The cheaper of the last two is taken where both are valid, and refused above ``MOST`` splits.

Splits by hyperplanes. A hyperplane that separates two sets of vectors can be moved until it holds r - 1 independent
ones, r being the rank; so they are all found by laying hyperplanes through r - 1 rows. A slight turn then sends the
rows on it to either side in every way in which a hyperplane *within* it could separate them: the same question one
dimension lower. Rows within ``ON`` of a hyperplane count as on it, so rounding only adds splits to those tried.

Ties: the first of equal splits in the order in which they are tried.
"""

from __future__ import annotations

import itertools
from math import comb

import numpy as np

from splitlab._jit import Bools, Floats, Ints
from splitlab.tables.contingency import merge_proportional, proportional_groups
from splitlab.trees.criteria import Criterion, first_best

MOST = 1 << 17
ON = 1e-11


def exact_split(table: Ints, criterion: Criterion) -> Bools:
    """The left side of the best binary split of a table without zero rows, n >= 2: bool (n,).

    Raises
    ------
    ValueError
        More than `MOST` splits would have to be tried.
    """
    if table.shape[1] == 2 and criterion.two_class_order:
        return class_order_split(table[None], criterion)[0]
    if not criterion.hyperplanes:
        return _best(table, all_splits(len(table), criterion, table.shape[1]), criterion)
    merged, group = merge_proportional(table), proportional_groups(table)
    n, k = merged.shape
    if n == 1:  # all rows proportional: the first against the rest, as every splitter does
        return np.arange(len(table)) == 0
    by_planes = comb(n, k - 1) << (k - 1)
    masks = hyperplane_splits(merged) if by_planes < min(MOST, 1 << (n - 1)) else all_splits(n, criterion, k)
    return _best(merged, masks, criterion)[np.unique(group, return_inverse=True)[1]]


def class_order_split(tables: Ints, criterion: Criterion) -> Bools:
    """The left sides of the best prefixes in the order of the share of class 0: int64 (g, n, 2) -> bool (g, n)."""
    g, n, _ = tables.shape
    order = np.argsort(tables[:, :, 0] / tables.sum(2), axis=1, kind="stable")
    left = np.take_along_axis(tables, order[:, :, None], 1).cumsum(1)[:, :-1]
    keys = criterion.keys(np.stack([left, tables.sum(1)[:, None] - left], 2))
    best = first_best(keys.reshape(len(keys), -1), np.repeat(np.arange(g), n - 1), criterion.same, criterion.floor)
    masks = np.empty((g, n), np.bool_)
    np.put_along_axis(masks, order, np.arange(n) <= best[:, None] % (n - 1), 1)
    return masks


def all_splits(n: int, criterion: Criterion, k: int) -> Bools:
    """All splits of n rows with row 0 on the left: bool (2^(n-1) - 1, n); ValueError if these are too many.

    The criterion and the number k of classes are for the message.
    """
    if 1 << (n - 1) > MOST:
        raise ValueError(
            f"splitter: 'exact' would have to try about {2.0 ** (n - 1):.2g} splits of n = {n} values and k = {k} "
            f"classes for the criterion {criterion.name!r}; choose a heuristic one"
        )
    others = every_set(n - 1)[:-1]
    return np.hstack([np.ones((len(others), 1), np.bool_), others])


def hyperplane_splits(table: Ints) -> Bools:
    """The splits of rows, no two of them proportional, by hyperplanes, row 0 on the left: bool (m, n)."""
    masks = dichotomies(table / table.sum(1, keepdims=True))
    masks = np.unique(masks == masks[:, :1], axis=0)
    return masks[~masks.all(1)]


def dichotomies(x: Floats) -> Bools:
    """Into which two sets hyperplanes through 0 divide vectors (n, d) of one open half-space: bool (m, n).

    One of a set and its complement is enough; either may come, and sets may come twice.
    """
    n = len(x)
    # Drop the dimensions that the vectors do not span.
    _, lengths, axes = np.linalg.svd(x, full_matrices=False)
    r = int((lengths > ON).sum())
    x = x @ axes[:r].T
    if n == r:  # independent vectors: any set
        return every_set(n)
    if r == 1:
        return np.ones((1, n), np.bool_)
    # Lay a hyperplane through every r - 1 independent vectors, and see which vectors lie on it.
    subsets = np.array(list(itertools.combinations(range(n), r - 1)))
    _, lengths, axes = np.linalg.svd(x[subsets])
    independent = lengths[:, -1] > ON
    planes, subsets = axes[independent], subsets[independent]  # the last axis is the normal, the others span the plane
    above = planes[:, -1] @ x.T
    on = np.abs(above) <= ON
    alone = on.sum(1) == r - 1  # nothing but the rows of the subset lies on the plane, and they are independent
    found = [_every_turn(above[alone] > 0, subsets[alone])]
    # Each other hyperplane once: divide the vectors on it in the same way, one dimension lower.
    _, first = np.unique(np.where(on, 0.0, np.sign(above)), axis=0, return_index=True)
    for plane in first[~alone[first]]:
        inside = on[plane]
        turned = dichotomies(x[inside] @ planes[plane, :-1].T)
        masks = np.repeat(above[plane][None] > 0, 2 * len(turned), axis=0)
        masks[:, inside] = np.vstack([turned, ~turned])
        found.append(masks)
    return np.vstack(found)


def _every_turn(above: Bools, subsets: Ints) -> Bools:
    """Each mask (c, n) with the rows of its subset (c, s) set in all ways: bool (c 2^s, n)."""
    ways = every_set(subsets.shape[1])
    masks = np.repeat(above, len(ways), axis=0)
    np.put_along_axis(masks, np.repeat(subsets, len(ways), axis=0), np.tile(ways, (len(subsets), 1)), 1)
    return masks


def every_set(n: int) -> Bools:
    """All subsets of n things, in the order of their binary numbers: bool (2^n, n)."""
    return (np.arange(1 << n)[:, None] >> np.arange(n) & 1) > 0


def _best(table: Ints, masks: Bools, criterion: Criterion) -> Bools:
    """The first best of the splits ``masks`` (m, n) of a table int64 (n, k): bool (n,)."""
    left = masks.astype(np.int64) @ table
    keys = criterion.keys(np.stack([left, table.sum(0) - left], 1))
    return masks[first_best(keys, np.zeros(len(masks), np.int64), criterion.same, criterion.floor)[0]]
