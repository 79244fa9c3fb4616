"""Figures of times: against the number of classes and of values."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from splitlab.kinds.random_tables.captions import timed_text
from splitlab.kinds.random_tables.config import ENTRY
from splitlab.kinds.random_tables.panels import (
    MEANING,
    TIME,
    by_max_count,
    grid,
    line,
    method_handles,
    other,
    refuse_repeated_rows,
    series,
    thinned,
    varies,
)
from splitlab.report.style import Plot, literal, styled, styles


def time_plots(timing: pd.DataFrame) -> list[Plot]:
    """Time per table against k and against n, both axes logarithmic.

    Parameters
    ----------
    timing : pandas.DataFrame
        Columns engine, impurity, n, k, max_count, splitter, microseconds, microseconds_low, microseconds_high; only
        the rows of impurity ``all`` are drawn.

    Returns
    -------
    list of Plot
        For each max_count: against k, against n, or whichever of them varies.

    Raises
    ------
    ValueError
        An entry is there twice.
    """
    together = timing[timing["impurity"] == "all"]
    refuse_repeated_rows(together, ["engine", *ENTRY])
    plots = []
    for part, suffix in by_max_count(together, ""):
        axes = [x for x in ("k", "n") if varies(part, x)] or ["k"]
        plots += [_time_plot(part, x, f"time_against_{x}{suffix}") for x in axes]
    return plots


def _time_plot(frame: pd.DataFrame, x: str, name: str) -> Plot:
    frame, omitted = thinned(frame, x)
    look = styles(frame["splitter"])

    def draw(axes: Axes, part: pd.DataFrame) -> None:
        for splitter, rows in series(part):
            line(axes, rows, x, TIME, splitter, look[splitter].of_line())

    with styled():
        figure = grid(frame, frame["engine"].astype(str).map(literal), x, TIME, draw, method_handles(frame))
    caption = (
        f"Time that each method takes for one random table, all impurities together, against the {MEANING[x]}, for "
        f"each {MEANING[other(x)]}, both axes logarithmic. {timed_text(frame)} "
        f"Bars: 95 % intervals over the repeats.{omitted}"
    )
    return Plot(name, figure, frame, caption)
