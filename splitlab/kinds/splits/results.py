"""The numbers of an experiment, as ``splitlab.run`` returns them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splitlab import notebook
from splitlab.engine.store import Store
from splitlab.kinds.random_tables.config import CELL, Cell, RandomTablesExperiment
from splitlab.kinds.splits.summary import Summary, block_wins, cell_columns, cell_fields, summarise, wins
from splitlab.splitters import titles


class Results:
    """The numbers of an experiment.

    Attributes
    ----------
    experiment : Experiment
        What was run.
    win_percentage : pandas.DataFrame
        One row per impurity, cell and splitter: runs, wins, percent, standard_error, published (as
        printed, empty if there is none), wilson_low, wilson_high, failures, first_failure; then the same with ties
        shared (``wins_shared``, ...) and with wins alone (``wins_strict``, ...).
    paired_differences : pandas.DataFrame
        One row per impurity, cell and two splitters: differences of their percentages and of their impurities, with
        the standard errors that these have on the same tables; see `paired`.
    relative_excess : pandas.DataFrame
        One row per impurity, cell and splitter, in percent: mean, standard_error, median, p95, p99, maximum and
        the run where it happened, and the number of unbounded tables. No rows for a single splitter.
    excess_histogram : pandas.DataFrame
        The distribution behind: per impurity, cell and splitter, how many tables have which excess (the centre of a
        bin of the fixed histogram, in percent).
    draws : pandas.DataFrame
        Per cell: candidate tables drawn, rejected, and the number of rejections to be expected.
    timing : None
        Only experiments of kind timing have one.
    trees : None
        Only experiments of kind trees have them.
    optimality : pandas.DataFrame or None
        Of kind optimality: the splitters against the optimum, or the best split known, see `optimality_frame`.
    """

    def __init__(self, experiment: Any, store: Store, summary: Summary, optimality: pd.DataFrame | None = None) -> None:
        self.experiment = experiment
        self._store = store
        self.win_percentage: pd.DataFrame = summary.win_percentage
        self.relative_excess: pd.DataFrame = summary.relative_excess
        self.excess_histogram: pd.DataFrame = summary.excess_histogram
        self.paired_differences: pd.DataFrame = summary.paired_differences
        self.draws: pd.DataFrame = summary.draws
        self.timing: pd.DataFrame | None = None
        self.optimality = optimality
        self.trees: pd.DataFrame | None = None

    def impurities(self, n: int, k: int, max_count: int, impurity: str) -> NDArray[np.float64]:
        """Impurity of every run and splitter of a cell.

        Parameters
        ----------
        n, k, max_count : int
            The cell.
        impurity : str
            One of the experiment's impurities.

        Returns
        -------
        array of float64, shape (runs, splitters)
            I(u_L) + I(u_R), splitters in the order of the config.

        Raises
        ------
        ValueError
            The experiment has no such cell or impurity.
        TypeError
            n, k or max_count is not a whole number.
        """
        cell, runs = Cell(*map(operator.index, (n, k, max_count))), dict(self.experiment.cells)
        if cell not in runs:
            raise ValueError(f"cell {cell.label} is not in this experiment; it has {_cells(self.experiment)}")
        if impurity not in self.experiment.impurities:
            raise ValueError(f"impurity {impurity!r} is not in this experiment; it has {self.experiment.impurities}")
        self._check_runs_are_kept()
        columns = tuple((impurity, s) for s in self.experiment.splitters)
        return np.concatenate([part for _, _, part in cell_columns(cell, runs[cell], self._store, columns)])

    def runs(self) -> pd.DataFrame:
        """Every run as a row: what each splitter made of its table, for pandas and seaborn.

        Returns
        -------
        pandas.DataFrame
            One row per impurity, cell, run and splitter (of kind optimality also ``exact`` where it was computed):
            impurity, n, k, max_count, run (from 0 on, as ``splitlab replay`` counts), splitter; value, the impurity
            I(u_L) + I(u_R) of its split, NaN where it failed; win, whether that is the least of all within rounding.
            The names are categories. A row takes 39 bytes: 10,000 runs of 12 cells with four splitters and one
            impurity make 480,000 rows, 19 MB, and twice that for a moment.

        Raises
        ------
        ValueError
            The experiment keeps no single runs.
        """
        self._check_runs_are_kept()
        experiment = self.experiment
        all_of_them = dict.fromkeys(s for cell, _ in experiment.cells for s in experiment.competitors(cell))
        frames = []
        for impurity in experiment.impurities:
            for cell, runs in experiment.cells:
                names = experiment.competitors(cell)
                blocks = list(cell_columns(cell, runs, self._store, tuple((impurity, s) for s in names)))
                values = np.concatenate([part for _, _, part in blocks])
                won = wins(values, np.concatenate([totals for _, totals, _ in blocks]))
                place = {
                    "impurity": pd.Categorical([impurity], experiment.impurities).repeat(values.size),
                    **{key: np.full(values.size, size) for key, size in cell_fields(cell).items()},
                    "run": np.repeat(np.arange(runs, dtype=np.int32), len(names)),
                    "splitter": pd.Categorical(list(names) * runs, list(all_of_them)),
                }
                frames.append(pd.DataFrame({**place, "value": values.ravel(), "win": won.ravel()}))
        return pd.concat(frames, ignore_index=True)

    def _repr_html_(self) -> str:
        """For notebooks: the main numbers of the experiment."""
        experiment = self.experiment
        return notebook.paragraph(f"{experiment.name}, kind {experiment.kind}: {self._lead()}") + self._main().to_html(
            max_rows=60, na_rep="", float_format="{:.6g}".format
        )

    def _lead(self) -> str:
        """What the numbers in a notebook are."""
        found = "the least impurity of all" if self.optimality is None else "the optimum, or the best split known"
        return f"percent of the runs on which each splitter finds {found}, with its 95 % interval (Wilson)"

    def _main(self) -> pd.DataFrame:
        """The numbers for a notebook."""
        return percent_by_splitter(self.win_percentage if self.optimality is None else self.optimality)

    def among(self, splitters: Sequence[str]) -> Results:
        """The numbers that these runs give for some of the splitters: a win depends on who takes part.

        Parameters
        ----------
        splitters : sequence of str
            Names of splitters of this experiment.

        Returns
        -------
        Results
            Made from the stored runs; nothing is computed again.

        Raises
        ------
        ValueError
            A name is not one of this experiment's splitters, or the experiment keeps no single runs.
        """
        experiment = self.experiment
        if isinstance(splitters, str) or not splitters:
            raise ValueError(f"splitters: {splitters!r} is no list of names; write a list such as ['hcc', 'lca']")
        for name in splitters:
            if name not in experiment.splitters:
                raise ValueError(f"splitter {name!r} is not in this experiment; it has {experiment.splitters}")
        self._check_runs_are_kept()
        part = experiment.changed(splitters=tuple(splitters))
        return Results(part, self._store, summarise(part, self._store))

    def _check_runs_are_kept(self) -> None:
        if not getattr(self.experiment, "keep_runs", True):
            raise ValueError(f"{self.experiment.name} has keep_runs: false; there are no single runs, only their sums")

    def block_wins(self) -> pd.DataFrame:
        """Wins per block of 1,000 runs: impurity, n, k, max_count, block, runs, and a column per splitter."""
        return block_wins(self.experiment, self._store)


def percent_by_splitter(frame: pd.DataFrame) -> pd.DataFrame:
    """Percentages with their 95 % intervals, a row for each impurity and cell, a column for each splitter."""
    numbers = frame[["percent", "wilson_low", "wilson_high"]].to_numpy()
    texts = [f"{percent:.1f} [{low:.1f}, {high:.1f}]" for percent, low, high in numbers]
    names = titles(frame["splitter"].unique())
    shown = frame.assign(percent=texts, splitter=frame["splitter"].map(names))
    keys = ["impurity", *CELL]
    wide = shown.pivot_table(index=keys, columns="splitter", values="percent", aggfunc="first", sort=False)
    return wide[list(names.values())].rename_axis(columns=None)


def _cells(experiment: RandomTablesExperiment) -> str:
    labels = [cell.label for cell, _ in experiment.cells]
    return ", ".join(labels if len(labels) <= 12 else [*labels[:11], "..."])
