"""The tables of an experiment of kind trees: accuracy, how it compares with the authors', and tests between splitters.

A splitter is better than a rival on a data set when the one-sided paired t-test over the trials' accuracies gives
p <= 0.05, and worse when it gives p >= 0.95: the paper's rule. It takes trials on the same examples for independent.
So beside it stand the test over all folds with Nadeau and Bengio's variance, and that with Holm's adjustment for the
number of comparisons (two-sided, over all data sets and pairs of an impurity).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from splitlab._jit import Floats
from splitlab.montecarlo.store import write_atomically
from splitlab.montecarlo.trees_study import TreesResults
from splitlab.report import trees_published as published
from splitlab.splitters import get
from splitlab.trees.statistics import Comparison, cd_diagram, compare, corrected_t_test, paired_t_test

LEVEL = 0.05

Counts = dict[tuple[str, str, str], tuple[int, int]]  # (impurity, method, rival) -> data sets where better, worse


def text_of(results: TreesResults) -> str:
    """All tables as text."""
    parts = [accuracy_table(results), *authors_part(results), comparisons_part(results)]
    return "\n\n".join(part for part in parts if part)


def write_tables(results: TreesResults, folder: Path) -> None:
    """The text, a csv of all tests, and a critical difference diagram where there are data sets enough."""
    write_atomically(folder / "trees.txt", text_of(results) + "\n")
    write_atomically(folder / "tests.csv", comparisons(results).to_csv(index=False, lineterminator="\n"))
    for impurity in results.experiment.impurities:
        if ranked := ranks(results, impurity):
            (folder / "figures").mkdir(exist_ok=True)
            for ending in ("png", "svg"):
                path = folder / "figures" / f"ranks_{impurity}.{ending}"
                cd_diagram(ranked).savefig(path, dpi=150, metadata={"Date": None} if ending == "svg" else None)


def accuracy_table(results: TreesResults) -> str:
    """Mean accuracy over trials, with the authors' beside it where there are any, and the mean number of nodes."""
    mean = results.trials().groupby(["impurity", "dataset", "splitter"])[["accuracy", "nodes"]].mean()
    ours = {key: (row["accuracy"], row["nodes"]) for key, row in mean.iterrows()}
    theirs = published.means().set_index(["impurity", "title", "splitter"])["accuracy"].to_dict()
    names, splitters = published.titles(results), results.experiment.splitters
    lines = [f"Mean accuracy in percent over {results.experiment.trials} trials (the authors'); mean number of nodes"]
    for impurity in results.experiment.impurities:
        lines += ["", _row(impurity, [get(s).title for s in splitters])]
        for name, title in names.items():
            cells = []
            for splitter in splitters:
                if (impurity, name, splitter) not in ours:
                    cells.append("-")
                    continue
                accuracy, nodes = ours[impurity, name, splitter]
                printed = theirs.get((impurity, title, splitter)) if _replays(results) else None
                beside = "" if printed is None else f" ({printed:.2f})"
                cells.append(f"{accuracy:.2f}{beside} {nodes:.0f}")
            lines.append(_row(name, cells))
    return "\n".join(lines)


def _row(head: str, cells: Iterable[str]) -> str:
    return f"{head:26}" + "".join(f"{cell:>22}" for cell in cells).rstrip()


def _replays(results: TreesResults) -> bool:
    return results.experiment.arithmetic == "published"


def authors_part(results: TreesResults) -> list[str]:
    """How many trials are equal to the authors', and Table 4 three times; nothing unless it is a replay."""
    if not _replays(results):
        return []
    theirs = published.trials()
    columns = {"published": _printed("published"), "recomputed": _printed("recomputed"), "ours": _ours(results)}
    note = f"published: as printed, eleven data sets; ours: {len(results.experiment.datasets)} data sets"
    if theirs is None:
        return [
            f"The authors' single trials ({published.TRIALS}) are not with the data: no trial can be compared.",
            _counts_table(columns, results, f"{note}; recomputed: by the authors' trials, as stored with this package"),
        ]
    columns["recomputed"] = better_worse(theirs, "title")
    return [equal_trials(results, theirs), _counts_table(columns, results, f"{note}; recomputed: the authors' trials")]


def equal_trials(results: TreesResults, theirs: pd.DataFrame) -> str:
    """A line per data set, and where trials differ, how many of each splitter do."""
    both = published.beside_authors(results, theirs)
    lines = ["Trials equal to the authors' in accuracy and number of nodes"]
    for name, group in both.groupby("dataset", sort=False):
        lines.append(f"{name}: {int(group['equal'].sum())} of {len(group)} trials equal")
        differing = _groups(group[~group["equal"]], ["impurity", "splitter"])
        for (impurity, splitter), some in differing:
            away = some["accuracy"] - some["accuracy_theirs"]
            lines.append(
                f"    {impurity}, {get(splitter).title}: {len(some)} differ, trials {_listed(some['trial'])}; accuracy "
                f"by {away.abs().max():.2f} at most"
            )
    return "\n".join(lines)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _printed(which: str) -> Counts:
    frame = published.counts()
    values = zip(frame[f"{which}_better"], frame[f"{which}_worse"], strict=True)
    keys = frame[["impurity", "method", "rival"]].itertuples(index=False, name=None)
    return {key: (int(a), int(b)) for key, (a, b) in zip(keys, values, strict=True)}


def _ours(results: TreesResults) -> Counts:
    return better_worse(results.trials(), "dataset")


