"""`kind: trees` as written in a config, and the checked experiment that it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from splitlab.engine.config import CommonConfig, Experiment, Names, one_or_more, refuse_repeats, whole
from splitlab.engine.yaml_source import Source, as_yaml
from splitlab.published.program.protocol import IMPURITIES, METHODS, SEEDS
from splitlab.text import ConfigError

CATALOGUE = "datasets.yaml"
Arithmetic = Literal["published", "tolerant"]


def _share(value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError("must be above 0 and at most 1")
    return value


@dataclass(frozen=True)
class TreesExperiment(Experiment):
    """A checked experiment of kind trees; it has no cells.

    Attributes
    ----------
    datasets : tuple of str
        Names in the catalogue.
    catalogue : str
        Path of the YAML file that describes the data sets.
    arithmetic : str
        'published': impurities are compared as the published program's floats, and ties go by its sets. 'tolerant':
        by this package's rules, for which rounding makes no difference.
    max_depth, min_second, max_p
        See `splitlab.trees.growing.Growth`.
    where_unserved : str
        What becomes of a splitter that cannot serve the tables of a data set, or would take longer for one than
        ``table_milliseconds``: 'stop' is an error, 'leave_out' goes on without it there.
    table_milliseconds : int
    folds, trials : int
        Repetitions of cross-validation.
    seeds : tuple of int
        One per trial, and perhaps more.
    timed_trees : int
        How many trees of each kind are grown once more, one after the other, to take their time; 0: none.
    """

    datasets: tuple[str, ...] = ()
    catalogue: str = CATALOGUE
    arithmetic: Arithmetic = "tolerant"
    max_depth: int = 16
    max_p: float = 0.1
    min_second: int = 15
    folds: int = 3
    trials: int = 20
    seeds: tuple[int, ...] = SEEDS
    where_unserved: Literal["stop", "leave_out"] = "stop"
    table_milliseconds: int = 30_000
    timed_trees: int = 0

    def protocol(self) -> dict[str, Any]:
        """What decides the trees, besides data, impurity, splitter and the seed of the trial."""
        return {key: getattr(self, key) for key in ("arithmetic", "max_depth", "max_p", "min_second", "folds")}

    def to_yaml(self) -> str:
        """The resolved config; reading it gives an equal experiment."""
        lists = {key: [as_yaml(name) for name in getattr(self, key)] for key in ("datasets", "impurities", "splitters")}
        values: dict[str, object] = {
            "name": as_yaml(self.name),
            "kind": self.kind,
            "catalogue": as_yaml(self.catalogue),
        }
        values |= {key: f"[{', '.join(names)}]" for key, names in lists.items()}
        values |= self.protocol() | {"seeds": list(self.seeds), "trials": self.trials}
        values |= {key: getattr(self, key) for key in ("where_unserved", "table_milliseconds", "timed_trees")}
        return "".join(f"{key}: {value}\n" for key, value in values.items())


class TreesConfig(CommonConfig):
    """`kind: trees` as written: decision trees grown with different splitters, cross-validated on data sets."""

    kind: Literal["trees"]
    grid: None = None  # type: ignore[assignment]
    published: None = None
    datasets: Annotated[list[str], *one_or_more]
    impurities: Names = Field(default_factory=lambda: list(IMPURITIES))
    catalogue: str = CATALOGUE
    arithmetic: Arithmetic = "tolerant"
    max_depth: Annotated[int, whole(1, 1000)] = 16
    max_p: Annotated[float, AfterValidator(_share)] = 0.1
    min_second: Annotated[int, whole(0, 10**9)] = 15
    folds: Annotated[int, whole(2, 100)] = 3
    trials: Annotated[int, whole(1, 10_000)] = 20
    seeds: list[Annotated[int, whole(0, 2**63 - 1)]] = Field(default_factory=lambda: list(SEEDS))

    where_unserved: Literal["stop", "leave_out"] = "stop"
    table_milliseconds: Annotated[int, whole(1, 30_000)] = 30_000
    timed_trees: Annotated[int, whole(0, 1000)] = 0

    def resolve(self, source: Source, path: Path | None) -> TreesExperiment:
        """The experiment, with its catalogue located beside the config file."""
        for key in ("datasets", "impurities", "splitters", "seeds"):
            refuse_repeats(key, list(map(str, getattr(self, key))), source)
        if self.trials > len(self.seeds):
            raise source.error(("trials",), f"{self.trials} trials need as many seeds; there are {len(self.seeds)}")
        self._check_arithmetic(source)
        catalogue = (path.parent if path else Path()) / self.catalogue
        experiment = TreesExperiment(
            name=self.name,
            kind=self.kind,
            impurities=tuple(self.impurities),
            splitters=tuple(self.splitters),
            cells=(),
            seed=self.seeds[0],
            draws="independent",
            source=path,
            datasets=tuple(self.datasets),
            catalogue=str(catalogue),
            seeds=tuple(self.seeds),
            trials=self.trials,
            where_unserved=self.where_unserved,
            table_milliseconds=self.table_milliseconds,
            timed_trees=self.timed_trees,
            **{key: getattr(self, key) for key in ("arithmetic", "max_depth", "max_p", "min_second", "folds")},
        )
        self._check_datasets(experiment, source)
        return experiment

    def _check_arithmetic(self, source: Source) -> None:
        if self.arithmetic != "published":
            return
        for key, known in (("splitters", tuple(METHODS.values())), ("impurities", IMPURITIES)):
            for i, name in enumerate(getattr(self, key)):
                if name not in known:
                    rule = f"the published program has {', '.join(known)}; write arithmetic: tolerant for others"
                    raise source.error((key, i), f"'{name}' does not go with arithmetic: published; {rule}")

    def _check_datasets(self, experiment: TreesExperiment, source: Source) -> None:
        from splitlab.kinds.trees.datasets import catalogue, chosen_sets

        known = catalogue(Path(experiment.catalogue))
        for i, name in enumerate(experiment.datasets):
            try:
                chosen_sets(known, [name])[0].require_columns()
            except ConfigError as error:
                raise source.error(("datasets", i), str(error)) from None
            except ValueError as error:
                raise source.error(("datasets", i), str(error)) from None
