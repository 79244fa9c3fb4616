"""A small tree study on the made-up data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from splitlab import run
from splitlab.kinds.trees.results import TreesResults
from tests.helpers.published_program import REFERENCE


def config(folder: Path, **changes: Any) -> dict[str, Any]:
    return {
        "name": "small",
        "kind": "trees",
        "datasets": ["made_up"],
        "catalogue": str(folder / "datasets.yaml"),
        "splitters": list(REFERENCE),
        "arithmetic": "published",
        "max_depth": 5,
        "min_second": 5,
        "trials": 3,
        **changes,
    }


def study(folder: Path, out: Path | None = None, **changes: Any) -> TreesResults:
    results = run(config(folder, **changes), jobs=2, out=out)
    assert isinstance(results, TreesResults)
    return results
