"""Cost against success: time per table and percentage of tables on which the optimum is found, a panel per cell.

The methods that no other beats in both make the *Pareto front*; they are labelled where
there is room, and all methods are in the legend.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import NullLocator
from matplotlib.transforms import Bbox

from splitlab.kinds.optimality.results import BEST_KNOWN
from splitlab.kinds.random_tables.captions import impurity_title, tables_text
from splitlab.kinds.random_tables.config import CELL
from splitlab.kinds.random_tables.panels import MOST_VALUES, varies
from splitlab.report.style import DOUBLE, SINGLE, Plot, canvas, finish, styled, styles, titles

ACROSS = 3
KNOWN = " Best known: the optimum is out of reach there, and the best of these methods takes its place."
NEAR, FAR, FARTHEST = 3.5, 9.0, 15.0  # points between a marker and its label
ROOM = 2.0  # points around a marker that labels keep clear of


def on_front(part: pd.DataFrame) -> pd.Series[bool]:
    """Which rows of a cell no other beats: cheaper and at least as often right, or as cheap and more often right.

    Examples
    --------
    >>> part = pd.DataFrame({"microseconds": [1.0, 2.0, 2.0, 9.0], "percent": [50.0, 90.0, 80.0, 90.0]})
    >>> on_front(part).tolist()
    [True, True, False, False]
    """
    ordered = part.sort_values(["microseconds", "percent"], ascending=[True, False], kind="stable")
    best_before = ordered["percent"].astype(float).cummax().shift(fill_value=-np.inf)
    return (ordered["percent"] > best_before).reindex(part.index)


def optimality_plots(frame: pd.DataFrame) -> list[Plot]:
    """Time per table against the percentage of tables on which the optimum, or the best known, is found.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``Results.optimality``.

    Returns
    -------
    list of Plot
        One for each impurity.
    """
    return [_plot(str(name), part.reset_index(drop=True)) for name, part in frame.groupby("impurity", sort=False)]


def _plot(impurity: str, frame: pd.DataFrame) -> Plot:
    frame, omitted = _thinned(frame)
    front = pd.concat([on_front(part) for _, part in frame.groupby(CELL)])
    data = frame.assign(front=front)
    cells = [part for _, part in data.groupby(["k", "n", "max_count"])]
    with styled():
        figure, panels = _panels(cells)
        for axes, part in zip(panels, cells, strict=True):
            _draw(axes, part)
            axes.set_title(_title(part, data))
        figure.supxlabel("time per table (µs)")
        figure.supylabel(f"{_found(data)} found (%)")
        finish(figure, _handles(data["splitter"]), handle_length=1.0)
        for axes, part in zip(panels, cells, strict=True):
            _label(axes, part)
    caption = (
        f"{impurity_title(impurity)}: time per table against the percentage of random tables on which a method finds "
        f"the {_found(data)}.{KNOWN if _some_known(data) else ''} The grey line joins "
        f"the methods that no other beats in both; they are labelled where there is room. "
        f"{tables_text(data)} Bars: 95 % Wilson intervals. Times of one machine, one thread.{omitted}"
    )
    return Plot(f"optimality_{impurity}", figure, data, caption)


def _found(data: pd.DataFrame) -> str:
    return " or ".join(sorted(data["reference"].unique(), reverse=True))


def _some_known(data: pd.DataFrame) -> bool:
    return bool((data["reference"] == BEST_KNOWN).any())


def _thinned(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of as many cells as there is room for, and a sentence if those are not all."""
    number = frame.groupby(CELL, sort=True).ngroup()
    count = int(number.max()) + 1
    if count <= MOST_VALUES:
        return frame, ""
    shown = np.linspace(0, count - 1, MOST_VALUES).round()
    kept = frame[number.isin(shown)].reset_index(drop=True)
    return kept, f" Shown are {MOST_VALUES} of the {count} configurations."


def _panels(cells: Sequence[pd.DataFrame]) -> tuple[Figure, list[Axes]]:
    """Panels that share the percentages; each has the times of its own cell, which would be crowded otherwise."""
    across = min(ACROSS, len(cells))
    rows = ceil(len(cells) / across)
    figure = canvas(SINGLE if across == 1 else DOUBLE, 0.4 + (2.6 if across == 1 else 2.05) * rows)
    panels = figure.subplots(rows, across, sharey=True, squeeze=False).ravel()
    for axes in panels[len(cells) :]:
        axes.remove()
    for axes, part in zip(panels, cells, strict=False):
        times = part["microseconds"]
        margin = max(1.4, (times.max() / times.min()) ** 0.06)
        axes.set_xscale("log")
        axes.set_xlim(times.min() / margin, times.max() * margin)
        axes.xaxis.set_minor_locator(NullLocator())
    panels[0].set_ylim(-6.0, 114.0)
    panels[0].set_yticks([0, 25, 50, 75, 100])
    return figure, list(panels[: len(cells)])


