"""The splitters of the published tree program, to the last bit.

The program, written in Python, compares impurities as floats, without a tolerance: of splits that are equally good the
one wins whose sum happens to round lowest. So Table 4 can be replayed only with its sums, in its order (``sums``).

Notation
--------
n, k      rows (values present at the node) and columns (classes present)
d         a set of classes
kind      GINI or ENTROPY of ``splitlab.impurity``
sums      PRODUCTS, SHARES or BITS of ``sums``: how the program adds up
lookup    x log2 x at whole numbers, as ``impurity.lookup_table`` makes it
starts, classes    the classes present in row v are classes[starts[v] : starts[v + 1]]
order     rows in the order of a search; cut j puts order[: j + 1] on the left

Every splitter takes tables int64 (b, n, k) without zero rows or columns and the numbers of their values int64 (b, n),
ascending, and writes the left sides into bool masks (b, n). Its search is that of ``splitlab.splitters`` but for this:

- LCA, HcC: values are sorted by the share of the classes *outside* d, and HcC walks all sets of up to k/2 classes, so
  that for even k the sets of half the classes come twice, once with the last class;
- PCext: scores by counts; values are merged that numpy's ``allclose`` takes for equal, going up in the order of their
  probabilities; the split with an empty left side comes first, and is what is returned when no other is lower;
- SLIQext: in the loop over candidates the sides are not reset, so that what was meant as a greedy descent is a search
  through the prefixes of the values in the order of their numbers (``sliq_ext_prefix`` of the registry), or rather in
  the order of a set, and from where the best one ends once more in the order of what is left of the set;
- values are known by their numbers in the file, and equal shares go by the order in which a set of these numbers is
  walked (``python_sets``). Classes too are walked in such an order, which is taken to be ascending.

HcC looks at every split in a fast formula first, and compares by the program's sums only what comes within NEAR N of
the least value so far. Rows are kept as lists of their nonzero counts: most values of a large attribute have few.

Guarantee and cost as for the splitters without these habits. Source: the program that Laber, Molinaro and Pereira
published with the paper (ICML 2018, section 5), and its results.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import GINI, lookup_table, xlog2x
from splitlab.published.program.python_sets import copied, set_of, set_order, walk, without
from splitlab.published.program.sums import BITS, NEAR, PRODUCTS, SHARES, move, promising, split_value
from splitlab.splitters.kernels.directions import next_set
from splitlab.splitters.kernels.sweep import margins, mark, sort_rows, sort_scores

# numpy's allclose
RELATIVE, ABSOLUTE = 1e-5, 1e-8


@kernel
def list_counts(table: Ints, starts: Ints, classes: Ints) -> None:
    """Write the classes present in each row of a table (n, k) into ``starts`` (n + 1,) and ``classes`` (n k,)."""
    at = 0
    for v in range(table.shape[0]):
        starts[v] = at
        for i in range(table.shape[1]):
            if table[v, i] > 0:
                classes[at] = i
                at += 1
    starts[table.shape[0]] = at


@kernel
def sort_by_rest(
    columns: Ints, sizes: Ints, subset: Ints, size: int, rest: Ints, shares: Floats, order: Ints, spare: Ints
) -> None:
    """Sort the rows by the share of the classes outside ``subset[:size]``, into ``order`` (n,).

    Only shares between 0 and 1 have to be sorted: in large attributes most rows have a single class.

    Parameters
    ----------
    columns, sizes : int64 (k, n) and (n,)
        The table by class, and its row sums.
    subset, size : int64 (k,) and int
        The set of classes is ``subset[:size]``.
    rest, shares, spare : (n,)
        Work space.
    """
    n = sizes.size
    # How many examples of each row are outside the set.
    rest[:] = sizes
    for s in range(size):
        column = subset[s]
        for v in range(n):
            rest[v] -= columns[column, v]
    # Rows with share 0 come first, rows with share 1 last, each in the order of their numbers.
    zeros, middle = 0, 0
    for v in range(n):
        if rest[v] == 0:
            order[zeros] = v
            zeros += 1
        elif rest[v] < sizes[v]:
            spare[middle] = v
            shares[middle] = rest[v] / sizes[v]
            middle += 1
    at = zeros + middle
    for v in range(n):
        if rest[v] == sizes[v]:
            order[at] = v
            at += 1
    # Sort the rows between them.
    inner = order[zeros : zeros + middle]
    sort_scores(shares[:middle], inner, rest[:middle])
    for j in range(middle):
        inner[j] = spare[inner[j]]


@kernel
def best_prefix(
    table: Ints, sizes: Ints, order: Ints, totals: Ints, n_total: int, kind: int, lookup: Floats, starts: Ints,
    classes: Ints, left: Ints, right: Ints, terms: Floats, least: float, best: float,
) -> tuple[float, float, int]:  # fmt: skip
    """The best prefix of ``order``, if it beats the best split so far: (least, best, cut), cut -1 if it does not.

    Parameters
    ----------
    table, sizes, totals, n_total : int64 (n, k), (n,), (k,) and int
        The table, its row sums, its column sums and its sum.
    order, starts, classes, kind, lookup
        See the notation above.
    left, right, terms : (k,)
        Work space.
    least : float
        The least value of the fast formula so far; prefixes far above it are passed over.
    best : float
        The value of the best split so far, by the program's sums.
    """
    total_terms, left_squares, right_squares = 0.0, 0, 0
    for i in range(totals.size):
        left[i], right[i] = 0, totals[i]
        right_squares += totals[i] * totals[i]
        terms[i] = xlog2x(totals[i], lookup)
        total_terms += terms[i]
    n_left, cut, near = 0, -1, NEAR * n_total
    for j in range(order.size - 1):
        row = order[j]
        n_left += sizes[row]
        for at in range(starts[row], starts[row + 1]):
            i = classes[at]
            count = table[row, i]
            if kind == GINI:
                left_squares += (2 * left[i] + count) * count
                right_squares -= (2 * right[i] - count) * count
            left[i] += count
            right[i] -= count
            if kind != GINI:
                term = xlog2x(left[i], lookup) + xlog2x(right[i], lookup)
                total_terms += term - terms[i]
                terms[i] = term
        # The fast formula: I(left) + I(right).
        n_right = n_total - n_left
        if kind == GINI:
            value = n_total - left_squares / n_left - right_squares / n_right
        else:
            value = xlog2x(n_left, lookup) + xlog2x(n_right, lookup) - total_terms
        if value > least + near:
            continue
        least = min(least, value)
        exact = split_value(left, right, n_left, n_total, PRODUCTS if kind == GINI else BITS)
        if exact < best:
            best, cut = exact, j
    return least, best, cut


@kernel
def along_classes(tables: Ints, values: Ints, kind: int, masks: Bools, cover: bool) -> None:
    """LCA, or HcC (``cover``): tables int64 (b, n, k), values int64 (b, n) -> bool masks (b, n), written in place."""
    b, n, k = tables.shape
    table, walked, chosen = np.empty((n, k), np.int64), np.empty(n, np.int64), np.empty(n, np.bool_)
    lookup = lookup_table(tables, kind)
    shares, terms = np.empty(n), np.empty(k)
    columns, rest = np.empty((k, n), np.int64), np.empty(n, np.int64)
    order, spare, subset = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(k, np.int64)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    starts, classes = np.empty(n + 1, np.int64), np.empty(n * k, np.int64)
    left, right = np.empty(k, np.int64), np.empty(k, np.int64)
    for t in range(b):
        set_order(values[t], walked)
        for v in range(n):
            table[v] = tables[t, walked[v]]
            columns[:, v] = table[v]
        n_total = margins(table, sizes, totals)
        list_counts(table, starts, classes)
        least, best = np.inf, np.inf
        subset[0] = 0 if cover else np.argmax(totals)
        size, largest = 1, k // 2 if cover else 1
        while size <= largest:
            sort_by_rest(columns, sizes, subset, size, rest, shares, order, spare)
            least, best, cut = best_prefix(
                table, sizes, order, totals, n_total, kind, lookup, starts, classes, left, right, terms, least, best
            )
            if cut >= 0:
                mark(order, cut, False, chosen)
            size = next_set(subset, size, k) if cover else 2
        for v in range(n):
            masks[t, walked[v]] = chosen[v]


@kernel
def close(first: Floats, second: Floats) -> bool:
    """numpy's ``allclose(first, second)`` for vectors (k,)."""
    result = True
    for i in range(first.size):
        result = result and abs(first[i] - second[i]) <= ABSOLUTE + RELATIVE * abs(second[i])
    return result


