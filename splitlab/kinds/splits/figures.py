"""The plots: functions from tidy data frames to figures with their data and caption."""

from __future__ import annotations

from math import floor, log10
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from splitlab.kinds.random_tables.captions import (
    competitors_text,
    impurity_title,
    impurity_word,
    pool,
    published_text,
    tables_text,
)
from splitlab.kinds.random_tables.config import ENTRY
from splitlab.kinds.random_tables.panels import (
    MEANING,
    PERCENT,
    by_max_count,
    grid,
    horizontal,
    line,
    method_handles,
    other,
    refuse_repeated_rows,
    series,
    thinned,
    varies,
)
from splitlab.kinds.splits import compare
from splitlab.kinds.splits.results import Results
from splitlab.published import PAPER_RUNS
from splitlab.report.style import (
    DOUBLE,
    GREY,
    NAME_INCHES,
    SINGLE,
    Plot,
    Style,
    canvas,
    finish,
    fitting,
    hollow,
    literal,
    place_ticks,
    styled,
    styles,
    titles,
)

COUNTED, SCALED = "pc_ext_counts", "pc_ext"
PUBLISHED_SIZE, UNPRINTED_SIZE = 6.2, 5.2  # of hollow markers, in points


def figures_of(results: Results) -> list[Plot]:
    """All figures of an experiment.

    Parameters
    ----------
    results : Results
        What ``splitlab.run`` or ``load_results`` returned.

    Returns
    -------
    list of Plot
        Win percentages, relative excess and, where numbers were published, the comparison with them.
    """
    frame = results.win_percentage
    compared = [plot for plot in (diagonal_plot(frame), pcext_plot(frame)) if plot is not None]
    return [*win_plots(frame), *excess_plots(results.excess_histogram), *compared]


def win_plots(frame: pd.DataFrame) -> list[Plot]:
    """Win percentage against n, for each impurity and k, with the published values.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows of ``Results.win_percentage``, of one experiment or several that share no entry. A further column
        ``authors`` may hold percentages of the authors' own run that the paper does not print, NaN elsewhere.

    Returns
    -------
    list of Plot
        One for each max_count. Where there is a single n, the percentages are drawn against k.

    Raises
    ------
    ValueError
        An entry is there twice.
    """
    refuse_repeated_rows(frame, ENTRY)
    return [_win_plot(part, name) for part, name in by_max_count(frame, "win_percentage")]


def _win_plot(frame: pd.DataFrame, name: str) -> Plot:
    x = horizontal(frame)
    frame, omitted = thinned(frame, x)
    look = styles(frame["splitter"])
    # What is drawn hollow: its name in the legend, and the numbers.
    hollows = {"published": _published(frame)}
    if "authors" in frame:
        hollows["authors' run, not printed"] = frame["authors"]
    hollows = {label: numbers for label, numbers in hollows.items() if numbers.notna().any()}
    sizes = dict(zip(hollows, (PUBLISHED_SIZE, UNPRINTED_SIZE), strict=False))

    def draw(axes: Axes, part: pd.DataFrame) -> None:
        for splitter, rows in series(part):
            line(axes, rows, x, PERCENT, splitter, look[splitter].of_line())
            rows = rows.sort_values(x)
            for label, numbers in hollows.items():
                if numbers[rows.index].notna().any():
                    style = {**look[splitter].of_published(), "markersize": sizes[label]}
                    axes.plot(rows[x], numbers[rows.index], label=f"{splitter} {label}", **style)

    with styled():
        handles = method_handles(frame)
        for label in hollows:
            handles.append(Line2D([], [], **hollow("o", GREY), markersize=sizes[label], linestyle="none", label=label))
        figure = grid(frame, frame["impurity"].map(impurity_title), x, PERCENT, draw, handles)
    caption = (
        f"Percentage of random tables on which each method is the best of those compared (ties all win), against the "
        f"{MEANING[x]}, for each {impurity_word(frame)}{MEANING[other(x)]}. {tables_text(frame)} "
        f"Bars: 95 % Wilson intervals.{published_text(frame, _published(frame))}"
        + (" Small hollow markers: the authors' run where the paper prints none." if "authors" in frame else "")
        + omitted
    )
    return Plot(name, figure, frame, caption)


