"""The committed worst tables, and the ratios that are proven."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from splitlab._jit import Ints
from splitlab.adversary.certificate import Found
from splitlab.impurity import NAMES
from splitlab.splitters import splitters
from splitlab.splitters.registry import always_optimal, proven_ratio

FILE = "worst_tables.json"
HIGHER = 1e-9  # a ratio counts as higher when it is by more than this share

Key = tuple[str, str]  # splitter, impurity


@dataclass(frozen=True)
class Known:
    """A table, and how many times the optimum the splitter's split of it costs."""

    splitter: str
    impurity: str
    ratio: float
    table: tuple[tuple[int, ...], ...]

    @property
    def counts(self) -> Ints:
        """The table as int64 array, shape (n, k)."""
        return np.array(self.table, np.int64)


def worst_known() -> dict[Key, Known]:
    """The worst known table of every splitter that is not always optimal, by (splitter, impurity).

    Examples
    --------
    >>> worst_known()["hcc", "gini"].ratio < 2
    True
    """
    text = files("splitlab.published").joinpath(FILE).read_text(encoding="utf-8")
    found = (Known(**{**row, "table": tuple(map(tuple, row["table"]))}) for row in json.loads(text))
    return {(known.splitter, known.impurity): known for known in found}


def with_better(known: Mapping[Key, Known], found: Iterable[Found]) -> dict[Key, Known]:
    """The list with every entry replaced by a found one of a higher ratio, if there is one."""
    best = dict(known)
    for one in found:
        key = one.splitter, one.impurity
        if key not in best or one.ratio > best[key].ratio * (1.0 + HIGHER):
            best[key] = Known(*key, one.ratio, tuple(map(tuple, one.table.tolist())))
    return best


def as_json(known: Mapping[Key, Known]) -> str:
    """The list as it is committed: one line per entry, in the order of ``challenged``."""
    rows = [json.dumps(vars(known[key])) for key in challenged() if key in known]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def challenged() -> list[Key]:
    """The splitters of the registry that are not always optimal and serve any table, with every impurity."""
    names = [s.name for s in splitters() if not always_optimal(s) and not s.limit(6, 3, 0)]
    return [(name, impurity) for name in names for impurity in NAMES]


def proven(name: str, impurity: str) -> float | None:
    """The proven bound on the ratio to the optimum, for any number of classes, as the registry has it.

    Examples
    --------
    >>> proven("lca", "gini"), proven("lca", "entropy"), proven("hcc", "entropy"), proven("sliq", "gini")
    (2.0, 3.0, 2.0, None)
    """
    stated = proven_ratio(name, impurity)
    return float(stated) if stated else None
