"""From tables to trees: split criteria, the best split of an attribute, decision trees, comparing classifiers.

Nothing is loaded before it is used, so that ``import splitlab.trees`` costs nothing.

The criteria are in ``splitlab.trees.criteria``, the comparison of classifiers in ``splitlab.trees.statistics``.

>>> from splitlab.trees import DecisionTreeClassifier
>>> DecisionTreeClassifier(max_depth=1).fit([[1], [2], [8], [9]], list("aabb")).predict([[0], [7]]).tolist()
['a', 'b']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from splitlab.trees.attribute import best_split, best_table_split, thresholds
    from splitlab.trees.classifier import DecisionTreeClassifier
    from splitlab.trees.export import export_text, plot

__all__ = ["DecisionTreeClassifier", "best_split", "best_table_split", "export_text", "plot", "thresholds"]

_LAZY = {
    "DecisionTreeClassifier": "splitlab.trees.classifier",
    "best_split": "splitlab.trees.attribute",
    "best_table_split": "splitlab.trees.attribute",
    "export_text": "splitlab.trees.export",
    "plot": "splitlab.trees.export",
    "thresholds": "splitlab.trees.attribute",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _LAZY:
        raise AttributeError(f"module 'splitlab.trees' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    """The names of the module, those that are not loaded yet included."""
    return sorted([*globals(), *_LAZY])
