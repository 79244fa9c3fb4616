"""The figures of the HTML page about an experiment of kind trees."""

from __future__ import annotations

from io import StringIO

from splitlab.kinds.trees.comparisons import ranks
from splitlab.kinds.trees.results import TreesResults
from splitlab.report import page
from splitlab.text import counted
from splitlab.trees.statistics import cd_diagram


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
