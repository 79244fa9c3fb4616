"""The published numbers that a config names: where they are, and their copy among the results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from splitlab.engine.checksums import check_file
from splitlab.engine.config import Experiment
from splitlab.engine.folder import PUBLISHED
from splitlab.files import write_atomically
from splitlab.kinds.timing.config import TimingExperiment
from splitlab.published import RATIO_TABLE, load, load_ratios, located, table_names
from splitlab.text import ConfigError


def with_published_located(experiment: Experiment) -> Experiment:
    """The experiment with its published numbers located; ConfigError, before any computing, if they are no good."""
    if experiment.published is None:
        return experiment
    place, name = experiment.source or "config", experiment.published
    timing = isinstance(experiment, TimingExperiment)
    if not (timing and name == RATIO_TABLE):
        name = located(name, experiment.source.parent if experiment.source else Path())
        if Path(name).name == PUBLISHED:
            check_file(Path(name).parent, PUBLISHED)
    try:
        (load_ratios if timing else load)(name)
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from None
    return replace(experiment, published=name)


def kept_published(experiment: Experiment, folder: Path) -> tuple[Experiment, dict[str, str]]:
    """The experiment with the csv file of its published numbers copied into ``folder``, and that file's content."""
    if experiment.published is None or experiment.published in table_names():
        return experiment, {}
    content = Path(experiment.published).read_text(encoding="utf-8-sig")
    write_atomically(folder / PUBLISHED, content)
    return replace(experiment, published=PUBLISHED), {PUBLISHED: content}
