"""One self-contained HTML page: tables, verdicts, figures, configs and where they come from.

A page is a sequence of sections, a section a sequence of blocks. Text from outside (names, titles, paths, notes) is
escaped where it enters: elements are made of ``Html``, and only ``text`` and ``element`` make it, so that the type
checker sees a string that was not escaped. The page has no scripts, asks no other place for anything, and
carries no dates: the same input gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from itertools import groupby, pairwise
from typing import Any, NewType, assert_never
from xml.etree import ElementTree

from splitlab.report.figures import image
from splitlab.report.layout import Entry, Table
from splitlab.report.style import Plot

LONG = 30  # rows; longer tables scroll on the screen, and may be broken across printed pages
STICKY = 14  # characters; row heads up to this width stay in sight when a table is scrolled sideways
PUBLISHED_HEAD = "paper"  # the columns beside ours, set apart in grey
# Class and words of a verdict: colour alone would be lost in print and on some readers.
MARKS = {True: ("good", "✓ Agrees"), False: ("bad", "✗ Differs"), None: ("open", "")}

Html = NewType("Html", str)


@dataclass(frozen=True)
class Verdict:
    """What came out, in words; ``good`` is None where nothing was judged."""

    text: str
    good: bool | None


@dataclass(frozen=True)
class Picture:
    """A figure as the text of an svg file, with what is written below it and what is read out instead of it."""

    svg: str
    caption: str
    alt: str


@dataclass(frozen=True)
class Source:
    """Preformatted text, such as a config: folded on the screen, open in print."""

    title: str
    text: str


@dataclass(frozen=True)
class Facts:
    """Pairs of a name and a value; with a title they are folded as a ``Source`` is."""

    pairs: tuple[tuple[str, str], ...]
    title: str = ""


@dataclass(frozen=True)
class Findings:
    """What came out, a sentence each."""

    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Folded:
    """Blocks that are shown when they are asked for; without any there is nothing to unfold."""

    title: str
    blocks: tuple[Block, ...]


Block = str | Table | Verdict | Picture | Source | Facts | Findings | Folded


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading and an entry in the table of contents."""

    title: str
    blocks: tuple[Block, ...]


def text(content: str) -> Html:
    """``content``, escaped."""
    return Html(escape(content))


def joined(parts: Iterable[Html], between: str = "\n") -> Html:
    """Several pieces in a row."""
    return Html(between.join(parts))


def element(tag: str, *content: Html, **attributes: str) -> Html:
    """An element; in attribute names ``_`` stands for ``-``, and one at the end keeps clear of Python's keywords."""
    names = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
    inside = "".join(f' {name}="{escape(value)}"' for name, value in names)
    return Html(f"<{tag}{inside}>{joined(content, '')}</{tag}>")


def prose(content: str) -> Html:
    """A text in which `backticks` mark code."""
    parts = content.split("`")
    if len(parts) % 2 == 0:
        return text(content)
    return joined((element("code", text(p)) if i % 2 else text(p) for i, p in enumerate(parts)), "")


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """A complete HTML document.

    Parameters
    ----------
    title : str
        Heading of the page and title of the browser's window.
    lead : str
        A paragraph under it; `backticks` mark code.
    sections : sequence of Section
        The content, in order. With several, a table of contents says how each turned out.

    Returns
    -------
    str
        HTML5 with everything inside: style and pictures. The same input gives the same text.

    Raises
    ------
    ValueError
        A picture is not svg.

    Examples
    --------
    >>> document = page("Report", "Two & two.", [Section("Sum", (Verdict("it is four", True),))])
    >>> "Two &amp; two." in document, "✓ Agrees" in document, "<script" in document
    (True, True, False)
    """
    anchors = _anchors([section.title for section in sections])
    style = files("splitlab.report").joinpath("page.css").read_text(encoding="utf-8")
    head = [
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        element("title", text(title)),
        element("style", Html(f"\n{style}")),
    ]
    parts = [element("header", element("h1", text(title)), element("p", prose(lead), class_="lead"))]
    if len(sections) > 1:
        parts.append(_contents(sections, anchors))
    sections = [Section(s.title, _without_repeats(s.blocks, [])) for s in sections]
    parts += [_section(s, anchor, number) for number, (s, anchor) in enumerate(zip(sections, anchors, strict=True), 1)]
    body = element("body", element("main", joined(parts)))
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{joined(head)}\n</head>\n{body}\n</html>\n'


def _anchors(titles: Sequence[str]) -> list[str]:
    """An id for every section, readable and unique."""
    anchors: list[str] = []
    for title in titles:
        slug = "-".join(re.findall(r"[a-z0-9]+", title.lower())) or "section"
        wanted, number = slug, 2
        while wanted in anchors:
            wanted, number = f"{slug}-{number}", number + 1
        anchors.append(wanted)
    return anchors


