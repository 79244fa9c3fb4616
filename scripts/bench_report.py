"""What `make bench` says: its tables, the targets of issue "Fast", and the comparison with an earlier run."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts import bench_estimates
from scripts.bench_kernels import KERNEL
from scripts.bench_trees import DEPTH, ROWS
from splitlab.report.layout import Entry, Table
from splitlab.splitters import names

CELL = ["code", "splitter", "impurity", "n", "k", "max_count"]
# File: what identifies a row, and the number that is compared. Of several rows with one key the least counts.
COMPARED = {
    "splitters": (CELL, "microseconds"),
    "growth": (CELL, "microseconds"),
    "end_to_end": (["workers", "runs"], "wall_seconds"),
    "memory": (["runs"], "peak_megabytes"),
    "compile": (["case", "splitters"], "kernel_seconds"),
    "trees": (["tree", "rows"], "fit_seconds"),
    "criteria": (["data", "rows", "criterion"], "fit_seconds"),
}
EXPONENT_SLACK = 0.15  # by which a fitted exponent may exceed the expected one
FLAT = 1.1  # ratio of peak memories that still counts as the same

Frames = dict[str, pd.DataFrame]


def simple_table(title: str, frame: pd.DataFrame, keys: int, notes: Sequence[str] = ()) -> Table:
    """A frame as a table: numbers to three digits."""
    rows = [[Entry(_text(value)) for value in row] for row in frame.itertuples(index=False)]
    return Table(title, [str(name) for name in frame.columns], rows, keys, notes)


def _text(value: Any) -> str:
    if isinstance(value, float):  # numpy's float64 is one
        return "-" if math.isnan(value) else f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"
    return str(value)


def tables_of(frames: Frames) -> list[Table]:
    """All that was measured."""
    times = [_times_table(frames, impurity) for impurity in dict.fromkeys(frames["splitters"]["impurity"])]
    shown = ["splitter", "impurity", "variable", "first", "last", "model", "expected", "exponent", "standard_error"]
    note = "Exponents in n are powers, those in k per class to the base 2. Expected: the same fit of the model."
    parts = ["wall_seconds", "load_seconds", "kernel_seconds", "run_seconds", "write_seconds"]
    whole = ["workers", "runs", *parts, "processor_seconds", "peak_megabytes"]
    return [
        *times,
        simple_table("Growth", frames["exponents"][shown], 0, [note]),
        simple_table("Tables 1 and 2, from start to files", frames["end_to_end"][whole], 2),
        simple_table("Memory, n = 12, k = 3", frames["memory"][["runs", "run_seconds", "peak_megabytes"]], 1),
        simple_table("Compiling what Table 1 needs", frames["compile"][["case", "process", *parts[:4], "result"]], 0),
        simple_table("Estimated and measured seconds of a table", frames["estimates"], 3),
        simple_table(f"Decision trees to depth {DEPTH}, on rows like adult's", frames["trees"], 1),
        simple_table("Unpruned trees of numeric columns, by criterion", frames["criteria"], 3),
    ]


def _times_table(frames: Frames, impurity: str) -> Table:
    """A row per cell, a column per splitter, and HcC's plain loop."""
    part = frames["splitters"].query("impurity == @impurity")
    column = part["splitter"].where(part["code"] == KERNEL, part["splitter"] + " plain")
    wide = part.assign(column=column).pivot_table(index=["n", "k"], columns="column", values="microseconds")
    order = [name for known in names() for name in (known, f"{known} plain") if name in wide]
    ratios = frames["hcc"].query("impurity == @impurity").set_index(["n", "k"])["ratio"]
    shown = wide[order].assign(**{"plain / hcc": ratios}).reset_index()
    note = "Least of the rounds, one thread; the ratio is the median of the rounds' own."
    return simple_table(f"Microseconds per table, {impurity}", shown, 2, [note])


@dataclass(frozen=True)
class Target:
    """A demand, what was measured, and whether that meets it; ``upper`` bounds are most, others least values."""

    name: str
    bound: float
    unit: str
    measured: float
    upper: bool = True

    @property
    def met(self) -> str:
        """Whether the measured value is within the bound; "-" if there is none."""
        if math.isnan(self.measured):
            return "-"
        within = self.measured <= self.bound if self.upper else self.measured >= self.bound
        return "yes" if within else "NO"

    def row(self) -> dict[str, Any]:
        """For the csv and the table."""
        bound = f"{'at most' if self.upper else 'at least'} {_text(self.bound)} {self.unit}".rstrip()
        return {"target": self.name, "bound": bound, "measured": self.measured, "met": self.met}


def targets(frames: Frames) -> list[Target]:
    """The targets for speed; nan where a run has not measured the size in question."""
    return [
        *_kernel_targets(frames),
        *_growth_targets(frames),
        *_process_targets(frames),
        _tree_target(frames["trees"]),
        _criteria_target(frames["criteria"]),
        Target(
            "estimated over measured time, or the reverse, any splitter and size",
            bench_estimates.FACTOR,
            "times",
            bench_estimates.worst(frames["estimates"]),
        ),
    ]


def _tree_target(trees: pd.DataFrame) -> Target:
    ours = trees[~trees["tree"].str.startswith("scikit-learn") & (trees["rows"] == ROWS)]
    return Target("fitting a tree of adult's size, slowest splitter", 2.0, "s", _worst(ours["fit_seconds"]))


