"""Take what searches found into the committed list of worst tables, where it is worse than what is there.

Usage: python -m scripts.worst_tables results/adversary [...]

Every ratio is computed anew from its table. The README shows the list, so write that again: python -m scripts.readme
"""

from __future__ import annotations

import sys
from pathlib import Path

from splitlab.adversary import record
from splitlab.adversary.known import FILE, as_json, with_better, worst_known
from splitlab.files import write_atomically

COMMITTED = Path(__file__).parents[1] / "splitlab" / "published" / FILE


def take_over(folders: list[Path], committed: Path = COMMITTED) -> None:
    """Replace the entries of the list that were beaten, and say which."""
    before = worst_known()
    after = with_better(before, (one for folder in folders for one in record.found(folder)))
    for key, known in after.items():
        if before.get(key) != known:
            print(f"{' '.join(key)}: {before[key].ratio if key in before else 'nothing'} -> {known.ratio}")
    write_atomically(committed, as_json(after))


if __name__ == "__main__":
    take_over([Path(argument) for argument in sys.argv[1:]])
