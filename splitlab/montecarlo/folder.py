"""A results folder: who may write to it, whether it fits an experiment, and what its manifest says."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from splitlab._jit import source_hash
from splitlab.montecarlo.config import ConfigError, Experiment, load_experiment
from splitlab.montecarlo.store import FolderStore, write_atomically
from splitlab.splitters import splitters

CONFIG = "config.yaml"
MANIFEST = "manifest.json"
SAMPLER = ("sampling.py",)


def origin(experiment: Experiment) -> dict[str, Any]:
    """What decides the tables: an experiment with another origin cannot continue in the same folder."""
    return {"seed": experiment.seed, "draws": experiment.draws}


def open_store(folder: Path, experiment: Experiment, warn: Any = lambda text: None) -> FolderStore:
    """The blocks of ``folder`` as far as they fit ``experiment`` and the present code."""
    fingerprints = {s.name: source_hash(s.source_files())[:16] for s in splitters()}
    return FolderStore(folder, {**origin(experiment), "sampler": source_hash(SAMPLER)[:16]}, fingerprints, warn)


def stored_experiment(folder: Path) -> Experiment:
    """The experiment whose results ``folder`` holds; ConfigError if it holds none."""
    if not (folder / CONFIG).is_file():
        raise ConfigError(f"{folder}: no results here ({CONFIG} is missing); name a folder that `splitlab run` wrote")
    return load_experiment(folder / CONFIG)


def check_continuation(folder: Path, experiment: Experiment) -> None:
    """ConfigError when ``folder`` holds something that this experiment cannot continue."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ConfigError(f"{folder}: is a file, not a folder; choose another --out")
    if not (folder / CONFIG).is_file():
        if any(entry.name != ".lock" for entry in folder.iterdir()):
            raise ConfigError(f"{folder}: holds files but no splitlab results; choose another --out")
        return
    stored = origin(stored_experiment(folder))
    for key, value in origin(experiment).items():
        if stored[key] != value:
            raise ConfigError(
                f"{folder}: was made with {key}: {stored[key]}, and this config says {key}: {value}; "
                f"choose another --out, or --fresh to keep the old results as a backup and start anew"
            )


def set_aside(folder: Path) -> Path | None:
    """Rename an existing results folder to a backup beside it; its new path. ConfigError if a run is writing there."""
    if not (folder / CONFIG).is_file():
        return None
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
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(f"{folder}: another run is writing here; wait for it or choose another --out") from None
        yield


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """Write the manifest as readable JSON; those of earlier sessions that computed something stay in ``earlier``."""
    earlier = _stored_manifest(folder)
    sessions = earlier.pop("earlier", [])
    if earlier.get("runs_computed"):
        sessions.append(earlier)
    write_atomically(folder / MANIFEST, json.dumps({**content, "earlier": sessions}, indent=2) + "\n")


def _stored_manifest(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
