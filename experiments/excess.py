"""Relative excess for three max_count, beside the published maxima. Run with ``make excess``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import pandas as pd

from experiments.artefact import CONFIGS, RESULTS, options, print_headed
from splitlab.cli import DONE, guarded
from splitlab.montecarlo.config import load_experiment
from splitlab.montecarlo.folder import origin
from splitlab.montecarlo.runner import check_jobs
from splitlab.montecarlo.store import write_atomically
from splitlab.montecarlo.study import Results, run
from splitlab.montecarlo.tail import exceedances
from splitlab.report.compare import judge
from splitlab.report.extremes import (
    alike,
    combined,
    exceedances_of,
    maxima_frame,
    maxima_table,
    maxima_verdict,
    pooled_excess,
    pooled_table,
    published_thresholds,
)
from splitlab.report.layout import Table
from splitlab.report.tables import text_of, write_frame, write_tables

HEADING = "Relative excess over the best other method, and whether other max_count behave alike"
TAIL_FACTOR = 100  # tables in the tail's cells for each one of the others, when RUNS is given


def tail(folder: Path, runs: int | None, jobs: int | None) -> pd.DataFrame:
    """Exceedances in the cells with the largest excess; kept in FOLDER/tail.csv for the next call."""
    experiment = load_experiment(CONFIGS / "excess_tail.yaml", runs=None if runs is None else TAIL_FACTOR * runs)
    made_with = json.dumps({**origin(experiment), "config": experiment.to_yaml()})
    kept, mark = folder / "tail.csv", folder / "tail.json"
    if kept.is_file() and mark.is_file() and mark.read_text(encoding="utf-8") == made_with:
        return pd.read_csv(kept)
    frame = exceedances(experiment, published_thresholds(), check_jobs(jobs), sys.stderr)
    write_atomically(kept, frame.to_csv(index=False, lineterminator="\n"))
    write_atomically(mark, made_with)
    return frame


def write_summaries(results: Results, folder: Path, tail_counts: pd.DataFrame) -> tuple[list[Table], str]:
    """Write the pooled excess and the maxima; their tables, and the verdict on the maxima."""
    pooled = pooled_excess(results)
    maxima = maxima_frame(pooled, combined(exceedances_of(results), tail_counts))
    tables = [pooled_table(pooled), maxima_table(maxima)]
    for name, frame, table in zip(("pooled_excess", "maxima"), (pooled, maxima), tables, strict=True):
        write_frame(folder, name, frame, [table])
    return tables, maxima_verdict(maxima)


def main(args: argparse.Namespace) -> int:
    """Run, write and print everything about relative excess."""
    folder = args.out or RESULTS / "excess"
    results = run(CONFIGS / "excess.yaml", runs=args.runs, jobs=args.jobs, out=folder, say=sys.stderr)
    tables, verdict = write_summaries(results, folder, tail(folder, args.runs, args.jobs))
    comparison = alike(results)
    entries = judge(results)
    write_tables(results, folder, entries, (comparison,))
    write_atomically(folder / "verdict.txt", f"{verdict}\n{comparison}\n")  # instead of that on single entries
    print(f"results in {folder}", file=sys.stderr, flush=True)
    print_headed(HEADING, text_of(results, entries, (comparison,)))
    print("\n" + "\n".join(t.as_text() for t in tables))
    print(verdict)
    return DONE


if __name__ == "__main__":
    sys.exit(guarded("experiments.excess", main, options("excess", HEADING)))
