"""What a study will find in its data, ``splitlab data check``; and a first catalogue, ``splitlab data describe``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from splitlab._jit import Floats
from splitlab.engine.yaml_source import as_yaml
from splitlab.kinds.data_sets.catalogue import (
    NAME,
    OPENERS,
    Data,
    Dataset,
    content,
    folders,
    most_cells,
    read,
)
from splitlab.kinds.data_sets.loaded import Loaded, facts_of, places, read_set
from splitlab.kinds.trees.config import TreesExperiment
from splitlab.kinds.trees.work import columns_on
from splitlab.tables.contingency import show
from splitlab.tables.csv_records import decoded, read_records
from splitlab.text import ConfigError, counted

FOLDS: int = TreesExperiment.model_fields["folds"].default
MISSING_WORDS = ("?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "-", ".")
FEW_ROWS = 5  # a class, on average: fewer are not the classes of a target
CODES = range(3, 11)  # so many different whole numbers may be codes
SHOWN = 12  # names in a line


def check_text(
    dataset: Dataset, beside: Path, chosen: Path | None = None, experiment: TreesExperiment | None = None
) -> tuple[bool, str]:
    """Whether a study of a data set can run, and what there is to know of it: a line, and findings below.

    Parameters
    ----------
    dataset : Dataset
    beside : Path
        The folder of its catalogue.
    chosen : Path, optional
        A folder where its file is looked for first.
    experiment : TreesExperiment, optional
        The study; without it what any needs is checked.
    """
    try:
        if experiment is None:
            one = read_set(dataset, folders(chosen, [beside]), FOLDS)
        else:
            one = read_set(
                dataset, places(Path(experiment.catalogue), chosen), experiment.folds, experiment.keeps_missing
            )
            columns_on(experiment, one.facts)
    except ValueError as error:
        return False, f"{dataset.name}: cannot be run: {str(error).removeprefix(f'{dataset.name}: ')}"
    facts = one.facts
    described = "as described" if dataset.sha256 else f"sha256 {facts.sha256}, not in the catalogue"
    lines = [f"{facts.line}; {facts.path}, {described}"]
    counts = np.bincount(one.data.y, minlength=one.data.k)
    classes = [f"{name} {count:,}" for name, count in zip(facts.classes, counts, strict=True)]
    lines.append(f"    classes ({dataset.target}): {_some(classes)}")
    for kind in ("numeric", "nominal"):
        if names := [_described(column) for column in facts.columns if column.type == kind]:
            lines.append(f"    {kind}: {_some(names)}")
    if one.data.ignored:
        lines.append(f"    not used: {_some(one.data.ignored)}")
    lines += [f"    remark: {remark}" for remark in remarks(one, experiment.folds if experiment else FOLDS)]
    return True, "\n".join(lines)


def _some(names: list[str]) -> str:
    more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _described(column: object) -> str:
    name, values, missing, inferred = (getattr(column, key) for key in ("name", "values", "missing", "inferred"))
    notes = [counted(values, "value")] * (values > 0) + [f"{missing:,} missing"] * (missing > 0)
    notes += [f"inferred: {inferred}"] * bool(inferred and values)
    return name + (f" ({', '.join(notes)})" if notes else "")


def remarks(one: Loaded, folds: int) -> Iterator[str]:
    """What may be a mistake in a data set, though it can be run."""
    data = one.data
    n, counts = len(data.y), np.bincount(data.y, minlength=data.k)
    if n < FEW_ROWS * data.k:
        yield f"{counted(data.k, 'class')} in {counted(n, 'row')}: is the target a number, or a name?"
    elif few := [name for name, count in zip(data.classes, counts, strict=True) if count < folds]:
        yield f"classes with fewer rows than there are folds, {folds}: {_some([show(name) for name in few])}"
    for at, column in enumerate(one.facts.columns):
        for remark in _of_column(data, at, column.inferred != ""):
            yield f"column {show(column.name)}: {remark}"


def _of_column(data: Data, at: int, inferred: bool) -> Iterator[str]:
    """What may be wrong with a column."""
    n, x, texts = len(data.y), data.x[:, at], data.values[at]
    known = ~np.isnan(x)
    different, place = np.unique(x[known], return_inverse=True)
    if words := [text for text in texts if text in MISSING_WORDS]:
        yield f"{_some([show(word) for word in words])} is a value; does it stand for a missing one? Then say missing:"
    if len(different) < 2:
        yield "has one value only" if len(different) else "no value is known"
        return
    if texts and len(different) > n / 2:
        yield f"{len(different):,} different values in {counted(n, 'row')}: a name or an identifier?"
    elif not texts and len(different) == n and (np.diff(x) > 0).all() and _are_whole(x) and np.ptp(x) < 2 * n:
        yield "counts the rows: an identifier?"
    elif texts or len(different) <= n / 10:
        table = np.zeros((len(different), data.k), np.int64)
        np.add.at(table, (place, data.y[known]), 1)
        if ((table > 0).sum(1) == 1).all() and ((table > 0).sum(0) > 0).sum() > 1:
            yield "each value goes with one class only: is it the target under another name?"
    if len({text.casefold() for text in texts}) < len(texts):
        yield "some values differ in upper and lower case only"
    if inferred and not texts and len(different) in CODES and _are_whole(different):
        yield f"its numbers, {_some([f'{value:g}' for value in different])}, may be codes; if so, declare it nominal"


def _are_whole(numbers: Floats) -> bool:
    return bool((numbers == np.round(numbers)).all())


def describe_text(path: Path, target: str) -> str:
    """A catalogue with a csv file's data set, and a config, as a start for a study.

    Raises
    ------
    ValueError
        The file cannot be read, or the target is none of its columns.
    """
    ending = next((ending for ending in OPENERS if path.name.endswith(ending)), "")
    name = path.name.removesuffix(ending)
    if not ending or not NAME.fullmatch(name):
        raise ConfigError(f"{path}: call it NAME.csv, .csv.gz or .csv.xz, with letters, digits and . _ - in NAME")
    unpacked = content(path)
    text = decoded(unpacked, str(path))
    cells = {cell for _, row in read_records(text, most_cells(text), str(path)) for cell in row}
    words = [word for word in ("", *MISSING_WORDS) if word in cells]
    dataset = Dataset(name=name, title=name, target=target, missing=tuple(words))
    data = read(dataset, text, str(path), keep=True)
    facts = facts_of(dataset, data, path, unpacked)
    lines = [
        "# Written by `splitlab data describe`. Correct the types, and delete columns that are no attributes.",
        f"{name}:",
    ]
    lines += [f"  target: {as_yaml(target)}"]
    if any(words):
        lines.append(f"  missing: [{', '.join(map(_quoted, words))}]")
    lines += [f"  rows: {facts.rows}", f"  sha256: {hashlib.sha256(unpacked).hexdigest()}", "  columns:"]
    lines += _columns(Loaded(facts, data))
    lines += [
        "",
        f"# A config that goes with it, in a file of its own beside this one, here called {name}_data.yaml:",
        *(f"# {line}" for line in CONFIG.format(name=name).splitlines()),
    ]
    return "\n".join(lines)


CONFIG = """\
name: {name}
kind: trees
catalogue: {name}_data.yaml
datasets: [{name}]
splitters: [hd, lca]
trials: 5"""


def _quoted(word: str) -> str:
    return f'"{word}"'


def _columns(one: Loaded) -> Iterable[str]:
    """A line for each column, with what its values are as a comment."""
    for at, column in enumerate(one.facts.columns):
        found = one.data.x[:, at]
        found = found[~np.isnan(found)]
        values = f"{found.min():g} to {found.max():g}" if len(found) else "no value"
        if column.type == "nominal":
            values = f"{counted(column.values, 'value')}: {_some([show(text) for text in one.data.values[at][:4]])}"
        notes = [values, *([f"{column.missing:,} missing"] if column.missing else []), *_of_column(one.data, at, True)]
        yield f"    {as_yaml(column.name)}: {column.type}  # {'; '.join(notes)}"
