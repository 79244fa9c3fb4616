"""The kinds of experiment, by the names that configs give them; each is one class, in a folder of its own here."""

from __future__ import annotations

# Name -> module:class. A class is imported when it is asked for: `splitlab --help` needs none of them.
KINDS = {
    "splits": "splitlab.kinds.splits.kind:Splits",
    "timing": "splitlab.kinds.timing.kind:Timing",
    "optimality": "splitlab.kinds.optimality.kind:Optimality",
    "trees": "splitlab.kinds.trees.kind:Trees",
    "criteria": "splitlab.kinds.criteria.kind:Criteria",
}
