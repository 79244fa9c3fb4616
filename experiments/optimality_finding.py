"""Who finds the optimum where: a table and a sentence for each impurity, from the reference run."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from fractions import Fraction
from math import hypot

from experiments.artefact import REFERENCE
from splitlab.kinds.optimality.config import EXACT
from splitlab.kinds.optimality.results import OPTIMUM
from splitlab.published import PAPER_COMPETITORS
from splitlab.report.layout import IMPURITY_TITLES, NONE, round_half_up
from splitlab.splitters import get

SHOWN = ((12, 3), (12, 9), (25, 5), (50, 3), (50, 9))
CLEARLY = 2.0  # standard errors of a difference, as if of different tables; on the same ones they are smaller

Row = dict[str, str]
Cell = tuple[int, int]


def rows(impurity: str) -> list[Row]:
    """The heuristics' rows of the committed reference run."""
    with (REFERENCE / "optimality" / "optimality.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["impurity"] == impurity and row["splitter"] != EXACT]


def cell_of(row: Row) -> Cell:
    """n and k."""
    return int(row["n"]), int(row["k"])


def by_cell(found: Iterable[Row]) -> dict[Cell, list[Row]]:
    """The rows of each cell, the one that reaches the reference most often first."""
    cells: dict[Cell, list[Row]] = {}
    for row in found:
        cells.setdefault(cell_of(row), []).append(row)
    return {cell: sorted(part, key=lambda row: -int(row["reached"])) for cell, part in cells.items()}


def percent(row: Row, decimals: int = 1) -> str:
    """The percentage as written."""
    return round_half_up(Fraction(100 * int(row["reached"]), int(row["runs"])), decimals)


def span(found: list[Row], decimals: int = 1) -> str:
    """The least and the largest percentage."""
    ordered = sorted(found, key=lambda row: float(row["percent"]))
    ends = dict.fromkeys(percent(row, decimals) for row in (ordered[0], ordered[-1]))
    return f"{' to '.join(ends)} %"


def sentence(impurity: str) -> str:
    """Who wins where; ValueError when no method is first, or second, everywhere, and this must be written anew."""
    cells = by_cell(rows(impurity))
    first = _everywhere(cells, 0)
    second = _everywhere(cells, 1, but=first[0]["splitter"])
    solved, known = ([r for r in first if (r["reference"] == OPTIMUM) == wanted] for wanted in (True, False))
    error = max(float(row["standard_error"]) for row in solved)
    shares = sorted(float(b["microseconds"]) / float(a["microseconds"]) for a, b in zip(first, second, strict=True))
    return (
        f"For {impurity.replace('gini', 'Gini')}, no method does better than {_title(first)} anywhere: it finds the "
        f"optimum on {span(solved, 2)} of the tables in the {len(solved)} configurations where it can be computed "
        f"(standard error at most {error:.2f}) and the best split known on {span(known)} in the other "
        f"{len(known)}, and {_title(second)} follows everywhere with {span(second)} in "
        f"{100 * shares[0]:.0f} to {100 * shares[-1]:.0f} % of its time; of the paper's four methods "
        f"{leaders(impurity)}."
    )


def _everywhere(cells: dict[Cell, list[Row]], place: int, but: str = "") -> list[Row]:
    """The rows of the method, another than ``but``, that is at this place or level with it in all cells."""
    marks = [part[place]["reached"] for part in cells.values()]
    for splitter in dict.fromkeys(row["splitter"] for part in cells.values() for row in part):
        found = [_row(part, splitter) for part in cells.values()]
        if splitter != but and [row["reached"] for row in found] == marks:
            return found
    raise ValueError(f"no method is at place {place + 1} in every configuration; write the sentence anew")


def _title(found: list[Row]) -> str:
    return get(found[0]["splitter"]).title


def leaders(impurity: str) -> str:
    """Where each of the paper's methods is clearly ahead of the other three."""
    ahead: dict[str, list[Cell]] = {}
    for cell, part in by_cell(row for row in rows(impurity) if row["splitter"] in PAPER_COMPETITORS).items():
        clear = float(part[0]["percent"]) - float(part[1]["percent"]) > CLEARLY * _error(part[0], part[1])
        ahead.setdefault(part[0]["splitter"] if clear else "", []).append(cell)
    close = ahead.pop("", [])
    words = [f"{get(splitter).title} at {_listed(cells)}" for splitter, cells in ahead.items()]
    words += [f"none at {_listed(close)}"] if close else []
    return f"clearly ahead, by more than two standard errors, are {', '.join(words)}"


def _error(one: Row, other: Row) -> float:
    return hypot(float(one["standard_error"]), float(other["standard_error"]))


def _listed(cells: list[Cell]) -> str:
    """Cells by n: 'n = 12 and n = 25 (k = 7, 9)'; an n with all its k stands alone."""
    everything = by_cell(rows("gini"))
    parts = []
    for n in dict.fromkeys(n for n, _ in cells):
        here = [k for m, k in cells if m == n]
        whole = len(here) == sum(m == n for m, _ in everything)
        parts.append(f"n = {n}" if whole else f"n = {n} (k = {', '.join(map(str, here))})")
    return " and ".join(parts)


def beyond() -> str:
    """How far the best split known can be from the optimum at most, on average."""
    words = []
    for impurity, title in IMPURITY_TITLES.items():
        best = [part[0] for part in by_cell(rows(impurity)).values() if part[0]["reference"] != OPTIMUM]
        excess = sorted(100 * (float(row["bound_mean_ratio"]) - 1) for row in best)
        words.append(f"{excess[0]:.1f} to {excess[-1]:.1f} % for {title}")
    return (
        f"Where the optimum is out of reach, the best split known is by construction that of one of these methods; "
        f"that of the best of them exceeds a certified lower bound, on average, by {' and '.join(words)}."
    )


def table() -> str:
    """A few configurations, Gini and entropy in one entry, the best of each bold."""
    found = {impurity: by_cell(rows(impurity)) for impurity in IMPURITY_TITLES}
    known = {cell for cell, part in found["gini"].items() if part[0]["reference"] != OPTIMUM}
    heads = [f"n = {n}, k = {k}{' (best known)' if (n, k) in known else ''}" for n, k in SHOWN]
    lines = ["| method | proven | " + " | ".join(heads) + " |", "|---|---|" + "---:|" * len(heads)]
    for splitter in dict.fromkeys(row["splitter"] for row in rows("gini")):
        proven = [_row(part[SHOWN[0]], splitter)["proven_ratio"] or NONE for part in found.values()]
        entries = [" / ".join(_entry(part[cell], splitter) for part in found.values()) for cell in SHOWN]
        lines.append(f"| {get(splitter).title} | {' / '.join(proven)} | " + " | ".join(entries) + " |")
    return "\n".join(lines)


def _row(part: list[Row], splitter: str) -> Row:
    return next(row for row in part if row["splitter"] == splitter)


def _entry(part: list[Row], splitter: str) -> str:
    row = _row(part, splitter)
    return f"**{percent(row)}**" if row["reached"] == part[0]["reached"] else percent(row)
