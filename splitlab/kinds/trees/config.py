"""The config of kind trees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator

from splitlab.engine.config import Experiment, Names, as_tuple, one_or_more, refuse_repeats, whole
from splitlab.engine.yaml_source import Place, Source
from splitlab.published.program.protocol import IMPURITIES, METHODS, SEEDS

CATALOGUE = "datasets.yaml"
Arithmetic = Literal["published", "tolerant"]
TABLE_4 = "table4"  # the published numbers that there are
PROTOCOL = ("arithmetic", "max_depth", "max_p", "min_second", "folds")


def _share(value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError("must be above 0 and at most 1")
    return value


class TreesExperiment(Experiment):
    """Decision trees grown with different splitters, cross-validated on data sets.

    Attributes
    ----------
    catalogue : str
        Path of the YAML file that describes the data sets.
    datasets : tuple of str
        Names in the catalogue.
    impurities, splitters : tuple of str
    arithmetic : str
        'published': impurities are compared as the published program's floats, and ties go by its sets. 'tolerant':
        by this package's rules, for which rounding makes no difference.
    max_depth, max_p, min_second
        See `splitlab.trees.growing.Growth`.
    folds, trials : int
        Repetitions of cross-validation.
    seeds : tuple of int
        One per trial, and perhaps more.
    where_unserved : str
        What becomes of a splitter that cannot serve the tables of a data set, or would take longer for one than
        ``table_milliseconds``: 'stop' is an error, 'leave_out' goes on without it there.
    table_milliseconds : int
    missing_values : str
        What becomes of rows with missing values: 'drop_rows' leaves them out, as the published program did; 'keep' has
        them go to the branch with more training examples, as in `splitlab.trees.DecisionTreeClassifier`.
    published : str or None
        'table4': the results are held against the paper's Table 4.
    timed_trees : int
        How many trees of each kind are grown once more, one after the other, to take their time; 0: none.
    """

    FOREIGN: ClassVar[tuple[str, ...]] = ("grid",)

    kind: Literal["trees"]
    catalogue: str = CATALOGUE
    datasets: Annotated[tuple[str, ...], *one_or_more]
    impurities: Names = IMPURITIES
    splitters: Names
    arithmetic: Arithmetic = "tolerant"
    max_depth: Annotated[int, whole(1, 1000)] = 16
    max_p: Annotated[float, AfterValidator(_share)] = 0.1
    min_second: Annotated[int, whole(0, 10**9)] = 15
    folds: Annotated[int, whole(2, 100)] = 3
    seeds: Annotated[tuple[Annotated[int, whole(0, 2**63 - 1)], ...], BeforeValidator(as_tuple)] = SEEDS
    trials: Annotated[int, whole(1, 10_000)] = 20
    where_unserved: Literal["stop", "leave_out"] = "stop"
    table_milliseconds: Annotated[int, whole(1, 30_000)] = 30_000
    missing_values: Literal["drop_rows", "keep"] = "drop_rows"
    published: Literal["table4"] | None = None
    timed_trees: Annotated[int, whole(0, 1000)] = 0

    def protocol(self) -> dict[str, Any]:
        """What decides the trees, besides data, impurity, splitter and the seed of the trial."""
        return {key: getattr(self, key) for key in PROTOCOL}

    @property
    def keeps_missing(self) -> bool:
        """Whether rows with missing values are kept."""
        return self.missing_values == "keep"

    def resolved(self, source: Source) -> Self:
        """The experiment, with its catalogue located beside the config file."""
        for key in ("datasets", "impurities", "splitters", "seeds"):
            refuse_repeats(key, list(map(str, getattr(self, key))), source)
        if self.trials > len(self.seeds):
            raise source.error(("trials",), f"{self.trials} trials need as many seeds; there are {len(self.seeds)}")
        self._check_arithmetic(source)
        folder = self.source.parent if self.source else Path()
        experiment = self.changed(catalogue=str(folder / self.catalogue))
        experiment._check_datasets(source)
        return experiment

    @classmethod
    def put_runs(cls, source: Source, given: Source, place: Place) -> None:
        """Runs of this kind are trials."""
        source.replace("trials", given)
        source.places["trials",] = place

    def _check_arithmetic(self, source: Source) -> None:
        if self.arithmetic != "published":
            return
        if self.keeps_missing:
            rule = "the published program left such rows out; write arithmetic: tolerant"
            raise source.error(("missing_values",), f"keep does not go with arithmetic: published; {rule}")
        for key, known in (("splitters", tuple(METHODS.values())), ("impurities", IMPURITIES)):
            for i, name in enumerate(getattr(self, key)):
                if name not in known:
                    rule = f"the published program has {', '.join(known)}; write arithmetic: tolerant for others"
                    raise source.error((key, i), f"'{name}' does not go with arithmetic: published; {rule}")

    def _check_datasets(self, source: Source) -> None:
        from splitlab.kinds.data_sets.catalogue import catalogue, chosen_sets

        known = catalogue(Path(self.catalogue))
        for i, name in enumerate(self.datasets):
            try:
                chosen_sets(known, [name])[0].require_target()
            except ValueError as error:
                raise source.error(("datasets", i), str(error)) from None
