"""A results folder: who may write to it, whether it fits an experiment, and what its manifest says."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd

from splitlab import plugins
from splitlab._jit import source_hash
from splitlab.montecarlo import lower_bound
from splitlab.montecarlo.config import ConfigError, Experiment, load_experiment
from splitlab.montecarlo.names import Plugins
from splitlab.montecarlo.optimality_config import LOWER_BOUND
from splitlab.montecarlo.provenance import provenance
from splitlab.montecarlo.runner import RunError, all_splitters
from splitlab.montecarlo.store import FolderStore, write_atomically
from splitlab.montecarlo.timing_config import TimingExperiment
from splitlab.montecarlo.yaml_source import shorten
from splitlab.splitters import fingerprint, get

CONFIG = "config.yaml"
MANIFEST = "manifest.json"
TIMING = "timing.csv"
SUMMARIES = ("win_percentage.csv", "optimality.csv")
FLOATS = (*(f"{number}{end}" for number in ("microseconds", "ratio") for end in ("", "_low", "_high")), "spread")
SAMPLER = ("sampling.py",)
ANEW = "choose another --out, or --fresh to keep the old results as a backup and start anew"


def origin(experiment: Experiment) -> dict[str, Any]:
    """What decides the tables: an experiment with another origin cannot continue in the same folder."""
    return {"seed": experiment.seed, "draws": experiment.draws}


def open_store(folder: Path, experiment: Experiment, warn: Any = lambda text: None) -> FolderStore:
    """The blocks of ``folder`` as far as they fit ``experiment`` and the present code."""
    return FolderStore(
        folder, {**origin(experiment), "sampler": source_hash(SAMPLER)[:16]}, _fingerprints(experiment), warn
    )


def _fingerprints(experiment: Experiment) -> dict[tuple[str, str], str]:
    """Hashes of the code behind each column; none for functions that are not to be had any more."""
    splitters, impurities = {LOWER_BOUND: source_hash(lower_bound.SOURCES)[:16]}, {}
    for name in all_splitters(experiment):
        with suppress(ValueError):
            splitters[name] = fingerprint(get(name))
    for name in experiment.impurities:
        with suppress(ValueError):
            impurities[name] = plugins.fingerprint(name) if plugins.is_plugin(name) else ""
    return {(i, s): mine + own for i, own in impurities.items() for s, mine in splitters.items()}


def stored_experiment(folder: Path) -> Experiment:
    """The experiment whose results ``folder`` holds; ConfigError if it holds none."""
    if not (folder / CONFIG).is_file():
        raise ConfigError(f"{folder}: no results here ({CONFIG} is missing); name a folder that `splitlab run` wrote")
    return load_experiment(folder / CONFIG, plugins=Plugins(imported=False))


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
    if any((folder / name).is_file() for name in SUMMARIES) and not (folder / "blocks").is_dir():
        raise ConfigError(f"{folder}: holds a summary only, which a run would replace; choose another --out")
    stored = stored_experiment(folder)
    _refuse_difference(folder, {"kind": stored.kind}, {"kind": experiment.kind})
    _refuse_difference(folder, origin(stored), origin(experiment))


def _refuse_difference(folder: Path, stored: dict[str, Any], wanted: dict[str, Any]) -> None:
    for key, value in wanted.items():
        if stored[key] != value:
            before, now = shorten(str(stored[key])), shorten(str(value))
            raise ConfigError(f"{folder}: was made with {key}: {before}, and this config says {key}: {now}; {ANEW}")


def has_times(folder: Path, experiment: TimingExperiment) -> bool:
    """Whether ``folder`` holds the times that this experiment would measure here; ConfigError if it holds others.

    Times of another config, machine, set of versions or code are other times: they are never merged, nor replaced.
    """
    if not (folder / TIMING).is_file():
        return False
    stored = stored_experiment(folder)
    assert isinstance(stored, TimingExperiment)  # check_continuation saw to it
    _refuse_difference(folder, _timing_origin(stored), _timing_origin(experiment))
    before = timing_conditions(_stored_manifest(folder))
    for name, here in timing_conditions(timing_provenance()).items():
        if before[name] != here:
            raise ConfigError(
                f"{folder}: was timed with {name}: {before[name]}, and here it is {here}; "
                f"times of different machines or programs are never merged; {ANEW}"
            )
    return True


def _timing_origin(experiment: TimingExperiment) -> dict[str, Any]:
    """The keys of the config that decide what is timed."""
    cells = ", ".join(f"{cell.label} x {runs}" for cell, runs in experiment.cells)
    lists = {key: ", ".join(getattr(experiment, key)) for key in ("engines", "impurities", "splitters")}
    numbers = {key: getattr(experiment, key) for key in ("seed", "repeats", "python_runs", "baseline")}
    return {**numbers, **lists, "grid": cells}


def timing_provenance() -> dict[str, Any]:
    """Versions, machine, git commit, and a hash of the code that is timed."""
    return {"code": source_hash()[:16], **provenance()}


def timing_conditions(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a manifest says of the things that times depend on; None where it says nothing."""
    machine, packages = manifest.get("machine") or {}, manifest.get("packages") or {}
    parts = {f"machine's {key}": machine.get(key) for key in ("cpu", "cores", "architecture", "system")}
    versions = {name: packages.get(name) for name in ("numpy", "numba")}
    return {**parts, "python": manifest.get("python"), **versions, "code of the splitters": manifest.get("code")}


def stored_times(folder: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The times that ``folder`` holds, and its manifest; ConfigError if there are none or they are no good."""
    path = folder / TIMING
    try:
        # Python's float gives back exactly what was written, which pandas' own parser does not in all versions.
        frame = pd.read_csv(
            path, keep_default_na=False, dtype={"published": str}, converters=dict.fromkeys(FLOATS, float)
        )
    except FileNotFoundError:
        how = f"`splitlab run {folder}/{CONFIG} --out {folder}` measures them"
        raise ConfigError(f"{folder}: holds no times ({TIMING} is missing); {how}") from None
    except (ValueError, OSError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from None
    return frame, _stored_manifest(folder)


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


def make_way(folder: Path, experiment: Experiment, fresh: bool, remark: Callable[[str], None]) -> None:
    """Set old results aside if asked to; ConfigError if what is there cannot be continued."""
    if fresh and (backup := set_aside(folder)):
        remark(f"the old results are kept in {backup}")
    check_continuation(folder, experiment)


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
    sessions = sessions if isinstance(sessions, list) else []
    if earlier.get("runs_computed"):
        sessions.append(earlier)
    write_atomically(folder / MANIFEST, json.dumps({**content, "earlier": sessions}, indent=2) + "\n")


def _stored_manifest(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


@contextmanager
def replay_named(folder: Path) -> Iterator[None]:
    """Say of a run that failed how its table can be seen."""
    try:
        yield
    except RunError as error:
        cell = error.cell
        place = f"{folder} --n {cell.n} --k {cell.k} --max-count {cell.max_count} --run {error.run}"
        how = f"`splitlab replay {place}` shows the table, and on_error: record keeps such runs as failures"
        raise ConfigError(f"{error}; {how}; finished blocks are kept") from error