def pcext_plot(frame: pd.DataFrame) -> Plot | None:
    """Win percentage of PCext with counts scored, with probabilities scored, and as published.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows of ``Results.win_percentage`` with both splitters, usually of two experiments together.

    Returns
    -------
    Plot or None
        None unless both are there for the same configurations.

    Raises
    ------
    ValueError
        An entry of PCext is there twice.
    """
    pcext = frame[frame["splitter"].isin((COUNTED, SCALED))]
    refuse_repeated_rows(pcext, ENTRY)
    pcext = pcext[pcext.groupby(ENTRY[:-1])["splitter"].transform("nunique") == 2].reset_index(drop=True)
    if pcext.empty:
        return None
    x = horizontal(pcext)
    pcext, omitted = thinned(pcext, x)
    published, look = _published(pcext), styles((COUNTED, SCALED))
    ring = {**hollow("o", GREY), "markersize": 7.5, "markeredgewidth": 1.0, "linestyle": "none"}

    def draw(axes: Axes, part: pd.DataFrame) -> None:
        for splitter, rows in series(part):
            line(axes, rows, x, PERCENT, splitter, look[splitter].of_line())
        once = part[part["splitter"] == COUNTED].sort_values(x)
        axes.plot(once[x], published[once.index], label="published", **ring)

    with styled():
        labels = {COUNTED: "counts scored", SCALED: "probabilities scored"}
        handles = [Line2D([], [], **look[s].of_line(), label=label) for s, label in labels.items()]
        if published.notna().any():
            handles.append(Line2D([], [], **ring, label="published as PCext"))
        figure = grid(pcext, _impurity_and_maximum(pcext), x, PERCENT, draw, handles)
    caption = (
        f"Percentage of random tables won by PCext when rows are ordered by their scored counts and when they are "
        f"ordered by their scored class probabilities, as Coppersmith, Hong and Hosking define it, against the "
        f"{MEANING[x]}. {tables_text(pcext)} Bars: 95 % Wilson intervals."
        + (" Rings: the values published as PCext." if published.notna().any() else "")
        + omitted
    )
    return Plot("pcext", figure, pcext, caption)


def excess_plots(histogram: pd.DataFrame) -> list[Plot]:
    """Distribution of the relative excess of each method, one panel per impurity.

    Parameters
    ----------
    histogram : pandas.DataFrame
        Rows of ``Results.excess_histogram``, of one experiment or several that share no entry.

    Returns
    -------
    list of Plot
        One for each max_count, all its configurations pooled: each counts by its tables.

    Raises
    ------
    ValueError
        A bin of an entry is there twice.
    """
    refuse_repeated_rows(histogram, [*ENTRY, "excess"])
    return [_excess_plot(part, name) for part, name in by_max_count(histogram, "relative_excess")]


