"""Runs an experiment from config to numbers: the Python call behind ``splitlab.run`` and the command line."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splitlab.engine.checksums import check_file
from splitlab.engine.cluster import cluster
from splitlab.engine.config import Experiment, load_experiment
from splitlab.engine.folder import (
    CONFIG,
    TIMING,
    earlier_sessions,
    failures_explained,
    has_times,
    locked,
    make_way,
    open_store,
    own_code,
    stored_experiment,
    stored_times,
    timing_provenance,
    write_config,
    write_manifest,
)
from splitlab.engine.folder_layout import BLOCKS, check_cells
from splitlab.engine.names import with_functions_named
from splitlab.engine.progress import shown, tell
from splitlab.engine.provenance import provenance
from splitlab.engine.runner import all_splitters, check_jobs, compile_kernels, missing_work, run_missing
from splitlab.engine.store import MemoryStore, Store
from splitlab.files import as_csv, write_atomically
from splitlab.kinds.optimality.config import OptimalityExperiment
from splitlab.kinds.optimality.costs import costs
from splitlab.kinds.optimality.results import optimality_frame
from splitlab.kinds.random_tables.plan import cell_blocks, refuse_absurd
from splitlab.kinds.random_tables.published_numbers import kept_published, with_published_located
from splitlab.kinds.splits.results import Results
from splitlab.kinds.splits.summary import IncompleteError, Summary, summarise
from splitlab.kinds.splits.sums_store import SumsStore
from splitlab.kinds.timing.config import TimingExperiment
from splitlab.kinds.timing.measure import (
    check_rows,
    compile_seconds,
    refuse_absurd_timing,
    time_splitters,
    whole_work,
    with_published,
)
from splitlab.kinds.trees.config import TreesExperiment
from splitlab.kinds.trees.results import load_trees, run_trees
from splitlab.splitters.precompile import uncompiled
from splitlab.text import ConfigError


class TimingResults(Results):
    """The times of an experiment of kind timing. It has no wins: the other data frames are empty.

    Attributes
    ----------
    experiment : TimingExperiment
        What was run.
    timing : pandas.DataFrame
        One row per engine, impurity ('all' is the sum over the config's impurities), cell and splitter: tables,
        repeats, microseconds per table and ratio to the baseline's time, both with 95 % interval, the ratio's
        spread over repeats, trustworthy, published (as printed, empty if there is none).
    manifest : dict
        Machine, versions and code that were timed, seconds for compiling and altogether.
    """

    experiment: TimingExperiment
    timing: pd.DataFrame

    def __init__(self, experiment: TimingExperiment, timing: pd.DataFrame, manifest: dict[str, Any]) -> None:
        super().__init__(experiment, MemoryStore(), Summary())
        self.timing = timing
        self.manifest = manifest

    def impurities(self, n: int, k: int, max_count: int, impurity: str) -> NDArray[np.float64]:
        """A timing keeps no impurities: ValueError."""
        raise ValueError(f"{self.experiment.name} is of kind timing, which keeps no impurities; run it as kind splits")


def run(
    config: str | os.PathLike[str] | Mapping[str, Any] | Experiment,
    runs: int | None = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    *,
    overrides: Sequence[str] = (),
    fresh: bool = False,
    say: TextIO | None = None,
    scheduler: str | None = None,
) -> Results:
    """Run an experiment, or what is left of it.

    Parameters
    ----------
    config : path, dict or Experiment
        The experiment; see the README for its keys. Splitters and impurities of one's own may be given as functions.
    runs : int, optional
        Replaces the number of runs of every cell.
    jobs : int, optional
        Worker threads; all processors by default. The results do not depend on it. Kind timing uses one.
    out : path, optional
        Results folder to start or continue; None keeps everything in memory.
    overrides : sequence of str
        ``KEY=VALUE`` for top-level keys of the config.
    fresh : bool
        Keep an existing folder as a backup and start anew.
    say : text stream, optional
        Gets progress and remarks.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers then do the work; for kinds splits and optimality.

    Returns
    -------
    Results
        For kind timing, a TimingResults.

    Raises
    ------
    ValueError
        The config is wrong, contradicts what ``out`` holds, or would take absurdly long.
    OSError
        ``out`` cannot be written.

    Examples
    --------
    >>> config = {"name": "tiny", "impurities": ["gini"], "splitters": ["hcc", "lca"],
    ...           "grid": [{"n": 4, "k": 3, "max_count": 7, "runs": 10}]}
    >>> run(config).impurities(4, 3, 7, "gini").shape
    (10, 2)
    """
    if isinstance(config, Experiment):
        experiment = with_published_located(config)
    else:
        named = with_functions_named(config) if isinstance(config, Mapping) else config
        experiment = with_published_located(load_experiment(named, runs=runs, overrides=overrides))
    if scheduler is not None and experiment.kind not in ("splits", "optimality"):
        raise ConfigError(f"scheduler: kind {experiment.kind} runs on this machine only")
    if isinstance(experiment, TimingExperiment):
        return _run_timing(experiment, jobs, out, fresh, say)
    if isinstance(experiment, TreesExperiment):
        return run_trees(experiment, check_jobs(jobs), out, fresh, say)
    return _run_splits(experiment, check_jobs(jobs), out, fresh, say, scheduler)


def _run_splits(
    experiment: Experiment,
    jobs: int,
    out: str | os.PathLike[str] | None,
    fresh: bool,
    say: TextIO | None,
    scheduler: str | None,
) -> Results:
    remark = _remarks(say)
    refuse_absurd(experiment)
    if out is None:
        store: Store = open_store(None, experiment)
        with failures_explained(None, experiment):
            compute_missing(experiment, store, jobs, say, scheduler)
        return _gathered(experiment, store, None, say)
    folder = Path(out)
    make_way(folder, experiment, fresh, remark)
    with locked(folder):
        check_cells(folder, (cell.label for cell, _ in experiment.cells))
        earlier, kept = earlier_sessions(folder, remark), kept_published(experiment, folder)
        write_config(folder, kept[0])
        store = open_store(folder, experiment, remark)
        began = time.monotonic()
        with failures_explained(folder, experiment):
            computed = compute_missing(experiment, store, jobs, say, scheduler)
        results = _gathered(experiment, store, folder, say)
        if isinstance(store, SumsStore):
            for cell, runs in experiment.cells:
                store.remove_superseded(cell_blocks(cell, runs))
        where = {"jobs": jobs} if scheduler is None else {"scheduler": scheduler}
        session = {"runs_computed": computed, **where, "wall_seconds": round(time.monotonic() - began, 3)}
        times = {TIMING: (folder / TIMING).read_text()} if results.optimality is not None else {}
        write_manifest(folder, _manifest(results, session), earlier, {**kept[1], **times})
    return results


def _gathered(
    experiment: Experiment, store: Store, folder: Path | None, say: TextIO | None = None, *, measure: bool = True
) -> Results:
    """The numbers of stored runs; of kind optimality also the costs, which are measured where they are not stored."""
    summary, optimality = summarise(experiment, store), None
    if isinstance(experiment, OptimalityExperiment):
        optimality = optimality_frame(experiment, store, costs(experiment, folder, say, measure))
    return Results(experiment, store, summary, optimality)


def _run_timing(
    experiment: TimingExperiment, jobs: int | None, out: str | os.PathLike[str] | None, fresh: bool, say: TextIO | None
) -> TimingResults:
    remark = _remarks(say)
    if jobs is not None and check_jobs(jobs) != 1:
        remark(f"jobs: {jobs} is ignored; timing uses one thread")
    refuse_absurd_timing(experiment)
    if out is None:
        return _timed(experiment, say)
    folder = Path(out)
    make_way(folder, experiment, fresh, remark)
    with locked(folder):
        if has_times(folder, experiment):
            remark(f"{folder} holds these times already; they are shown, and nothing is timed anew (--fresh does)")
            write_config(folder, experiment)
            return _load_timing(experiment, folder)
        results = _timed(experiment, say)
        # The times come last: where they are, the config and the manifest that belong to them are there.
        times = as_csv(results.timing)
        write_config(folder, experiment)
        write_manifest(folder, results.manifest, earlier_sessions(folder, remark), {TIMING: times})
        write_atomically(folder / TIMING, times)
    return results


def _timed(experiment: TimingExperiment, say: TextIO | None) -> TimingResults:
    """Compile, time, and say what with."""
    compiling = compile_seconds(experiment)
    if compiling:
        _remarks(say)(f"kernels compiled, or loaded from the cache, in {compiling:.1f} s, apart from all times")
    began, worked = time.monotonic(), time.thread_time()
    try:
        with shown(say, whole_work(experiment)) as progress:
            frame = time_splitters(experiment, progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("of an unfinished timing nothing is kept") from None
    manifest = {
        "name": experiment.name,
        "kind": experiment.kind,
        "seed": experiment.seed,
        "engines": list(experiment.engines),
        "compile_seconds": round(compiling, 3),
        "wall_seconds": round(time.monotonic() - began, 3),
        "processor_seconds": round(time.thread_time() - worked, 3),
        **timing_provenance(experiment),
    }
    return TimingResults(experiment, with_published(experiment, frame), manifest)


def _load_timing(experiment: TimingExperiment, folder: Path) -> TimingResults:
    frame, manifest = stored_times(folder)
    try:
        check_rows(experiment, frame)
        check_file(folder, TIMING)
    except ValueError as error:
        raise ConfigError(f"{folder / TIMING}: {error}") from None
    return TimingResults(experiment, with_published(experiment, frame), manifest)


def load_results(folder: str | os.PathLike[str], say: TextIO | None = None) -> Results:
    """The numbers of a results folder, from its stored blocks or times, without computing any.

    Raises ValueError when the folder holds no results or lacks some of them.
    """
    experiment = with_published_located(stored_experiment(Path(folder)))
    if isinstance(experiment, TimingExperiment):
        return _load_timing(experiment, Path(folder))
    if isinstance(experiment, TreesExperiment):
        return load_trees(experiment, Path(folder), _remarks(say))
    store = open_store(Path(folder), experiment, _remarks(say), imported=False)
    try:
        return _gathered(experiment, store, Path(folder), measure=False)
    except IncompleteError as error:
        if not (Path(folder) / BLOCKS).is_dir():
            raise ConfigError(f"{folder}: holds a summary only, without the runs behind it") from None
        raise ConfigError(f"{folder}: {error}; `splitlab run {folder}/{CONFIG} --out {folder}` computes them") from None


def _remarks(say: TextIO | None) -> Callable[[str], None]:
    return lambda text: tell(text, say)


def compute_missing(
    experiment: Experiment, store: Store, jobs: int, say: TextIO | None, scheduler: str | None = None
) -> int:
    """Compute what is missing, here or on a Dask cluster; the number of runs that were."""
    work = missing_work(experiment, store)
    if not work.runs:
        return 0
    try:
        if scheduler is not None:
            with cluster(scheduler, _remarks(say)) as elsewhere, shown(say, work) as progress:
                run_missing(experiment, store, jobs, progress, elsewhere)
            return work.runs
        _compile(experiment, say)
        with shown(say, work) as progress:
            run_missing(experiment, store, jobs, progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("finished blocks are kept, and the same command continues") from None
    return work.runs


def _compile(experiment: Experiment, say: TextIO | None) -> None:
    began, fresh = time.monotonic(), uncompiled(all_splitters(experiment))
    if fresh:
        _remarks(say)("compiling the kernels; this is done once and takes up to two minutes ...")
    compile_kernels(experiment)
    if fresh:
        _remarks(say)(f"kernels compiled in {time.monotonic() - began:.1f} s")


def _manifest(results: Results, session: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": results.experiment.name,
        "seed": results.experiment.seed,
        "draws": results.experiment.draws,
        **({"functions": functions} if (functions := own_code(results.experiment)) else {}),
        "cells": results.draws.to_dict(orient="records"),
        **session,
        **(provenance() if results.optimality is None else timing_provenance(results.experiment)),
    }
