"""How fast is it? ``make bench``, or ``python -m scripts.benchmark [--quick] [--long] [--out results/bench]``.

Measures the time of every splitter, its growth, Tables 1 and 2 from start to end, memory, compilation and decision
trees; writes csv files, a figure and a manifest with the machine's description; prints a report that ends with the
targets and with the ratios to results/reference/bench. To renew that reference, copy the csv files and manifest.json of
a run there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from scripts import bench_estimates, bench_trees
from scripts.bench_figure import bench_plot
from scripts.bench_kernels import (
    KERNEL,
    MAX_COUNT,
    Growth,
    Subject,
    every_splitter,
    exponent_frame,
    growing,
    growths,
    hcc_frame,
    measure,
    table_frame,
)
from scripts.bench_processes import METHODS, cache_kernels, compilation, end_to_end, memory
from scripts.bench_report import Frames, comparison, ratios, simple_table, tables_of, targets_frame
from splitlab.engine.progress import tell
from splitlab.engine.provenance import provenance
from splitlab.files import write_atomically
from splitlab.impurity import NAMES
from splitlab.kinds.random_tables.config import Cell
from splitlab.report.figures import save
from splitlab.splitters.registry import code_hash

ROOT = Path(__file__).parents[1]
OUT = ROOT / "results" / "bench"
REFERENCE = ROOT / "results" / "reference" / "bench"


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    n: tuple[int, ...] = (12, 25, 50)
    k: tuple[int, ...] = (3, 5, 7, 9)
    large: tuple[int, int] = (200, 100)
    growth_n: tuple[int, ...] = (100, 147, 215, 316, 464, 681, 1000)
    growth_k: tuple[int, ...] = (5, 6, 7, 8, 9, 10, 11, 12, 13)
    rounds: int = 5
    seconds: float = 0.02
    runs: int = 10_000
    repeats: int = 2
    memory: tuple[int, ...] = (10_000, 100_000)
    empty_cache: bool = True
    tree_rows: int = bench_trees.ROWS
    numeric_rows: int = bench_trees.NUMERIC_ROWS
    longest_table: float = 1.0

    def cells(self) -> list[Cell]:
        """The cells of the main table."""
        return [Cell(n, k, MAX_COUNT) for n in self.n for k in self.k]

    def growths(self) -> list[Growth]:
        """What is fitted."""
        return growths(self.growth_n, self.growth_k)


FULL = Sizes()
QUICK = Sizes(
    n=(6, 12), k=(3, 4), large=(30, 20), growth_n=(20, 40, 80), growth_k=(3, 4, 5), rounds=2, seconds=0.0005,
    runs=20, repeats=1, memory=(100,), empty_cache=False, tree_rows=300, numeric_rows=300, longest_table=1e-4,
)  # fmt: skip


def say(text: str) -> None:
    """A line of progress."""
    tell(f"bench: {text}", sys.stderr)


def measured(sizes: Sizes) -> Frames:
    """Everything, by the name of its csv file."""
    say("compiling what is not in the cache")
    cache_kernels()
    frames = {
        "compile": compilation(METHODS, sizes.empty_cache, say),
        "end_to_end": end_to_end(sizes.runs, sizes.repeats, say),
        "memory": memory(sizes.memory, say),
    }
    say("time of every splitter, impurity and cell")
    large = [Subject(KERNEL, "sliq_ext", impurity, Cell(*sizes.large, MAX_COUNT)) for impurity in NAMES]
    times = measure([*every_splitter(sizes.cells()), *large], sizes.rounds, sizes.seconds)
    say("growth")
    growth = measure(growing(sizes.growths()), sizes.rounds, sizes.seconds)
    say("decision trees")
    trees = bench_trees.measure(*bench_trees.made_up(sizes.tree_rows), bench_trees.DEPTH, say)
    criteria = bench_trees.measure_numeric(sizes.numeric_rows)
    say("estimates of time")
    estimates = bench_estimates.measure(sizes.longest_table)
    kernels = {"splitters": table_frame(times), "hcc": hcc_frame(times), "growth": table_frame(growth)}
    exponents = exponent_frame(sizes.growths(), growth)
    return frames | kernels | {"exponents": exponents, "trees": trees, "criteria": criteria, "estimates": estimates}


def manifest_of(quick: bool, load: float, wall_seconds: float) -> dict[str, Any]:
    """Where the numbers come from; ``load`` is how many processes wanted to run in the minute before."""
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    session = {"when": when, "load_before": round(load, 2), "wall_seconds": round(wall_seconds, 1)}
    return {"name": "bench", "quick": quick, **session, **provenance()}


def report(frames: Frames, manifest: dict[str, Any], reference: Path) -> str:
    """All tables, then the targets, then the comparison."""
    texts = [table.as_text() for table in tables_of(frames)]
    if (reference / "manifest.json").is_file():
        compared = comparison(frames["ratios"], manifest, reference)
    else:
        compared = "There is no reference run to compare with.\n"
    machine = manifest["machine"]
    goal = f"Targets ({machine['cpu']}, {machine['cores']} cores, load {manifest['load_before']} before)"
    return "\n".join([*texts, simple_table(goal, frames["targets"], 0).as_text(), compared])


def write(frames: Frames, manifest: dict[str, Any], text: str, out: Path) -> None:
    """The csv files, figure, report and, last, the manifest."""
    for name, frame in frames.items():
        write_atomically(out / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n", float_format="%.6g"))
    save(bench_plot(frames, manifest["machine"]), out)
    write_atomically(out / "report.txt", text)
    write_atomically(out / "manifest.json", json.dumps(manifest, indent=2) + "\n")


def main(argv: Sequence[str] | None = None, reference: Path = REFERENCE) -> int:
    """Measure, write, print."""
    args = _options(argv)
    sizes = QUICK if args.quick else FULL
    if args.long:
        sizes = Sizes(**{**vars(sizes), "memory": (*sizes.memory, 1_000_000)})
    began, load, sources = perf_counter(), os.getloadavg()[0], code_hash()
    frames = measured(sizes)
    if code_hash() != sources:
        say("the kernels were edited meanwhile: these numbers mix two versions, and nothing is written")
        return 1
    frames["targets"] = targets_frame(frames)
    frames["ratios"] = ratios(frames, reference)
    manifest = manifest_of(args.quick, load, perf_counter() - began)
    text = report(frames, manifest, reference)
    write(frames, manifest, text, args.out)
    print(text)
    say(f"written to {args.out}")
    return 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.benchmark", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that it works, measures nothing")
    parser.add_argument("--long", action="store_true", help="also the memory of 1,000,000 runs")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write to (default: results/bench)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
