"""Relative excess for three max_count, beside the published maxima. Run with ``make excess``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.artefact import CONFIGS, RESULTS, Artefact, print_headed
from splitlab.cli import DONE
from splitlab.files import write_atomically
from splitlab.kinds.splits.extremes import alike, maxima_frame, maxima_remark, maxima_table, pooled_excess, pooled_table
from splitlab.kinds.splits.results import Results
from splitlab.report.layout import Table, write_frame
from splitlab.study import run, text_of, write_tables


def write_summaries(results: Results, folder: Path) -> tuple[list[Table], str]:
    """Write the pooled excess and the maxima; their tables, and a remark on the maxima."""
    pooled = pooled_excess(results)
    maxima = maxima_frame(pooled)
    tables = [pooled_table(pooled), maxima_table(maxima)]
    for name, frame, table in zip(("pooled_excess", "maxima"), (pooled, maxima), tables, strict=True):
        write_frame(folder, name, frame, [table])
    return tables, maxima_remark(maxima)


def main(artefact: Artefact, args: argparse.Namespace) -> int:
    """Run, write and print everything about relative excess."""
    folder = args.out or RESULTS / "excess"
    results = run(CONFIGS / str(artefact.config), runs=args.runs, jobs=args.jobs, out=folder, say=sys.stderr)
    tables, remark = write_summaries(results, folder)
    comparison = alike(results)
    write_tables(results, folder, (comparison,))
    write_atomically(folder / "verdict.txt", f"{remark}\n{comparison}\n")  # instead of that on single entries
    print(f"results in {folder}", file=sys.stderr, flush=True)
    print_headed(artefact, args, text_of(results, (comparison,)), results.experiment)
    print("\n" + "\n".join(t.as_text() for t in tables))
    print(remark)
    return DONE
