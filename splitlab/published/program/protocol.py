"""What the published decision-tree study ran, by name: facts that configs need before anything is loaded."""

from __future__ import annotations

# Seeds of Python's generator, one per trial.
SEEDS = (
    65537, 986112772, 580170418, 897083807, 1286664107, 899169460, 1728505703, 423232363, 1576030107, 1102706565,
    756372267, 1041481669, 500571641, 1196189230, 49471178, 827006267, 1581871235, 1249719834, 1281093615, 603059048,
)  # fmt: skip

IMPURITIES = ("gini", "entropy")

# What the program calls its criteria, and the splitters of this package that they were.
METHODS = {
    "PC-ext": "pc_ext_counts",
    "Largest Class Alone": "lca",
    "Hypercube Cover": "hcc",
    "SLIQ-ext": "sliq_ext_prefix",
}
