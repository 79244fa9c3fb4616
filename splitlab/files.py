"""Which files can be read to their end without waiting for anybody."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

STREAMS = ("/dev/stdin", "/dev/fd/")  # what a shell has opened for us, with somebody at the other end
NOT_THERE_AS_A_FILE = (errno.ELOOP, errno.ENOTDIR)


def is_ordinary(path: Path) -> bool:
    """Whether something is a file, or an open stream: no folder, pipe, device or loop of links.

    Raises OSError when nothing is there, or it cannot be looked at.
    """
    if str(path).startswith(STREAMS):
        return True
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        if error.errno in NOT_THERE_AS_A_FILE:
            return False
        raise
