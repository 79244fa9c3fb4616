"""A decision tree as text and as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import shorten, wrap
from typing import TYPE_CHECKING

import numpy as np

from splitlab._jit import Bools, Floats
from splitlab.trees.classifier import DecisionTreeClassifier
from splitlab.trees.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAF_WIDTH, LEVEL_HEIGHT = 1.25, 1.1  # inches
WIDTH = 18  # letters of a line in a node


def export_text(classifier: DecisionTreeClassifier, *, max_depth: int | None = None, max_values: int = 10) -> str:
    """The tree as indented text, a line for each branch and leaf.

    Parameters
    ----------
    classifier : DecisionTreeClassifier
        A fitted tree.
    max_depth : int, optional
        Deeper nodes are shown as if they were leaves, with an ellipsis.
    max_values : int
        So many values of a nominal branch are listed; of more, only how many there are.

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
    shown = _Shown(classifier, max_depth, max_values)
    for node, parent, branch in shown.walk():
        indent = "  " * int(shown.tree.depth[node])
        if parent >= 0:
            lines.append(f"{indent[2:]}{shown.condition(parent, branch)}")
        if shown.ends[node]:
            lines.append(f"{indent}{shown.verdict(node)}")
    return "\n".join(lines)


def plot(classifier: DecisionTreeClassifier, *, max_depth: int | None = 4, max_values: int = 4) -> Figure:
    """The tree as a matplotlib figure, to be saved with ``figure.savefig``.

    Parameters
    ----------
    classifier, max_values
        As for `export_text`.
    max_depth : int, optional
        Deeper nodes are left out.

    Returns
    -------
    matplotlib.figure.Figure
        Inner nodes say what they split and how many training examples they have, leaves how many of theirs are of
        their class; the purer, the darker.

    Examples
    --------
    >>> figure = plot(DecisionTreeClassifier().fit([[1], [2], [8]], ["a", "a", "b"]))
    >>> len(figure.axes[0].texts)
    5
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = _Shown(classifier, max_depth, max_values)
    x = shown.places()
    depth = int(shown.tree.depth[~np.isnan(x)].max())
    figure = Figure(figsize=(max(3.0, LEAF_WIDTH * (np.nanmax(x) + 1)), LEVEL_HEIGHT * (depth + 1)))
    FigureCanvasAgg(figure)
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
        label = "\n".join(wrap(shown.condition(parent, branch, with_name=False), WIDTH))
        middle = (here[0] + 0.42 * (above[0] - here[0]), here[1] + 0.42)
        axes.text(*middle, label, ha="center", va="center", fontsize=6, zorder=2, parse_math=False,
                  bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"})  # fmt: skip
    counts = tree.counts[node]
    if shown.ends[node]:
        text, style = f"{shown.label(node)}\n{counts.max():,} of {counts.sum():,}", "round,pad=0.3"
    else:
        text, style = f"{shown.name(node)}\n{counts.sum():,}", "square,pad=0.3"
    shade = str(1 - 0.25 * counts.max() / counts.sum())
    lines = [shorten(line, WIDTH, placeholder="...") for line in text.splitlines()]
    axes.text(*here, "\n".join(lines), ha="center", va="center", fontsize=6.5, zorder=3, parse_math=False,
              bbox={"boxstyle": style, "facecolor": shade, "edgecolor": "0.4", "linewidth": 0.6})  # fmt: skip


class _Shown:
    """What of a tree is shown, and in which words."""

    def __init__(self, classifier: DecisionTreeClassifier, max_depth: int | None, max_values: int) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(classifier)
        self.classifier = classifier
        self.tree: Tree = classifier.tree_
        self.max_values = max_values
        deepest = np.inf if max_depth is None else max_depth
        self.ends: Bools = self.tree.leaves | (self.tree.depth >= deepest)

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
        return name if isinstance(name, str) else f"x[{name}]"

    def condition(self, node: int, branch: int, with_name: bool = True) -> str:
        """What holds for the examples of a branch."""
        name = f"{self.name(node)} " if with_name else ""
        categories = self.classifier.encoding_.categories[int(self.tree.feature[node])]
        if categories is None:
            return f"{name}{('<=', '>')[branch]} {self.tree.threshold[node]:.6g}"
        low, high = np.searchsorted(self.tree.value_node, [node, node + 1])
        mine = self.tree.value[low:high][self.tree.value_branch[low:high] == branch].astype(np.int64)
        if len(mine) > self.max_values:
            return f"{name}in {len(mine)} values"
        return f"{name}in {{{', '.join(str(categories[code]) for code in mine)}}}"

    def label(self, node: int) -> str:
        """The class of a node."""
        return str(self.classifier.classes_[self.tree.counts[node].argmax()])

    def verdict(self, node: int) -> str:
        """The class of a node, and how many of its examples have it; an ellipsis if it goes on."""
        counts = self.tree.counts[node]
        return f"class: {self.label(node)} ({counts.max()} of {counts.sum()}){'' if self.tree.leaves[node] else ' ...'}"
