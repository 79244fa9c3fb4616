"""Comparing classifiers over data sets, and two classifiers on one.

Over N data sets with k methods: average ranks (1 is best, ties share), Friedman's chi-square as Demsar gives it, Iman
and Davenport's F, and Nemenyi's critical difference of average ranks,

    chi2 = 12 N / (k (k + 1)) (sum R_j^2 - k (k + 1)^2 / 4),   k - 1 degrees of freedom
    F = (N - 1) chi2 / (N (k - 1) - chi2),                     k - 1 and (k - 1)(N - 1)
    CD = q_alpha sqrt(k (k + 1) / (6 N)),                      q_alpha = studentized range quantile / sqrt 2

On one data set, over J differences of accuracy from repeated cross-validation: the paired t-test, which takes them as
independent though training sets overlap, and Nadeau and Bengio's, which enlarges the variance for that.

Sources: Demsar, Statistical comparisons of classifiers over multiple data sets (JMLR 2006); Nadeau, Bengio, Inference
for the generalization error (Machine Learning 2003).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from splitlab._jit import Floats
from splitlab.trees.parameters import BELOW_HALF, FLAG, NOT_NEGATIVE, PROBABILITY, check, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# Parts of a critical difference diagram, in inches: how wide the scale can be, a row of names, a level of bars.
SCALE, ROW, BAR = (2.4, 6.0), 0.19, 0.1
PAD, GAP, ELBOW, HEAD = 0.1, 0.06, 0.2, 0.75
NUMBER = 0.24  # the least distance between numbers of the scale
FONT = 8


@dataclass(frozen=True, eq=False)
class Comparison:
    """k methods on n data sets.

    Attributes
    ----------
    names : list of str
    n : int
        Data sets.
    average_ranks : float64 (k,)
        1 is best.
    chi_square, chi_square_p : float
        Friedman's statistic by Demsar's formula, which does not correct for ties, and its p-value.
    f, f_p, critical_f : float
        Iman and Davenport's statistic, its p-value, and what it has to exceed at level ``alpha``.
    critical_difference : float
        Methods whose average ranks differ by more are different at level ``alpha`` (Nemenyi).
    alpha : float
    """

    names: list[str]
    n: int
    average_ranks: Floats
    chi_square: float
    chi_square_p: float
    f: float
    f_p: float
    critical_f: float
    critical_difference: float
    alpha: float

    def groups(self) -> list[list[str]]:
        """Largest groups of methods, best first, of which no two are different."""
        order = np.argsort(self.average_ranks, kind="stable")
        ranks = self.average_ranks[order]
        ends = np.searchsorted(ranks, ranks + self.critical_difference, side="right")
        starts = [i for i in range(len(ranks)) if i == 0 or ends[i] > ends[i - 1]]
        return [[self.names[j] for j in order[i : ends[i]]] for i in starts]


class TTest(NamedTuple):
    """A one-tailed test that the first method is better: small p-values say so, large ones say worse."""

    statistic: float
    p_value: float
    degrees: int


class WinTieLoss(NamedTuple):
    """On how many data sets the first method is better, equal, worse."""

    wins: int
    ties: int
    losses: int


def average_ranks(scores: ArrayLike, higher_is_better: bool = True) -> Floats:
    """The mean rank of each method over data sets; 1 is best, equal scores share their ranks.

    Parameters
    ----------
    scores : array_like, shape (n, k)
        One row per data set, one column per method.
    higher_is_better : bool
        False for errors and times.

    Returns
    -------
    float64 (k,)

    Raises
    ------
    ValueError
        There are fewer than 2 data sets or methods, or a score is NaN.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.7], [0.5, 0.6, 0.6]]).tolist()
    [2.0, 1.75, 2.25]
    """
    check("average_ranks", higher_is_better=(higher_is_better, FLAG))
    values = _table(scores)
    return stats.rankdata(-values if higher_is_better else values, axis=1).mean(axis=0)


def _table(scores: ArrayLike) -> Floats:
    """Scores as float64 (n, k); ValueError where they are too few or NaN."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] < 2 or values.shape[1] < 2:
        raise ValueError(f"scores: need at least 2 data sets (rows) and 2 methods (columns); got shape {values.shape}")
    if np.isnan(values).any():
        row, column = np.argwhere(np.isnan(values))[0]
        raise ValueError(f"scores: row {row}, column {column} is NaN")
    return values


