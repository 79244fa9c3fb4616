"""A search with progress: it says how far it is, and an interruption ends it with the best so far."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TextIO

from splitlab.adversary.certificate import Found
from splitlab.adversary.search import Best, Problem, search
from splitlab.engine.progress import tell
from splitlab.splitters.compiling import compilation_shown

SILENT = 5.0  # seconds between lines on stderr


class Watch:
    """Remembers the best so far and tells it now and then."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream, self._said = stream, -SILENT
        self.best: Best | None = None

    def __call__(self, best: Best) -> None:
        """Take note of a step."""
        self.best = best
        if time.monotonic() - self._said >= SILENT:
            self._said = time.monotonic()
            tell(f"step {best.steps:,}: ratio {best.ratio:.6f}", self._stream)


@dataclass(frozen=True)
class Hunt:
    """What was found, in how many steps, and whether the search was interrupted."""

    found: Found
    steps: int
    interrupted: bool


@compilation_shown()
def hunt(problem: Problem, seconds: float | None, steps: int | None, seed: int, say: TextIO | None = None) -> Hunt:
    """Search; KeyboardInterrupt is passed on only when nothing was found yet."""
    watch, interrupted = Watch(say), False
    sought = (problem.splitter.name, problem.impurity, problem.n, problem.k)
    try:
        found = search(*sought, seconds=seconds, steps=steps, seed=seed, max_count=problem.max_count, watch=watch)
    except KeyboardInterrupt:
        if watch.best is None:
            raise
        interrupted, found = True, problem.refined(watch.best.table)
    assert watch.best is not None  # a search tells of its start
    return Hunt(found, watch.best.steps, interrupted)


def command(problem: Problem, steps: int, seed: int) -> str:
    """The command line that finds the same again, on any machine."""
    sought = f"--splitter {problem.splitter.name} --impurity {problem.impurity} --n {problem.n} --k {problem.k}"
    return f"splitlab adversary {sought} --max-count {problem.max_count} --steps {steps} --seed {seed}"
