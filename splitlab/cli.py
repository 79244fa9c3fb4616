"""The command line. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from splitlab import cli_trees

if TYPE_CHECKING:
    from splitlab.montecarlo.study import Results
    from splitlab.report.compare import Verdict

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
    _add_split(commands)
    _add_adversary(commands)
    listing = commands.add_parser("list", help="show all splitters and impurities")
    listing.add_argument("--impurity", metavar="NAME", help="examine an impurity of your own, package.module:function")
    check = commands.add_parser("check", help="try what every splitter has to keep to on one of your own; 1 if broken")
    check.add_argument("splitter", metavar="package.module:function")
    check.add_argument("--ratio", type=float, help="the most times the optimum that it claims to reach")
    check.add_argument("--seed", type=whole, default=0, help="of the random tables (default: 0)")
    commands.add_parser("examples", help="show worked examples of splits and trees, step by step")
    cli_trees.add(commands, whole)
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
    run.add_argument("--no-plugins", action="store_true", help="refuse configs that name functions to import")


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


def _add_split(commands: argparse._SubParsersAction[Parser]) -> None:
    split = commands.add_parser("split", help="split a contingency table of your own")
    split.add_argument("file", type=Path, metavar="FILE.csv", help="one row per value, one column per class")
    split.add_argument("--splitter", default="hcc")
    split.add_argument("--impurity", default="gini")
    direction = "for --splitter direction: one number per class (--direction=-1,0,2 where it begins with a minus)"
    split.add_argument("--direction", type=numbers, metavar="1,0,0.5", help=direction)
    split.add_argument("--collapsed", action="store_true", help="choose the prefix by the table collapsed along it")


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


def run_command(args: argparse.Namespace) -> int:
    """Run or continue an experiment; print its tables."""
    from splitlab.montecarlo.config import load_experiment
    from splitlab.montecarlo.names import Plugins
    from splitlab.montecarlo.study import run

    plugins = Plugins(allowed=not args.no_plugins, announce=_say)
    experiment = load_experiment(args.config, runs=args.runs, overrides=args.set, plugins=plugins)
    folder = args.out or Path("results") / experiment.name
    results = run(experiment, jobs=args.jobs, out=folder, fresh=args.fresh, say=sys.stderr)
    if (folder / "report.html").exists():
        print(f"{folder}/report.html is of an earlier run; `splitlab report {folder}` renews it", file=sys.stderr)
    print(f"results in {folder}", file=sys.stderr, flush=True)
    _write_and_print(results, folder)
    return DONE


def report_command(args: argparse.Namespace) -> int:
    """Write the tables of a folder again, and its figures and page."""
    from splitlab.montecarlo.study import load_results
    from splitlab.report.document import write_document

    results = load_results(args.dir, sys.stderr)
    verdict = _write_and_print(results, args.dir)
    if results.trees is not None:  # its diagrams are written with its tables
        return DONE
    write_document(results, args.dir, verdict)
    print(f"figures in {args.dir / 'figures'}, one page in {args.dir / 'report.html'}", file=sys.stderr)
    return DONE


def _write_and_print(results: Results, folder: Path) -> Verdict:
    """Write the tables of an experiment, of whatever kind, into its folder, and print them; the verdict on them."""
    from splitlab.montecarlo.trees_study import TreesResults
    from splitlab.report import compare, optimality_table, tables, timing_table, trees_table

    verdict = compare.judge(results)
    if isinstance(results, TreesResults):
        trees_table.write_tables(results, folder)
        print(trees_table.text_of(results))
        return verdict
    if results.timing is not None:
        timing_table.write_tables(results, folder)
        print(timing_table.text_of(results))
    elif results.optimality is not None:
        optimality_table.write_tables(results, folder)
        print(optimality_table.text_of(results))
    else:
        tables.write_tables(results, folder, verdict)
        print(tables.text_of(results, verdict))
    return verdict


def compare_command(args: argparse.Namespace) -> int:
    """Print the verdict; exit code 1 if a number differs."""
    from splitlab.montecarlo.study import load_results
    from splitlab.report.compare import judge

    verdict = judge(load_results(args.dir, sys.stderr))
    for entry in verdict.differing:
        place = f"{entry.impurity} n={entry.n} k={entry.k} max_count={entry.max_count} {entry.splitter}"
        print(f"differs: {place}: ours {100 * entry.wins / entry.runs:.2f}, published {entry.printed}")
    print(verdict.text)
    return DONE if verdict.agrees else DIFFERS


def replay_command(args: argparse.Namespace) -> int:
    """Show one run."""
    from splitlab.montecarlo.folder import stored_experiment
    from splitlab.report.replay import replay

    if (kind := stored_experiment(args.dir).kind) == "timing":
        raise ValueError(f"{args.dir}: is of kind {kind} and has no runs to replay; name a folder of kind splits")
    print(replay(args.dir, args.n, args.k, args.max_count, args.run))
    return DONE


def split_command(args: argparse.Namespace) -> int:
    """Split a table from a file."""
    from splitlab.api import split
    from splitlab.splitters import get
    from splitlab.table_file import read_table

    table = read_table(args.file)
    try:
        found = split(table.counts, args.impurity, args.splitter, args.direction, args.collapsed)
    except ValueError as error:
        raise ValueError(f"{args.file}: {error}") from None
    labels = table.values or tuple(f"row {v}" for v in range(len(table.counts)))
    print(f"{args.file}: {table.recognised}")
    print(f"{get(args.splitter).title}, {args.impurity}: impurity {found.impurity:.10g}, gain {found.gain:.10g}")
    for side, chosen in (("left", found.left), ("right", ~found.left)):
        print(f"{side}: {', '.join(label for label, here in zip(labels, chosen, strict=True) if here)}")
    return DONE


def adversary_command(args: argparse.Namespace) -> int:
    """Search for a bad table, print it and keep it."""
    from splitlab.adversary import record, worst_known
    from splitlab.adversary.hunt import command, hunt
    from splitlab.adversary.search import check_limits, posed
    from splitlab.report.worst import text_of

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
        return _examine(args.impurity)
    for entry in splitters():
        print(f"{entry.name:16}  {entry.title:18}  guarantee: {entry.guarantee}")
        print(f"{'':16}  {'':18}  cost: {entry.cost}; source: {entry.source}")
    print(f"\nimpurities: {', '.join(NAMES)}, and your own as package.module:function")
    return DONE


def _examine(name: str) -> int:
    """Say which guarantees hold for an impurity of the user's own."""
    from splitlab import plugins
    from splitlab.own_impurity import examine, guarantees

    plugins.search([Path()])
    _say(f"importing {name} from {plugins.where(name)}")
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
    from splitlab import plugins
    from splitlab.contract import check

    plugins.search([Path()])
    if plugins.is_plugin(args.splitter):
        _say(f"importing {args.splitter} from {plugins.where(args.splitter)}")
    findings = check(args.splitter, args.ratio, args.seed)
    for finding in findings:
        print(f"{'broken' if finding.problem else 'holds '}  {finding.rule}")
        if note := finding.problem or finding.seen:
            print(f"        {' '.join(note.splitlines())}")
    broken = sum(bool(finding.problem) for finding in findings)
    print(f"{args.splitter}: {f'{broken} of {len(findings)} rules broken' if broken else 'every rule holds'}")
    return DIFFERS if broken else DONE


