"""Tests between the splitters of an experiment of kind trees, and what they leave of the paper's Table 4.

A splitter is better than another one (the competitor) on a data set when the one-sided paired t-test over the trials'
accuracies gives p <= 0.05, and worse when it gives p >= 0.95: the paper's rule. It takes trials on the same examples
for independent. So beside it stand the test over all folds with Nadeau and Bengio's variance, and that with Holm's
adjustment for the number of comparisons (two-sided, over all data sets and pairs of an impurity).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from splitlab.kinds.trees import published as published
from splitlab.kinds.trees.results import TreesResults
from splitlab.splitters import titles
from splitlab.statistics import holm
from splitlab.trees.statistics import Comparison, compare, corrected_t_test, paired_t_test

LEVEL = 0.05

Counts = dict[tuple[str, str, str], tuple[int, int]]  # (impurity, method, competitor) -> data sets where better, worse

# The published program's methods as their authors defined them.
DEFINED = {"pc_ext_counts": "pc_ext", "sliq_ext_prefix": "sliq_ext"}


def groups(frame: pd.DataFrame, keys: list[str]) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """The rows of every combination of keys, in the order of the frame."""
    for key, group in frame.groupby(keys, sort=False):
        yield tuple(map(str, key)), group


def _wide(frame: pd.DataFrame, index: list[str]) -> pd.DataFrame:
    """Accuracies with a column for each splitter; means where an index has several."""
    return frame.pivot_table("accuracy", index, "splitter")


def better_worse(trials: pd.DataFrame, dataset: str) -> Counts:
    """By the paper's rule, from accuracies with columns impurity, splitter, trial and the one that names data sets."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for (impurity, _), group in groups(trials, ["impurity", dataset]):
        wide = _wide(group, ["trial"])
        if len(wide) < 2:
            continue
        for method, competitor in itertools.permutations(map(str, wide), 2):
            p = paired_t_test(wide[method], wide[competitor]).p_value
            entry = found.setdefault((impurity, method, competitor), [0, 0])
            entry[0] += p <= LEVEL
            entry[1] += p >= 1 - LEVEL
    return {key: (better, worse) for key, (better, worse) in found.items()}


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


def data_sets_won(frame: pd.DataFrame) -> pd.DataFrame:
    """On how many data sets ``first`` is better and worse, a row per impurity and pair of ``comparisons``."""
    rows = []
    for (impurity, first, second), group in groups(frame, ["impurity", "first", "second"]):
        row = {"impurity": impurity, "first": first, "second": second, "datasets": len(group)}
        for name in ("plain", "corrected"):
            p = group[f"p_{name}"]
            row |= {f"{name}_better": int((p <= LEVEL).sum()), f"{name}_worse": int((p >= 1 - LEVEL).sum())}
        sure = group[group["p_holm"] <= LEVEL]["difference"]
        row |= {"holm_better": int((sure > 0).sum()), "holm_worse": int((sure < 0).sum())}
        rows.append({**row, "mean_difference": float(group["difference"].mean())})
    return pd.DataFrame(rows)


def survival(frame: pd.DataFrame) -> pd.DataFrame:
    """What becomes of the pairs of Table 4 in `comparisons` of the splitters as defined.

    One row per impurity and pair: on how many data sets the method was better and worse, as printed and by the three
    tests here, and a verdict on who is ahead: 'survives' when Holm's counts are ahead in the printed direction,
    'reversed' in the other one, 'not shown' when they are even, and 'even' where the paper's were.
    """
    turned = frame.rename(columns={"first": "second", "second": "first"})
    turned = turned.assign(difference=-turned["difference"], **{p: 1 - turned[p] for p in ("p_plain", "p_corrected")})
    ours = data_sets_won(pd.concat([frame, turned])).set_index(["impurity", "first", "second"])
    rows, seen = [], set()
    for printed in published.counts().to_dict(orient="records"):
        method, competitor = (DEFINED.get(printed[key], printed[key]) for key in ("method", "rival"))
        key = printed["impurity"], method, competitor
        if (
            key in ours.index and (key[0], competitor, method) not in seen
        ):  # Table 4 has LCA and HcC twice, in both orders
            seen.add(key)
            row: dict[Any, Any] = {"impurity": key[0], "method": method, "rival": competitor}
            row |= {name: int(printed[name]) for name in ("published_better", "published_worse")}
            row |= ours.loc[[key]].to_dict(orient="records")[0]
            ahead, found = (np.sign(row[f"{of}_better"] - row[f"{of}_worse"]) for of in ("published", "holm"))
            verdict = "even" if ahead == 0 else {ahead: "survives", 0: "not shown", -ahead: "reversed"}[found]
            rows.append({**row, "verdict": verdict})
    return pd.DataFrame(rows)


def ranks(results: TreesResults, impurity: str) -> Comparison | None:
    """Average ranks over data sets of the splitters that were run on all; None for fewer than two of either."""
    trials = results.trials()
    wide = _wide(trials[trials["impurity"] == impurity], ["dataset"]).dropna(axis=1)
    wide = wide[[name for name in results.experiment.splitters if name in wide]]
    if min(wide.shape) < 2:
        return None
    return compare(wide, list(titles(wide.columns).values()))
