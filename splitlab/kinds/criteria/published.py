"""What the study of the inter-node Hellinger distance printed: Tables 3 and 4, its statistics and its ticks.

Source: Akash, Kadir, Ali, Shoyaib, Inter-node Hellinger Distance based Decision Tree (IJCAI 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import pandas as pd

# Criteria as the tables head them. What CCPDT and HDDT of several classes were is not said, so all forms are compared.
TITLES = {
    "entropy": "Entropy",
    "gini": "Gini",
    "gain_ratio": "GR",
    "dcsm": "DCSM",
    "hddt": "HDDT",
    "hddt_all": "HDDT",
    "ccp_entropy": "CCPDT",
    "ccp_gini": "CCPDT",
    "ccp_entropy_normalized": "CCPDT",
    "ccp_gini_normalized": "CCPDT",
    "ihd": "iHD",
    "ihdw": "iHDw",
}
STAND_INS = ("pageblocks",)  # sets that are at hand in another form only: their levels are not judged
TABLES = {"accuracy": "ihd_table3_accuracy.csv", "auc": "ihd_table4_auc.csv"}
CHI_SQUARE = {"accuracy": 35.77, "auc": 32.42}
F = {"accuracy": 6.52, "auc": 5.72}
# The criteria that either proposed one is printed to outperform significantly.
TICKS = {
    "accuracy": {
        "ihd": ("Gini", "GR", "DCSM", "CCPDT"),
        "ihdw": ("Entropy", "Gini", "GR", "DCSM", "HDDT", "CCPDT"),
    },
    "auc": {"ihd": ("Gini",), "ihdw": ("Entropy", "Gini", "GR", "DCSM", "HDDT", "CCPDT")},
}


def title(criterion: str) -> str:
    """How tables call a criterion: as the paper does, where no other criterion is called so."""
    name = TITLES.get(criterion, criterion)
    return criterion if criterion in ("hddt_all",) or criterion.startswith("ccp_") else name


def table(measure: str, criteria: Sequence[str]) -> pd.DataFrame:
    """The printed values of a measure: a row per data set, a column per criterion.

    >>> float(table("accuracy", ["ihdw"]).loc["wine", "ihdw"])
    94.21
    """
    with files("splitlab.published").joinpath(TABLES[measure]).open(encoding="utf-8") as file:
        printed = pd.read_csv(file, index_col="dataset")
    return pd.DataFrame({name: printed[TITLES[name]] for name in criteria if name in TITLES})
