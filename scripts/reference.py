"""Copy the small summaries of finished runs into results/reference, for the repository.

Usage: python scripts/reference.py results/table1 [results/... ...]

Refuses runs of an unclean checkout: a reference must be reproducible from a commit.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from splitlab.montecarlo.store import write_atomically
from splitlab.montecarlo.study import load_results
from splitlab.report.compare import judge

REFERENCE = Path(__file__).parents[1] / "results" / "reference"
COPIED = ("config.yaml", "manifest.json", "win_percentage.csv", "relative_excess.csv")


def copy(folder: Path) -> None:
    """Copy one results folder; SystemExit when its checkout was not clean."""
    git = json.loads((folder / "manifest.json").read_text())["git"]
    if not git["clean"]:
        sys.exit(f"{folder}: was made with uncommitted changes; commit, and run it again with --fresh")
    target = REFERENCE / folder.name
    target.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        shutil.copyfile(folder / name, target / name)
    results = load_results(folder)
    write_atomically(target / "block_wins.csv", results.block_wins().to_csv(index=False, lineterminator="\n"))
    write_atomically(target / "verdict.txt", judge(results).text + "\n")
    print(f"{folder} -> {target}")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        copy(Path(argument))
