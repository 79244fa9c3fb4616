"""Everything about random tables, one artefact after the other, and a summary. Run with ``make all``."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass

from experiments.artefact import CONFIGS, RESULTS, ROOT, Artefact, headed, legend
from experiments.notes import FAR_ENTROPY, FAR_GINI, RAW_COUNTS
from splitlab.cli import DIFFERS, DONE
from splitlab.kinds.random_tables.config import RandomTablesExperiment
from splitlab.report.layout import Entry, Table
from splitlab.study import load_experiment
from splitlab.text import duration


@dataclass(frozen=True)
class Part:
    """A step: name of the artefact, what it shows, where that is, and how long it takes.

    The seconds are those of two idle cores where nothing is stored and no kernel has to be compiled.
    """

    name: str
    title: str
    file: str
    seconds: float


ADVERSARY_SECONDS = 30  # a ninth of what `make adversary` takes
PARTS = (
    Part("replay", "the authors' own tables", "replay", 35),
    Part("table1", "Table 1", "table1", 10),
    Part("table2", "Table 2", "table2", 10),
    Part("table1_corrected", "Table 1, corrected", "table1_corrected", 10),
    Part("table2_corrected", "Table 2, corrected", "table2_corrected", 10),
    Part("excess", "relative excess", "excess", 25),
    Part("optimality", "how often the optimum is found", "optimality", 130),
    Part("adversary", "worst cases", "adversary", ADVERSARY_SECONDS + 10),
    Part("table3", "Table 3", "table3", 30),
    Part("report", "figures and report", "report.html", 40),
)
# What is passed on instead of the number of runs and jobs.
OWN_OPTIONS = {"adversary": [f"--seconds={ADVERSARY_SECONDS}"]}
STATES = {0: "done", DIFFERS: "DIFFERS"}


@dataclass(frozen=True)
class Outcome:
    """How an artefact's program ended, and after how long."""

    code: int
    seconds: float


def make(name: str, given: list[str]) -> Outcome:
    """Make one artefact in a process of its own, so that none can disturb another."""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "experiments", name, "--part", *given], cwd=ROOT, check=False)
    return Outcome(done.returncode, time.monotonic() - began)


def methods() -> tuple[str, ...]:
    """The methods of all parts: those of the study of optimality, which has the paper's too."""
    experiment = load_experiment(CONFIGS / "optimality.yaml")
    assert isinstance(experiment, RandomTablesExperiment)
    return experiment.splitters


def verdicts(file: str) -> list[str]:
    """The lines of the verdict that an artefact left in its folder."""
    path = RESULTS / file / "verdict.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def summary(outcomes: dict[str, Outcome]) -> Table:
    """One row per artefact: state, time, file; the verdicts below."""
    rows, notes = [], []
    for part in PARTS:
        outcome = outcomes[part.name]
        state = STATES.get(outcome.code, "FAILED")
        texts = [part.title, state, f"{outcome.seconds:.0f} s", str((RESULTS / part.file).relative_to(ROOT))]
        rows.append([Entry(text) for text in texts])
        notes += [f"{part.title}: {line}" for line in verdicts(part.file)]
    notes += [RAW_COUNTS, FAR_GINI, FAR_ENTROPY]
    return Table("Summary", ["artefact", "state", "time", "file"], rows, 1, notes)


def main(artefact: Artefact, args: argparse.Namespace) -> int:
    """Make every artefact; 1 if a number differs, 2 if a program failed."""
    given = [f"--{name}={value}" for name in ("runs", "jobs") if (value := getattr(args, name)) is not None]
    print(headed(artefact.heading))
    whole = duration(sum(part.seconds for part in PARTS))
    print(f"{len(PARTS)} steps; with all runs {whole} on two idle cores where nothing is stored yet.\n")
    print(legend(methods()))
    outcomes = {}
    for number, part in enumerate(PARTS, 1):
        took = f" (about {duration(part.seconds)})" if args.runs is None else ""
        print(headed(f"Step {number} of {len(PARTS)}: {part.title}{took}"), flush=True)
        outcomes[part.name] = make(part.name, OWN_OPTIONS.get(part.name, given))
        print(flush=True)
    print(summary(outcomes).as_text())
    return max((outcome.code for outcome in outcomes.values()), default=DONE)
