"""A results folder: who may write to it, whether it fits an experiment, and what its manifest says."""

from __future__ import annotations

import errno
import fcntl
import io
import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, overload

import pandas as pd

from splitlab import plugins
from splitlab.engine.checksums import MANIFEST, manifest_text, parsed_manifest, read_manifest
from splitlab.engine.config import Cell, Experiment, load_experiment
from splitlab.engine.folder_layout import BLOCKS, check_blocks, check_texts
from splitlab.engine.names import Plugins
from splitlab.engine.provenance import provenance
from splitlab.engine.runner import RunError, all_splitters
from splitlab.engine.store import FolderStore, MemoryStore, remove_unfinished, stored_header
from splitlab.files import read_bounded, verify_checksum, with_checksum, write_atomically
from splitlab.kinds.optimality import lower_bound
from splitlab.kinds.optimality.config import LOWER_BOUND
from splitlab.kinds.random_tables.plan import columns_of
from splitlab.kinds.splits.sums_store import SumsStore
from splitlab.kinds.timing.config import TimingExperiment
from splitlab.kinds.trees.config import TreesExperiment
from splitlab.sources import source_hash
from splitlab.splitters import fingerprint, get
from splitlab.splitters.registry import code_hash
from splitlab.text import ConfigError, shorten

CONFIG = "config.yaml"
PUBLISHED = "published.csv"
TIMING = "timing.csv"
SUMMARIES = ("win_percentage.csv", "optimality.csv")
FLOATS = (*(f"{number}{end}" for number in ("microseconds", "ratio") for end in ("", "_low", "_high")), "spread")
SAMPLER = "splitlab.tables.sampling"
ANEW = "choose another --out, or --fresh to keep the old results as a backup and start anew"


def origin(experiment: Experiment) -> dict[str, Any]:
    """What decides the tables, or trees: an experiment with another origin cannot continue in the same folder."""
    if isinstance(experiment, TreesExperiment):
        return experiment.protocol()
    return {"seed": experiment.seed, "draws": experiment.draws}


@overload
def open_store(
    folder: Path, experiment: Experiment, warn: Any = ..., *, imported: bool = ...
) -> FolderStore | SumsStore: ...
@overload
def open_store(folder: None, experiment: Experiment) -> MemoryStore | SumsStore: ...
def open_store(
    folder: Path | None, experiment: Experiment, warn: Any = lambda text: None, *, imported: bool = True
) -> FolderStore | MemoryStore | SumsStore:
    """The blocks of ``folder`` as far as they fit ``experiment`` and the present code; without one, in memory.

    Unless functions of people's own are ``imported``, their columns are taken as they are, and so are those of
    functions that are not to be had any more.
    """
    fingerprints = _fingerprints(experiment, imported)
    whole_origin = {**origin(experiment), "sampler": source_hash(SAMPLER)[:16]}
    if not experiment.keep_runs:
        marks = {column: fingerprints.get(column) for column in columns_of(experiment)}
        return SumsStore(folder, whole_origin, marks, warn)
    return FolderStore(folder, whole_origin, fingerprints, warn) if folder else MemoryStore()


def _fingerprints(experiment: Experiment, imported: bool) -> dict[tuple[str, str], str]:
    """Hashes of the code behind each column."""
    splitters, impurities = {LOWER_BOUND: source_hash(lower_bound.bounds_of)[:16]}, {}
    for name in all_splitters(experiment):
        with suppress(ValueError):
            if imported or not get(name).custom:
                splitters[name] = fingerprint(get(name))
    for name in experiment.impurities:
        with suppress(ValueError):
            if imported or not plugins.is_plugin(name):
                impurities[name] = plugins.fingerprint(name) if plugins.is_plugin(name) else ""
    return {(i, s): mine + own for i, own in impurities.items() for s, mine in splitters.items()}


def own_code(experiment: Experiment) -> dict[str, str]:
    """The fingerprints of people's own functions in an experiment, for its manifest."""
    splitters = (get(name) for name in experiment.splitters)
    functions = [*filter(plugins.is_plugin, experiment.impurities), *(s.kernel_path for s in splitters if s.custom)]
    return {name: plugins.fingerprint(name) for name in functions}


