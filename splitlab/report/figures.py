"""The figures of an experiment: which there are, and how they are written.

The plots themselves are functions from data frames, in ``plots``, so that frames of several experiments can be
concatenated first. The same data gives the same bytes: files carry no dates, programs or random identifiers.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Literal

from splitlab.files import as_csv, write_atomically
from splitlab.kinds.optimality.figures import optimality_plots
from splitlab.kinds.splits.figures import diagonal_plot, excess_plots, pcext_plot, time_plots, win_plots
from splitlab.report.style import Plot, styled
from splitlab.study import Results

__all__ = [
    "Plot",
    "diagonal_plot",
    "excess_plots",
    "figures_of",
    "image",
    "optimality_plots",
    "pcext_plot",
    "save",
    "time_plots",
    "win_plots",
]

# What matplotlib would write of its own accord and what differs from one day or version to the next.
NO_METADATA: dict[str, dict[str, None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}


def figures_of(results: Results) -> list[Plot]:
    """All figures that an experiment has numbers for.

    Parameters
    ----------
    results : Results
        What ``splitlab.run`` or ``load_results`` returned.

    Returns
    -------
    list of Plot
        Time for kind timing, cost against success for kind optimality; else win percentages, relative excess and,
        where numbers were published, the comparison with them.
    """
    if results.timing is not None:
        return time_plots(results.timing)
    if results.optimality is not None:
        return optimality_plots(results.optimality)
    frame = results.win_percentage
    compared = [plot for plot in (diagonal_plot(frame), pcext_plot(frame)) if plot is not None]
    return [*win_plots(frame), *excess_plots(results.excess_histogram), *compared]


def image(plot: Plot, kind: Literal["png", "svg"]) -> bytes:
    """The picture as the content of a file: png at 300 dots per inch, or svg with letters as outlines."""
    file = BytesIO()
    with styled():
        plot.figure.savefig(file, format=kind, metadata=NO_METADATA[kind])
    return file.getvalue()


def save(plot: Plot, folder: Path) -> None:
    """Write a plot as NAME.png and NAME.svg, its data as NAME.csv and its caption as NAME.txt.

    Parameters
    ----------
    plot : Plot
        Any of the plots.
    folder : Path
        Made if it is not there; files of that name are replaced, each as a whole.

    Raises
    ------
    OSError
        ``folder`` cannot be written.
    """
    write_atomically(folder / f"{plot.name}.png", image(plot, "png"))
    write_atomically(folder / f"{plot.name}.svg", image(plot, "svg"))
    write_atomically(folder / f"{plot.name}.csv", as_csv(plot.data))
    write_atomically(folder / f"{plot.name}.txt", f"{plot.caption}\n")
