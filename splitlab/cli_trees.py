"""The commands about data sets and trees. Like those of ``cli``, they import what they need."""

from __future__ import annotations

import argparse
import sys


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
