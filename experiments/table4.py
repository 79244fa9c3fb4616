"""Table 4 of the paper: decision trees on real data, replayed. Run with ``make table4 DATA=DIR``."""

from __future__ import annotations

import argparse
import sys

from experiments.artefact import CONFIGS, RESULTS, options, print_headed
from splitlab.cli import DONE, guarded
from splitlab.kinds.trees.results import TreesResults
from splitlab.kinds.trees.tables import text_of, write_tables
from splitlab.study import run

HEADING = "Table 4. Decision trees on real data: accuracy, ours beside the authors', and who is better where"


def main(args: argparse.Namespace, name: str = "table4", heading: str = HEADING) -> int:
    """Grow the trees of ``configs/NAME.yaml``, write the tables and print them."""
    folder = args.out or RESULTS / name
    results = run(CONFIGS / f"{name}.yaml", runs=args.runs, jobs=args.jobs, out=folder, say=sys.stderr)
    assert isinstance(results, TreesResults)
    write_tables(results, folder)
    print(f"results in {folder}", file=sys.stderr, flush=True)
    print_headed(heading, text_of(results))
    return DONE


if __name__ == "__main__":
    sys.exit(guarded("experiments.table4", main, options("table4", HEADING)))
