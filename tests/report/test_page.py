"""The HTML page: what is in it, that nothing gets in unescaped, and how it looks in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from splitlab.kinds.splits.compare import Entry as Compared
from splitlab.kinds.splits.page import differing, findings
from splitlab.kinds.splits.results import Results
from splitlab.report.layout import Entry, Table, percentage, round_half_up
from splitlab.report.page import (
    Block,
    Facts,
    Findings,
    Folded,
    Picture,
    Section,
    Source,
    Verdict,
    facts_of_manifest,
    inline_svg,
    page,
)
from splitlab.report.style import Plot
from splitlab.splitters import get
from splitlab.study import kind_of, run

HOSTILE = "<script>alert('1')</script> \"a\" & b </style></title>"
VOID = {"meta", "br", "hr", "img", "link", "input"}


@dataclass
class Reader(HTMLParser):
    """Reads a page as a browser would: checks that elements are closed in order, collects what is in it."""

    tags: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str]] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    rows: list[list[str]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        self.texts.setdefault(tag, []).append("")
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data
        if {"th", "td"} & set(self.open):
            self.rows[-1][-1] += data

    def values(self, attribute: str) -> list[str]:
        return [value for name, value in self.attributes if name == attribute]


def read(document: str) -> Reader:
    reader = Reader()
    reader.feed(document)
    reader.close()
    assert reader.open == []
    return reader


def plot(name: str = "lines") -> Plot:
    figure = Figure(figsize=(7, 2.5))
    axes = figure.subplots(1, 2)
    axes[0].plot([1, 2, 3], [2, 1, 3], "o-", label=HOSTILE.replace("$", ""))
    axes[0].legend()
    axes[1].plot([1, 2], [0, 1])
    axes[1].set_title("clipped & <b>bold</b>")
    return Plot(name, figure, pd.DataFrame({"x": [1]}), "A line & its <caption>.")


def svg_of(figure: Figure) -> str:
    file = StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


MANIFEST = {
    "name": "made",
    "seed": 2018,
    "wall_seconds": 1.25,
    "cells": [{"n": 12, "k": 3, "expected_rejected": 237.37778}, {"n": 12, "k": 5, "expected_rejected": 3.66}],
    "git": {"commit": None, "clean": False},
    "machine": {"cpu": "A <fast> & cheap one", "cores": 2},
    "earlier": [{"name": "made", "seed": 2018, "wall_seconds": 9.5, "git": {"commit": "e124", "clean": True}}],
}


@pytest.fixture(scope="module")
def results() -> Results:
    grid = [{"n": [12, 25, 50], "k": [3, 5, 7, 9], "max_count": 7, "runs": 40}]
    splitters = ["hcc", "pc_ext_counts", "sliq_ext", "lca"]
    config = {"name": "made", "impurities": ["gini", "entropy"], "splitters": splitters, "grid": grid}
    return run({**config, "seed": 2018, "published": "paper"}, jobs=1)


def section_of(results: Results) -> Section:
    notes = ("PCext: see `make table1-corrected`.",)
    return kind_of(results.experiment).section(results, MANIFEST, [plot("one"), plot("two")], *notes, title="Table 1")


@pytest.fixture(scope="module")
def section(results: Results) -> Section:
    return section_of(results)


@pytest.fixture(scope="module")
def document(section: Section) -> str:
    """Everything a page can hold, ordinary and awkward."""
    wide = Table("wide " * 30, [f"column {c}" for c in range(40)], [[Entry("1.0")] * 40] * 50, 1, ["note " * 60])
    blocks: tuple[Block, ...] = (
        "long" * 100,
        wide,
        Verdict("differs", False),
        Verdict("word" * 100, None),
        Source("Config " + "x" * 200, "key: " + "value " * 100),
        Facts((("a" * 100, "b" * 300), ("c", "d"))),
    )
    awkward = Section("Awkward " + "title" * 50, blocks)
    return page("Everything again", "What `make all` computed.", [section, section, awkward])


def test_the_page_is_well_formed_and_stands_alone(document: str) -> None:
    reader = read(document)
    assert document.startswith("<!DOCTYPE html>\n<html lang=")
    assert not {"script", "link", "img", "iframe", "object"} & set(reader.tags)
    assert all(value.startswith("#") for name in ("href", "src") for value in reader.values(name))
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", document)
    assert "@import" not in document and re.findall(r"url\((?!#)", document) == []
    assert reader.texts["nav"] and reader.texts["h1"] == ["Everything again"]


def test_ids_are_unique_and_every_reference_has_one(document: str) -> None:
    reader = read(document)
    ids = reader.values("id")
    assert len(ids) == len(set(ids))
    references = [value[1:] for value in reader.values("href")]
    references += re.findall(r"url\(#([^)]*)\)", document)
    references += reader.values("aria-labelledby")
    assert len(references) > 50
    assert set(references) <= set(ids)


def test_hostile_text_stays_text() -> None:
    table = Table(HOSTILE, [HOSTILE, "x"], [[Entry(HOSTILE), Entry(HOSTILE, best=True)]], 1, [HOSTILE])
    picture = Picture(svg_of(plot().figure), HOSTILE, HOSTILE)
    facts = Facts(((HOSTILE, HOSTILE),), HOSTILE)
    blocks = (HOSTILE, table, Verdict(HOSTILE, True), picture, Source(HOSTILE, HOSTILE), facts)
    reader = read(page(HOSTILE, HOSTILE, [Section(HOSTILE, blocks), Section(HOSTILE, ())]))
    assert "script" not in reader.tags and "b" not in reader.tags
    for tag in ("title", "h1", "caption", "th", "td", "strong", "figcaption", "summary", "pre", "dt", "dd", "a"):
        assert HOSTILE in reader.texts[tag], tag
    assert HOSTILE in reader.values("aria-label")
    assert reader.rows == [[HOSTILE, "x"], [HOSTILE, HOSTILE]]


def test_backticks_mark_code_when_they_come_in_pairs() -> None:
    code = read(page("t", "run `make <all>` now", [])).texts["code"]
    assert code == ["make <all>"]
    reader = read(page("t", "one ` only", []))
    assert "code" not in reader.tags and "one ` only" in reader.texts["p"]


def test_the_same_input_gives_the_same_bytes(results: Results, section: Section) -> None:
    assert page("t", "", [section_of(results)]) == page("t", "", [section])


def test_row_heads_column_heads_and_best_entries() -> None:
    table = Table("t", ["n", "k", "HcC"], [[Entry("1"), Entry("2"), Entry("3", best=True)]], 2)
    document = page("t", "", [Section("s", (table,))])
    assert document.count('scope="col"') == 3
    assert document.count('scope="row"') == 2
    assert read(document).texts["strong"] == ["3"]


@pytest.mark.parametrize(("good", "words"), [(True, "✓ Agrees"), (False, "✗ Differs")])
def test_verdicts_in_words_also_in_the_contents(good: bool, words: str) -> None:
    reader = read(page("t", "", [Section("s", (Verdict("so it is", good),)), Section("other", ())]))
    assert f"{words} so it is" in reader.texts["p"]
    assert reader.texts["li"] == [f"s {words}", "other"]


# Numbers


def table_rows(document: str, caption: str) -> list[dict[str, str]]:
    """The rows of the table with that caption, by column head; a `paper` head gets its neighbour's name too."""
    found = [part for part in document.split("<table>")[1:] if caption in part.split("</caption>")[0]]
    assert len(found) == 1
    heads, *rows = read(f"<table>{found[0].split('</table>')[0]}</table>").rows
    names = [f"{heads[c - 1]} paper" if head == "paper" else head for c, head in enumerate(heads)]
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.mark.parametrize(("impurity", "title"), [("gini", "Gini"), ("entropy", "Entropy")])
def test_win_percentages_equal_the_csv(results: Results, section: Section, impurity: str, title: str) -> None:
    file = StringIO(results.win_percentage.to_csv(index=False))
    frame = pd.read_csv(file, dtype={"published": str}, keep_default_na=False)
    rows = table_rows(page("t", "", [section]), f"Percentage of tables won, {title}")
    cells = {(int(row["n"]), int(row["k"])): row for row in rows}
    expected = frame[frame["impurity"] == impurity].to_dict(orient="records")
    assert len(expected) == 48 and len(rows) == 12
    for line in expected:
        row, name = cells[line["n"], line["k"]], get(line["splitter"]).title
        assert row[name] == percentage(line)
        assert row[name].startswith(round_half_up(Fraction(100 * line["wins"], line["runs"])))
        assert row[f"{name} paper"] == line["published"] != ""


