"""Where blocks stand: ``FOLDER/blocks/GROUP/FILE``, and what must not stand there.

The results folder and ``blocks`` in it may be links that people made. The folders of groups are made by runs: nothing
is written through a link in the place of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from splitlab.text import ConfigError

BLOCKS = "blocks"
ENDINGS = (".block", ".sums")
TEXTS = (".yaml", ".json", ".csv", ".md", ".tex", ".txt", ".html")
ANEW = "remove it to compute them again"


def prepare_group(folder: Path, label: str) -> None:
    """Make the folder of a group's blocks; ConfigError if something else is there, or the results folder is gone."""
    place = folder / BLOCKS / label
    if not folder.is_dir():
        raise ConfigError(f"{folder}: was moved or removed while a run was writing there; finished blocks are kept")
    if not place.is_dir() or place.is_symlink():
        check_group(place)
        place.mkdir(parents=True, exist_ok=True)


def check_blocks(folder: Path) -> None:
    """ConfigError where something else stands in the place of the folder of all blocks."""
    place = folder / BLOCKS
    if not place.is_dir() and (place.exists() or place.is_symlink()):
        raise ConfigError(f"{place}: is no folder, and the runs belong into one; {ANEW}")


def check_groups(folder: Path, labels: Iterable[str]) -> None:
    """ConfigError where something stands in the place of a group's folder or blocks that a run cannot replace."""
    for label in labels:
        place = folder / BLOCKS / label
        check_group(place)
        for path in place.iterdir() if place.is_dir() else ():
            if path.suffix in ENDINGS and path.is_dir() and not path.is_symlink():
                raise ConfigError(f"{path}: is a folder where a file belongs; {ANEW}")


def check_texts(folder: Path) -> None:
    """ConfigError where a folder stands in the place of a file that a run writes."""
    for path in folder.iterdir():
        if path.suffix in TEXTS and path.is_dir() and not path.is_symlink():
            raise ConfigError(f"{path}: is a folder where a file belongs; remove it")


def check_group(place: Path) -> None:
    """ConfigError where the folder of a group is a link, or none."""
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise ConfigError(f"{place}: is a link, or no folder, and the runs of a cell belong into one; {ANEW}")


def group_folders(folder: Path) -> Iterator[Path]:
    """The folders of all groups that are there; links do not count."""
    blocks = folder / BLOCKS
    for path in sorted(blocks.iterdir()) if blocks.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            yield path


def orphans(folder: Path, labels: Iterable[str], files: Iterable[Path]) -> list[Path]:
    """Files of runs in the folders of some groups that are none of ``files``."""
    known = set(files)
    found = (path for label in labels for path in (folder / BLOCKS / label).glob("*.*"))
    return sorted(path for path in found if path.suffix in ENDINGS and path not in known)
