"""What an artefact is, and how most are made: run a config, write its tables, print them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from splitlab.cli import DIFFERS, DONE, add_run_options
from splitlab.kinds.random_tables.config import RandomTablesExperiment
from splitlab.kinds.random_tables.kind import LETTERS
from splitlab.report.figures import save
from splitlab.report.style import Plot
from splitlab.splitters import get, titles
from splitlab.splitters.summaries import summary
from splitlab.study import kind_of, run, text_of, verdict, write_tables

ROOT = Path(__file__).parents[1]
CONFIGS = ROOT / "configs"
RESULTS = ROOT / "results"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line of an artefact that is one config: --runs, --jobs, --out, --fresh."""
    add_run_options(parser)
    parser.add_argument("--fresh", action="store_true", help="keep old results as a backup and start again")


@dataclass(frozen=True)
class Artefact:
    """Something that ``python -m experiments NAME`` makes.

    Attributes
    ----------
    name : str
        Of the command and of the folder in results/.
    config : str or None
        The file in configs/; None where ``program`` uses the results of several.
    heading : str
        Printed above the tables.
    notes : tuple of str
        Written and printed below the tables.
    figures : bool
        Whether its figures are drawn, too, into the folder ``figures`` of its results.
    program : callable, optional
        What makes it, instead of running the config; returns an exit code.
    options : callable
        Adds the options of its command line to a parser.
    """

    name: str
    config: str | None
    heading: str
    notes: tuple[str, ...] = ()
    figures: bool = False
    program: Callable[[Artefact, argparse.Namespace], int] | None = None
    options: Callable[[argparse.ArgumentParser], None] = add_options

    def make(self, args: argparse.Namespace) -> int:
        """Make it; 1 if a number differs from the published one."""
        return (self.program or run_config)(self, args)


def run_config(artefact: Artefact, args: argparse.Namespace) -> int:
    """Run the artefact's config with the options of the command line, write its tables and print them."""
    folder = args.out or RESULTS / artefact.name
    config = CONFIGS / str(artefact.config)
    results = run(config, runs=args.runs, jobs=args.jobs, out=folder, fresh=args.fresh, say=sys.stderr)
    write_tables(results, folder, artefact.notes)
    notes = () if args.part else artefact.notes
    drawn = f", figures in {folder / 'figures'}" if artefact.figures else ""
    for plot in figures_of(results) if artefact.figures else ():
        save(plot, folder / "figures")
    print(f"results in {folder}{drawn}", file=sys.stderr, flush=True)
    print_headed(artefact, args, text_of(results, notes), results.experiment)
    return DONE if verdict(results).agrees else DIFFERS


def obtain(name: str, args: argparse.Namespace) -> Any:
    """The results of ``configs/NAME.yaml`` in results/NAME; what is not there yet is computed."""
    return run(CONFIGS / f"{name}.yaml", runs=args.runs, jobs=args.jobs, out=RESULTS / name, say=sys.stderr)


def figures_of(results: Any) -> list[Plot]:
    """The figures that the kind of an experiment draws of its results."""
    return kind_of(results.experiment).figures(results)


def headed(heading: str) -> str:
    """An underlined heading."""
    return f"{heading}\n{'=' * len(heading)}\n"


def print_headed(
    artefact: Artefact, args: argparse.Namespace, text: str, experiment: RandomTablesExperiment | None = None
) -> None:
    """Print a text below the artefact's heading, and what the letters and names of the experiment mean.

    Of a part of ``make all`` the text alone: the rest is printed there, once.
    """
    if not args.part:
        print(headed(artefact.heading))
        if isinstance(experiment, RandomTablesExperiment):
            print(legend(experiment.splitters))
    print(text)


def legend(splitters: Sequence[str]) -> str:
    """What the letters of a table and the names of its methods mean, a line for each."""
    names = {title: summary(get(name)) for name, title in titles(splitters).items()}
    meanings = {LETTERS[0]: LETTERS[1], **names}
    width = max(map(len, meanings))
    return "".join(f"{name:{width}}  {meaning}\n" for name, meaning in meanings.items())
