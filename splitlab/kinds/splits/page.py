"""The part of the HTML page about an experiment of kind splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from splitlab.kinds.random_tables.config import CELL
from splitlab.kinds.splits.compare import Entry as Compared
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.tables import excess_tables, failure_tables, paired_tables, win_tables
from splitlab.report import page
from splitlab.report.layout import Entry, Table, Verdict, round_half_up
from splitlab.report.style import Plot


def experiment_section(
    results: Results,
    verdict: Verdict,
    plots: Sequence[Plot],
    manifest: Mapping[str, Any],
    notes: Sequence[str] = (),
    *,
    title: str | None = None,
) -> page.Section:
    """The section of an experiment of kind splits.

    Parameters
    ----------
    results : Results
        What ``splitlab.run`` or ``load_results`` returned.
    verdict : splitlab.report.layout.Verdict
        What ``judge`` says of them.
    plots : sequence of Plot
        The figures, in order.
    manifest : mapping
        The content of ``manifest.json``; empty if there is none.
    notes : sequence of str
        Paragraphs under the win tables.
    title : str, optional
        The heading; the experiment's name by default.

    Returns
    -------
    Section
        Win tables, notes, verdict, figures, paired and excess tables, config and provenance.
    """
    judged = page.Verdict(verdict.text, verdict.agrees if verdict.judged else None)
    blocks: list[page.Block] = [*win_tables(results), *failure_tables(results), *notes, judged]
    if verdict.differing:
        blocks.append(_differing(verdict.differing))
    blocks += [*map(page.picture_of, plots), *paired_tables(results), *excess_tables(results)]
    blocks.append(page.Source("Config", results.experiment.to_yaml()))
    if manifest:
        blocks.append(page.facts_of_manifest(manifest))
    return page.Section(title or results.experiment.name, tuple(blocks))


def _differing(entries: Sequence[Compared]) -> Table:
    rows = []
    for e in entries:
        ours = round_half_up(Fraction(100 * e.wins, e.runs), 2)
        rows.append([Entry(str(x)) for x in (e.impurity, e.n, e.k, e.max_count, e.splitter, ours, e.printed)])
    heads = ["impurity", *CELL, "method", "ours", page.PUBLISHED_HEAD]
    return Table("Entries that differ from the published ones, in percent", heads, rows, 5)