def examples_command(args: argparse.Namespace) -> int:
    """Show the worked examples."""
    from splitlab.trees.examples import page

    print(page())
    return DONE


COMMANDS = {
    "data": lambda args: DONE if cli_trees.data_command(args) else DIFFERS,
    "replay-tree": lambda args: DONE if cli_trees.replay_tree_command(args) else DIFFERS,
    "run": run_command,
    "report": report_command,
    "compare": compare_command,
    "replay": replay_command,
    "split": split_command,
    "adversary": adversary_command,
    "list": list_command,
    "check": check_command,
    "examples": examples_command,
}


def guarded(prog: str, action: object, *arguments: object) -> int:
    """Call ``action``; a user's mistake becomes one line on stderr and exit code 2."""
    try:
        return action(*arguments)  # type: ignore[operator]
    except KeyboardInterrupt as interrupt:
        _say(f"{prog}: interrupted{f'; {interrupt}' if str(interrupt) else ''}")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        _say(f"{prog}: error: {f'{error.filename}: {error.strerror}' if error.filename else error}")
    except (ValueError, TypeError) as error:
        _say(f"{prog}: error: {error}")
    except Exception as error:
        if os.environ.get("SPLITLAB_DEBUG"):
            raise
        _say(
            f"{prog}: internal error: {type(error).__name__}: {error} (SPLITLAB_DEBUG=1 shows where; please report it)"
        )
    return WRONG_INPUT


def _say(line: str) -> None:
    """One line on stderr, whatever is in it, if anybody listens."""
    with suppress(OSError, ValueError):
        print(" ".join(line.splitlines()), file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the ``splitlab`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to fail
    args = parser().parse_args(argv)
    return guarded("splitlab", COMMANDS[args.command], args)


if __name__ == "__main__":
    sys.exit(main())