@pytest.mark.parametrize(("impurity", "title"), [("gini", "Gini"), ("entropy", "Entropy")])
def test_excesses_equal_the_csv(results: Results, section: Section, impurity: str, title: str) -> None:
    frame = pd.read_csv(StringIO(results.relative_excess.to_csv(index=False)))
    rows = table_rows(page("t", "", [section]), f"best other method in percent, {title}")
    cells = {(int(row["n"]), int(row["k"]), row["method"]): row for row in rows}
    expected = frame[frame["impurity"] == impurity].to_dict(orient="records")
    assert len(expected) == 48 and len(rows) == 48
    heads = {"median": "median", "p95": "95 %", "p99": "99 %", "maximum": "maximum"}
    for line in expected:
        row = cells[line["n"], line["k"], get(line["splitter"]).title]
        assert row["mean"] == f"{line['mean']:.4f} ± {line['standard_error']:.4f}"
        assert [row[head] for head in heads.values()] == [f"{line[column]:.4f}" for column in heads]
        assert (row["in run"], row["unbounded"]) == (str(line["maximum_run"]), str(line["unbounded"]))


def test_an_experiment_begins_with_what_came_out(results: Results, section: Section) -> None:
    kinds = [type(block).__name__ for block in section.blocks]
    assert kinds == ["Facts", "Findings", "Verdict", "Folded", "Table", "str", "Folded", "Folded", "Source", "Facts"]
    folds = {block.title: block.blocks for block in section.blocks if isinstance(block, Folded)}
    assert [len(blocks) for blocks in folds.values()] == [1, 2, 6]
    assert Source("Config", results.experiment.to_yaml()) in section.blocks
    (terms,) = folds["What the letters and names mean"]
    assert isinstance(terms, Facts)
    assert dict(terms.pairs)["HcC"].startswith("Hypercube Cover")
    worst = folds["Further tables"][-1]
    assert isinstance(worst, Table) and "where" in worst.heads


