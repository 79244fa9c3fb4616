"""The data of the tree study's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from splitlab.kinds.data_sets.catalogue import VARIABLE
from tests.helpers import made_up


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the made-up data, where the study looks for them."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    made_up.write(tmp_path)
    return tmp_path