def _excess_plot(frame: pd.DataFrame, name: str) -> Plot:
    least, most = _excess_range(frame["excess"])
    parts = [_distribution(part, least) for _, part in frame.groupby(["impurity", "splitter"], sort=False)]
    data = pd.concat(parts, ignore_index=True)
    impurities = list(dict.fromkeys(frame["impurity"]))
    with styled():
        width = DOUBLE if len(impurities) > 1 else SINGLE
        names = {i: literal(fitting(impurity_title(i), (width - 0.6) / len(impurities) - 0.15)) for i in impurities}
        figure = canvas(width, 2.5 + 0.14 * max(name.count("\n") for name in names.values()))
        panels = figure.subplots(1, len(impurities), sharey=True, squeeze=False)[0]
        for axes, impurity in zip(panels, impurities, strict=True):
            _draw_distributions(axes, data[data["impurity"] == impurity], least, most)
            axes.set_title(names[impurity])
        panels[0].set_ylim(-3.0, 104.0)
        figure.supxlabel("relative excess over the best other method (%)")
        figure.supylabel("cumulative share of tables (%)")
        finish(figure, method_handles(frame))
    unbounded = "; tables on which only the best other method has impurity 0 never count as reached"
    complete = data.groupby(["impurity", "splitter"])["share"].max().min() >= 100.0
    caption = (
        f"Share of random tables on which a method's impurity exceeds that of the best other method by at most a "
        f"given percentage, pooled over {pool(frame)}, each table counting once. Each curve starts at the share of "
        f"tables with an excess of at most {least:g} %, ties and tables won included, and ends at its maximum"
        f"{'' if complete else unbounded}. {tables_text(frame)}"
    )
    return Plot(name, figure, data, caption)


def _excess_range(excess: pd.Series[float]) -> tuple[float, float]:
    """Ends of the horizontal axis: at most five decades, the lower end a power of ten."""
    positive = excess[excess > 0]
    if positive.empty:
        return 0.01, 1.0
    lowest, highest = (floor(log10(x)) for x in (positive.min(), positive.max()))
    return 10.0 ** max(lowest, highest - 4), 1.5 * max(float(positive.max()), 10.0**highest * 1.4)


def _distribution(part: pd.DataFrame, least: float) -> pd.DataFrame:
    """The curve of one method: excess, tables in the bin, percentage of all tables with at most that excess."""
    runs = part.drop_duplicates(["n", "k"])["runs"].sum()
    pooled = part.groupby("excess")["tables"].sum()
    start = pd.Series({least: pooled[pooled.index <= least].sum()})
    curve = pd.concat([start, pooled[pooled.index > least]])
    place = {name: part[name].iloc[0] for name in ("impurity", "max_count", "splitter")}
    share = 100.0 * curve.cumsum() / runs
    values = {"excess": curve.index, "tables": curve.to_numpy(), "share": share.to_numpy()}
    return pd.DataFrame({**place, "runs": runs, **values})


def _draw_distributions(axes: Axes, data: pd.DataFrame, least: float, most: float) -> None:
    axes.set_xscale("log")
    axes.set_xlim(least, most)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    look = styles(data["splitter"])
    for place, (splitter, rows) in enumerate(series(data)):
        marked = _spread_markers(rows["excess"].to_numpy(), place / len(look))
        style = {**look[splitter].of_line(), "drawstyle": "steps-post", "markevery": marked}
        axes.plot(rows["excess"], rows["share"], label=splitter, **style)


def _spread_markers(x: NDArray[np.float64], shift: float) -> list[int]:
    """Points to mark: one in each half decade, other ones for each method, and the last, its maximum."""
    steps = np.floor(2.0 * np.log10(x) + shift)
    return sorted({*np.flatnonzero(np.diff(steps, prepend=steps[0]) > 0).tolist(), len(x) - 1})


