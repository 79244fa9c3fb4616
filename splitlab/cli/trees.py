"""The commands about data sets and trees. Like those of ``cli``, they import what they need."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from splitlab.kinds.trees.config import TreesExperiment


def data_command(args: argparse.Namespace) -> bool:
    """List, check or fetch data sets; whether all is well."""
    from splitlab.kinds.trees import datasets, download

    known = datasets.catalogue(args.catalogue or datasets.standard_catalogue())
    chosen = {one.name: one for one in datasets.chosen_sets(known, args.names or known)}
    if args.action == "list":
        print(download.list_text(chosen, args.data))
        return True
    if args.action == "fetch":
        for one in chosen.values():
            print(datasets.located(one, args.data) or download.fetch(one, args.data, sys.stderr))
        return True
    checked = [download.check_text(one, args.data) for one in chosen.values()]
    print("\n".join(line for _, line in checked))
    return all(right for right, _ in checked)


def replay_tree_command(args: argparse.Namespace) -> bool:
    """Show where a tree parts from its like."""
    from splitlab.kinds.trees.replay import replay_tree

    print(replay_tree(args.dir, args.dataset, (args.impurity, args.splitter), args.trial, args.fold))
    return True


def print_plan(experiment: TreesExperiment, args: argparse.Namespace, jobs: int) -> None:
    """Say what is left of an experiment of kind trees, and what it takes."""
    from splitlab.kinds.random_tables.plan_table import text_of_trees
    from splitlab.kinds.trees.plan import plan_trees

    for option, value in (("--half-width", args.half_width), ("--pilot", args.pilot)):
        if value is not None:
            raise ValueError(f"{option}: does not go with kind trees, whose config says how many trials there are")
    folder = Path("results") / experiment.name
    print(text_of_trees(plan_trees(experiment, folder, sys.stderr), args.config, folder, jobs))
