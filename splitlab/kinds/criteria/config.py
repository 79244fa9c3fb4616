"""The config of kind criteria."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from splitlab import shipped
from splitlab.engine.config import Closed, Experiment, check_name, one_or_more, refuse_repeats, whole
from splitlab.engine.yaml_source import Place, Source
from splitlab.text import did_you_mean

CATALOGUE = "ihd_datasets.yaml"
# What decides the trees, besides data, criterion and the number of the repetition.
PROTOCOL = ("seed", "folds", "fold_scheme", "min_samples_leaf", "max_depth", "rule", "ties", "splitter")
ALL = "all"  # the data sets of all groups together
CODED, GROUPED = "coded", "grouped"


def _check_criterion(value: str) -> str:
    from splitlab.trees.criteria import names  # loads numba

    if value in names():
        return value
    hint = did_you_mean(value, names()) or f"known: {', '.join(names())}"
    raise PydanticCustomError("splitlab", "{message}", {"message": f"is not a known criterion; {hint}"})


def _check_splitter(value: str) -> str:
    from splitlab.trees.criteria import get  # loads numba
    from splitlab.trees.grouping import MULTIWAY, Grouping

    try:
        if value == MULTIWAY:
            raise ValueError("splitter: gives more than two branches; choose another one")
        Grouping(get("gini"), value)
    except ValueError as error:
        told = str(error).removeprefix("splitter: ").removeprefix(f"{value!r} ")
        raise PydanticCustomError("splitlab", "{message}", {"message": told}) from None
    return value


class DataGroup(Closed):
    """Data sets whose trees are judged by one measure.

    Attributes
    ----------
    name : str
    measure : str
        'accuracy' or 'auc'.
    datasets : tuple of str
        Names in the catalogue.
    """

    name: Annotated[str, AfterValidator(check_name)]
    measure: Literal["accuracy", "auc"]
    datasets: Annotated[tuple[str, ...], *one_or_more]


class CriteriaExperiment(Experiment):
    """Trees grown with different criteria, on training and test examples drawn again and again from data sets.

    Attributes
    ----------
    catalogue : str
        Path of the YAML file that describes the data sets.
    groups : tuple of DataGroup
    criteria : tuple of str
    folds : int
        Trees of each criterion in a repetition.
    fold_scheme : str
        'holdout': every fold draws its test examples anew, one of ``folds`` of each class, rounded up. 'stratified':
        the test examples of the folds are a partition, in which classes are spread evenly.
    repetitions : int
    seed : int
        Repetition r, from 0 on, draws with ``numpy.random.RandomState(seed + r)``, on each data set alike.
    min_samples_leaf : int
    max_depth : int or None
    rule : str
        Which examples go left of a threshold: 'at_most' x <= t, 'below' x < t. Thresholds are midpoints, so that it
        matters to test examples only.
    ties : str
        Which of the columns with equally good splits is taken: the 'first', or one at 'random'.
    nominal : tuple of str
        'coded': text columns are numbers, in the natural order of their texts. 'grouped': their values are grouped by
        ``splitter``. With both, data sets with such columns are run twice, and the first is what is compared.
    splitter : str
    missing_values : str
        What becomes of rows with missing values: 'drop_rows' or 'keep', as in kind trees.
    where_missing : str
        What becomes of a data set whose file is not there: 'stop' is an error, 'leave_out' goes on without it.
    published : str or None
        'ihd': the results are held against the printed tables of the iHD study.
    timed_trees : int
        How many trees of each criterion and data set are grown once more, one after the other, to take their time.
    """

    FOREIGN: ClassVar[tuple[str, ...]] = ("grid", "splitters", "impurities", "trials", "seeds", "datasets")
    LAST: ClassVar[tuple[str, ...]] = ("published", "groups")

    kind: Literal["criteria"]
    catalogue: str = CATALOGUE
    groups: tuple[DataGroup, ...]
    criteria: Annotated[tuple[Annotated[str, AfterValidator(_check_criterion)], ...], *one_or_more]
    folds: Annotated[int, whole(2, 100)] = 10
    fold_scheme: Literal["holdout", "stratified"] = "holdout"
    repetitions: Annotated[int, whole(1, 10_000)] = 20
    seed: Annotated[int, whole(0, 2**31)] = 1000
    min_samples_leaf: Annotated[int, whole(1, 10**6)] = 1
    max_depth: Annotated[int, whole(1, 1000)] | None = None
    rule: Literal["below", "at_most"] = "at_most"
    ties: Literal["first", "random"] = "first"
    nominal: Annotated[tuple[Literal["coded", "grouped"], ...], *one_or_more] = ("coded",)
    splitter: Annotated[str, AfterValidator(_check_splitter)] = "hd"
    missing_values: Literal["drop_rows", "keep"] = "drop_rows"
    where_missing: Literal["leave_out", "stop"] = "stop"
    published: Literal["ihd"] | None = None
    timed_trees: Annotated[int, whole(0, 1000)] = 0

    @property
    def keeps_missing(self) -> bool:
        """Whether rows with missing values are kept."""
        return self.missing_values == "keep"

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of all data sets, group by group."""
        return tuple(name for group in self.groups for name in group.datasets)

    def group_of(self, dataset: str) -> DataGroup:
        """The group that a data set is in."""
        return next(group for group in self.groups if dataset in group.datasets)

    def resolved(self, source: Source) -> Self:
        """The experiment, with its catalogue located beside the config file, or else among those that are shipped."""
        if not self.groups:
            raise source.error(("groups",), "has no items; at least one is needed")
        for key in ("criteria", "nominal"):
            refuse_repeats(key, getattr(self, key), source)
        self._check_groups(source)
        folder = self.source.parent if self.source else Path()
        path = folder / self.catalogue
        if not path.exists() and (shipped.folder() / self.catalogue).is_file():
            path = shipped.folder() / self.catalogue
        experiment = self.changed(catalogue=str(path))
        experiment._check_datasets(source)
        return experiment

    @classmethod
    def put_runs(cls, source: Source, given: Source, place: Place) -> None:
        """Runs of this kind are repetitions."""
        source.replace("repetitions", given)
        source.places["repetitions",] = place

    def _named(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Every data set that is named, and where."""
        for i, group in enumerate(self.groups):
            for j, name in enumerate(group.datasets):
                yield ("groups", i, "datasets", j), name

    def _check_groups(self, source: Source) -> None:
        """Groups have different names, and every data set is in one only."""
        names: dict[str, int] = {}
        for i, group in enumerate(self.groups):
            if group.name == ALL:
                raise source.error(("groups", i, "name"), f"'{ALL}' stands for all groups together; choose another one")
            if names.setdefault(group.name, i) < i:
                raise source.error(("groups", i, "name"), f"two groups are called '{group.name}'; rename one")
        seen: dict[str, str] = {}
        for path, name in self._named():
            if name in seen:
                raise source.error(path, f"data set '{name}' is there twice, first in group '{seen[name]}'; once only")
            seen[name] = self.groups[int(path[1])].name

    def _check_datasets(self, source: Source) -> None:
        from splitlab.kinds.data_sets.catalogue import catalogue, chosen_sets

        known = catalogue(Path(self.catalogue))
        for path, name in self._named():
            try:
                chosen_sets(known, [name])[0].require_target()
            except ValueError as error:
                raise source.error(path, str(error)) from None
