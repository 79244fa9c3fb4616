"""What the experiments share: their options, where configs are, and running one from config to printed table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from splitlab.cli import DIFFERS, DONE, Parser, add_run_options, guarded
from splitlab.kinds.splits.results import Results
from splitlab.study import run, text_of, verdict, write_tables

ROOT = Path(__file__).parents[1]
CONFIGS = ROOT / "configs"
RESULTS = ROOT / "results"
REFERENCE = RESULTS / "reference"

Notes = Callable[[Results], tuple[str, ...]]


def no_notes(results: Results) -> tuple[str, ...]:
    """For experiments without footnotes."""
    return ()


def main(name: str, heading: str, notes: Notes = no_notes) -> int:
    """Run ``configs/NAME.yaml`` with the command line's options and print its tables; 1 if a number differs."""
    return guarded(f"experiments.{name}", _run, options(name, heading), name, heading, notes)


def options(name: str, heading: str) -> argparse.Namespace:
    """The command line's --runs, --jobs and --out."""
    parser = Parser(prog=f"python -m experiments.{name}", description=heading)
    add_run_options(parser)
    return parser.parse_args()


def obtain(name: str, args: argparse.Namespace) -> Results:
    """The results of ``configs/NAME.yaml`` in results/NAME; what is not there yet is computed."""
    return run(CONFIGS / f"{name}.yaml", runs=args.runs, jobs=args.jobs, out=RESULTS / name, say=sys.stderr)


def _run(args: argparse.Namespace, name: str, heading: str, notes: Notes) -> int:
    folder = args.out or RESULTS / name
    results = run(CONFIGS / f"{name}.yaml", runs=args.runs, jobs=args.jobs, out=folder, say=sys.stderr)
    below = notes(results)
    write_tables(results, folder, below)
    print(f"results in {folder}", file=sys.stderr, flush=True)
    print_headed(heading, text_of(results, below))
    return DONE if verdict(results).agrees else DIFFERS


def print_headed(heading: str, text: str) -> None:
    """Print a text below its underlined heading."""
    print(f"{heading}\n{'=' * len(heading)}\n\n{text}")
