"""HcC by SIMD, many directions side by side: the fast path of ``hypercube.hcc`` for tables of ordinary counts.

Glossary
--------
lane     one (table, direction); about 256 lanes are worked on together, so that the inner loops are plain passes
         over arrays of 32-bit integers, which the compiler turns into vector instructions. With few classes the
         lanes of several tables are put side by side; with many the directions come in chunks.
key      what a row is sorted by in a lane: floor(2^s share) above, the row's number below, in one int32, s bits for
         the one and 30 - s for the other. Shares are float32. Equal shares are equal floats, so they tie and go by
         row number, as in ``hcc_scalar``. Different shares of rows of at most S examples differ by 1 / S^2 or
         more, which is at least 2^-s + 2^-24 (``suits`` sees to that): their floors differ too, the same way.
word     four 16-bit fields in a uint64: a row's size, then its class counts, in as many words as that takes. One
         addition takes four of them into a prefix; no field exceeds N, so nothing carries over.
value    an impurity in fixed point, int32, lower is better. Entropy: h_N(n_left) - sum h_i(l_i), where
         h_u(l) = l log2 l + (u - l) log2(u - l) is looked up in one table per class, two roundings of half a unit
         to each. Gini: -(sum l^2 / n_left + sum r^2 / n_right), float32 on exact integers.

Values only select: every split whose value is within the rounding error of the least one is compared again in
float64, in the order of ``hcc_scalar`` and by its rule. So the selected split is that of ``hcc_scalar``.

Three habits of the compiler matter here. Indices into rows and terms are unsigned, since a signed one has to be tested
for being negative (a fifth of the time for entropy). A loop becomes vector instructions only where its numbers have one
width and its arrays cannot be the same one, hence the small loops and helpers (a third of the time for Gini). And work
is done by the group, not by the table: taking an array out of a tuple or slicing it costs an atomic count of references
each time, a third of the time for 3 classes.

Cost per direction: about (log2 n)^2 / 4 compare-exchanges per row to sort, nearly all in vector instructions; per cut
(k + 1) / 4 look-ups of rows, and a few vector instructions for each of those (Gini) or k + 1 more look-ups (entropy).
Against ``hcc_scalar`` this is 5 to 7 times faster with 7 or more classes, and 2.5 to 4.5 times with 3, where preparing
a table takes longer than splitting it. At n = 50, k = 9 a third of the time is for looking up rows (Gini) or two thirds
for looking up rows and terms (entropy), a quarter for sorting, less than a tenth for the keys.

Files: simd_format (layouts, widths, arrays), simd_keys (directions, keys, sorting), simd_values (values of all cuts),
and here the selection and the loop over groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitlab._jit import Bools, Floats, Ints, kernel
from splitlab.impurity import STRICTLY, sides_impurity
from splitlab.splitters.kernels.simd_format import FIELD, LANES, Format, Ints32, Words, Work, format_of, work_space
from splitlab.splitters.kernels.simd_keys import list_directions, sort_lanes, write_all_keys, write_keys
from splitlab.splitters.kernels.simd_values import TableLanes, fill_values, pack_rows
from splitlab.splitters.kernels.sweep import margins


class Candidates(NamedTuple):
    """The cuts of a group of tables in a chunk of directions, as far as the selection looks at them."""

    visit: Ints  # (directions,): their lanes in the order of the walk
    keys: Ints32  # (n, lanes), sorted
    values: Ints32  # (n, lanes)
    least: Ints32  # (lanes,)
    rows: Words  # (words, tables n)
    packed: Words  # (words,): the prefix compared last
    left: Ints  # (k,): its class counts


@kernel
def select(
    t: int, totals: Ints, n_total: int, kind: int, lookup: Floats, limit: int, lanes: TableLanes, cuts: Candidates,
    best: float, masks: Bools,
) -> float:  # fmt: skip
    """Compare the splits of values up to ``limit`` again in float64, direction by direction, cut by cut.

    ``best`` is the impurity of the split in ``masks[t]`` (inf at first). Both are replaced by a strictly better one;
    the best impurity is returned.
    """
    visit, keys, values, least, rows, packed, left = cuts
    best_lane, best_cut = 0, -1
    for q in range(packed.size):
        packed[q] = 0  # no split has an empty left side
    for d in range(visit.size):
        lane = visit[d] * lanes.step + lanes.start
        if least[lane] > limit:
            continue
        for j in range(masks.shape[1] - 1):
            if values[j, lane] > limit:
                continue
            # The prefix is added up again, as only its value was kept. Many directions lead to the same split, or to
            # one with the same counts: one comparison will do.
            again = True
            for q in range(packed.size):
                word = np.uint64(0)
                for c in range(j + 1):
                    word += rows[q, np.uint64(lanes.base + (keys[c, lane] & lanes.mask))]
                again = again and word == packed[q]
                packed[q] = word
            if again:
                continue
            # Unpack the fields: the size, and the class counts.
            for f in range(1, left.size + 1):
                left[f - 1] = np.int64(packed[f >> 2] >> np.uint64(16 * (f & 3)) & FIELD)
            n_left = int(packed[0] & FIELD)
            value = sides_impurity(left, totals[t], n_left, n_total, kind, lookup)
            if value < best - STRICTLY * n_total:
                best, best_lane, best_cut = value, lane, j
    if best_cut >= 0:
        for c in range(masks.shape[1]):
            masks[t, keys[c, best_lane] & lanes.mask] = c <= best_cut
    return best


@kernel
def select_all(
    totals: Ints, n_total: Ints, kind: int, first: int, count: int, here: int, form: Format, work: Work,
    best: Floats, masks: Bools, lookup: Floats,
) -> None:  # fmt: skip
    """Select among the splits of a group of tables."""
    least, mask = work.least, np.int32((1 << form.bits) - 1)
    cuts = Candidates(work.visit[:here], work.keys, work.values, least, work.rows, work.packed, work.prefix)
    for g in range(count):
        t, limit = first + g, least[g]
        lanes = TableLanes(g, here * count, count, g * masks.shape[1], mask)
        # Only what is within the rounding error of the least value of all the table's lanes can be the best split.
        for lane in range(lanes.start, lanes.stop, lanes.step):
            limit = min(limit, least[lane])
        best[g] = select(t, totals, n_total[t], kind, lookup, limit + form.band, lanes, cuts, best[g], masks)


@kernel
def hcc_simd(tables: Ints, kind: int, masks: Bools, lookup: Floats) -> None:
    """HcC for tables that ``suits`` accepts: int64 (b, n, k) -> bool masks (b, n), written in place.

    ``lookup`` is x log2 x for x up to the largest total (entropy only).
    """
    b, n, k = tables.shape
    totals, sizes, n_total = np.empty((b, k), np.int64), np.empty((b, n), np.int64), np.empty(b, np.int64)
    for t in range(b):
        n_total[t] = margins(tables[t], sizes[t], totals[t])
    # With few classes all directions of several tables fill the lanes; with many, chunks of those of one table do.
    directions = (1 << (k - 1)) - 1
    chunk = min(directions, LANES)
    group = min(b, max(1, LANES // directions))
    form = format_of(totals, n_total, n, kind)
    work = work_space(n, k, group, chunk, kind, form, lookup)
    subset, best = np.empty(k, np.int64), np.empty(group)
    for first in range(0, b, group):
        count = min(group, b - first)
        best[:] = np.inf
        pack_rows(tables, sizes, first, count, work.rows)
        subset[0], size = 0, 1
        for begin in range(0, directions, chunk):
            here = min(chunk, directions - begin)
            # Where all directions are there at once they are those of the first group; their list is made but once.
            if directions > chunk or first == 0:
                size = list_directions(subset, size, here, work.members, work.visit, work.turned, here == directions)
            if here == directions:
                write_all_keys(tables, sizes, first, count, work.turned, work.parts, work.keys)
            else:
                write_keys(tables[first], sizes[first], work.columns, work.members, work.keys, here)
            sort_lanes(work.keys, count * here)
            fill_values(totals, n_total, kind, first, count, here, form, work)
            select_all(totals, n_total, kind, first, count, here, form, work, best, masks, lookup)