def better_worse(trials: pd.DataFrame, dataset: str) -> Counts:
    """By the paper's rule, from accuracies with columns impurity, splitter, trial and the one that names data sets."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for (impurity, _), group in _groups(trials, ["impurity", dataset]):
        wide = _wide(group, ["trial"])
        if len(wide) < 2:
            continue
        for method, rival in itertools.permutations(map(str, wide), 2):
            p = paired_t_test(wide[method], wide[rival]).p_value
            entry = found.setdefault((impurity, method, rival), [0, 0])
            entry[0] += p <= LEVEL
            entry[1] += p >= 1 - LEVEL
    return {key: (better, worse) for key, (better, worse) in found.items()}


def _wide(frame: pd.DataFrame, index: list[str]) -> pd.DataFrame:
    """Accuracies with a column for each splitter; means where an index has several."""
    return frame.pivot_table("accuracy", index, "splitter")


def _groups(frame: pd.DataFrame, keys: list[str]) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """The rows of every combination of keys, in the order of the frame."""
    for key, group in frame.groupby(keys, sort=False):
        yield tuple(map(str, key)), group


def _counts_table(columns: dict[str, Counts], results: TreesResults, note: str) -> str:
    lines = ["Table 4: on how many data sets a method is better / worse than a rival (one-sided paired t-test, 0.05)"]
    lines += [_row("", columns)]
    for impurity, method, rival in columns["published"]:
        if impurity in results.experiment.impurities:
            cells = [counts.get((impurity, method, rival)) for counts in columns.values()]
            head = f"{impurity:8}{get(method).title} against {get(rival).title}"
            lines.append(f"{head:48}" + "".join(f"{'-' if c is None else f'{c[0]} / {c[1]}':>14}" for c in cells))
    lines[1] = " " * 48 + "".join(f"{name:>14}" for name in columns)
    return "\n".join([*lines, note])


def comparisons(results: TreesResults) -> pd.DataFrame:
    """All pairs on all data sets: mean difference of accuracy, and the one-sided p-values that ``first`` is better.

    plain: over trials. corrected: over folds, with Nadeau and Bengio's variance. holm: two-sided, adjusted.
    """
    per_trial, per_fold = results.trials(), results.trees
    per_fold = per_fold.assign(accuracy=100.0 * per_fold["correct"] / per_fold["tested"])
    rows = []
    for impurity, name in itertools.product(results.experiment.impurities, results.experiment.datasets):
        trials, single = (
            frame[(frame["impurity"] == impurity) & (frame["dataset"] == name)] for frame in (per_trial, per_fold)
        )
        a = _wide(trials, ["trial"])
        b = _wide(single, ["trial", "fold"])
        for first, second in itertools.combinations([s for s in results.experiment.splitters if s in a], 2):
            plain = paired_t_test(a[first], a[second]).p_value if len(a) > 1 else np.nan
            corrected = corrected_t_test(b[first], b[second], results.experiment.folds).p_value
            rows.append((impurity, name, first, second, float((a[first] - a[second]).mean()), plain, corrected))
    frame = pd.DataFrame(
        rows, columns=["impurity", "dataset", "first", "second", "difference", "p_plain", "p_corrected"]
    )
    p = frame["p_corrected"].to_numpy()
    adjusted = np.empty(len(frame))
    for impurity in results.experiment.impurities:
        here = (frame["impurity"] == impurity).to_numpy()
        adjusted[here] = holm(2 * np.minimum(p[here], 1 - p[here]))
    return frame.assign(p_holm=adjusted)


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def comparisons_part(results: TreesResults) -> str:
    """For every pair of splitters on how many data sets the first is better / worse, by three tests; then ranks."""
    if len(results.experiment.splitters) < 2:
        return ""
    frame = comparisons(results)
    lines = ["On how many data sets the first is better / worse, by three tests (0.05)"]
    lines.append(" " * 48 + f"{'plain':>12}{'corrected':>12}{'Holm':>12}{'mean diff.':>12}")
    for (impurity, first, second), group in _groups(frame, ["impurity", "first", "second"]):
        plain, corrected = (
            f"{int((group[p] <= LEVEL).sum())} / {int((group[p] >= 1 - LEVEL).sum())}"
            for p in ("p_plain", "p_corrected")
        )
        sure = group[group["p_holm"] <= LEVEL]["difference"]
        head = f"{impurity:8}{get(first).title} against {get(second).title}"
        lines.append(
            f"{head:48}{plain:>12}{corrected:>12}{f'{int((sure > 0).sum())} / {int((sure < 0).sum())}':>12}"
            f"{group['difference'].mean():>12.2f}"
        )
    for impurity in results.experiment.impurities:
        if ranked := ranks(results, impurity):
            lines.append(ranks_line(impurity, ranked))
    return "\n".join(lines)


def ranks(results: TreesResults, impurity: str) -> Comparison | None:
    """Average ranks over data sets of the splitters that were run on all; None for fewer than two of either."""
    trials = results.trials()
    wide = _wide(trials[trials["impurity"] == impurity], ["dataset"]).dropna(axis=1)
    wide = wide[[name for name in results.experiment.splitters if name in wide]]
    if min(wide.shape) < 2:
        return None
    return compare(wide, [get(name).title for name in wide.columns])


def ranks_line(impurity: str, ranked: Comparison) -> str:
    """The ranks and what they say."""
    listed = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(ranked.names, ranked.average_ranks, strict=True))
    return (
        f"{impurity}: average ranks {listed}; Friedman's chi-square {ranked.chi_square:.2f} (p = "
        f"{ranked.chi_square_p:.3f}); critical difference {ranked.critical_difference:.2f}"
    )