def _criteria_target(criteria: pd.DataFrame) -> Target:
    alike = criteria.query("criterion in ['gini', 'entropy'] and rows >= 1000")
    return Target(
        "gini or entropy on numeric columns, against scikit-learn", 1.5, "times", _worst(alike["times_scikit_learn"])
    )


def _kernel_targets(frames: Frames) -> list[Target]:
    hcc = _micros(frames, "hcc", 50, 9)
    bounds = (("pc_ext", 12.0), ("sliq_ext", 15.0), ("lca", 1.5))
    each = [Target(f"{s} at (50, 9), slower impurity", b, "µs", _worst(_micros(frames, s, 50, 9))) for s, b in bounds]
    large = _worst(_micros(frames, "sliq_ext", 200, 100)) / 1000.0
    return [
        Target("hcc at (50, 9), both impurities added", 200.0, "µs", float(hcc.sum()) if len(hcc) else math.nan),
        Target("hcc faster than its plain loop, any cell", 2.5, "times", float(frames["hcc"]["ratio"].min()), False),
        *each,
        Target("sliq_ext at (200, 100), slower impurity", 60.0, "ms", large),
    ]


def _micros(frames: Frames, splitter: str, n: int, k: int) -> pd.Series[float]:
    rows = frames["splitters"].query("code == @KERNEL and splitter == @splitter and n == @n and k == @k")
    return rows["microseconds"]


def _worst(values: pd.Series[float]) -> float:
    return float(values.max())  # nan if there are none


def _growth_targets(frames: Frames) -> list[Target]:
    """For each splitter the impurity whose exponent is the larger one."""
    fits = frames["exponents"].sort_values("exponent").drop_duplicates("splitter", keep="last").sort_index()
    return [
        Target(
            f"exponent of {row['splitter']} in {row['variable']} ({row['model']}: {row['expected']:.2f})",
            row["expected"] + EXPONENT_SLACK,
            "",
            row["exponent"],
        )
        for row in fits.to_dict(orient="records")
    ]


def _process_targets(frames: Frames) -> list[Target]:
    whole, memory, compiled = frames["end_to_end"], frames["memory"], frames["compile"]
    best = whole.groupby("workers")[["wall_seconds", "run_seconds"]].min()
    peaks = memory.set_index("runs")["peak_megabytes"]
    flat = f"memory, {peaks.index.max():,} runs over {peaks.index.min():,}"
    first = float(compiled.query("case == 'alone'")["kernel_seconds"].min())
    same = float(compiled["result"].nunique())
    return [
        Target("Tables 1 and 2, two workers", 6.0, "s", best["wall_seconds"].to_dict()[2]),
        Target("two workers over one, splitlab.run", 1.85, "times", _gain(best["run_seconds"]), False),
        Target("peak memory of any process", 400.0, "MB", float(max(whole["peak_megabytes"].max(), peaks.max()))),
        Target(flat, FLAT, "times", float(peaks.iloc[-1] / peaks.iloc[0])),
        Target("compiling what Table 1 needs", 15.0, "s", first),
        Target("different results of processes that compile", 1.0, "", same),
    ]


def _gain(seconds: pd.Series[float]) -> float:
    return float(seconds.to_dict()[1] / seconds.to_dict()[2])


def targets_frame(frames: Frames) -> pd.DataFrame:
    """A row per target."""
    return pd.DataFrame([target.row() for target in targets(frames)])


def ratios(frames: Frames, reference: Path) -> pd.DataFrame:
    """Every number that ``reference`` holds too: file, row, now, reference, ratio = now / reference."""
    parts = []
    for name, (key, value) in COMPARED.items():
        if (path := reference / f"{name}.csv").is_file():
            now, then = (f.groupby(key, sort=False)[value].min() for f in (frames[name], pd.read_csv(path)))
            both = pd.DataFrame({"now": now, "reference": then}).dropna().reset_index()
            label = both[key].astype(str).agg(" ".join, axis=1) if len(both) else pd.Series(dtype=str)
            parts.append(both[["now", "reference"]].assign(file=name, row=label))
    whole = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["now", "reference", "file", "row"])
    return whole[["file", "row", "now", "reference"]].assign(ratio=whole["now"] / whole["reference"])


def geometric_mean(values: pd.Series[float]) -> float:
    """The geometric mean; nan of nothing."""
    return float(np.exp(np.log(values.to_numpy(float)).mean())) if len(values) else math.nan


def comparison(found: pd.DataFrame, manifest: dict[str, Any], reference: Path) -> str:
    """In words and a table: how this run compares with the reference."""
    if found.empty:
        return f"Nothing to compare: {reference.name} of results/reference holds none of these sizes."
    then = json.loads((reference / "manifest.json").read_text(encoding="utf-8"))["machine"]
    notes = [
        f"Same machine as the reference ({then['cpu']}, {then['cores']} cores): the ratios are comparable."
        if then == manifest["machine"]
        else f"The reference was measured on another machine ({then['cpu']}, {then['cores']} cores): "
        "these ratios mix machines and say nothing about the code."
    ]
    if manifest["quick"]:
        notes.append("A quick run is too short to judge by.")
    means = found.groupby("file", sort=False)["ratio"].agg(["size", geometric_mean]).reset_index()
    means.columns = pd.Index(["file", "rows", "geometric mean"])
    worst = found.nlargest(3, "ratio")
    title = f"Now / reference; all {len(found)} rows: geometric mean {geometric_mean(found['ratio']):.3f}"
    return f"{simple_table(title, means, 0, notes).as_text()}\n{simple_table('The three largest', worst, 0).as_text()}"
