"""The random tables of the program behind the paper, all of them, number by number.

The authors drew their tables with one NumPy generator, ``RandomState(19880531)``, once for each largest entry
(max_count). The generator goes through the cells of `WALKS` in order and draws whole tables, uniform on
{0, ..., max_count}, until 10,000 without a zero row or column are there. Then it goes on with the next cell from
where it is. The paper prints win percentages for max_count 7 and n = 12, 25, 50; the cells between them were run and
not printed. Its maxima of the relative excess are those of max_count 2. Nothing is printed of max_count 15, so that
its walk, in the order of that of max_count 2, can be compared with nothing.

A generator's output is a row of 32-bit words. `CELL_STARTS` says at which word each cell starts, so that a cell can
be drawn without drawing those before it: passing over fifty million words takes a tenth of a second.

Source: seed and order were found by comparing the wins on the generator's tables with Tables 1 and 2 of Laber,
Molinaro, Pereira (ICML 2018).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from splitlab.tables.sampling import Draw, accepted

SEED = 19880531
RUNS = 10_000  # accepted tables of a cell

CLASSES = (3, 5, 7, 9)
# By max_count: the values of n in their order; in each, k goes through CLASSES.
WALKS = {7: (12, 18, 25, 31, 37, 43, 50), 2: (12, 25, 50), 15: (12, 25, 50)}
UNPRINTED = (18, 31, 37, 43)  # values of n that were run with max_count 7, and that the paper does not show

Shape = tuple[int, int, int]  # n, k, max_count
State = tuple[Any, ...]  # of a RandomState

# By max_count: the word at which each cell starts, in the order of its walk. A test draws them again.
CELL_STARTS = {
    7: (
        *(0, 369396, 969636, 1809636),
        *(2889636, 3449778, 4350228, 5610228),
        *(7230228, 8019303, 9270053, 11020053),
        *(13270053, 14261619, 15813169, 17983169),
        *(20773169, 21966641, 23817751, 26408010),
        *(29738010, 31142433, 33295443, 36305443),
        *(40175443, 41837293, 44341043, 47841043),
    ),
    2: (
        *(0, 754081, 1595394, 2722583),
        *(4163941, 6690924, 8541170, 10900854),
        *(13902639, 27168851, 31251657, 36036255),
    ),
    15: (
        *(0, 361224, 961224, 1801224),
        *(2881224, 3635649, 4885774, 6635774),
        *(8885774, 10405424, 12905674, 16405674),
    ),
}


def shapes(max_count: int) -> tuple[Shape, ...]:
    """The cells of a walk in their order, as (n, k, max_count).

    Examples
    --------
    >>> len(shapes(7)), shapes(2)[4]
    (28, (25, 3, 2))
    """
    return tuple((n, k, max_count) for n in WALKS[max_count] for k in CLASSES)


def described() -> str:
    """All cells that there are, in words, for messages."""
    walks = (f"max_count {m} with n = {', '.join(map(str, sizes))}" for m, sizes in WALKS.items())
    return f"k = {', '.join(map(str, CLASSES))} and {'; or '.join(walks)}"


def tables(state: State, n: int, k: int, max_count: int, count: int) -> tuple[Draw, State]:
    """Draw accepted tables.

    Parameters
    ----------
    state : tuple
        The generator's state to start from, as ``RandomState.get_state`` gives it; left as it is.
    n, k, max_count : int
        Rows, columns, largest entry.
    count : int
        How many tables to return.

    Returns
    -------
    Draw
        Tables of shape (count, n, k), and the candidates behind each of them.
    tuple
        The state after the last of them.
    """
    rng = np.random.RandomState()
    rng.set_state(state)
    kept, places = [np.empty((0, n, k), np.int64)], np.full(1, -1)
    drawn = 0
    # As many candidates are drawn at a time as tables are still missing. So the last one drawn is always the last
    # one accepted, and the stream is never read too far.
    while missing := count + 1 - places.size:
        candidates = rng.randint(0, max_count + 1, (missing, n, k)).astype(np.int64)
        here = np.flatnonzero(accepted(candidates))
        kept.append(candidates[here])
        places = np.concatenate([places, drawn + here])
        drawn += missing
    return Draw(np.concatenate(kept), np.diff(places)), rng.get_state()  # type: ignore[return-value]


def cell_state(shape: Shape) -> State:
    """The generator's state where a cell starts: that of the seed with all words before it passed over.

    Parameters
    ----------
    shape : (n, k, max_count)
        One of `shapes`.
    """
    start = CELL_STARTS[shape[2]][shapes(shape[2]).index(shape)]
    # A RandomState cannot pass over words, but the generator beneath it can.
    generator: Any = np.random.MT19937()
    generator.state = np.random.RandomState(SEED).get_state(legacy=False)
    generator.random_raw(start, output=False)
    rng = np.random.RandomState()
    rng.set_state(generator.state)
    return rng.get_state()  # type: ignore[return-value]


@cache
def block_states(shape: Shape, block_runs: int) -> tuple[State, ...]:
    """The generator's states at the starts of a cell's blocks, each of ``block_runs`` tables.

    The tables of the cell are drawn once for it, which takes some hundredths of a second.

    Raises
    ------
    ValueError
        Unless ``block_runs`` divides the 10,000 runs of a cell.
    """
    if RUNS % block_runs:
        raise ValueError(f"block_runs: {block_runs} does not divide {RUNS}")
    states = [cell_state(shape)]
    for _ in range(RUNS // block_runs - 1):
        states.append(tables(states[-1], *shape, block_runs)[1])
    return tuple(states)
