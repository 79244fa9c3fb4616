"""What the HTML page says and shows of an experiment of kind trees."""

from __future__ import annotations

from io import StringIO

from splitlab.kinds.trees.comparisons import comparisons, data_sets_won, ranks
from splitlab.kinds.trees.results import TreesResults
from splitlab.kinds.trees.tables import means, replays, verdict_lines
from splitlab.report import page
from splitlab.report.layout import impurity_title
from splitlab.splitters import titles
from splitlab.text import counted
from splitlab.trees.statistics import cd_diagram

NAMED = 4  # methods or pairs that a sentence names
TERMS = (
    ("accuracy", "the share of the examples left out that a tree classifies rightly"),
    ("nodes", "inner nodes and leaves of a tree"),
    ("trial, fold", "a trial deals the examples into folds; each fold is classified by a tree grown on the others"),
)


def findings(results: TreesResults) -> list[str]:
    """For each impurity the most accurate methods and the pairs that differ; then ranks."""
    sentences = [_accuracies(results, impurity) for impurity in results.experiment.impurities]
    if len(results.experiment.splitters) > 1 and not replays(results):
        sentences += _differences(results)
    return [*sentences, *([] if results.experiment.published else verdict_lines(results))]


def _accuracies(results: TreesResults, impurity: str) -> str:
    frame, names = means(results), titles(results.experiment.splitters)
    by = frame[frame["impurity"] == impurity].groupby("splitter", sort=False)["accuracy"]
    best = by.mean().sort_values(ascending=False, kind="stable")
    listed = [f"{names[str(splitter)]} {accuracy:.2f} %" for splitter, accuracy in best.items()]
    more = f", and {counted(len(listed) - NAMED, 'method')} less" if len(listed) > NAMED else ""
    number = int(by.count().max())
    where = f"on average over {counted(number, 'data set')}" if number > 1 else f"on {results.experiment.datasets[0]}"
    return f"{impurity_title(impurity)}, accuracy {where}: {', '.join(listed[:NAMED])}{more}."


def _differences(results: TreesResults) -> list[str]:
    """The pairs of which one is better by Holm's adjusted test, with the number of data sets."""
    sentences, names = [], titles(results.experiment.splitters)
    for impurity, pairs in data_sets_won(comparisons(results)).groupby("impurity", sort=False):
        ahead = []
        for row in pairs.to_dict(orient="records"):
            pair = (row["first"], row["second"])
            for (a, b), sure in ((pair, row["holm_better"]), (pair[::-1], row["holm_worse"])):
                ahead += [(sure, f"{names[a]} than {names[b]} on {sure} of {row['datasets']}")] if sure else []
        listed = [text for _, text in sorted(ahead, key=lambda one: -one[0])]
        more = f"; and {counted(len(listed) - NAMED, 'pair')} more" if len(listed) > NAMED else ""
        found = f"more accurate: {'; '.join(listed[:NAMED])}{more}" if listed else "no method is more accurate"
        sentences.append(
            f"{impurity_title(str(impurity))}, beyond chance (t-tests over folds, adjusted for all pairs and data "
            f"sets, 5 %): {found}."
        )
    return sentences


def diagrams(results: TreesResults) -> list[page.Picture]:
    """A critical difference diagram for each impurity with enough data sets and splitters."""
    pictures = []
    for impurity in results.experiment.impurities:
        if ranked := ranks(results, impurity):
            svg, sets = StringIO(), counted(len(results.experiment.datasets), "data set")
            cd_diagram(ranked).savefig(svg, format="svg", metadata={"Date": None})
            caption = (
                f"Average ranks over {sets}, {impurity}: 1 is the most accurate. "
                f"Splitters under a common bar do not differ by Nemenyi's test at 5 %."
            )
            pictures.append(page.Picture(svg.getvalue(), caption, f"Critical difference diagram, {impurity}"))
    return pictures
