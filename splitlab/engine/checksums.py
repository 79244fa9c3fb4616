"""Checksums within a folder's own text files, so that a damaged one is named and never used.

``config.yaml`` has its checksum as a comment in its first line, where a truncated file still has it. ``manifest.json``
has it as its last entry, and there those of the other files that results depend on (not of the blocks, which have
their own, nor of tables and figures, which are only ever written).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from splitlab.files import checksum, read_bounded
from splitlab.text import ConfigError

MANIFEST = "manifest.json"
WITHOUT = "delete it to go on without it"
CHECKSUM = "sha256"


def manifest_text(content: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """The manifest as readable JSON, with the checksums of ``files`` (name -> content) and its own."""
    whole = {**content, "files": {name: checksum(text) for name, text in files.items()}}
    return json.dumps({**whole, CHECKSUM: checksum(json.dumps(whole))}, indent=2) + "\n"


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a results folder; empty if there is none, ConfigError if it is damaged."""
    path = folder / MANIFEST
    try:
        content: Any = json.loads(read_bounded(path))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ConfigError(f"{path}: is damaged ({error}); {WITHOUT}") from None
    if not isinstance(content, dict) or content.pop(CHECKSUM, None) != checksum(json.dumps(content)):
        raise ConfigError(f"{path}: is damaged, or was edited: it does not match its checksum; {WITHOUT}")
    return content


def check_file(folder: Path, name: str) -> None:
    """ConfigError when a file of the folder is not the one that the manifest was written for.

    A file that the manifest does not have is newer: the run that wrote it has not come to its end.
    """
    expected = read_manifest(folder).get("files", {}).get(name)
    if expected is not None and checksum(read_bounded(folder / name)) != expected:
        raise ConfigError(f"{folder / name}: is damaged, or was edited: it does not match its checksum in {MANIFEST}")
