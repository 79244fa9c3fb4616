"""Table 4 with the splitters as defined, and more of them. Run with ``make table4-corrected DATA=DIR``."""

from __future__ import annotations

import sys

from experiments.artefact import options
from experiments.table4 import main
from splitlab.cli import guarded

NAME = "table4_corrected"
HEADING = "Table 4, corrected: the splitters as they are defined, on the same folds"

if __name__ == "__main__":
    sys.exit(guarded(f"experiments.{NAME}", main, options(NAME, HEADING), NAME, HEADING))