def test_findings_follow_from_the_numbers(results: Results) -> None:
    frame = results.win_percentage[results.win_percentage["impurity"] == "gini"]
    means = frame.groupby("splitter")["percent"].mean()
    said = findings(results)
    best = get(str(means.idxmax())).title
    assert said[0].startswith(f"Gini, tables won on average over 12 configurations: {best} {means.max():.1f} ± ")
    assert "Gini, most wins of 12 configurations" in said[1]
    assert len(said) == 5 and said[4].startswith("Worst case: the impurity of LCA is ")


def test_nothing_empty_and_nothing_twice(document: str) -> None:
    repeated = Table("t", ["n"], [[Entry("1")]], 1, ["said once"])
    other = Table("t", ["n"], [[Entry("2")]], 1)
    blocks = (repeated, Folded("none", ()), Findings(()), Folded("more", (repeated, other, "said once", "and this")))
    reader = read(page("t", "", [Section("s", blocks)]))
    assert reader.texts["summary"] == ["more"] and "ul" not in reader.tags
    assert reader.texts["p"].count("said once") == 1
    assert reader.rows == [["n"], ["1"], ["n"], ["2"]]


def test_differing_entries_are_listed() -> None:
    entry = Compared("gini", 12, 3, 7, "hcc", wins=9725, runs=10000, printed="91.2")
    rows = table_rows(page("t", "", [Section("s", (differing([entry]),))]), "Entries that differ")
    assert [list(row.values()) for row in rows] == [["gini", "12", "3", "7", "HcC", "97.25", "91.2"]]


