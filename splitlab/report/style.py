"""How figures look: sizes for a paper column, one style per method, legends and ticks that never collide.

A built-in method looks the same in every figure. Colours are those of Okabe and Ito, which colour-blind readers can
tell apart; marker and line style alone tell these methods apart too, so that nothing is lost in grey print.
User-defined methods have colours of their own, so that none looks like a built-in one.

Everything is drawn inside ``styled()``, which starts from matplotlib's own defaults: neither the user's settings nor
anything drawn before changes a figure, and nothing here changes the user's settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil, floor, log10
from textwrap import wrap
from typing import Any

import pandas as pd
from matplotlib import style as matplotlib_style
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from matplotlib.transforms import Bbox

from splitlab import splitters

SINGLE, DOUBLE = 3.4, 7.0  # inches: one and two columns of a paper
POINTS = 8
GREY = "0.45"

SETTINGS = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, hence the same everywhere
    "font.size": POINTS,
    **{f"{part}size": POINTS for part in ("axes.title", "axes.label", "xtick.label", "ytick.label", "legend.font")},
    "figure.labelsize": POINTS,
    "mathtext.fontset": "dejavusans",
    "axes.linewidth": 0.6,
    "axes.titlepad": 3.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "0.88",
    "grid.linewidth": 0.4,
    **{f"{axis}tick.major.{part}": size for axis in "xy" for part, size in (("width", 0.6), ("size", 2.5))},
    "lines.linewidth": 1.0,
    "lines.markersize": 4.0,
    "legend.frameon": False,
    "legend.columnspacing": 1.6,
    "legend.borderaxespad": 0.2,
    "savefig.dpi": 300,
    "svg.fonttype": "path",  # letters as outlines: the file needs no font of the reader's
    "svg.hashsalt": "splitlab",
}

# Three lists of coprime lengths: walking all of them in step repeats no (marker, line) pair in 55 styles, and no
# (colour, marker) pair in 77.
# Yellow, the eighth colour, is left out: it is hardly visible on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "p", ">", "h")
LINES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (4, 1.5, 1, 1.5)), (0, (1, 1.3)), (0, (8, 1.5)))
FILLS = ("full", "none", "left", "bottom", "top")  # what tells methods apart as a line style does, where there is none
# Of user-defined methods: dark colours that are none of the above, as many as are coprime to markers and lines.
OWN_COLOURS = ("#882255", "#7A6A00", "#4B2E9E", "#8B4A1F", "#2F6F6F", "#E0218A")

# The place of a name decides its style, so new names are added at the end; those of the paper come first.
ORDER = (
    *("hcc", "pc_ext_counts", "sliq_ext", "lca", "pc_ext", "sliq", "pc", "pc_counts"),
    *("ova", "balanced", "list_scheduling", "twoing", "twoing_min", "pull_left", "flip_flop"),
    *("two_class", "exhaustive", "hyperplanes", "exact", "hd"),
    *("lca+hd", "hcc+hd", "pc_ext+hd", "direction", "sliq_ext_prefix"),
    *("sliq_ext+hd", "pc_ext_counts+hd", "sliq+hd", "pc+hd", "pc_counts+hd", "ova+hd", "balanced+hd"),
    *("list_scheduling+hd", "twoing+hd", "twoing_min+hd", "pull_left+hd", "flip_flop+hd", "sliq_ext_prefix+hd"),
    *("two_class+hd", "exhaustive+hd", "hyperplanes+hd", "exact+hd", "direction+hd"),
)
NAME_INCHES = 2.4  # longer names are broken into lines
LETTERS_PER_INCH = 12


@dataclass(frozen=True)
class Plot:
    """A figure, the numbers it shows, and what it says.

    Attributes
    ----------
    name : str
        File name without its ending.
    figure : matplotlib.figure.Figure
        Laid out and drawn; ``splitlab.report.figures.save`` writes it.
    data : pandas.DataFrame
        What is plotted.
    caption : str
        What the figure shows, what its error bars are, and from how many tables.
    """

    name: str
    figure: Figure
    data: pd.DataFrame
    caption: str


@dataclass(frozen=True)
class Style:
    """Colour, marker, line style and filling of a method."""

    colour: str
    marker: str
    line: Any
    fill: str

    def of_line(self) -> dict[str, Any]:
        """Arguments of ``Axes.plot`` for our own numbers: a line with filled markers."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line, "markeredgewidth": 0.0}

    def of_point(self) -> dict[str, Any]:
        """Arguments of ``Axes.plot`` for a marker without a line, the filling of which tells methods apart, too."""
        fill = {"fillstyle": self.fill, "markerfacecoloralt": "white", "markeredgewidth": 0.7}
        return {"color": self.colour, "marker": self.marker, "linestyle": "none", **fill}

    def of_published(self) -> dict[str, Any]:
        """Arguments of ``Axes.plot`` for published numbers: large hollow markers, which enclose ours if they agree."""
        return {**hollow(self.marker, self.colour), "markersize": 6.2, "linestyle": "none"}


