"""HcC with many directions side by side: the fast path of ``hypercube.hcc`` for tables of ordinary counts.

Glossary
--------
lane     one (table, direction); about 256 lanes are worked on together, so that the inner loops are plain passes
         over arrays of 32-bit integers, which the compiler turns into vector instructions. With few classes the
         lanes of several tables are put side by side; with many the directions come in chunks.
key      what a row is sorted by in a lane: floor(2^s share) above, the row's number below, in one int32, s bits for
         the one and 30 - s for the other. Shares are float32. Equal shares are equal floats, so they tie and go by
         row number, as in the plain version. Different shares of rows of at most S examples differ by 1 / S^2 or
         more, which is at least 2^-s + 2^-24 (``suits`` sees to that): their floors differ too, the same way.
word     four 16-bit fields in a uint64: a row's size, then its class counts, in as many words as that takes. One
         addition takes four of them into a prefix; no field exceeds N, so nothing carries over.
value    an impurity in fixed point, int32, lower is better. Entropy: h_N(n_left) - sum h_i(l_i), where
         h_u(l) = l log2 l + (u - l) log2(u - l) is looked up in one table per class, two roundings of half a unit
         to each. Gini: -(sum l^2 / n_left + sum r^2 / n_right), float32 on exact integers.

Values only select: every split whose value is within the rounding error of the least one is compared again in
float64, in the order of the plain version and by its rule. So the selected split is that of the plain version.

Two habits of the compiler matter here. Indices into rows and terms are unsigned, since a signed one has to be tested
for being negative (a fifth of the time for entropy). And work is done by the group, not by the table: taking an array
out of a tuple or slicing it costs an atomic count of references each time, a third of the time for 3 classes.

Cost per direction: about (log2 n)^2 / 4 compare-exchanges per row to sort, nearly all in vector instructions; per cut
(k + 1) / 4 look-ups of rows, and a few vector instructions for each of those (Gini) or k + 1 more look-ups (entropy).
Against the plain loop this is 5 times faster with 7 or more classes, and 1.7 to 4 times with 3, where preparing a table
takes longer than splitting it.
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
    Words,
    Work,
    bit_length,
    format_of,
    work_space,
)
from splitlab.splitters.sweep import margins

ONE, TWO, THREE = np.uint64(16), np.uint64(32), np.uint64(48)  # shifts of the fields of a word
FIELD = np.uint64(0xFFFF)


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
def write_keys(columns: Ints32, members: Ints, keys: Ints32, start: int, here: int) -> None:
    """The keys of one table's rows in its ``here`` lanes from ``start`` on."""
    k, n = columns.shape[0] - 2, columns.shape[1]
    bits = np.int32(bit_length(n - 1))
    scale = np.float32(1 << (FIXED_BITS - bits))
    for d in range(here):
        for v in range(n):
            columns[k + 1, v] = 0
        for s in range(1, members[d, 0] + 1):
            i = members[d, s]
            for v in range(n):
                columns[k + 1, v] += columns[i, v]
        for v in range(n):
            share = np.float32(columns[k + 1, v]) / np.float32(columns[k, v])
            columns[k + 1, v] = (np.int32(share * scale) << bits) | np.int32(v)
        for v in range(n):
            keys[v, start + d] = columns[k + 1, v]


@kernel
def start_lanes(
    tables: Ints, sizes: Ints, first: int, count: int, here: int, columns: Ints32, members: Ints, keys: Ints32
) -> None:
    """Unsorted keys of ``count`` tables from number ``first`` on, each in ``here`` lanes."""
    n, k = tables.shape[1:]
    for g in range(count):
        for v in range(n):
            for i in range(k):
                columns[i, v] = tables[first + g, v, i]
            columns[k, v] = sizes[first + g, v]
        write_keys(columns, members, keys, g * here, here)


