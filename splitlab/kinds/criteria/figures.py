"""Critical difference diagrams of a study of criteria."""

from __future__ import annotations

from splitlab.kinds.criteria import summary
from splitlab.kinds.criteria.published import title
from splitlab.kinds.criteria.results import CriteriaResults
from splitlab.report.style import Plot
from splitlab.trees.statistics import cd_diagram, compare


def diagrams(results: CriteriaResults) -> list[Plot]:
    """For each group the ranks of means over all repetitions, and those of the printed table if it is compared."""
    plots = []
    for group in summary.groups(results):
        shown = {"": (summary.wide(results, group.name), f"means of {results.experiment.repetitions} repetitions")}
        if (theirs := summary.printed(results, group)) is not None:
            shown["_printed"] = (theirs, "the printed values")
        for ending, (table, what) in shown.items():
            if min(table.shape) < 2:
                continue
            ranked = compare(table, [title(str(name)) for name in table])
            data = summary.ranks_frame(ranked)
            caption = (
                f"{group.name}: average ranks over {len(table)} data sets, of {what}; 1 is best. Criteria under a "
                f"common bar do not differ by Nemenyi's test at 5 %."
            )
            plots.append(Plot(f"ranks_{group.name}{ending}", cd_diagram(ranked), data, caption))
    return plots
