"""Everything about random tables, one artefact after the other, and a summary. Run with ``make all``."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from experiments.artefact import RESULTS, ROOT, options
from splitlab.cli import DIFFERS, DONE, guarded
from splitlab.report.layout import NONE, Entry, Table

HEADING = "Everything about random tables"
# Module of experiments/, what it shows, and where that is.
ARTEFACTS = (
    ("replay", "the authors' own tables", "replay"),
    ("table1", "Table 1", "table1"),
    ("table2", "Table 2", "table2"),
    ("table1_corrected", "Table 1, corrected", "table1_corrected"),
    ("table2_corrected", "Table 2, corrected", "table2_corrected"),
    ("excess", "relative excess", "excess"),
    ("optimality", "optimality", "optimality"),
    ("adversary", "worst cases", "adversary"),
    ("table3", "Table 3", "table3"),
    ("figures", "figures", "figures"),
    ("report", "report", "report.html"),
)
# What is passed on instead of the number of runs and jobs.
OWN_OPTIONS = {"adversary": ["--seconds=60"]}
STATES = {0: "done", DIFFERS: "DIFFERS"}


@dataclass(frozen=True)
class Outcome:
    """How an artefact's program ended, and after how long."""

    code: int
    seconds: float


def make(module: str, given: list[str]) -> Outcome:
    """Run one experiment as a program of its own, so that none can disturb another."""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", f"experiments.{module}", *given], cwd=ROOT, check=False)
    return Outcome(done.returncode, time.monotonic() - began)


def verdict(place: Path) -> str:
    """The beginning of the verdict that an artefact left in its folder."""
    path = place / "verdict.txt"
    return path.read_text(encoding="utf-8").splitlines()[0].split(" (")[0] if path.is_file() else NONE


def summary(outcomes: dict[str, Outcome]) -> Table:
    """One row per artefact: state, time, file, verdict."""
    rows = []
    for module, title, file in ARTEFACTS:
        outcome, place = outcomes[module], RESULTS / file
        state = STATES.get(outcome.code, "FAILED")
        texts = [title, state, f"{outcome.seconds:.0f} s", str(place.relative_to(ROOT)), verdict(place)]
        rows.append([Entry(text) for text in texts])
    return Table("Summary", ["artefact", "state", "time", "file", "verdict"], rows, 1)


def main(args: argparse.Namespace) -> int:
    """Make every artefact; 1 if a number differs, 2 if a program failed."""
    given = [f"--{name}={value}" for name in ("runs", "jobs") if (value := getattr(args, name)) is not None]
    outcomes = {module: make(module, OWN_OPTIONS.get(module, given)) for module, _, _ in ARTEFACTS}
    print(summary(outcomes).as_text())
    return max((outcome.code for outcome in outcomes.values()), default=DONE)


if __name__ == "__main__":
    sys.exit(guarded("experiments.all", main, options("all", HEADING)))
