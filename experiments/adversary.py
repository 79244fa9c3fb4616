"""Worst cases of all splitters: searched from scratch, and on from the worst tables known. Run with ``make adversary``.

Everything worse than what the committed list and the folder have is added to FOLDER/worst.jsonl, so that calls add up.
``make worst-tables`` takes it over into the committed list, which the README shows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from experiments.artefact import RESULTS, Artefact, print_headed
from splitlab.adversary import Found, record
from splitlab.adversary.known import Key, Known, challenged, proven, with_better, worst_known
from splitlab.adversary.search import search
from splitlab.adversary.text import number
from splitlab.cli import DONE, whole
from splitlab.engine.progress import tell
from splitlab.report.layout import IMPURITY_TITLES, NONE, Entry, Table, write_frame
from splitlab.splitters import get

SIZES = ((5, 3), (6, 3), (7, 4))  # n, k
SECONDS = 270  # in total
NOTES = (
    "Committed: the list that comes with the package and that the README shows. Known: the worst of that list and of "
    "all that calls in this folder found. From scratch: what this call found without starting from known tables.",
    "Impurity of a splitter's split / optimum on the worst table known: a lower bound on the splitter's worst case.",
    "Entries of the tables are bounded; where nothing is proven a ratio may go on growing with the bound.",
)


@dataclass(frozen=True)
class Call:
    """Where to keep what is found, how long each search takes, and by which call it was found."""

    folder: Path
    seconds: float
    seed: int
    command: str

    def keep(self, known: dict[Key, Known], found: Found) -> None:
        """Add what is worse than all that is known to the folder, and to ``known``, and say so."""
        better = with_better(known, [found])
        if better != known:
            record.add(self.folder, found, {"seed": self.seed, "command": self.command})
            before = known.get((found.splitter, found.impurity))
            than = f"the worst known had {number(before.ratio)}" if before else "none was known"
            tell(f"{found.splitter} {found.impurity}: a worse table, {number(found.ratio)}; {than}", sys.stderr)
            known.update(better)


def challenge(key: Key, known: dict[Key, Known], call: Call) -> float:
    """Search in all sizes, then on from what is known of all splitters; keep what is worse. The best from scratch."""
    scratch = 0.0
    for n, k in SIZES:
        found = search(*key, n, k, seconds=call.seconds, seed=call.seed)
        scratch = max(scratch, found.ratio)
        call.keep(known, found)
    n, k = known[key].counts.shape
    fitting = [one.counts for one in known.values() if one.counts.shape[0] <= n and one.counts.shape[1] <= k]
    call.keep(known, search(*key, n, k, seconds=call.seconds, seed=call.seed, begin=fitting))
    return scratch


def frame_of(known: Mapping[Key, Known], scratch: Mapping[Key, float]) -> pd.DataFrame:
    """The list as a frame; ``scratch`` has the ratios that this call found from scratch."""
    columns = ["splitter", "impurity", "found", "committed", "worst", "proven", "n", "k", "table"]
    rows, committed = [], worst_known()
    for key, found in scratch.items():
        ratios = [found, committed[key].ratio if key in committed else None, known[key].ratio, proven(*key)]
        counts = known[key].counts
        rows.append([*key, *ratios, *counts.shape, counts.tolist()])
    return pd.DataFrame(rows, columns=columns)


def table_of(known: Mapping[Key, Known], scratch: Mapping[Key, float]) -> Table:
    """The list, one row per splitter and impurity."""
    heads = ["splitter", "impurity", "from scratch", "committed", "known", "proven", "size"]
    rows, committed = [], worst_known()
    for name, impurity in scratch:
        one, listed, most = known[name, impurity], committed.get((name, impurity)), proven(name, impurity)
        n, k = one.counts.shape
        shown = [
            Entry(number(scratch[name, impurity])),
            Entry(number(listed.ratio) if listed else NONE),
            Entry(number(one.ratio), best=one != listed),
            Entry(NONE if most is None else f"{most:g}"),
        ]
        rows.append([Entry(get(name).title), Entry(IMPURITY_TITLES[impurity]), *shown, Entry(f"{n} x {k}")])
    better = "worse than the committed table; `make worst-tables` takes it over"
    return Table("Worst known tables: ratio to the optimum", heads, rows, 2, NOTES, better)


def improvements(before: Mapping[Key, Known], after: Mapping[Key, Known]) -> str:
    """How many of the known tables a call replaced by worse ones, and which."""
    better = [key for key, one in after.items() if one != before.get(key)]
    if not better:
        return f"This call found no table worse than the {len(before)} known ones."
    changes = (
        f"{' '.join(key)} {number(before[key].ratio) if key in before else NONE} -> {number(after[key].ratio)}"
        for key in better
    )
    return f"This call found tables worse than {len(better)} of the {len(before)} known ones: {', '.join(changes)}."


def main(artefact: Artefact, args: argparse.Namespace) -> int:
    """Search for every splitter and impurity; write and print."""
    folder = args.out or RESULTS / "adversary"
    record.check(folder)
    earlier = record.found(folder)
    seed = 1 + len(earlier) if args.seed is None else args.seed
    each = args.seconds / len(challenged()) / (len(SIZES) + 1)
    call = Call(folder, each, seed, f"python -m experiments adversary --seconds {args.seconds} --seed {seed}")
    before = with_better(worst_known(), earlier)
    known, scratch = dict(before), {}
    for at, key in enumerate(challenged(), 1):
        scratch[key] = challenge(key, known, call)
        text = f"{' '.join(key)}: from scratch {number(scratch[key])}, known {number(known[key].ratio)}"
        tell(f"{at} of {len(challenged())}: {text}", sys.stderr)
    table = table_of(known, scratch)
    write_frame(folder, "worst", frame_of(known, scratch), [table])
    print(f"results in {folder}", file=sys.stderr, flush=True)
    print_headed(artefact, args, f"{table.as_text()}\n{improvements(before, known)}")
    return DONE


def add_options(parser: argparse.ArgumentParser) -> None:
    """Seconds, seed and folder."""
    parser.add_argument("--seconds", type=whole, default=SECONDS, metavar="T", help=f"in total (default: {SECONDS})")
    parser.add_argument("--seed", type=whole, metavar="S", help="(default: another after every addition)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="results folder (default: results/adversary)")
