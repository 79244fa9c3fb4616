"""The command line. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from splitlab.cli import trees as cli_trees
from splitlab.cli.options import DIFFERS, DONE, INTERRUPTED, WRONG_INPUT, Parser, add_run_options, parser, whole

# What libraries say, besides MemoryError, when they get no memory; the last is joblib's, of threads that did not start.
STARVED = ("annot allocate memory", "failed to map segment", "can't start new thread", "'DummyProcess' object has no")
RESULTS = Path("results")
COMMITTED = "reference"  # the folder there that a run must not write into, and that `make clean` spares

if TYPE_CHECKING:
    from splitlab.kinds.splits.compare import Verdict
    from splitlab.study import Results

__all__ = [
    "DIFFERS", "DONE", "INTERRUPTED", "WRONG_INPUT", "Parser", "add_run_options", "guarded", "main", "parser", "whole",
]  # fmt: skip


def run_command(args: argparse.Namespace) -> int:
    """Run or continue an experiment; print its tables."""
    from splitlab.engine.config import load_experiment
    from splitlab.engine.names import Plugins
    from splitlab.study import run

    if (args.backend == "dask") != (args.scheduler is not None):
        raise ValueError("--backend dask and --scheduler tcp://HOST:PORT go together; give both, or neither")
    plugins = Plugins(allowed=not args.no_plugins, announce=_say)
    experiment = load_experiment(args.config, runs=args.runs, overrides=args.set, plugins=plugins)
    if args.out is None and experiment.name == COMMITTED:
        raise ValueError(f"{args.config}: name: {COMMITTED!r} is where committed results are kept; choose another name")
    folder = args.out or RESULTS / experiment.name
    results = run(experiment, jobs=args.jobs, out=folder, fresh=args.fresh, say=sys.stderr, scheduler=args.scheduler)
    if (folder / "report.html").exists():
        _say(f"{folder}/report.html is of an earlier run; `splitlab report {folder}` renews it")
    _say(f"results in {folder}")
    _write_and_print(results, folder)
    return DONE


def report_command(args: argparse.Namespace) -> int:
    """Write the tables of a folder again, and its figures and page."""
    from splitlab.kinds.document import write_document
    from splitlab.study import load_results

    results = load_results(args.dir, sys.stderr)
    verdict = _write_and_print(results, args.dir)
    write_document(results, args.dir, verdict)
    _say(f"figures in {args.dir / 'figures'}, one page in {args.dir / 'report.html'}")
    return DONE


def _write_and_print(results: Results, folder: Path) -> Verdict:
    """Write the tables of an experiment, of whatever kind, into its folder, and print them; the verdict on them."""
    from splitlab.kinds.optimality import tables as optimality_table
    from splitlab.kinds.splits import compare, tables
    from splitlab.kinds.timing import tables as timing_table
    from splitlab.kinds.trees import tables as trees_table
    from splitlab.kinds.trees.results import TreesResults

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
    from splitlab.kinds.splits.compare import judge
    from splitlab.study import load_results

    verdict = judge(load_results(args.dir, sys.stderr))
    for entry in verdict.differing:
        place = f"{entry.impurity} n={entry.n} k={entry.k} max_count={entry.max_count} {entry.splitter}"
        print(f"differs: {place}: ours {100 * entry.wins / entry.runs:.2f}, published {entry.printed}")
    print(verdict.text)
    return DONE if verdict.agrees else DIFFERS


def replay_command(args: argparse.Namespace) -> int:
    """Show one run."""
    from splitlab.engine.folder import stored_experiment
    from splitlab.engine.names import Plugins
    from splitlab.kinds.random_tables.replay import replay

    if (kind := stored_experiment(args.dir).kind) == "timing":
        raise ValueError(f"{args.dir}: is of kind {kind} and has no runs to replay; name a folder of kind splits")
    plugins = Plugins(allowed=not args.no_plugins, announce=_say, folders=(Path(),))
    print(replay(args.dir, args.n, args.k, args.max_count, args.run, plugins))
    return DONE


def verify_command(args: argparse.Namespace) -> int:
    """Compute random blocks again; exit code 1 if any bit differs."""
    from secrets import randbelow

    from splitlab.engine.names import Plugins
    from splitlab.engine.verify import elsewhere, verify

    seed = randbelow(10**9) if args.seed is None else args.seed
    plugins = Plugins(allowed=not args.no_plugins, announce=_say, folders=(Path(),))
    found = verify(args.dir, args.sample, seed, args.jobs, sys.stderr, plugins)
    for line in (*(f"differs: {line}" for line in found.differing), *(f"not there: {line}" for line in found.absent)):
        print(line)
    for line in elsewhere(args.dir) if found.differing else ():
        print(f"made with another {line}")
    for line in found.strays:
        _say(f"{line}: belongs to no block of this run")
    same = "every bit is the same" if found.compared else "nothing to compare"
    outcome = f"{len(found.differing)} differences" if found.differing else same
    outcome += f", but {_blocks(len(found.absent))} not there" if found.absent else ""
    print(f"{found.compared} of {found.blocks} blocks computed again (--seed {seed}): {outcome}")
    if not found.compared and not found.differing:
        raise ValueError(f"{args.dir}: none of these blocks is stored, and of this code; nothing is verified")
    return DIFFERS if found.differing or found.absent else DONE


def _blocks(number: int) -> str:
    return f"{number} block{' is' if number == 1 else 's are'}"


def plan_command(args: argparse.Namespace) -> int:
    """Say what a wanted precision takes."""
    from splitlab.engine.config import load_experiment
    from splitlab.engine.names import Plugins
    from splitlab.engine.runner import check_jobs
    from splitlab.kinds.random_tables.plan_table import text_of
    from splitlab.kinds.random_tables.precision import plan
    from splitlab.kinds.trees.config import TreesExperiment

    plugins = Plugins(allowed=not args.no_plugins, announce=_say)
    experiment = load_experiment(args.config, overrides=args.set, plugins=plugins)
    jobs = check_jobs(args.jobs)
    if isinstance(experiment, TreesExperiment):
        cli_trees.print_plan(experiment, args, jobs)
        return DONE
    cells = plan(experiment, args.half_width, args.pilot, sys.stderr)
    print(text_of(cells, args.config, args.half_width, args.pilot, jobs))
    return DONE


def split_command(args: argparse.Namespace) -> int:
    """Split a table from a file."""
    from splitlab.api import split
    from splitlab.splitters import get
    from splitlab.tables.csv_file import read_table
    from splitlab.text import escape

    table = read_table(args.file)
    _import_named({"splitters": args.splitter, "impurities": args.impurity}, not args.no_plugins)
    try:
        found = split(table.counts, args.impurity, args.splitter, args.direction, args.collapsed)
    except ValueError as error:
        raise ValueError(f"{args.file}: {error}") from None
    labels = [escape(label) for label in table.values or (f"row {v}" for v in range(len(table.counts)))]
    print(f"{escape(str(args.file))}: {table.recognised}")
    print(f"{get(args.splitter).title}, {args.impurity}: impurity {found.impurity:.10g}, gain {found.gain:.10g}")
    for side, chosen in (("left", found.left), ("right", ~found.left)):
        print(f"{side}: {', '.join(label for label, here in zip(labels, chosen, strict=True) if here)}")
    return DONE


def adversary_command(args: argparse.Namespace) -> int:
    """Search for a bad table, print it and keep it."""
    from splitlab.adversary import record, worst_known
    from splitlab.adversary.hunt import command, hunt
    from splitlab.adversary.search import check_limits, posed
    from splitlab.adversary.text import text_of

    _import_named({"splitters": args.splitter, "impurities": args.impurity}, not args.no_plugins)
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
    """Say which guarantees hold for an impurity of the user's own."""
    from splitlab.custom_impurity import examine, guarantees

    _import_named({"impurities": name}, allowed)
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

    _import_named({"splitters": args.splitter}, not args.no_plugins)
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


