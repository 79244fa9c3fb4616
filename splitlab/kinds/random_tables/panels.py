"""Grids of small panels: a row of panels per impurity or timing engine, one panel per number of classes.

All panels of a grid share their axes. What several parameters share is said once, in the caption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray

from splitlab.report.style import DOUBLE, SINGLE, canvas, finish, fitting, literal, place_ticks, styles, titles

PANELS_ACROSS = 4
MOST_VALUES = 24  # panels in a group: more would be no figure, and a picture too large to be written
CROWDED = 12  # points on a line beyond which only some have markers
MEANING = {"n": "number of values n", "k": "number of classes k"}


@dataclass(frozen=True)
class Quantity:
    """What is on the vertical axis: its column, the columns of its error bars, label and scale."""

    column: str
    low: str
    high: str
    label: str
    log: bool


PERCENT = Quantity("percent", "wilson_low", "wilson_high", "tables won (%)", log=False)
TIME = Quantity("microseconds", "microseconds_low", "microseconds_high", "time per table (µs)", log=True)


def grid(
    frame: pd.DataFrame,
    groups: pd.Series[str],
    x: str,
    y: Quantity,
    draw: Callable[[Axes, pd.DataFrame], None],
    handles: Sequence[Line2D],
) -> Figure:
    """Panels against ``x``: a row for every label of ``groups``, in it a panel per value of the other of n and k.

    ``groups`` has a label per row of ``frame``, which begins the panels' titles. Rows wrap where they are long.
    """
    across = other(x)
    values = sorted(frame[across].unique())
    lines = ceil(len(values) / PANELS_ACROSS)
    columns = ceil(len(values) / lines)
    width = SINGLE if columns <= 2 else DOUBLE
    labels = list(dict.fromkeys(groups))
    rows, inches = lines * len(labels), (width - 0.6) / columns - 0.15
    titled = {(label, value): _title(label, across, value, inches) for label in labels for value in values}
    further = max(title.count("\n") for title in titled.values())  # lines
    figure = canvas(width, 0.35 + ((1.4 if rows > 1 else 1.9) + 0.14 * further) * rows)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for number, label in enumerate(labels):
        block = panels[number * lines : (number + 1) * lines].ravel()
        for axes, value in zip(block, values, strict=False):
            axes.set_title(titled[label, value])
            draw(axes, frame[(groups == label) & (frame[across] == value)])
        _close_gaps(panels, block[len(values) :])
    _scale(panels[0, 0], sorted(frame[x].unique()), y, inches)
    figure.supxlabel(MEANING[x].replace(f" {x}", f" ${x}$"))
    figure.supylabel(y.label)
    return finish(figure, handles)


def _title(label: str, across: str, value: int, inches: float) -> str:
    """The title of a panel, in lines that fit it; a no-break space is where no line ends."""
    lines = literal(fitting(f"{label}, {across}\u00a0=\u00a0{value}", inches))
    return lines.replace(f"{across}\u00a0=\u00a0", f"${across}$ = ")


def other(x: str) -> str:
    """The parameter that distinguishes panels when ``x`` is the axis."""
    return "n" if x == "k" else "k"


def horizontal(frame: pd.DataFrame) -> str:
    """The parameter for the horizontal axis: n, unless only k varies."""
    return "k" if varies(frame, "k") and not varies(frame, "n") else "n"


def thinned(frame: pd.DataFrame, x: str) -> tuple[pd.DataFrame, str]:
    """The rows that fit in the panels of a figure, and a sentence for the caption if that is not all of them."""
    across = other(x)
    values = sorted(frame[across].unique())
    if len(values) <= MOST_VALUES:
        return frame, ""
    places = np.linspace(0, len(values) - 1, MOST_VALUES).round().astype(int)
    shown = frame[frame[across].isin([values[place] for place in places])].reset_index(drop=True)
    return shown, f" Shown are {MOST_VALUES} of the {len(values)} values of {across}."


def varies(frame: pd.DataFrame, column: str) -> bool:
    """Whether a column has several values."""
    return len(frame[column].unique()) > 1


def _close_gaps(panels: NDArray[Any], unused: Iterable[Axes]) -> None:
    """Take away the unused panels at the end of a block; those above the last ones get the tick labels."""
    for axes in unused:
        row, column = next(place for place in np.ndindex(panels.shape) if panels[place] is axes)
        if row == panels.shape[0] - 1:
            panels[row - 1, column].tick_params(labelbottom=True)
        axes.remove()


def _scale(axes: Axes, x: Sequence[int], y: Quantity, inches: float) -> None:
    """Scales, limits and ticks, which all panels of a grid share."""
    log = y.log or x[-1] > 10 * x[0]
    if log:
        axes.set_xscale("log")
        margin = (x[-1] / x[0]) ** 0.08 if len(x) > 1 else 1.5
        axes.set_xlim(x[0] / margin, x[-1] * margin)
    else:
        gap = 0.08 * (x[-1] - x[0]) or 1.0
        axes.set_xlim(x[0] - gap, x[-1] + gap)
    place_ticks(axes.xaxis, x, inches, log)
    if y.log:
        _whole_decades(axes)
    else:
        axes.set_ylim(-7.0, 107.0)  # room for the markers at 0 and 100
        axes.set_yticks([0, 25, 50, 75, 100])


def _whole_decades(axes: Axes) -> None:
    """A logarithmic axis with a tick per decade and never less than one decade."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high < 10 * low:
        axes.set_ylim(10.0 ** floor(log10(low)), 10.0 ** ceil(log10(high)))
    axes.yaxis.set_major_locator(LogLocator(numticks=9))


def line(axes: Axes, rows: pd.DataFrame, x: str, y: Quantity, label: str, style: dict[str, Any]) -> None:
    """Draw one method in a panel: its line, labelled with its name, and error bars."""
    rows = rows.sort_values(x)
    value = rows[y.column].to_numpy(float)
    # At 0 and 100 % rounding can leave an end of the interval on the wrong side of the value.
    reach = [np.clip(value - rows[y.low], 0, None), np.clip(rows[y.high] - value, 0, None)]
    crowded = len(rows) > CROWDED
    axes.plot(rows[x], value, label=label, markevery=ceil(len(rows) / CROWDED), **style)
    bars = {"ecolor": style["color"], "elinewidth": 0.7, "capsize": 0.0 if crowded else 1.5, "capthick": 0.7}
    axes.errorbar(rows[x], value, reach, fmt="none", **bars)


def series(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each splitter, in order of appearance."""
    return [(str(splitter), rows) for splitter, rows in frame.groupby("splitter", sort=False)]


def method_handles(frame: pd.DataFrame) -> list[Line2D]:
    """What the legend shows for each splitter."""
    names, look = titles(frame["splitter"]), styles(frame["splitter"])
    return [Line2D([], [], **look[s].of_line(), label=names[s]) for s in names]


def by_max_count(frame: pd.DataFrame, name: str) -> list[tuple[pd.DataFrame, str]]:
    """The rows of each max_count, and the name of their plot."""
    values = sorted(frame["max_count"].unique())
    names = [name if len(values) == 1 else f"{name}_max{value}" for value in values]
    return [(frame[frame["max_count"] == v].reset_index(drop=True), n) for v, n in zip(values, names, strict=True)]


def refuse_repeated_rows(frame: pd.DataFrame, key: list[str]) -> None:
    """ValueError when several rows are of the same entry."""
    if (again := frame.duplicated(key)).any():
        entry = ", ".join(f"{field} {value}" for field, value in frame.loc[again, key].iloc[0].items())
        raise ValueError(f"there are several rows for {entry}; do not join frames of experiments that share entries")
