"""Write the README's tables from the committed files, so that they cannot drift: python -m scripts.readme [--check]

Every table stands between a line ``<!-- NAME: ... -->`` and a line ``<!-- end of NAME -->``. The text around them is
written by hand; tests/test_readme.py holds its numbers to the same files.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from fractions import Fraction
from math import hypot
from pathlib import Path
from typing import Any

import pandas as pd

from splitlab.adversary import proven, worst_known
from splitlab.adversary.text import number
from splitlab.kinds.optimality.config import EXACT
from splitlab.kinds.optimality.results import OPTIMUM
from splitlab.kinds.splits.compare import Entry
from splitlab.published import PAPER_COMPETITORS
from splitlab.report.layout import IMPURITY_TITLES, NONE, round_half_up
from splitlab.splitters import get

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
REFERENCE = ROOT / "results" / "reference"
IMPURITIES = ("gini", "entropy")
SHOWN = ((12, 3), (12, 9), (25, 5), (50, 3), (50, 9))  # n, k of the configurations in the table on the optimum
FAR = 3.0  # standard errors
CLEARLY = 2.0  # standard errors of a difference, as if of different tables; on the same ones they are smaller

Row = dict[str, Any]


def read(name: str, file: str) -> pd.DataFrame:
    """A csv file of a committed reference run; what is printed in the paper stays text."""
    texts = {"published": str, "proven_ratio": str}
    return pd.read_csv(REFERENCE / name / f"{file}.csv", dtype=texts, keep_default_na=False)


def markdown(heads: Iterable[str], rows: Iterable[Iterable[str]], keys: int = 1) -> str:
    """A table in Markdown; the columns after the first ``keys`` are set to the right."""
    heads = list(heads)
    rule = ["---"] * keys + ["---:"] * (len(heads) - keys)
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, rule, *rows])


def percentage(wins: int, runs: int) -> str:
    """A percentage with one decimal, rounded as in the paper."""
    return round_half_up(Fraction(100 * int(wins), int(runs)))


def marked(text: str, best: bool) -> str:
    """The best entries are bold."""
    return f"**{text}**" if best else text


def wins() -> str:
    """Table 1: ours and published side by side, one line per configuration."""
    found = read("table1", "win_percentage")
    heads = [head for splitter in found["splitter"].unique() for head in (get(splitter).title, "paper")]
    rows = []
    for (n, k), here in found.groupby(["n", "k"], sort=False):
        line = [str(n), str(k)]
        for row in here.to_dict("records"):
            ours = marked(percentage(row["wins"], row["runs"]), row["wins"] == here["wins"].max())
            line += [f"{ours} ± {row['standard_error']:.1f}", row["published"]]
        rows.append(line)
    return markdown(["n", "k", *heads], rows, 2)


def optimum() -> str:
    """Who finds the optimum in a few configurations, Gini and entropy in one entry, the best of each bold."""
    found = read("optimality", "optimality")
    found = found[found["splitter"] != EXACT]
    places = found.set_index(["splitter", "impurity", "n", "k"])
    most = found.groupby(["impurity", "n", "k"])["reached"].max()
    known = {(row.n, row.k) for row in found.itertuples() if row.reference != OPTIMUM}

    def entry(splitter: str, impurity: str, cell: tuple[int, int]) -> str:
        reached, runs = places.loc[(splitter, impurity, *cell), ["reached", "runs"]]
        return marked(percentage(reached, runs), reached == most[(impurity, *cell)])

    rows = []
    for splitter in found["splitter"].unique():
        ratios = [places.loc[(splitter, impurity, *SHOWN[0]), "proven_ratio"] or NONE for impurity in IMPURITIES]
        entries = [" / ".join(entry(splitter, impurity, cell) for impurity in IMPURITIES) for cell in SHOWN]
        rows.append([get(splitter).title, " / ".join(ratios), *entries])
    cells = [f"n = {n}, k = {k}{' (best known)' if (n, k) in known else ''}" for n, k in SHOWN]
    return markdown(["method", "proven", *cells], rows, 2)


def leaders() -> str:
    """Which of the paper's methods is clearly ahead of its three competitors, Gini and entropy, by n and k."""
    found = read("optimality", "optimality")
    found = found[found["splitter"].isin(PAPER_COMPETITORS)]
    sizes = found["k"].unique()

    def leader(impurity: str, n: int, k: int) -> str:
        here = found[(found["impurity"] == impurity) & (found["n"] == n) & (found["k"] == k)]
        first, second = here.nlargest(2, "reached").to_dict("records")
        error = hypot(first["standard_error"], second["standard_error"])
        ahead = first["percent"] - second["percent"] > CLEARLY * error
        return get(first["splitter"]).title if ahead else NONE

    rows = [
        [f"n = {n}", *(" / ".join(leader(impurity, n, k) for impurity in IMPURITIES) for k in sizes)]
        for n in found["n"].unique()
    ]
    return markdown(["", *(f"k = {k}" for k in sizes)], rows, 1 + len(sizes))


