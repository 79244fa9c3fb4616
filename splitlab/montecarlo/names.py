"""The names of splitters and impurities in a config, and the functions of one's own among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from splitlab.impurity import NAMES, code
from splitlab.montecarlo.yaml_source import did_you_mean
from splitlab.plugins import hand_over, is_plugin, load, where
from splitlab.splitters import known, names

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
    """

    allowed: bool = True
    imported: bool = True
    announce: Callable[[str], None] = _silent


def problem_of_name(name: str, field: str, plugins: Plugins) -> str:
    """What is wrong with a name under the key ``field``, as a predicate; empty if nothing is."""
    if is_plugin(name):
        return _problem_of_plugin(name, field, plugins)
    listed, is_known = (names(), known) if field == "splitters" else (NAMES, NAMES.__contains__)
    if is_known(name):
        return ""
    if is_plugin(name.removesuffix("+hd")) and field == "splitters":
        return _problem_of_plugin(name.removesuffix("+hd"), field, plugins)
    guess = did_you_mean(name, listed)
    return f"is not a known {FIELDS[field]}; {guess + ' ' if guess else ''}known: {', '.join(listed)}"


def _problem_of_plugin(name: str, field: str, plugins: Plugins) -> str:
    if not plugins.allowed:
        return "names a function to import, which --no-plugins refuses"
    if not plugins.imported:
        return ""
    plugins.announce(f"importing {name} from {where(name)}")
    try:
        load(name) if field == "splitters" else code(name)
    except ValueError as error:
        return f"cannot be used: {error}"
    return ""


def with_functions_named(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with functions in its lists of splitters and impurities handed over and replaced by their names."""
    named = dict(config)
    for field in FIELDS:
        given = named.get(field)
        if callable(given):
            given = [given]
        if isinstance(given, list | tuple) and any(map(callable, given)):
            named[field] = _named(given)
    return named


def _named(given: list[Any] | tuple[Any, ...]) -> list[Any]:
    """Two functions of one name get different ones."""
    result: list[Any] = []
    for entry in given:
        if not callable(entry):
            result.append(entry)
            continue
        name = hand_over(entry)
        number = 2
        while name in result:
            name = hand_over(entry, f"{name.rstrip('0123456789')}{number}")
            number += 1
        result.append(name)
    return result
