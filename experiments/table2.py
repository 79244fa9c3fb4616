"""Table 2 of the paper: percentage of tables on which each method wins, entropy. Run with ``make table2``."""

from __future__ import annotations

import sys

from experiments.artefact import main
from experiments.finding import notes

if __name__ == "__main__":
    sys.exit(main("table2", "Table 2. Percentage of wins, entropy: ours beside the paper's", notes("table2")))