@kernel
def merge_close(table: Ints, sizes: Ints, order: Ints, spare: Ints, group: Ints) -> tuple[Ints, Floats]:
    """Merge rows with nearly equal probabilities: counts int64 (m, k) and probabilities float64 (m, k), ascending.

    A row joins the last merged row when it is close to the first row in it. ``group`` (n,) gets the merged row that
    each row is in; ``order`` and ``spare`` (n,) are work space.
    """
    n, k = table.shape
    # Sort the rows by their probabilities, the first class first.
    shares = np.empty((n, k))
    for v in range(n):
        for i in range(k):
            shares[v, i] = table[v, i] / sizes[v]
    sort_rows(shares, order, spare)
    # Add every row to the last merged one, or begin another.
    merged, probabilities = np.zeros((n, k), np.int64), np.empty((n, k))
    m, first = 0, 0
    for j in range(n):
        row = order[j]
        if j == 0 or not close(shares[first], shares[row]):
            first = row
            m += 1
        for i in range(k):
            merged[m - 1, i] += table[row, i]
        group[row] = m - 1
    for a in range(m):
        size = merged[a].sum()
        for i in range(k):
            probabilities[a, i] = merged[a, i] / size
    return merged[:m], probabilities[:m]


@kernel
def best_exchange(table: Ints, order: Ints, totals: Ints, n_total: int, kind: int, lookup: Floats) -> tuple[int, bool]:
    """The best prefix of ``order``, or prefix with the rows on either side of its end exchanged: (cut, exchanged).

    The empty prefix, cut -1, comes first; then each further prefix itself, and right after it its exchange.
    """
    left, right = np.zeros(totals.size, np.int64), totals.copy()
    n_left, cut, exchanged, sums = 0, -1, False, SHARES if kind == GINI else BITS
    least, best = np.inf, split_value(left, right, n_left, n_total, sums)
    for j in range(order.size - 1):
        # The prefix that ends with row j.
        n_left += move(table, order[j], 1, left, right)
        worth, least = promising(left, totals, n_left, n_total, kind, lookup, least)
        if worth:
            value = split_value(left, right, n_left, n_total, sums)
            if value < best:
                best, cut, exchanged = value, j, False
        # The prefix with rows j and j + 1 exchanged.
        n_swapped = n_left + move(table, order[j], -1, left, right) + move(table, order[j + 1], 1, left, right)
        worth, least = promising(left, totals, n_swapped, n_total, kind, lookup, least)
        if worth:
            value = split_value(left, right, n_swapped, n_total, sums)
            if value < best:
                best, cut, exchanged = value, j, True
        move(table, order[j + 1], -1, left, right)
        move(table, order[j], 1, left, right)
    return cut, exchanged


