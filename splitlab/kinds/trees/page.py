"""The part of the HTML page about an experiment of kind trees."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import Any

from splitlab.kinds.trees.comparisons import ranks
from splitlab.kinds.trees.results import TreesResults
from splitlab.kinds.trees.tables import replays, tables_of, verdict_lines, within
from splitlab.report import page
from splitlab.trees.statistics import cd_diagram


def section(results: TreesResults, manifest: Mapping[str, Any], *notes: str, title: str) -> page.Section:
    """Verdict, tables, critical difference diagrams, config and provenance."""
    good = within(results) if replays(results) else None
    lines = verdict_lines(results)
    verdicts = [page.Verdict("; ".join(line.strip() for line in lines), good)] if lines else []
    blocks: list[page.Block] = [*notes, *verdicts, *tables_of(results), *diagrams(results)]
    blocks.append(page.Source("Config", results.experiment.to_yaml()))
    return page.Section(title, (*blocks, *([page.facts_of_manifest(manifest)] if manifest else [])))


def diagrams(results: TreesResults) -> list[page.Picture]:
    """A critical difference diagram for each impurity with enough data sets and splitters."""
    pictures = []
    for impurity in results.experiment.impurities:
        if ranked := ranks(results, impurity):
            svg = StringIO()
            cd_diagram(ranked).savefig(svg, format="svg", metadata={"Date": None})
            caption = (
                f"Average ranks over {len(results.experiment.datasets)} data sets, {impurity}: 1 is the most accurate. "
                f"Splitters under a common bar do not differ by Nemenyi's test at 5 %."
            )
            pictures.append(page.Picture(svg.getvalue(), caption, f"Critical difference diagram, {impurity}"))
    return pictures