def hollow(marker: str, colour: str) -> dict[str, Any]:
    """Arguments of ``Axes.plot`` for an empty marker."""
    return {"marker": marker, "color": colour, "markerfacecolor": "none", "markeredgewidth": 0.7}


def styles(names: Iterable[str]) -> dict[str, Style]:
    """The style of every splitter: each built-in one has its own, user-defined ones get theirs in order."""
    unique = dict.fromkeys(names)
    own = [name for name in unique if name not in ORDER]
    return {
        name: _style(ORDER.index(name), COLOURS) if name in ORDER else _style(own.index(name), OWN_COLOURS)
        for name in unique
    }


def _style(place: int, colours: Sequence[str]) -> Style:
    """Walking the lists in step gives other triples of colour, marker and line style for hundreds of places."""
    line = place % len(LINES)
    return Style(colours[place % len(colours)], MARKERS[place % len(MARKERS)], LINES[line], FILLS[line])


def titles(names: Iterable[str]) -> dict[str, str]:
    """What figures call the splitters: what tables call them, in lines that fit a legend."""
    found = splitters.titles(names)
    return {name: literal(fitting(title, NAME_INCHES)) for name, title in found.items()}


def fitting(text: str, inches: float) -> str:
    """``text`` in lines that are not wider than that."""
    return "\n".join(wrap(text, max(6, int(LETTERS_PER_INCH * inches)))) or text


def literal(text: str) -> str:
    """``text`` so that no part of it is taken for a formula."""
    return text.replace("$", r"\$")


@contextmanager
def styled() -> Iterator[None]:
    """Inside, figures are drawn in our style; before and after, the user's settings hold."""
    with matplotlib_style.context(["default", SETTINGS]):
        yield


def canvas(width: float, height: float) -> Figure:
    """An empty figure, in inches, that arranges its own parts."""
    spacing = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, wspace=0.02, hspace=0.03)
    figure = Figure(figsize=(width, height), layout=spacing)
    FigureCanvasAgg(figure)
    return figure


def finish(figure: Figure, handles: Sequence[Line2D], handle_length: float = 3.0) -> Figure:
    """Put the legend above the panels, in room of its own, and fix every part in its place.

    Ticks are chosen when a figure is drawn, by the settings of that moment, hence here, once, while ours hold.
    """
    legend = _widest_legend(figure, handles, handle_length)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + legend.get_window_extent().height / figure.dpi)
    figure.canvas.draw()
    figure.set_layout_engine("none")
    _keep_ticks(figure)
    _centre_labels(figure)
    return figure


def _keep_ticks(figure: Figure) -> None:
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(FixedLocator(axis.get_majorticklocs().tolist()))
            axis.set_minor_locator(FixedLocator(axis.get_minorticklocs().tolist()))


def _centre_labels(figure: Figure) -> None:
    """Put the labels of the whole figure at the middle of the panels, not of panels and legend."""
    box = Bbox.union([axes.get_position() for axes in figure.axes])
    for text in figure.texts:
        if text.get_rotation() == 0.0:
            text.set_x((box.x0 + box.x1) / 2)
        else:
            text.set_y((box.y0 + box.y1) / 2)


def _widest_legend(figure: Figure, handles: Sequence[Line2D], handle_length: float) -> Any:
    """A legend with as few rows as fit the width, and these filled evenly."""
    for columns in sorted({ceil(len(handles) / rows) for rows in range(1, len(handles) + 1)}, reverse=True):
        legend = figure.legend(handles=handles, loc="outside upper center", ncols=columns, handlelength=handle_length)
        if columns == 1 or legend.get_window_extent().width < 0.99 * figure.bbox.width:
            break
        legend.remove()
    return legend


def place_ticks(axis: Axis, values: Sequence[float], inches: float, log: bool) -> None:
    """Ticks at the values themselves if they are few, else at round numbers; never so dense that labels touch."""
    low, high = min(values), max(values)
    wanted = sorted(set(values)) if len(set(values)) <= 6 else _round_numbers(low, high, log)
    scale: Callable[[float], float] = log10 if log else float
    per_unit = inches / (1.15 * max(scale(high) - scale(low), 1e-9))
    kept: list[float] = []
    for value in wanted:
        width = 0.075 * (max(len(f"{value:g}"), len(f"{kept[-1]:g}") if kept else 0) + 1)
        if not kept or (scale(value) - scale(kept[-1])) * per_unit >= width:
            kept.append(value)
    axis.set_major_locator(FixedLocator(kept))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _round_numbers(low: float, high: float, log: bool) -> list[float]:
    if log:
        decades = range(floor(log10(low)), ceil(log10(high)) + 1)
        return [m * 10.0**d for d in decades for m in (1, 2, 5) if low <= m * 10.0**d <= high]
    rough = (high - low) / 5
    unit = 10.0 ** floor(log10(rough))
    step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough)
    return [step * i for i in range(ceil(low / step), floor(high / step) + 1)]
