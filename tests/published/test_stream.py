"""The tables of the program behind the paper: one generator, walked cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from splitlab.published import stream

ALL = [shape for max_count in stream.WALKS for shape in stream.shapes(max_count)]
# Where the walk of max_count 7 leaves its values of n, and its last cells, in 32-bit words.
KNOWN_ENDS = {
    (18, 3): 2889636, (25, 3): 7230228, (31, 3): 13270053, (37, 3): 20773169, (43, 3): 29738010, (50, 3): 40175443,
    (50, 5): 41837293, (50, 7): 44341043, (50, 9): 47841043,
}  # fmt: skip
LAST_END = {7: 52341043}


def one_by_one(rng: np.random.RandomState, n: int, k: int, max_count: int, count: int) -> tuple[NDArray[np.int64], int]:
    """``count`` accepted tables, each candidate drawn by its own call, and the number of candidates."""
    tables: list[NDArray[Any]] = []
    drawn = 0
    while len(tables) < count:
        table = rng.randint(0, max_count + 1, (n, k))
        drawn += 1
        if table.any(axis=0).all() and table.any(axis=1).all():
            tables.append(table)
    return np.array(tables), drawn


def same_state(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return a[0] == b[0] and np.array_equal(a[1], b[1]) and a[2:] == b[2:]


def test_the_walks() -> None:
    assert [len(stream.shapes(max_count)) for max_count in (7, 2, 15)] == [28, 12, 12]
    assert {m: len(starts) for m, starts in stream.CELL_STARTS.items()} == {7: 28, 2: 12, 15: 12}
    assert stream.shapes(7)[:5] == ((12, 3, 7), (12, 5, 7), (12, 7, 7), (12, 9, 7), (18, 3, 7))


def test_known_word_positions() -> None:
    starts = dict(zip(stream.shapes(7), stream.CELL_STARTS[7], strict=True))
    assert {(n, k): starts[n, k, 7] for n, k in KNOWN_ENDS} == KNOWN_ENDS


def test_the_first_blocks_are_those_of_one_walk() -> None:
    states = stream.block_states((12, 3, 7), 1000)
    rng = np.random.RandomState(19880531)
    for block in range(10):
        assert same_state(rng.get_state(), states[block])
        tables, drawn = one_by_one(rng, 12, 3, 7, 1000)
        if block < 2:
            draw, after = stream.tables(states[block], 12, 3, 7, 1000)
            assert np.array_equal(draw.tables, tables)
            assert draw.drawn.sum() == drawn
            assert same_state(after, rng.get_state())
    # Cell (12, 5) goes on where (12, 3) ended.
    assert same_state(rng.get_state(), stream.cell_state((12, 5, 7)))
    tables, _ = one_by_one(rng, 12, 5, 7, 300)
    assert np.array_equal(stream.tables(stream.cell_state((12, 5, 7)), 12, 5, 7, 300)[0].tables, tables)


@pytest.mark.slow
@pytest.mark.parametrize("max_count", stream.WALKS)
def test_every_cell_starts_where_the_one_before_it_ends(max_count: int) -> None:
    state = np.random.RandomState(19880531).get_state()
    for shape in stream.shapes(max_count):
        assert same_state(state, stream.cell_state(shape))
        _, state = stream.tables(state, *shape, 10_000)
    if max_count in LAST_END:
        generator = np.random.MT19937()
        generator.state = np.random.RandomState(19880531).get_state(legacy=False)
        generator.random_raw(LAST_END[max_count], output=False)
        assert np.array_equal(generator.state["state"]["key"], state[1])
        assert generator.state["state"]["pos"] == state[2]


@pytest.mark.parametrize("shape", [(12, 3, 7), (31, 9, 7), (25, 3, 2), (12, 5, 15)])
def test_the_block_size_does_not_matter(shape: stream.Shape) -> None:
    wholes, halves = stream.block_states(shape, 1000), stream.block_states(shape, 500)
    assert (len(wholes), len(halves)) == (10, 20)
    for block in (0, 3, 9):
        assert same_state(halves[2 * block], wholes[block])
        whole, _ = stream.tables(wholes[block], *shape, 1000)
        parts = [stream.tables(halves[2 * block + half], *shape, 500)[0] for half in (0, 1)]
        assert np.array_equal(np.concatenate([p.tables for p in parts]), whole.tables)
        assert np.concatenate([p.drawn for p in parts]).tolist() == whole.drawn.tolist()


def test_blocks_that_do_not_fill_a_cell_are_refused() -> None:
    with pytest.raises(ValueError, match="block_runs: 300 does not divide 10000"):
        stream.block_states((12, 3, 7), 300)


def test_the_states_are_left_alone() -> None:
    state = stream.cell_state((12, 3, 7))
    key = state[1].copy()
    first, _ = stream.tables(state, 12, 3, 7, 700)
    again, _ = stream.tables(state, 12, 3, 7, 700)
    assert np.array_equal(first.tables, again.tables)
    assert np.array_equal(state[1], key)
    assert stream.tables(state, 12, 3, 7, 0)[0].tables.shape == (0, 12, 3)


@pytest.mark.parametrize("shape", ALL[::7])
def test_tables_are_those_that_the_rules_allow(shape: stream.Shape) -> None:
    drawn, _ = stream.tables(stream.cell_state(shape), *shape, 50)
    assert drawn.tables.min() >= 0
    assert drawn.tables.max() <= shape[2]
    assert drawn.tables.any(axis=1).all()
    assert drawn.tables.any(axis=2).all()
