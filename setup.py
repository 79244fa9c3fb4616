"""Packs configs/ into the package, for `splitlab run table1` without the checkout; all else is in pyproject.toml."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["splitlab", "splitlab.*"]), "splitlab.configs"],
    package_dir={"splitlab.configs": "configs"},
    package_data={
        "splitlab": ["py.typed"],
        "splitlab.configs": ["*.yaml"],
        "splitlab.published": ["*.csv", "*.json"],
        "splitlab.report": ["*.css"],
    },
)
