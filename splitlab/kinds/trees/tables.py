"""The tables of an experiment of kind trees: accuracies beside the authors', tests between splitters, times."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from splitlab.files import as_csv, write_atomically
from splitlab.kinds.trees import published as published
from splitlab.kinds.trees.comparisons import Counts, better_worse, comparisons, data_sets_won, groups, ranks, survival
from splitlab.kinds.trees.config import TABLE_4
from splitlab.kinds.trees.results import TreesResults
from splitlab.published.program.protocol import SEEDS
from splitlab.report.layout import NONE, Entry, Table, Verdict, impurity_title
from splitlab.splitters import titles
from splitlab.text import counted
from splitlab.trees.statistics import Comparison, cd_diagram

# How the published trees were grown.
PROTOCOL = {"arithmetic": "published", "max_depth": 16, "max_p": 0.1, "min_second": 15, "folds": 3}
MARGIN = 0.05  # percent: mean accuracies that differ by less are those of the same experiment
VERDICTS = ("survives", "not shown", "reversed", "even")


def text_of(results: TreesResults) -> str:
    """All tables as text."""
    return "\n".join([*(table.as_text() for table in tables_of(results)), *verdict_lines(results)])


def write_tables(results: TreesResults, folder: Path) -> None:
    """The text, csv files of the means and of all tests, and critical difference diagrams where there is enough."""
    write_atomically(folder / "trees.txt", text_of(results) + "\n")
    write_atomically(folder / "verdict.txt", "\n".join(verdict_lines(results) or [verdict_of(results).text]) + "\n")
    frames = {
        "datasets": datasets(results),
        "means": means(results),
        "tests": comparisons(results),
        "survival": surviving(results),
    }
    for name, frame in frames.items():
        if len(frame):
            write_atomically(folder / f"{name}.csv", as_csv(frame))
    for impurity in results.experiment.impurities:
        if ranked := ranks(results, impurity):
            (folder / "figures").mkdir(exist_ok=True)
            for ending in ("png", "svg"):
                path = folder / "figures" / f"ranks_{impurity}.{ending}"
                cd_diagram(ranked).savefig(path, dpi=150, metadata={"Date": None} if ending == "svg" else None)


def tables_of(results: TreesResults) -> list[Table]:
    """Accuracies, for a replay Table 4 thrice, tests between the splitters, what they leave of Table 4, times."""
    found = [accuracy_table(results, impurity) for impurity in results.experiment.impurities]
    found += [counts_table(results)] if replays(results) else []
    if len(results.experiment.splitters) > 1:
        found.append(comparisons_table(results))
    if len(frame := surviving(results)):
        found.append(survival_table(frame))
    found.append(datasets_table(results))
    return found + ([times_table(results.tree_times)] if results.tree_times is not None else [])


def replays(results: TreesResults) -> bool:
    """Whether the published program is followed, trial by trial, so that the authors' numbers are comparable."""
    experiment = results.experiment
    seeds = experiment.seeds[: experiment.trials]
    as_they_did = experiment.published == TABLE_4 and experiment.protocol() == PROTOCOL
    return as_they_did and seeds == SEEDS[: experiment.trials]


def means(results: TreesResults) -> pd.DataFrame:
    """Mean accuracy and number of nodes over trials; for a replay the authors' over the same, and how many are equal.

    Where the authors' single trials are not with the data, ``equal`` is missing, and their means are there only beside
    as many trials as they have.
    """
    keys = ["impurity", "dataset", "splitter"]
    frame = results.trials().groupby(keys, sort=False)[["accuracy", "nodes"]].mean().reset_index()
    frame.insert(3, "trials", results.experiment.trials)
    if not replays(results):
        return frame
    single = results.authors
    if single is not None:
        both = published.beside_authors(results, single).groupby(keys)
        authors = both.agg(
            authors_accuracy=("accuracy_authors", "mean"),
            authors_nodes=("nodes_authors", "mean"),
            equal=("equal", "sum"),
        )
        return frame.merge(authors.reset_index(), "left", keys)
    authors = published.means().rename(columns={"accuracy": "authors_accuracy", "nodes": "authors_nodes"})
    frame = frame.assign(title=frame["dataset"].map(published.titles(results)))
    columns = ["impurity", "title", "splitter", "trials", "authors_accuracy", "authors_nodes"]
    return frame.merge(authors[columns], "left", columns[:4]).drop(columns="title").assign(equal=np.nan)


