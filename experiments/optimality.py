"""How often each splitter finds the optimum, and at what cost. Run with ``make optimality``."""

from __future__ import annotations

import argparse
import sys

from experiments.artefact import CONFIGS, RESULTS, options, print_headed
from splitlab.cli import DONE, guarded
from splitlab.kinds.optimality.tables import text_of, write_tables
from splitlab.kinds.splits.figures import figures_of
from splitlab.report.figures import save
from splitlab.study import run

HEADING = "How often each splitter finds the optimum, and at what cost"


def main(args: argparse.Namespace) -> int:
    """Run, write and print the study, and draw its figures."""
    folder = args.out or RESULTS / "optimality"
    results = run(CONFIGS / "optimality.yaml", runs=args.runs, jobs=args.jobs, out=folder, say=sys.stderr)
    write_tables(results, folder)
    for plot in figures_of(results):
        save(plot, folder / "figures")
    print(f"results in {folder}, cost against success in {folder / 'figures'}", file=sys.stderr, flush=True)
    print_headed(HEADING, text_of(results))
    return DONE


if __name__ == "__main__":
    sys.exit(guarded("experiments.optimality", main, options("optimality", HEADING)))
