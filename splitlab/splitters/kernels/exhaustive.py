"""The true optimum by trying every split.

Notation: rows with equal class probabilities are merged into one row a with the sum of their counts; m is the number
of merged rows. Some optimal split keeps such rows together, as f is concave (hyperplanes.py has the proof), so
2^(m-1) - 1 splits of the merged rows, the last of which stays right, are all there is to try.

They are walked in the order of the reflected Gray code, one row moved per step, so that a step costs O(k). The class
counts of the left side are integers and take up no error on the way; the impurity is computed from them afresh.

Cost O(2^m k). Ties: merged rows stand in the lexicographic order of their probabilities, the splits in that of the
code; a later split must be strictly better. If all rows are proportional: the first row against the others.

Source: definition; the code is Gray's (Knuth, The Art of Computer Programming, volume 4A, section 7.2.1.1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import STRICTLY, lookup_table, sides_impurity
from splitlab.splitters.kernels.principal import merge_rows
from splitlab.splitters.kernels.sweep import margins


class Problem(NamedTuple):
    """A table of merged rows, what is minimised, and room for the class counts of a left side."""

    counts: Ints  # (m, k)
    sizes: Ints  # (m,)
    totals: Ints  # (k,)
    n_total: int
    kind: int
    lookup: Floats
    left: Ints  # (k,)


@kernel
def merged_problem(table: Ints, kind: int, lookup: Floats, group: Ints) -> Problem:
    """Merge the proportional rows of a table; ``group`` (n,) gets the merged row of each row."""
    n, k = table.shape
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    order, spare = np.empty(n, np.int64), np.empty(n, np.int64)
    n_total = margins(table, sizes, totals)
    counts, _ = merge_rows(table, sizes, order, spare, group)
    margins(counts, sizes, totals)
    return Problem(counts, sizes, totals, n_total, kind, lookup, np.empty(k, np.int64))


@kernel
def try_sides(problem: Problem, free: Ints, side: Bools, best_side: Bools, best: float) -> float:
    """Try all splits of the merged rows in ``free``, the others being where ``side`` says; returns the new best.

    ``side`` (m,) must have the free rows on the right (False), and has one of them on the left afterwards.
    """
    counts, sizes, totals, n_total, kind, lookup, left = problem  # once: each access counts references
    # The class counts of the rows whose side is fixed
    n_left = 0
    for i in range(left.size):
        left[i] = 0
    for v in range(side.size):
        if side[v]:
            n_left += sizes[v]
            for i in range(left.size):
                left[i] += counts[v, i]
    for step in range(1 << free.size):
        if step > 0:  # the Gray code moves the row whose number is that of the trailing zeros
            bit = 0
            while not step >> bit & 1:
                bit += 1
            row = free[bit]
            sign = -1 if side[row] else 1
            side[row] = not side[row]
            n_left += sign * sizes[row]
            for i in range(left.size):
                left[i] += sign * counts[row, i]
        if 0 < n_left < n_total:
            value = sides_impurity(left, totals, n_left, n_total, kind, lookup)
            if value < best - STRICTLY * n_total:
                best = value
                for v in range(side.size):
                    best_side[v] = side[v]
    return best


@kernel
def unmerge(best_side: Bools, group: Ints, mask: Bools) -> None:
    """Carry a split of the merged rows over to ``mask`` (n,), one of a single merged row as the first prefix."""
    for v in range(group.size):
        mask[v] = best_side[group[v]] if best_side.size > 1 else v == 0


@kernel
def exhaustive(tables: Ints, kind: int, masks: Bools) -> None:
    """The optimum: int64 (b, n, k) -> bool masks (b, n), written in place."""
    lookup, group = lookup_table(tables, kind), np.empty(tables.shape[1], np.int64)
    for t in range(tables.shape[0]):
        problem = merged_problem(tables[t], kind, lookup, group)
        m = problem.counts.shape[0]
        best_side = np.zeros(m, np.bool_)
        # The last row stays right: a split and its complement are the same.
        try_sides(problem, np.arange(m - 1), np.zeros(m, np.bool_), best_side, np.inf)
        unmerge(best_side, group, masks[t])