def test_not_judged_is_no_success() -> None:
    reader = read(page("t", "", [Section("s", (Verdict("not compared", None),)), Section("u", ())]))
    assert reader.texts["li"] == ["s", "u"]
    assert "not compared" in reader.texts["p"]


def test_facts_of_a_manifest() -> None:
    assert facts_of_manifest(MANIFEST).pairs == (
        ("name", "made"),
        ("seed", "2018"),
        ("wall seconds", "1.25"),
        ("cells", "n 12, k 3, expected rejected 237.378"),
        ("cells", "n 12, k 5, expected rejected 3.66"),
        ("git", "commit not known, clean no"),
        ("machine", "cpu A <fast> & cheap one, cores 2"),
        ("session 1, wall seconds", "9.5"),
        ("session 1, git", "commit e124, clean yes"),
    )
    reader = read(page("t", "", [Section("s", (facts_of_manifest(MANIFEST),))]))
    assert reader.texts["dt"].count("cells") == 1
    assert reader.texts["dd"][3:5] == ["n 12, k 3, expected rejected 237.378", "n 12, k 5, expected rejected 3.66"]


# Pictures


def test_an_inline_picture_is_xml_and_keeps_to_itself() -> None:
    root = ElementTree.fromstring(inline_svg(svg_of(plot().figure), 'a "b" & c', "p1_"))
    assert (root.tag, root.get("role"), root.get("aria-label")) == ("svg", "img", 'a "b" & c')
    assert "width" not in root.attrib and root.get("viewBox") and root.get("style") == "--width:672px"
    assert all(node.get("id", "p1_").startswith("p1_") for node in root.iter())
    styles = [node.text or "" for node in root.iter("style")]
    assert styles and all(rule.strip().startswith("#p1_ ") for s in styles for rule in re.findall(r"[^{}]+(?={)", s))


def test_a_picture_loses_what_could_act() -> None:
    inside = (
        '<script>x()</script><a xlink:href="http://example.org/"><path onclick="x()" d="M0"/></a><use xlink:href="#q"/>'
    )
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    found = inline_svg(f'<svg {names} viewBox="0 0 9 9" onload="x()">{inside}</svg>', "", "p_")
    assert "x()" not in found and "http" not in found
    assert '<use href="#p_q"' in found and '<path d="M0"' in found


@pytest.mark.parametrize("svg", ["", "no svg", "<svg></svg>", "<svg viewBox='0 0'/>"])
def test_what_is_no_picture_is_refused(svg: str) -> None:
    with pytest.raises(ValueError, match="svg file with a viewBox"):
        inline_svg(svg, "", "p_")


# In a browser

CHROMIUM = shutil.which("chromium")
browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
WIDTHS = {"laptop": 1280, "phone": 390}

