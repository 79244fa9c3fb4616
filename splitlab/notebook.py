"""HTML for notebooks: what `_repr_html_` methods return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def paragraph(text: str) -> str:
    """A line of text."""
    return f"<p>{escape(text)}</p>"


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]], bold: Sequence[bool] = ()) -> str:
    """A table of texts, the first cell of each row being its head; ``bold`` says which rows are."""
    lines = ["<table>", _row(heads, "th", False)]
    for number, row in enumerate(rows):
        lines.append(_row(row, "td", bool(bold) and bold[number]))
    return "\n".join([*lines, "</table>"])


def _row(cells: Sequence[str], tag: str, bold: bool) -> str:
    style = ' style="font-weight: bold"' if bold else ""
    first, *rest = (escape(cell) for cell in cells)
    inner = "".join(f'<{tag} style="text-align: right">{cell}</{tag}>' for cell in rest)
    return f'<tr{style}><th style="text-align: left">{first}</th>{inner}</tr>'
