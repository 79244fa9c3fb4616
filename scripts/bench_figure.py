"""The figure of `make bench`: time per table by splitter and cell, and how it grows, with the fitted lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from scripts.bench_kernels import PLAIN
from scripts.bench_report import Frames
from splitlab.kinds.random_tables.captions import impurity_title
from splitlab.kinds.random_tables.panels import TIME, method_handles, series
from splitlab.report.style import DOUBLE, GREY, Plot, canvas, finish, place_ticks, styled, styles

SMALL = 6.0  # points: the exponents in the panels
PLAIN_LINE: dict[str, Any] = {
    "color": GREY,
    "marker": "o",
    "markersize": 2.5,
    "linestyle": ":",
    "label": "HcC, plain loop",
}


def bench_plot(frames: Frames, machine: dict[str, Any]) -> Plot:
    """The figure, from the frames ``splitters``, ``growth`` and ``exponents``."""
    # A column of panels per k; the large size that sliq_ext alone was timed on has none.
    every = frames["splitters"]
    times = every[every["k"].isin(frames["hcc"]["k"])]
    with styled():
        figure = canvas(DOUBLE, 5.6)
        classes, impurities = sorted(times["k"].unique()), list(dict.fromkeys(times["impurity"]))
        halves = figure.add_gridspec(2, 1, height_ratios=[len(impurities), 1])
        _draw_times(figure, halves[0], times, classes, impurities)
        _draw_growth(figure, halves[1], frames, impurities)
        finish(figure, [*method_handles(times), Line2D([], [], **PLAIN_LINE)])
    data = pd.concat([times.assign(part="time"), frames["growth"].assign(part="growth")], ignore_index=True)
    return Plot("bench", figure, data, _caption(times, frames, machine))


def _draw_times(
    figure: Figure, place: SubplotSpec, times: pd.DataFrame, classes: list[int], impurities: list[str]
) -> None:
    grid = place.subgridspec(len(impurities), len(classes))
    first: Axes | None = None
    for row, impurity in enumerate(impurities):
        for column, k in enumerate(classes):
            axes = figure.add_subplot(grid[row, column], sharex=first, sharey=first)
            first = first or axes
            _draw_cell_times(axes, times[(times["impurity"] == impurity) & (times["k"] == k)])
            axes.set_title(f"{impurity_title(impurity)}, $k$ = {k}")
            _labels(axes, "n", row == len(impurities) - 1, column == 0)
    _scales(first, sorted(times["n"].unique()), 1.1)


def _draw_cell_times(axes: Axes, part: pd.DataFrame) -> None:
    look = styles(part["splitter"])
    for splitter, rows in series(part[part["code"] != PLAIN]):
        axes.plot(rows["n"], rows["microseconds"], label=splitter, **look[splitter].of_line())
    loop = part[part["code"] == PLAIN]
    axes.plot(loop["n"], loop["microseconds"], **PLAIN_LINE)


def _draw_growth(figure: Figure, place: SubplotSpec, frames: Frames, impurities: list[str]) -> None:
    """A panel per impurity against n, then one per impurity against k."""
    variables = list(dict.fromkeys(frames["exponents"]["variable"]))
    panels = [(variable, impurity) for variable in variables for impurity in impurities]
    grid = place.subgridspec(1, len(panels))
    first: dict[str, Axes] = {}
    for column, (variable, impurity) in enumerate(panels):
        shared = first.get(variable)
        axes = figure.add_subplot(grid[0, column], sharex=shared, sharey=shared)
        first.setdefault(variable, axes)
        fits = frames["exponents"].query("variable == @variable and impurity == @impurity")
        _draw_fits(axes, frames["growth"].query("impurity == @impurity"), fits)
        axes.set_title(f"{impurity_title(impurity)}, ${other_size(variable)}$")
        _labels(axes, variable, True, shared is None)
        _scales(axes, list(range(fits["first"].min(), fits["last"].max() + 1)), 1.1, variable == "n")


def other_size(variable: str) -> str:
    """What is held fixed."""
    return "k = 3" if variable == "n" else "n = 12"


def _draw_fits(axes: Axes, points: pd.DataFrame, fits: pd.DataFrame) -> None:
    look = styles(fits["splitter"])
    for row in fits.to_dict(orient="records"):
        variable, style = row["variable"], look[row["splitter"]]
        rows = points[(points["splitter"] == row["splitter"]) & points[variable].between(row["first"], row["last"])]
        rows = rows[rows["k" if variable == "n" else "n"] == (3 if variable == "n" else 12)]
        x = np.geomspace(row["first"], row["last"], 50)
        y = row["factor"] * (row["base"] ** (row["exponent"] * x) if row["base"] else x ** row["exponent"])
        axes.plot(x, y, color=style.colour, linewidth=0.8)
        text = f"{row['exponent']:.2f} ± {row['standard_error']:.2f}"
        points_style: dict[str, Any] = {
            "color": style.colour,
            "marker": style.marker,
            "linestyle": "none",
            "markersize": 3.0,
        }
        axes.plot(rows[variable], rows["microseconds"], label=text, **points_style)
    axes.legend(loc="upper left", fontsize=SMALL, handlelength=0.8, handletextpad=0.3, labelspacing=0.2)


def _labels(axes: Axes, variable: str, bottom: bool, left: bool) -> None:
    """Labels at the outer panels only; the others share their scales."""
    axes.tick_params(labelbottom=bottom, labelleft=left)
    if bottom:
        axes.set_xlabel(variable, style="italic")
    if left:
        axes.set_ylabel(TIME.label)


def _scales(axes: Axes | None, x: list[int], inches: float, log: bool = True) -> None:
    """Logarithmic time, with a tick per decade, above or below a logarithmic n or a linear k."""
    if axes is None:
        return
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=9))
    axes.yaxis.set_minor_formatter(NullFormatter())
    if log:
        axes.set_xscale("log")
    place_ticks(axes.xaxis, x, inches, log)


def _caption(times: pd.DataFrame, frames: Frames, machine: dict[str, Any]) -> str:
    fits = frames["exponents"].drop_duplicates("splitter")
    expected = ", ".join(f"{r['splitter']} {r['expected']:.2f}" for r in fits.to_dict(orient="records"))
    return (
        f"Time that each splitter takes for one random table (entries 0 to {times['max_count'].iloc[0]}), least of "
        f"{times['rounds'].max()} rounds, one thread, {machine['cpu']}. Above: by number of values n and of "
        f"classes k; dotted grey: HcC without lanes. Below: growth with n at k = 3 and with k at n = 12, with "
        f"least-squares lines; the numbers are the fitted exponents ± standard error (in n: of a power; in k: per "
        f"class, to the base 2). The same fit gives to the cost in theory: {expected}."
    )