def _contents(sections: Sequence[Section], anchors: Sequence[str]) -> Html:
    entries = []
    for section, anchor in zip(sections, anchors, strict=True):
        judged = [block.good for block in section.blocks if isinstance(block, Verdict) and block.good is not None]
        marks = [MARKS[all(judged)]] if judged else []
        spans = [element("span", text(words), class_=f"mark {kind}") for kind, words in marks]
        entries.append(element("li", joined([element("a", text(section.title), href=f"#{anchor}"), *spans], " ")))
    heading = element("h2", text("Contents"), id="_contents")
    return element("nav", heading, element("ol", joined(entries)), aria_labelledby="_contents")


def _section(section: Section, anchor: str, number: int) -> Html:
    # Underscores keep these ids apart from the anchors, which have none.
    blocks = [_block(block, f"_{number}_{place}") for place, block in enumerate(section.blocks, 1)]
    return element("section", element("h2", text(section.title), id=anchor), *blocks, aria_labelledby=anchor)


def _block(block: Block, key: str) -> Html:
    """A block; ``key`` is the beginning of the ids inside it."""
    if isinstance(block, str):
        return element("p", prose(block))
    if isinstance(block, Table):
        return _table(block, key)
    if isinstance(block, Verdict):
        kind, words = MARKS[block.good]
        mark = [element("strong", text(words)), Html(" ")] if words else []
        return element("p", *mark, prose(block.text), class_=f"verdict {kind}")
    if isinstance(block, Picture):
        return _picture(block, key)
    if isinstance(block, Source):
        return _folded(block.title, element("pre", element("code", text(block.text)), tabindex="0"))
    if isinstance(block, Facts):
        return _folded(block.title, _facts(block)) if block.title else _facts(block)
    if isinstance(block, Findings):
        return element("ul", *(element("li", prose(one)) for one in block.sentences), class_="findings")
    if isinstance(block, Folded):
        inside = [_block(part, f"{key}_{place}") for place, part in enumerate(block.blocks, 1)]
        return element("details", element("summary", text(block.title)), *inside, class_="folded")
    assert_never(block)


def _without_repeats(blocks: Sequence[Block], seen: list[object]) -> tuple[Block, ...]:
    """The blocks without tables, notes and paragraphs that stand above already, and without folds that hold nothing."""
    kept: list[Block] = []
    for block in blocks:
        if isinstance(block, Folded):
            if inside := _without_repeats(block.blocks, seen):
                kept.append(Folded(block.title, inside))
        elif isinstance(block, Table):
            content = (block.title, block.heads, block.rows)
            if content in seen:
                continue
            kept.append(replace(block, notes=[note for note in block.notes if note not in seen]))
            seen += [content, *block.notes]
        elif not (isinstance(block, str) and block in seen) and block != Findings(()):
            kept.append(block)
            seen += [block] if isinstance(block, str) else []
    return tuple(kept)


def _folded(title: str, content: Html) -> Html:
    return element("details", element("summary", text(title)), content)


def _facts(facts: Facts) -> Html:
    """A list in which neighbours of the same name share it."""
    parts = []
    for name, group in groupby(facts.pairs, key=lambda pair: pair[0]):
        parts += [element("dt", text(name)), *(element("dd", text(value)) for _, value in group)]
    return element("dl", *parts)


def _table(table: Table, key: str) -> Html:
    """A table inside a container that scrolls by itself, so that the page never grows wider than the window."""
    numeric = [table.numeric(c) for c in range(len(table.heads))]
    stay = _left_edges(table)
    looks = [_look(table, c, numeric[c], stay) for c in range(len(table.heads))]
    heads = [element("th", text(head), scope="col", **look) for head, look in zip(table.heads, looks, strict=True)]
    caption = element("caption", element("span", prose(table.title)), id=f"{key}_caption")
    begins = _group_begins(table)
    body = joined(_row(table.keys, row, looks, begins[r]) for r, row in enumerate(table.rows))
    inside = element("table", caption, element("thead", element("tr", *heads)), element("tbody", body))
    long = " long" if len(table.rows) > LONG else ""
    about = {"role": "region", "aria_labelledby": f"{key}_caption", "tabindex": "0"}
    scroll = element("div", inside, class_=f"scroll{long}", **about)
    notes = [element("p", prose(note), class_="note") for note in table.notes_with("Bold")]
    return element("div", scroll, *notes, class_=f"table{long}")


def _row(keys: int, row: Sequence[Entry], looks: Sequence[dict[str, str]], begins: bool) -> Html:
    cells = []
    for c, (entry, look) in enumerate(zip(row, looks, strict=True)):
        content = element("strong", text(entry.text)) if entry.best else text(entry.text)
        cells.append(element("th", content, scope="row", **look) if c < keys else element("td", content, **look))
    return element("tr", *cells, **({"class_": "group"} if begins else {}))


def _group_begins(table: Table) -> list[bool]:
    """Whether a thin rule goes above a row: where the row heads change, or all but the last if each row has its own."""
    keys = [tuple(entry.text for entry in row[: table.keys]) for row in table.rows]
    level = table.keys - (len(set(keys)) == len(keys))
    return [False, *(a[:level] != b[:level] for a, b in pairwise(keys))]


