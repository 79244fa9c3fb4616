"""Tasks on a Dask cluster: the driver sends a window of them, and stores what comes back.

A task carries all that decides its result, so it does not matter which worker does it, nor how often: one that dies is
replaced by the scheduler, and the bytes are those of a local run. Workers with another version of the code, or of the
packages that compute, refuse. When the scheduler is lost the run ends; what is finished is stored.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from itertools import count, islice
from typing import Any
from uuid import uuid4

from splitlab.engine.blocks import BlockData, Task
from splitlab.engine.runner import Compute, Executor, compute_elsewhere
from splitlab.sources import package_hash
from splitlab.text import ConfigError

PER_THREAD = 3  # tasks in the window for every thread of a worker
CONNECT_SECONDS = 15
PATIENCE = 2.0  # seconds between two looks at the cluster
LOGGERS = ("distributed.client", "distributed.core", "distributed.batched", "distributed.comm", "tornado.application")
WAITING = "the cluster has no workers (yet); waiting for one"


@cache
def code_version() -> str:
    """What has to be the same on every machine for the results to be."""
    packages = " ".join(f"{name} {version(name)}" for name in ("numpy", "numba"))
    return f"splitlab {package_hash()[:16]}, {packages}"


def compute_on_worker(
    task: Task, compute: Compute, path: list[str], functions: bytes, code: str
) -> tuple[Task, BlockData]:
    """Do a task, unless it would be done by other code than the driver's."""
    if code != code_version():
        raise ConfigError(f"a worker has {code_version()}, and this is {code}; install the same on all machines")
    return compute_elsewhere(task, compute, path, functions)


@contextmanager
def cluster(address: str, remark: Callable[[str], None]) -> Iterator[Executor]:
    """Connect to the scheduler at ``address``; what runs tasks there.

    ConfigError when it cannot be reached, is lost, or a task ends one worker after the other.
    """
    try:
        import distributed
    except ImportError:
        raise ConfigError("--backend dask needs the package distributed: pip install 'splitlab[dask]'") from None
    with _quiet():
        try:
            client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = type(error).__name__
            raise ConfigError(f"--scheduler: {address!r} cannot be reached ({reason}); is it running there?") from None
        try:
            with client.as_current():
                yield lambda tasks, compute, functions: _done(client, address, tasks, (compute, functions), remark)
        except distributed.KilledWorker:
            raise ConfigError("a block ended every worker that took it; finished blocks are kept") from None
        finally:
            client.close(timeout=1)


@contextmanager
def _quiet() -> Iterator[None]:
    """What there is to say is said once, in the user's words."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _done(
    client: Any, address: str, tasks: Iterator[Task], how: tuple[Compute, bytes], remark: Callable[[str], None]
) -> Generator[tuple[Task, BlockData]]:
    """The tasks' results as they come, with no more tasks under way than the workers need."""
    under_way: set[Any] = set()
    compute, functions = how
    arguments = (compute, sys.path, functions, code_version())
    keys = (f"splitlab-{uuid4().hex}" for _ in count())
    left = True
    try:
        while left or under_way:
            room = max(0, PER_THREAD * sum(client.nthreads().values()) - len(under_way))
            sent = [client.submit(compute_on_worker, t, *arguments, key=next(keys)) for t in islice(tasks, room)]
            left = left and len(sent) == room
            under_way |= set(sent)
            if not under_way and left:
                remark(WAITING)
                time.sleep(PATIENCE)
            finished = _finished(under_way)
            under_way -= finished
            for future in finished:
                yield future.result()
    except (CancelledError, OSError, RuntimeError) as error:
        if client.status == "running" and not isinstance(error, CancelledError):
            raise
        kept = "finished blocks are kept, and the same command continues, with or without --backend dask"
        raise ConfigError(f"{address}: the scheduler is lost; {kept}") from None
    finally:
        if under_way and client.status == "running":
            client.cancel(list(under_way))


def _finished(futures: set[Any]) -> set[Any]:
    """The futures that are done, after waiting for at least one, or for a while."""
    from distributed import wait

    try:
        return set(wait(futures, timeout=PATIENCE, return_when="FIRST_COMPLETED").done) if futures else set()
    except TimeoutError:
        return set()