def stored_experiment(folder: Path) -> Experiment:
    """The experiment whose results ``folder`` holds; ConfigError if it holds none."""
    if not (folder.is_dir() and os.path.lexists(folder / CONFIG)):
        raise ConfigError(f"{folder}: no results here ({CONFIG} is missing); name a folder that `splitlab run` wrote")
    try:
        verify_checksum(folder / CONFIG)
    except ConfigError as error:
        how = f"`splitlab run` with the config that was run here and --out {folder} renews it, and keeps the blocks"
        raise ConfigError(f"{error}; {how}") from None
    return load_experiment(folder / CONFIG, plugins=Plugins(imported=False))


def write_config(folder: Path, experiment: Experiment) -> None:
    """Write the resolved config beside the results."""
    write_atomically(folder / CONFIG, with_checksum(experiment.to_yaml()))


def check_continuation(folder: Path, experiment: Experiment, remark: Callable[[str], None]) -> None:
    """ConfigError when ``folder`` holds something that this experiment cannot continue.

    Where the config is lost or damaged, the blocks say what they were made with.
    """
    if not folder.exists():
        if folder.is_symlink():
            raise ConfigError(f"{folder}: is a link to {folder.readlink()}, which is not there; choose another --out")
        return
    if not folder.is_dir():
        raise ConfigError(f"{folder}: is a file, not a folder; choose another --out")
    check_blocks(folder)
    check_texts(folder)
    has_blocks = (folder / BLOCKS).is_dir()
    if not ((folder / CONFIG).is_file() or has_blocks):
        if any(entry.name != ".lock" for entry in folder.iterdir()):
            raise ConfigError(f"{folder}: holds files but no splitlab results; choose another --out")
        return
    if any((folder / name).is_file() for name in SUMMARIES) and not has_blocks:
        raise ConfigError(f"{folder}: holds a summary only, which a run would replace; choose another --out")
    try:
        stored = stored_experiment(folder)
    except ConfigError as error:
        lost = _what_is_lost(folder, error)
        if not has_blocks:
            raise ConfigError(f"{lost}; {ANEW}") from None
        wanted = _identity(experiment)
        _refuse_difference(folder, {**wanted, **_identity_of_blocks(folder, experiment)}, wanted)
        remark(f"{lost}; it is written anew, and the blocks are kept")
        return
    _refuse_difference(folder, {"kind": stored.kind}, {"kind": experiment.kind})
    _refuse_difference(folder, {**_identity(experiment), **_identity(stored)}, _identity(experiment))
    if isinstance(stored, TreesExperiment) and isinstance(experiment, TreesExperiment):
        for trial, seeds in enumerate(zip(stored.seeds, experiment.seeds, strict=False), 1):  # more can be added
            _refuse_difference(folder, *({f"the seed of trial {trial}": seed} for seed in seeds))
    if not experiment.keep_runs:
        _refuse_fewer(folder, dict(stored.cells), experiment)


def _what_is_lost(folder: Path, error: ConfigError) -> str:
    """Why a folder's config cannot be read: it is damaged, or it is whole and what it names is not to be had."""
    with suppress(ConfigError, OSError):
        verify_checksum(folder / CONFIG)
        return str(error)
    return f"{folder / CONFIG}: is lost or damaged"


def _refuse_fewer(folder: Path, before: Mapping[Cell, int], experiment: Experiment) -> None:
    for cell, runs in experiment.cells:
        if runs < before.get(cell, 0):
            raise ConfigError(
                f"{folder}: is for {before[cell]} runs of {cell.label}, of which (keep_runs: false) sums are kept that "
                f"cannot be cut to {runs}; {ANEW}"
            )


def _identity(experiment: Experiment) -> dict[str, Any]:
    """What has to stay the same when an experiment is continued."""
    common = {**origin(experiment), "keep_runs": _word(experiment.keep_runs)}
    if experiment.keep_runs:
        return common
    lists = {key: ", ".join(getattr(experiment, key)) for key in ("impurities", "splitters")}
    return {**common, **lists}  # from sums nothing can be left out, and to them nothing be added


