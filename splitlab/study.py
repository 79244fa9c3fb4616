"""Runs an experiment from config to numbers: the Python calls behind ``splitlab.run`` and the command line.

This is where the list of kinds meets the engine, which knows none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from splitlab.engine import config as configs
from splitlab.engine.checksums import read_manifest
from splitlab.engine.config import Experiment
from splitlab.engine.folder import stored_config
from splitlab.engine.kind import Kind
from splitlab.engine.names import Plugins, with_functions_named
from splitlab.engine.progress import followed, tell
from splitlab.engine.session import Session, check_jobs
from splitlab.files import write_atomically
from splitlab.kinds import KINDS
from splitlab.plugins import is_plugin, search
from splitlab.plugins import load as load_function
from splitlab.report import page
from splitlab.report.figures import save
from splitlab.shipped import located
from splitlab.splitters.compiling import compilation_shown
from splitlab.text import ConfigError

if TYPE_CHECKING:
    from splitlab.kinds.splits.results import Results


def kind_class(name: str) -> type[Kind[Any, Any]] | None:
    """The class of a kind of experiment; None where there is no kind of that name.

    ConfigError where a name ``package.module:Class`` stands for something else.
    """
    if name not in KINDS and not is_plugin(name):
        return None
    if name not in KINDS:  # user code, which may be in the current folder; our own kinds are never looked for there
        search((Path(),))
    made: Any = load_function(KINDS.get(name, name))
    if not (isinstance(made, type) and issubclass(made, Kind)):
        raise ConfigError(f"kind: {name} is no class of experiments; derive one from splitlab.engine.kind.Kind")
    if not issubclass(getattr(made, "Config", type(None)), Experiment):
        raise ConfigError(f"kind: {name} has no Config; name the model of its config, a splitlab Experiment")
    return made


def _model_of(name: str) -> type[Experiment] | None:
    found = kind_class(name)
    return found.Config if found else None


def load_experiment(config: str | os.PathLike[str] | Mapping[str, Any], **how: Any) -> Experiment:
    """Read and check a config, or the one of that name that comes with splitlab.

    The further arguments are those of `splitlab.engine.config.load_experiment`.

    Examples
    --------
    >>> grid = [{"n": [12, 25], "k": 3, "max_count": 7, "runs": 1000}]
    >>> config = {"name": "small", "impurities": "gini", "splitters": ["hcc", "lca"], "grid": grid}
    >>> experiment = load_experiment(config, runs=10, overrides=["seed=1"])
    >>> experiment.seed, [(cell.label, runs) for cell, runs in experiment.cells]
    (1, [('n12_k3_m7', 10), ('n25_k3_m7', 10)])
    """
    found = config if isinstance(config, Mapping) else located(config)
    return configs.load_experiment(found, _model_of, tuple(KINDS), **how)


def kind_of(experiment: Experiment) -> Kind[Any, Any]:
    """An experiment with what its kind does with it."""
    found = kind_class(experiment.kind)
    assert found is not None  # the config was checked
    return found(experiment)


def stored_experiment(folder: Path, plugins: Plugins | None = None) -> Experiment:
    """The experiment whose results a folder holds; ConfigError if it holds none.

    Of user-defined code only the class of a user-defined kind is imported, as ``plugins`` says.
    """
    return load_experiment(stored_config(folder), plugins=replace(plugins or Plugins(), imported=False))


def opened(folder: Path, plugins: Plugins | None = None) -> Kind[Any, Any]:
    """The experiment whose results a folder holds, as an instance of its kind."""
    return kind_of(stored_experiment(folder, plugins))


@compilation_shown()
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
        The experiment; see the README for its keys. User-defined splitters and impurities may be given as functions.
    runs : int, optional
        Replaces the number of runs of every cell.
    jobs : int, optional
        Worker threads; all processors by default. The results do not depend on it. Times are measured in one.
    out : path, optional
        Results folder to start or continue; None keeps everything in memory.
    overrides : sequence of str
        ``KEY=VALUE`` for top-level keys of the config.
    fresh : bool
        Keep an existing folder as a backup and start again.
    say : text stream, optional
        Gets progress and remarks.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers then do the work, for kinds that allow it.

    Returns
    -------
    Results
        The numbers of the experiment; kinds may have classes of their own, see their docstrings.

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
    if not isinstance(config, Experiment):
        named = with_functions_named(config) if isinstance(config, Mapping) else config
        config = load_experiment(named, runs=runs, overrides=overrides)
    session = Session(Path(out) if out is not None else None, jobs, scheduler, fresh, say, opened)
    kind = kind_of(config).ready()
    if scheduler is not None and not kind.DISTRIBUTED:
        raise ConfigError(f"scheduler: kind {config.kind} runs on this machine only")
    check_jobs(jobs)
    results: Results = kind.run(session)
    return results


def load(folder: str | os.PathLike[str]) -> Results:
    """The numbers of a results folder, of any kind of experiment, without computing any.

    Parameters
    ----------
    folder : path
        What ``splitlab run`` or ``splitlab.run(..., out=folder)`` wrote.

    Returns
    -------
    Results
        As `run` returned them.

    Raises
    ------
    ValueError
        There is no such folder, it holds no results, lacks some of them or is damaged.

    Examples
    --------
    >>> load("nowhere")
    Traceback (most recent call last):
    splitlab.text.ConfigError: nowhere: there is no such folder; name one that `splitlab run` wrote
    """
    results: Results = load_results(folder)
    return results


def load_results(folder: str | os.PathLike[str], say: TextIO | None = None) -> Any:
    """The numbers of a results folder, from what is stored there, without computing any.

    ValueError when the folder holds no results or lacks some of them.
    """
    place = Path(folder)
    return (
        opened(place, Plugins(announce=lambda text: tell(text, say))).ready().load(place, Session(out=place, say=say))
    )


def verdict(results: Any) -> Any:
    """How results of any kind compare with what is published."""
    return kind_of(results.experiment).verdict(results)


def write_tables(results: Any, folder: Path, notes: tuple[str, ...] = ()) -> None:
    """Write the tables of an experiment of any kind into its results folder."""
    kind_of(results.experiment).write_tables(results, folder, notes)


def text_of(results: Any, notes: tuple[str, ...] = ()) -> str:
    """The tables of an experiment of any kind, for the terminal."""
    return kind_of(results.experiment).text(results, notes)


def section(results: Any, folder: Path, plots: Sequence[Any], *notes: str, title: str) -> page.Section:
    """The section of an HTML page about an experiment of any kind."""
    return kind_of(results.experiment).section(results, read_manifest(folder), plots, *notes, title=title)


def write_document(results: Any, folder: Path, say: TextIO | None = None) -> None:
    """Write FOLDER/figures (png, svg, data, captions) and FOLDER/report.html."""
    plots = kind_of(results.experiment).figures(results)
    for plot in followed(plots, say, "drawing", "figures"):
        save(plot, folder / "figures")
    name = results.experiment.name
    lead = "Written by splitlab from stored results; its numbers are those of the csv files beside this page."
    whole = section(results, folder, plots, title="What was run, and what came out")
    write_atomically(folder / "report.html", page.page(f"Experiment {name}", lead, [whole]))