def _import_named(names: dict[str, str], allowed: bool = True) -> None:
    """Import the functions among these splitters and impurities, from the current folder too, and say from where."""
    from splitlab.engine.names import Plugins, plugin_problems

    plugins = Plugins(allowed=allowed, announce=_say, folders=(Path(),))
    for (_, name), problem in plugin_problems({field: (name,) for field, name in names.items()}, plugins):
        raise ValueError(f"{name}: {problem}")


COMMANDS = {
    "data": lambda args: DONE if cli_trees.data_command(args) else DIFFERS,
    "replay-tree": lambda args: DONE if cli_trees.replay_tree_command(args) else DIFFERS,
    "run": run_command,
    "report": report_command,
    "compare": compare_command,
    "replay": replay_command,
    "verify": verify_command,
    "plan": plan_command,
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
        what = f"{type(error).__name__}: {error}"
        if _starved(error):
            _say(f"{prog}: error: out of memory ({what}); what is finished is kept, and fewer --jobs need less")
        else:
            _say(f"{prog}: internal error: {what} (SPLITLAB_DEBUG=1 shows where; please report it)")
    return WRONG_INPUT


def _starved(error: BaseException | None) -> bool:
    """Whether an error comes of too little memory, as far as its own words, or those of its causes, tell."""
    while error:
        if isinstance(error, MemoryError) or any(words in str(error) for words in STARVED):
            return True
        error = error.__cause__ or error.__context__
    return False


def _say(line: str) -> None:
    """One line on stderr, whatever is in it, if anybody listens."""
    if sys.stderr:
        with suppress(OSError, ValueError):
            print(" ".join(line.splitlines()), file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the ``splitlab`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to fail
    args = parser().parse_args(argv)
    return guarded("splitlab", COMMANDS[args.command], args)
