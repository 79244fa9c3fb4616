"""What splitters cost in kind optimality: a short timing pass, serial, over the first tables of each cell.

The times are those of kind timing, one small experiment of that kind per cell, kept in ``timing.csv``. They are
measured once, and again when the machine, the versions, the code or the splitters have changed.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from splitlab.engine.blocks import together
from splitlab.engine.checksums import check_file
from splitlab.engine.folder import conditions
from splitlab.engine.progress import shown
from splitlab.engine.session import Session
from splitlab.files import as_csv, write_atomically
from splitlab.kinds.optimality.config import OptimalityExperiment
from splitlab.kinds.random_tables.config import CELL
from splitlab.kinds.random_tables.work import timing_provenance
from splitlab.kinds.timing.config import TimingExperiment
from splitlab.kinds.timing.measure import check_rows, time_splitters, whole_work
from splitlab.kinds.timing.times import TIMING, stored_times
from splitlab.splitters.precompile import compile_all
from splitlab.text import ConfigError

REPEATS = 2  # the fewest that kind timing takes


def timings(experiment: OptimalityExperiment) -> list[TimingExperiment]:
    """For each cell an experiment of kind timing."""
    return [
        TimingExperiment.model_construct(
            name=experiment.name,
            kind="timing",
            impurities=experiment.impurities,
            splitters=experiment.competitors(cell),
            seed=experiment.seed,
            engines=("compiled",),
            repeats=REPEATS,
            baseline=experiment.splitters[0],
        ).with_cells([(cell, min(runs, experiment.timing_runs))])
        for cell, runs in experiment.cells
    ]


def costs(experiment: OptimalityExperiment, session: Session, measure: bool = True) -> pd.DataFrame:
    """The times of all cells, as `frame_of` of kind timing gives them: those in the session's folder, else measured.

    ConfigError when some are missing and are not to be measured.
    """
    folder = session.out
    stored = _stored(experiment, folder, current_only=measure)
    frames = [_fitting(part, stored) for part in timings(experiment)]
    missing = [part for part, frame in zip(timings(experiment), frames, strict=True) if frame is None]
    if missing and not measure:
        label = missing[0].cells[0][0].label
        raise ConfigError(f"{folder}: holds no times of cell {label}; `splitlab run` with this folder measures them")
    measured = iter(_measured(missing, session) if missing else [])
    frame = pd.concat([next(measured) if f is None else f for f in frames], ignore_index=True)
    if missing and folder is not None:
        write_atomically(folder / TIMING, as_csv(frame))
    return frame


def _stored(experiment: OptimalityExperiment, folder: Path | None, current_only: bool) -> pd.DataFrame | None:
    """The times in ``folder``, if there are any; ``current_only``: and only if they were measured as they would be."""
    if folder is None or not (folder / TIMING).is_file():
        return None
    try:
        frame, manifest = stored_times(folder)
        check_file(folder, TIMING)
    except ConfigError:  # a run that was killed before it wrote the manifest leaves times without a checksum
        if current_only:
            return None
        raise
    current = conditions(manifest) == conditions(timing_provenance(experiment))
    return frame if current or not current_only else None


def _fitting(part: TimingExperiment, stored: pd.DataFrame | None) -> pd.DataFrame | None:
    """The stored rows of a part, if they are those of its splitters."""
    if stored is None:
        return None
    cell, _ = part.cells[0]
    rows = stored[(stored[CELL] == [cell.n, cell.k, cell.max_count]).all(axis=1)]
    try:
        check_rows(part, rows)
    except ValueError:
        return None
    return rows


def _measured(parts: list[TimingExperiment], session: Session) -> list[pd.DataFrame]:
    for part in parts:
        compile_all(part.splitters)
    session.remark("timing the splitters, one after the other in one thread ...")
    whole = together(map(whole_work, parts))
    with shown(session.say, whole, doing="timing") as progress:
        return [time_splitters(part, progress) for part in parts]
