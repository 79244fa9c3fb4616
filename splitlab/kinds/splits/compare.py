"""Ours against published: per entry an exact test, over all entries one verdict.

An entry is two binomial counts: ours, wins of runs, and the published one, known only to the decimals that were
printed. Fisher's exact test compares them, with the p-value maximised over the counts that the rounding allows.
Holm's procedure at 1 % decides over all entries together. As a second look, z = difference / standard error is
computed for every entry that has variance (binomial of both sides and the rounding's own, a uniform error) and
summarised as a root mean square, near 1 when the two sides agree; entries of one cell share their tables and are
dependent, so its spread is larger than that of independent entries.

A replay uses the authors' own tables, so it is held against the printed digits themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, sqrt
from typing import Any

import numpy as np
from scipy.special import gammaln

from splitlab.kinds.random_tables.config import ENTRY
from splitlab.kinds.splits.results import Results
from splitlab.published import PAPER_COMPETITORS, PAPER_RUNS
from splitlab.report.layout import Verdict, round_half_up
from splitlab.statistics import holm_rejected
from splitlab.text import counted

LEVEL = 0.01  # of all entries together


@dataclass(frozen=True)
class Entry:
    """One published number and ours."""

    impurity: str
    n: int
    k: int
    max_count: int
    splitter: str
    wins: int
    runs: int
    printed: str
    published_runs: int = PAPER_RUNS

    def __str__(self) -> str:
        """Which entry it is, ours and the published number."""
        place = f"{self.impurity} n={self.n} k={self.k} max_count={self.max_count} {self.splitter}"
        return f"{place}: ours {100 * self.wins / self.runs:.2f}, published {self.printed}"

    @property
    def rounding(self) -> Fraction:
        """The unit of the last printed decimal, in percent."""
        exponent = Decimal(self.printed).as_tuple().exponent
        return Fraction(10) ** min(0, int(exponent))

    def possible_counts(self) -> range:
        """The published win counts that are printed like this, halves rounded up."""
        value, half = Fraction(self.printed), self.rounding / 2
        low = ceil((value - half) * self.published_runs / 100)
        high = ceil((value + half) * self.published_runs / 100)
        return range(max(0, low), min(self.published_runs + 1, max(high, low + 1)))

    def p_value(self) -> float:
        """Fisher's exact p-value, two-sided, the largest over the possible counts."""
        return max(fisher(self.wins, self.runs, count, self.published_runs) for count in self.possible_counts())

    def z(self) -> float | None:
        """Difference in standard errors; None where neither side varies."""
        published = float(self.printed) / 100.0
        pooled = (self.wins + published * self.published_runs) / (self.runs + self.published_runs)
        variance = pooled * (1.0 - pooled) * (1.0 / self.runs + 1.0 / self.published_runs)
        if variance <= 0.0:
            return None
        rounding = float(self.rounding / 100) ** 2 / 12.0
        return (self.wins / self.runs - published) / sqrt(variance + rounding)

    def rounds_alike(self) -> bool:
        """Whether our percentage, rounded half up, is the printed text."""
        decimals = max(0, -int(Decimal(self.printed).as_tuple().exponent))
        return Decimal(round_half_up(Fraction(100 * self.wins, self.runs), decimals)) == Decimal(self.printed)


def entries(results: Results) -> list[Entry]:
    """The entries of an experiment that have a published number."""
    fields = (*ENTRY, "wins", "runs")
    return [
        Entry(**{f: row[f] for f in fields}, printed=row["published"])
        for row in results.win_percentage.to_dict(orient="records")
        if row["published"]
    ]


def judge(results: Results) -> Verdict:
    """Compare an experiment with the published numbers that its config names."""
    experiment = results.experiment
    if experiment.published is None:
        return Verdict(False, True, "not compared: the config names no published numbers")
    compared = entries(results)
    if not compared:
        return Verdict(False, True, "not compared: no published number belongs to these cells and splitters")
    if frozenset(experiment.splitters) != PAPER_COMPETITORS:
        competitors = ", ".join(sorted(PAPER_COMPETITORS))
        return Verdict(False, True, f"not judged: a win depends on the competitors, and the paper's are {competitors}")
    if experiment.draws == "authors":
        return _digit_for_digit(compared)
    return _statistical(compared)


def _digit_for_digit(compared: list[Entry]) -> Verdict:
    if any(e.runs != PAPER_RUNS for e in compared):
        return Verdict(False, True, f"not judged: the authors' numbers are from all {PAPER_RUNS:,} runs of each cell")
    differing = tuple(e for e in compared if not e.rounds_alike())
    text = f"{len(compared) - len(differing)} of {counted(len(compared), 'entry')} equal, digit for digit"
    return Verdict(True, not differing, text, differing)


def _statistical(compared: list[Entry]) -> Verdict:
    differing = tuple(compared[i] for i in holm_rejected([e.p_value() for e in compared], LEVEL))
    deviations = [z for e in compared if (z := e.z()) is not None]
    rms = sqrt(sum(z * z for z in deviations) / len(deviations)) if deviations else float("nan")
    text = (
        f"{len(compared) - len(differing)} of {counted(len(compared), 'entry')} agree with the published ones within "
        f"Monte Carlo error (Fisher's exact test of the two counts, largest p over what the printed digits allow, "
        f"Holm at 1 %); "
        f"rms z = {rms:.2f} over {counted(len(deviations), 'entry')} with variance (entries of one cell are dependent)"
    )
    return Verdict(True, not differing, text, differing)


def fisher(wins: int, runs: int, other_wins: int, other_runs: int) -> float:
    """Fisher's exact p-value of two counts, two-sided: how likely a table as unlikely as this one is, its sums given.

    scipy's own is right too, but takes 14 ms, and a verdict needs some 500 of them.
    """
    both, all_runs = wins + other_wins, runs + other_runs
    possible = np.arange(max(0, both - other_runs), min(both, runs) + 1, dtype=float)
    logs = -_log_factorials(possible, runs - possible, both - possible, other_runs - both + possible)
    logs += _log_factorials(both, all_runs - both, runs, other_runs) - _log_factorials(all_runs)
    chances = np.exp(logs)
    return min(1.0, float(chances[chances <= chances[wins - int(possible[0])] * (1.0 + 1e-7)].sum()))


def _log_factorials(*numbers: Any) -> Any:
    """Sum of log x! over the numbers."""
    return sum(gammaln(np.asarray(x) + 1.0) for x in numbers)