def accuracy_table(results: TreesResults, impurity: str) -> Table:
    """Mean accuracy over trials, with the authors' beside it where there are any, and the mean number of nodes."""
    frame, splitters = means(results), results.experiment.splitters
    here = frame[frame["impurity"] == impurity].to_dict(orient="records")
    found = {(row["dataset"], row["splitter"]): row for row in here}
    heads, rows = ["data set"], []
    for title in titles(splitters).values():
        heads += [title, *(["authors"] if replays(results) else []), "nodes"]
    for name in results.experiment.datasets:
        row = [Entry(name)]
        for splitter in splitters:
            numbers = found.get((name, splitter))
            if numbers is None:
                row += [Entry(NONE)] * (len(heads) // len(splitters))
                continue
            row.append(Entry(f"{numbers['accuracy']:.2f}"))
            if replays(results):
                authors = numbers["authors_accuracy"]
                row.append(Entry(NONE if pd.isna(authors) else f"{authors:.2f}"))
            row.append(Entry(f"{numbers['nodes']:.0f}"))
        rows.append(row)
    trials = counted(results.experiment.trials, "trial")
    title = f"Mean accuracy in percent over {trials}, and mean number of nodes: {impurity_title(impurity)}"
    return Table(title, heads, rows, 1)


def within(results: TreesResults) -> bool | None:
    """Whether all mean accuracies are within MARGIN of the authors'; None where they have none."""
    frame = means(results)
    away = (frame["accuracy"] - frame["authors_accuracy"]).abs().dropna()
    return bool((away <= MARGIN).all()) if len(away) else None


def counts_table(results: TreesResults) -> Table:
    """Table 4 as printed, as recomputed from the authors' trials, and ours."""
    authors = results.authors
    note = f"published: as printed, eleven data sets; ours: {counted(len(results.experiment.datasets), 'data set')}"
    stored = "the authors' trials, as stored with this package" if authors is None else "the authors' trials"
    columns = {
        "published": _printed("published"),
        "recomputed": _printed("recomputed") if authors is None else better_worse(authors, "title"),
        "ours": better_worse(results.trials(), "dataset"),
    }
    names = titles(name for _, *pair in columns["published"] for name in pair)
    rows = [
        [
            *map(Entry, (impurity, names[method], names[competitor])),
            *(_pair(counts.get((impurity, method, competitor))) for counts in columns.values()),
        ]
        for impurity, method, competitor in columns["published"]
        if impurity in results.experiment.impurities
    ]
    title = (
        "Table 4: on how many data sets a method is better / worse than a competitor (one-sided paired t-test, 0.05)"
    )
    return Table(title, ["impurity", "method", "competitor", *columns], rows, 3, [f"{note}; recomputed: {stored}"])


def _pair(counts: tuple[int, int] | None) -> Entry:
    return Entry(NONE if counts is None else f"{counts[0]} / {counts[1]}")


def _printed(which: str) -> Counts:
    frame = published.counts()
    values = zip(frame[f"{which}_better"], frame[f"{which}_worse"], strict=True)
    keys = frame[["impurity", "method", "rival"]].itertuples(index=False, name=None)
    return {key: (int(a), int(b)) for key, (a, b) in zip(keys, values, strict=True)}


def verdict_lines(results: TreesResults) -> list[str]:
    """What came out, in a few lines: trials equal to the authors', or what survives of Table 4; and ranks."""
    if replays(results):
        return authors_lines(results)
    lines = [survival_line(frame)] if len(frame := surviving(results)) else []
    for impurity in results.experiment.impurities:
        if ranked := ranks(results, impurity):
            lines.append(ranks_line(impurity, ranked))
    return lines


def verdict_of(results: TreesResults) -> Verdict:
    """Whether mean accuracies are the authors', where the published program is followed and they have some."""
    if results.experiment.published is None:
        return Verdict(False, True, "not compared: the config names no published numbers")
    text = "\n".join(verdict_lines(results)) or "not compared"
    if not replays(results) or within(results) is None:
        return Verdict(False, True, text)
    differing = tuple(
        f"{row['dataset']} {row['impurity']} {row['splitter']}: ours {row['accuracy']:.2f}, published "
        f"{row['authors_accuracy']:.2f}"
        for row in means(results).to_dict(orient="records")
        if abs(row["accuracy"] - row["authors_accuracy"]) > MARGIN
    )
    return Verdict(True, not differing, text, differing)


def authors_lines(results: TreesResults) -> list[str]:
    """A line per data set with the number of equal trials, and where some differ, how many of each splitter do."""
    authors = results.authors
    if authors is None:
        return [f"The authors' single trials ({published.TRIALS}) are not with the data: no trial can be compared."]
    lines, titled = [], titles(results.experiment.splitters)
    for name, group in published.beside_authors(results, authors).groupby("dataset", sort=False):
        lines.append(f"{name}: {int(group['equal'].sum())} of {len(group)} trials equal")
        for (impurity, splitter), some in groups(group[~group["equal"]], ["impurity", "splitter"]):
            away = (some["accuracy"] - some["accuracy_authors"]).abs().max()
            lines.append(
                f"    {impurity}, {titled[splitter]}: {len(some)} differ, trials {_listed(some['trial'])}; accuracy "
                f"by {away:.2f} at most"
            )
    frame = means(results)
    away = (frame["accuracy"] - frame["authors_accuracy"]).abs()
    if away.notna().any():
        row = frame.to_dict(orient="records")[int(away.argmax())]
        where = f"{row['dataset']}, {row['impurity']}, {titled[row['splitter']]}"
        lines.append(f"mean accuracies differ by {away.max():.3f} at most ({where})")
    return lines


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def comparisons_table(results: TreesResults) -> Table:
    """For every pair of splitters on how many data sets the first is better / worse, by three tests."""
    rows, names = [], titles(results.experiment.splitters)
    for row in data_sets_won(comparisons(results)).to_dict(orient="records"):
        entries = [row["impurity"], names[row["first"]], names[row["second"]]]
        entries += [f"{row[f'{test}_better']} / {row[f'{test}_worse']}" for test in ("plain", "corrected", "holm")]
        rows.append([Entry(text) for text in (*entries, f"{row['mean_difference']:.2f}")])
    rule = ", the paper's rule" if results.experiment.published else ""
    notes = [
        f"plain: one-sided paired t-test over the trials, 0.05{rule}, which takes trials on the same "
        "examples for independent; corrected: over the folds, with Nadeau and Bengio's variance; Holm: that, adjusted "
        "for all pairs and data sets of an impurity."
    ]
    heads = ["impurity", "first", "second", "plain", "corrected", "Holm", "mean difference"]
    return Table("On how many data sets the first is better / worse, by three tests", heads, rows, 3, notes)


def surviving(results: TreesResults) -> pd.DataFrame:
    """See `survival`; empty unless the published numbers are asked for, and where the published program is followed,
    which did not run the splitters as defined."""
    experiment = results.experiment
    if experiment.published != TABLE_4 or experiment.arithmetic == "published" or len(results.experiment.splitters) < 2:
        return pd.DataFrame()
    return survival(comparisons(results))


def survival_table(frame: pd.DataFrame) -> Table:
    """What becomes of Table 4 with the splitters as defined."""
    rows, names = [], titles([*frame["method"], *frame["rival"]])
    for row in frame.to_dict(orient="records"):
        entries = [row["impurity"], names[row["method"]], names[row["rival"]]]
        entries += [f"{row[f'{of}_better']} / {row[f'{of}_worse']}" for of in ("published", "plain", "holm")]
        rows.append([Entry(text) for text in (*entries, f"{row['mean_difference']:+.2f}", row["verdict"])])
    heads = ["impurity", "method", "competitor", "paper", "plain", "Holm", "mean difference", "who is ahead"]
    notes = [
        f"Data sets on which the method is better / worse: as printed, of eleven; ours, of "
        f"{int(frame['datasets'].max())}. survives: with Holm's adjustment the same one is ahead; not shown: neither "
        f"is; even: neither was in the paper."
    ]
    return Table("What survives of Table 4 with the splitters as defined", heads, rows, 3, notes)


def survival_line(frame: pd.DataFrame) -> str:
    """How many pairs have which verdict, and which."""
    parts, names = [], titles([*frame["method"], *frame["rival"]])
    for verdict in VERDICTS:
        some = frame[frame["verdict"] == verdict]
        listed = "; ".join(
            f"{names[method]} against {names[competitor]} ({impurity})"
            for impurity, method, competitor in some[["impurity", "method", "rival"]].itertuples(index=False, name=None)
        )
        parts += [f"{verdict}: {len(some)} ({listed})"] if len(some) else []
    return f"Who is ahead in Table 4, with the splitters as defined and Holm's adjustment: {'. '.join(parts)}."


def ranks_line(impurity: str, ranked: Comparison) -> str:
    """The ranks and what they say."""
    listed = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(ranked.names, ranked.average_ranks, strict=True))
    return (
        f"{impurity}: average ranks {listed}; Friedman's chi-square {ranked.chi_square:.2f} (p = "
        f"{ranked.chi_square_p:.3f}); critical difference {ranked.critical_difference:.2f}"
    )


