"""The figures of the Monte Carlo section. Run with ``make figures``: missing experiments are run first."""

from __future__ import annotations

import argparse

import pandas as pd

from experiments.artefact import RESULTS, Artefact, figures_of, obtain
from splitlab.cli import DONE
from splitlab.kinds.splits.figures import diagonal_plot, excess_plots, pcext_plot, win_plots
from splitlab.kinds.timing.figures import time_plots
from splitlab.report.figures import save
from splitlab.report.style import Plot

TABLES = ("table1", "table2", "table1_corrected", "table2_corrected")
PCEXT = ("pc_ext", "pc_ext_counts")


def plots(args: argparse.Namespace) -> dict[str, list[Plot]]:
    """All figures, by the part of the report that they belong to."""
    tables = {name: obtain(name, args).win_percentage for name in TABLES}
    published = pd.concat([tables["table1"], tables["table2"]], ignore_index=True)
    wins = pd.concat([published, between(args)], ignore_index=True)
    both = pd.concat(tables.values(), ignore_index=True)
    both = both[both["splitter"].isin(PCEXT)]
    compared = [plot for plot in (diagonal_plot(published),) if plot]
    return {
        "wins": [*win_plots(wins), *compared],
        "pcext": [plot for plot in (pcext_plot(both),) if plot],
        "excess": excess_plots(obtain("excess", args).excess_histogram),
        "optimality": figures_of(obtain("optimality", args)),
        "time": time_plots(timing_of(args)),
    }


def between(args: argparse.Namespace) -> pd.DataFrame:
    """Our wins for the values of n that the authors ran and did not print, with theirs in the column ``authors``."""
    ours, theirs = (obtain(name, args).win_percentage for name in ("between", "replay"))
    key = ["impurity", "n", "k", "max_count", "splitter"]
    return ours.merge(theirs[[*key, "percent"]].rename(columns={"percent": "authors"}), on=key, how="left")


def timing_of(args: argparse.Namespace) -> pd.DataFrame:
    """The timing of Table 3."""
    timing = obtain("table3", args).timing
    assert timing is not None
    return timing


def main(artefact: Artefact, args: argparse.Namespace) -> int:
    """Write every figure to results/figures and say what each shows."""
    folder = args.out or RESULTS / artefact.name
    for group in plots(args).values():
        for plot in group:
            save(plot, folder)
            print(f"{folder / plot.name}.png: {plot.caption}\n")
    return DONE
