"""Times that were measured: what they depend on, and reading them again."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd

from splitlab.engine.checksums import read_manifest
from splitlab.engine.folder import CONFIG
from splitlab.files import read_bounded
from splitlab.text import ConfigError

TIMING = "timing.csv"
FLOATS = (*(f"{number}{end}" for number in ("microseconds", "ratio") for end in ("", "_low", "_high")), "spread")


def stored_times(folder: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The times that ``folder`` holds, and its manifest; ConfigError if there are none or they are no good."""
    path = folder / TIMING
    try:
        # Python's float gives back exactly what was written, which pandas' own parser does not in all versions.
        frame = pd.read_csv(
            io.BytesIO(read_bounded(path)),
            keep_default_na=False,
            dtype={"published": str},
            converters=dict.fromkeys(FLOATS, float),
        )
    except FileNotFoundError:
        how = f"`splitlab run {folder}/{CONFIG} --out {folder}` measures them"
        raise ConfigError(f"{folder}: holds no times ({TIMING} is missing); {how}") from None
    except (ValueError, OSError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from None
    return frame, read_manifest(folder)
