"""Decision trees beside scikit-learn's: python -m scripts.bench_trees [--data FILE.csv --target NAME] [--depth 16]

Fits every splitter to depth 16 on data of the size and shape of the census data set "adult" (made up, unless a csv file
is named), and scikit-learn's tree on the same rows with one column per category and with ordinal codes. Prints
processor time of fitting and accuracy on a third of the rows that was held out; then the time of every criterion on
data with numeric columns only, beside scikit-learn's Gini or entropy. A part of ``make bench``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier as Reference

from splitlab._jit import Floats, Ints
from splitlab.splitters import splitters
from splitlab.trees import DecisionTreeClassifier, criteria
from splitlab.trees.grouping import MULTIWAY

ROWS = 48_842
CATEGORIES = (9, 16, 7, 15, 6, 5, 2, 42)
NUMERIC = (74, 28_523, 16, 123, 99, 96)  # different values
DEPTH = 16
ROUNDS = 2
NUMERIC_ROWS = 5000


def made_up(rows: int = ROWS, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Rows like those of adult: 8 nominal and 6 numeric columns, two classes that depend on most of them."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    score = rng.normal(size=rows)
    for j, n in enumerate(CATEGORIES):
        codes = np.minimum(rng.geometric(2 / (n + 1), rows) - 1, n - 1)
        score += rng.normal(0, 0.7, n)[codes]
        columns[f"nominal{j}"] = np.char.add("v", codes.astype(str))
    for j, n in enumerate(NUMERIC):
        values = np.floor(n * rng.beta(2, 3, rows))
        score += np.sin(3 * values / n + j) * rng.normal(0, 0.7)
        columns[f"numeric{j}"] = values
    return pd.DataFrame(columns), pd.Series(np.where(score > np.quantile(score, 0.76), ">50K", "<=50K"))


def read(path: Path, target: str) -> tuple[pd.DataFrame, pd.Series]:
    """The rows of a csv file; columns of text are nominal."""
    frame = pd.read_csv(path)
    return frame.drop(columns=target), frame[target]


def contestants(depth: int, nominal: list[str]) -> Iterator[tuple[str, Any, Callable[[pd.DataFrame], Any]]]:
    """Name, classifier, and what makes its columns of the data."""
    for name in (*(s.name for s in splitters()), MULTIWAY):
        yield name, DecisionTreeClassifier(splitter=name, max_depth=depth), lambda x: x
    for name, encoder in (
        ("scikit-learn, one-hot", OneHotEncoder(handle_unknown="ignore", sparse_output=False)),
        ("scikit-learn, ordinal", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)),
    ):
        yield name, Reference(max_depth=depth, random_state=0), _encoded(encoder, nominal)


def _encoded(encoder: Any, nominal: list[str]) -> Callable[[pd.DataFrame], Any]:
    fitted: list[bool] = []

    def columns(x: pd.DataFrame) -> Any:
        codes = encoder.transform(x[nominal]) if fitted else encoder.fit_transform(x[nominal])
        fitted.append(True)
        return np.hstack([x.drop(columns=nominal).to_numpy(np.float64), codes])

    return columns


def measure(x: pd.DataFrame, y: pd.Series, depth: int, say: Callable[[str], None]) -> pd.DataFrame:
    """One line for each contestant; the time is the least of some rounds and leaves out the encoding."""
    train, test, y_train, y_test = train_test_split(x, y, test_size=1 / 3, random_state=0, stratify=y)
    nominal = [name for name in x if not pd.api.types.is_numeric_dtype(x[name])]
    lines = []
    for name, classifier, columns in contestants(depth, nominal):
        fit_on, score_on, whole = columns(train), columns(test), columns(x)
        try:
            accuracy = classifier.fit(fit_on, y_train).score(score_on, y_test)
            seconds = min(_seconds(classifier, whole, y) for _ in range(ROUNDS))
            lines.append((name, len(x), seconds, accuracy, classifier.tree_.node_count))
        except ValueError as refused:
            say(f"{name}: {refused}")
    return pd.DataFrame(lines, columns=["tree", "rows", "fit_seconds", "test_accuracy", "nodes"])


def numeric(rows: int) -> Iterator[tuple[str, Floats, Ints]]:
    """Data with numeric columns only: name, x, y. Continuous with 2 and with 10 classes, and scikit-learn's digits."""
    rng = np.random.default_rng(0)
    for k in (2, 10):
        x = rng.normal(size=(rows, 20))
        signal = x[:, :3].sum(1) + rng.normal(0, 0.7, rows)
        yield f"continuous, {k} classes", x, np.searchsorted(np.quantile(signal, np.arange(1, k) / k), signal)
    x, y = load_digits(return_X_y=True)
    yield "digits", x[:rows], y[:rows]


def measure_numeric(rows: int) -> pd.DataFrame:
    """A line per data set and criterion: seconds of fitting an unpruned tree, and times scikit-learn's, side by side.

    Continuous columns with ten classes are for Gini and entropy alone: gain ratio makes a tree of thousands of levels.
    """
    lines = []
    for name, x, y in numeric(rows):
        compiled = [c for c in criteria.names() if criteria.get(c).code >= 0]
        for criterion in ("gini", "entropy") if name == "continuous, 10 classes" else compiled:
            ours = DecisionTreeClassifier(criterion=criterion)
            ours.fit(x[:50], y[:50])  # loads the kernels
            reference = Reference(criterion="gini" if criterion != "entropy" else criterion)
            rounds = [(_seconds(ours, x, y), _seconds(reference, x, y)) for _ in range(2 * ROUNDS)]
            ratio = min(a for a, _ in rounds) / min(b for _, b in rounds)
            lines.append((name, *x.shape, criterion, min(a for a, _ in rounds), ratio))
    return pd.DataFrame(lines, columns=["data", "rows", "columns", "criterion", "fit_seconds", "times_scikit_learn"])


def _seconds(classifier: Any, x: Any, y: pd.Series) -> float:
    start = process_time()
    classifier.fit(x, y)
    return process_time() - start


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path)
    options.add_argument("--target")
    options.add_argument("--depth", type=int, default=DEPTH)
    args = options.parse_args()
    if (args.data is None) != (args.target is None):
        options.error("--data and --target go together")
    x, y = made_up() if args.data is None else read(args.data, args.target)
    print(f"{len(x):,} rows, {x.shape[1]} columns, {y.nunique()} classes, depth {args.depth}")
    print(measure(x, y, args.depth, print).to_string(index=False, float_format=lambda number: f"{number:.3f}"))
    print(measure_numeric(NUMERIC_ROWS).to_string(index=False, float_format=lambda number: f"{number:.3f}"))


if __name__ == "__main__":
    main()
