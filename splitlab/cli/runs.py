"""The commands that run experiments and read their results. Each imports what it needs."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from splitlab.cli.options import (
    DIFFERS,
    DONE,
    Commands,
    add_no_plugins,
    add_run_options,
    number,
    say,
    whole,
)
from splitlab.text import are, counted

if TYPE_CHECKING:
    from splitlab.engine.verify import Verified

RESULTS = Path("results")
COMMITTED = "reference"  # the folder there that a run must not write into, and that `make clean` spares
SHOWN = 5  # names in a line


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    _add_run(commands)
    report = commands.add_parser("report", help="write tables, figures and a page from the stored runs of a folder")
    report.add_argument("dir", type=Path, metavar="DIR")
    report.set_defaults(command=report_command)
    compare = commands.add_parser("compare", help="hold the results against the published numbers; 1 if any differs")
    compare.add_argument("dir", type=Path, metavar="DIR")
    compare.set_defaults(command=compare_command)
    _add_replay(commands)
    _add_verify(commands)
    _add_plan(commands)


def _add_run(commands: Commands) -> None:
    run = commands.add_parser("run", help="run an experiment, or what is left of it, and print its tables")
    run.add_argument("config", metavar="CONFIG", help="YAML file, see configs/")
    add_run_options(run)
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="replace a top-level key")
    run.add_argument("--fresh", action="store_true", help="keep old results as a backup and start again")
    run.add_argument("--backend", choices=["local", "dask"], default="local", help="where the work is done")
    run.add_argument("--scheduler", metavar="tcp://HOST:PORT", help="of the Dask cluster, with --backend dask")
    add_no_plugins(run)
    run.set_defaults(command=run_command)


def run_command(args: argparse.Namespace) -> int:
    """Run or continue an experiment; print its tables."""
    from splitlab.engine.names import Plugins
    from splitlab.study import load_experiment, run, text_of, write_tables

    if (args.backend == "dask") != (args.scheduler is not None):
        raise ValueError("--backend dask and --scheduler tcp://HOST:PORT go together; give both, or neither")
    plugins = Plugins(allowed=not args.no_plugins, announce=say)
    experiment = load_experiment(args.config, runs=args.runs, overrides=args.set, plugins=plugins)
    if args.out is None and experiment.name == COMMITTED:
        raise ValueError(f"{args.config}: name: {COMMITTED!r} is where committed results are kept; choose another name")
    folder = args.out or RESULTS / experiment.name
    results = run(experiment, jobs=args.jobs, out=folder, fresh=args.fresh, say=sys.stderr, scheduler=args.scheduler)
    if (folder / "report.html").exists():
        say(f"{folder}/report.html is of an earlier run; `splitlab report {folder}` renews it")
    say(f"results in {folder}")
    write_tables(results, folder)
    print(text_of(results))
    return DONE


def report_command(args: argparse.Namespace) -> int:
    """Write the tables of a folder again, and its figures and page."""
    from splitlab.study import load_results, text_of, write_document, write_tables

    results = load_results(args.dir, sys.stderr)
    write_tables(results, args.dir)
    print(text_of(results))
    write_document(results, args.dir, sys.stderr)
    figures = f"figures in {args.dir / 'figures'}, " if (args.dir / "figures").is_dir() else ""
    say(f"{figures}one page in {args.dir / 'report.html'}")
    return DONE


def compare_command(args: argparse.Namespace) -> int:
    """Print the verdict; exit code 1 if a number differs."""
    from splitlab.study import load_results, verdict

    found = verdict(load_results(args.dir, sys.stderr))
    for entry in found.differing:
        print(f"differs: {entry}")
    print(found.text)
    return DONE if found.agrees else DIFFERS


def _add_replay(commands: Commands) -> None:
    replay = commands.add_parser("replay", help="show the table of one run and what every splitter makes of it")
    replay.add_argument("dir", type=Path, metavar="DIR")
    replay.add_argument("--n", type=whole, required=True)
    replay.add_argument("--k", type=whole, required=True)
    replay.add_argument("--max-count", type=whole)
    replay.add_argument("--run", type=whole, required=True)
    add_no_plugins(replay)
    replay.set_defaults(command=replay_command)


def replay_command(args: argparse.Namespace) -> int:
    """Show one run."""
    from splitlab.engine.names import Plugins
    from splitlab.study import opened

    plugins = Plugins(allowed=not args.no_plugins, announce=say, folders=(Path(),))
    print(opened(args.dir, plugins).replay(args.dir, args.n, args.k, args.max_count, args.run, plugins))
    return DONE


def _add_verify(commands: Commands) -> None:
    verify = commands.add_parser("verify", help="compute random blocks of a folder again; 1 if any bit differs")
    verify.add_argument("dir", type=Path, metavar="DIR")
    verify.add_argument("--sample", type=whole, default=50, metavar="N", help="how many blocks (default: 50)")
    verify.add_argument("--seed", type=whole, help="of the choice of blocks (default: another one each time)")
    verify.add_argument("--jobs", type=whole, metavar="J", help="worker threads (default: all processors)")
    add_no_plugins(verify)
    verify.set_defaults(command=verify_command)


def verify_command(args: argparse.Namespace) -> int:
    """Compute random blocks again; exit code 1 if any bit differs."""
    from secrets import randbelow

    from splitlab.engine.names import Plugins
    from splitlab.engine.session import Session
    from splitlab.engine.verify import elsewhere, verify
    from splitlab.study import opened

    seed = randbelow(10**9) if args.seed is None else args.seed
    plugins = Plugins(allowed=not args.no_plugins, announce=say, folders=(Path(),))
    kind = opened(args.dir, plugins)
    found = verify(kind, args.dir, args.sample, seed, Session(jobs=args.jobs, say=sys.stderr), plugins)
    for what, lines in (("differs", found.differing), ("damaged", found.damaged), ("not there", found.absent)):
        for line in lines:
            print(f"{what}: {line}")
    if found.outdated:
        print(f"stored by other code than this, and not compared: {found.outdated}")
    for line in elsewhere(kind, args.dir) if found.differing else ():
        print(f"made with another {line}")
    if found.orphans:
        say(f"{_some(found.orphans)}: of no block of this run, and not looked at")
    others = f"not looked at: {', '.join(found.others)}" if found.others else ""
    tables = f"{counted(found.tables, 'file')} of tables made again and compared" if found.tables else ""
    if tables or others:
        say("; ".join(filter(None, (tables, others))))
    print(_outcome(found, seed))
    bad = found.differing or found.damaged
    if not found.compared and not bad:
        raise ValueError(f"{args.dir}: none of these blocks is stored, and of this code; nothing is verified")
    return DIFFERS if bad or found.absent else DONE


def _outcome(found: Verified, seed: int) -> str:
    """What `verify` found, in a line."""
    same = "every bit is the same" if found.compared else "nothing to compare"
    outcome = counted(len(found.differing), "difference") if found.differing else same
    problems = []
    if found.damaged:
        names = _some([line.partition(": ")[0] for line in found.damaged])
        problems.append(f"{counted(len(found.damaged), 'file')} of blocks {are(len(found.damaged))} damaged ({names})")
    if found.absent:
        problems.append(f"{counted(len(found.absent), 'block')} {are(len(found.absent))} not there")
    but = f", but {' and '.join(problems)}" if problems else ""
    return f"{found.compared:,} of {counted(found.blocks, 'block')} computed again (--seed {seed}): {outcome}{but}"


def _some(places: Sequence[object]) -> str:
    """Some places in a line, the first few by their names."""
    more = f", and {len(places) - SHOWN:,} more" if len(places) > SHOWN else ""
    return ", ".join(map(str, places[:SHOWN])) + more


def _add_plan(commands: Commands) -> None:
    plan = commands.add_parser("plan", help="how many runs a precision takes, how long, and how much disk")
    plan.epilog = "Without percentages to plan it says how much is stored, how long the rest takes, and how much disk."
    plan.add_argument("config", metavar="CONFIG", help="YAML file, see configs/")
    width = "half the 95 %% interval of a percentage, in percentage points, such as 0.2"
    plan.add_argument("--half-width", type=number, metavar="H", help=width)
    plan.add_argument("--pilot", type=whole, metavar="N", help="make N runs first, and plan with what they win")
    add_run_options(plan)
    plan.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="replace a top-level key")
    add_no_plugins(plan)
    plan.set_defaults(command=plan_command)


def plan_command(args: argparse.Namespace) -> int:
    """Say what a wanted precision takes, or what is left to do."""
    from splitlab.engine.names import Plugins
    from splitlab.engine.planning import PlanRequest
    from splitlab.engine.session import Session
    from splitlab.study import kind_of, load_experiment

    plugins = Plugins(allowed=not args.no_plugins, announce=say)
    if args.runs is not None and args.half_width is not None:
        raise ValueError("--runs and --half-width: give one; a half-width says how many runs it takes")
    experiment = load_experiment(args.config, runs=args.runs, overrides=args.set, plugins=plugins)
    options = [*(f"--set {shlex.quote(text)}" for text in args.set)]
    options += [f"--runs {args.runs}"] if args.runs is not None else []
    options += [f"--out {shlex.quote(str(args.out))}"] if args.out is not None else []
    config = " ".join([shlex.quote(args.config), *options])
    session = Session(out=args.out or RESULTS / experiment.name, jobs=args.jobs, say=sys.stderr)
    print(kind_of(experiment).plan(PlanRequest(config, args.half_width, args.pilot, session)))
    return DONE
