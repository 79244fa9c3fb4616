"""Where blocks stand: ``FOLDER/blocks/CELL/FILE``, and what must not stand there.

The results folder and ``blocks`` in it may be links that people made. The folders of cells are made by runs: nothing
is written through a link in the place of one. While a run writes, all of them have to stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from splitlab.text import ConfigError

BLOCKS = "blocks"
ENDINGS = (".block", ".sums")
TEXTS = (".yaml", ".json", ".csv", ".md", ".tex", ".txt", ".html")
ANEW = "remove it to compute them again"


class Places:
    """The folders of cells in a results folder, as a run makes them and finds them again.

    Parameters
    ----------
    folder : Path
        The results folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen = {folder: _identity(folder)} if folder.is_dir() else {}

    def prepare(self, cell: str) -> None:
        """Make the folder of a cell, once; ConfigError if it, or one above it, went away since it was seen."""
        place = self.folder / BLOCKS / cell
        for path in (self.folder, place.parent, place):
            links = path != place
            if path not in self._seen:
                if path == place:
                    check_cell(path)
                path.mkdir(parents=True, exist_ok=True)
                self._seen[path] = _identity(path, links)
            elif _identity(path, links) != self._seen[path]:
                raise ConfigError(
                    f"{path}: was moved, removed or replaced while a run was writing there; finished blocks are kept "
                    "where it is now"
                )


def _identity(path: Path, links: bool = True) -> tuple[int, int] | None:
    try:
        status = path.stat(follow_symlinks=links)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def check_blocks(folder: Path) -> None:
    """ConfigError where something else stands in the place of the folder of all blocks."""
    place = folder / BLOCKS
    if not place.is_dir() and (place.exists() or place.is_symlink()):
        raise ConfigError(f"{place}: is no folder, and the runs belong into one; {ANEW}")


def check_cells(folder: Path, cells: Iterable[str]) -> None:
    """ConfigError where something stands in the place of a cell's folder or blocks that a run cannot replace."""
    for cell in cells:
        place = folder / BLOCKS / cell
        check_cell(place)
        for path in place.iterdir() if place.is_dir() else ():
            if path.suffix in ENDINGS and path.is_dir() and not path.is_symlink():
                raise ConfigError(f"{path}: is a folder where a file belongs; {ANEW}")


def check_texts(folder: Path) -> None:
    """ConfigError where a folder stands in the place of a file that a run writes."""
    for path in folder.iterdir():
        if path.suffix in TEXTS and path.is_dir() and not path.is_symlink():
            raise ConfigError(f"{path}: is a folder where a file belongs; remove it")


def check_cell(place: Path) -> None:
    """ConfigError where the folder of a cell is a link, or none."""
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise ConfigError(f"{place}: is a link, or no folder, and the runs of a cell belong into one; {ANEW}")


def cell_folders(folder: Path) -> Iterator[Path]:
    """The folders of all cells that are there; links do not count."""
    blocks = folder / BLOCKS
    for path in sorted(blocks.iterdir()) if blocks.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            yield path


def strays(folder: Path, cells: Iterable[str], files: Iterable[Path]) -> list[Path]:
    """Files of runs in the folders of some cells that are none of ``files``."""
    known = set(files)
    found = (path for cell in cells for path in (folder / BLOCKS / cell).glob("*.*"))
    return sorted(path for path in found if path.suffix in ENDINGS and path not in known)