def _identity_of_blocks(folder: Path, experiment: Experiment) -> dict[str, Any]:
    """The same of what the blocks were made for, as far as it can be read from them."""
    header = stored_header(folder)
    found: dict[str, Any] = {key: header[key] for key in origin(experiment) if key in header}
    if "sums" not in header:
        return {**found, **({"keep_runs": _word(True)} if header else {})}
    try:
        names = [dict.fromkeys(str(column[at]) for column in header["columns"]) for at in (0, 1)]
    except (KeyError, TypeError, IndexError):  # nothing that we wrote
        return found
    lists = {key: ", ".join(n) for key, n in zip(("impurities", "splitters"), names, strict=True)}
    return {**found, "keep_runs": _word(False), **lists}


def _word(yes: bool) -> str:
    return str(yes).lower()


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
    before = timing_conditions(parsed_manifest(folder))
    for name, here in timing_conditions(timing_provenance(experiment)).items():
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


def timing_provenance(experiment: Experiment) -> dict[str, Any]:
    """Versions, machine, git commit, and hashes of the code that is timed."""
    return {"code": code_hash()[:16], "functions": own_code(experiment), **provenance()}


def timing_conditions(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a manifest says of the things that times depend on; None where it says nothing."""
    machine, packages = manifest.get("machine") or {}, manifest.get("packages") or {}
    parts = {f"machine's {key}": machine.get(key) for key in ("cpu", "cores", "architecture", "system")}
    versions = {name: packages.get(name) for name in ("numpy", "numba")}
    code = {"code of the splitters": manifest.get("code"), "functions": manifest.get("functions") or {}}
    return {**parts, "python": manifest.get("python"), **versions, **code}


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
    except ConfigError:
        raise
    except (ValueError, OSError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from None
    return frame, parsed_manifest(folder)


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
    check_continuation(folder, experiment, remark)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for one run at a time; the system lets go of the lock when a process ends, however it does."""
    folder.mkdir(parents=True, exist_ok=True)
    file = _opened_lock(folder / ".lock")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_unfinished(folder)
        yield
    except BlockingIOError:
        raise ConfigError(f"{folder}: another run is writing here; wait for it or choose another --out") from None
    finally:
        os.close(file)


def _opened_lock(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        if error.errno in (errno.EISDIR, errno.ELOOP):
            raise ConfigError(f"{path}: is a folder or link where a file belongs; remove it") from None
        raise


def earlier_sessions(folder: Path, remark: Callable[[str], None]) -> list[Any]:
    """The manifests of the sessions before this one that computed something, to go into its own."""
    try:
        last = read_manifest(folder)
    except ConfigError:
        remark(f"{folder / MANIFEST}: is damaged; it is written anew, without the earlier sessions")
        return []
    sessions = last.pop("earlier", [])
    return [*(sessions if isinstance(sessions, list) else []), *([last] if last.get("runs_computed") else [])]


def write_manifest(
    folder: Path, content: Mapping[str, Any], earlier: list[Any], files: Mapping[str, str] | None = None
) -> None:
    """Write the manifest, with the checksums of the files that belong to it."""
    write_atomically(folder / MANIFEST, manifest_text({**content, "earlier": earlier}, files or {}))


@contextmanager
def failures_explained(folder: Path | None, experiment: Experiment) -> Iterator[None]:
    """Say where a splitter failed and how the table can be seen; ``folder`` is None where nothing is kept."""
    kept = "; finished blocks are kept" if folder else ""
    try:
        yield
    except BrokenProcessPool:
        names = ", ".join(name for name in experiment.splitters if get(name).custom)
        reasons = "it left the program, or took too much memory"
        raise ConfigError(f"{names}: a process that ran it has ended: {reasons}{kept}") from None
    except RunError as error:
        raise ConfigError(f"{error}; {_how_to_replay(error, folder, experiment)}{kept}") from error


def _how_to_replay(error: RunError, folder: Path | None, experiment: Experiment) -> str:
    cell, source = error.cell, experiment.source
    elsewhere = source is not None and source.parent.resolve() != Path.cwd()
    path = f"PYTHONPATH={shlex.quote(str(source.parent))} " if source and elsewhere else ""
    place = f"{shlex.quote(str(folder or 'DIR'))} --n {cell.n} --k {cell.k} --max-count {cell.max_count}"
    shown = f"{'' if folder else 'with out=DIR, '}`{path}splitlab replay {place} --run {error.run}` shows the table"
    return f"{shown}, and on_error: record keeps such runs as failures"
