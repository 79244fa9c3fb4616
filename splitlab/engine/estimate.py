"""How long the rest of a run takes: the kind's estimates, corrected by what was measured so far.

Notation: a *part* of the work is a column of a group. Its *ratio* is measured over estimated core seconds, of what is
done of it. What is measured in less than a second says little (a first call loads kernels, another program takes the
processor); so the ratio of a part begins with that of what is most like it, as if a second of that had been done: the
same column in other groups, before that the same splitter, everything, and at last the estimate as it is. The core
seconds that are left, estimates times ratios, divided by the core seconds done in a second, are the time that is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping

from splitlab.engine.blocks import Column, Part, Work

PRIOR_SECONDS = 1.0  # what a ratio begins with
START_SECONDS = 5.0  # for how long the workers are taken to be at work: the first tasks are not finished yet


class Estimate:
    """The time that is left of some work.

    Parameters
    ----------
    whole : Work
    workers : int
        How many core seconds are done in a second, until that is measured.
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
        speed = (self._measured[()] + START_SECONDS * self._workers) / (self._at + START_SECONDS)
        return max(0.0, left / speed - (elapsed - self._at))

    def share(self) -> float:
        """How much of all core seconds is done."""
        done, left = self._measured[()], self._core_seconds_left()
        return done / (done + left) if done > 0.0 else 0.0

    def _core_seconds_left(self) -> float:
        return sum(max(0.0, seconds) * self._ratio(part) for part, seconds in self._left.items())

    def _ratio(self, part: Part) -> float:
        ratio = 1.0
        for name in _names(part):
            ratio = (self._measured[name] + PRIOR_SECONDS * ratio) / (self._estimated[name] + PRIOR_SECONDS)
        return ratio


def _names(part: Part) -> Iterator[Hashable]:
    """All that a part belongs to, and the part, from large to small."""
    _, column = part
    yield ()
    yield column[1]
    yield column
    yield part
