"""What follows from the trees of a study of criteria, as data frames: measures, ranks, tests, differences of pairs.

A measure is in percent: accuracy, or the area under the ROC curve times 100. Its value in a repetition is the mean over
the folds. z holds a printed value against ours, in standard deviations of one repetition: printed values that came from
one more repetition have a root mean square of z of 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from splitlab._jit import Floats
from splitlab.kinds.criteria import published
from splitlab.kinds.criteria.config import ALL, DataGroup
from splitlab.kinds.criteria.results import KEYS, CriteriaResults
from splitlab.statistics import holm
from splitlab.trees.statistics import Comparison, average_ranks, compare, corrected_t_test, win_tie_loss

RESAMPLES = 10_000
FEW = 5  # data sets: fewer are not resampled
LEVEL = 0.05
DECIMALS = 9  # equal measures are equal up to rounding
RANKS = (
    *("group", "criterion", "datasets", "printed_rank", "mean_rank", "sd", "best", "rank_of_means"),
    *("low", "high", "best_bootstrap"),
)


def groups(results: CriteriaResults) -> list[DataGroup]:
    """The groups that have any data sets."""
    present = set(results.compared["group"])
    return [group for group in results.experiment.groups if group.name in present]


def printed(results: CriteriaResults, group: DataGroup) -> pd.DataFrame | None:
    """The printed table of a group's measure, if it is to be compared."""
    if results.experiment.published is None:
        return None
    return published.table(group.measure, results.experiment.criteria)


def wide(results: CriteriaResults, group: str, repetition: int | None = None, value: str = "measure") -> pd.DataFrame:
    """A row per data set, a column per criterion: means over all repetitions, or the values of one (from 1)."""
    frame = results.compared
    frame = frame if group == ALL else frame[frame["group"] == group]
    frame = frame if repetition is None else frame[frame["repetition"] == repetition]
    found = frame.pivot_table(value, "dataset", "criterion", sort=False)
    return found[list(results.experiment.criteria)].round(DECIMALS)


def measures(results: CriteriaResults) -> pd.DataFrame:
    """One row per data set, criterion and treatment of text columns; printed values and z where there are any."""
    grouped = results.repetitions.groupby(KEYS, sort=False)
    frame = grouped["measure"].agg(["count", "mean", "std"]).reset_index()
    frame = frame.rename(columns={"count": "repetitions", "std": "sd"})
    frame.insert(1, "measure", frame["group"].map({group.name: group.measure for group in results.experiment.groups}))
    frame["standard_error"] = frame["sd"] / np.sqrt(frame["repetitions"])
    more = grouped[["recall", "nodes", "leaves", "depth"]].mean().reset_index()
    frame = frame.merge(more, "left", KEYS)
    known = {
        (group, name, criterion): value
        for group, table in _tables(results).items()
        for criterion, column in table.items()
        for name, value in column.items()
    }
    values = [known.get(key, np.nan) for key in zip(frame["group"], frame["dataset"], frame["criterion"], strict=True)]
    away = np.array(values) - frame["mean"]
    return frame.assign(printed=values, z=(away / frame["sd"]).where(frame["sd"] > 0))


def records(frame: pd.DataFrame) -> list[Any]:
    """The rows of a frame, whose columns are attributes."""
    return list(frame.itertuples(index=False))


def _tables(results: CriteriaResults) -> dict[str, pd.DataFrame]:
    tables = {group.name: printed(results, group) for group in groups(results)}
    return {name: table for name, table in tables.items() if table is not None}


def levels(frame: pd.DataFrame) -> pd.DataFrame:
    """From `measures`, without stand-ins: of each group how many values there are, and the rms of z."""
    known = frame[~frame["dataset"].isin(published.STAND_INS)].dropna(subset="z")
    found = known.groupby("group", sort=False)["z"].agg(values="count", rms=lambda z: float(np.sqrt((z**2).mean())))
    away = (known["printed"] - known["mean"]).groupby(known["group"], sort=False)
    return found.assign(mean_difference=away.mean(), mean_absolute=away.apply(lambda d: d.abs().mean())).reset_index()


def rounds(results: CriteriaResults, group: str) -> list[Comparison]:
    """The comparison of criteria over data sets in every repetition; none for fewer than two of either."""
    if min(wide(results, group).shape) < 2:
        return []
    return [compare(wide(results, group, r)) for r in range(1, results.experiment.repetitions + 1)]


