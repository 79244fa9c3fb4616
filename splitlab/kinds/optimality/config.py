"""The config of kind optimality."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from splitlab.engine.config import whole
from splitlab.engine.yaml_source import Source
from splitlab.kinds.random_tables.config import Cell, RandomTablesExperiment
from splitlab.splitters.registry import get, refusal
from splitlab.text import duration

EXACT = "exact"
LOWER_BOUND = "lower_bound"


class OptimalityExperiment(RandomTablesExperiment):
    """How often splitters find the optimum, and what they cost.

    Attributes
    ----------
    bounds : bool
        Whether cells whose optimum is out of reach are allowed, and held against a lower bound.
    exact_milliseconds : int
        The optimum is computed in the cells where it is estimated to take no longer for one table and impurity.
    timing_runs : int
        How many tables of each cell the splitters are timed on, at most.
    """

    kind: Literal["optimality"]
    bounds: bool = True
    exact_milliseconds: Annotated[int, whole(1, 30_000)] = 100
    timing_runs: Annotated[int, whole(1, 10_000)] = 100

    def has_optimum(self, cell: Cell) -> bool:
        """Whether the optimum is computed in a cell."""
        affordable = get(EXACT).nanoseconds(cell.n, cell.k) <= 1e6 * self.exact_milliseconds
        return affordable and refusal(get(EXACT), cell.n, cell.k) is None

    def references(self, cell: Cell) -> tuple[str, ...]:
        """The optimum where it is affordable, else a lower bound."""
        return (EXACT,) if self.has_optimum(cell) else (LOWER_BOUND,)

    def competitors(self, cell: Cell) -> tuple[str, ...]:
        """The splitters, and the optimum where it is computed."""
        return (*self.splitters, *((EXACT,) if self.has_optimum(cell) else ()))

    def resolved(self, source: Source) -> Self:
        """The experiment with its grid multiplied out; the optimum is not one of its splitters."""
        if self.published is not None:
            raise source.error(("published",), "does not go with kind optimality: nothing is published on it")
        if EXACT in self.splitters:
            rule = "leave it out: it is computed by itself wherever it is affordable"
            raise source.error(("splitters", self.splitters.index(EXACT)), f"'{EXACT}' is the reference; {rule}")
        experiment = super().resolved(source)
        self._check_cells(source)
        return experiment

    def _check_cells(self, source: Source) -> None:
        """Without bounds there must be an optimum in every cell."""
        for i, entry in enumerate(() if self.bounds else self.grid):
            for cell, _ in entry.cells():
                if not self.has_optimum(cell):
                    time = duration(1e-9 * get(EXACT).nanoseconds(cell.n, cell.k))
                    raise source.error(
                        ("grid", i),
                        f"cell {cell.label}: the optimum of a table would take about {time}, longer than "
                        f"exact_milliseconds: {self.exact_milliseconds}; raise that, or write bounds: true to hold "
                        f"the splitters against the best split known and a lower bound",
                    )
