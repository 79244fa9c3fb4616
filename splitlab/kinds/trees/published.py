"""What the authors got for their trees: means and counts as package data, and single trials where there are any."""

from __future__ import annotations

import lzma
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import pandas as pd

from splitlab.kinds.data_sets.catalogue import folders
from splitlab.kinds.trees.results import TreesResults
from splitlab.published.program.protocol import METHODS

TRIALS = "table4_trials.csv.xz"
EQUAL = 1e-6  # trials are equal when accuracy, in percent, and mean number of nodes differ by less


def counts() -> pd.DataFrame:
    """Table 4: for each impurity, method and competitor, data sets where better and worse, printed and recomputed."""
    with files("splitlab.published").joinpath("table4_counts.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file).replace({"sliq_ext": METHODS["SLIQ-ext"]})


def means() -> pd.DataFrame:
    """Mean accuracy and number of nodes over 20 trials: impurity, title, splitter, accuracy, nodes."""
    with files("splitlab.published").joinpath("table4_means.csv").open(encoding="utf-8") as file:
        frame = pd.read_csv(file)
    return _named(frame).rename(columns={"mean_accuracy_percent": "accuracy", "mean_nodes": "nodes"})


def trials(places: Iterable[Path] | None = None) -> pd.DataFrame | None:
    """Every trial of the authors, where their file lies with the data: impurity, title, splitter, trial, ..."""
    for place in folders() if places is None else places:
        if (path := place / TRIALS).is_file():
            with lzma.open(path, "rt", encoding="utf-8") as file:
                frame = pd.read_csv(file)
            return _named(frame).rename(columns={"accuracy_percent": "accuracy", "mean_nodes": "nodes"})
    return None


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(splitter=frame["criterion"].map(METHODS)).rename(columns={"dataset": "title"})


def titles(results: TreesResults) -> dict[str, str]:
    """What the data sets of an experiment are called."""
    return {one.cell.name: one.title for one in results.sets}


def beside_authors(results: TreesResults, authors: pd.DataFrame) -> pd.DataFrame:
    """Our trials with the authors' accuracy and nodes, and whether both are equal; only trials that they have."""
    ours = results.trials().assign(title=lambda frame: frame["dataset"].map(titles(results)))
    keys = ["impurity", "title", "splitter", "trial"]
    both = ours.merge(authors[[*keys, "accuracy", "nodes"]], on=keys, suffixes=("", "_authors"))
    near = [(both[name] - both[f"{name}_authors"]).abs() < EQUAL for name in ("accuracy", "nodes")]
    return both.assign(equal=near[0] & near[1])
