"""Worst cases of all splitters: searched from scratch, and on from the worst tables known. Run with ``make adversary``.

Everything worse than what the committed list and the folder have is added to FOLDER/worst.jsonl, so that calls add up.
``python -m scripts.worst_tables`` takes it over into the committed list.
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
        """Add what is worse than all that is known to the folder, and to ``known``."""
        better = with_better(known, [found])
        if better != known:
            record.add(self.folder, found, {"seed": self.seed, "command": self.command})
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
    columns = ["splitter", "impurity", "found", "worst", "proven", "n", "k", "table"]
    rows = []
    for key, found in scratch.items():
        ratios, counts = [found, known[key].ratio, proven(*key)], known[key].counts
        rows.append([*key, *ratios, *counts.shape, counts.tolist()])
    return pd.DataFrame(rows, columns=columns)


def table_of(known: Mapping[Key, Known], scratch: Mapping[Key, float]) -> Table:
    """The list, one row per splitter and impurity."""
    heads = ["splitter", "impurity", "found now", "worst known", "proven", "size"]
    rows = []
    for name, impurity in scratch:
        one, most = known[name, impurity], proven(name, impurity)
        n, k = one.counts.shape
        shown = [number(scratch[name, impurity]), number(one.ratio), NONE if most is None else f"{most:g}"]
        rows.append([Entry(t) for t in (get(name).title, IMPURITY_TITLES[impurity], *shown, f"{n} x {k}")])
    return Table("Worst known tables: ratio to the optimum", heads, rows, 2, NOTES)


def main(artefact: Artefact, args: argparse.Namespace) -> int:
    """Search for every splitter and impurity; write and print."""
    folder = args.out or RESULTS / "adversary"
    record.check(folder)
    earlier = record.found(folder)
    seed = 1 + len(earlier) if args.seed is None else args.seed
    each = args.seconds / len(challenged()) / (len(SIZES) + 1)
    call = Call(folder, each, seed, f"python -m experiments adversary --seconds {args.seconds} --seed {seed}")
    known, scratch = with_better(worst_known(), earlier), {}
    for key in challenged():
        scratch[key] = challenge(key, known, call)
        tell(f"{' '.join(key)}: found {number(scratch[key])}, worst known {number(known[key].ratio)}", sys.stderr)
    table = table_of(known, scratch)
    write_frame(folder, "worst", frame_of(known, scratch), [table])
    print(f"results in {folder}", file=sys.stderr, flush=True)
    print_headed(artefact.heading, table.as_text())
    return DONE


def add_options(parser: argparse.ArgumentParser) -> None:
    """Seconds, seed and folder."""
    parser.add_argument("--seconds", type=whole, default=SECONDS, metavar="T", help=f"in total (default: {SECONDS})")
    parser.add_argument("--seed", type=whole, metavar="S", help="(default: another after every addition)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="results folder (default: results/adversary)")
