"""The commands about data sets and trees. Each imports what it needs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from splitlab.cli.options import DIFFERS, DONE, Commands, whole


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    _add_data(commands)
    _add_replay_tree(commands)


def _add_data(commands: Commands) -> None:
    data = commands.add_parser("data", help="the data sets of the tree study: list, check, fetch")
    actions = data.add_subparsers(dest="action", required=True, metavar="ACTION")
    for action, told in (
        ("list", "show them, and where their files are"),
        ("check", "verify the files that are there; 1 if one is missing or wrong"),
        ("fetch", "download what is missing into --data or the cache"),
    ):
        each = actions.add_parser(action, help=told)
        each.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: all)")
        each.add_argument("--data", type=Path, metavar="DIR", help="folder of the files (default: SPLITLAB_DATA)")
        each.add_argument("--catalogue", type=Path, metavar="FILE.yaml", help="description of your own data sets")
        each.set_defaults(command=data_command)


def data_command(args: argparse.Namespace) -> int:
    """List, check or fetch data sets; exit code 1 if a file is missing or wrong."""
    from splitlab.kinds.trees import datasets, download

    known = datasets.catalogue(args.catalogue or datasets.standard_catalogue())
    chosen = {one.name: one for one in datasets.chosen_sets(known, args.names or known)}
    if args.action == "list":
        print(download.list_text(chosen, args.data))
        return DONE
    if args.action == "fetch":
        for one in chosen.values():
            print(datasets.located(one, args.data) or download.fetch(one, args.data, sys.stderr))
        return DONE
    checked = [download.check_text(one, args.data) for one in chosen.values()]
    print("\n".join(line for _, line in checked))
    return DONE if all(right for right, _ in checked) else DIFFERS


def _add_replay_tree(commands: Commands) -> None:
    tree = commands.add_parser("replay-tree", help="where a tree parts from the one that ignores rounding, and why")
    tree.add_argument("dir", type=Path, metavar="DIR", help="results folder of kind trees")
    for option in ("--dataset", "--impurity", "--splitter"):
        tree.add_argument(option, required=True)
    tree.add_argument("--trial", type=whole, required=True)
    tree.add_argument("--fold", type=whole, default=1)
    tree.set_defaults(command=replay_tree_command)


def replay_tree_command(args: argparse.Namespace) -> int:
    """Show where a tree parts from the one that ignores rounding."""
    from splitlab.kinds.trees.replay import replay_tree
    from splitlab.study import stored_experiment

    column = (args.impurity, args.splitter)
    print(replay_tree(stored_experiment(args.dir), args.dir, args.dataset, column, args.trial, args.fold))
    return DONE
