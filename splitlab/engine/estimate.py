"""How long the rest of a run takes: the kind's estimates, corrected by what was measured so far.

Notation: a *part* of the work is a column of a group. Its *ratio* is measured over estimated core seconds, of what is
done of it. A part of which nothing is done yet takes the ratio of what is most like it: the same column in other
groups, else the same splitter for another impurity, else everything. The core seconds that are left, estimates times
ratios, divided by the core seconds done in a second so far, are the time that is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping

from splitlab.engine.blocks import Column, Part, Work


class Estimate:
    """The time that is left of some work.

    Parameters
    ----------
    whole : Work
    workers : int
        How many core seconds are done in a second, as long as nothing is measured.
    """

    def __init__(self, whole: Work, workers: int = 1) -> None:
        self._left = dict(whole.parts)
        self._workers, self._at = float(workers), 0.0
        self._estimated = defaultdict[Hashable, float](float)  # of what is done, by each of its `_names`
        self._measured = defaultdict[Hashable, float](float)

    def note(self, done: Work, took: Mapping[Column, float] | None, elapsed: float) -> None:
        """Take note of finished work, at so many seconds from the start on.

        ``took`` says the core seconds of its columns; None: it is all that was done since the last note.
        """
        since, self._at = elapsed - self._at, elapsed
        for part, seconds in done.parts.items():
            self._left[part] -= seconds
            spent = since * seconds / done.seconds if took is None else took.get(part[1], 0.0)
            for name in _names(part):
                self._estimated[name] += seconds
                self._measured[name] += spent

    def seconds_left(self, elapsed: float) -> float:
        """Seconds until all is done, at so many seconds from the start on."""
        left = self._core_seconds_left()
        speed = self._measured[()] / self._at if self._measured[()] > 0.0 else self._workers
        return max(0.0, left / speed - (elapsed - self._at))

    def share(self) -> float:
        """How much of all core seconds is done."""
        done, left = self._measured[()], self._core_seconds_left()
        return done / (done + left) if done > 0.0 else 0.0

    def _core_seconds_left(self) -> float:
        return sum(max(0.0, seconds) * self._ratio(part) for part, seconds in self._left.items())

    def _ratio(self, part: Part) -> float:
        for name in _names(part):
            if self._estimated[name] > 0.0:
                return self._measured[name] / self._estimated[name]
        return 1.0


def _names(part: Part) -> Iterator[Hashable]:
    """A part, and all that it belongs to, from small to large."""
    _, column = part
    yield part
    yield column
    yield column[1]
    yield ()