def of_means(results: CriteriaResults, group: str) -> Comparison | None:
    """The comparison of criteria by their means over all repetitions."""
    table = wide(results, group)
    return compare(table) if min(table.shape) >= 2 else None


def names(results: CriteriaResults) -> list[str]:
    """The groups, and all together where there are several."""
    found = [group.name for group in groups(results)]
    return [*found, ALL] if len(found) > 1 else found


def ranks(results: CriteriaResults) -> pd.DataFrame:
    """Average ranks over data sets; 1 is best.

    printed_rank is that of the printed table, mean_rank and sd are over repetitions, best is the share of repetitions
    in which it is the lowest. rank_of_means ranks means over all repetitions; its interval and best_bootstrap, the
    share in which it is the lowest, are from a bootstrap over data sets, which takes them for a sample of such; fewer
    than `FEW` have none.
    """
    rows = []
    printed_tables = _tables(results)
    for name in names(results):
        if not (each := rounds(results, name)):
            continue
        single = np.array([one.average_ranks for one in each])
        resampled = _bootstrap(wide(results, name), results.experiment.seed)
        low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
        if each[0].n < FEW:
            low[:], high[:] = np.nan, np.nan
        table = printed_tables.get(name)
        theirs = dict(zip(table, average_ranks(table), strict=True)) if table is not None and table.shape[1] > 1 else {}
        for i, criterion in enumerate(results.experiment.criteria):
            rows.append(
                {
                    "group": name,
                    "criterion": criterion,
                    "datasets": each[0].n,
                    "printed_rank": theirs.get(criterion, np.nan),
                    "mean_rank": single[:, i].mean(),
                    "sd": single[:, i].std(ddof=1) if len(single) > 1 else np.nan,
                    "best": _share_best(single, i),
                    "rank_of_means": average_ranks(wide(results, name))[i],
                    "low": low[i],
                    "high": high[i],
                    "best_bootstrap": _share_best(resampled, i) if each[0].n >= FEW else np.nan,
                }
            )
    return pd.DataFrame(rows, columns=list(RANKS))


def _share_best(ranks: Floats, at: int) -> float:
    """The share of rows in which a column is the lowest, or one of the lowest."""
    return float((ranks[:, at] == ranks.min(1)).mean())


def _bootstrap(table: pd.DataFrame, seed: int) -> Floats:
    """Average ranks of resampled data sets: (RESAMPLES, criteria)."""
    single = table.rank(axis=1, ascending=False).to_numpy()
    rng = np.random.Generator(np.random.PCG64(seed))
    return single[rng.integers(0, len(single), (RESAMPLES, len(single)))].mean(1)


def ranks_frame(ranked: Comparison) -> pd.DataFrame:
    """The average ranks of a comparison, and its critical difference."""
    frame = pd.DataFrame({"criterion": ranked.names, "average_rank": ranked.average_ranks})
    return frame.assign(critical_difference=ranked.critical_difference)


def tests(results: CriteriaResults) -> pd.DataFrame:
    """Friedman, Iman and Davenport, and Nemenyi's critical difference: of each repetition, of means, as printed."""
    rows = []
    for group in groups(results):
        found: list[tuple[str, Comparison | None]] = [
            (str(r), one) for r, one in enumerate(rounds(results, group.name), 1)
        ]
        found.append(("means", of_means(results, group.name)))
        table = _tables(results).get(group.name)
        found.append(("printed table", compare(table) if table is not None and table.shape[1] > 1 else None))
        for what, one in found:
            if one is not None:
                best = one.names[int(one.average_ranks.argmin())]
                rows.append((group.name, what, one.n, one.chi_square, one.chi_square_p, one.f, one.f_p, one.critical_f,
                             one.critical_difference, best))  # fmt: skip
        if table is not None:
            stated = published.CHI_SQUARE[group.measure], np.nan, published.F[group.measure]
            rows.append((group.name, "as stated", len(table), *stated, np.nan, np.nan, np.nan, ""))
    columns = ["group", "repetition", "datasets", "chi_square", "chi_square_p", "f", "f_p", "critical_f"]
    return pd.DataFrame(rows, columns=[*columns, "critical_difference", "best"])


