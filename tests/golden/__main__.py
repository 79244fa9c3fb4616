"""``python -m tests.golden [DIR]``: make the golden files in DIR, or renew the committed ones."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tests.golden.make import EXPECTED, make

if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else EXPECTED
    if target == EXPECTED:
        shutil.rmtree(EXPECTED, ignore_errors=True)
    make(target.resolve())
