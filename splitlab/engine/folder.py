"""A results folder: who may write to it, whether it fits an experiment, and what its manifest says."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from splitlab.engine.checksums import MANIFEST, manifest_text, read_manifest
from splitlab.engine.config import Experiment
from splitlab.engine.store import BLOCKS, remove_unfinished, stored_header
from splitlab.files import verify_checksum, with_checksum, write_atomically
from splitlab.text import ConfigError, shorten

__all__ = [
    "AGAIN",
    "CONFIG",
    "PUBLISHED",
    "conditions",
    "earlier_sessions",
    "holds_results",
    "locked",
    "lost_header",
    "refuse_difference",
    "set_aside",
    "stored_config",
    "what_is_lost",
    "write_config",
    "write_manifest",
]  # fmt: skip

CONFIG = "config.yaml"
PUBLISHED = "published.csv"
AGAIN = "choose another --out, or --fresh to keep the old results as a backup and start again"


def stored_config(folder: Path) -> Path:
    """The config of the experiment whose results ``folder`` holds; ConfigError if it holds none, or a damaged one."""
    if not folder.is_dir():
        there = "is a file, not a folder" if folder.exists() else "there is no such folder"
        raise ConfigError(f"{folder}: {there}; name one that `splitlab run` wrote")
    if not (folder / CONFIG).exists():
        raise ConfigError(f"{folder}: no results here ({CONFIG} is missing); name a folder that `splitlab run` wrote")
    try:
        verify_checksum(folder / CONFIG)
    except ConfigError as error:
        how = f"`splitlab run` with the config that was run here and --out {folder} renews it, and keeps the blocks"
        raise ConfigError(f"{error}; {how}") from None
    return folder / CONFIG


def write_config(folder: Path, experiment: Experiment) -> None:
    """Write the resolved config beside the results."""
    write_atomically(folder / CONFIG, with_checksum(experiment.to_yaml()))


def holds_results(place: Path, summary: str | None) -> bool:
    """Whether there are results that a run would continue; ConfigError when something else is there.

    ``summary`` is the file that is not replaced where the blocks behind it are missing.
    """
    if not place.exists():
        return False
    if not place.is_dir():
        raise ConfigError(f"{place}: is a file, not a folder; choose another --out")
    has_blocks = (place / BLOCKS).is_dir()
    if not ((place / CONFIG).is_file() or has_blocks):
        if any(entry.name != ".lock" for entry in place.iterdir()):
            raise ConfigError(f"{place}: holds files but no splitlab results; choose another --out")
        return False
    if summary and (place / summary).is_file() and not has_blocks:
        raise ConfigError(f"{place}: holds a summary only, which a run would replace; choose another --out")
    return True


def what_is_lost(place: Path, error: ConfigError) -> str:
    """Why a folder's config cannot be read: it is damaged, or it is whole and what it names is not to be had."""
    with suppress(ConfigError, OSError):
        verify_checksum(place / CONFIG)
        return str(error)
    return f"{place / CONFIG}: is lost or damaged"


def lost_header(place: Path, lost: str) -> dict[str, Any]:
    """The header of a block in a folder whose config is lost: it says what the blocks were made with.

    ConfigError if there are no blocks.
    """
    if not (place / BLOCKS).is_dir():
        raise ConfigError(f"{lost}; {AGAIN}")
    return stored_header(place)


def refuse_difference(place: Path, stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """ConfigError where stored results were made with another value than what is wanted."""
    for key, value in wanted.items():
        if stored[key] != value:
            before, now = shorten(str(stored[key])), shorten(str(value))
            raise ConfigError(f"{place}: was made with {key}: {before}, and this config says {key}: {now}; {AGAIN}")


def set_aside(folder: Path) -> Path | None:
    """Rename an existing results folder to a backup beside it; its new path. ConfigError if a run is writing there."""
    if not (folder / CONFIG).is_file():
        return None
    if folder.resolve() == Path.cwd():
        raise ConfigError(f"{folder}: is the current folder, which cannot be set aside; call --fresh from another one")
    with locked(folder):
        return _renamed(folder)


def _renamed(folder: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    backup = folder.with_name(f"{folder.name}.backup-{stamp}")
    for number in range(2, 1000):
        if not backup.exists():
            break
        backup = folder.with_name(f"{folder.name}.backup-{stamp}-{number}")
    return folder.rename(backup)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for one run at a time; the system lets go of the lock when a process ends, however it does."""
    folder.mkdir(parents=True, exist_ok=True)
    file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_unfinished(folder)
        yield
    except BlockingIOError:
        raise ConfigError(f"{folder}: another run is writing here; wait for it or choose another --out") from None
    finally:
        os.close(file)


def earlier_sessions(folder: Path, remark: Callable[[str], None]) -> list[Any]:
    """The manifests of the sessions before this one that computed something, to go into its own."""
    try:
        last = read_manifest(folder)
    except ConfigError:
        remark(f"{folder / MANIFEST}: is damaged; it is written again, without the earlier sessions")
        return []
    return [*last.pop("earlier", []), *([last] if last.get("runs_computed") else [])]


def write_manifest(
    folder: Path, content: Mapping[str, Any], earlier: list[Any], files: Mapping[str, str] | None = None
) -> None:
    """Write the manifest, with the checksums of the files that belong to it."""
    write_atomically(folder / MANIFEST, manifest_text({**content, "earlier": earlier}, files or {}))


def conditions(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says of machine, versions and code, which times and last bits depend on; None for nothing."""
    machine, packages = manifest.get("machine") or {}, manifest.get("packages") or {}
    parts = {f"machine's {key}": machine.get(key) for key in ("cpu", "cores", "architecture", "system")}
    versions = {name: packages.get(name) for name in ("numpy", "numba")}
    code = {"code of the splitters": manifest.get("code"), "functions": manifest.get("functions") or {}}
    return {**parts, "python": manifest.get("python"), **versions, **code}
