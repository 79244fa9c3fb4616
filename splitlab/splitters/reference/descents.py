"""Greedy descents: all rows start on the left, and one after the other moves to the right."""

from collections.abc import Callable, Iterable, Iterator

from splitlab.splitters.reference.common import (
    Candidate,
    Measure,
    Rows,
    Scored,
    T,
    Table,
    column_sums,
    cost_of,
    first_least,
    first_prefix,
    integers,
    margin_of,
    mask_of,
    measure_of,
    merge,
    minus,
)

Movable = Callable[[Rows, list[int]], Iterable[int]]  # which of the rows still on the left may move


def sliq(table: Table, impurity: str) -> list[bool]:
    """Greedy descent that stops at the first step without improvement."""
    return _greedy(table, measure_of(impurity), _any, _while_improving)


def sliq_ext(table: Table, impurity: str) -> list[bool]:
    """Greedy descent to the end, and the best split on the way."""
    return _greedy(table, measure_of(impurity), _any, first_least)


def pull_left(table: Table, impurity: str) -> list[bool]:
    """`sliq_ext`, but only rows with the largest share of some class among those on the left may move."""
    return _greedy(table, measure_of(impurity), _purest, first_least)


def _greedy(
    table: Table,
    measure: Measure,
    movable: Movable,
    choose: Callable[[Scored, float], tuple[float, Candidate]],
) -> list[bool]:
    rows = integers(table)
    if len(merge(rows)[0]) == 1:  # all rows proportional: the descent would put the first row right
        return first_prefix(rows)
    return mask_of(*choose(_moves(rows, measure, movable), margin_of(rows))[1])


def _moves(rows: Rows, measure: Measure, movable: Movable) -> Scored:
    """The splits on the greedy way from all rows on the left to one. Lazy: `sliq` stops on the way."""
    cost, margin = cost_of(rows, measure), margin_of(rows)
    staying, moved = list(range(len(rows))), list[int]()
    left = column_sums(rows)  # of the rows in `staying`, at every turn
    while len(staying) > 1:
        moves = ((cost(minus(left, rows[v])), v) for v in movable(rows, staying))
        value, v = first_least(moves, margin)
        moved.append(staying.pop(staying.index(v)))
        left = minus(left, rows[v])
        yield value, ([*staying, *moved], len(staying))


def _any(_: Rows, staying: list[int]) -> list[int]:
    return staying


def _purest(rows: Rows, staying: list[int]) -> list[int]:
    """For every class the row with its largest share, the first of equals; in row order."""
    return sorted({max(staying, key=lambda v: rows[v][i] / sum(rows[v])) for i in range(len(rows[0]))})


def _while_improving(path: Iterator[tuple[float, T]], margin: float) -> tuple[float, T]:
    """The last split before the first step that does not improve. The first step is not up for choice."""
    least, best = next(path)
    for value, split in path:
        if value >= least - margin:
            break
        least, best = value, split
    return least, best
