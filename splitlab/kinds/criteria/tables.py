"""The tables of a study of criteria, and its verdict in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from splitlab.kinds.criteria import summary
from splitlab.kinds.criteria.published import title
from splitlab.kinds.criteria.results import CriteriaResults
from splitlab.kinds.criteria.statements import statements
from splitlab.report.layout import NONE, Entry, Sheet, Table, Verdict

LOWEST, HIGHEST = 0.7, 1.4  # root mean squares of z that one more seed gives, and all sets in the group agreeing
ENOUGH = 10  # repetitions, for a standard deviation to judge by
MEASURES = {"accuracy": "accuracy in percent", "auc": "area under the ROC curve, times 100"}


def sheets(results: CriteriaResults) -> list[Sheet]:
    """Every csv file with its tables."""
    frames = frames_of(results)
    found = [
        Sheet("measures", frames["measures"], tuple(_measure_tables(results)), shown=True),
        Sheet("ranks", frames["ranks"], (_ranks_table(frames["ranks"]),) if len(frames["ranks"]) else (), shown=True),
        Sheet("tests", frames["tests"], (_tests_table(results),) if len(frames["tests"]) else (), shown=True),
        Sheet("win_tie_loss", frames["win_tie_loss"], (_win_tie_loss_table(results),)),
        Sheet("pairs", frames["pairs"], (_pairs_table(results),)),
    ]
    if len(frames["statements"]):
        found.append(Sheet("statements", frames["statements"], (_statements_table(frames["statements"]),), shown=True))
    if len(frames["nominal"]):
        found.append(Sheet("nominal", frames["nominal"], (_nominal_table(results),), shown=True))
    if results.tree_times is not None:
        found.append(Sheet("timing", results.tree_times, (_times_table(results.tree_times),)))
    return [*found, Sheet("folds", results.folds)]


def frames_of(results: CriteriaResults) -> dict[str, pd.DataFrame]:
    """All that follows from the trees, by the names of the csv files; computed once."""
    if not results.derived:
        results.derived |= {
            "measures": summary.measures(results),
            "ranks": summary.ranks(results),
            "tests": summary.tests(results),
            "win_tie_loss": summary.win_tie_losses(results),
            "pairs": summary.pairs(results),
            "nominal": summary.nominal(results),
            "statements": statements(results),
        }
    return results.derived


def _number(value: float, decimals: int = 2) -> str:
    return NONE if np.isnan(value) else f"{value:.{decimals}f}"


def _interval(low: float, high: float, sign: str = "-") -> str:
    return NONE if np.isnan(low) else f"{low:{sign}.2f} to {high:{sign}.2f}"


def _percent(share: float) -> str:
    return NONE if np.isnan(share) else f"{100 * share:.0f} %"


def _measure_tables(results: CriteriaResults) -> Iterator[Table]:
    """A row per data set, a column per criterion: the mean, and in brackets what is printed."""
    criteria = results.experiment.criteria
    first = results.compared.groupby("dataset")["nominal"].first()
    frame = frames_of(results)["measures"]
    frame = frame[frame["nominal"] == frame["dataset"].map(first)]
    theirs = dict(zip(zip(frame["dataset"], frame["criterion"], strict=True), frame["printed"], strict=True))
    for group in summary.groups(results):
        table, compared = summary.wide(results, group.name), results.experiment.published is not None
        rows = []
        for name, values in table.iterrows():
            row = [Entry(str(name))]
            for criterion in criteria:
                text = f"{values[criterion]:.2f}"
                text += f" ({_number(theirs[str(name), criterion])})" if compared else ""
                row.append(Entry(text, bool(values[criterion] == values.max())))
            rows.append(row)
        what = f"{group.name}: {MEASURES[group.measure]}, mean of {results.experiment.repetitions} repetitions"
        notes = ["In brackets: as printed."] if compared else []
        best = "the highest mean of the row"
        yield Table(what, ["data set", *map(title, criteria)], rows, 1, notes, best)


def _ranks_table(frame: pd.DataFrame) -> Table:
    heads = ["group", "criterion", "printed", "mean", "sd", "best in", "of means", "95 % interval", "best"]
    rows = [
        [Entry(t) for t in (row.group, title(row.criterion), _number(row.printed_rank),
                            _number(row.mean_rank), _number(row.sd), f"{100 * row.best:.0f} %",
                            _number(row.rank_of_means),
                            _interval(row.low, row.high), _percent(row.best_bootstrap))]
        for row in summary.records(frame)
    ]  # fmt: skip
    notes = [
        "printed: ranks of the printed table. mean, sd: over repetitions; best in: the share of them with the lowest.",
        "of means: ranks of the means over all repetitions; its interval, and how often it is best, are from a "
        "bootstrap over data sets.",
    ]
    return Table("Average ranks over data sets, 1 is best", heads, rows, 2, notes)


def _tests_table(results: CriteriaResults) -> Table:
    """The tests of single repetitions as mean and standard deviation, those of means and of what is printed."""
    frame, rows = frames_of(results)["tests"], []
    for group, here in frame.groupby("group", sort=False):
        single = here[here["repetition"].str.fullmatch("[0-9]+")]
        spread = [f"{single[c].mean():.2f} ± {single[c].std():.2f}" if len(single) > 1 else _number(single[c].mean())
                  for c in ("chi_square", "f")]  # fmt: skip
        rejected = f"{(single['f'] > single['critical_f']).sum()} of {len(single)}"
        difference = _number(single["critical_difference"].iloc[0])
        rows.append([str(group), "repetitions", str(single["datasets"].iloc[0]), *spread, rejected, difference])
        for row in summary.records(here[~here["repetition"].str.fullmatch("[0-9]+")]):
            p = "" if np.isnan(row.f_p) else f"{row.f_p:.2g}"
            numbers = (_number(row.chi_square), _number(row.f), p or NONE, _number(row.critical_difference))
            rows.append([str(group), str(row.repetition), str(row.datasets), *numbers])
    notes = [
        "repetitions: mean ± standard deviation, and in how many of them F rejects at 5 % that all are alike; "
        "elsewhere p is that of F. CD: Nemenyi's critical difference at 5 %."
    ]
    heads = ["group", "of", "data sets", "chi-square", "F", "p", "CD"]
    return Table("Friedman, Iman and Davenport, Nemenyi", heads, [[Entry(t) for t in row] for row in rows], 2, notes)


def _win_tie_loss_table(results: CriteriaResults) -> Table:
    rows = []
    for row in frames_of(results)["win_tie_loss"].to_dict(orient="records"):
        counts = []
        for kind, decimals in (("printed", 0), ("means", 0), ("mean", 1)):
            numbers = [row[f"{kind}_{what}"] for what in ("wins", "ties", "losses")]
            counts.append(NONE if np.isnan(numbers[0]) else "/".join(f"{n:.{decimals}f}" for n in numbers))
        rows.append([Entry(t) for t in (row["group"], title(row["first"]), title(row["second"]), *counts)])
    heads = ["group", "first", "second", "printed", "by means", "mean of repetitions"]
    return Table("On how many data sets the first is better / equal / worse", heads, rows, 3)


def _pairs_table(results: CriteriaResults) -> Table:
    rows = [
        [Entry(t) for t in (row.group, title(row.first), title(row.second), f"{row.mean_difference:+.2f}",
                            _interval(row.low, row.high, "+"), str(row.better), str(row.worse))]
        for row in summary.records(frames_of(results)["pairs"])
    ]  # fmt: skip
    notes = [
        "Percentage points, mean over data sets, with a 95 % interval from a bootstrap over data sets. better, worse: "
        "data sets where the corrected resampled t-test (Nadeau and Bengio), with Holm's adjustment, says so at 5 %."
    ]
    heads = ["group", "first", "second", "difference", "95 % interval", "better", "worse"]
    return Table("Differences between criteria, and what is sure of them", heads, rows, 3, notes)


def _statements_table(frame: pd.DataFrame) -> Table:
    rows = []
    for row in summary.records(frame):
        table = NONE if row.printed_table is None or pd.isna(row.printed_table) else _yes(row.printed_table)
        held = f"{row.holds} of {row.repetitions}"
        rows.append([Entry(t) for t in (row.group, row.statement, _yes(row.claimed), table, held)])
    heads = ["group", "statement", "paper", "printed table", "here"]
    notes = [
        "paper: whether it says so. printed table: whether it follows from the printed values by the same test. "
        "here: in how many repetitions it holds."
    ]
    return Table("Statements of the paper", heads, rows, 2, notes)


def _yes(value: object) -> str:
    return "yes" if value else "no"


def _nominal_table(results: CriteriaResults) -> Table:
    rows = [
        [Entry(t) for t in (row.dataset, title(row.criterion), f"{row.coded:.2f}", f"{row.grouped:.2f}",
                            f"{row.difference:+.2f}", f"{row.p_corrected:.2f}", f"{row.nodes_coded:.0f}",
                            f"{row.nodes_grouped:.0f}")]
        for row in summary.records(frames_of(results)["nominal"])
    ]  # fmt: skip
    heads = ["data set", "criterion", "coded", "grouped", "difference", "p", "nodes coded", "nodes grouped"]
    notes = [f"Grouped by {results.experiment.splitter}. p: corrected resampled t-test, two-sided, not adjusted."]
    return Table("Text columns as numbers, and with their values grouped", heads, rows, 2, notes)


def _times_table(times: pd.DataFrame) -> Table:
    """Mean milliseconds of a tree, the quickest criterion of a data set marked."""
    wide = times.pivot_table("mean_seconds", ["dataset", "nominal"], "criterion", sort=False)
    rows = [
        [*map(Entry, map(str, key)), *(Entry(f"{1e3 * t:.3g}", bool(t == row.min())) for t in row)]
        for key, row in zip(wide.index.to_flat_index(), wide.to_numpy(), strict=True)
    ]
    notes = [f"Processor time in one process, the mean of {times['trees'].max()} trees after one that does not count."]
    heads = ["data set", "text columns", *map(title, map(str, wide))]
    return Table("Milliseconds to grow a tree", heads, rows, 2, notes, "the quickest of the row")


def findings(results: CriteriaResults) -> list[str]:
    """What came out, in sentences."""
    lines = statement_lines(results)
    for name, here in frames_of(results)["ranks"].groupby("group", sort=False):
        ordered = here.sort_values("rank_of_means")
        first = ordered.iloc[0]
        lines.append(
            f"{name}, {first['datasets']} data sets: {title(first['criterion'])} has the best average rank of means, "
            f"{first['rank_of_means']:.2f}, and is best in {100 * first['best']:.0f} % of the repetitions."
        )
        if not np.isnan(first["low"]):
            among = ordered[ordered["low"] <= first["high"]]["criterion"].iloc[1:]
            others = ", ".join(map(title, among)) or "that of no other one"
            interval = _interval(first["low"], first["high"])
            lines.append(f"{name}: its 95 % interval, {interval}, overlaps with {others}.")
    pairs = frames_of(results)["pairs"]
    sure = pairs[(pairs["low"] > 0) | (pairs["high"] < 0)]
    lines.append(
        f"Of {len(pairs)} mean differences between two criteria {len(sure)} have a 95 % interval that excludes "
        f"0. On single data sets {int(pairs['better'].sum() + pairs['worse'].sum())} of {int(pairs['datasets'].sum())} "
        f"comparisons are significant (corrected resampled t-test, Holm)."
    )
    if len(nominal := frames_of(results)["nominal"]):
        below = int((nominal["p_corrected"] <= 0.05).sum())
        lines.append(
            f"Grouping the values of text columns in place of codes changes the measure by "
            f"{nominal['difference'].mean():+.2f} points on average ({nominal['difference'].min():+.2f} to "
            f"{nominal['difference'].max():+.2f}); p is 0.05 or less for {below} of {len(nominal)} criteria."
        )
    return lines


def verdict(results: CriteriaResults) -> Verdict:
    """Whether printed values are as far from our means as one more repetition would be."""
    frame = frames_of(results)["measures"]
    found = summary.levels(frame)
    if results.experiment.published is None or not len(found):
        return Verdict(False, True, "not compared with printed values")
    repetitions = results.experiment.repetitions
    judged = repetitions >= ENOUGH
    agrees = bool(found["rms"].between(LOWEST, HIGHEST).all())
    lines = []
    for row in summary.records(found):
        lines.append(
            f"{row.group}: root mean square of z {row.rms:.2f} over {row.values} printed values; they are "
            f"{row.mean_difference:+.2f} from ours on average, {row.mean_absolute:.2f} in absolute value"
        )
    rule = f"{LOWEST} to {HIGHEST} is what one more repetition would give"
    if judged:
        head = f"levels {'agree' if agrees else 'differ'}: {rule}"
    else:
        head = f"levels are not judged: {repetitions} repetitions, {ENOUGH} are needed ({rule})"
    outside = [
        f"{row.group}, rms z {row.rms:.2f}" for row in summary.records(found) if not LOWEST <= row.rms <= HIGHEST
    ]
    return Verdict(judged, agrees or not judged, "\n".join([head, *lines]), tuple(outside) if judged else ())


def statement_lines(results: CriteriaResults) -> list[str]:
    """The statements of the paper, but for single ticks, and in how many repetitions each of them holds."""
    return [
        f"{row.group}: {row.statement}: in {row.holds} of {row.repetitions} repetitions"
        for row in summary.records(frames_of(results)["statements"])
        if not row.statement.startswith("tick: ")
    ]
