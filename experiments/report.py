"""One page about everything: results/report.html. Run with ``make report``: missing experiments are run first.

The figures are written to results/figures, too, as ``make figures`` does.
"""

from __future__ import annotations

import argparse

from experiments import excess
from experiments.artefact import RESULTS, Artefact, obtain
from experiments.figures import plots
from experiments.notes import PCEXT_ENTROPY, PCEXT_GINI
from splitlab.cli import DONE
from splitlab.files import write_atomically
from splitlab.kinds.splits.extremes import alike
from splitlab.report import page
from splitlab.report.figures import save
from splitlab.report.style import Plot
from splitlab.study import load_results, section
from splitlab.text import ConfigError

LEAD = (
    "Random contingency tables, methods that split their values into two groups of small impurity, and how often each "
    "finds the best split of those compared: our numbers beside those of Laber, Molinaro and Pereira (ICML 2018), "
    "Tables 1 to 4 and section 5.1. Every number on this page is that of a csv file in the results folder."
)
TITLES = {
    "table1": "Table 1: wins, Gini",
    "table2": "Table 2: wins, entropy",
    "replay": "Replay of the authors' own tables",
    "table1_corrected": "Table 1 with PCext as defined",
    "table2_corrected": "Table 2 with PCext as defined",
    "table4": "Table 4: decision trees on real data, replayed",
    "table4_corrected": "Table 4 with the splitters as defined",
}
NO_TREES = "The data sets of this study are not part of the repository. `make {target} DATA=DIR` grows its trees."


def wins_section(name: str, args: argparse.Namespace, figures: list[Plot], *notes: str) -> page.Section:
    """The section of a win-percentage experiment."""
    results = obtain(name, args)
    return section(results, RESULTS / name, figures, *notes, title=TITLES[name])


def excess_section(args: argparse.Namespace, figures: list[Plot]) -> page.Section:
    """Pooled excess, maxima, and whether other max_count behave alike."""
    folder, results = RESULTS / "excess", obtain("excess", args)
    tables, remark = excess.write_summaries(results, folder)
    whole = section(results, folder, figures, alike(results), title="Relative excess")
    return page.Section(whole.title, (*tables, remark, *whole.blocks))


def trees_section(name: str) -> page.Section:
    """The section of a tree study, or how to get it: unlike the others it needs data, and is not run from here."""
    try:
        results = load_results(RESULTS / name)
    except ConfigError as error:
        remarks = [str(error)] if (RESULTS / name).exists() else []
        return page.Section(TITLES[name], (NO_TREES.format(target=name.replace("_", "-")), *remarks))
    return section(results, RESULTS / name, [], title=TITLES[name])


def sections(args: argparse.Namespace, figures: dict[str, list[Plot]]) -> list[page.Section]:
    """All sections, in the order of the page."""
    optimality, table3 = obtain("optimality", args), obtain("table3", args)
    return [
        wins_section("table1", args, figures["wins"], PCEXT_GINI),
        wins_section("table2", args, [], PCEXT_ENTROPY),
        wins_section("replay", args, []),
        wins_section("table1_corrected", args, figures["pcext"]),
        wins_section("table2_corrected", args, []),
        excess_section(args, figures["excess"]),
        section(
            optimality,
            RESULTS / "optimality",
            figures["optimality"],
            title="How often the optimum is found, and at what cost",
        ),
        section(table3, RESULTS / "table3", figures["time"], title="Table 3: relative running time"),
        *map(trees_section, ("table4", "table4_corrected")),
    ]


def main(artefact: Artefact, args: argparse.Namespace) -> int:
    """Write the page, and the figures in it as files of their own."""
    path = args.out or RESULTS / "report.html"
    figures = plots(args)
    for plot in (plot for group in figures.values() for plot in group):
        save(plot, path.parent / "figures")
    write_atomically(path, page.page(artefact.heading, LEAD, sections(args, figures)))
    print(f"{path}, its figures in {path.parent / 'figures'}")
    return DONE