def friedman(ranks: ArrayLike, n: int) -> tuple[float, float]:
    """Friedman's chi-square and its p-value from average ranks over data sets.

    Parameters
    ----------
    ranks : array_like, shape (k,)
        From 1 to k; they add up to k (k + 1) / 2 within 0.01 each.
    n : int
        The number of data sets.

    Raises
    ------
    ValueError
        The ranks are no such ranks, or k or n is below 2.

    Notes
    -----
    It is computed as 12 N / (k (k + 1)) sum (R_j - (k + 1) / 2)^2, which is equal to the formula above but does not
    enlarge the rounding of published ranks.

    Examples
    --------
    >>> published = [4.70, 5.55, 5.875, 5.15, 4.55, 4.925, 2.80, 2.45]
    >>> round(friedman(published, 20)[0], 2)
    35.77
    """
    values = np.asarray(ranks, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"ranks: need one average rank for each method; got shape {values.shape}")
    k = len(values)
    _check("friedman", k, n)
    if not abs(values.sum() - k * (k + 1) / 2) <= 0.01 * k:
        raise ValueError(f"ranks: {k} average ranks must add up to {k * (k + 1) / 2:g}; got {values.sum():g}")
    if not ((values >= 1) & (values <= k)).all():
        raise ValueError(f"ranks: each must be from 1 to {k}; got {values[(values < 1) | (values > k)][0]:g}")
    chi_square = 12 * n / (k * (k + 1)) * float(((values - (k + 1) / 2) ** 2).sum())
    return chi_square, float(stats.chi2.sf(chi_square, k - 1))


def _check(function: str, k: int, n: int, alpha: float = 0.05) -> None:
    """ValueError unless there are at least 2 methods and data sets, and ``alpha`` is above 0 and below 1."""
    check(function, k=(k, whole(2)), n=(n, whole(2)), alpha=(alpha, PROBABILITY))


def iman_davenport(chi_square: float, k: int, n: int) -> tuple[float, float]:
    """Iman and Davenport's F and its p-value from Friedman's chi-square of k methods on n data sets.

    Raises
    ------
    ValueError
        k or n is below 2, or the chi-square is not from 0 to n (k - 1).

    Examples
    --------
    >>> round(iman_davenport(35.7708, 8, 20)[0], 2)
    6.52
    """
    _check("iman_davenport", k, n)
    check("iman_davenport", chi_square=(chi_square, NOT_NEGATIVE))
    if not chi_square <= n * (k - 1) * (1 + 1e-9):
        raise ValueError(f"chi_square: must be from 0 to n (k - 1) = {n * (k - 1)}; got {chi_square}")
    rest = n * (k - 1) - chi_square
    f = (n - 1) * chi_square / rest if rest > 1e-9 * n * k else inf  # all data sets rank the methods alike
    return f, float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))


def critical_f(k: int, n: int, alpha: float = 0.05) -> float:
    """What Iman and Davenport's F has to exceed at level ``alpha``, for k methods on n data sets.

    Raises
    ------
    ValueError
        k or n is below 2, or ``alpha`` is not between 0 and 1.

    Examples
    --------
    >>> round(critical_f(8, 20), 3)
    2.079
    """
    _check("critical_f", k, n, alpha)
    return float(stats.f.isf(alpha, k - 1, (k - 1) * (n - 1)))


