"""The config of kind splits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from splitlab.engine.yaml_source import Source
from splitlab.kinds.random_tables.config import Cell, RandomTablesExperiment
from splitlab.published import stream


class SplitsExperiment(RandomTablesExperiment):
    """Splitters compared on random tables.

    Attributes
    ----------
    draws : str
        Where the tables come from: 'independent', each block with a seed of its own, or 'authors', the tables of the
        program behind the paper.
    on_error : str
        What becomes of a run on which a splitter fails: 'stop' ends the experiment, 'record' keeps it as a failure.
    keep_runs : bool
        Whether the impurities of every run are kept, and not only sums over them.
    """

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"keep_runs": True}

    kind: Literal["splits"] = "splits"
    draws: Literal["independent", "authors"] = "independent"
    on_error: Literal["stop", "record"] = "stop"
    keep_runs: bool = True

    def resolved(self, source: Source) -> Self:
        """The experiment with its grid multiplied out; the authors' draws come with their seed."""
        experiment = super().resolved(source)  # which refuses a grid that multiplies out to too many cells
        if self.draws != "authors":
            return experiment
        self._check_authors(source)
        return experiment.changed(seed=stream.SEED)

    def _check_authors(self, source: Source) -> None:
        if "seed" in self.model_fields_set and self.seed != stream.SEED:
            rule = f"the authors' stream has seed {stream.SEED} only (the key can be left out)"
            raise source.error(("seed",), f"{self.seed} does not go with draws: authors; {rule}")
        possible = [Cell(*shape) for max_count in stream.WALKS for shape in stream.shapes(max_count)]
        for i, entry in enumerate(self.grid):
            for cell, _ in entry.cells():
                if cell not in possible:
                    rule = f"the authors ran {stream.described()}"
                    raise source.error(("grid", i), f"cell {cell.label} does not go with draws: authors; {rule}")
            if entry.runs > stream.RUNS:
                rule = f"the authors' stream has {stream.RUNS:,} tables per cell"
                raise source.error(("grid", i, "runs"), f"{entry.runs} is too large for draws: authors; {rule}")
