"""The worked examples of the source documents, step by step, as a page of text: ``splitlab examples``.

Every number on the page is computed when it is shown, by the functions that everything else uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from splitlab.impurity import weighted_impurity
from splitlab.splitters.kernels.eigen import top_direction
from splitlab.splitters.kernels.principal import scatter
from splitlab.trees import criteria
from splitlab.trees.attribute import best_table_split, thresholds

THIRTEEN = (list(range(1, 14)), [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0])
REPEATED = (([0, 0, 5, 10], [0, 0, 1, 1]), ([0, 0, 5, 10], [0, 1, 1, 1]), ([0, 0, 0, 5, 10], [0, 1, 0, 1, 1]))

CREDIT_ATTRIBUTES = ("gender", "job", "region")
CREDIT = {
    "a": (("male", "yes", "A"), "good"),
    "b": (("female", "yes", "B"), "good"),
    "c": (("male", "no", "C"), "good"),
    "d": (("female", "yes", "B"), "good"),
    "e": (("male", "no", "A"), "bad"),
    "f": (("female", "no", "B"), "bad"),
    "g": (("male", "yes", "C"), "bad"),
    "h": (("female", "no", "C"), "bad"),
}
STATUS = ("good", "bad")

WEATHER = {"sunny": [2, 3], "overcast": [4, 0], "rainy": [3, 2]}
COMPONENTS = [[40, 10, 10], [10, 40, 10], [20, 30, 10], [20, 15, 25], [10, 5, 45]]
X = [[40, 0, 0, 10], [0, 20, 10, 0]]
Y = [[40, 0, 5, 5], [0, 20, 5, 5]]

Rows = Sequence[Sequence[object]]


def page() -> str:
    """The page of all worked examples, as text.

    Examples
    --------
    >>> print(page().splitlines()[0])
    Worked examples
    """
    sections = (_impurities(), _thresholds(), _credit(), _weather(), _components(), _distances())
    return "\n\n".join(["Worked examples\n===============", *("\n".join(lines) for lines in sections)])


def _title(text: str) -> list[str]:
    """A heading, underlined."""
    return [text, "-" * len(text)]


def grid(rows: Rows, indent: str = "  ") -> list[str]:
    """Rows of cells as aligned lines; numbers are shown to four decimals and set to the right."""
    cells = [[f"{c:.4f}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = [any(isinstance(row[j], (int, float)) for row in rows) for j in range(len(widths))]
    lines = []
    for row in cells:
        padded = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)]
        lines.append((indent + "  ".join(padded)).rstrip())
    return lines


def _entropy(counts: Sequence[int]) -> float:
    """Entropy in bits per example; 0 of nothing."""
    return weighted_impurity(np.array(counts, np.int64), "entropy") / max(sum(counts), 1)


def _impurities() -> list[str]:
    """The section on entropy and its gain."""
    lines = _title("Entropy and information gain")
    lines += grid([["counts", "entropy"], *([str(c), _entropy(c)] for c in ([9, 5], [1, 1], [100], []))])
    gain = criteria.information_gain([[6, 2], [3, 3]])
    return [*lines, f"  [9, 5] split into [6, 2] and [3, 3]: information gain {gain:.8f}"]


def _thresholds() -> list[str]:
    """The section on thresholds, repeated values among them."""
    lines = _title("Thresholds of a numeric attribute")
    lines.append(
        "Candidates are midpoints between two different neighbouring values; a threshold in the midst of one class"
    )
    lines.append("is never better and left out. The order of the rows does not matter.")
    for values, labels in (THIRTEEN, *REPEATED):
        lines += ["", f"  A = {_listed(values)}", f"  y = {_listed(labels)}"]
        candidates = thresholds(values, labels)
        lines += grid([["threshold", "information gain"], *([f"<= {t:g}", gain] for t, gain in candidates)], "    ")
        best = max(candidates, key=lambda candidate: candidate.value)
        lines.append(f"    choice: A <= {best.threshold:g}")
    lines.append("")
    lines.append(
        "The source also accepts a threshold between two equal values, and so finds 0.8113 and 0.9710 for the last"
    )
    return [*lines, "two: no threshold separates equal values."]


def _listed(values: Iterable[object]) -> str:
    """Values with commas between them."""
    return ", ".join(map(str, values))


def _credit() -> list[str]:
    """The section on a whole tree, node by node."""
    lines = _title("Credit: a decision tree by hand")
    lines += grid([["row", *CREDIT_ATTRIBUTES, "status"], *([r, *x, y] for r, (x, y) in CREDIT.items())])
    waiting = [("root", tuple(CREDIT))]
    while waiting:
        name, rows = waiting.pop(0)
        step, branches = _credit_node(name, rows)
        lines += ["", *step]
        waiting += branches
    lines += [
        "",
        "The source prints impossible nodes 6 and 7 for the tree below job = yes; region C is the pure split there.",
    ]
    return lines


def _status(rows: Iterable[str]) -> list[int]:
    """How many of some rows are good, and bad."""
    labels = [CREDIT[row][1] for row in rows]
    return [labels.count(status) for status in STATUS]


class CreditSplit(NamedTuple):
    """A candidate split: what holds on either side, the rows there, and the gains."""

    titles: tuple[str, str]
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    information_gain: float
    gini_gain: float


def credit_splits(rows: Sequence[str]) -> list[CreditSplit]:
    """The candidate splits of some rows: of every attribute each value against the rest."""
    found = []
    for place, attribute in enumerate(CREDIT_ATTRIBUTES):
        values = sorted({CREDIT[row][0][place] for row in rows})
        for value in values if len(values) > 2 else values[1:]:
            inside = tuple(row for row in rows if CREDIT[row][0][place] == value)
            outside = tuple(row for row in rows if row not in inside)
            table = [_status(inside), _status(outside)]
            rest = _listed(v for v in values if v != value)
            gains = (criteria.information_gain(table), criteria.information_gain(table, "gini"))
            found.append(CreditSplit((f"{attribute} = {value}", f"{attribute} = {rest}"), (inside, outside), *gains))
    return found


def _credit_node(name: str, rows: Sequence[str]) -> tuple[list[str], list[tuple[str, tuple[str, ...]]]]:
    """One node: what is in it, its candidate splits, the choice; and its branches."""
    counts = _status(rows)
    gini = weighted_impurity(np.array(counts, np.int64), "gini") / len(rows)
    head = f"  {name}: rows {_listed(rows)}; good {counts[0]}, bad {counts[1]}"
    lines = [f"{head}; entropy {_entropy(counts):.4f}, Gini {gini:.4f}"]
    if 0 in counts:
        return [*lines, f"    leaf: {STATUS[counts.index(0) ^ 1]}"], []
    candidates = credit_splits(rows)
    shown: list[list[object]] = [["split", "good, bad | good, bad", "information gain", "Gini gain"]]
    for split in candidates:
        table = " | ".join(_listed(_status(side)) for side in split.sides)
        shown.append([split.titles[0], table, split.information_gain, split.gini_gain])
    best = max(candidates, key=lambda split: split.information_gain)
    branches = [(f"{name}, {title}", side) for title, side in zip(best.titles, best.sides, strict=True)]
    return [*lines, *grid(shown, "    "), f"    choice: {best.titles[0]}"], branches


def _weather() -> list[str]:
    """The section on an attribute of three values and two classes."""
    lines = _title("Weather: the attribute outlook")
    table = np.array(list(WEATHER.values()))
    shown: list[list[object]] = [["value", "yes", "no", "p(no)", "alone: information gain", "alone: Gini gain"]]
    for place, (name, (yes, no)) in enumerate(WEATHER.items()):
        sides = [table[place], table.sum(0) - table[place]]
        gains = [criteria.information_gain(sides, impurity) for impurity in ("entropy", "gini")]
        shown.append([name, yes, no, no / (yes + no), *gains])
    order = sorted(WEATHER, key=lambda name: WEATHER[name][1] / sum(WEATHER[name]))
    lines += [*grid(shown), f"  two-class order by p(no): {' < '.join(order)}"]
    branch = best_table_split(table, "entropy", "lca")
    sides = [[name for name, b in zip(WEATHER, branch, strict=True) if b == side] for side in (0, 1)]
    return [*lines, f"  choice: {_listed(sides[0])} against {_listed(sides[1])}"]


def component() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The matrix M, its top eigenvector and the scores of the rows of the principal component example."""
    table = np.array(COMPONENTS)
    shares = table / table.sum(1, keepdims=True)
    matrix = scatter(table, shares, table.sum(0), table.sum())
    direction = np.empty(3)
    top_direction(matrix.copy(), np.empty((3, 3)), direction)
    return matrix, direction, shares @ direction