def critical_difference(k: int, n: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of the average ranks of k methods on n data sets, at level ``alpha``.

    Raises
    ------
    ValueError
        k or n is below 2, or ``alpha`` is not between 0 and 1.

    Examples
    --------
    >>> round(critical_difference(8, 20), 3)
    2.348
    """
    _check("critical_difference", k, n, alpha)
    quantile = float(stats.studentized_range.isf(alpha, k, inf)) / sqrt(2)
    return quantile * sqrt(k * (k + 1) / (6 * n))


def compare(
    scores: ArrayLike, names: Sequence[str] | None = None, *, higher_is_better: bool = True, alpha: float = 0.05
) -> Comparison:
    """Rank methods over data sets and test whether they differ.

    Parameters
    ----------
    scores : array_like, shape (n, k)
        One row per data set, one column per method; a DataFrame's columns name the methods.
    names : sequence of str, optional
        Names of the methods.
    higher_is_better : bool
        False for errors and times.
    alpha : float
        Level of the tests.

    Raises
    ------
    ValueError
        There are fewer than 2 data sets or methods, a score is NaN, or the names are too few or not different.

    Examples
    --------
    >>> result = compare([[0.9, 0.8, 0.6], [0.7, 0.6, 0.5], [0.8, 0.7, 0.6], [0.9, 0.6, 0.5]], ["x", "y", "z"])
    >>> result.groups(), round(result.chi_square, 3)
    ([['x', 'y'], ['y', 'z']], 8.0)
    """
    given = names if names is not None else getattr(scores, "columns", None)
    values = _table(scores)
    n, k = values.shape
    titles = [str(name) for name in (given if given is not None else range(k))]
    if len(titles) != k:
        raise ValueError(f"names: {k} methods need as many names; got {len(titles)}")
    if len(set(titles)) < k:
        raise ValueError(f"names: {next(t for t in titles if titles.count(t) > 1)!r} names several methods")
    ranks = average_ranks(values, higher_is_better)
    chi_square, chi_square_p = friedman(ranks, n)
    f, f_p = iman_davenport(chi_square, k, n)
    difference = critical_difference(k, n, alpha)
    return Comparison(titles, n, ranks, chi_square, chi_square_p, f, f_p, critical_f(k, n, alpha), difference, alpha)


def paired_t_test(first: ArrayLike, second: ArrayLike) -> TTest:
    """Paired t-test that ``first`` is larger, over results (J,) of two methods in J repetitions on the same examples.

    Raises
    ------
    ValueError
        The results do not come in pairs, are fewer than 2, or not finite.

    Examples
    --------
    >>> [round(float(x), 4) for x in paired_t_test([0.81, 0.80, 0.84], [0.80, 0.80, 0.81])]
    [1.5119, 0.1349, 2.0]
    """
    return _t_test(first, second, 0.0)


def corrected_t_test(first: ArrayLike, second: ArrayLike, folds: int) -> TTest:
    """Nadeau and Bengio's t-test that ``first`` is larger, over results (J,) of all folds of repeated cross-validation.

    The variance of the mean is that of the differences times 1/J + n_test/n_train = 1/J + 1/(folds - 1).

    Raises
    ------
    ValueError
        The results do not come in pairs, are fewer than 2, or not finite; or there are fewer than 2 folds.

    Examples
    --------
    >>> [round(float(x), 4) for x in corrected_t_test([0.81, 0.80, 0.84], [0.80, 0.80, 0.81], folds=3)]
    [0.9562, 0.2199, 2.0]
    """
    check("corrected_t_test", folds=(folds, whole(2)))
    return _t_test(first, second, 1 / (folds - 1))


def _t_test(first: ArrayLike, second: ArrayLike, overlap: float) -> TTest:
    """One-sided t-test of J paired differences; the variance of their mean is theirs times 1/J + ``overlap``."""
    a, b = _pair(first, second)
    difference = a - b
    if len(difference) < 2:
        raise ValueError("a t-test needs at least 2 results of each method")
    largest = float(np.abs(difference).max())
    if largest > 0:
        difference = difference / largest  # so that the threshold below is a relative one
    mean, degrees = float(difference.mean()), len(difference) - 1
    error = float(difference.std(ddof=1)) * sqrt(1 / len(difference) + overlap)
    beyond_doubt = copysign(inf, mean) if mean else 0.0
    statistic = mean / error if error > 1e-15 else beyond_doubt  # without variation they are equal or surely different
    return TTest(statistic, float(stats.t.sf(statistic, degrees)), degrees)


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """The results of two methods as float64 (J,) each; ValueError where they do not come in pairs or are not finite."""
    a, b = (np.asarray(x, dtype=np.float64) for x in (first, second))
    if a.shape != b.shape:
        raise ValueError(f"the two methods need equally many results, in pairs; got shapes {a.shape} and {b.shape}")
    if not np.isfinite([a, b]).all():
        raise ValueError("a result is NaN or infinite; leave it out of both methods")
    return a.ravel(), b.ravel()


def win_tie_loss(first: ArrayLike, second: ArrayLike, margin: float = 0.0) -> WinTieLoss:
    """On how many data sets ``first`` is larger than ``second``, within ``margin`` of it, and smaller.

    Raises
    ------
    ValueError
        The results (n,) do not come in pairs or are not finite; or ``margin`` is negative.

    Examples
    --------
    >>> win_tie_loss([0.9, 0.8, 0.7], [0.8, 0.8, 0.8])
    WinTieLoss(wins=1, ties=1, losses=1)
    """
    check("win_tie_loss", margin=(margin, NOT_NEGATIVE))
    a, b = _pair(first, second)
    wins, losses = int((a - b > margin).sum()), int((b - a > margin).sum())
    return WinTieLoss(wins, len(a) - wins - losses, losses)


def significant_win_tie_loss(p_values: ArrayLike, alpha: float = 0.05) -> WinTieLoss:
    """On how many data sets one-tailed tests say better (p <= alpha), neither, and worse (p >= 1 - alpha).

    Raises
    ------
    ValueError
        A p-value is not from 0 to 1, or ``alpha`` is not between 0 and 1/2.

    Examples
    --------
    >>> significant_win_tie_loss([0.01, 0.5, 0.97, 0.95])
    WinTieLoss(wins=1, ties=1, losses=2)
    """
    check("significant_win_tie_loss", alpha=(alpha, BELOW_HALF))
    p: NDArray[np.float64] = np.asarray(p_values, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p_values: must be from 0 to 1")
    wins, losses = int((p <= alpha).sum()), int((p >= 1 - alpha).sum())
    return WinTieLoss(wins, len(p) - wins - losses, losses)


def roc_auc(y: ArrayLike, shares: ArrayLike, classes: ArrayLike | None = None) -> float:
    """The area under the ROC curve; of more than two classes Hand and Till's mean over all pairs of classes.

    Of two classes it is the probability that an example of the second one has a larger share of it than an example of
    the first one; equal shares count half. Of more, each pair of classes has the mean of two such areas, by the shares
    of either class among the examples of both; and the result is the mean over the pairs whose classes occur in ``y``.

    Parameters
    ----------
    y : array_like, shape (n,)
        The classes of the examples.
    shares : array_like, shape (n, k) or (n,)
        The share, or probability, of every class, as `DecisionTreeClassifier.predict_proba` gives them; or of two
        classes those of the second one.
    classes : array_like, shape (k,), optional
        The classes that the columns stand for; by default those in ``y``, sorted.

    Raises
    ------
    ValueError
        Shapes do not fit, a share is NaN, a class of ``y`` is not among ``classes``, or fewer than two classes occur.

    References
    ----------
    Hand, Till, A simple generalisation of the area under the ROC curve for multiple class classification problems
    (Machine Learning 2001).

    Examples
    --------
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    >>> from splitlab.trees import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(max_depth=1).fit([[1], [2], [8], [9]], list("aabb"))
    >>> roc_auc(list("ab"), tree.predict_proba([[0], [7]]), tree.classes_)
    1.0
    """
    labels, given = np.asarray(y), np.asarray(shares, dtype=np.float64)
    known = np.unique(labels) if classes is None else np.asarray(classes)
    if given.ndim == 1:
        given = np.column_stack([-given, given])
    if labels.ndim != 1 or given.shape != (len(labels), len(known)):
        raise ValueError(f"shares: need a row for each of {labels.size} examples and a column for each of {len(known)} "
                         f"classes; got shape {np.shape(shares)}")  # fmt: skip
    if np.isnan(given).any():
        raise ValueError(f"shares: row {np.argwhere(np.isnan(given))[0][0]} has a NaN")
    is_of = labels[:, None] == known
    if not is_of.any(1).all():
        raise ValueError(f"y: {labels[~is_of.any(1)][0]!r} is not among the classes")
    present = np.flatnonzero(is_of.any(0))
    if len(present) < 2:
        raise ValueError("y: fewer than two classes occur, so that there is nothing to tell apart")
    if len(known) == 2:
        return float(_areas(given[:, 1], is_of)[1, 0])
    areas = np.array([_areas(given[:, c], is_of[:, present])[j] for j, c in enumerate(present)])
    return float(areas[~np.eye(len(present), dtype=np.bool_)].mean())


def _areas(share: Floats, is_of: NDArray[np.bool_]) -> Floats:
    """How probable it is that an example of class i has a larger share (n,) than one of class j: float64 (m, m).

    ``is_of`` bool (n, m) says which class each example has. Equal shares count half.
    """
    level = np.unique(share, return_inverse=True)[1]
    counts = np.zeros((int(level.max()) + 1, is_of.shape[1]))
    np.add.at(counts, level, is_of)
    below = np.cumsum(counts, 0) - counts / 2  # half of the equal ones
    size = counts.sum(0)
    return counts.T @ below / np.outer(size, size)


def cd_diagram(result: Comparison) -> Figure:
    """Demsar's critical difference diagram: average ranks, and bars over methods that are not different.

    The figure is as large as names and ranks need.

    Examples
    --------
    >>> figure = cd_diagram(compare([[0.9, 0.8], [0.7, 0.6], [0.8, 0.7]], ["x", "y"]))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['x  1.00', '2.00  y', '1', '2', 'CD = 1.13']
    """
    from splitlab.trees.figure import ShownFigure

    k, order = len(result.names), np.argsort(result.average_ranks, kind="stable")
    rows, width = (k + 1) // 2, min(max(SCALE[0], 1.01 * NUMBER * (k - 1)), SCALE[1])
    figure = ShownFigure()
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    # Everything is placed in inches: first the labels, since the room on both sides of the scale follows from them.
    labels = [_label(axes, result, int(j), place < rows) for place, j in enumerate(order)]
    wide = [max(map(_inches, side)) for side in (labels[:rows], labels[rows:])]
    left, right = PAD + wide[0] + GAP, PAD + wide[0] + GAP + width + 2 * ELBOW
    x = left + ELBOW + (result.average_ranks - 1) * width / (k - 1)
    bars = _packed([(x[i], x[j]) for i, j in _spans(result)])
    depth = BAR * (len(bars) + 1)
    bottom = PAD + ROW * rows + depth
    for level, spans in enumerate(bars, 1):
        y = bottom - BAR * level
        for low, high in spans:
            axes.plot([low - 0.04, high + 0.04], [y, y], color="0.3", linewidth=2.5, solid_capstyle="butt")
    for place, (j, text) in enumerate(zip(order, labels, strict=True)):
        here, edge, gap = (place, left, -GAP) if place < rows else (k - 1 - place, right, GAP)
        y = bottom - depth - ROW * (here + 0.5)
        axes.plot([x[j], x[j], edge], [bottom, y, y], color="0.5", linewidth=0.7)
        text.set_position((edge + gap, y))
    most = _scale(axes, k, result.critical_difference, (left + ELBOW, bottom, width))
    size = (max(right + GAP + wide[1], most) + PAD, bottom + HEAD)
    figure.set_size_inches(size)
    axes.set(xlim=(0, size[0]), ylim=(0, size[1]))
    return figure


def _label(axes: Axes, result: Comparison, method: int, left: bool) -> Text:
    """Name and average rank of a method, to be put in place."""
    name, rank = " ".join(result.names[method].split()), f"{result.average_ranks[method]:.2f}"
    words, side = (f"{name}  {rank}", "right") if left else (f"{rank}  {name}", "left")
    return axes.text(0, 0, words, ha=side, va="center", fontsize=FONT, parse_math=False)


def _inches(text: Text) -> float:
    """The width of a text at any resolution: hinted letters are a little wider at some."""
    return 1.02 * max(text.get_window_extent(dpi=dpi).width / dpi for dpi in (72, 80, 100, 150, 300))


def _spans(result: Comparison) -> list[tuple[int, int]]:
    """The first and the last method of each group of several that are not different."""
    place = {name: j for j, name in enumerate(result.names)}
    return [(place[group[0]], place[group[-1]]) for group in result.groups() if len(group) > 1]


def _packed(spans: list[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """Bars, ordered by where they begin, on as few levels as keep them apart."""
    levels: list[list[tuple[float, float]]] = []
    for span in spans:
        free = next((level for level in levels if level[-1][1] + 0.15 < span[0]), None)
        if free is None:
            levels.append([span])
        else:
            free.append(span)
    return levels


def _scale(axes: Axes, k: int, difference: float, place: tuple[float, float, float]) -> float:
    """Draw the line of the ranks 1 to k, and above it the length of the critical difference; where that ends."""
    left, y, width = place
    unit = width / (k - 1)
    axes.plot([left, left + width], [y, y], color="black", linewidth=0.8)
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, k) if step * unit >= NUMBER)
    inner = [rank for rank in range(2, k) if rank % step == 0 and min(rank - 1, k - rank) * unit >= NUMBER]
    for rank in range(1, k + 1):
        tick, x = 0.07 if rank in (1, *inner, k) else 0.04, left + (rank - 1) * unit
        axes.plot([x, x], [y, y + tick], color="black", linewidth=0.8)
        if rank in (1, *inner, k):
            axes.text(x, y + 0.1, str(rank), ha="center", va="bottom", fontsize=FONT)
    end = left + difference * unit
    axes.plot([left, end], [y + 0.42, y + 0.42], color="black", linewidth=1.2, marker="|")
    text = axes.text((left + end) / 2, y + 0.48, f"CD = {difference:.2f}", ha="center", va="bottom", fontsize=FONT)
    return max(end, (left + end) / 2 + _inches(text) / 2)
