"""What the command line takes: its commands and their options."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any, NoReturn

DONE, DIFFERS, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130


class Parser(argparse.ArgumentParser):
    """argparse with one line per error, and no abbreviated options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **kwargs})

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line and leave with exit code 2."""
        self.exit(WRONG_INPUT, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def parser() -> Parser:
    """The commands and their options."""
    top = Parser(prog="splitlab", description="Monte Carlo experiments on binary splits of nominal attributes.")
    top.add_argument("--version", action="version", version=_version())
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_run(commands)
    report = commands.add_parser("report", help="write tables, figures and a page from the stored runs of a folder")
    report.add_argument("dir", type=Path, metavar="DIR")
    compare = commands.add_parser("compare", help="hold the results against the published numbers; 1 if any differs")
    compare.add_argument("dir", type=Path, metavar="DIR")
    _add_replay(commands)
    _add_verify(commands)
    _add_plan(commands)
    _add_split(commands)
    _add_adversary(commands)
    listing = commands.add_parser("list", help="show all splitters and impurities")
    listing.add_argument("--impurity", metavar="NAME", help="examine an impurity of your own, package.module:function")
    _add_no_plugins(listing)
    check = commands.add_parser("check", help="try what every splitter has to keep to on one of your own; 1 if broken")
    check.add_argument("splitter", metavar="package.module:function")
    check.add_argument("--ratio", type=float, help="the most times the optimum that it claims to reach")
    check.add_argument("--seed", type=whole, default=0, help="of the random tables (default: 0)")
    _add_no_plugins(check)
    commands.add_parser("examples", help="show worked examples of splits and trees, step by step")
    _add_data(commands)
    _add_replay_tree(commands)
    return top


def _version() -> str:
    from splitlab import __version__

    return f"splitlab {__version__}"


def _add_run(commands: argparse._SubParsersAction[Parser]) -> None:
    run = commands.add_parser("run", help="run an experiment, or what is left of it, and print its tables")
    run.add_argument("config", metavar="CONFIG", help="YAML file, see configs/")
    add_run_options(run)
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="replace a top-level key")
    run.add_argument("--fresh", action="store_true", help="keep old results as a backup and start anew")
    run.add_argument("--backend", choices=["local", "dask"], default="local", help="where the work is done")
    run.add_argument("--scheduler", metavar="tcp://HOST:PORT", help="of the Dask cluster, with --backend dask")
    _add_no_plugins(run)


def _add_no_plugins(command: argparse.ArgumentParser) -> None:
    command.add_argument("--no-plugins", action="store_true", help="import no functions that are named as splitters")


def add_run_options(target: argparse.ArgumentParser) -> None:
    """The options that every experiment has."""
    target.add_argument("--runs", type=whole, metavar="N", help="tables per configuration, instead of the config's")
    target.add_argument("--jobs", type=whole, metavar="J", help="worker threads (default: all processors)")
    target.add_argument("--out", type=Path, metavar="DIR", help="results folder (default: results/NAME)")


def _add_replay(commands: argparse._SubParsersAction[Parser]) -> None:
    replay = commands.add_parser("replay", help="show the table of one run and what every splitter makes of it")
    replay.add_argument("dir", type=Path, metavar="DIR")
    replay.add_argument("--n", type=whole, required=True)
    replay.add_argument("--k", type=whole, required=True)
    replay.add_argument("--max-count", type=whole)
    replay.add_argument("--run", type=whole, required=True)
    _add_no_plugins(replay)


def _add_verify(commands: argparse._SubParsersAction[Parser]) -> None:
    verify = commands.add_parser("verify", help="compute random blocks of a folder again; 1 if any bit differs")
    verify.add_argument("dir", type=Path, metavar="DIR")
    verify.add_argument("--sample", type=whole, default=50, metavar="N", help="how many blocks (default: 50)")
    verify.add_argument("--seed", type=whole, help="of the choice of blocks (default: another one each time)")
    verify.add_argument("--jobs", type=whole, metavar="J", help="worker threads (default: all processors)")
    _add_no_plugins(verify)


def _add_plan(commands: argparse._SubParsersAction[Parser]) -> None:
    plan = commands.add_parser("plan", help="how many runs a precision takes, how long, and how much disk")
    plan.epilog = "Of kind trees it says how much is stored, how long the rest takes, and how much disk."
    plan.add_argument("config", metavar="CONFIG", help="YAML file, see configs/")
    width = "half the 95 %% interval of a percentage, in percentage points, such as 0.2"
    plan.add_argument("--half-width", type=number, metavar="H", help=width)
    plan.add_argument("--pilot", type=whole, metavar="N", help="make N runs first, and plan with what they win")
    plan.add_argument("--jobs", type=whole, metavar="J", help="worker threads (default: all processors)")
    plan.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="replace a top-level key")
    _add_no_plugins(plan)


def _add_split(commands: argparse._SubParsersAction[Parser]) -> None:
    split = commands.add_parser("split", help="split a contingency table of your own")
    split.add_argument("file", type=Path, metavar="FILE.csv", help="one row per value, one column per class")
    split.add_argument("--splitter", default="hcc", help="its name, or package.module:function (default: hcc)")
    split.add_argument("--impurity", default="gini", help="its name, or package.module:function (default: gini)")
    direction = "for --splitter direction: one number per class (--direction=-1,0,2 where it begins with a minus)"
    split.add_argument("--direction", type=numbers, metavar="1,0,0.5", help=direction)
    split.add_argument("--collapsed", action="store_true", help="choose the prefix by the table collapsed along it")
    _add_no_plugins(split)


def _add_adversary(commands: argparse._SubParsersAction[Parser]) -> None:
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
    _add_no_plugins(adversary)


def _add_replay_tree(commands: argparse._SubParsersAction[Parser]) -> None:
    tree = commands.add_parser("replay-tree", help="where a tree parts from the one that ignores rounding, and why")
    tree.add_argument("dir", type=Path, metavar="DIR", help="results folder of kind trees")
    for option in ("--dataset", "--impurity", "--splitter"):
        tree.add_argument(option, required=True)
    tree.add_argument("--trial", type=whole, required=True)
    tree.add_argument("--fold", type=whole, default=1)


def _add_data(commands: argparse._SubParsersAction[Parser]) -> None:
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


def whole(text: str) -> int:
    """A whole number in plain digits; nothing is reinterpreted."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19 and (digits == "0" or digits[0] != "0")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number; write plain digits, such as 10000")
    return int(text)


def numbers(text: str) -> list[float]:
    """Decimal numbers between commas."""
    for part in text.split(","):
        if not re.fullmatch(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*", part):
            raise argparse.ArgumentTypeError(f"{part!r} is not a number; write one per class, such as 1,0,0.5")
    return [float(part) for part in text.split(",")]


def number(text: str) -> float:
    """A decimal number."""
    values = numbers(text)
    if len(values) != 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not one number; write one, such as 0.2")
    return values[0]
