"""Write the README's results from the committed files, so that they cannot drift: python scripts/readme.py [--check]"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

from experiments.finding import deviation, pcext_footnote, percentage
from experiments.optimality_finding import beyond, sentence
from experiments.optimality_finding import table as optimality_table
from splitlab.adversary import proven, worst_known
from splitlab.adversary.text import number
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
    shown = f"**{percentage(row)}**" if float(row["percent"]) == best else percentage(row)
    return f"{shown} ± {float(row['standard_error']):.1f} | {row['published']}"


def results() -> str:
    """The table at the top."""
    return (
        f"Percentage of 10,000 random tables on which each method finds the least impurity of the four, Gini, ours ± "
        f"standard error beside the paper's Table 1:\n\n{table('table1')}\n\n{verdict('table1')}. "
        f"With the authors' own random numbers (`make replay`): {'; '.join(verdict('replay').splitlines()[:2])}.\n\n"
        f"![Win percentages against the number of values](results/reference/figures/win_percentage.png)"
    )


def finding() -> str:
    """The finding on PCext, the farthest entries, the maxima and the other max_count."""
    maxima, alike = verdict("excess").splitlines()
    return "\n\n".join(
        [
            f"{pcext_footnote('table1')} For entropy: {_second_half(pcext_footnote('table2'))}",
            f"Table 1: {_short(verdict('table1'))}. Table 2: {_short(verdict('table2'))}. {farthest()}",
            f"**Maxima of the relative excess.** {maxima}",
            f"**Other max_count.** The paper says that they behave alike. {alike}",
            "**Running times.** Table 3 is of a pure Python program. Ours in plain Python (`make table3`) grows with k "
            "as the paper's does for HcC, but its SLIQext and PCext grow less with n, since they are written "
            "differently; compiled, the ratios are other ones altogether. So the published ratios say something about "
            "the growth of HcC, and little about the methods otherwise.",
        ]
    )


def optimality() -> str:
    """Who finds the optimum where, and a table of a few configurations."""
    return (
        f"{sentence('gini')} {sentence('entropy')}\n\n"
        f"Percent of random tables on which each method finds the optimum (or the best split known), Gini / entropy, "
        f"beside the ratio to the optimum that is proven for it:\n\n{optimality_table()}\n\n{beyond()}\n\n"
        f"![Cost against success, Gini](results/reference/figures/optimality_gini.png)"
    )


def _short(text: str) -> str:
    return text.split(" (")[0]


def _second_half(footnote: str) -> str:
    """What the footnote says after its general part, without the hint at the end."""
    return footnote.split("on the same tables, ")[1].split(" See ")[0]


def farthest() -> str:
    """The entry of Table 1 that lies farthest from the published one."""
    worst = max(rows("table1"), key=lambda row: abs(deviation(row)))
    return (
        f"The farthest of Table 1 is {get(worst['splitter']).title} at n = {worst['n']}, k = {worst['k']}: "
        f"{percentage(worst)} against {worst['published']}, {abs(deviation(worst)):.1f} standard "
        f"errors; Holm's procedure over 48 entries does not reject it, and other seeds come closer."
    )


def worst() -> str:
    """The worst known ratios, one line per splitter."""
    known = worst_known()
    lines = ["| splitter | Gini | entropy | proven (Gini, entropy) |", "|---|---:|---:|---|"]
    for name in dict.fromkeys(splitter for splitter, _ in known):
        ratios = " | ".join(number(known[name, impurity].ratio) for impurity in ("gini", "entropy"))
        bounds = [f"{bound:g}" if (bound := proven(name, i)) else "–" for i in ("gini", "entropy")]
        lines.append(f"| `{name}` | {ratios} | {', '.join(bounds)} |")
    return "\n".join(lines)


def trees() -> str:
    """The replay of the tree study, and what survives of it with the splitters as defined."""
    replayed = verdict("table4").splitlines()
    equal = [line.removesuffix(" trials equal") for line in replayed if line.endswith(" trials equal")]
    return (
        f"**Replayed.** Trials with the authors' accuracy and number of nodes: {', '.join(equal)}. "
        f"{_replay_gap()}; {replayed[-1]}.\n\n{corrected_trees()}"
    )


def _replay_gap() -> str:
    """Which methods' trials are not all equal."""
    with (REFERENCE / "table4" / "means.csv").open(encoding="utf-8", newline="") as file:
        missing = [(row["splitter"], int(row["trials"]) - int(row["equal"])) for row in csv.DictReader(file)]
    gaps = {name: sum(n for other, n in missing if other == name) for name, _ in missing}
    listed = [f"{gap} of {get(name).title}" for name, gap in gaps.items() if gap]
    return f"Those that differ are {' and '.join(listed)}" if listed else "None differs"


def corrected_trees() -> str:
    """What survives of Table 4 with the splitters as defined."""
    if not (REFERENCE / "table4_corrected").is_dir():
        return "`make table4-corrected` grows the trees of the splitters as defined."
    trials = _trials("table4_corrected")
    weaker = " The paper has 20: with fewer trials every test finds less." if int(trials) < 20 else ""
    return (
        f"**With the splitters as defined.** Data sets on which a method is better / worse than a rival, as printed "
        f"(of eleven) and ours, {trials} trials: by the paper's test, and by Nadeau and Bengio's with Holm's "
        f"adjustment.{weaker}\n\n{survival_table()}\n\n{verdict('table4_corrected').splitlines()[0]}\n\n"
        f"![Average ranks, Gini](results/reference/figures/table4_corrected_ranks_gini.png)"
    )


def _trials(name: str) -> str:
    with (REFERENCE / name / "means.csv").open(encoding="utf-8", newline="") as file:
        return next(csv.DictReader(file))["trials"]


def survival_table() -> str:
    """One line for each pair of Table 4."""
    lines = ["| impurity | method | rival | paper | ours, its test | ours, Holm | mean difference | who is ahead |"]
    lines.append("|---|---|---|---|---|---|---:|---|")
    with (REFERENCE / "table4_corrected" / "survival.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            counts = (f"{row[f'{of}_better']} / {row[f'{of}_worse']}" for of in ("published", "plain", "holm"))
            names = (row["impurity"], get(row["method"]).title, get(row["rival"]).title)
            lines.append(
                f"| {' | '.join((*names, *counts))} | {float(row['mean_difference']):+.2f} | {row['verdict']} |"
            )
    return "\n".join(lines)


def written(text: str) -> str:
    """The README with its generated parts as they should be."""
    parts = {"results": results, "finding": finding, "optimality": optimality, "trees": trees, "worst": worst}
    for name, content in ((name, part()) for name, part in parts.items()):
        pattern = rf"(<!-- {name}: .*? -->\n).*?(<!-- end of {name} -->)"
        text = re.sub(pattern, lambda m, c=content: f"{m[1]}{c}\n{m[2]}", text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    before = README.read_text(encoding="utf-8")
    after = written(before)
    if "--check" in sys.argv and before != after:
        sys.exit("README.md does not show the results of results/reference; run: make reference")
    README.write_text(after, encoding="utf-8")