# What sticks out: elements outside scroll containers beyond the window's edge, and cells wider than their column.
MEASURE = """
const page = document.querySelector("iframe").contentDocument, width = WIDTH;
const named = e => e.tagName + "." + e.getAttribute("class") + ": " + e.textContent.slice(0, 60);
const all = [...page.body.querySelectorAll("*")].filter(e => !e.closest("svg *"));
const out = all.filter(e => !e.parentElement.closest(".scroll, pre, details:not([open])"));
document.querySelector("output").textContent = JSON.stringify({
  window: page.defaultView.innerWidth,
  page: page.scrollingElement.scrollWidth,
  height: page.scrollingElement.scrollHeight,
  outside: out.filter(e => e.getBoundingClientRect().right > width + 0.5).map(named),
  cut: all.filter(e => e.matches("th, td, caption") && e.scrollWidth > e.clientWidth + 1).map(named),
  findings: Math.max(0, ...all.filter(e => e.matches(".findings")).map(e => e.getBoundingClientRect().bottom)),
  verdict: Math.max(0, ...all.filter(e => e.matches(".verdict")).map(e => e.getBoundingClientRect().bottom)),
  hints: all.filter(e => e.matches(".hint") && e.clientHeight > 0).length,
  scrolling: all.filter(e => e.matches(".scroll") && e.scrollWidth > e.clientWidth + 1).length,
});
"""


def chromium(tmp_path: Path, *arguments: str) -> str:
    command = [str(CHROMIUM), *OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def framed(tmp_path: Path, document: str, width: int, height: int) -> str:
    """The address of a page that shows ``document`` in a frame: a window itself is never as narrow as a phone."""
    opened = document.replace("<details", "<details open")
    frame = f'<iframe style="border:0;width:{width}px;height:{height}px" srcdoc="{escape(opened)}"></iframe>'
    script = f"<script>onload = () => {{ {MEASURE.replace('WIDTH', str(width))} }}</script>"
    file = tmp_path / f"framed{width}.html"
    file.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">{frame}<output></output>{script}')
    return file.as_uri()


def measured(tmp_path: Path, document: str, width: int) -> dict[str, Any]:
    dom = chromium(tmp_path, "--dump-dom", framed(tmp_path, document, width, 3000))
    found: dict[str, Any] = json.loads(read(dom).texts["output"][0])
    return found


@browser
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_nothing_overflows(tmp_path: Path, document: str, width: int) -> None:
    found = measured(tmp_path, document, width)
    assert (found["window"], found["page"]) == (width, width)
    assert found["outside"] == [] and found["cut"] == []
    assert found["scrolling"] >= 1 and found["height"] > 3000
    taken = tmp_path / "taken.png"
    chromium(tmp_path, f"--window-size={width},3000", f"--screenshot={taken}", framed(tmp_path, document, width, 3000))
    with Image.open(taken) as picture:
        assert picture.size == (width, 3000)
        assert len(picture.convert("L").getcolors(256)) > 20  # grey levels; an empty page has one


@browser
@pytest.mark.parametrize(("width", "screen"), [(1280, 800), (390, 844)])
def test_the_first_screenful_holds_the_findings(tmp_path: Path, results: Results, width: int, screen: int) -> None:
    one = kind_of(results.experiment).section(results, MANIFEST, [plot()], title="What was run, and what came out")
    found = measured(tmp_path, page("Experiment made", "Written by splitlab.", [one]), width)
    assert found["page"] == width and found["outside"] == [] and found["cut"] == []
    assert 100 < found["findings"] < screen
    assert width == 390 or found["findings"] < found["verdict"] < screen  # a phone shows its beginning
    assert found["hints"] == (width == 390)  # the figure is wider than a phone, and that is said


@browser
def test_the_check_notices_what_sticks_out(tmp_path: Path) -> None:
    wide = page("t", "", []).replace("</main>", '<div style="width:900px">wide</div></main>')
    found = measured(tmp_path, wide, WIDTHS["phone"])
    assert found["page"] > 900 and len(found["outside"]) == 1


@browser
@pytest.mark.parametrize(("lines", "pages"), [(1, 1), (100, 2)])
def test_print_shows_what_is_folded(tmp_path: Path, lines: int, pages: int) -> None:
    file, printed = tmp_path / "page.html", tmp_path / "page.pdf"
    file.write_text(page("t", "", [Section("s", (Source("Config", "line\n" * lines),))]))
    chromium(tmp_path, f"--print-to-pdf={printed}", file.as_uri())
    assert len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes())) == pages
