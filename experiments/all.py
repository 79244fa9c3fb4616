"""Everything about random tables, one artefact after the other, and a summary. Run with ``make all``."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass

from experiments.artefact import RESULTS, ROOT, Artefact
from splitlab.cli import DIFFERS, DONE
from splitlab.report.layout import Entry, Table

# Name of the artefact, what it shows, and where that is.
PARTS = (
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


def make(name: str, given: list[str]) -> Outcome:
    """Make one artefact in a process of its own, so that none can disturb another."""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "experiments", name, *given], cwd=ROOT, check=False)
    return Outcome(done.returncode, time.monotonic() - began)


def verdicts(file: str) -> list[str]:
    """The lines of the verdict that an artefact left in its folder."""
    path = RESULTS / file / "verdict.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def summary(outcomes: dict[str, Outcome]) -> Table:
    """One row per artefact: state, time, file; the verdicts below."""
    rows, notes = [], []
    for name, title, file in PARTS:
        outcome = outcomes[name]
        state = STATES.get(outcome.code, "FAILED")
        texts = [title, state, f"{outcome.seconds:.0f} s", str((RESULTS / file).relative_to(ROOT))]
        rows.append([Entry(text) for text in texts])
        notes += [f"{title}: {line}" for line in verdicts(file)]
    return Table("Summary", ["artefact", "state", "time", "file"], rows, 1, notes)


def main(artefact: Artefact, args: argparse.Namespace) -> int:
    """Make every artefact; 1 if a number differs, 2 if a program failed."""
    given = [f"--{name}={value}" for name in ("runs", "jobs") if (value := getattr(args, name)) is not None]
    outcomes = {name: make(name, OWN_OPTIONS.get(name, given)) for name, _, _ in PARTS}
    print(summary(outcomes).as_text())
    return max((outcome.code for outcome in outcomes.values()), default=DONE)