def _look(table: Table, column: int, numeric: bool, stay: Sequence[float]) -> dict[str, str]:
    stays = column < len(stay)
    names = {"number": numeric, "published": table.heads[column] == PUBLISHED_HEAD, "stay": stays}
    found = " ".join(name for name, holds in names.items() if holds)
    return {**({"class_": found} if found else {}), **({"style": f"left:{stay[column]:.1f}ch"} if stays else {})}


def _left_edges(table: Table) -> list[float]:
    """Where the row heads stay when the table is scrolled, in characters; empty if they are too wide for a phone."""
    widths = [max(len(head), *(len(row[c].text) for row in table.rows), 0) for c, head in enumerate(table.heads)]
    widths = widths[: table.keys]
    if sum(widths) > STICKY:
        return []
    # Two characters of padding a column. A little less than all that: the heads are bold, hence wider characters, and
    # columns that overlap by their padding are better than a gap between them.
    return [0.9 * (sum(widths[:c]) + 2 * c) for c in range(table.keys)]


def _picture(picture: Picture, key: str) -> Html:
    svg = element("div", inline_svg(picture.svg, picture.alt, f"{key}_"), class_="scroll")
    hint = element("p", text("More to the right: scroll the figure sideways."), class_="hint", style=_width(svg))
    return element("figure", svg, hint, element("figcaption", prose(picture.caption)))


def _width(svg: Html) -> str:
    """The declaration of a picture's width, from its own style."""
    found = re.search(r"--width:\d+px", svg)
    return found[0] if found else ""


def inline_svg(content: str, alt: str, prefix: str) -> Html:
    """The text of an svg file as an element for an HTML page.

    Its ids, and the rules of its style sheet, would hold for the whole page: the ids get a prefix, and the rules are
    confined to the picture. What a picture does not need is dropped: metadata, scripts, links to other places.
    """
    try:
        root = ElementTree.fromstring(content)
        width = float(root.get("viewBox", "").replace(",", " ").split()[2]) * 4 / 3  # points to pixels
    except (ElementTree.ParseError, IndexError, ValueError) as error:
        raise ValueError(f"a picture must be an svg file with a viewBox: {error}") from None
    for parent in list(root.iter()):
        for child in [c for c in parent if _local(c.tag) in ("metadata", "script", "foreignObject")]:
            parent.remove(child)
    for node in root.iter():
        _make_inline(node, prefix)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    for name, value in {"id": prefix, "role": "img", "aria-label": alt, "style": f"--width:{width:.0f}px"}.items():
        root.set(name, value)
    return Html(ElementTree.tostring(root, encoding="unicode"))


def _make_inline(node: ElementTree.Element, prefix: str) -> None:
    """Without namespaces, which HTML does without; ids and references with the prefix."""
    node.tag = _local(node.tag)
    attributes = {_local(name): value for name, value in node.attrib.items()}
    node.attrib.clear()
    for name, value in attributes.items():
        if name == "id":
            node.set(name, prefix + value)
        elif name == "href":
            if value.startswith("#"):
                node.set(name, f"#{prefix}{value[1:]}")
            elif value.startswith("data:image/"):
                node.set(name, value)
        elif not name.startswith("on"):
            node.set(name, value.replace("url(#", f"url(#{prefix}"))
    if node.tag == "style" and node.text:
        node.text = re.sub(r"([^{}]+)\{", lambda rule: f"#{prefix} {rule[1].strip()}{{", node.text)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def picture_of(plot: Plot) -> Picture:
    """A plot as a block of the page."""
    return Picture(image(plot, "svg").decode("utf-8"), plot.caption, f"Plot {plot.name.replace('_', ' ')}")


def facts_of_manifest(manifest: Mapping[str, Any]) -> Facts:
    """The provenance of results: one line for each part, several for a list of parts with names.

    Of ``earlier`` sessions only what was different is shown.

    Examples
    --------
    >>> facts_of_manifest({"wall_seconds": 7.5, "git": {"clean": True}, "cells": [{"n": 12}, {"n": 25}]}).pairs
    (('wall seconds', '7.5'), ('git', 'clean yes'), ('cells', 'n 12'), ('cells', 'n 25'))
    """
    present = {key: value for key, value in manifest.items() if key != "earlier"}
    pairs = list(_pairs(present))
    for number, session in enumerate(manifest.get("earlier", ()), 1):
        different = {key: value for key, value in session.items() if present.get(key) != value}
        pairs += [(f"session {number}, {name}", value) for name, value in _pairs(different)]
    return Facts(tuple(pairs), "Provenance")


def _pairs(parts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in parts.items():
        several = isinstance(value, list | tuple) and any(isinstance(part, Mapping) for part in value)
        for part in value if several else [value] if value not in ({}, []) else []:
            yield _words(key), _line(part)


def _line(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(key)} {_line(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(map(_line, value))
    if value is None or isinstance(value, bool):
        return {None: "not known", True: "yes", False: "no"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _words(key: Any) -> str:
    return str(key).replace("_", " ")
