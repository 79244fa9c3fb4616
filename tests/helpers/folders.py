"""What a results folder holds."""

from __future__ import annotations

from pathlib import Path

import splitlab
from splitlab.study import load_results, write_tables


def contents(folder: Path) -> dict[str, bytes]:
    """The blocks and tables of a folder, after writing the tables; hidden files count, but for the lock."""
    results = load_results(folder)
    write_tables(results, folder)
    chosen = [*folder.glob("*.csv"), *folder.glob("*.md"), *folder.glob("*.tex"), *folder.rglob(".?*")]
    files = [path for path in (*folder.glob("blocks/**/*"), *chosen) if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def contents_of_run(config: Path, jobs: int | None = None) -> dict[str, bytes]:
    """All files of an undisturbed run, in the folder ``out`` beside its config."""
    splitlab.run(config, jobs=jobs, out=config.parent / "out")
    return contents(config.parent / "out")