@kernel
def count_scores(merged: Ints, probabilities: Floats, totals: Ints, n_total: int) -> Floats:
    """The scores v . A[a] of the merged rows A[a] along the principal component v: float64 (m,).

    The matrix is made by the library calls of the program, since the sign of v, and which scores are equal, go by their
    rounding. The scores are summed class by class: of all the ways to sum them, this one gives most of its trees.
    """
    away = probabilities - totals / n_total
    weighted = away * merged.sum(1).reshape(-1, 1)
    matrix = (1 / (n_total - 1)) * np.dot(weighted.T, away)
    values, vectors = np.linalg.eigh(matrix)
    v = vectors[:, np.argmax(values * values)]
    scores = np.zeros(merged.shape[0])
    for a in range(scores.size):
        for i in range(v.size):
            scores[a] += v[i] * merged[a, i]
    return scores


@kernel
def pc_ext_counts(tables: Ints, values: Ints, kind: int, masks: Bools) -> None:
    """PCext by counts: int64 (b, n, k) -> bool masks (b, n), written in place; all False where nothing is better.

    The numbers of the values make no difference here.
    """
    b, n, k = tables.shape
    order, spare, group = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    chosen = np.empty(n, np.bool_)
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    lookup = lookup_table(tables, kind)
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        merged, probabilities = merge_close(tables[t], sizes, order, spare, group)
        m = merged.shape[0]
        masks[t] = False
        if m == 1:
            continue
        scores = count_scores(merged, probabilities, totals, n_total)
        sort_scores(scores, order[:m], spare[:m])
        cut, exchanged = best_exchange(merged, order[:m], totals, n_total, kind, lookup)
        mark(order[:m], cut, exchanged, chosen[:m])
        for v in range(n):
            masks[t, v] = chosen[group[v]]


@kernel
def sliq_ext_prefix(tables: Ints, values: Ints, kind: int, masks: Bools) -> None:
    """SLIQext with the loop as it was: tables int64 (b, n, k), values int64 (b, n) -> bool masks (b, n), in place."""
    b, n, k = tables.shape
    sizes, totals = np.empty(n, np.int64), np.empty(k, np.int64)
    right, order = np.empty(k, np.int64), np.empty(n, np.int64)
    sums, lookup = SHARES if kind == GINI else BITS, lookup_table(tables, kind)
    for t in range(b):
        n_total = margins(tables[t], sizes, totals)
        left = totals.copy()
        right[:] = 0
        n_left, best, masks[t] = n_total, np.inf, True
        slots, fill = copied_set(values[t])
        m = n
        while m > 0:
            # The m values in slots are on the left, with the counts left; the others are on the right.
            walk(slots, order)
            # Take them off the left one after the other, in the order of the set; the best end is after `moved`.
            fast, least, moved = np.inf, np.inf, 0
            for j in range(m):
                n_left -= move(tables[t], np.searchsorted(values[t], order[j]), 1, right, left)
                worth = n_left == 0
                if n_left > 0:
                    worth, fast = promising(left, totals, n_left, n_total, kind, lookup, fast)
                if worth:
                    value = split_value(left, right, n_left, n_total, sums)
                    if value < least:
                        least, moved = value, j + 1
            # Put back what comes after the best end, and go on from there with what is left of the set.
            for j in range(moved, m):
                n_left -= move(tables[t], np.searchsorted(values[t], order[j]), -1, right, left)
            for j in range(moved):
                slots, fill = without(slots, fill, m - j, order[j])
            m -= moved
            slots, fill = copied(slots, fill, m), m
            if least < best:
                best = least
                masks[t] = False
                for j in range(walk(slots, order)):
                    masks[t, np.searchsorted(values[t], order[j])] = True


@kernel
def copied_set(numbers: Ints) -> tuple[Ints, int]:
    """A copy of the set of these numbers (n,), and how many of its slots are filled."""
    return copied(set_of(numbers), numbers.size, numbers.size), numbers.size