@kernel
def pack_rows(tables: Ints, sizes: Ints, first: int, count: int, rows: Words) -> None:
    """Pack the rows of a group of tables."""
    n, k = tables.shape[1:]
    for g in range(count):
        for v in range(n):
            packed = np.uint64(sizes[first + g, v])
            for f in range(1, k + 1):
                if f % 4 == 0:
                    rows[f // 4 - 1, g * n + v] = packed
                    packed = np.uint64(0)
                packed |= np.uint64(tables[first + g, v, f - 1]) << np.uint64(16 * (f % 4))
            rows[rows.shape[0] - 1, g * n + v] = packed


@kernel
def empty_prefixes(rows: Words, n: int, count: int, here: int, word: Words, whole: Words, base: Ints32) -> None:
    """Prefixes without rows, and what the whole of each table is (Gini)."""
    for q in range(rows.shape[0]):
        for g in range(count):
            total = np.uint64(0)
            for v in range(n):
                total += rows[q, g * n + v]
            for lane in range(g * here, g * here + here):
                word[q, lane], whole[q, lane], base[lane] = 0, total, g * n


@kernel
def add_rows(word: Words, keys: Ints32, mask: np.int32, base: Ints32, rows: Words, lanes: int) -> None:
    """Take the row of every lane's key into the lane's prefix."""
    for lane in range(lanes):
        word[lane] += rows[np.uint64(base[lane] + (keys[lane] & mask))]


@kernel
def squares(word: np.uint64) -> np.uint64:
    """Sum of the squares of the four fields."""
    a, b, c, d = word & FIELD, word >> ONE & FIELD, word >> TWO & FIELD, word >> THREE
    return a * a + b * b + c * c + d * d


@kernel
def add_squares(word: Words, whole: Words, left: Words, right: Words, lanes: int) -> None:
    """Add the squares of one word's fields, of the prefixes and of what remains."""
    for lane in range(lanes):
        left[lane] += squares(word[lane])
        right[lane] += squares(whole[lane] - word[lane])


@kernel
def gini_values(word: Words, whole: Words, left: Words, right: Words, values: Ints32, lanes: int) -> None:
    """Values of one cut; the sums of squares hold those of the sizes, too."""
    for lane in range(lanes):
        n_left, n_total = np.int32(word[lane] & FIELD), np.int32(whole[lane] & FIELD)
        n_right = n_total - n_left
        shares = np.float32(np.int32(left[lane]) - n_left * n_left) / np.float32(n_left)
        shares += np.float32(np.int32(right[lane]) - n_right * n_right) / np.float32(n_right)
        values[lane] = np.int32(shares * (np.float32(-(1 << FIXED_BITS)) / np.float32(n_total)))


@kernel
def gini_sweep(form: Format, work: Work, lanes: int) -> None:
    """Values of all cuts for Gini."""
    mask = np.int32((1 << form.bits) - 1)
    for j in range(work.keys.shape[0] - 1):
        for lane in range(lanes):
            work.left[lane], work.right[lane] = 0, 0
        for q in range(form.words):
            add_rows(work.word[q], work.keys[j], mask, work.base, work.rows[q], lanes)
            add_squares(work.word[q], work.whole[q], work.left, work.right, lanes)
        gini_values(work.word[0], work.whole[0], work.left, work.right, work.values[j], lanes)


@kernel
def add_terms(
    keys: Ints32, mask: np.int32, rows: Words, q: int, base: int, terms: Ints32,
    a: int, b: int, c: int, d: int, values: Ints32, start: int, stop: int,
) -> None:  # fmt: skip
    """Take one word's fields into the values of all cuts of one table; a, b, c, d are where their terms begin."""
    at_a, at_b, at_c, at_d = np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(d)
    for lane in range(start, stop):
        word = np.uint64(0)
        for j in range(keys.shape[0] - 1):
            word += rows[q, np.uint64(base + (keys[j, lane] & mask))]
            two = terms[(word & FIELD) + at_a] + terms[(word >> ONE & FIELD) + at_b]
            values[j, lane] += two + terms[(word >> TWO & FIELD) + at_c] + terms[(word >> THREE) + at_d]


@kernel
def add_two_terms(
    keys: Ints32, mask: np.int32, rows: Words, q: int, base: int, terms: Ints32,
    a: int, b: int, values: Ints32, start: int, stop: int,
) -> None:  # fmt: skip
    """The same for a word whose upper two fields are empty."""
    at_a, at_b = np.uint64(a), np.uint64(b)
    for lane in range(start, stop):
        word = np.uint64(0)
        for j in range(keys.shape[0] - 1):
            word += rows[q, np.uint64(base + (keys[j, lane] & mask))]
            values[j, lane] += terms[(word & FIELD) + at_a] + terms[(word >> ONE) + at_b]


@kernel
def fill_terms(terms: Ints32, start: int, total: int, sign: np.int32, fixed: Ints32) -> None:
    """h_total(l) for l = 0..total with a sign, from ``start`` on; ``fixed`` is x log2 x in fixed point."""
    for x in range(total + 1):
        terms[start + x] = sign * (fixed[x] + fixed[total - x])


@kernel
def entropy_sweep(
    totals: Ints, n_total: Ints, first: int, count: int, here: int, form: Format,
    keys: Ints32, rows: Words, fixed: Ints32, terms: Ints32, values: Ints32,
) -> None:  # fmt: skip
    """Values of all cuts of a group of tables for entropy. Look-ups go one by one, so lanes do not help here."""
    k, mask, empty = totals.shape[1], np.int32((1 << form.bits) - 1), form.own - 1
    terms[empty] = 0
    values[:] = 0
    for g in range(count):
        fill_terms(terms, 0, n_total[first + g], np.int32(1), fixed)
        for i in range(k):
            fill_terms(terms, form.classes + i * form.stride, totals[first + g, i], np.int32(-1), fixed)
        base, start = g * keys.shape[0], g * here
        for q in range(form.words):
            at = form.classes + (4 * q - 1) * form.stride  # of the word's first class; word 0 begins with the size
            a = at if q else 0
            if 4 * q + 1 < k:
                b, c = at + form.stride, at + 2 * form.stride
                d = c + form.stride if 4 * q + 2 < k else empty
                add_terms(keys, mask, rows, q, base, terms, a, b, c, d, values, start, start + here)
            else:
                b = at + form.stride if 4 * q < k else empty
                add_two_terms(keys, mask, rows, q, base, terms, a, b, values, start, start + here)


@kernel
def find_least(values: Ints32, least: Ints32, lanes: int) -> None:
    """The least value of every lane."""
    for lane in range(lanes):
        least[lane] = 1 << FIXED_BITS
    for j in range(values.shape[0] - 1):
        for lane in range(lanes):
            least[lane] = min(least[lane], values[j, lane])


@kernel
def list_directions(members: Ints, subset: Ints, size: int, count: int) -> int:
    """Write the next ``count`` directions into ``members``; the size at which the walk stands is returned."""
    for d in range(count):
        members[d, 0] = size
        for s in range(size):
            members[d, s + 1] = subset[s]
        size = next_direction(subset, size, subset.size)
    return size


@kernel
def prefix(rows: Words, base: int, keys: Ints32, lane: int, j: int, mask: np.int32, left: Ints) -> np.int64:
    """Class counts of the rows up to cut j of a lane, into ``left`` (k,); returns their sum."""
    n_left = np.int64(0)
    for q in range(rows.shape[0]):
        word = np.uint64(0)
        for c in range(j + 1):
            word += rows[q, np.uint64(base + (keys[c, lane] & mask))]
        if q == 0:
            n_left += np.int64(word & FIELD)
        for f in range(q == 0, min(4, left.size + 1 - 4 * q)):
            left[4 * q + f - 1] = np.int64(word >> np.uint64(16 * f) & FIELD)
    return n_left


@kernel
def select(
    totals: Ints, n_total: int, kind: int, limit: int, rows: Words, base: int, mask: np.int32, start: int, stop: int,
    keys: Ints32, values: Ints32, least: Ints32, left: Ints, before: Ints, best: float, side: Bools, lookup: Floats,
) -> float:  # fmt: skip
    """Compare the splits of values up to ``limit`` again in float64, direction by direction, cut by cut.

    ``best`` is the impurity of the split in ``side`` (inf at first). Both are replaced by a strictly better one; the
    best impurity is returned.
    """
    for i in range(before.size):
        before[i] = 0
    for lane in range(start, stop):
        if least[lane] > limit:
            continue
        for j in range(keys.shape[0] - 1):
            if values[j, lane] > limit:
                continue
            n_left = int(prefix(rows, base, keys, lane, j, mask, left))
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
def select_all(
    totals: Ints, n_total: Ints, kind: int, first: int, count: int, here: int, form: Format, work: Work,
    best: Floats, masks: Bools, lookup: Floats,
) -> None:  # fmt: skip
    """Select among the splits of a group of tables."""
    keys, values, least, rows = work.keys, work.values, work.least, work.rows
    left, before = work.prefixes[0], work.prefixes[1]
    mask = np.int32((1 << form.bits) - 1)
    for g in range(count):
        start, t = g * here, first + g
        limit = least[start]
        for lane in range(start, start + here):
            limit = min(limit, least[lane])
        best[g] = select(
            totals[t], n_total[t], kind, limit + form.band, rows, g * masks.shape[1], mask, start, start + here,
            keys, values, least, left, before, best[g], masks[t], lookup,
        )  # fmt: skip


@kernel
def hcc_lanes(tables: Ints, kind: int, masks: Bools, lookup: Floats) -> None:
    """HcC for tables that ``suits`` accepts: int64 (b, n, k) -> bool masks (b, n), written in place.

    ``lookup`` is x log2 x for x up to the largest total (entropy only).
    """
    b, n, k = tables.shape
    totals, sizes, n_total = np.empty((b, k), np.int64), np.empty((b, n), np.int64), np.empty(b, np.int64)
    for t in range(b):
        n_total[t] = margins(tables[t], sizes[t], totals[t])
    directions = (1 << (k - 1)) - 1
    chunk = min(directions, LANES)
    group = min(b, max(1, LANES // directions))
    form = format_of(totals, n_total, n, kind)
    work = work_space(n, k, group, chunk, kind, form)
    for x in range(work.fixed.size):
        work.fixed[x] = np.int32(form.scale * lookup[x] + 0.5)
    subset, best = np.empty(k, np.int64), np.empty(group)
    for first in range(0, b, group):
        count = min(group, b - first)
        best[:] = np.inf
        pack_rows(tables, sizes, first, count, work.rows)
        subset[0], size = 0, 1
        for begin in range(0, directions, chunk):
            here = min(chunk, directions - begin)
            if directions > chunk or first == 0:
                size = list_directions(work.members, subset, size, here)
            start_lanes(tables, sizes, first, count, here, work.columns, work.members, work.keys)
            sort_lanes(work.keys, count * here)
            if kind == GINI:
                empty_prefixes(work.rows, n, count, here, work.word, work.whole, work.base)
                gini_sweep(form, work, count * here)
            else:
                entropy_sweep(
                    totals, n_total, first, count, here, form,
                    work.keys, work.rows, work.fixed, work.terms, work.values,
                )  # fmt: skip
            find_least(work.values, work.least, count * here)
            select_all(totals, n_total, kind, first, count, here, form, work, best, masks, lookup)
