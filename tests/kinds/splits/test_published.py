"""Independent draws against all published win percentages."""

from __future__ import annotations

from typing import Any

import pytest

import splitlab
from splitlab.kinds.splits.compare import entries, judge
from splitlab.report.layout import Verdict


def compared(runs: int, competitors: list[str], seed: int, **grid: Any) -> tuple[Verdict, int]:
    config = {
        "name": "published",
        "impurities": ["gini", "entropy"],
        "splitters": competitors,
        "grid": [{"n": [12, 25, 50], "k": [3, 5, 7, 9], "max_count": 7, "runs": runs, **grid}],
        "seed": seed,
        "published": "paper",
    }
    results = splitlab.run(config)
    return judge(results), len(entries(results))


PAPER = ["hcc", "pc_ext_counts", "sliq_ext", "lca"]


def test_a_thousand_tables_of_the_small_cells_agree() -> None:
    verdict, count = compared(1000, PAPER, seed=1, n=[12, 25], k=[3, 5])
    assert count == 32
    assert verdict.judged
    assert verdict.agrees, verdict.text


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2018])
def test_all_96_entries_agree_at_full_size(seed: int) -> None:
    verdict, count = compared(10_000, PAPER, seed)
    assert count == 96
    assert verdict.text.startswith("96 of 96 entries agree")
    assert verdict.agrees


@pytest.mark.slow
def test_pcext_as_defined_is_another_column() -> None:
    """With probabilities scored, ten and more of the entries lie beyond three standard errors."""
    config = {
        "name": "defined",
        "impurities": ["gini", "entropy"],
        "splitters": ["hcc", "pc_ext", "sliq_ext", "lca"],
        "grid": [{"n": [12, 25, 50], "k": [3, 5], "max_count": 7, "runs": 10_000}],
        "published": "paper",
    }
    found = [e for e in entries(splitlab.run(config)) if abs(e.z() or 0.0) > 3]
    assert {e.splitter for e in found} >= {"pc_ext"}
    assert len(found) >= 5
    worst = max(found, key=lambda e: abs(e.z() or 0.0))
    assert (worst.impurity, worst.n, worst.k, worst.printed) == ("entropy", 50, 3, "29.5")
