"""Worst cases of all splitters: searched from scratch, and on from the worst tables known. Run with ``make adversary``.

Everything worse than what the committed list and the folder have is added to FOLDER/worst.jsonl, so that calls add up.
``python -m scripts.worst_tables`` takes it over into the committed list.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.artefact import RESULTS
from splitlab.adversary import Found, record
from splitlab.adversary.known import Key, Known, challenged, with_better, worst_known
from splitlab.adversary.search import search
from splitlab.cli import DONE, Parser, guarded, whole
from splitlab.montecarlo.progress import tell
from splitlab.report.tables import write_frame
from splitlab.report.worst import frame_of, number, table_of

HEADING = "Worst cases: how far each splitter's impurity can be from the optimum"
SIZES = ((5, 3), (6, 3), (7, 4))  # n, k
SECONDS = 270  # in total


def challenge(key: Key, folder: Path, known: dict[Key, Known], seconds: float, seed: int) -> float:
    """Search in all sizes, then on from what is known of all splitters; keep what is worse. The best from scratch."""
    scratch = 0.0
    for n, k in SIZES:
        found = search(*key, n, k, seconds=seconds, seed=seed)
        scratch = max(scratch, found.ratio)
        _keep(folder, known, found, seed)
    n, k = known[key].counts.shape
    fitting = [one.counts for one in known.values() if one.counts.shape[0] <= n and one.counts.shape[1] <= k]
    _keep(folder, known, search(*key, n, k, seconds=seconds, seed=seed, begin=fitting), seed)
    return scratch


def _keep(folder: Path, known: dict[Key, Known], found: Found, seed: int) -> None:
    better = with_better(known, [found])
    if better != known:
        record.add(folder, found, {"seed": seed, "command": f"make adversary, --seed {seed}"})
        known.update(better)


def main(args: argparse.Namespace) -> int:
    """Search for every splitter and impurity; write and print."""
    folder = args.out or RESULTS / "adversary"
    record.check(folder)
    earlier = record.found(folder)
    seed = 1 + len(earlier) if args.seed is None else args.seed
    known, scratch = with_better(worst_known(), earlier), {}
    for key in challenged():
        scratch[key] = challenge(key, folder, known, args.seconds / len(challenged()) / (len(SIZES) + 1), seed)
        tell(f"{' '.join(key)}: found {number(scratch[key])}, worst known {number(known[key].ratio)}", sys.stderr)
    table = table_of(known, scratch)
    write_frame(folder, "worst", frame_of(known, scratch), [table])
    print(f"results in {folder}", file=sys.stderr, flush=True)
    print(f"{HEADING}\n{'=' * len(HEADING)}\n")
    print(table.as_text())
    return DONE


def options() -> argparse.Namespace:
    """The command line."""
    parser = Parser(prog="python -m experiments.adversary", description=HEADING)
    parser.add_argument("--seconds", type=whole, default=SECONDS, metavar="T", help=f"in total (default: {SECONDS})")
    parser.add_argument("--seed", type=whole, metavar="S", help="(default: another after every addition)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="results folder (default: results/adversary)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(guarded("experiments.adversary", main, options()))