def _components() -> list[str]:
    """The section on the principal component."""
    lines = _title("Principal component: five values, three classes")
    matrix, direction, scores = component()
    shown: list[list[object]] = [["value", "counts", "score"]]
    shown += [[f"a{i + 1}", _listed(row), float(scores[i])] for i, row in enumerate(COMPONENTS)]
    lines += [*grid(shown), "  M = sum of |a| (p_a - p)(p_a - p)^T:"]
    lines += grid([[float(c) for c in row] for row in matrix], "    ")
    lines.append(f"  top eigenvector: {_listed(f'{c:.4f}' for c in direction)}")
    order = np.argsort(scores)
    shown = [["left side", "Gini gain", "information gain"]]
    table = np.array(COMPONENTS)
    for cut in range(1, 5):
        left = table[order[:cut]].sum(0)
        gains = [criteria.information_gain([left, table.sum(0) - left], impurity) for impurity in ("gini", "entropy")]
        shown.append([_listed(f"a{i + 1}" for i in order[:cut]), *gains])
    lines += grid(shown)
    lines.append(
        "  choice: all but a5 for Gini; for entropy a2, a3 and a2, a3, a1 are equally good, and the first is taken"
    )
    return lines


def _distances() -> list[str]:
    """The section on Hellinger distances."""
    lines = _title("Hellinger distances: 80 examples of classes A, B, C, D (40, 20, 10, 10)")
    shown: list[list[object]] = [["split", "left", "right", "HDDT", "HDDT, all partitions", "iHD"]]
    for name, table in (("X", X), ("Y", Y)):
        values = (criteria.hddt(table), criteria.hddt(table, "all"), criteria.ihd(table))
        shown.append([name, *map(_listed, table), *values])
    return [
        *lines,
        *grid(shown),
        "  one class against the rest cannot tell X from Y; X, which shares no class, is better",
    ]
