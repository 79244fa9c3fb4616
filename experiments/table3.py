"""Table 3 of the paper: running time relative to LCA, in plain Python and compiled. Run with ``make table3``."""

from __future__ import annotations

import argparse
import sys

from experiments.artefact import ROOT, print_headed
from splitlab.cli import DONE, Parser, add_run_options, guarded
from splitlab.kinds.timing.tables import text_of, write_tables
from splitlab.study import run

HEADING = "Table 3. Time relative to LCA: ours, in plain Python and compiled, beside the paper's"


def table3(args: argparse.Namespace) -> int:
    """Time, or show the times that are there; there is nothing to judge."""
    folder = args.out or ROOT / "results" / "table3"
    options = {"fresh": args.fresh, "say": sys.stderr}
    results = run(ROOT / "configs" / "table3.yaml", runs=args.runs, jobs=args.jobs, out=folder, **options)
    write_tables(results, folder)
    print(f"results in {folder}", file=sys.stderr, flush=True)
    print_headed(HEADING, text_of(results))
    return DONE


def main() -> int:
    """Read the command line and make the table."""
    parser = Parser(prog="python -m experiments.table3", description=HEADING)
    add_run_options(parser)
    parser.add_argument("--fresh", action="store_true", help="keep old times as a backup and time anew")
    return guarded("experiments.table3", table3, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
