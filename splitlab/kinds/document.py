"""Everything that a reader wants of one results folder besides the tables: its figures, and one HTML page."""

from __future__ import annotations

from pathlib import Path

from splitlab.engine.checksums import read_manifest
from splitlab.files import write_atomically
from splitlab.kinds.optimality.tables import optimality_tables
from splitlab.kinds.splits.compare import Verdict
from splitlab.kinds.timing.tables import timing_tables
from splitlab.kinds.trees import page as trees_page
from splitlab.kinds.trees.results import TreesResults
from splitlab.report import page
from splitlab.report.figures import figures_of, save
from splitlab.report.style import Plot
from splitlab.study import Results


def section(
    results: Results, folder: Path, verdict: Verdict, plots: list[Plot], *notes: str, title: str
) -> page.Section:
    """The section of an experiment of any kind."""
    manifest = read_manifest(folder)
    if isinstance(results, TreesResults):
        return trees_page.section(results, manifest, *notes, title=title)
    if results.experiment.kind == "splits":
        return page.experiment_section(results, verdict, plots, manifest, notes, title=title)
    tables = timing_tables(results) if results.optimality is None else optimality_tables(results)
    blocks: list[page.Block] = [*tables, *notes, *map(page.picture_of, plots)]
    blocks.append(page.Source("Config", results.experiment.to_yaml()))
    return page.Section(title, (*blocks, page.facts_of_manifest(manifest)))


def write_document(results: Results, folder: Path, verdict: Verdict) -> None:
    """Write FOLDER/figures (png, svg, data, captions) and FOLDER/report.html."""
    plots = [] if results.trees is not None else figures_of(results)  # diagrams of trees come with their tables
    for plot in plots:
        save(plot, folder / "figures")
    name = results.experiment.name
    whole = section(results, folder, verdict, plots, title=name)
    lead = "Written by splitlab from the stored results; every number is that of the csv files beside this page."
    write_atomically(folder / "report.html", page.page(f"Experiment {name}", lead, [whole]))
