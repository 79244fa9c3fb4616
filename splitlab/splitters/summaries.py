"""How each splitter goes about it, in a few words that make sense alone: the glossary of pages and reports."""

from __future__ import annotations

from collections.abc import Iterable

from splitlab.splitters.entry import Splitter
from splitlab.splitters.registry import POLISHED, get, known, titles

SUMMARIES = {
    "lca": "Largest Class Alone: values in the order of their share of the largest class, best cut",
    "hcc": "Hypercube Cover: for every set of classes the values in the order of their share of it, best cut of all",
    "pc": "Principal Component: values in the order of their class probabilities along that component, best cut",
    "pc_ext": "Principal Component extended: as PC, and at each cut also the two values next to it exchanged",
    "pc_counts": "as PC, but values are ordered by their raw counts in place of class probabilities",
    "pc_ext_counts": "as PCext, but values are ordered by their raw counts in place of class probabilities",
    "sliq": "greedy: the value whose move leaves the least impurity changes sides, until no move improves the split",
    "sliq_ext": "SLIQ extended: as SLIQ, but until one value is left, and the best split on the way",
    "sliq_ext_prefix": "the first values of the table, in its own order, against the rest; best cut",
    "ova": "One against all: for every single class the values in the order of their share of it, best cut of all",
    "balanced": "values in the order of their share of the set of classes that is closest to half of the examples",
    "list_scheduling": "values in the order of their share of classes that are about half of the examples, found fast",
    "twoing": "for every set of classes the best split of the table with two classes, that set and the others; the one "
    "with the largest gain in its two-class table",
    "twoing_min": "for every set of classes the best split of the table with two classes, that set and the others; the "
    "one with the least impurity of its two-class table",
    "flip_flop": "from the split of LCA on, the best split of the classes and the best split of the values in turn",
    "two_class": "for tables of two classes: values in the order of their share of the first, best cut",
    "direction": "values in the order of a weighted sum of their class probabilities, best cut",
    "exhaustive": "all splits",
    "hyperplanes": "all splits that a hyperplane between the class probabilities of the values can make",
    "exact": "the optimum, by the cheapest method that is sure to find it",
    "pull_left": "as SLIQext, but of each class only the value with the largest share of it may change sides",
    "hd": "Hyperplane Descent: from many starts, values are ordered anew along the gradient and cut best, or one is "
    "moved, until neither improves the split",
}


def summary(splitter: Splitter) -> str:
    """How a splitter goes about it, in a few words.

    Examples
    --------
    >>> summary(get("sliq+hd"))[-30:]
    'split; then hyperplane descent'
    """
    name = splitter.name.removesuffix(POLISHED)
    words = f"{name}, a user-defined function" if splitter.custom else SUMMARIES[name]
    return f"{words}; then hyperplane descent" if splitter.polished else words


def glossary(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """What tables call the splitters, and what each does, what is proven of it, and where it is from."""
    return tuple((title, _meaning(name)) for name, title in titles(names).items())


def _meaning(name: str) -> str:
    if not known(name):
        return name
    splitter = get(name)
    if splitter.custom:
        return summary(splitter)
    proven = "" if splitter.guarantee == "none" else f". Proven, as a ratio to the optimum: {splitter.guarantee}"
    return f"{summary(splitter)}{proven}. {splitter.source}"
