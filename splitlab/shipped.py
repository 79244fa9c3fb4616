"""The configs that come with splitlab, by name."""

from __future__ import annotations

import os
import re
from pathlib import Path

from splitlab.text import ConfigError, did_you_mean

NAME = re.compile("[A-Za-z0-9_-]{1,100}")  # of a config, without folder and ending
CATALOGUE = "datasets"  # describes the data sets of Table 4
CATALOGUES = (CATALOGUE, "ihd_datasets")  # are no experiments


def folder() -> Path:
    """Where the configs are: in the installed package, or in the checkout."""
    package = Path(__file__).parent
    return package / "configs" if (package / "configs").is_dir() else package.parent / "configs"


def names() -> list[str]:
    """The names of the experiments among the configs.

    Examples
    --------
    >>> "table1" in names()
    True
    """
    return sorted(path.stem for path in folder().glob("*.yaml") if path.stem not in CATALOGUES)


def located(config: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The config itself where there is such a file, or else the shipped one of that name.

    ConfigError, with the names, for a bare name that is neither.
    """
    name = os.fspath(config) if isinstance(config, str | os.PathLike) else None
    if not isinstance(name, str) or not NAME.fullmatch(name) or os.path.lexists(name):
        return config
    if name in names():
        return folder() / f"{name}.yaml"
    hint = did_you_mean(name, names()) or f"the configs that come with splitlab are {', '.join(names())}"
    raise ConfigError(f"{name}: no such file; {hint}")
