"""Table 1 of the paper: percentage of tables on which each method wins, Gini. Run with ``make table1``."""

from __future__ import annotations

import sys

from experiments.artefact import main
from experiments.finding import notes

if __name__ == "__main__":
    sys.exit(main("table1", "Table 1. Percentage of wins, Gini: ours beside the paper's", notes("table1")))
