"""What the captions of figures say of the tables behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from splitlab.kinds.random_tables.panels import varies
from splitlab.published import PAPER_COMPETITORS
from splitlab.report import layout
from splitlab.report.style import literal, titles


def impurity_title(name: Any) -> str:
    """The name of an impurity in titles."""
    return literal(layout.impurity_title(str(name)))


def impurity_word(frame: pd.DataFrame) -> str:
    """For 'for each ...': whether there are several impurities."""
    return "impurity and " if varies(frame, "impurity") else ""


def maximum(frame: pd.DataFrame) -> str:
    """The largest entry of the tables, or the several ones."""
    return " or ".join(str(value) for value in sorted(frame["max_count"].unique()))


def tables_text(frame: pd.DataFrame) -> str:
    """How many tables there are, and which."""
    return f"{_span(frame['runs'])} tables per configuration, with entries 0 to {maximum(frame)}."


def timed_text(frame: pd.DataFrame) -> str:
    """How many tables were timed how often, as far as the frame says so, and which."""
    known = {"tables", "repeats"} <= set(frame.columns)
    count = f"{_span(frame['tables'])} tables, {_span(frame['repeats'])} repeats; e" if known else "E"
    return f"{count}ntries 0 to {maximum(frame)}."


def _span(counts: pd.Series[int]) -> str:
    low, high = counts.min(), counts.max()
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def pool(frame: pd.DataFrame) -> str:
    """The configurations that are pooled."""
    cells = len(frame.drop_duplicates(["n", "k"]))
    lists = [f"{axis} = {_listed(sorted(frame[axis].unique()))}" for axis in ("n", "k")]
    return f"{cells} configurations ({'; '.join(lists)})" if cells > 1 else f"one configuration ({'; '.join(lists)})"


def published_text(frame: pd.DataFrame, published: pd.Series[float]) -> str:
    """What the hollow markers are, if there are any."""
    return f" Hollow markers: published values.{competitors_text(frame)}" if published.notna().any() else ""


def competitors_text(frame: pd.DataFrame) -> str:
    """A warning where the published numbers were counted among other methods than ours."""
    if set(frame["splitter"]) == PAPER_COMPETITORS:
        return ""
    names = titles(sorted(PAPER_COMPETITORS))
    return f" The published numbers count wins among {', '.join(names.values())}: other competitors than here."


def _listed(values: Sequence[Any]) -> str:
    shown = [*values[:3], "...", values[-1]] if len(values) > 8 else values
    return ", ".join(str(value) for value in shown)
