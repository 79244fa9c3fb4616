"""Trust in stored results: random blocks are computed again, and every bit is compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from splitlab.engine.blocks import COMPLETE, EMPTY, Block, BlockData, Column
from splitlab.engine.checksums import read_manifest
from splitlab.engine.folder import conditions
from splitlab.engine.kind import Kind
from splitlab.engine.names import Plugins, lists_of, plugin_problems
from splitlab.engine.session import Session, check_jobs
from splitlab.engine.store import orphans
from splitlab.files import as_csv
from splitlab.splitters.compiling import compilation_shown
from splitlab.text import ConfigError


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
        Chosen blocks that are not stored, or were made by other code, wholly or but for some columns; and all others
        that have no file.
    differing : list of str
        What differs, and the damaged files among the chosen ones; and the tables that the stored runs do not give.
    orphans : list of str
        Files beside the blocks that are none of them.
    """

    blocks: int
    compared: int
    absent: list[str]
    differing: list[str]
    orphans: list[str] = field(default_factory=list)


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
    damaged: list[str] = []
    for (_, name), problem in plugin_problems(lists_of(kind.experiment), plugins):
        raise ConfigError(f"{folder}: {name} {problem}")
    stored = kind.verifiable(folder, damaged.append)
    blocks = list(kind.blocks())
    total = len(blocks)
    chosen = set(np.random.default_rng(seed).choice(total, min(sample, total), replace=False).tolist())
    there, absent = {}, []
    for at, block in enumerate(blocks):
        if at not in chosen:
            absent += [] if stored.holds(block) else [kind.block_label(block)]
            continue
        before, wanted = len(damaged), kind.columns(block)
        lacking = stored.load(block).missing(block, wanted)
        if columns := frozenset(wanted) - set(lacking):
            there[block] = columns
        if lacking and len(damaged) == before:
            which = f": {', '.join(map(' '.join, lacking))}" if columns else ""
            absent.append(f"{kind.block_label(block)}{which}")
    comparison = _Comparison(kind, stored, there)
    with kind.failures_explained(folder):
        kind.compute_missing(comparison, session, continued=False)
    tables = [] if absent or damaged else list(edited_tables(kind, folder, session))
    labels = dict.fromkeys(block.group.label for block in blocks)
    found = orphans(folder, labels, map(stored.path, blocks))
    return Verified(total, len(there), absent, [*damaged, *comparison.differing, *tables], list(map(str, found)))


def edited_tables(kind: Kind[Any, Any], folder: Path, session: Session) -> Iterator[str]:
    """For each csv file that is not what the stored runs give, the first line that differs."""
    results = kind.ready().load(folder, session)
    for sheet in kind.sheets(results):
        path = folder / f"{sheet.name}.csv"
        if not path.is_file():
            continue
        found, wanted = path.read_text(encoding="utf-8").splitlines(), as_csv(sheet.frame).splitlines()
        for number, lines in enumerate(zip_longest(found, wanted), 1):
            if lines[0] != lines[1]:
                yield f"{path.name}, line {number}: is not what the stored runs give; `splitlab report` writes it again"
                break


def elsewhere(kind: Kind[Any, Any], folder: Path) -> list[str]:
    """What was different where the folder was made: a reason for bits to differ."""
    before, here = conditions(read_manifest(folder)), kind.conditions()
    return [f"{name}: {before[name]}, here {here[name]}" for name in here if before[name] not in (None, here[name])]
