"""Why a tree of the study is as it is: the first node where it parts from the tree that takes near equals for equal.

The published program compares floats, and where two splits are equally good the last bit, or the order of a set,
decides. This package's own rules take such splits for equal, and the first attribute, threshold or prefix wins.
Both trees are grown on the same fold; at the first node where they differ both splits are shown, with what the
program made of every attribute.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path

import numpy as np

from splitlab._jit import Floats, Ints
from splitlab.engine.blocks import Column
from splitlab.engine.config import Experiment
from splitlab.kinds.data_sets.catalogue import Data
from splitlab.kinds.data_sets.loaded import Loaded
from splitlab.kinds.trees.config import TreesExperiment
from splitlab.kinds.trees.work import growth_of, loaded
from splitlab.published.program.folds import folds
from splitlab.text import counted
from splitlab.trees.growing import Examples, grow
from splitlab.trees.tree import Tree


def replay_tree(experiment: Experiment, folder: Path, dataset: str, column: Column, trial: int, fold: int) -> str:
    """The comparison as text; ValueError where the experiment that ``folder`` holds has no such tree."""
    if not isinstance(experiment, TreesExperiment):
        raise ValueError(f"{folder}: is of kind {experiment.kind} and has no trees; name a folder of kind trees")
    for what, given, known in (
        ("data set", dataset, experiment.datasets),
        ("impurity", column[0], experiment.impurities),
        ("splitter", column[1], experiment.splitters),
        ("trial", trial, range(1, experiment.trials + 1)),
        ("fold", fold, range(1, experiment.folds + 1)),
    ):
        if given not in known:
            raise ValueError(f"{what}: {given!r} is not in this experiment; it has {', '.join(map(str, known))}")
    return compared(loaded(experiment, dataset), experiment, column, trial, fold)


def compared(one: Loaded, experiment: TreesExperiment, column: Column, trial: int, fold: int) -> str:
    """The two trees of a fold, and the first node at which they part."""
    data = one.data
    train, test = folds(data.y, data.k, experiment.seeds[trial - 1], experiment.folds)[fold - 1]
    examples = Examples(np.asfortranarray(data.x[train]), data.nominal, data.y[train], data.k)
    trees = {}
    for arithmetic in ("published", "tolerant"):
        how = growth_of(experiment.changed(arithmetic=arithmetic), column)
        trees[arithmetic] = grow(examples, how)
    lines = [f"{one.cell.name}, {column[0]}, {column[1]}, trial {trial}, fold {fold}"]
    for arithmetic, tree in trees.items():
        pruned = tree.pruned()
        right = int((pruned.majority[pruned.apply(data.x[test], True)] == data.y[test]).sum())
        lines.append(f"{arithmetic}: {counted(pruned.node_count, 'node')} after pruning, {right} of {len(test)} right")
    parting = first_parting(trees["published"], trees["tolerant"])
    if parting is None:
        return "\n".join([*lines, "the trees are the same"])
    path, a, b = parting
    counts = trees["published"].counts[a]
    lines.append(f"they part at depth {len(path)}: {', '.join(_told(*step, data) for step in path) or 'the root'}")
    lines.append(f"class counts there: {counts.tolist()}")
    for (arithmetic, tree), node in zip(trees.items(), (a, b), strict=True):
        lines.append(f"{arithmetic}: {described(tree, node, data)}")
    lines.append(_difference(trees["published"], a, trees["tolerant"], b))
    return "\n".join(lines)


def branch_of(tree: Tree, node: int) -> tuple[Floats, Ints]:
    """The values present at a nominal split, and their branches."""
    here = tree.value_node == node
    return tree.value[here], tree.value_branch[here]


def split_key(tree: Tree, node: int) -> tuple[object, ...]:
    """What a split is, whichever side is called left; () for a leaf."""
    feature = int(tree.feature[node])
    if feature < 0:
        return ()
    if not np.isnan(tree.threshold[node]):
        return feature, float(tree.threshold[node])
    values, branches = branch_of(tree, node)
    return feature, *(int(v) for v in values[branches == branches[0]])


def first_parting(first: Tree, second: Tree) -> tuple[list[tuple[Tree, int, int]], int, int] | None:
    """The way to the first pair of nodes, level by level, whose splits differ, and the two; None if there is none."""
    queue: deque[tuple[list[tuple[Tree, int, int]], int, int]] = deque([([], 0, 0)])
    while queue:
        path, a, b = queue.popleft()
        if split_key(first, a) != split_key(second, b):
            return path, a, b
        if first.feature[a] < 0:
            continue
        swapped = np.isnan(first.threshold[a]) and branch_of(first, a)[1][0] != branch_of(second, b)[1][0]
        for side in range(2):
            other = 1 - side if swapped else side
            queue.append(
                ([*path, (first, a, side)], int(first.first_child[a]) + side, int(second.first_child[b]) + other)
            )
    return None


def _told(tree: Tree, node: int, side: int, data: Data) -> str:
    """One step of the way."""
    feature = int(tree.feature[node])
    if not np.isnan(tree.threshold[node]):
        return f"{data.names[feature]} {'<=' if side == 0 else '>'} {tree.threshold[node]:g}"
    values, branches = branch_of(tree, node)
    listed = ", ".join(data.values[feature][int(v)] for v in values[branches == side])
    return f"{data.names[feature]} in {{{listed}}}"


def described(tree: Tree, node: int, data: Data) -> str:
    """The split of a node, with the class counts of its sides and its weighted impurity."""
    if tree.feature[node] < 0:
        return "a leaf"
    child = int(tree.first_child[node])
    sides = " | ".join(str(tree.counts[child + side].tolist()) for side in range(2))
    return f"{_told(tree, node, 0, data)}: {sides}"


def _difference(first: Tree, a: int, second: Tree, b: int) -> str:
    """Whether a tie is behind it."""
    gains = [float(second.improvement[b]), float(first.improvement[a])]
    if np.isnan(gains).any():
        return "only one of them splits there"
    away = abs(gains[0] - gains[1])
    tie, other = "a tie: the last bit or the order of a set decides", "no tie of gains: values are ordered otherwise"
    kind = tie if away < 1e-9 else other
    return f"gains {gains[1]:.15g} (published) and {gains[0]:.15g} (tolerant): {kind}"
