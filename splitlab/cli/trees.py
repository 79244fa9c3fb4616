"""The commands about data sets and trees. Each imports what it needs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from splitlab.cli.options import DONE, WRONG_INPUT, Commands, whole

if TYPE_CHECKING:
    from splitlab.kinds.trees.config import TreesExperiment


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    _add_data(commands)
    _add_replay_tree(commands)


def _add_data(commands: Commands) -> None:
    data = commands.add_parser("data", help="the data sets of tree studies: list, check, describe, fetch")
    actions = data.add_subparsers(dest="action", required=True, metavar="ACTION")
    for action, told in (
        ("list", "show them, and where their files are"),
        ("check", "read them as a study does: rows, classes, columns, missing values; 2 if one cannot be run"),
        ("fetch", "download what is missing into --data or the cache"),
    ):
        each = actions.add_parser(action, help=told)
        each.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: all)")
        each.add_argument("--data", type=Path, metavar="DIR", help="folder of the files (default: SPLITLAB_DATA)")
        each.add_argument("--catalogue", type=Path, metavar="FILE.yaml", help="description of your own data sets")
        if action == "check":
            each.add_argument("--config", metavar="CONFIG", help="a study: its data sets, folds and splitters")
        each.set_defaults(command=data_command)
    describe = actions.add_parser("describe", help="print a catalogue for a csv file of yours, to start with")
    describe.add_argument("file", type=Path, metavar="NAME.csv")
    describe.add_argument("--target", required=True, metavar="COLUMN", help="the column of the classes")
    describe.set_defaults(command=data_command)


def data_command(args: argparse.Namespace) -> int:
    """List, check or fetch data sets, or describe a file; exit code 2 if one that is checked cannot be run."""
    from splitlab.kinds.data_sets import catalogue as datasets
    from splitlab.kinds.data_sets import download
    from splitlab.kinds.trees import check

    if args.action == "describe":
        print(check.describe_text(args.file, args.target))
        return DONE
    experiment = _study(args.config) if args.action == "check" and args.config else None
    path, names = args.catalogue or datasets.standard_catalogue(), args.names
    if experiment:
        path, names = args.catalogue or Path(experiment.catalogue), names or experiment.datasets
    known = datasets.catalogue(path)
    chosen = {one.name: one for one in datasets.chosen_sets(known, names or known)}
    places = datasets.folders(args.data, [path.parent])
    if args.action == "list":
        print(download.list_text(chosen, places))
        return DONE
    if args.action == "fetch":
        for one in chosen.values():
            print(datasets.located(one, places) or download.fetch(one, args.data, sys.stderr))
        return DONE
    # The catalogue that comes with the package has sets without a target, to be listed only; elsewhere one is missing.
    listed = [] if names or args.catalogue else [one.name for one in chosen.values() if not one.target]
    to_check = (one for one in chosen.values() if one.name not in listed)
    checked = [check.check_text(one, path.parent, args.data, experiment) for one in to_check]
    print("\n".join(text for _, text in checked))
    if listed:
        print(f"not checked, since the catalogue names no target and no study runs them: {', '.join(listed)}")
    return DONE if all(right for right, _ in checked) else WRONG_INPUT


def _study(config: str) -> TreesExperiment:
    """The experiment of a config, which must be of kind trees."""
    from splitlab.kinds.trees.config import TreesExperiment
    from splitlab.study import load_experiment

    experiment = load_experiment(config)
    if not isinstance(experiment, TreesExperiment):
        raise ValueError(f"{config}: is of kind {experiment.kind}, which has no data sets")
    return experiment


def _add_replay_tree(commands: Commands) -> None:
    told = "one tree of a study again; of kind trees: where it parts from the one that ignores rounding, and why"
    tree = commands.add_parser("replay-tree", help=told)
    tree.add_argument("dir", type=Path, metavar="DIR", help="results folder of kind trees or criteria")
    tree.add_argument("--dataset", required=True)
    for option, kind in (("--impurity", "trees"), ("--splitter", "trees"), ("--criterion", "criteria")):
        tree.add_argument(option, help=f"of kind {kind}")
    for option in ("--trial", "--repetition"):
        tree.add_argument(option, type=whole, dest="trial", metavar="N", help="from 1 on")
    tree.add_argument("--fold", type=whole, default=1)
    tree.set_defaults(command=replay_tree_command)


def replay_tree_command(args: argparse.Namespace) -> int:
    """Show a tree; of kind trees where it parts from the one that ignores rounding."""
    from splitlab.kinds.criteria import replay as criteria
    from splitlab.kinds.criteria.config import CriteriaExperiment
    from splitlab.kinds.trees import replay as trees
    from splitlab.study import stored_experiment

    experiment = stored_experiment(args.dir)
    of_criteria = isinstance(experiment, CriteriaExperiment)
    needed = ("criterion",) if of_criteria else ("impurity", "splitter")
    for option in (*needed, "trial"):
        if getattr(args, option) is None:
            named = "repetition" if of_criteria and option == "trial" else option
            raise ValueError(f"{args.dir}: is of kind {experiment.kind}; name the tree's --{named}, too")
    if isinstance(experiment, CriteriaExperiment):
        print(criteria.replay_tree(experiment, args.dir, args.dataset, args.criterion, args.trial, args.fold))
    else:
        column = (args.impurity, args.splitter)
        print(trees.replay_tree(experiment, args.dir, args.dataset, column, args.trial, args.fold))
    return DONE
