"""Manifests that say something else, with a checksum that fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from splitlab.files import checksum


def rewrite_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest into a results folder, its checksum made again."""
    content = {key: value for key, value in manifest.items() if key != "sha256"}
    (folder / "manifest.json").write_text(json.dumps({**content, "sha256": checksum(json.dumps(content))}))
