"""The estimate of the time that is left, and what progress says of it."""

from __future__ import annotations

import io
import math
import time

import pytest

from splitlab.engine.blocks import Column, Work
from splitlab.engine.estimate import Estimate
from splitlab.engine.progress import shown

LCA, HD, EXACT = (("gini", name) for name in ("lca", "hd", "exact"))

# Seconds of a block of 1,000 tables: as estimated, and as recorded on two cores of a machine where others worked.
SMALL: dict[Column, tuple[float, float]] = {LCA: (0.0003, 0.0011), HD: (0.009, 0.013), EXACT: (0.05, 0.19)}
LARGE: dict[Column, tuple[float, float]] = {LCA: (0.0025, 0.0031), HD: (2.1, 0.62), EXACT: (60.0, 31.0)}


def block(
    label: str, seconds: dict[Column, tuple[float, float]], share: float = 1.0
) -> tuple[Work, dict[Column, float]]:
    work = Work(1000 * share, {(label, column): share * model for column, (model, _) in seconds.items()})
    return work, {column: share * took for column, (_, took) in seconds.items()}


def test_uneven_groups_within_a_factor_of_two() -> None:
    """20 blocks of each group, in slices of a second: the first slice of each group comes first."""
    small, large = block("small", SMALL), block("large", LARGE, 1 / 32)
    slices = [small, large, *[small] * 19, *[large] * (20 * 32 - 1)]
    whole = Work(
        40_000,
        {
            part: 20 * s
            for group in (block("small", SMALL)[0], block("large", LARGE)[0])
            for part, s in group.parts.items()
        },
    )
    notes, clock = [], 0.0
    for number, (work, took) in enumerate(slices):
        noisy = {column: (1.0 + 0.4 * math.sin(number)) * seconds for column, seconds in took.items()}
        clock += sum(noisy.values()) / 2  # two workers
        notes.append((work, noisy, clock))
    estimate = Estimate(whole, 2)
    assert estimate.seconds_left(0.0) > 1.5 * clock  # the estimates alone are off
    for work, took, now in notes:
        estimate.note(work, took, now)
        if now > 10.0:
            assert (clock - now) / 2 <= estimate.seconds_left(now) <= 2 * (clock - now) + 1e-6
    assert estimate.share() == pytest.approx(1.0)


def test_what_is_not_measured_takes_the_ratio_of_what_is_most_like_it() -> None:
    hour = 3600.0  # beside which the second with which ratios begin is nothing
    parts = {(group, column): hour for group in "ab" for column in (("gini", "hd"), ("entropy", "hd"), ("gini", "lca"))}
    estimate, clock = Estimate(Work(2, parts)), 0.0

    def left_after(group: str, column: Column, ratio: float) -> float:
        nonlocal clock
        clock += ratio * hour
        estimate.note(Work(0.3, {(group, column): hour}), {column: ratio * hour}, clock)
        return estimate.seconds_left(clock) / hour

    assert left_after("a", ("gini", "hd"), 4.0) == pytest.approx(5 * 4.0, rel=0.01)  # the only ratio there is
    # Left: entropy with hd, twice, as gini with hd; and of b both columns as in a.
    assert left_after("a", ("gini", "lca"), 2.0) == pytest.approx(4.0 + 4.0 + 4.0 + 2.0, rel=0.01)
    assert left_after("b", ("gini", "hd"), 8.0) == pytest.approx(6.0 + 6.0 + 2.0, rel=0.01)


def test_a_first_call_that_loads_kernels_does_not_mislead() -> None:
    """A block that is estimated to take 2 ms took 1.5 s; the large cell is not a thousand times as dear for that."""
    estimate = Estimate(Work(2, {("small", LCA): 0.004, ("large", LCA): 100.0}), 2)
    estimate.note(Work(1, {("small", LCA): 0.002}), {LCA: 1.5}, 1.5)
    assert estimate.seconds_left(1.5) < 10 * 50.0
    estimate.note(Work(0.1, {("large", LCA): 10.0}), {LCA: 10.0}, 7.0)
    assert 45.0 / 2 < estimate.seconds_left(7.0) < 2 * 45.0


def test_time_goes_on_between_two_notes() -> None:
    estimate = Estimate(Work(4, {("a", LCA): 400.0}), workers=2)
    assert estimate.seconds_left(1.0) == pytest.approx(199.0)
    estimate.note(Work(1, {("a", LCA): 100.0}), None, 300.0)
    left = estimate.seconds_left(300.0)
    assert left == pytest.approx(900.0, rel=0.05)
    assert estimate.seconds_left(305.0) == pytest.approx(left - 5.0)


def test_lines_say_what_is_stored_and_come_without_a_finished_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splitlab.engine.progress.SILENT_SECONDS", 0.1)
    said = io.StringIO()
    with shown(said, Work(3000, {("a", LCA): 400.0}, stored=13_000), workers=2) as progress:
        time.sleep(0.5)
        progress(Work(3000, {("a", LCA): 400.0}), {LCA: 1.0})
    first, last = said.getvalue().splitlines()
    assert first.startswith("13,000 of 16,000 tables, 0.0 tables/s, ")
    assert first.endswith("so far, about 3.3 minutes left")
    assert last.startswith("16,000 of 16,000 tables, ")
    assert "took " in last


def test_a_short_step_says_nothing() -> None:
    said = io.StringIO()
    work = Work(3, {("a", LCA): 1.0})
    with shown(said, work, "cells", doing="measuring cells") as progress:
        progress(work)
    assert said.getvalue() == ""


def test_a_step_that_fails_does_not_say_that_it_is_done() -> None:
    said = io.StringIO()
    with pytest.raises(ValueError, match="no"), shown(said, Work(3, {("a", LCA): 1.0})):
        raise ValueError("no")
    assert said.getvalue() == ""
