"""HcC with many directions side by side: the fast path of ``hypercube.hcc`` for tables of ordinary counts.

Glossary
--------
lane     one (table, direction); about 256 lanes are worked on together, so that the inner loops are plain passes
         over arrays of 32-bit integers, which the compiler turns into vector instructions. With few classes the
         lanes of several tables are put side by side; with many the directions come in chunks.
key      what a row is sorted by in a lane: floor(2^s share) above, the row's number below, in one int32. Equal
         shares are equal floats, so they tie and go by row number, as in the plain version. Different shares of
         rows of at most S examples differ by at least 1 / S^2 >= 2 / 2^s: their floors differ too, the same way.
word     a row's class counts packed into an int64, each class in as many bits as the largest class total needs:
         one addition takes up to 63 / bits classes of a row into a prefix, and nothing carries over.
value    an impurity in fixed point, int32, lower is better. Entropy: h_N(n_left) - sum h_i(l_i), where
         h_u(l) = l log2 l + (u - l) log2(u - l) is looked up in one table per class, each entry rounded to half a
         unit. Gini: -(sum l^2 / n_left + sum r^2 / n_right), float32 on exact integers.

Values only select: every split whose value is within the rounding error of the least one is compared again in
float64, in the order of the plain version and by its rule. So the selected split is that of the plain version.

Indices into rows and terms are unsigned, since a signed one has to be tested for being negative (which is a fifth of
the time for entropy).

Cost per direction: about (log2 n)^2 / 4 compare-exchanges per row to sort, k steps per cut to sweep, nearly all in
vector instructions.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import GINI, STRICTLY, sides_impurity
from splitlab.splitters.directions import next_direction
from splitlab.splitters.lane_format import (
    FIXED_BITS,
    LANES,
    Format,
    Ints32,
    Work,
    bit_length,
    format_of,
    work_space,
)
from splitlab.splitters.sweep import margins


@kernel
def exchange(keys: Ints32, a: int, b: int, lanes: int) -> None:
    """Put rows a and b of the keys in order, in every lane."""
    for lane in range(lanes):
        x, y = keys[a, lane], keys[b, lane]
        keys[a, lane] = min(x, y)
        keys[b, lane] = max(x, y)


@kernel
def sort_lanes(keys: Ints32, lanes: int) -> None:
    """Sort every lane's keys by Batcher's odd-even merge network; no two keys of a lane are equal."""
    n = keys.shape[0]
    p = 1
    while p < n:
        q = p
        while q >= 1:
            for j in range(q % p, n - q, 2 * q):
                for i in range(j, min(j + q, n - q)):
                    if i // (2 * p) == (i + q) // (2 * p):
                        exchange(keys, i, i + q, lanes)
            q //= 2
        p *= 2


@kernel
def write_keys(table: Ints, sizes: Ints, inside: Ints32, part: Ints32, keys: Ints32, start: int, here: int) -> None:
    """The keys of one table's rows in its ``here`` lanes from ``start`` on."""
    n, k = table.shape
    bits = np.int32(bit_length(n - 1))
    scale = float(1 << (FIXED_BITS - bits))
    for v in range(n):
        for d in range(here):
            part[d] = 0
        for i in range(k):
            count = np.int32(table[v, i])
            for d in range(here):
                part[d] += count & inside[i, d]
        for d in range(here):
            share = np.float64(part[d]) / sizes[v]
            keys[v, start + d] = (np.int32(share * scale) << bits) | np.int32(v)


@kernel
def add_rows(word: Ints, keys: Ints32, j: int, mask: np.int32, base: Ints32, rows: Ints, lanes: int) -> None:
    """Take row number j of every lane's order into the lane's prefix."""
    for lane in range(lanes):
        word[lane] += rows[np.uint64(base[lane] + (keys[j, lane] & mask))]


@kernel
def add_squares(
    word: Ints, shift: int, ones: int, totals: Ints32, n_left: Ints32, sums: Ints32, cross: Ints32, lanes: int
) -> None:
    """Take one class of the prefixes into n_left, sum l^2 and sum u l."""
    for lane in range(lanes):
        count = np.int32((word[lane] >> shift) & ones)
        n_left[lane] += count
        sums[lane] += count * count
        cross[lane] += totals[lane] * count


