"""The config of kind timing."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from splitlab.engine.config import one_or_more, refuse_repeats, whole
from splitlab.engine.yaml_source import Source
from splitlab.kinds.random_tables.config import RandomTablesExperiment
from splitlab.published import RATIO_TABLE
from splitlab.text import did_you_mean

Engine = Literal["compiled", "python"]
ENGINES: tuple[Engine, ...] = ("compiled", "python")
PAPER_BASELINE = "lca"  # the splitter that the paper's times are relative to


class TimingExperiment(RandomTablesExperiment):
    """How long splitters take, relative to one of them.

    Its ``cells`` hold the tables per cell for the compiled engine, and its tables are those that kind splits draws.

    Attributes
    ----------
    engines : tuple of str
        'compiled' and 'python', or one of them.
    repeats : int
        How often every splitter is timed.
    python_runs : int
        The most tables per cell for the python engine.
    baseline : str
        The splitter whose time is 1 in ratios.
    """

    kind: Literal["timing"]
    engines: Annotated[tuple[Engine, ...], *one_or_more] = ENGINES
    repeats: Annotated[int, whole(2, 100)] = 5
    python_runs: Annotated[int, whole(2, 10_000)] = 20
    baseline: str = PAPER_BASELINE

    def resolved(self, source: Source) -> Self:
        """The experiment with its grid multiplied out; its baseline is one of its splitters."""
        experiment = super().resolved(source)
        refuse_repeats("engines", self.engines, source)
        self._check_baseline(source)
        return experiment

    def _check_baseline(self, source: Source) -> None:
        if self.baseline not in self.splitters:
            hint = did_you_mean(self.baseline, self.splitters) or f"they are {', '.join(self.splitters)}"
            place = ("baseline",) if "baseline" in self.model_fields_set else ("splitters",)
            raise source.error(place, f"the baseline {self.baseline!r} is not among the splitters; {hint}")
        if self.published == RATIO_TABLE and self.baseline != PAPER_BASELINE:
            rule = f"its times are relative to {PAPER_BASELINE}, not to {self.baseline}"
            raise source.error(("published",), f"{RATIO_TABLE} does not go with this baseline; {rule}")
