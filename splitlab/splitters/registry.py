"""The splitters by name, and what can be asked of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from splitlab import dependencies, plugins
from splitlab.sources import source_hash
from splitlab.splitters.catalogue import CATALOGUE, CHOU, descent
from splitlab.splitters.custom import custom_splitter, split_tables
from splitlab.splitters.entry import POLISH, Splitter, any_size, load
from splitlab.text import duration, nearest

POLISHED = "+hd"  # ends the names of polished splitters


def polished(splitter: Splitter) -> Splitter:
    """The splitter followed by hyperplane descent."""
    return replace(
        splitter,
        name=splitter.name + POLISHED,
        title=splitter.title + POLISHED,
        proven=replace(splitter.proven, never_worse_than=(*splitter.proven.never_worse_than, splitter.title)),
        cost=f"{splitter.cost}, then n (k + log n) per step",
        source=f"{splitter.source}; hyperplane descent {CHOU}",
        nanoseconds=lambda n, k: splitter.nanoseconds(n, k) + descent(n, k),
        polished=True,
    )


SPLITTERS: tuple[Splitter, ...] = (
    *CATALOGUE,
    *(polished(splitter) for splitter in CATALOGUE if splitter.name in ("lca", "hcc", "pc_ext")),
)

# The longest that one table may take before a request is refused, in seconds.
LONGEST_TABLE = 30.0


def splitters() -> list[Splitter]:
    """All splitters, in the order of the registry; of the polished ones, a few.

    Examples
    --------
    >>> [s.name for s in splitters()][:2]
    ['lca', 'hcc']
    """
    return list(SPLITTERS)


def names() -> tuple[str, ...]:
    """The names of these splitters."""
    return tuple(s.name for s in SPLITTERS)


def get(name: str | Splitter) -> Splitter:
    """The splitter of that name; ValueError, with a suggestion, if there is none, TypeError if it is no name.

    An entry is returned as it is.

    Examples
    --------
    >>> get("sliq+hd").title
    'SLIQ+hd'
    """
    if isinstance(name, Splitter):
        return name
    if not isinstance(name, str):
        raise TypeError(f"splitter: {name!r} is not a name; write it as text")
    for splitter in SPLITTERS:
        if splitter.name == name:
            return splitter
    base = name.removesuffix(POLISHED)
    if base != name:
        if base == "hd" or base.endswith(POLISHED):
            raise ValueError(f"splitter: {name!r} would descend again from where a descent ended; write {base!r}")
        return polished(get(base))
    if plugins.is_plugin(name):
        return custom_splitter(name)
    near = meant(name)
    hint = f"did you mean {near!r}?" if near else f"the splitters are {', '.join(names())}"
    raise ValueError(f"splitter: {name!r} is not known; {hint}")


def meant(text: object) -> str:
    """The name of the splitter that a text seems to mean, a name or a title; empty if there is none.

    Examples
    --------
    >>> meant("PCext"), meant("sliqext"), meant("lcaa")
    ('pc_ext', 'sliq_ext', 'lca')
    """
    return nearest(text, {word: s.name for s in SPLITTERS for word in (s.title, s.name)})


def known(name: str) -> bool:
    """Whether there is a splitter of that name."""
    try:
        get(name)
    except (ValueError, TypeError):
        return False
    return True


def titles(names: Iterable[str]) -> dict[str, str]:
    """What tables and figures call the splitters of an experiment: their titles, and where two share one their names.

    Examples
    --------
    >>> titles(["hcc", "mine:greedy"]), titles(["a:greedy", "b:greedy"])
    ({'hcc': 'HcC', 'mine:greedy': 'greedy'}, {'a:greedy': 'a:greedy', 'b:greedy': 'b:greedy'})
    """
    found = {name: get(name).title if known(name) else name for name in dict.fromkeys(names)}
    shared = list(found.values())
    return {name: title if shared.count(title) == 1 else name for name, title in found.items()}


def along(direction: Any, collapsed: bool) -> Splitter:
    """The splitter ``direction`` with a direction, float64 (k,): B_d, or A_d when ``collapsed``."""
    path = "splitlab.splitters.kernels.collapsed:collapsed_along" if collapsed else get("direction").kernel_path
    return replace(get("direction"), kernel_path=path, options=(direction,), limit=any_size)


def refusal(splitter: Splitter, n: int, k: int, examples: int = 0) -> str | None:
    """Why ``splitter`` is not run on tables of this size: it cannot split them, or one would take it too long.

    ``examples`` is the most that they may have, if that is known.
    """
    if reason := splitter.limit(n, k, examples):
        return f"splitter: {splitter.name!r} does not serve tables with n = {n}, k = {k}: {reason}"
    seconds = splitter.seconds(n, k, examples)
    if seconds > LONGEST_TABLE:
        return (
            f"splitter: {splitter.name!r} would take about {duration(seconds)} for one table with n = {n}, k = {k} "
            f"(cost {splitter.cost}); choose a cheaper splitter or fewer classes"
        )
    return None


def refuse_hopeless(splitter: Splitter, n: int, k: int, examples: int = 0) -> None:
    """ValueError, saying why, when ``splitter`` is not run on tables of this size."""
    if message := refusal(splitter, n, k, examples):
        raise ValueError(message)


def serving(n: int, k: int) -> tuple[str, ...]:
    """The names of the splitters that can be run on tables of this size.

    Examples
    --------
    >>> set(serving(12, 2)) - set(serving(12, 3))
    {'two_class'}
    """
    return tuple(s.name for s in SPLITTERS if not refusal(s, n, k))


def always_optimal(splitter: Splitter) -> bool:
    """Whether the optimum is guaranteed for every table."""
    return splitter.proven.optimal


def proven_ratio(name: str, impurity: str, k: int | None = None) -> str:
    """The proven bound on the ratio to the optimum for k classes, or for any number of them; empty if there is none.

    Gini and entropy belong to the class C of the paper; of other impurities that is not known.

    Examples
    --------
    >>> proven_ratio("lca", "entropy"), proven_ratio("hcc", "gini"), proven_ratio("pc", "gini")
    ('3', '2', '')
    >>> proven_ratio("pc", "gini", 2)
    '1'
    """
    return get(name).proven.ratio(impurity, k)


def fingerprint(splitter: Splitter) -> str:
    """Hash of the code that decides what ``splitter`` returns."""
    kernels = source_hash(*splitter.modules())[:16] if splitter.kernel_paths() else ""
    return kernels + (dependencies.fingerprint(splitter.kernel_path) if splitter.custom else "")


def code_hash() -> str:
    """Hash of the code of all compiled splitters."""
    return source_hash(*dict.fromkeys(module for splitter in SPLITTERS for module in splitter.modules()))


def split_batch(splitter: Splitter, tables: Any, kind: int, failures: dict[int, str] | None = None) -> Any:
    """Masks (b, n), bool, of ``splitter`` for tables (b, n, k); True is the left side.

    A user-defined function may fail on a table: that is a SplitterError, or, when there is a dictionary of
    ``failures``, an entry in it (number of the table, reason) and a mask that means nothing.
    """
    import numpy as np

    masks = np.zeros(tables.shape[:2], np.bool_)
    if splitter.custom:
        split_tables(splitter.kernel_path, tables, kind, masks, failures)
    else:
        splitter.kernel()(tables, kind, masks, *splitter.options)
    if splitter.polished:
        load(POLISH)(tables, kind, masks)
    return masks
