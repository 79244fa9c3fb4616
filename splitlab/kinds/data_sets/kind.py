"""What kinds of experiment that grow trees on data sets have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from splitlab.engine.blocks import Block
from splitlab.engine.config import Experiment
from splitlab.engine.folder import CONFIG
from splitlab.engine.kind import Kind
from splitlab.engine.session import Session
from splitlab.kinds.data_sets.loaded import Loaded, changed_data
from splitlab.text import ConfigError

E = TypeVar("E", bound=Experiment)
R = TypeVar("R")


class DataSetsKind(Kind[E, R]):
    """A kind whose groups are data sets, and whose blocks hold numbers of each fold."""

    NUMBERS: ClassVar[tuple[str, ...]]  # what is kept of each fold

    @property
    @abstractmethod
    def sets(self) -> list[Loaded]:
        """The data sets, which are read when they are first asked for."""

    def before_run(self, place: Path, session: Session) -> None:
        """Say of which data sets the stored results are not."""
        for line in changed_data(place, self.sets):
            session.remark(f"{line}; they are computed again")

    def verifiable(self, place: Path, warn: Any) -> Any:
        """The stored blocks; data sets that have changed since are said."""
        try:
            changed = list(changed_data(place, self.sets))
        except ValueError as error:
            raise ConfigError(
                f"{place}: to verify trees, they are grown again, which takes the data: {error}"
            ) from None
        for line in changed:
            warn(line)
        return self.store(place, warn)

    @contextmanager
    def lack_explained(self, place: Path) -> Iterator[None]:
        """Say how what a results folder lacks can be computed."""
        try:
            yield
        except ValueError as error:
            how = f"`splitlab run {place}/{CONFIG} --out {place}` computes what is missing"
            raise ConfigError(f"{place}: {error}; {how}") from None

    def number_label(self, block: Block, name: str, at: int) -> tuple[str, str]:
        """One of the numbers of a fold."""
        return "number", f"of fold {at // len(self.NUMBERS) + 1}, {self.NUMBERS[at % len(self.NUMBERS)]}"
