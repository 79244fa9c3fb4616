"""The data sets of a study of criteria: reading them, and texts as numbers in their natural order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from splitlab.engine.blocks import Column
from splitlab.kinds.criteria.config import CODED, CriteriaExperiment
from splitlab.kinds.data_sets.catalogue import (
    Data,
    Dataset,
    catalogue,
    chosen_sets,
    found,
    located,
    read,
)
from splitlab.kinds.data_sets.loaded import DataCell, Facts, Loaded, facts_of, places, read_file
from splitlab.text import ConfigError

SCIKIT_LEARN = "scikit-learn"
NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)")


@dataclass(frozen=True, order=True)
class StudyCell(DataCell):
    """A data set in the place of a cell, with what it takes to grow trees on it."""

    data: Data | None = field(default=None, compare=False, repr=False)
    experiment: CriteriaExperiment | None = field(default=None, compare=False, repr=False)


def where(experiment: CriteriaExperiment) -> list[Path]:
    """The folders where files are looked for: those of any study, and in each the folder ``ihd``."""
    return [folder / inside for folder in places(Path(experiment.catalogue)) for inside in ("", "ihd")]


def load_sets(experiment: CriteriaExperiment) -> tuple[list[Loaded], list[str]]:
    """The data sets that are there, and the names of those left out; ValueError for the first that is no good."""
    known, folders = catalogue(Path(experiment.catalogue)), where(experiment)
    sets, absent = [], []
    for dataset in chosen_sets(known, experiment.datasets):
        if located(dataset, folders) is None and not dataset.scikit_learn:
            if experiment.where_missing == "leave_out":
                absent.append(dataset.name)
                continue
            try:
                found(dataset, folders)
            except ValueError as error:
                raise ConfigError(f"{error}; where_missing: leave_out goes on without it") from None
        one = _read(dataset, folders, experiment.keeps_missing)
        _check_classes(one)
        sets.append(Loaded(one.facts, in_natural_order(one.data)))
    if not sets:
        listed = ", ".join(map(str, places(Path(experiment.catalogue))))
        raise ConfigError(f"none of the {len(absent)} data sets is in {listed}; SPLITLAB_DATA names the folder of data")
    return sets, absent


def _read(dataset: Dataset, folders: list[Path], keep: bool) -> Loaded:
    """A data set from its file, or from scikit-learn where there is none."""
    if dataset.scikit_learn and located(dataset, folders) is None:
        text = csv_of(dataset)
        data = read(dataset, text, SCIKIT_LEARN, keep)
        return Loaded(facts_of(dataset, data, SCIKIT_LEARN, text.encode()), data)
    return read_file(dataset, folders, keep)


def csv_of(dataset: Dataset) -> str:
    """A data set of scikit-learn as the csv file that the catalogue describes."""
    from sklearn import datasets

    x, y = getattr(datasets, f"load_{dataset.scikit_learn}")(return_X_y=True)
    labels = dataset.labels or [str(c) for c in range(int(y.max()) + 1)]
    lines = [",".join([*dataset.columns, dataset.target])]
    lines += [",".join([*map(repr, row), labels[c]]) for row, c in zip(x.tolist(), y.tolist(), strict=True)]
    return "\n".join(lines) + "\n"


def _check_classes(one: Loaded) -> None:
    """ConfigError unless there are two classes, and of each an example to test on and one to grow a tree from."""
    counts = np.bincount(one.data.y, minlength=one.data.k)
    rare = [name for name, count in zip(one.data.classes, counts.tolist(), strict=True) if count == 1]
    if rare:
        rule = "it cannot be held out; leave the row out, or join classes"
        raise ConfigError(f"{one.cell.name}: class {rare[0]!r} has 1 row only: {rule}")
    if (counts > 0).sum() < 2:
        raise ConfigError(f"{one.cell.name}: has one class only, {one.data.classes[int(counts.argmax())]!r}")


def natural(text: str) -> list[tuple[int, float, str]]:
    """Orders texts so that numbers in them count as numbers.

    >>> sorted(["a10", "a9", "10", "9", "b"], key=natural)
    ['9', '10', 'a9', 'a10', 'b']
    """
    return [(0, float(part), "") if NUMBER.fullmatch(part) else (1, 0.0, part) for part in NUMBER.split(text) if part]


def in_natural_order(data: Data) -> Data:
    """The data with texts numbered in their natural order; classes without any row are left out."""
    x = data.x.copy(order="F")
    values = list(data.values)
    for column in np.flatnonzero(data.nominal):
        rank, values[column] = _ranks(values[column])
        known = ~np.isnan(x[:, column])
        x[known, column] = rank[x[known, column].astype(np.int64)]
    present = np.bincount(data.y, minlength=data.k) > 0
    rank, classes = _ranks([name for name, there in zip(data.classes, present, strict=True) if there])
    y = rank[(np.cumsum(present) - 1)[data.y]]
    return replace(data, x=x, y=y, k=len(classes), values=values, classes=classes)


def _ranks(texts: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    """The place of each text in the natural order, and the texts in that order."""
    order = sorted(range(len(texts)), key=lambda i: natural(texts[i]))
    rank = np.empty(len(texts), np.int64)
    rank[order] = np.arange(len(texts))
    return rank, [texts[i] for i in order]


def columns_on(experiment: CriteriaExperiment, one: Facts) -> tuple[Column, ...]:
    """Criteria, and what is done about text columns: the second way only where there are any."""
    ways = experiment.nominal if one.number("nominal") else (CODED,)
    return tuple((criterion, way) for way in ways for criterion in experiment.criteria)
