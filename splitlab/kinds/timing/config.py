"""`kind: timing` as written in a config, and the checked experiment that it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from splitlab.engine.config import CommonConfig, Experiment, one_or_more, refuse_repeats, whole
from splitlab.engine.yaml_source import Source, as_yaml
from splitlab.published import RATIO_TABLE
from splitlab.text import did_you_mean

Engine = Literal["compiled", "python"]
ENGINES: tuple[Engine, ...] = ("compiled", "python")
PAPER_BASELINE = "lca"  # the splitter that they are relative to


@dataclass(frozen=True)
class TimingExperiment(Experiment):
    """A checked experiment of kind timing.

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

    engines: tuple[Engine, ...] = ENGINES
    repeats: int = 5
    python_runs: int = 20
    baseline: str = PAPER_BASELINE

    def _own_yaml(self) -> str:
        return (
            f"engines: [{', '.join(self.engines)}]\nrepeats: {self.repeats}\n"
            f"python_runs: {self.python_runs}\nbaseline: {as_yaml(self.baseline)}\n"
        )


class TimingConfig(CommonConfig):
    """`kind: timing` as written: how long splitters take, relative to one of them."""

    kind: Literal["timing"]
    engines: Annotated[list[Engine], *one_or_more] = Field(default_factory=lambda: list(ENGINES))
    repeats: Annotated[int, whole(2, 100)] = 5
    python_runs: Annotated[int, whole(2, 10_000)] = 20
    baseline: str = PAPER_BASELINE

    def resolve(self, source: Source, path: Path | None) -> TimingExperiment:
        """The experiment; its baseline is one of its splitters."""
        common = self.common(source, path)
        refuse_repeats("engines", self.engines, source)
        self._check_baseline(source)
        return TimingExperiment(
            kind=self.kind,
            seed=self.seed,
            draws="independent",
            engines=tuple(self.engines),
            repeats=self.repeats,
            python_runs=self.python_runs,
            baseline=self.baseline,
            **common,
        )

    def _check_baseline(self, source: Source) -> None:
        if self.baseline not in self.splitters:
            hint = did_you_mean(self.baseline, self.splitters) or f"they are {', '.join(self.splitters)}"
            place = ("baseline",) if "baseline" in self.model_fields_set else ("splitters",)
            raise source.error(place, f"the baseline {self.baseline!r} is not among the splitters; {hint}")
        if self.published == RATIO_TABLE and self.baseline != PAPER_BASELINE:
            rule = f"its times are relative to {PAPER_BASELINE}, not to {self.baseline}"
            raise source.error(("published",), f"{RATIO_TABLE} does not go with this baseline; {rule}")
