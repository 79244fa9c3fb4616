"""The authors' own random tables: every Monte Carlo number of the paper, digit for digit. Run with ``make replay``.

Three runs: all cells of max_count 7 by the rules of this package; the cell in which rounding decides once more in the
arithmetic of the published program; and max_count 2, of which the published maxima are.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd

from experiments.artefact import CONFIGS, RESULTS, Artefact, print_headed
from splitlab.cli import DIFFERS, DONE
from splitlab.files import write_atomically
from splitlab.kinds.splits.compare import Entry as Compared
from splitlab.kinds.splits.compare import entries as printed_entries
from splitlab.kinds.splits.compare import judge
from splitlab.kinds.splits.extremes import maxima_frame, maxima_table, pooled_excess
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.tables import win_tables
from splitlab.published import load
from splitlab.published.stream import RUNS
from splitlab.report.layout import Entry, Table, Verdict, impurity_title, write_frame
from splitlab.splitters import get
from splitlab.study import run, write_tables

PAPER = ("hcc", "pc_ext_counts", "sliq_ext", "lca")
PROGRAM = "splitlab.published.program.random_tables"
# How PCext and SLIQext are computed: a description, and the splitters in the order of PAPER.
WAYS = {
    "the rules of this package": PAPER,
    "PCext as the program computes": ("hcc", f"{PROGRAM}:pc_ext_counts", "sliq_ext", "lca"),
    "and SLIQext too": ("hcc", f"{PROGRAM}:pc_ext_counts", f"{PROGRAM}:sliq_ext", "lca"),
}
CELL = (50, 3)  # n, k: the cell in which rounding decides
# By so many tables of 10,000 the eigensolvers of different processors differ.
NOISE = 10
NOTHING_PRINTED = "Of max_count 15 the paper prints nothing to compare with; `draws: authors` draws those tables too."
MACHINE = (
    "In the program's arithmetic rounding decides how PCext orders values that score alike, and the last bits of an "
    f"eigenvector differ between processors: wins may differ by a few of the {RUNS:,} from machine to machine."
)


def arithmetic_frame(results: Results) -> pd.DataFrame:
    """Wins in the cell in which rounding decides, in each of WAYS, beside the printed percentages.

    Columns: impurity, way, splitter (as the paper has it), wins, runs, published, apart (how many wins ours is from
    the nearest number that is printed like this; 0 where ours is printed alike).
    """
    ((cell, runs),) = results.experiment.cells
    printed = load("paper")
    rows = []
    for way, splitters in WAYS.items():
        won = results.among(splitters).win_percentage.set_index(["impurity", "splitter"])["wins"]
        for impurity in results.experiment.impurities:
            for name, splitter in zip(PAPER, splitters, strict=True):
                place = (impurity, cell.n, cell.k, cell.max_count, name)
                entry = Compared(*place, int(won[impurity, splitter]), runs, printed.get(*place) or "")
                row = {"impurity": impurity, "way": way, "splitter": name, "wins": entry.wins, "runs": runs}
                rows.append({**row, "published": entry.printed, "apart": apart(entry)})
    return pd.DataFrame(rows)


def apart(entry: Compared) -> int:
    """By how many wins an entry misses the nearest count that is printed as the paper has it."""
    counts = entry.possible_counts()
    return max(counts.start - entry.wins, entry.wins - counts[-1], 0)


def arithmetic_table(frame: pd.DataFrame) -> Table:
    """The cell in which rounding decides, for readers; what is printed as in the paper has a mark."""
    rows = []
    for impurity, part in frame.groupby("impurity", sort=False):
        title = impurity_title(str(impurity))
        first = part.drop_duplicates("splitter")
        rows.append([Entry(t) for t in (title, "printed in the paper", *first["published"])])
        for way, here in part.groupby("way", sort=False):
            percents = 100.0 * here["wins"] / here["runs"]
            entries = [Entry(f"{p:.2f}", best=a == 0) for p, a in zip(percents, here["apart"], strict=True)]
            rows.append([Entry(title), Entry(str(way)), *entries])
    heads = ["impurity", "computed by", *(get(name).title for name in PAPER)]
    title = "n = 50, k = 3, where rounding decides: percentage of tables won"
    return Table(title, heads, rows, 1, [MACHINE], "printed like this it is the paper's number")


def maxima_lines(frame: pd.DataFrame, folder: Path) -> list[str]:
    """The commands that show the tables on which the maxima happened."""
    where = frame.drop_duplicates(["n", "k", "maximum_run"])
    command = f".venv/bin/splitlab replay {os.path.relpath(folder)}"
    return [
        "The tables of these maxima, and every splitter's split of them:",
        *(
            f"  {command} --n {n} --k {k} --run {r}"
            for n, k, r in where[["n", "k", "maximum_run"]].itertuples(index=False)
        ),
    ]


def verdict_of(entries: Verdict, printed: int, arithmetic: pd.DataFrame, maxima: pd.DataFrame) -> Verdict:
    """What all three parts say together; ``entries`` is the verdict on the ``printed`` entries by our rules."""
    if not entries.judged:
        return entries
    nearest = arithmetic.groupby(["impurity", "splitter"])["apart"].min()
    # An entry of another cell than that of the arithmetic has no second way to be right.
    others = [int(nearest[e.impurity, e.splitter]) if (e.n, e.k) == CELL else NOISE + 1 for e in entries.differing]
    ours, right = printed - len(others), sum(apart == 0 for apart in others)
    text = (
        f"{ours + right} of {printed} entries equal, digit for digit: {ours} by the rules of this package, {right} of "
        f"n = {CELL[0]}, k = {CELL[1]} in the arithmetic of the published program\n"
        f"{maxima['alike'].sum()} of {len(maxima)} maxima of the relative excess equal, digit for digit (max_count 2)"
    )
    return replace(entries, agrees=all(o <= NOISE for o in others) and bool(maxima["alike"].all()), text=text)


def main(artefact: Artefact, args: argparse.Namespace) -> int:
    """Run, write and print the three parts; 1 if a number differs."""
    folder = args.out or RESULTS / artefact.name
    arithmetic_folder, excess_folder = (folder.with_name(f"{folder.name}_{part}") for part in ("arithmetic", "excess"))
    results, rounding, excess = (
        run(CONFIGS / f"{config}.yaml", runs=args.runs, jobs=args.jobs, out=out, say=sys.stderr)
        for config, out in (
            ("replay", folder),
            ("replay_arithmetic", arithmetic_folder),
            ("replay_excess", excess_folder),
        )
    )
    arithmetic, maxima = arithmetic_frame(rounding), maxima_frame(pooled_excess(excess))
    tables = [arithmetic_table(arithmetic), maxima_table(maxima)]
    verdict = verdict_of(judge(results), len(printed_entries(results)), arithmetic, maxima)
    write_tables(results, folder, (verdict.text,))
    write_atomically(folder / "verdict.txt", verdict.text + "\n")
    write_frame(folder, "arithmetic", arithmetic, tables[:1])
    write_frame(folder, "maxima", maxima, tables[1:])
    for other, place in ((rounding, arithmetic_folder), (excess, excess_folder)):
        write_tables(other, place)
    print(f"results in {folder}, {arithmetic_folder} and {excess_folder}", file=sys.stderr, flush=True)
    texts = [table.as_text() for table in (*win_tables(results), *tables)]
    text = "\n".join([*texts, *maxima_lines(maxima, excess_folder), "", NOTHING_PRINTED, verdict.text])
    print_headed(artefact, args, text, results.experiment)
    return DONE if verdict.agrees else DIFFERS