@kernel
def add_terms(
    word: Ints,
    shift: int,
    ones: int,
    terms: Ints32,
    base: Ints32,
    offset: int,
    n_left: Ints32,
    sums: Ints32,
    lanes: int,
) -> None:
    """Take one class of the prefixes into n_left and sum h_i(l_i)."""
    for lane in range(lanes):
        count = np.int32((word[lane] >> shift) & ones)
        n_left[lane] += count
        sums[lane] += terms[np.uint64(base[lane] + offset + count)]


@kernel
def gini_sweep(k: int, form: Format, work: Work, lanes: int) -> None:
    """Values of all cuts for Gini, with sum r^2 = sum u^2 - 2 sum u l + sum l^2."""
    keys, values, least, word, rows = work.keys, work.values, work.least, work.word, work.rows
    n_left, sums, cross, squares, sizes = work.n_left, work.sums, work.cross, work.squares, work.sizes
    mask, ones = np.int32((1 << form.bits) - 1), (1 << form.width) - 1
    for j in range(keys.shape[0] - 1):
        for q in range(form.words):
            add_rows(word[q], keys, j, mask, work.row_base, rows[q], lanes)
        for lane in range(lanes):
            n_left[lane], sums[lane], cross[lane] = 0, 0, 0
        for i in range(k):
            shift = form.width * (i % form.per_word)
            add_squares(word[i // form.per_word], shift, ones, work.totals[i], n_left, sums, cross, lanes)
        for lane in range(lanes):
            left = np.float32(sums[lane]) / np.float32(n_left[lane])
            rest = np.float32(squares[lane] - 2 * cross[lane] + sums[lane])
            right = rest / np.float32(sizes[lane] - n_left[lane])
            value = np.int32((left + right) * (np.float32(-(1 << FIXED_BITS)) / np.float32(sizes[lane])))
            values[j, lane] = value
            least[lane] = min(least[lane], value)


@kernel
def entropy_sweep(k: int, form: Format, work: Work, lanes: int) -> None:
    """Values of all cuts for entropy."""
    keys, values, least, word, rows = work.keys, work.values, work.least, work.word, work.rows
    n_left, sums, terms, base = work.n_left, work.sums, work.terms, work.term_base
    mask, ones = np.int32((1 << form.bits) - 1), (1 << form.width) - 1
    for j in range(keys.shape[0] - 1):
        for q in range(form.words):
            add_rows(word[q], keys, j, mask, work.row_base, rows[q], lanes)
        for lane in range(lanes):
            n_left[lane], sums[lane] = 0, 0
        for i in range(k):
            shift = form.width * (i % form.per_word)
            add_terms(word[i // form.per_word], shift, ones, terms, base, i * form.stride, n_left, sums, lanes)
        for lane in range(lanes):
            value = terms[np.uint64(base[lane] + k * form.stride + n_left[lane])] - sums[lane]
            values[j, lane] = value
            least[lane] = min(least[lane], value)


@kernel
def fill_terms(terms: Ints32, start: int, total: int, scale: float, lookup: Floats) -> None:
    """h_total(l) for l = 0..total in fixed point, from ``start`` on."""
    for x in range(total + 1):
        terms[start + x] = np.int32(scale * (lookup[x] + lookup[total - x]) + 0.5)


@kernel
def fill_subsets(inside: Ints32, subset: Ints, size: int, count: int) -> int:
    """Write the next ``count`` directions into ``inside`` (k, count).

    ``subset`` and ``size`` say where the walk stands; the new size is returned.
    """
    k = inside.shape[0]
    for d in range(count):
        for i in range(k):
            inside[i, d] = 0
        for s in range(size):
            inside[subset[s], d] = -1
        size = next_direction(subset, size, k)
    return size


@kernel
def load_table(
    table: Ints, totals: Ints, n_total: int, g: int, kind: int, form: Format, work: Work, lookup: Floats
) -> None:
    """Pack the rows of table number g of the group, and look its terms up."""
    n, k = table.shape
    rows, terms = work.rows, work.terms
    for v in range(n):
        for q in range(form.words):
            rows[q, g * n + v] = 0
        for i in range(k):
            rows[i // form.per_word, g * n + v] |= table[v, i] << (form.width * (i % form.per_word))
    if kind != GINI:
        for i in range(k):
            fill_terms(terms, g * form.own + i * form.stride, totals[i], form.scale, lookup)
        fill_terms(terms, g * form.own + k * form.stride, n_total, form.scale, lookup)


@kernel
def start_lanes(
    table: Ints, sizes: Ints, totals: Ints, n_total: int, g: int, here: int, form: Format, work: Work
) -> None:
    """Empty prefixes, constants and unsorted keys in the ``here`` lanes of table number g."""
    n, k = table.shape
    start, stop = g * here, g * here + here
    squares = 0
    for i in range(k):
        squares += totals[i] * totals[i]
        for lane in range(start, stop):
            work.totals[i, lane] = totals[i]
    for q in range(form.words):
        for lane in range(start, stop):
            work.word[q, lane] = 0
    for lane in range(start, stop):
        work.row_base[lane], work.term_base[lane] = g * n, g * form.own
        work.sizes[lane], work.squares[lane] = n_total, squares
        work.least[lane] = 1 << FIXED_BITS
    write_keys(table, sizes, work.inside, work.part, work.keys, start, here)


@kernel
def prefix(table: Ints, keys: Ints32, lane: int, j: int, mask: np.int32, left: Ints) -> int:
    """Class counts of the rows up to cut j of a lane, into ``left`` (k,); returns their sum."""
    n_left = 0
    for i in range(left.size):
        left[i] = 0
    for c in range(j + 1):
        row = keys[c, lane] & mask
        for i in range(left.size):
            left[i] += table[row, i]
            n_left += table[row, i]
    return n_left


@kernel
def select(
    table: Ints, totals: Ints, n_total: int, kind: int, form: Format, work: Work, start: int, stop: int,
    best: float, side: Bools, lookup: Floats,
) -> float:  # fmt: skip
    """Compare the splits near the least value again in float64, direction by direction, cut by cut.

    ``best`` is the impurity of the split in ``side`` (inf at first). Both are replaced by a strictly better one; the
    best impurity is returned.
    """
    keys, values, least = work.keys, work.values, work.least
    mask = np.int32((1 << form.bits) - 1)
    limit = least[start]
    for lane in range(start, stop):
        limit = min(limit, least[lane])
    left, before = np.zeros(totals.size, np.int64), np.zeros(totals.size, np.int64)
    for lane in range(start, stop):
        if least[lane] > limit + form.band:
            continue
        for j in range(keys.shape[0] - 1):
            if values[j, lane] > limit + form.band:
                continue
            n_left = prefix(table, keys, lane, j, mask, left)
            again = True  # many directions lead to the same split: one comparison will do
            for i in range(left.size):
                again = again and left[i] == before[i]
                before[i] = left[i]
            if again:
                continue
            value = sides_impurity(left, totals, n_left, n_total, kind, lookup)
            if value < best - STRICTLY * n_total:
                best = value
                for c in range(side.size):
                    side[keys[c, lane] & mask] = c <= j
    return best


@kernel
def hcc_lanes(tables: Ints, kind: int, masks: Bools, lookup: Floats) -> None:
    """HcC for tables that ``suits`` accepts: int64 (b, n, k) -> bool masks (b, n), written in place.

    ``lookup`` is x log2 x for x up to the largest total (entropy only).
    """
    b, n, k = tables.shape
    totals, sizes, n_total = np.zeros((b, k), np.int64), np.zeros((b, n), np.int64), np.zeros(b, np.int64)
    for t in range(b):
        n_total[t] = margins(tables[t], sizes[t], totals[t])
    directions = (1 << (k - 1)) - 1
    chunk = min(directions, LANES)
    group = min(b, max(1, LANES // directions))
    form = format_of(totals, n_total, n, kind)
    work = work_space(n, k, group, chunk, kind, form)
    subset, best = np.zeros(k, np.int64), np.empty(group)
    for first in range(0, b, group):
        count = min(group, b - first)
        for g in range(count):
            best[g] = np.inf
            load_table(tables[first + g], totals[first + g], n_total[first + g], g, kind, form, work, lookup)
        subset[0], size = 0, 1
        for begin in range(0, directions, chunk):
            here = min(chunk, directions - begin)
            if directions > chunk or first == 0:
                size = fill_subsets(work.inside, subset, size, here)
            for g in range(count):
                t = first + g
                start_lanes(tables[t], sizes[t], totals[t], n_total[t], g, here, form, work)
            sort_lanes(work.keys, count * here)
            if kind == GINI:
                gini_sweep(k, form, work, count * here)
            else:
                entropy_sweep(k, form, work, count * here)
            for g in range(count):
                t = first + g
                best[g] = select(
                    tables[t], totals[t], n_total[t], kind, form, work, g * here, g * here + here,
                    best[g], masks[t], lookup,
                )  # fmt: skip
