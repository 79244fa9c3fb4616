"""Relative excess pooled over cells, its maxima beside the published ones, and whether other max_count behave alike.

The paper gives one number per method and impurity: the largest excess of its experiments. Those are the maxima of
its run with max_count 2, whose tables can be drawn again (``splitlab.published.stream``).
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd

from splitlab.kinds.splits.compare import LEVEL as HOLM_LEVEL
from splitlab.kinds.splits.compare import fisher
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.summary import QUANTILES
from splitlab.published import maxima
from splitlab.report.layout import Entry, Table, round_half_up
from splitlab.splitters import titles
from splitlab.statistics import holm_rejected, quantile

PUBLISHED_MAX_COUNT = 2  # of the run whose maxima the paper prints


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


def maxima_frame(pooled: pd.DataFrame) -> pd.DataFrame:
    """The published maxima of the relative excess beside those of an experiment.

    Parameters
    ----------
    pooled : pandas.DataFrame
        As `pooled_excess` gives it.

    Returns
    -------
    pandas.DataFrame
        One row per impurity, splitter and max_count: published (as printed, percent), ours (percent), the cell (n, k)
        and the run where it happened, and whether ours is printed alike.
    """
    rows = []
    for (impurity, splitter), printed in maxima().items():
        here = pooled[(pooled["impurity"] == impurity) & (pooled["splitter"] == splitter)]
        decimals = max(0, -int(Decimal(printed).as_tuple().exponent))
        for row in here.to_dict(orient="records"):
            rows.append(
                {
                    **{name: row[name] for name in ("impurity", "splitter", "max_count")},
                    "published": printed,
                    "ours": row["maximum"],
                    **{name: row[name] for name in ("n", "k", "maximum_run")},
                    "alike": Decimal(round_half_up(row["maximum"], decimals)) == Decimal(printed),
                }
            )
    return pd.DataFrame(rows)


def maxima_remark(frame: pd.DataFrame) -> str:
    """Which run the published maxima are of, and how far the maxima of other tables are from them.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `maxima_frame` gives it.
    """
    same = frame[frame["max_count"] == PUBLISHED_MAX_COUNT]
    ratios = same["ours"] / same["published"].astype(float)
    others = frame[frame["max_count"] != PUBLISHED_MAX_COUNT]
    reached = int((others["ours"] >= others["published"].astype(float)).sum())
    return (
        f"The published maxima are those of the authors' tables with max_count {PUBLISHED_MAX_COUNT} alone: `make "
        f"replay` draws these tables again and gets every one. A maximum is an extreme value: other tables with "
        f"max_count {PUBLISHED_MAX_COUNT} give {ratios.min():.2f} to {ratios.max():.2f} times the published ones, "
        f"and tables with other max_count reach {reached} of {len(others)}."
    )


def pooled_table(pooled: pd.DataFrame) -> Table:
    """The pooled excess, for readers."""
    heads = ["impurity", "max_count", "method", "mean", "median", "95 %", "99 %", "maximum", "where"]
    rows, names = [], titles(pooled["splitter"])
    for row in pooled.to_dict(orient="records"):
        mean = f"{row['mean']:.3f} ± {row['standard_error']:.3f}"
        numbers = [f"{row[q]:.3f}" for q in ("median", "p95", "p99", "maximum")]
        where = f"n = {row['n']}, k = {row['k']}, run {row['maximum_run']}"
        texts = [row["impurity"], str(row["max_count"]), names[row["splitter"]], mean, *numbers, where]
        rows.append([Entry(t) for t in texts])
    size = f"{pooled['tables'].max():,}"
    title = f"Relative excess over the best other method in percent, all cells together, up to {size} tables a row"
    note = "Mean with standard error. `splitlab replay` shows the table of a run."
    return Table(title, heads, rows, 2, [note])


def maxima_table(frame: pd.DataFrame) -> Table:
    """The published maxima beside ours, for readers; where ours happened."""
    heads = ["impurity", "method", "max_count", "paper", "ours", "where"]
    rows, names = [], titles(frame["splitter"])
    for row in frame.to_dict(orient="records"):
        where = f"n = {row['n']}, k = {row['k']}, run {row['maximum_run']}"
        texts = [row["impurity"], names[row["splitter"]], str(row["max_count"]), row["published"]]
        rows.append([Entry(t) for t in (*texts, f"{row['ours']:.2f}", where)])
    return Table("Maximum of the relative excess in percent: the paper's and ours", heads, rows, 1)


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
        f"{usual} (Fisher, Holm at 1 %); the largest difference is {titles(pairs['splitter'])[worst['splitter']]}, "
        f"{worst['impurity']}, n = {worst['n']}, k = {worst['k']}: {worst['percent_other']:.1f} against "
        f"{worst['percent']:.1f}."
    )
