"""A decision tree as text and as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from splitlab._jit import Bools, Floats, Ints
from splitlab.text import counted
from splitlab.trees.classifier import DecisionTreeClassifier
from splitlab.trees.parameters import check, whole
from splitlab.trees.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAF_WIDTH, LEVEL_HEIGHT = 1.25, 1.25  # inches
WIDTH, LINES = 18, 6  # letters of a line, and lines of a condition
HARD_SPACE = "\N{NO-BREAK SPACE}"
PIXELS = 60_000  # matplotlib draws no picture that is wider than 2^16


def export_text(
    classifier: DecisionTreeClassifier, *, max_depth: int | None = None, max_values: int | None = 10
) -> str:
    """The tree as indented text, a line for each branch and leaf.

    Parameters
    ----------
    classifier : DecisionTreeClassifier
        A fitted tree.
    max_depth : int, optional
        Nodes of that depth are shown like leaves, with the number of nodes below them.
    max_values : int, optional
        So many values of a nominal branch are listed, and how many there are besides; None for all.

    Notes
    -----
    With all values listed the text is exact: thresholds have as many digits as it takes to read that number again, and
    names and values that would not be clear stand in quotes, if they are text, and as Python writes them, if not. A
    missing or unseen value follows branch ``tree_.default[node]``.

    Raises
    ------
    ValueError, TypeError
        The classifier is none of this package or is not fitted, or a number is not one.

    Examples
    --------
    >>> tree = DecisionTreeClassifier().fit([["red", 1], ["red", 4], ["blue", 2], ["blue", 5]], ["a", "a", "b", "c"])
    >>> print(export_text(tree))
    x[0] in {blue}
      x[1] <= 3.5
        class: b (1 of 1)
      x[1] > 3.5
        class: c (1 of 1)
    x[0] in {red}
      class: a (2 of 2)
    """
    lines = []
    shown = _Shown("export_text", classifier, max_depth, max_values)
    for node, parent, branch in shown.walk():
        indent = "  " * int(shown.tree.depth[node])
        if parent >= 0:
            lines.append(f"{indent[2:]}{shown.condition(parent, branch)}")
        if shown.ends[node]:
            lines.append(f"{indent}{shown.verdict(node)}")
    return "\n".join(lines)


def plot(classifier: DecisionTreeClassifier, *, max_depth: int | None = 4, max_values: int | None = 4) -> Figure:
    """The tree as a matplotlib figure, which a notebook shows and ``figure.savefig`` saves.

    Parameters
    ----------
    classifier : DecisionTreeClassifier
        A fitted tree.
    max_depth : int, optional
        Deeper nodes are left out; nodes above them have a dashed edge and say how many.
    max_values : int, optional
        So many values of a nominal branch are listed, and how many there are besides; None for all.

    Returns
    -------
    matplotlib.figure.Figure
        Inner nodes say what they split and how many training examples they have, leaves how many of theirs are of
        their class; the purer, the darker. Thresholds are rounded to 6 digits, long texts lose their middle.

    Raises
    ------
    ValueError, TypeError
        The classifier is none of this package or is not fitted, or a number is not one.

    Examples
    --------
    >>> figure = plot(DecisionTreeClassifier().fit([[1], [2], [8]], ["a", "a", "b"]))
    >>> len(figure.axes[0].texts)
    5
    """
    from splitlab.trees.figure import ShownFigure

    shown = _Shown("plot", classifier, max_depth, max_values)
    x = shown.places()
    depth = int(shown.tree.depth[~np.isnan(x)].max())
    size = (max(3.0, LEAF_WIDTH * (np.nanmax(x) + 1)), LEVEL_HEIGHT * (depth + 1))
    figure = ShownFigure(figsize=size, dpi=min(100.0, PIXELS / max(size)))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-0.6, np.nanmax(x) + 0.6)
    axes.set_ylim(-depth - 0.5, 0.5)
    for node, parent, branch in shown.walk():
        _draw(axes, shown, x, node, parent, branch)
    return figure


def _draw(axes: Axes, shown: _Shown, x: Floats, node: int, parent: int, branch: int) -> None:
    """One node, and the line to its parent with the condition on it."""
    tree = shown.tree
    here = (float(x[node]), -float(tree.depth[node]))
    if parent >= 0:
        above = (float(x[parent]), here[1] + 1)
        axes.plot([above[0], here[0]], [above[1], here[1]], color="0.6", linewidth=0.8, zorder=1)
        label = "\n".join(wrap(shown.condition(parent, branch, brief=True), WIDTH, max_lines=LINES, placeholder=" ..."))
        middle = (here[0] + 0.42 * (above[0] - here[0]), here[1] + 0.42)
        axes.text(*middle, label, ha="center", va="center", fontsize=6, zorder=2, parse_math=False,
                  bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"})  # fmt: skip
    counts = tree.counts[node]
    if shown.ends[node]:
        lines, style = [_cut(shown.label(node)), f"{_amount(counts.max())} of {_amount(counts.sum())}"], "round,pad=0.3"
    else:
        lines, style = [_cut(shown.name(node)), _amount(counts.sum())], "square,pad=0.3"
    if shown.hidden[node]:
        lines.append(f"... {shown.hidden[node]:,} nodes")
    box = {"boxstyle": style, "facecolor": str(1 - 0.25 * counts.max() / counts.sum()), "edgecolor": "0.4",
           "linewidth": 0.6, "linestyle": "--" if shown.hidden[node] else "-"}  # fmt: skip
    axes.text(*here, "\n".join(lines), ha="center", va="center", fontsize=6.5, zorder=3, parse_math=False, bbox=box)


def _cut(text: str, width: int = WIDTH) -> str:
    """A text without its middle, where it is longer than ``width`` letters."""
    tail = width // 3
    return text if len(text) <= width else f"{text[: width - 3 - tail]}...{text[-tail:]}"


def _amount(count: float) -> str:
    """A number of examples, or a sum of weights."""
    return f"{count:,}" if isinstance(count, (int, np.integer)) else f"{count:,.6g}"


def _word(value: object, special: str = "[,{}()]") -> str:
    """A value as it stands in a line: text that holds what has a meaning there is quoted, other things are not."""
    if not isinstance(value, str):
        text = str(value) if isinstance(value, (int, float, np.generic, pd.Interval)) else repr(value)
        return re.sub(r"\s+", " ", text)
    clear = value.isprintable() and value.strip() == value != ""
    return str(value) if clear and not re.search(rf"{special}|['\"\\]|: |\.\.\.", value) else repr(str(value))


class _Shown:
    """What of a tree is shown, and in which words."""

    def __init__(
        self, function: str, classifier: DecisionTreeClassifier, max_depth: int | None, max_values: int | None
    ) -> None:
        """Check the arguments of a public ``function``; ValueError or TypeError where one is wrong."""
        check(
            function,
            classifier=(classifier, [DecisionTreeClassifier]),
            max_depth=(max_depth, [*whole(0), None]),
            max_values=(max_values, [*whole(1), None]),
        )
        check_is_fitted(classifier)
        self.classifier = classifier
        self.tree: Tree = classifier.tree_
        self.max_values = inf if max_values is None else max_values
        self.ends: Bools = self.tree.leaves.copy()
        if max_depth is not None:
            self.ends |= self.tree.depth >= max_depth
        self.hidden: Ints = np.where(self.ends, self.tree.below, 0)
        self.mixed = [c is not None and not all(isinstance(v, str) for v in c) for c in classifier.encoding_.categories]

    def walk(self) -> Iterator[tuple[int, int, int]]:
        """Nodes in reading order, each with its parent and branch; -1 for the root."""
        stack = [(0, -1, 0)]
        while stack:
            node, parent, branch = stack.pop()
            yield node, parent, branch
            if not self.ends[node]:
                first = int(self.tree.first_child[node])
                stack += [(first + b, node, b) for b in reversed(range(int(self.tree.n_branches[node])))]

    def places(self) -> Floats:
        """Where nodes are drawn from left to right: ends side by side, others above their children; NaN if hidden."""
        x = np.full(self.tree.node_count, np.nan)
        ends = [node for node, _, _ in self.walk() if self.ends[node]]
        x[ends] = np.arange(len(ends))
        for node in np.flatnonzero(~self.ends)[::-1]:
            first = self.tree.first_child[node]
            x[node] = x[first : first + self.tree.n_branches[node]].mean()
        return x

    def name(self, node: int) -> str:
        """The attribute that a node splits."""
        name = self.classifier.encoding_.names[int(self.tree.feature[node])]
        return _word(name, "[<>{}]") if isinstance(name, str) else f"x[{name}]"

    def condition(self, node: int, branch: int, brief: bool = False) -> str:
        """What holds for the examples of a branch: exact, or without the attribute and with texts cut."""
        name = "" if brief else f"{self.name(node)} "
        column = int(self.tree.feature[node])
        categories = self.classifier.encoding_.categories[column]
        if categories is None:
            threshold = float(self.tree.threshold[node])
            return f"{name}{('<=', '>')[branch]} {f'{threshold:.6g}' if brief else repr(threshold).removesuffix('.0')}"
        low, high = np.searchsorted(self.tree.value_node, [node, node + 1])
        mine = self.tree.value[low:high][self.tree.value_branch[low:high] == branch].astype(np.int64)
        words = [self.value(column, categories[code]) for code in mine[: min(len(mine), self.max_values)]]
        if more := len(mine) - len(words):
            words.append(f"... {more} more")
        if brief:
            words = [_cut(word, WIDTH - len("in {,")).replace(" ", HARD_SPACE) for word in words]
        return f"{name}in {{{', '.join(words)}}}"

    def value(self, column: int, value: object) -> str:
        """A nominal value; text is quoted where there are other things besides it, such as numbers."""
        return repr(str(value)) if self.mixed[column] and isinstance(value, str) else _word(value)

    def label(self, node: int) -> str:
        """The class of a node."""
        return _word(self.classifier.classes_[self.tree.counts[node].argmax()])

    def verdict(self, node: int) -> str:
        """The class of a node, and how many of its examples have it; what is below it, if that is hidden."""
        counts, hidden = self.tree.counts[node], self.hidden[node]
        more = f" ... {counted(hidden, 'node')} below" if hidden else ""
        most, all_ = (_amount(number).replace(",", "") for number in (counts.max(), counts.sum()))
        return f"class: {self.label(node)} ({most} of {all_}){more}"