def diagonal_plot(frame: pd.DataFrame) -> Plot | None:
    """Our win percentages against the published ones, and the differences in standard errors below.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows of ``Results.win_percentage``.

    Returns
    -------
    Plot or None
        None if no entry has a published value.
    """
    data = _against_published(frame)
    if data.empty:
        return None
    look = styles(frame["splitter"])
    with styled():
        figure = canvas(SINGLE, 4.3)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.6, 1])
        above.axline((0, 0), slope=1, color=GREY, linewidth=0.6)
        below.axhspan(-2, 2, color="0.93", linewidth=0)
        for (splitter, impurity), rows in data.groupby(["splitter", "impurity"], sort=False):
            style = _point_style(look[str(splitter)], _is_open(frame, impurity))
            label, errors = f"{splitter} {impurity}", {"ecolor": style["color"], "elinewidth": 0.6}
            above.plot(rows["published"], rows["percent"], label=label, **style)
            above.errorbar(rows["published"], rows["percent"], 2 * rows["combined_error"], fmt="none", **errors)
            below.plot(rows["published"], rows["z"], label=label, **style)
        above.set(xlim=(-3, 103), ylim=(-3, 103), ylabel="ours (%)")
        reach = 1.15 * max(3.0, data["z"].abs().max(skipna=True))
        below.set(ylim=(-reach, reach), xlabel="published (%)", ylabel="difference\n(standard errors)")
        place_ticks(below.xaxis, [0, 20, 40, 60, 80, 100], 2.7, log=False)
        finish(figure, _point_handles(data, frame), handle_length=1.0)
    caption = (
        f"Win percentages, ours against the published ones, for all {len(data)} entries that have one. "
        f"{tables_text(data)} Bars: 2 standard errors of the difference, the sampling error of {PAPER_RUNS:,} "
        f"published tables included. Below: difference over its standard error, with the band of ±2"
        f"{_left_out(data)}.{competitors_text(frame)}"
    )
    return Plot("against_published", figure, data, caption)


def _against_published(frame: pd.DataFrame) -> pd.DataFrame:
    """Ours and published numbers as plotted; z is the one that ``splitlab compare`` uses."""
    printed = _published(frame)
    data = frame.loc[printed.notna(), [*ENTRY, "runs", "wins", "percent", "published"]].reset_index(drop=True)
    if data.empty:
        return data
    published = printed.dropna().to_numpy() / 100.0
    ours = data["percent"] / 100.0
    variance = ours * (1.0 - ours) / data["runs"] + published * (1.0 - published) / PAPER_RUNS
    entries = [
        compare.Entry(**{field: row[field] for field in (*ENTRY, "wins", "runs")}, printed=str(row["published"]))
        for row in data.to_dict(orient="records")
    ]
    z = pd.array([entry.z() for entry in entries], dtype="Float64").to_numpy(float, na_value=np.nan)
    return data.assign(published=100.0 * published, combined_error=100.0 * np.sqrt(variance), z=z)


def _is_open(frame: pd.DataFrame, impurity: Any) -> bool:
    """Whether an impurity has hollow markers: all but the first."""
    return impurity != frame["impurity"].iloc[0]


def _point_style(style: Style, is_open: bool) -> dict[str, Any]:
    look = hollow(style.marker, style.colour) if is_open else {"marker": style.marker, "color": style.colour}
    return {**look, "linestyle": "none", "markersize": 4.0, "markeredgewidth": 0.7}


def _point_handles(data: pd.DataFrame, frame: pd.DataFrame) -> list[Line2D]:
    names, look = titles(frame["splitter"]), styles(frame["splitter"])
    shown = dict.fromkeys(data["splitter"])
    handles = [Line2D([], [], **_point_style(look[s], False), label=names[s]) for s in shown]
    impurities = list(dict.fromkeys(data["impurity"]))
    if len(impurities) > 1:
        fill = [
            ("none" if _is_open(frame, i) else GREY, literal(fitting(impurity_title(i), NAME_INCHES)))
            for i in impurities
        ]
        style: dict[str, Any] = {"marker": "o", "color": GREY, "linestyle": "none"}
        handles += [Line2D([], [], **style, markerfacecolor=f, label=label) for f, label in fill]
    return handles


def _left_out(data: pd.DataFrame) -> str:
    count = int(data["z"].isna().sum())
    return f"; {count} without variance (0 or 100 % on both sides) have none" if count else ""


# ---- parts of several plots


def _published(frame: pd.DataFrame) -> pd.Series[float]:
    return pd.to_numeric(frame["published"], errors="coerce")


def _impurity_and_maximum(frame: pd.DataFrame) -> pd.Series[str]:
    names = frame["impurity"].map(impurity_title)
    return names + ", 0 to " + frame["max_count"].astype(str) if varies(frame, "max_count") else names
