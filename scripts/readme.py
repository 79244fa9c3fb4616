"""Write the README's results from results/reference, so that they cannot drift: python scripts/readme.py [--check]"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

from experiments.finding import pcext_footnote
from splitlab.report.layout import round_half_up
from splitlab.splitters import get

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
REFERENCE = ROOT / "results" / "reference"


def rows(name: str) -> list[dict[str, str]]:
    """The win percentages of a committed reference run."""
    with (REFERENCE / name / "win_percentage.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def verdict(name: str) -> str:
    """The last line of the verdict that the reference run printed."""
    return (REFERENCE / name / "verdict.txt").read_text(encoding="utf-8").strip()


def table(name: str) -> str:
    """Ours and published side by side, one line per configuration, the best of each configuration bold."""
    found = rows(name)
    splitters = list(dict.fromkeys(row["splitter"] for row in found))
    lines = ["| n | k | " + " | ".join(f"{get(s).title} | paper" for s in splitters) + " |"]
    lines.append("|---:|---:|" + "---|---:|" * len(splitters))
    for cell in dict.fromkeys((row["n"], row["k"]) for row in found):
        here = [row for row in found if (row["n"], row["k"]) == cell]
        best = max(float(row["percent"]) for row in here)
        lines.append(f"| {cell[0]} | {cell[1]} | " + " | ".join(_entry(row, best) for row in here) + " |")
    return "\n".join(lines)


def _entry(row: dict[str, str], best: float) -> str:
    text = round_half_up(float(row["percent"]))
    shown = f"**{text}**" if float(row["percent"]) == best else text
    return f"{shown} ± {float(row['standard_error']):.1f} | {row['published']}"


def results() -> str:
    """The table at the top."""
    return (
        f"Percentage of 10,000 random tables on which each method finds the least impurity of the four, Gini, ours ± "
        f"standard error beside the paper's Table 1:\n\n{table('table1')}\n\n{verdict('table1')}. "
        f"With the authors' own random numbers (`make replay`): {verdict('replay')}."
    )


def finding() -> str:
    """The finding on PCext."""
    return pcext_footnote("table1")


def written(text: str) -> str:
    """The README with its generated parts as they should be."""
    for name, content in (("results", results()), ("finding", finding())):
        pattern = rf"(<!-- {name}: .*? -->\n).*?(<!-- end of {name} -->)"
        text = re.sub(pattern, lambda m, c=content: f"{m[1]}{c}\n{m[2]}", text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    before = README.read_text(encoding="utf-8")
    after = written(before)
    if "--check" in sys.argv and before != after:
        sys.exit("README.md does not show the results of results/reference; run: make reference")
    README.write_text(after, encoding="utf-8")
