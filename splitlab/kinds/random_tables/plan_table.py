"""What ``splitlab plan`` says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from splitlab.kinds.random_tables.precision import CellPlan
from splitlab.kinds.trees.plan import SetPlan
from splitlab.report.layout import Entry, Table
from splitlab.text import duration


def text_of(cells: Sequence[CellPlan], config: str, half_width: float, pilot: int | None, jobs: int) -> str:
    """A row per cell, the sum, and the command that does it."""
    heads = ["n", "k", "max_count", "p", "runs", "core time", "disk"]
    rows = [
        [str(part) for part in (c.cell.n, c.cell.k, c.cell.max_count)]
        + [f"{c.share:.3f}", f"{c.runs:,}", duration(c.seconds), size(c.bytes)]
        for c in cells
    ]
    title = f"Runs for 95 % intervals of at most ± {half_width:g} percentage points"
    source = f"a pilot of {pilot:,} runs" if pilot else "the worst case (--pilot N measures it)"
    note = f"p: the percentage by which the runs are reckoned, from {source}. Times were measured here, on one core."
    seconds, whole = sum(c.seconds for c in cells), sum(c.bytes for c in cells)
    most = max(c.runs for c in cells)
    table = Table(title, heads, [[Entry(text) for text in row] for row in rows], 3, [note]).as_text()
    total = (
        f"Altogether {sum(c.runs for c in cells):,} runs, {duration(seconds / jobs)} with --jobs {jobs}, {size(whole)}."
    )
    same = "" if most == min(c.runs for c in cells) else " (or the runs of each cell in the config)"
    return f"{table}\n{total}\n`splitlab run {config} --runs {most}` makes them{same}."


def text_of_trees(sets: Sequence[SetPlan], config: str, folder: Path, jobs: int) -> str:
    """A row per data set, the sum, and the command that does what is left."""
    heads = ["data set", "trials", "methods", "stored", "left", "core time", "disk"]
    rows = []
    for s in sets:
        numbers = (s.trials, s.methods, s.trials * s.methods - s.left, s.left)
        rows.append([s.name, *(f"{number:,}" for number in numbers), duration(s.seconds), size(s.bytes)])
    note = "Stored, left: cross-validations, trials times methods. Times are of one of each method here, on one core."
    title = f"Cross-validated trees in {folder}"
    table = Table(title, heads, [[Entry(text) for text in row] for row in rows], 1, [note]).as_text()
    left, seconds, whole = sum(s.left for s in sets), sum(s.seconds for s in sets), sum(s.bytes for s in sets)
    if not left:
        return f"{table}\nEverything is stored; {size(whole)}."
    total = f"{left:,} are left, {duration(seconds / jobs)} or less with --jobs {jobs}; {size(whole)} altogether."
    return f"{table}\n{total}\n`splitlab run {config}` makes them."


def size(number: float) -> str:
    """Bytes in words, to two digits."""
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= length:
            return f"{number / length:.2g} {unit}" if number < 100 * length else f"{number / length:,.0f} {unit}"
    return f"{number:.0f} bytes"
