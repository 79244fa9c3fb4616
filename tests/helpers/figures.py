"""Frames to plot, and whether a figure can be read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from splitlab.report.style import DOUBLE, POINTS, SINGLE, Plot

PAPER = ("hcc", "pc_ext_counts", "sliq_ext", "lca")


BOTH = ("gini", "entropy")


def won(
    n: Sequence[int],
    k: Sequence[int],
    splitters: Sequence[str] = PAPER,
    impurities: Sequence[str] = BOTH,
    max_count: Sequence[int] = (7,),
    published: bool = False,
) -> pd.DataFrame:
    """Rows like those of Results.win_percentage, each entry with another percentage."""
    rng = np.random.default_rng(1)
    index = pd.MultiIndex.from_product(
        [impurities, n, k, max_count, splitters], names=["impurity", "n", "k", "max_count", "splitter"]
    )
    frame = index.to_frame(index=False)
    frame["runs"] = 1000
    frame["wins"] = rng.integers(0, 1001, len(frame))
    frame["percent"] = frame["wins"] / 10
    frame["standard_error"] = np.sqrt(frame["percent"] * (100 - frame["percent"]) / 1000)
    frame["published"] = [f"{p:.1f}" for p in frame["percent"]] if published else ""
    frame["wilson_low"] = (frame["percent"] - 3).clip(0, None)
    frame["wilson_high"] = (frame["percent"] + 3).clip(None, 100)
    return frame


def texts(figure: Figure) -> list[Text]:
    """Everything written in the figure that is visible."""
    found = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for axes in figure.axes:
        found += [axes.title, *axes.texts]
        found += [axes.xaxis.label, axes.yaxis.label, *tick_labels(axes)] if axes.axison else []
    return [text for text in found if text.get_visible() and text.get_text()]


def tick_labels(axes: Axes) -> list[Text]:
    """Labels that are drawn: of visible ticks, within the limits."""
    found = []
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        ticks = [tick for tick in axis.get_major_ticks() if tick.label1.get_visible()]
        found += [tick.label1 for tick in ticks if min(limits) <= tick.get_loc() <= max(limits)]
    return found


def check_layout(plot: Plot) -> None:
    figure = plot.figure
    for text in texts(figure):
        assert text.get_fontsize() == POINTS
    check_texts(figure)
    for legend in figure.legends:
        assert not any(legend.get_window_extent().overlaps(axes.get_window_extent()) for axes in figure.axes)
    assert figure.get_size_inches()[0] in (SINGLE, DOUBLE)


def check_texts(figure: Figure) -> None:
    """Everything written in a figure lies within it, and no text touches another."""
    figure.canvas.draw()
    shown = texts(figure)
    boxes = [text.get_window_extent() for text in shown]
    width, height = figure.bbox.width, figure.bbox.height
    for text, box in zip(shown, boxes, strict=True):
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, f"{text.get_text()!r} is cut off"
    for i, box in enumerate(boxes):
        for j in range(i):
            apart = box.x0 >= boxes[j].x1 or box.x1 <= boxes[j].x0 or box.y0 >= boxes[j].y1 or box.y1 <= boxes[j].y0
            assert apart, f"{shown[i].get_text()!r} and {shown[j].get_text()!r} overlap"
