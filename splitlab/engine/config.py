"""From a YAML file, or a dict, to a checked and frozen `Experiment`.

Three layers: `yaml_source` says what was written and where; the pydantic models here say what may be written (one
closed model per *kind*, listed in `_kinds`); a model's `resolve` checks what several keys say together and multiplies
the grid out into cells. The first thing wrong is reported in one line:

    configs/x.yaml:7: grid[0].n: 1 is too small; n must be a whole number from 2 to 100000

Messages about a value are predicates ("is too small; ..."), put behind the value as it was written.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError
from pydantic_core.core_schema import ValidationInfo

from splitlab.engine.yaml_source import Path_, Source, as_yaml, dotted, read_config, read_python
from splitlab.text import ConfigError, did_you_mean, shorten

if TYPE_CHECKING:
    from splitlab.engine.names import Plugins

__all__ = ["Cell", "ConfigError", "Experiment", "load_experiment"]

MAX_SIZE = 100_000  # of n and of k
MAX_ENTRIES = 1_000_000  # n * k: a table is a few MB at most
MAX_TOTAL = 10**15  # n * k * max_count: totals stay exact in float64
MAX_RUNS = 10**9
MAX_CELLS = 10_000
DEFAULT_SEED = 2018


@dataclass(frozen=True, order=True)
class Cell:
    """One size of random table: n values (rows), k classes (columns), entries 0..max_count.

    Examples
    --------
    >>> Cell(12, 3, 7).label
    'n12_k3_m7'
    """

    n: int
    k: int
    max_count: int

    @property
    def label(self) -> str:
        """A name for files and messages."""
        return f"n{self.n}_k{self.k}_m{self.max_count}"


@dataclass(frozen=True)
class Experiment:
    """A checked experiment with its grid multiplied out; made by `load_experiment`.

    Attributes
    ----------
    name, kind : str
        The name is also that of the folder of results.
    impurities, splitters : tuple of str
        Registered names, in the order of the config.
    cells : tuple of (Cell, int)
        Cells with their number of runs, sorted.
    seed : int
    draws : str
    published : str or None
        A name in `splitlab/published`, or the path of a csv; not looked up here.
    source : pathlib.Path or None
        The config file; not part of equality.
    on_error : str
        What becomes of a run on which a splitter fails: 'stop' ends the experiment, 'record' keeps it as a failure.
    keep_runs : bool
        Whether the impurities of every run are kept, and not only sums over them.
    """

    name: str
    kind: Literal["splits", "timing", "optimality", "trees"]
    impurities: tuple[str, ...]
    splitters: tuple[str, ...]
    cells: tuple[tuple[Cell, int], ...]
    seed: int
    draws: Literal["independent", "authors"]
    published: str | None = None
    source: Path | None = field(default=None, compare=False)
    on_error: Literal["stop", "record"] = "stop"
    keep_runs: bool = True

    def to_yaml(self) -> str:
        """The resolved config: one grid entry per cell; reading it gives an equal `Experiment`."""
        names = (", ".join(map(as_yaml, names)) for names in (self.impurities, self.splitters))
        published = "null" if self.published is None else as_yaml(self.published)
        head = "name: {}\nkind: {}\nimpurities: [{}]\nsplitters: [{}]\nseed: {}\n{}published: {}\ngrid:\n".format(
            as_yaml(self.name), self.kind, *names, self.seed, self._own_yaml(), published
        )
        entry = "  - {{n: {}, k: {}, max_count: {}, runs: {}}}\n"
        return head + "".join(entry.format(c.n, c.k, c.max_count, runs) for c, runs in self.cells)

    def _own_yaml(self) -> str:
        """The lines of the keys that only this kind has."""
        sums = "" if self.keep_runs else "keep_runs: false\n"
        return f"draws: {self.draws}\non_error: {self.on_error}\n{sums}"


def _problem(predicate: str) -> PydanticCustomError:
    return PydanticCustomError("splitlab", "{message}", {"message": predicate})


def whole(low: int, high: int) -> BeforeValidator:
    def check(value: object, info: ValidationInfo) -> object:
        rule = f"{info.field_name} must be a whole number from {low} to {high}"
        if type(value) is not int:
            quoted = isinstance(value, str) and re.fullmatch("[1-9][0-9]*", value)
            how = "in plain digits without quotes" if quoted else "in plain digits"
            raise _problem(f"is not a whole number; write a whole number {how}, such as 10000 ({rule})")
        if not low <= value <= high:
            raise _problem(f"is too {'small' if value < low else 'large'}; {rule}")
        return value

    return BeforeValidator(check)


def _check_name(value: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", value):
        return value
    rule = "letters a-z and A-Z, digits and . _ - only, no . or - at the start, 1 to 100 characters"
    raise _problem(f"cannot be a name; name must have {rule}")


def _check_published(value: str) -> str:
    if value.strip() and value.isprintable():
        return value
    raise _problem("must be a name or a path, in printable characters")


def _check_known(value: str, info: ValidationInfo) -> str:
    from splitlab.engine.names import problem_of_name

    if problem := problem_of_name(value, info.field_name or "", info.context):
        raise _problem(problem)
    return value


one_or_more = (BeforeValidator(lambda value: value if isinstance(value, list) else [value]), Field(min_length=1))
Sizes = Annotated[list[Annotated[int, whole(2, MAX_SIZE)]], *one_or_more]
Counts = Annotated[list[Annotated[int, whole(1, MAX_TOTAL // 4)]], *one_or_more]
Names = Annotated[list[Annotated[str, AfterValidator(_check_known)]], *one_or_more]


class _Closed(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class GridEntry(_Closed):
    """One entry of `grid`; the lists multiply out."""

    n: Sizes
    k: Sizes
    max_count: Counts
    runs: Annotated[int, whole(1, MAX_RUNS)]

    def cells(self, path: Path_ = ()) -> Iterator[tuple[Cell, tuple[Path_, ...]]]:
        """The cells, each with the paths of the entry itself and of its n, k and max_count."""
        axes = (enumerate(self.n), enumerate(self.k), enumerate(self.max_count))
        for (a, n), (b, k), (c, max_count) in itertools.product(*axes):
            yield Cell(n, k, max_count), (path, (*path, "n", a), (*path, "k", b), (*path, "max_count", c))


class CommonConfig(_Closed):
    """The keys that experiments on random tables share, as written; `kind` names the schema of the others."""

    name: Annotated[str, AfterValidator(_check_name)]
    kind: str
    impurities: Names
    splitters: Names
    grid: Annotated[list[GridEntry], Field(min_length=1)]
    seed: Annotated[int, whole(0, 2**63 - 1)] = DEFAULT_SEED
    published: Annotated[str, AfterValidator(_check_published)] | None = None

    def resolve(self, source: Source, path: Path | None) -> Experiment:
        """The experiment, with what several keys say together checked; `path` is the config file."""
        raise NotImplementedError

    def common(self, source: Source, path: Path | None) -> dict[str, Any]:
        """The shared part of `resolve`: arguments of `Experiment`."""
        refuse_repeats("impurities", self.impurities, source)
        refuse_repeats("splitters", self.splitters, source)
        lists = {"impurities": tuple(self.impurities), "splitters": tuple(self.splitters)}
        cells = _expand(self.grid, source)
        return {"name": self.name, **lists, "cells": cells, "published": self.published, "source": path}


def _kinds() -> dict[str, type[CommonConfig]]:
    from splitlab.kinds.optimality.config import OptimalityConfig  # built from the parts above
    from splitlab.kinds.splits.config import SplitsConfig
    from splitlab.kinds.timing.config import TimingConfig
    from splitlab.kinds.trees.config import TreesConfig

    return {"splits": SplitsConfig, "timing": TimingConfig, "optimality": OptimalityConfig, "trees": TreesConfig}


def load_experiment(
    config: str | os.PathLike[str] | Mapping[str, Any],
    *,
    runs: int | None = None,
    overrides: Sequence[str] = (),
    name_default: str | None = None,
    plugins: Plugins | None = None,
) -> Experiment:
    """Read and check a config.

    Parameters
    ----------
    config : path or Mapping
        A YAML file, or its content as a dict (NumPy integers and arrays, and tuples, are accepted).
    runs : int, optional
        Replaces the `runs` of every cell.
    overrides : sequence of str
        `KEY=VALUE`: top-level keys with YAML values, replacing those of the config.
    name_default : str, optional
        The name of a config that has none.
    plugins : Plugins, optional
        What is done about names ``package.module:function``; by default they are imported.

    Returns
    -------
    Experiment
        A `TimingExperiment` for kind timing, an `OptimalityExperiment` for kind optimality.

    Raises
    ------
    ConfigError
        A ValueError; one line with the place, the value, and what would be right.
    TypeError
        When `config` is neither a path nor a mapping, or `overrides` no sequence of strings.

    Examples
    --------
    >>> grid = [{"n": [12, 25], "k": 3, "max_count": 7, "runs": 1000}]
    >>> config = {"name": "small", "impurities": "gini", "splitters": ["hcc", "lca"], "grid": grid}
    >>> experiment = load_experiment(config, runs=10, overrides=["seed=1"])
    >>> experiment.seed, experiment.cells
    (1, ((Cell(n=12, k=3, max_count=7), 10), (Cell(n=25, k=3, max_count=7), 10)))
    """
    source = read_config(config, overrides)
    if name_default is not None and "name" not in source.value:
        source.replace("name", read_python(name_default, "name_default"))
    if runs is not None:
        _apply_runs(source, runs)
    path = None if isinstance(config, Mapping) else Path(config)
    return _validate(source, path, plugins).resolve(source, path)


def _apply_runs(source: Source, runs: object) -> None:
    """Put `runs` into every grid entry, marked as coming from --runs."""
    given = read_python(runs, "--runs")
    place = replace(given.places[()], with_path=False)
    if source.value.get("kind") == "trees":  # whose runs are trials
        source.replace("trials", given)
        source.places["trials",] = place
    grid = source.value.get("grid")
    for i, entry in enumerate(grid if isinstance(grid, list) else ()):
        if isinstance(entry, dict):
            entry["runs"] = given.value
            source.places["grid", i, "runs"] = place


def _validate(source: Source, path: Path | None, plugins: Plugins | None) -> CommonConfig:
    from splitlab.engine.names import Plugins  # loads the registry

    context = replace(plugins or Plugins(), folders=(*([path.parent] if path else []), Path()))
    model = _model_of_kind(source)
    try:
        return model.model_validate(source.value, context=context)
    except ValidationError as error:
        raise _first_error(error.errors(include_url=False, include_input=False), model, source) from None


def _model_of_kind(source: Source) -> type[CommonConfig]:
    kind, kinds = source.value.get("kind", "splits"), _kinds()
    if isinstance(kind, str) and kind in kinds:
        return kinds[kind]
    written, available = source.place(("kind",)).written, f"available: {', '.join(kinds)}"
    raise source.error(("kind",), f"{written} is not a kind; {did_you_mean(kind, kinds) or available}")


_PREDICATES = {  # of pydantic's own types of error
    "string_type": "is not text; write a name, in quotes when it looks like a number or a word of YAML",
    "string_unicode": "is not text that UTF-8 can hold",
    "bool_type": "is neither true nor false",
    "list_type": "is not a list; write one entry per line, each beginning with '- '",
    "too_short": "has no items; at least one is needed",
    "none_required": "does not go with this kind of experiment; leave it out",
    "model_type": "is not a mapping; write KEY: VALUE pairs",
    "literal_error": "is not possible here; write {expected}",
}


def _first_error(errors: list[ErrorDetails], model: type[BaseModel], source: Source) -> ConfigError:
    """The first error in the order of writing; what is missing was written nowhere and comes last."""
    order = {path: i for i, path in enumerate(source.places)}
    first = min(errors, key=lambda e: (e["type"] == "missing", order[source.known(e["loc"])]))
    path = first["loc"]
    if first["type"] == "missing":
        return source.error(path[:-1], f"key '{path[-1]}' is missing")
    if first["type"] == "extra_forbidden":
        return _unknown_key(path, model, source)
    details = first.get("ctx", {})
    predicate = details.get("message") or _PREDICATES.get(first["type"], first["msg"]).format(**details)
    return source.error(path, f"{source.place(path).written} {predicate}")


def _unknown_key(path: Path_, model: type[BaseModel], source: Source) -> ConfigError:
    for name in (key for key in path[:-1] if isinstance(key, str)):
        model = get_args(model.model_fields[name].annotation)[0]  # list[GridEntry] -> GridEntry
    key, known = str(path[-1]), list(model.model_fields)
    where = f"{dotted(path[:-1])}: " if len(path) > 1 else ""
    hint = did_you_mean(key, known) or f"known keys: {', '.join(known)}"
    return ConfigError(f"{source.place(path)}: {where}unknown key '{shorten(key)}'; {hint}")


def refuse_repeats(key: str, names: Sequence[str], source: Source) -> None:
    """ConfigError when a name of the list under `key` is there twice."""
    first: dict[str, int] = {}
    for i, name in enumerate(names):
        if first.setdefault(name, i) < i:
            earlier = source.at((key, first[name]))
            raise source.error((key, i), f"'{shorten(name)}' is repeated; it is already in {earlier}")


def _expand(grid: list[GridEntry], source: Source) -> tuple[tuple[Cell, int], ...]:
    total = sum(len(entry.n) * len(entry.k) * len(entry.max_count) for entry in grid)
    if total > MAX_CELLS:
        raise source.error(("grid",), f"the lists multiply out to {total} cells; at most {MAX_CELLS} can be run")
    origins: dict[Cell, tuple[Path_, ...]] = {}
    runs: dict[Cell, int] = {}
    for i, entry in enumerate(grid):
        for cell, origin in entry.cells(("grid", i)):
            _check_size(cell, ("grid", i), source)
            if cell in origins:
                # In two entries, these differ at once; in one entry, where its list repeats itself.
                path, earlier = next((b, a) for a, b in zip(origins[cell], origin, strict=True) if a != b)
                rule = f"it is already in {source.at(earlier)}"
                raise source.error(path, f"cell {cell.label} is repeated; {rule}")
            origins[cell], runs[cell] = origin, entry.runs
    return tuple(sorted(runs.items()))


def _check_size(cell: Cell, path: Path_, source: Source) -> None:
    entries = cell.n * cell.k
    limits = (("n * k", entries, MAX_ENTRIES), ("n * k * max_count", entries * cell.max_count, MAX_TOTAL))
    for formula, size, limit in limits:
        if size > limit:
            raise source.error(path, f"cell {cell.label}: {formula} = {size} is too large; at most {limit}")
