"""The commands about tables, splitters and impurities. Each imports what it needs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from splitlab.cli.options import DIFFERS, DONE, Commands, add_no_plugins, import_named, whole
from splitlab.cli.split import add_split


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    add_split(commands)
    _add_adversary(commands)
    listing = commands.add_parser("list", help="show all splitters and impurities")
    listing.add_argument("--impurity", metavar="NAME", help="examine an impurity of your own, package.module:function")
    add_no_plugins(listing)
    listing.set_defaults(command=list_command)
    check = commands.add_parser("check", help="try what every splitter has to keep to on one of your own; 1 if broken")
    check.add_argument("splitter", metavar="package.module:function")
    check.add_argument("--ratio", type=float, help="the most times the optimum that it claims to reach")
    check.add_argument("--seed", type=whole, default=0, help="of the random tables (default: 0)")
    rules = "untouched, repeatable, rows, classes, scale, pure or optimum; may be given several times"
    check.add_argument("--waive", action="append", default=[], metavar="RULE", help=f"do not try a rule: {rules}")
    add_no_plugins(check)
    check.set_defaults(command=check_command)
    examples = commands.add_parser("examples", help="show worked examples of splits and trees, step by step")
    examples.set_defaults(command=examples_command)


def _add_adversary(commands: Commands) -> None:
    adversary = commands.add_parser("adversary", help="search for tables on which a splitter is far from the optimum")
    adversary.add_argument("--splitter", required=True)
    adversary.add_argument("--impurity", required=True)
    adversary.add_argument("--n", type=whole, required=True, help="values, at most")
    adversary.add_argument("--k", type=whole, required=True, help="classes, at most")
    limit = adversary.add_mutually_exclusive_group()
    limit.add_argument("--seconds", type=whole, metavar="T", help="how long (default: 20)")
    limit.add_argument("--steps", type=whole, metavar="N", help="how far, instead: a repetition finds the same")
    adversary.add_argument("--seed", type=whole, default=0, metavar="S")
    adversary.add_argument("--max-count", type=whole, default=10_000, metavar="M", help="largest entry (10000)")
    out = Path("results") / "adversary"
    adversary.add_argument("--out", type=Path, default=out, metavar="DIR", help=f"for worst.jsonl (default: {out})")
    add_no_plugins(adversary)
    adversary.set_defaults(command=adversary_command)


def adversary_command(args: argparse.Namespace) -> int:
    """Search for a bad table, print it and keep it."""
    from splitlab.adversary import record, worst_known
    from splitlab.adversary.hunt import command, hunt
    from splitlab.adversary.search import check_limits, posed
    from splitlab.adversary.text import text_of

    import_named({"splitters": args.splitter, "impurities": args.impurity}, not args.no_plugins)
    problem = posed(args.splitter, args.impurity, args.n, args.k, args.max_count)
    seconds = 20 if args.seconds is None and args.steps is None else args.seconds
    check_limits(seconds, args.steps, args.seed)
    record.check(args.out)
    ended = hunt(problem, seconds, args.steps, args.seed, say=sys.stderr)
    record.add(args.out, ended.found, {"seed": args.seed, "command": command(problem, ended.steps, args.seed)})
    print(text_of(ended.found, worst_known().get((args.splitter, args.impurity))), flush=True)
    if ended.interrupted:
        raise KeyboardInterrupt(f"the best so far is kept in {args.out / record.FILE}")
    return DONE


def list_command(args: argparse.Namespace) -> int:
    """Show what there is."""
    from splitlab.impurity import NAMES
    from splitlab.splitters import splitters

    if args.impurity:
        return _examine(args.impurity, not args.no_plugins)
    for entry in splitters():
        print(f"{entry.name:16}  {entry.title:18}  guarantee: {entry.guarantee}")
        print(f"{'':16}  {'':18}  cost: {entry.cost}; source: {entry.source}")
    print(f"\nimpurities: {', '.join(NAMES)}, and your own as package.module:function")
    return DONE


def _examine(name: str, allowed: bool) -> int:
    """Say which guarantees hold for a user-defined impurity."""
    from splitlab.custom_impurity import examine, guarantees

    import_named({"impurities": name}, allowed)
    found = examine(name)
    for label, rule, problem in (
        ("P1", "f(0) = f(1) = 0", found.p1),
        ("P2", "strictly concave", found.p2),
        ("P3", "f(p) <= (p / q) f(q) + q f(p / q)", found.p3),
    ):
        print(f"({label}) {rule}: {f'fails: {problem}' if problem else 'holds wherever it was tried'}")
    for line in guarantees(name):
        print(line)
    return DONE


def check_command(args: argparse.Namespace) -> int:
    """Try a splitter's contract."""
    from splitlab.contract import check

    import_named({"splitters": args.splitter}, not args.no_plugins)
    report = check(args.splitter, args.ratio, args.seed, waive=args.waive)
    print(report)
    return DONE if report.passed else DIFFERS


def examples_command(args: argparse.Namespace) -> int:
    """Show the worked examples."""
    from splitlab.trees.examples import page

    print(page())
    return DONE
