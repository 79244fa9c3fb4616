"""Trust in stored results: random blocks are computed again, and every bit is compared."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from splitlab.engine.blocks import COMPLETE, EMPTY, Block, BlockData, Column
from splitlab.engine.checksums import MANIFEST, read_manifest
from splitlab.engine.folder import CONFIG, conditions
from splitlab.engine.kind import Kind
from splitlab.engine.names import Plugins, lists_of, plugin_problems
from splitlab.engine.session import Session, check_jobs
from splitlab.engine.store import BLOCKS, in_words, orphans
from splitlab.splitters.compiling import compilation_shown
from splitlab.text import ConfigError

NOTES = {".csv": "(?!)", ".md": r"(?!\|)", ".tex": r"\\par\\small "}  # how the lines of notes below a table begin


@dataclass
class Verified:
    """What came out.

    Attributes
    ----------
    blocks : int
        The blocks of the experiment.
    compared : int
        How many blocks were computed again and compared.
    absent : list of str
        Blocks that are not stored, or were made by other code, wholly or but for some columns.
    differing : list of str
        Data sets that have changed; what differs in the blocks that were compared; and the tables that the stored runs
        do not give.
    damaged : list of str
        Files of blocks, chosen or not, that cannot be used, and why.
    outdated : str
        The columns that were stored by other code, if there are any.
    orphans : list of Path
        Files and folders beside the blocks that belong to none.
    tables : int
        How many files of tables were compared with what the stored runs give; none where blocks are missing.
    others : list of str
        Files and folders that nothing was compared with, such as figures.
    """

    blocks: int
    compared: int
    absent: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    outdated: str = ""
    orphans: list[Path] = field(default_factory=list)
    tables: int = 0
    others: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Lacking(BlockData):
    """Stands for a block that lacks just some columns."""

    lacks: frozenset[Column] = frozenset()

    def missing(self, block: Block, wanted: tuple[Column, ...]) -> tuple[Column, ...]:
        """The wanted columns among those that are to be computed again."""
        return tuple(column for column in wanted if column in self.lacks)


class _Comparison:
    """A store in which the chosen columns are missing; what is computed for them is held against what is stored."""

    def __init__(self, kind: Kind[Any, Any], stored: Any, chosen: dict[Block, frozenset[Column]]) -> None:
        self._kind, self._stored = kind, stored
        self._chosen = {
            (block.group, block.number): _Lacking(EMPTY.totals, EMPTY.drawn, {}, columns)
            for block, columns in chosen.items()
        }
        self._differing: list[tuple[Block, str]] = []

    @property
    def differing(self) -> list[str]:
        """What differs, in the order of blocks."""
        ordered = sorted(self._differing, key=lambda found: (found[0].group, found[0].number))
        return [f"{self._kind.block_label(block)}: {text}" for block, text in ordered]

    def load(self, block: Block) -> BlockData:
        """Nothing of the chosen columns, and no wish for any other."""
        return self._chosen.get((block.group, block.number), COMPLETE)

    def save(self, block: Block, data: BlockData) -> None:
        """Compare what was computed of a block with what is stored, and keep the differences."""
        for name, before, now in self._stored.compared(block, data):
            found = np.flatnonzero(before[: now.size].view(np.int64) != now.view(np.int64))
            if found.size:
                at = int(found[0])
                unit, place = self._kind.number_label(block, name, at)
                values = f"stored {before[at]!r}, computed again {now[at]!r}".replace("np.float64", "")
                text = f"{found.size} of {now.size} {unit}s differ, the first of them {place}: {values}"
                self._differing.append((block, f"{name}: {text}"))


@compilation_shown()
def verify(
    kind: Kind[Any, Any],
    folder: Path,
    sample: int = 50,
    seed: int = 0,
    session: Session | None = None,
    plugins: Plugins | None = None,
) -> Verified:
    """Compute ``sample`` random blocks of a results folder again and compare them with what is stored.

    Raises ConfigError when nothing of this kind can be computed again, or functions or data are not to be had.
    """
    session = session or Session()
    for option, value, least in (("--sample", sample, 1), ("--seed", seed, 0)):
        if value < least:
            raise ConfigError(f"{option}: {value} is too small; write a whole number from {least}")
    check_jobs(session.jobs)
    said: list[str] = []
    for (_, name), problem in plugin_problems(lists_of(kind.experiment), plugins):
        raise ConfigError(f"{folder}: {name} {problem}")
    stored = kind.verifiable(folder, said.append)
    on_data = len(said)  # lines; what is said from now on is said of blocks
    blocks = list(kind.blocks())
    total = len(blocks)
    chosen = set(np.random.default_rng(seed).choice(total, min(sample, total), replace=False).tolist())
    there, absent = {}, []
    for at, block in enumerate(blocks):
        before, wanted = len(said), kind.columns(block)
        lacking = stored.load(block).missing(block, wanted)
        if (columns := frozenset(wanted) - set(lacking)) and at in chosen:
            there[block] = columns
        if lacking and len(said) == before:
            which = f": {', '.join(map(' '.join, lacking))}" if columns else ""
            absent.append(f"{kind.block_label(block)}{which}")
    comparison = _Comparison(kind, stored, there)
    with kind.failures_explained(folder):
        kind.compute_missing(comparison, session, continued=False)
    changed, damaged = said[:on_data], said[on_data:]
    tables = {} if absent or said else derived_tables(kind, folder, session)
    edited = [
        f"{name}, line {line}: is not what the stored runs give; `splitlab report` writes it again"
        for name, content in tables.items()
        if (line := edited_line(name, (folder / name).read_text(encoding="utf-8"), content))
    ]
    checked = (BLOCKS, CONFIG, MANIFEST, *read_manifest(folder).get("files", {}))
    return Verified(
        total,
        len(there),
        absent,
        [*changed, *comparison.differing, *edited],
        damaged,
        in_words(getattr(stored, "outdated", ())),
        orphans(folder, dict.fromkeys(block.group.label for block in blocks), map(stored.path, blocks)),
        len(tables),
        sorted(path.name for path in folder.glob("[!.]*") if path.name not in {*checked, *tables}),
    )


def derived_tables(kind: Kind[Any, Any], folder: Path, session: Session) -> dict[str, str]:
    """The files of tables that are in the folder, and what the stored runs give for them."""
    ready = kind.ready()
    files = ready.table_files(ready.load(folder, session))
    return {name: content for name, content in files.items() if (folder / name).is_file()}


def edited_line(name: str, found: str, derived: str) -> int:
    """The first line of a table's file that is not as derived; 0 where there is none.

    Notes that were added below a table are no difference: ``experiments`` adds some to Markdown and LaTeX.

    Examples
    --------
    >>> edited_line("a.csv", "n\\n1\\n", "n\\n2\\n"), edited_line("a.md", "| 1 |\\n\\nA note.\\n", "| 1 |\\n\\n")
    (2, 0)
    """
    lines, wanted = ([line for line in text.splitlines() if line] for text in (found, derived))
    first = next((at for at, (a, b) in enumerate(zip_longest(lines, wanted)) if a != b), None)
    if first is None:
        return 0
    end = len(lines) - len(wanted) + first  # the lines from there on should be those that are wanted from the first on
    is_note = re.compile(NOTES[Path(name).suffix]).match
    if first < end and all(map(is_note, lines[first:end])) and lines[end:] == wanted[first:]:
        return 0
    filled = [number for number, line in enumerate(found.splitlines(), 1) if line]
    return filled[first] if first < len(filled) else len(found.splitlines()) + 1


def elsewhere(kind: Kind[Any, Any], folder: Path) -> list[str]:
    """What was different where the folder was made: a reason for bits to differ."""
    before, here = conditions(read_manifest(folder)), kind.conditions()
    return [f"{name}: {before[name]}, here {here[name]}" for name in here if before[name] not in (None, here[name])]
