"""`kind: splits` as written in a config."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from splitlab.engine.config import Cell, CommonConfig, Experiment
from splitlab.engine.yaml_source import Source
from splitlab.published import stream


class SplitsConfig(CommonConfig):
    """`kind: splits` as written: splitters compared on random tables."""

    kind: Literal["splits"] = "splits"
    draws: Literal["independent", "authors"] = "independent"
    on_error: Literal["stop", "record"] = "stop"
    keep_runs: bool = True

    def resolve(self, source: Source, path: Path | None) -> Experiment:
        """The experiment; the authors' draws come with their seed."""
        common = self.common(source, path)
        authors = self.draws == "authors"
        if authors:
            _check_authors(self, source)
        seed = stream.SEED if authors else self.seed
        own: dict[str, Any] = {"draws": self.draws, "on_error": self.on_error, "keep_runs": self.keep_runs}
        return Experiment(kind=self.kind, seed=seed, **own, **common)


def _check_authors(written: SplitsConfig, source: Source) -> None:
    if "seed" in written.model_fields_set and written.seed != stream.SEED:
        rule = f"the authors' stream has seed {stream.SEED} only (the key can be left out)"
        raise source.error(("seed",), f"{written.seed} does not go with draws: authors; {rule}")
    possible = [Cell(*shape) for max_count in stream.WALKS for shape in stream.shapes(max_count)]
    for i, entry in enumerate(written.grid):
        for cell, _ in entry.cells():
            if cell not in possible:
                rule = f"the authors ran {stream.described()}"
                raise source.error(("grid", i), f"cell {cell.label} does not go with draws: authors; {rule}")
        if entry.runs > stream.RUNS:
            rule = f"the authors' stream has {stream.RUNS} tables per cell"
            raise source.error(("grid", i, "runs"), f"{entry.runs} is too large for draws: authors; {rule}")