def win_tie_losses(results: CriteriaResults) -> pd.DataFrame:
    """For every pair on how many data sets the first is better, equal, worse: printed, by means, mean of rounds."""
    rows = []
    for group in groups(results):
        table = _tables(results).get(group.name)
        means = wide(results, group.name)
        each = [wide(results, group.name, r) for r in range(1, results.experiment.repetitions + 1)]
        for first, second in _pairs(results):
            row: dict[str, object] = {"group": group.name, "first": first, "second": second}
            known = table is not None and first in table and second in table
            theirs = win_tie_loss(table[first], table[second]) if known and table is not None else (np.nan,) * 3
            single = np.mean([win_tie_loss(one[first], one[second]) for one in each], axis=0)
            ours = win_tie_loss(means[first], means[second])
            for kind, counts in (("printed", theirs), ("means", ours), ("mean", single)):
                row |= {f"{kind}_{what}": n for what, n in zip(("wins", "ties", "losses"), counts, strict=True)}
            rows.append(row)
    return pd.DataFrame(rows)


def _pairs(results: CriteriaResults) -> Iterator[tuple[str, str]]:
    return itertools.combinations(results.experiment.criteria, 2)


def pairs(results: CriteriaResults) -> pd.DataFrame:
    """For every pair and group the mean difference over data sets, and what is sure of it.

    low and high are the ends of a 95 % interval of the mean difference, from a bootstrap over data sets. better and
    worse are data sets where Nadeau and Bengio's corrected resampled t-test over all folds, two-sided and with Holm's
    adjustment for all pairs and data sets of the group, says so at 5 %.
    """
    rows = []
    for group in groups(results):
        single = _by_fold(results, group.name)
        means = wide(results, group.name)
        found = [
            (pair, name, _p_value(single[name], *pair, results)) for pair in _pairs(results) for name in means.index
        ]
        adjusted = holm(np.array([p for _, _, p in found]))
        sure = {(pair, name): p <= LEVEL for (pair, name, _), p in zip(found, adjusted, strict=True)}
        rng = np.random.Generator(np.random.PCG64(results.experiment.seed))
        chosen = rng.integers(0, len(means), (RESAMPLES, len(means)))
        for first, second in _pairs(results):
            difference = (means[first] - means[second]).to_numpy()
            low, high = np.quantile(difference[chosen].mean(1), [0.025, 0.975])
            if len(means) < FEW:
                low, high = np.nan, np.nan
            signs = [np.sign(d) * sure[(first, second), name] for name, d in zip(means.index, difference, strict=True)]
            rows.append((group.name, first, second, len(means), difference.mean(), low, high,
                         signs.count(1), signs.count(-1)))  # fmt: skip
    columns = ["group", "first", "second", "datasets", "mean_difference", "low", "high", "better", "worse"]
    return pd.DataFrame(rows, columns=columns)


def _by_fold(results: CriteriaResults, group: str) -> dict[str, pd.DataFrame]:
    """For each data set the measure of every fold, a column per criterion."""
    first = results.measured.groupby("dataset")["nominal"].transform("first")
    frame = results.measured[(results.measured["group"] == group) & (results.measured["nominal"] == first)]
    return {
        str(name): rows.pivot_table("measure", ["repetition", "fold"], "criterion", sort=False)
        for name, rows in frame.groupby("dataset", sort=False)
    }


def _p_value(folds: pd.DataFrame, first: str, second: str, results: CriteriaResults) -> float:
    """The two-sided p-value of the corrected resampled t-test."""
    p = corrected_t_test(folds[first], folds[second], results.experiment.folds).p_value
    return 2 * min(p, 1 - p)


def nominal(results: CriteriaResults) -> pd.DataFrame:
    """Text columns grouped against coded: a row per data set that was run both ways, and criterion."""
    rows = []
    measured = results.measured
    both = measured.groupby("dataset")["nominal"].transform("nunique") > 1
    for (group, dataset, criterion), frame in measured[both].groupby(["group", "dataset", "criterion"], sort=False):
        folds = frame.pivot_table("measure", ["repetition", "fold"], "nominal")
        coded, grouped = folds["coded"], folds["grouped"]
        nodes = frame.groupby("nominal")["nodes"].mean()
        rows.append((group, dataset, criterion, coded.mean(), grouped.mean(), grouped.mean() - coded.mean(),
                     _p_value(folds, "grouped", "coded", results), nodes["coded"], nodes["grouped"]))  # fmt: skip
    columns = ["group", "dataset", "criterion", "coded", "grouped", "difference", "p_corrected", "nodes_coded"]
    return pd.DataFrame(rows, columns=[*columns, "nodes_grouped"])