def _title(part: pd.DataFrame, data: pd.DataFrame) -> str:
    n, k, max_count = part[CELL].iloc[0]
    several = f", 0 to {max_count}" if varies(data, "max_count") else ""
    known = " (best known)" if _some_known(part) else ""
    return f"$n$ = {n}, $k$ = {k}{several}{known}"


def _draw(axes: Axes, part: pd.DataFrame) -> None:
    """The markers, and the front: what is reached with that much time."""
    front = part[part["front"]].sort_values("microseconds")
    axes.step(front["microseconds"], front["percent"], where="post", color="0.7", linewidth=0.8, zorder=1)
    look = styles(part["splitter"])
    for row in part.to_dict(orient="records"):
        style = look[row["splitter"]]
        axes.plot(row["microseconds"], row["percent"], label=row["splitter"], **style.of_point())
    colours = [look[splitter].colour for splitter in part["splitter"]]
    axes.vlines(part["microseconds"], part["wilson_low"], part["wilson_high"], colors=colours, linewidth=0.6)


def _handles(splitters: pd.Series[str]) -> list[Line2D]:
    names, look = titles(splitters), styles(splitters)
    return [Line2D([], [], **look[s].of_point(), label=names[s]) for s in names]


# ---- labels


def _label(axes: Axes, part: pd.DataFrame) -> None:
    """Name the methods on the front, each where it hides no marker and no other name; where there is no room, not."""
    names, look = titles(part["splitter"]), styles(part["splitter"])
    halo = [withStroke(linewidth=2.5, foreground="white")]
    room = ROOM * axes.figure.dpi / 72.0
    points = axes.transData.transform(part[["microseconds", "percent"]].to_numpy())
    taken = [Bbox.from_extents(x - room, y - room, x + room, y + room) for x, y in points]
    taken += _front_line(axes, part)
    inside = axes.get_window_extent()
    for row in part[part["front"]].sort_values("percent", ascending=False).to_dict(orient="records"):
        name, point = names[row["splitter"]], (row["microseconds"], row["percent"])
        for place in _places():
            label = axes.annotate(name, point, textcoords="offset points", **place)
            label.set(color=look[row["splitter"]].colour, path_effects=halo)
            box = label.get_window_extent()
            if _contains(inside, box) and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            label.remove()


def _front_line(axes: Axes, part: pd.DataFrame) -> list[Bbox]:
    """The pieces of the line that joins the front, which no name may lie on."""
    front = part[part["front"]].sort_values("microseconds")
    steps = [(x, y) for x, y in zip(front["microseconds"], front["percent"], strict=True)]
    corners = [corner for (_, y), (x, z) in pairwise(steps) for corner in ((x, y), (x, z))]
    line = axes.transData.transform([*steps[:1], *corners])
    return [
        Bbox.from_extents(min(a[0], b[0]), min(a[1], b[1]) - 0.5, max(a[0], b[0]) + 0.5, max(a[1], b[1]) + 0.5)
        for a, b in pairwise(line)
    ]


def _places() -> Iterator[dict[str, Any]]:
    """Where a label may be, the best first."""
    for gap in (NEAR, FAR, FARTHEST):
        slant = 0.7 * gap
        yield {"xytext": (gap, 0), "ha": "left", "va": "center_baseline"}
        yield {"xytext": (-gap, 0), "ha": "right", "va": "center_baseline"}
        yield {"xytext": (slant, -slant), "ha": "left", "va": "top"}
        yield {"xytext": (-slant, slant), "ha": "right", "va": "bottom"}
        yield {"xytext": (0, gap), "ha": "center", "va": "bottom"}
        yield {"xytext": (0, -gap), "ha": "center", "va": "top"}
        yield {"xytext": (slant, slant), "ha": "left", "va": "bottom"}
        yield {"xytext": (-slant, -slant), "ha": "right", "va": "top"}


def _contains(outer: Any, inner: Any) -> bool:
    return bool(outer.x0 <= inner.x0 and outer.y0 <= inner.y0 and inner.x1 <= outer.x1 and inner.y1 <= outer.y1)
