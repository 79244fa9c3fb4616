"""A made-up data set, small and full of ties: the fixture of the tree study's tests."""

from __future__ import annotations

import random
from pathlib import Path

CATALOGUE = """\
made_up:
  title: Made up
  target: kind
  missing: "?"
  columns: {a: nominal, b: nominal, c: numeric, d: nominal}
"""


def write(folder: Path, rows: int = 240) -> Path:
    """Write made_up.csv and its catalogue; attributes have up to four values, so that sets are ascending."""
    rng, lines = random.Random(5), ["a,b,c,d,kind"]
    for _ in range(rows):
        a, b, c, d = rng.randrange(4), rng.randrange(3), rng.randrange(6), rng.randrange(4)
        kind = (a + (c > 2) + (b == 1) * rng.randrange(2)) % 3 if rng.random() < 0.8 else rng.randrange(3)
        lines.append(f"{'pqrs'[a]},{'xyz'[b]},{c},{'klmn'[d] if rng.random() < 0.98 else '?'},{kind}")
    (folder / "made_up.csv").write_text("\n".join(lines) + "\n")
    catalogue = folder / "datasets.yaml"
    catalogue.write_text(CATALOGUE)
    return catalogue
