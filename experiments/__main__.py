"""The artefacts: ``python -m experiments`` lists them, ``python -m experiments table1 --runs 500`` makes one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from experiments import adversary, excess, figures, replay, report
from experiments import all as everything
from experiments.artefact import Artefact
from experiments.notes import PCEXT_ENTROPY, PCEXT_GINI
from splitlab.cli import DONE, Parser, add_run_options, guarded

ARTEFACTS = (
    # The tables of the paper
    Artefact("table1", "table1.yaml", "Table 1. Percentage of wins, Gini: ours beside the paper's", (PCEXT_GINI,)),
    Artefact(
        "table2", "table2.yaml", "Table 2. Percentage of wins, entropy: ours beside the paper's", (PCEXT_ENTROPY,)
    ),
    Artefact(
        "table3",
        "table3.yaml",
        "Table 3. Time relative to LCA: ours, in plain Python and compiled, beside the paper's",
    ),
    Artefact(
        "table4",
        "table4.yaml",
        "Table 4. Decision trees on real data: accuracy, ours beside the authors', and who is better where",
    ),
    # The same with the splitters as their authors defined them
    Artefact(
        "table1_corrected",
        "table1_corrected.yaml",
        "Table 1, corrected. Percentage of wins, Gini, with PCext as its authors defined it",
        (PCEXT_GINI,),
    ),
    Artefact(
        "table2_corrected",
        "table2_corrected.yaml",
        "Table 2, corrected. Percentage of wins, entropy, with PCext as its authors defined it",
        (PCEXT_ENTROPY,),
    ),
    Artefact(
        "table4_corrected",
        "table4_corrected.yaml",
        "Table 4, corrected: the splitters as they are defined, on the same folds",
    ),
    # The study of the Hellinger criteria
    Artefact(
        "ihd",
        "ihd.yaml",
        "Hellinger criteria. Eight split criteria on forty data sets: ours beside the printed tables",
        figures=True,
    ),
    Artefact(
        "ihd_honest",
        "ihd_honest.yaml",
        "Hellinger criteria again: repeated stratified cross-validation, and what is sure of the differences",
        figures=True,
    ),
    # Further studies
    Artefact(
        "replay",
        None,
        "Replay. The authors' own random tables: ours beside Tables 1 and 2, and the maxima of section 5.1",
        program=replay.main,
        options=add_run_options,
    ),
    Artefact(
        "excess",
        "excess.yaml",
        "Relative excess over the best other method, and whether other max_count behave alike",
        program=excess.main,
        options=add_run_options,
    ),
    Artefact(
        "optimality",
        "optimality.yaml",
        "How often each splitter finds the optimum, and at what cost",
        figures=True,
    ),
    Artefact(
        "adversary",
        None,
        "Worst cases: how far each splitter's impurity can be from the optimum",
        program=adversary.main,
        options=adversary.add_options,
    ),
    # Everything together
    Artefact(
        "figures",
        None,
        "The figures of the Monte Carlo section",
        program=figures.main,
        options=add_run_options,
    ),
    Artefact(
        "report",
        None,
        "Binary splits of nominal attributes: the Monte Carlo experiments, reproduced",
        program=report.main,
        options=add_run_options,
    ),
    Artefact("all", None, "Everything about random tables", program=everything.main, options=add_run_options),
)


def parser() -> Parser:
    """One command per artefact."""
    top = Parser(prog="python -m experiments", description="The artefacts of the paper, and some of our own.")
    commands = top.add_subparsers(metavar="NAME")
    for artefact in ARTEFACTS:
        command = commands.add_parser(artefact.name, help=artefact.heading, description=artefact.heading)
        artefact.options(command)
        command.add_argument("--part", action="store_true", help=argparse.SUPPRESS)  # of `make all`
        command.set_defaults(artefact=artefact)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Make one artefact; without a name, list them."""
    args = parser().parse_args(argv)
    if "artefact" not in args:
        print("\n".join(f"{artefact.name:18} {artefact.heading}" for artefact in ARTEFACTS))
        return DONE
    artefact: Artefact = args.artefact
    return guarded(f"experiments {artefact.name}", artefact.make, args)


if __name__ == "__main__":
    sys.exit(main())