def pcext() -> str:
    """How far PCext is from its published column, scoring counts and scoring probabilities."""
    rows = []
    for title, name in (("1 (Gini)", "table1"), ("2 (entropy)", "table2")):
        for scored, folder in (("raw counts", name), ("class probabilities", f"{name}_corrected")):
            found = read(folder, "win_percentage")
            found = found[found["splitter"].str.startswith("pc_ext") & (found["published"] != "")]
            entries = sorted(found.to_dict("records"), key=lambda row: -abs(deviation(row)))
            far, worst = sum(abs(deviation(row)) > FAR for row in entries), entries[0]
            place = f"n = {worst['n']}, k = {worst['k']}"
            ours = percentage(worst["wins"], worst["runs"])
            rows.append([title, scored, f"{far} of {len(entries)}", place, ours, worst["published"]])
    return markdown(["table", "PCext scores", "far from the paper", "farthest", "ours", "paper"], rows, 2)


def deviation(row: Row) -> float:
    """Ours minus published in standard errors; 0 where neither varies."""
    fields = ("impurity", "n", "k", "max_count", "splitter", "wins", "runs")
    return Entry(**{field: row[field] for field in fields}, printed=row["published"]).z() or 0.0


def maxima() -> str:
    """The published maxima of the relative excess, those of the authors' tables, and those of ours."""
    ours, replayed = read("excess", "maxima"), read("replay", "maxima")
    counts = ours["max_count"].unique()
    keys = ["impurity", "splitter"]
    others = ours.pivot_table("ours", keys, "max_count")
    rows = []
    for row in replayed.to_dict("records"):
        here = others.loc[(row["impurity"], row["splitter"])]
        numbers = [f"{value:.2f}" for value in (row["ours"], *here[counts])]
        rows.append([IMPURITY_TITLES[row["impurity"]], get(row["splitter"]).title, row["published"], *numbers])
    heads = ["impurity", "method", "paper", "the authors' tables", *(f"ours, max_count {count}" for count in counts)]
    return markdown(heads, rows, 2)


def growth() -> str:
    """By which factor the times relative to LCA grow: the paper's, and ours in plain Python and compiled."""
    found = read("table3", "timing").query("impurity == 'all'").set_index(["engine", "splitter", "n", "k"])

    def factor(engine: str, column: str, splitter: str, small: tuple[int, int], large: tuple[int, int]) -> str:
        low, high = (float(found.loc[(engine, splitter, *cell), column]) for cell in (small, large))
        return f"{high / low:.1f}"

    rows = []
    for splitter, small, large, text in (
        ("hcc", (25, 3), (25, 9), "k = 3 to 9 (n = 25)"),
        ("sliq_ext", (12, 5), (50, 5), "n = 12 to 50 (k = 5)"),
        ("pc_ext_counts", (12, 5), (50, 5), "n = 12 to 50 (k = 5)"),
    ):
        columns = (("python", "published"), ("python", "ratio"), ("compiled", "ratio"))
        rows.append([get(splitter).title, text, *(factor(*which, splitter, small, large) for which in columns)])
    return markdown(["method", "from", "paper", "plain Python", "compiled"], rows, 2)


def trees() -> str:
    """Of how many trials the replay of the tree study has the authors' accuracy and number of nodes."""
    sums = read("table4", "means").groupby(["dataset", "impurity"], sort=False)[["equal", "trials"]].sum()
    rows = [
        [f"`{dataset}`", *(f"{equal} of {trials}" for equal, trials in sums.loc[dataset].loc[[*IMPURITIES]].to_numpy())]
        for dataset in dict.fromkeys(sums.index.get_level_values("dataset"))
    ]
    return markdown(["data set", "Gini", "entropy"], rows)


def survival() -> str:
    """What survives of Table 4 with the splitters as defined, one line for each pair of methods."""
    rows = []
    for row in read("table4_corrected", "survival").to_dict("records"):
        names = [IMPURITY_TITLES[row["impurity"]], get(row["method"]).title, get(row["rival"]).title]
        counts = [f"{row[f'{of}_better']} / {row[f'{of}_worse']}" for of in ("published", "plain", "holm")]
        rows.append([*names, *counts, f"{row['mean_difference']:+.2f}", row["verdict"]])
    heads = ["impurity", "method", "competitor", "paper", "ours, its test", "ours, Holm", "mean difference"]
    return markdown([*heads, "who is ahead"], rows, 3)


def worst() -> str:
    """The worst known ratios, one line per splitter."""
    known = worst_known()
    rows = []
    for name in dict.fromkeys(splitter for splitter, _ in known):
        ratios = [number(known[name, impurity].ratio) for impurity in IMPURITIES]
        bounds = [f"{bound:g}" if (bound := proven(name, impurity)) else NONE for impurity in IMPURITIES]
        rows.append([f"`{name}`", *ratios, ", ".join(bounds)])
    return markdown(["splitter", "Gini", "entropy", "proven (Gini, entropy)"], rows)


TABLES = {
    "results": wins,
    "optimality": optimum,
    "leaders": leaders,
    "trees": trees,
    "survival": survival,
    "pcext": pcext,
    "maxima": maxima,
    "growth": growth,
    "worst": worst,
}


def written(text: str) -> str:
    """The README with its tables as they should be."""
    for name, table in TABLES.items():
        pattern = rf"(<!-- {name}: [^\n]*? -->\n).*?(<!-- end of {name} -->)"
        text = re.sub(pattern, rf"\g<1>{table()}\n\g<2>", text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    before = README.read_text(encoding="utf-8")
    after = written(before)
    if "--check" in sys.argv and before != after:
        sys.exit("README.md does not show the results of results/reference; run: make reference")
    README.write_text(after, encoding="utf-8")
