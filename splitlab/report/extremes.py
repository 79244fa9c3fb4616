"""Relative excess pooled over cells, its maxima beside the published ones, and whether other max_count behave alike.

The paper gives one number per method and impurity: the largest excess of all its experiments. A maximum is an
extreme value; whether ours and theirs agree is a question of probability. With p_c the probability that the excess
of one table of cell c reaches the printed value (its lower rounding edge), the maximum over 10,000 tables in each
cell is at least that large with probability 1 - prod_c (1 - p_c)^10000, and at most that large with
prod_c (1 - p'_c)^10000, p' for the upper edge. The p_c of the cells where large values happen come from a million
tables each, with a Clopper-Pearson interval; those of the other cells from the runs at hand.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd
from scipy import stats

from splitlab.montecarlo.study import Results
from splitlab.montecarlo.summary import QUANTILES, relative_excess
from splitlab.published import PAPER_RUNS, maxima
from splitlab.report.compare import LEVEL as HOLM_LEVEL
from splitlab.report.compare import fisher
from splitlab.report.layout import Entry, Table
from splitlab.splitters import get
from splitlab.statistics import holm_rejected, quantile

CELL = ["n", "k", "max_count"]
POOLED = "all"
LEVEL = 0.95
STRANGE = 0.003  # of either tail: about 5 % over the 16 tails of the 8 maxima


def edges(printed: str) -> tuple[float, float]:
    """The lower and upper rounding edge of a printed number: '2.0' -> (1.95, 2.05)."""
    value = Decimal(printed)
    half = Decimal(1).scaleb(int(value.as_tuple().exponent)) / 2
    return float(value - half), float(value + half)


def published_thresholds() -> dict[tuple[str, str], tuple[float, float]]:
    """The rounding edges of every published maximum, by (impurity, splitter)."""
    return {key: edges(printed) for key, printed in maxima().items()}


def pooled_excess(results: Results) -> pd.DataFrame:
    """Excess by impurity, max_count and splitter over all tables of the cells: every cell has the same weight.

    Columns: impurity, max_count, splitter, tables, mean, standard_error (stratified), median, p95, p99, maximum, the
    cell (n, k) and run where it happened, unbounded.
    """
    rows = []
    frame, histogram = results.relative_excess, results.excess_histogram
    keys = ["impurity", "max_count", "splitter"]
    for place, group in frame.groupby(keys, sort=False):
        here = (histogram[keys] == list(place)).all(axis=1)
        values = histogram[here].groupby("excess")["tables"].sum().sort_index()
        top = max(group.to_dict(orient="records"), key=lambda row: row["maximum"])
        rows.append(
            {
                **dict(zip(keys, place, strict=True)),
                "tables": int(group["runs"].sum()),
                "mean": group["mean"].mean(),
                "standard_error": float(np.sqrt((group["standard_error"] ** 2).sum()) / len(group)),
                **{name: min(quantile(values.index, values, q), top["maximum"]) for name, q in QUANTILES.items()},
                **{name: top[name] for name in ("maximum", "n", "k", "maximum_run")},
                "unbounded": int(group["unbounded"].sum()),
            }
        )
    return pd.DataFrame(rows).sort_values(["impurity", "max_count"], ascending=[False, True], kind="stable")


def exceedances_of(results: Results) -> pd.DataFrame:
    """Tables per cell that reach the published maxima, counted in the stored runs; columns as ``tail.exceedances``."""
    rows = []
    thresholds, splitters = published_thresholds(), results.experiment.splitters
    for impurity in results.experiment.impurities:
        for cell, runs in results.experiment.cells:
            excess = relative_excess(results.impurities(cell.n, cell.k, cell.max_count, impurity))
            for s, splitter in enumerate(splitters):
                for edge in thresholds.get((impurity, splitter), ()):
                    reached = int((np.isfinite(excess[:, s]) & (excess[:, s] >= edge)).sum())
                    place = {"n": cell.n, "k": cell.k, "max_count": cell.max_count}
                    key = {"impurity": impurity, "splitter": splitter, **place, "threshold": edge}
                    rows.append({**key, "runs": runs, "reached": reached})
    return pd.DataFrame(rows)


def combined(runs: pd.DataFrame, tail: pd.DataFrame) -> pd.DataFrame:
    """Exceedances per cell, those of ``tail`` where it has the cell, else those of ``runs``; ``many`` says which."""
    key = ["impurity", "splitter", *CELL, "threshold"]
    both = pd.concat([tail.assign(many=True), runs.assign(many=False)])
    return both.drop_duplicates(key, keep="first").reset_index(drop=True)


@dataclass(frozen=True)
class Chance:
    """The probability that at least one of many tables reaches a threshold, with an interval."""

    value: float
    low: float
    high: float

    @property
    def opposite(self) -> Chance:
        """That none does."""
        return Chance(1.0 - self.value, 1.0 - self.high, 1.0 - self.low)


def chance(cells: pd.DataFrame) -> Chance:
    """That the maximum over 10,000 tables in each of ``cells`` (rows: runs, reached, many) reaches the threshold.

    The value takes all cells in; the interval has the Clopper-Pearson bounds of the cells with many tables, and the
    plain estimate of the others.
    """
    tails = [_log_none(reached / runs) for runs, reached in zip(cells["runs"], cells["reached"], strict=True)]
    many = cells["many"].to_numpy()
    fixed = sum(t for t, m in zip(tails, many, strict=True) if not m)
    sampled = cells[many][["reached", "runs"]].to_numpy().tolist()
    bounds = [_clopper_pearson(reached, runs) for reached, runs in sampled]
    low, high = (fixed + sum(_log_none(b[side]) for b in bounds) for side in (0, 1))
    return Chance(*(float(abs(np.expm1(log_none))) for log_none in (sum(tails), low, high)))


def _log_none(p: float) -> float:
    """Logarithm of the probability that none of 10,000 tables reaches the threshold."""
    return float(PAPER_RUNS * np.log1p(-p)) if p < 1.0 else float("-inf")


def _clopper_pearson(reached: int, runs: int) -> tuple[float, float]:
    interval = stats.binomtest(reached, runs).proportion_ci(LEVEL, method="exact")
    return float(interval.low), float(interval.high)


def maxima_frame(pooled: pd.DataFrame, counted: pd.DataFrame) -> pd.DataFrame:
    """Published maxima beside ours, with the chance of a maximum at least and at most as large as the published.

    One row per impurity, splitter and max_count, and one (max_count ``all``) for all of them together.
    """
    rows = []
    for (impurity, splitter), printed in maxima().items():
        mine = pooled[(pooled["impurity"] == impurity) & (pooled["splitter"] == splitter)]
        cells = counted[(counted["impurity"] == impurity) & (counted["splitter"] == splitter)]
        low, high = edges(printed)
        for max_count in [*sorted(set(mine["max_count"])), POOLED]:
            ours = mine if max_count == POOLED else mine[mine["max_count"] == max_count]
            here = cells if max_count == POOLED else cells[cells["max_count"] == max_count]
            at_least, at_most = (chance(here[here["threshold"] == edge]) for edge in (low, high))
            row = {"impurity": impurity, "splitter": splitter, "max_count": max_count, "published": printed}
            row |= {"ours": ours["maximum"].max()}
            row |= _fields("at_least", at_least) | _fields("at_most", at_most.opposite)
            rows.append(row)
    return pd.DataFrame(rows)


def _fields(name: str, chance: Chance) -> dict[str, float]:
    return {name: chance.value, f"{name}_low": chance.low, f"{name}_high": chance.high}


def maxima_verdict(frame: pd.DataFrame) -> str:
    """How many published maxima are what so many tables may give, all max_count together, and what of the others.

    A maximum is strange when even the upper bound of one of its two chances is tiny, and undecided when the chance
    itself is but its bound is not: then too few tables were drawn to tell.
    """
    pooled = frame[frame["max_count"] == POOLED]
    bounds = pooled[["at_least_high", "at_most_high"]].min(axis=1)
    strange = pooled[bounds < STRANGE]
    undecided = pooled[(pooled[["at_least", "at_most"]].min(axis=1) < STRANGE) & (bounds >= STRANGE)]
    text = (
        f"{len(pooled) - len(strange) - len(undecided)} of {len(pooled)} published maxima are what 10,000 tables in "
        f"each cell may give (both chances at least {STRANGE:.1%}), max_count {_listed(frame)} together"
    )
    return text + _named("not so", strange) + _named("undecided", undecided)


def _named(what: str, rows: pd.DataFrame) -> str:
    if rows.empty:
        return ""
    names = []
    for row in rows.to_dict(orient="records"):
        side, size = ("at_least", "large") if row["at_least"] < row["at_most"] else ("at_most", "small")
        chance = f"chance of a maximum so {size} below {row[f'{side}_high']:.3f}"
        names.append(f"{get(row['splitter']).title} for {row['impurity']} ({row['published']}; {chance})")
    return f"; {what}: {', '.join(names)}"


def _listed(frame: pd.DataFrame) -> str:
    return ", ".join(str(m) for m in sorted({m for m in frame["max_count"] if m != POOLED}))


def pooled_table(pooled: pd.DataFrame) -> Table:
    """The pooled excess, for readers."""
    heads = ["impurity", "max_count", "method", "mean", "median", "95 %", "99 %", "maximum", "where"]
    rows = []
    for row in pooled.to_dict(orient="records"):
        mean = f"{row['mean']:.3f} ± {row['standard_error']:.3f}"
        numbers = [f"{row[q]:.3f}" for q in ("median", "p95", "p99", "maximum")]
        where = f"n = {row['n']}, k = {row['k']}, run {row['maximum_run']}"
        texts = [row["impurity"], str(row["max_count"]), get(row["splitter"]).title, mean, *numbers, where]
        rows.append([Entry(t) for t in texts])
    size = f"{pooled['tables'].max():,}"
    title = f"Relative excess over the best other method in percent, all cells together, up to {size} tables a row"
    note = "Mean with standard error. `splitlab replay` shows the table of a run."
    return Table(title, heads, rows, 2, [note])


def maxima_table(frame: pd.DataFrame) -> Table:
    """The maxima, for readers."""
    heads = ["impurity", "method", "max_count", "paper", "ours", "P(max at least the paper's)", "P(max at most)"]
    rows = []
    for row in frame.to_dict(orient="records"):
        tails = [_tail_text(row, name) for name in ("at_least", "at_most")]
        texts = [row["impurity"], get(row["splitter"]).title, str(row["max_count"]), row["published"]]
        rows.append([Entry(t) for t in (*texts, f"{row['ours']:.2f}", *tails)])
    notes = [
        f"Maximum of the relative excess in percent. Chances are for {PAPER_RUNS:,} tables in each cell, with the 95 % "
        "Clopper-Pearson bounds of the cells that were drawn a million times and the plain estimate of the others."
    ]
    return Table("Maximum relative excess: ours, the paper's, and how probable the paper's is", heads, rows, 1, notes)


def _tail_text(row: Mapping[Hashable, float], name: str) -> str:
    return f"{row[name]:.3f} ({row[f'{name}_low']:.3f} to {row[f'{name}_high']:.3f})"


def alike(results: Results, usual: int = 7) -> str:
    """Whether the win percentages of other max_count differ from those of the usual one, in a sentence each."""
    frame = results.win_percentage
    place = ["impurity", "n", "k", "splitter"]
    base = frame[frame["max_count"] == usual]
    sentences = []
    for max_count in sorted(set(frame["max_count"]) - {usual}):
        other = frame[frame["max_count"] == max_count]
        pairs = other.merge(base, on=place, suffixes=("_other", ""))
        sentences.append(_alike_sentence(pairs, max_count, usual))
    return " ".join(sentences)


def _alike_sentence(pairs: pd.DataFrame, max_count: int, usual: int) -> str:
    counts = pairs[["wins_other", "runs_other", "wins", "runs"]].to_numpy().tolist()
    differing = holm_rejected([fisher(*four) for four in counts], HOLM_LEVEL)
    worst = max(pairs.to_dict(orient="records"), key=lambda row: abs(row["percent_other"] - row["percent"]))
    return (
        f"max_count {max_count}: {len(differing)} of {len(counts)} win percentages differ from those of max_count "
        f"{usual} (Fisher, Holm at 1 %); the largest difference is {get(worst['splitter']).title}, "
        f"{worst['impurity']}, n = {worst['n']}, k = {worst['k']}: {worst['percent_other']:.1f} against "
        f"{worst['percent']:.1f}."
    )
