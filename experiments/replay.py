"""The authors' own random tables for n = 12: all 32 published entries, digit for digit. Run with ``make replay``."""

from __future__ import annotations

import sys

from experiments.artefact import main

if __name__ == "__main__":
    sys.exit(main("replay", "Replay. The authors' own random tables, n = 12: ours beside Tables 1 and 2"))
