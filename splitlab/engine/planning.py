"""What is left of an experiment, how long that takes, and how much disk: for kinds that have no better plan."""

from __future__ import annotations

from dataclasses import dataclass

from splitlab.engine.blocks import Computation
from splitlab.engine.session import Session
from splitlab.report.layout import Entry, Table, size
from splitlab.text import ConfigError, are, counted, duration

HEADER_BYTES, COLUMN_BYTES = 290, 50  # of a block's file, about


@dataclass(frozen=True)
class PlanRequest:
    """What ``splitlab plan`` was asked.

    Attributes
    ----------
    config : str
        The config, as it was written on the command line.
    half_width : float or None
        Half the 95 % interval of a percentage, in percentage points.
    pilot : int or None
        Runs to be made first.
    session : Session
        Its ``out`` is where some of the runs may be stored.
    """

    config: str
    half_width: float | None
    pilot: int | None
    session: Session


def default_plan(kind: Computation, request: PlanRequest) -> str:
    """A line per group: blocks, those that are not stored, core time for them by the kind's estimate, and disk."""
    for option, value in (("--half-width", request.half_width), ("--pilot", request.pilot)):
        if value is not None:
            raise ConfigError(
                f"{option}: does not go with kind {kind.experiment.kind}, whose config says how many runs"
            )
    kind.check()
    place, session = request.session.out, request.session
    store = kind.store(place if place and place.is_dir() else None, lambda text: None)
    rows: dict[str, list[float]] = {}
    for block in kind.blocks():
        columns = kind.columns(block)
        lacking = store.load(block).missing(block, columns)
        row = rows.setdefault(block.group.label, [0, 0, 0.0, 0.0])
        row[0] += 1
        row[1] += bool(lacking)
        row[2] += sum(kind.seconds(block, column) for column in lacking)
        row[3] += 8 * (2 + len(columns)) * block.size + HEADER_BYTES + COLUMN_BYTES * len(columns)
    entries = [
        [Entry(t) for t in (label, f"{n:.0f}", f"{left:.0f}", duration(seconds), size(disk))]
        for label, (n, left, seconds, disk) in rows.items()
    ]
    heads = ["group", "blocks", "left", "core time", "disk"]
    table = Table(f"What is left of {kind.experiment.name}", heads, entries, 1, ["Core times are rough estimates."])
    left, seconds, disk = (sum(row[i] for row in rows.values()) for i in (1, 2, 3))
    if not left:
        return f"{table.as_text()}\nEverything is stored; {size(disk)}."
    remaining = f"{counted(int(left), 'block')} {are(int(left))} left"
    total = f"{remaining}, {duration(seconds / session.workers)} with --jobs {session.workers}"
    return f"{table.as_text()}\n{total}; {size(disk)} altogether.\n`splitlab run {request.config}` makes them."
