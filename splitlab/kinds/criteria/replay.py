"""One tree of a study of criteria again: its splits, and how it does on its test examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from splitlab.kinds.criteria.config import CriteriaExperiment
from splitlab.kinds.criteria.sets import load_sets
from splitlab.kinds.criteria.work import NUMBERS, folds_of, grown, numbers_of
from splitlab.kinds.data_sets.catalogue import Data
from splitlab.trees.tree import Tree

LEVELS = 4  # of splits that are shown


def replay_tree(
    experiment: CriteriaExperiment, folder: Path, dataset: str, criterion: str, repetition: int, fold: int
) -> str:
    """The tree as text; ValueError where the experiment that ``folder`` holds has no such tree."""
    for what, given, known in (
        ("data set", dataset, experiment.datasets),
        ("criterion", criterion, experiment.criteria),
        ("repetition", repetition, range(1, experiment.repetitions + 1)),
        ("fold", fold, range(1, experiment.folds + 1)),
    ):
        if given not in known:
            shown = f"1 to {len(known)}" if isinstance(known, range) else ", ".join(known)
            raise ValueError(f"{folder}: {what} {given!r} is not in this experiment; it has {shown}")
    group = experiment.group_of(dataset).model_copy(update={"datasets": (dataset,)})
    experiment = experiment.changed(groups=(group,))
    data, column = load_sets(experiment)[0][0].data, (criterion, experiment.nominal[0])
    folds = folds_of(data.y, data.k, experiment, repetition - 1)
    numbers = dict(zip(NUMBERS, numbers_of(data, experiment, column, folds, repetition - 1)[fold - 1], strict=True))
    tree = grown(data, experiment, column, folds, repetition - 1)
    lines = [
        f"{dataset}, {criterion}, repetition {repetition}, fold {fold}",
        f"{numbers['nodes']:.0f} nodes, {numbers['leaves']:.0f} leaves, depth {numbers['depth']:.0f}; "
        f"{numbers['correct']:.0f} of {numbers['tested']:.0f} test examples right, area under the ROC curve "
        f"{numbers['auc']:.4f}, mean recall {numbers['recall']:.4f}",
        f"class counts are those of {', '.join(data.classes)}; {LEVELS} levels of splits:",
        *_told(tree, fold - 1, data, experiment.rule == "below"),
    ]
    return "\n".join(lines)


def _told(tree: Tree, node: int, data: Data, below: bool, level: int = 0, what: str = "all") -> Iterator[str]:
    """A line for a node, and those below it."""
    leaf = tree.feature[node] < 0
    yield f"{'  ' * level}{what}: {tree.counts[node].tolist()}{' leaf' if leaf else ''}"
    if leaf or level == LEVELS:
        return
    for branch in range(int(tree.n_branches[node])):
        child = int(tree.first_child[node]) + branch
        yield from _told(tree, child, data, below, level + 1, _condition(tree, node, branch, data, below))


def _condition(tree: Tree, node: int, branch: int, data: Data, below: bool) -> str:
    """What takes an example to a branch of a node."""
    name, threshold = data.names[int(tree.feature[node])], float(tree.threshold[node])
    if not np.isnan(threshold):
        sign = ("<" if below else "<=") if branch == 0 else (">=" if below else ">")
        return f"{name} {sign} {threshold:g}"
    here = (tree.value_node == node) & (tree.value_branch == branch)
    texts = data.values[int(tree.feature[node])]
    return f"{name} in {{{', '.join(texts[int(v)] for v in tree.value[here])}}}"
