"""Copy the small summaries of finished runs into results/reference, for the repository.

Usage: python -m scripts.reference results/table1 [results/... ...]

Refuses runs of an unclean checkout: a reference must be reproducible from a commit. Of experiments with runs, the
wins of every block are kept too: integers by which any block can be checked by itself. Figures are copied as png; of
studies of trees the means and tests are kept, and the diagrams of ranks.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from splitlab.files import as_csv, write_atomically
from splitlab.kinds.criteria.results import CriteriaResults
from splitlab.kinds.trees.results import TREES
from splitlab.study import load_results

REFERENCE = Path(__file__).parents[1] / "results" / "reference"
ALWAYS = ("config.yaml", "manifest.json")
SOMETIMES = (
    "verdict.txt",
    "win_percentage.csv",
    "relative_excess.csv",
    "pooled_excess.csv",
    "maxima.csv",
    "arithmetic.csv",
    "optimality.csv",
    "timing.csv",
    "means.csv",
    "tests.csv",
    "survival.csv",
    "measures.csv",
    "ranks.csv",
    "pairs.csv",
    "win_tie_loss.csv",
    "statements.csv",
    "nominal.csv",
)


def copy(folder: Path) -> None:
    """Copy one results folder; SystemExit when its checkout was not clean."""
    if not json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["git"]["clean"]:
        sys.exit(f"{folder}: was made with uncommitted changes; commit, and run it again with --fresh")
    target = REFERENCE / folder.name
    target.mkdir(parents=True, exist_ok=True)
    for name in (*ALWAYS, *(n for n in SOMETIMES if (folder / n).is_file())):
        shutil.copyfile(folder / name, target / name)
    if (folder / TREES).is_file() or isinstance(results := load_results(folder), CriteriaResults):
        copy_figures(folder / "figures", f"{folder.name}_")
    elif results.timing is None:
        write_atomically(target / "block_wins.csv", as_csv(results.block_wins()))
    print(f"{folder} -> {target}")


def copy_figures(folder: Path, prefix: str = "") -> None:
    """Copy the png figures, and give their names a prefix."""
    target = REFERENCE / "figures"
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.png")):
        shutil.copyfile(path, target / f"{prefix}{path.name}")


if __name__ == "__main__":
    for argument in map(Path, sys.argv[1:]):
        (copy_figures if argument.name == "figures" else copy)(argument)
