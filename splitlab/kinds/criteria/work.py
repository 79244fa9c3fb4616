"""Growing the trees of a repetition: its folds, and the numbers that are kept of every tree.

A block holds one repetition of one data set: for each criterion the NUMBERS of every fold. Its folds come from a
generator that is seeded for the repetition, so they depend on nothing else. The trees of all folds are grown together.
"""

from __future__ import annotations

import numpy as np

from splitlab._jit import Floats, Ints
from splitlab.engine.blocks import BlockData, Column, Task
from splitlab.kinds.criteria.config import GROUPED, CriteriaExperiment
from splitlab.kinds.criteria.sets import StudyCell
from splitlab.kinds.data_sets.catalogue import Data
from splitlab.trees.criteria import get
from splitlab.trees.grouping import Grouping
from splitlab.trees.growing import Examples, Growth, grow, side_by_side
from splitlab.trees.statistics import roc_auc
from splitlab.trees.tree import Tree

# Of a fold: test examples classified right, and that many in all; area under the ROC curve, NaN where all test
# examples are of one class; mean over classes of the share that is classified right; nodes, leaves and depth.
NUMBERS = ("correct", "tested", "auc", "recall", "nodes", "leaves", "depth")

Folds = list[tuple[Ints, Ints]]


def folds_of(y: Ints, k: int, experiment: CriteriaExperiment, repetition: int) -> Folds:
    """Training and test examples of every fold of a repetition."""
    rng = np.random.RandomState(experiment.seed + repetition)
    draw = holdouts if experiment.fold_scheme == "holdout" else partition
    tests = draw(y, k, experiment.folds, rng)
    return [(np.setdiff1d(np.arange(len(y)), test), test) for test in tests]


def holdouts(y: Ints, k: int, n: int, rng: np.random.RandomState) -> list[Ints]:
    """The test examples of n independent draws: of each class, one after the other, one in n, rounded up.

    >>> [len(test) for test in holdouts(np.array([0] * 21 + [1] * 5), 2, 10, np.random.RandomState(0))[:2]]
    [4, 4]
    """
    rows = [np.flatnonzero(y == c) for c in range(k)]
    return [np.concatenate([rng.permutation(of)[: -(-len(of) // n)] for of in rows]) for _ in range(n)]


def partition(y: Ints, k: int, n: int, rng: np.random.RandomState) -> list[Ints]:
    """The test examples of n folds: all examples, shuffled within their classes, are dealt out in turn.

    >>> [len(test) for test in partition(np.array([0] * 21 + [1] * 5), 2, 10, np.random.RandomState(0))]
    [3, 3, 3, 3, 3, 3, 2, 2, 2, 2]
    """
    shuffled = np.concatenate([rng.permutation(np.flatnonzero(y == c)) for c in range(k)])
    return [shuffled[fold::n] for fold in range(n)]


def compute(task: Task) -> BlockData:
    """The numbers of every fold, for each criterion: (folds * NUMBERS,)."""
    cell: StudyCell = task.block.group
    assert cell.data is not None and cell.experiment is not None
    folds = folds_of(cell.data.y, cell.data.k, cell.experiment, task.block.number)
    nothing = np.zeros(task.block.size)
    columns = {
        column: numbers_of(cell.data, cell.experiment, column, folds, task.block.number).ravel()
        for column in task.columns
    }
    return BlockData(nothing, nothing, columns)


def growth_of(experiment: CriteriaExperiment, column: Column, repetition: int) -> Growth:
    """How trees are grown with a criterion."""
    criterion = get(column[0])
    rng = np.random.RandomState([experiment.seed + repetition, 1]) if experiment.ties == "random" else None
    depth = np.inf if experiment.max_depth is None else experiment.max_depth
    return Growth(
        criterion,
        Grouping(criterion, experiment.splitter),
        max_depth=depth,
        min_samples_leaf=experiment.min_samples_leaf,
        rng=rng,
    )


def grown(data: Data, experiment: CriteriaExperiment, column: Column, folds: Folds, repetition: int) -> Tree:
    """The trees of some folds of a repetition; ``rule: below`` shifts thresholds down by the least step there is."""
    rows, tree = side_by_side([train for train, _ in folds])
    nominal = data.nominal if column[1] == GROUPED else np.zeros_like(data.nominal)
    examples = Examples(np.asfortranarray(data.x[rows]), nominal, data.y[rows], data.k, tree)
    trees = grow(examples, growth_of(experiment, column, repetition))
    if experiment.rule == "below":
        trees.threshold[:] = np.nextafter(trees.threshold, -np.inf)
    return trees


def numbers_of(data: Data, experiment: CriteriaExperiment, column: Column, folds: Folds, repetition: int) -> Floats:
    """The NUMBERS of every fold: float64 (folds, NUMBERS)."""
    trees = grown(data, experiment, column, folds, repetition)
    rows, tree = side_by_side([test for _, test in folds])
    ends = trees.apply(data.x[rows], root=tree)
    right, shares = trees.majority[ends] == data.y[rows], trees.counts[ends] / trees.counts[ends].sum(1, keepdims=True)
    leaves = np.bincount(trees.root[trees.leaves], minlength=len(folds))
    numbers = np.empty((len(folds), len(NUMBERS)))
    for fold, (nodes, depth) in enumerate(zip(trees.node_counts, trees.depths, strict=True)):
        here = tree == fold
        y, of = data.y[rows[here]], right[here]
        tested = np.bincount(y, minlength=data.k)
        recall = np.bincount(y, of, minlength=data.k)[tested > 0] / tested[tested > 0]
        auc = roc_auc(y, shares[here], np.arange(data.k)) if (tested > 0).sum() > 1 else np.nan
        numbers[fold] = of.sum(), len(y), auc, recall.mean(), nodes, leaves[fold], depth
    return numbers
