"""How good the estimates of time are: of every splitter, at ten sizes from the smallest to seconds for a table.

What is measured is the processor time of a table, for Gini and entropy; the estimate is held against the geometric mean
of the two. Two are upper bounds: SLIQ stops where no move improves the split, and Hyperplanes merges equal rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from time import thread_time

import numpy as np
import pandas as pd

from splitlab._jit import Ints
from splitlab.impurity import NAMES, code
from splitlab.splitters import Splitter, split_batch, splitters

SIDES = (2, 3, 5, 9, 12, 20, 25, 50, 100, 200, 300, 500, 1000)  # of n and k
SIZES = 10
MAX_COUNT = 7
SEED = 2018
LEAST_SECONDS = 0.002  # of a measurement: clocks and calls do not matter then
MOST_TABLES = 1000
FACTOR = 3.0  # by which an estimate may be off
UPPER_BOUNDS = ("sliq", "hyperplanes")


def sizes(splitter: Splitter, longest: float) -> list[tuple[int, int]]:
    """Ten sizes (n, k), evenly spread by estimated time, of at most ``longest`` seconds."""
    served = [(n, k) for n in SIDES for k in SIDES if splitter.limit(n, k, n * k * MAX_COUNT) is None]
    seconds = {size: _estimated(splitter, *size) for size in served}
    ordered = sorted((size for size in served if seconds[size] <= longest), key=lambda size: seconds[size])
    places = np.linspace(0, len(ordered) - 1, min(SIZES, len(ordered))).round().astype(int)
    return [ordered[place] for place in places]


def _estimated(splitter: Splitter, n: int, k: int) -> float:
    return splitter.seconds(n, k, n * k * MAX_COUNT / 2)


def measure(longest: float) -> pd.DataFrame:
    """A row per splitter and size: estimated and measured seconds of a table, and their ratio."""
    return pd.DataFrame([row for splitter in splitters() for row in _rows(splitter, longest)])


def _rows(splitter: Splitter, longest: float) -> Iterator[dict[str, object]]:
    for n, k in sizes(splitter, longest):
        estimated = _estimated(splitter, n, k)
        times = {name: _seconds(splitter, n, k, code(name), estimated) for name in NAMES}
        measured = math.prod(times.values()) ** (1.0 / len(times))
        yield {
            "splitter": splitter.name, "n": n, "k": k, "estimated_seconds": estimated, "measured_seconds": measured,
            "ratio": estimated / measured, **{f"{name}_seconds": took for name, took in times.items()},
        }  # fmt: skip


def _seconds(splitter: Splitter, n: int, k: int, kind: int, estimated: float) -> float:
    """Seconds of one table, in a batch of as many as fill the least time; the shorter of two goes unless it is long."""
    count = max(1, min(MOST_TABLES, math.ceil(LEAST_SECONDS / estimated), 2_000_000 // (n * k)))
    tables = random_tables(n, k, count)
    split_batch(splitter, random_tables(2, 2 if splitter.limit(3, 3, 9) else 3, 1), kind)  # compiled, or loaded
    took = []
    for _ in range(2 if estimated < 0.5 else 1):
        began = thread_time()
        split_batch(splitter, tables, kind)
        took.append((thread_time() - began) / count)
    return min(took)


def random_tables(n: int, k: int, count: int) -> Ints:
    """Tables with counts from 0 to 7, with one more wherever a row or column might be empty."""
    tables = np.random.default_rng(SEED).integers(0, MAX_COUNT, (count, n, k), endpoint=True)
    for i in range(max(n, k)):
        tables[:, i % n, i % k] += 1
    return tables


def worst(frame: pd.DataFrame) -> float:
    """The factor by which the worst estimate is off; of an upper bound only where it is too low."""
    ratio = frame["ratio"].where(~frame["splitter"].isin(UPPER_BOUNDS) | (frame["ratio"] < 1.0), 1.0)
    return float(np.maximum(ratio, 1.0 / ratio).max())