def datasets(results: TreesResults) -> pd.DataFrame:
    """A row per data set: rows, those used, with missing values and without a class, classes, columns of each type."""
    rows = [
        {
            "dataset": one.cell.name,
            "title": one.title,
            "rows": one.rows,
            "used": one.rows_used,
            "incomplete": one.incomplete,
            "without_class": one.without_class,
            "classes": one.cell.k,
            "numeric": one.number("numeric"),
            "nominal": one.number("nominal"),
        }
        for one in results.sets
    ]
    return pd.DataFrame(rows)


def datasets_table(results: TreesResults) -> Table:
    """What trees were grown on."""
    heads = ["data set", "title", "rows", "used", "with missing values", "without class", "classes"]
    rows = [
        [Entry(text if isinstance(text, str) else f"{text:,}") for text in row]
        for row in datasets(results).itertuples(index=False, name=None)
    ]
    kept = "kept" if results.experiment.keeps_missing else "left out"
    notes = [f"Rows with missing values are {kept}, those without a class are left out."]
    inferred = [
        f"{one.cell.name}: {', '.join(f'{c.name} {c.type}' for c in one.columns if c.inferred)}"
        for one in results.sets
        if any(column.inferred for column in one.columns)
    ]
    if inferred:
        notes.append(f"Types that the catalogue does not say, from the data: {'; '.join(inferred)}.")
    return Table("Data sets", [*heads, "numeric", "nominal"], rows, 2, notes)


def times_table(times: pd.DataFrame) -> Table:
    """Mean time of one tree."""
    splitters = list(dict.fromkeys(times["splitter"]))
    rows = []
    for (dataset, impurity), group in groups(times, ["dataset", "impurity"]):
        seconds = dict(zip(group["splitter"], group["mean_seconds"], strict=True))
        shown = [f"{1e3 * seconds[s]:.3g}" if s in seconds else NONE for s in splitters]
        rows.append([Entry(text) for text in (dataset, impurity, *shown)])
    notes = [f"Processor time in one process, the mean of {times['trees'].max()} trees after one that does not count."]
    heads = ["data set", "impurity", *titles(splitters).values()]
    return Table("Milliseconds to grow a tree", heads, rows, 2, notes)
