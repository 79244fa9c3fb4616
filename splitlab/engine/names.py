"""The names of splitters and impurities in a config, and the user-defined functions among them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from splitlab.plugins import hand_over, hidden, is_plugin, load, search, where
from splitlab.splitters import Splitter, known, names
from splitlab.splitters.registry import POLISHED, meant
from splitlab.text import did_you_mean

FIELDS = {"splitters": "splitter", "impurities": "impurity"}


def _silent(text: str) -> None:
    pass


@dataclass(frozen=True)
class Plugins:
    """What is done about names of the form package.module:function, which run code of the user's.

    Attributes
    ----------
    allowed : bool
        Whether they may be there at all.
    imported : bool
        Whether they are imported and tried at once; stored results can be read without.
    announce : callable
        Is told of each before it is imported, and from which file.
    folders : tuple of Path
        Where modules are sought besides the environment.
    announced : set of str
        The functions that ``announce`` was told of; it is told of none twice.
    """

    allowed: bool = True
    imported: bool = True
    announce: Callable[[str], None] = _silent
    folders: tuple[Path, ...] = ()
    announced: set[str] = dataclasses.field(default_factory=set, compare=False)


def problem_of_name(name: str, field: str, plugins: Plugins | None) -> str:
    """What is wrong with a name under the key ``field``, as a predicate; empty if nothing is."""
    if _function_in(name, field):
        return problem_of_plugin(name, field, plugins)
    if field not in FIELDS:
        return ""
    from splitlab.impurity import NAMES  # loads numba

    listed, is_known = (names(), known) if field == "splitters" else (NAMES, NAMES.__contains__)
    if is_known(name):
        return ""
    guess = f"did you mean '{near}'?" if field == "splitters" and (near := meant(name)) else did_you_mean(name, listed)
    return f"is not a known {FIELDS[field]}; {guess + ' ' if guess else ''}known: {', '.join(listed)}"


def _function_in(name: str, field: str) -> str:
    """The function that a name stands for; empty for registered names."""
    function = name.removesuffix(POLISHED) if field == "splitters" else name
    return function if is_plugin(function) else ""


def problem_of_plugin(name: str, field: str, plugins: Plugins | None) -> str:
    """Import the function that the name stands for, if it does; what is wrong with it, as a predicate."""
    name, plugins = _function_in(name, field), plugins or Plugins()
    if not name:
        return ""
    if not plugins.imported and field != "kind":  # nothing can be read of a kind without its class
        return ""
    if not plugins.allowed:
        return "names a function to import, which --no-plugins refuses"
    search(plugins.folders)
    if file := hidden(name, plugins.folders):
        return f"cannot be used: another module of that name, {where(name)}, hides {file}; rename it"
    if name not in plugins.announced and (file := where(name)):
        plugins.announced.add(name)
        plugins.announce(f"importing {name} from {file}")
    from splitlab.impurity import code  # loads numba

    try:
        code(name) if field == "impurities" else load(name)
    except ValueError as error:
        return f"cannot be used: {error}"
    return ""


def plugin_problems(
    lists: Mapping[str, Iterable[str]], plugins: Plugins | None
) -> Iterator[tuple[tuple[str, str], str]]:
    """Import the functions among names of splitters and impurities: (field, name) and what is wrong with it."""
    for field, given in lists.items():
        for name in given:
            if problem := problem_of_plugin(name, field, plugins):
                yield (field, name), problem


def lists_of(experiment: Any) -> dict[str, tuple[str, ...]]:
    """The names of an experiment's splitters and impurities, as far as it has any."""
    return {field: getattr(experiment, field, ()) for field in FIELDS}


def functions_of(experiment: Any) -> list[str]:
    """The user-defined functions, and the class of a kind, that an experiment names."""
    named = [_function_in(name, field) for field, given in lists_of(experiment).items() for name in given]
    return list(dict.fromkeys(name for name in (*named, _function_in(experiment.kind, "kind")) if name))


def with_functions_named(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with names in place of functions and entries of the registry in its lists."""
    named: dict[str, Any] = dict(config)
    taken: dict[str, Callable[..., Any]] = {}
    for field in FIELDS:
        given = named.get(field)
        given = [given] if callable(given) or isinstance(given, Splitter) else given
        if isinstance(given, list | tuple):
            named[field] = type(given)(_named(entry, taken) for entry in given)
    if callable(named.get("kind")):
        named["kind"] = hand_over(named["kind"], taken)
    return named


def _named(entry: Any, taken: dict[str, Callable[..., Any]]) -> Any:
    """The name of a function or an entry of the registry; other things as they are."""
    if isinstance(entry, Splitter):
        return entry.name
    return hand_over(entry, taken) if callable(entry) else entry
