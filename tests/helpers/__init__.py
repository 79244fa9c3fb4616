"""What tests of several modules use, apart from fixtures, which are in ``conftest.py``."""

from pathlib import Path

ROOT = Path(__file__).parents[2]  # of the checkout
