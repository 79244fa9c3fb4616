"""How figures are written: as png and svg, with their data and caption beside them.

The same data gives the same bytes: files carry no dates, programs or random identifiers.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Literal

from splitlab.files import as_csv, write_atomically
from splitlab.report.style import Plot, styled

# What matplotlib would write of its own accord and what differs from one day or version to the next.
NO_METADATA: dict[str, dict[str, None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}


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
