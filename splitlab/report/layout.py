"""A table of texts, rendered for the terminal, Markdown and LaTeX, with the same content everywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splitlab.files import as_csv, write_atomically
from splitlab.statistics import wilson

LATEX = {
    "\\": r"\textbackslash{}",
    **{c: rf"\{c}" for c in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "†": r"\dag{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "×": r"$\times$",
    "µ": r"\textmu{}",
    "`": "",  # marks code elsewhere
}
IMPURITY_TITLES = {"gini": "Gini", "entropy": "Entropy"}
NUMBER = re.compile(r"[-+]?[\d.,]+( ± [\d.,]+†?)?( \([≤≥] [\d.]+\))?( ?%)?|–")
ENDS = "(≥, ≤): the end of the 95 % interval (Wilson) where a standard error would be 0."
NONE = "–"  # in the place of a number that there is not
MARKDOWN = {c: f"\\{c}" for c in "\\|*_`<>[]"}


@dataclass(frozen=True)
class Entry:
    """One cell of a table; ``best`` entries are marked."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Table:
    """A table: title, column heads, rows of entries, notes. The first ``keys`` columns identify the row.

    ``best`` says what the entries that are marked as best are.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Entry]]
    keys: int
    notes: Sequence[str] = ()
    best: str = ""

    def numeric(self, column: int) -> bool:
        """Whether a column has numbers only."""
        return all(NUMBER.fullmatch(row[column].text) for row in self.rows)

    def notes_with(self, mark: str) -> list[str]:
        """The notes, before them what is marked and how, after them what the ends of intervals are."""
        ends = any(" (≥ " in entry.text or " (≤ " in entry.text for row in self.rows for entry in row)
        return [*([f"{mark}: {self.best}."] if self.best else []), *self.notes, *([ENDS] if ends else [])]

    def as_text(self) -> str:
        """For the terminal; the best entries carry a star."""
        cells = [list(self.heads), *([e.text + ("*" if e.best else "") for e in row] for row in self.rows)]
        widths = [max(len(row[c]) for row in cells) for c in range(len(self.heads))]
        lines = ["  ".join(_aligned(row[c], widths[c], c < self.keys) for c in range(len(row))) for row in cells]
        lines = [line.rstrip() for line in lines]
        rule = "-" * max(len(line) for line in lines)
        return "\n".join([self.title, "", lines[0], rule, *lines[1:], "", *self.notes_with("*"), ""])

    def as_markdown(self) -> str:
        """A pipe table; the best entries are bold."""
        rows = [[_escaped(h, MARKDOWN) for h in self.heads]]
        rows.append(["---:" if self.numeric(c) else "---" for c in range(len(self.heads))])
        rows += [
            [f"**{_escaped(e.text, MARKDOWN)}**" if e.best else _escaped(e.text, MARKDOWN) for e in r]
            for r in self.rows
        ]
        body = "\n".join("| " + " | ".join(row) + " |" for row in rows)
        notes = "\n\n".join(_escaped(note, MARKDOWN) for note in self.notes_with("Bold"))
        return f"{_escaped(self.title, MARKDOWN)}\n\n{body}\n\n{notes}\n"

    def as_latex(self) -> str:
        """A ``table`` environment with booktabs rules; the best entries are bold."""
        rows = [" & ".join(_escaped(h, LATEX) for h in self.heads) + r" \\ \midrule"]
        for row in self.rows:
            texts = [_escaped(e.text, LATEX) for e in row]
            rows.append(
                " & ".join(rf"\textbf{{{t}}}" if e.best else t for t, e in zip(texts, row, strict=True)) + r" \\"
            )
        columns = "".join("r" if self.numeric(c) else "l" for c in range(len(self.heads)))
        notes = [rf"\par\small {_escaped(note, LATEX)}" for note in self.notes_with("Bold")]
        return "\n".join(
            [
                r"\begin{table}", r"\centering", rf"\caption{{{_escaped(self.title, LATEX)}}}",
                rf"\begin{{tabular}}{{{columns}}} \toprule", *rows, r"\bottomrule", r"\end{tabular}", *notes,
                r"\end{table}", "",
            ]
        )  # fmt: skip


@dataclass(frozen=True)
class Sheet:
    """Numbers and their tables, which go together.

    Attributes
    ----------
    name : str
        Of the files: NAME.csv, NAME.md, NAME.tex.
    frame : pandas.DataFrame
    tables : tuple of Table
    shown : bool
        Whether they are printed at the end of a run.
    """

    name: str
    frame: pd.DataFrame
    tables: tuple[Table, ...] = ()
    shown: bool = False


@dataclass(frozen=True)
class Verdict:
    """What the comparison of a whole experiment with published numbers says.

    ``judged`` is False when there is nothing to hold the numbers to. ``differing`` are the entries that differ; as
    text, each says which one it is, ours and the published number.
    """

    judged: bool
    agrees: bool
    text: str
    differing: tuple[Any, ...] = ()


def _aligned(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def _escaped(text: str, special: dict[str, str]) -> str:
    return "".join(special.get(c, c) for c in text)


def grid(table: NDArray[np.int64]) -> str:
    """A contingency table, its values numbered."""
    width = len(str(table.max())) + 1
    return "\n".join(f"  {v:4d}:" + "".join(f"{count:{width}d}" for count in row) for v, row in enumerate(table)) + "\n"


def value_numbers(side: NDArray[np.bool_]) -> str:
    """The numbers of the values on a side."""
    return " ".join(str(v) for v in np.flatnonzero(side))


def round_half_up(value: Fraction | float | int, decimals: int = 1) -> str:
    """``value`` with halves rounded away from zero, as the paper rounds its percentages.

    Examples
    --------
    >>> round_half_up(Fraction(9725, 100))
    '97.3'
    """
    exact = Fraction(value)
    quantum = Decimal(1).scaleb(-decimals)
    scaled = Decimal(exact.numerator) / Decimal(exact.denominator)
    return str(scaled.quantize(quantum, rounding=ROUND_HALF_UP))


def with_error(percent: Fraction, error: float) -> str:
    """A percentage and its standard error, to one decimal, or to as many as it takes for neither to look like 0 or 100.

    Examples
    --------
    >>> with_error(Fraction(9725, 100), 0.94), with_error(Fraction(299900, 3000), 0.033)
    ('97.3 ± 0.9', '99.97 ± 0.03')
    """
    decimals = 1
    while error > 0 and decimals < 9:
        shown = [Decimal(round_half_up(number, decimals)) for number in (percent, error)]
        if shown[1] > 0 and (shown[0] not in (0, 100) or percent in (0, 100)):
            break
        decimals += 1
    return f"{round_half_up(percent, decimals)} ± {round_half_up(error, decimals)}"


def percentage(row: Mapping[Any, Any]) -> str:
    """The percentage of ``wins`` of ``runs`` with its ``standard_error``.

    At 0 and 100 % the standard error is 0 though the number is as uncertain as any: the end of the Wilson interval
    takes its place.

    Examples
    --------
    >>> percentage({"wins": 100, "runs": 100, "standard_error": 0.0})
    '100.0 (≥ 96.3)'
    """
    return share_with_error(Fraction(100 * int(row["wins"]), int(row["runs"])), row["standard_error"], row["runs"])


def share_with_error(percent: Fraction, error: float, runs: int) -> str:
    """A percentage of ``runs`` with its standard error, or where that is 0 with the end of the Wilson interval.

    Examples
    --------
    >>> share_with_error(Fraction(0), 0.0, 300), share_with_error(Fraction(0), 0.5, 300)
    ('0.0 (≤ 1.3)', '0.0 ± 0.5')
    """
    if error > 0 or percent not in (0, 100):
        return with_error(percent, error)
    low, high = wilson(float(percent) / 100, runs)
    sign, end = ("≤", 100 * high) if percent == 0 else ("≥", 100 * low)
    decimals = next((d for d in (1, 2, 3, 4) if Decimal(round_half_up(end, d)) != percent), 5)
    return f"{percent}.0 ({sign} {round_half_up(end, decimals)})"


def write_frame(folder: Path, name: str, frame: pd.DataFrame, tables: list[Table], below: tuple[str, ...] = ()) -> None:
    """Write a frame as csv and its tables, if any, as Markdown and LaTeX; ``below`` goes under the last table."""
    for file, content in frame_files(name, frame, tables, below).items():
        write_atomically(folder / file, content)


def frame_files(name: str, frame: pd.DataFrame, tables: Sequence[Table], below: tuple[str, ...] = ()) -> dict[str, str]:
    """The files that `write_frame` writes, and what is in them."""
    files = {f"{name}.csv": as_csv(frame)}
    if tables:
        last = [*tables[:-1], replace(tables[-1], notes=(*tables[-1].notes, *below))]
        files[f"{name}.md"] = "\n".join(t.as_markdown() for t in last)
        files[f"{name}.tex"] = "\n".join(t.as_latex() for t in last)
    return files


def size(number: float) -> str:
    """Bytes in words, to two digits."""
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= length:
            return f"{number / length:.2g} {unit}" if number < 100 * length else f"{number / length:,.0f} {unit}"
    return f"{number:.0f} bytes"


def impurity_title(name: str) -> str:
    """How tables call an impurity; a user-defined one goes by its name."""
    return IMPURITY_TITLES.get(name, name)
