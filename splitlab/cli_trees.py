"""The commands about data sets and trees. Like those of ``cli``, they import what they need."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def add(commands: argparse._SubParsersAction[Any], whole: Callable[[str], int]) -> None:
    """The commands and their options; ``whole`` reads a whole number."""
    _add_data(commands)
    tree = commands.add_parser("replay-tree", help="where a tree parts from the one that ignores rounding, and why")
    tree.add_argument("dir", type=Path, metavar="DIR", help="results folder of kind trees")
    for option in ("--dataset", "--impurity", "--splitter"):
        tree.add_argument(option, required=True)
    tree.add_argument("--trial", type=whole, required=True)
    tree.add_argument("--fold", type=whole, default=1)


def _add_data(commands: argparse._SubParsersAction[Any]) -> None:
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


def data_command(args: argparse.Namespace) -> bool:
    """List, check or fetch data sets; whether all is well."""
    from splitlab.trees import datasets, download

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
    from splitlab.report.replay_tree import replay_tree

    print(replay_tree(args.dir, args.dataset, (args.impurity, args.splitter), args.trial, args.fold))
    return True
