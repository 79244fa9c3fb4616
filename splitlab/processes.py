"""Child processes that end when their parent does, and failures for want of memory."""

from __future__ import annotations

import os
import threading
import time

LOOK_SECONDS = 1.0
# What libraries say, other than by MemoryError, when the system gives them no more memory.
_NO_MEMORY = ("can't start new thread", "failed to map segment", "cannot allocate memory")


def end_with(parent: int) -> None:
    """End this process within a second or so after its ``parent``, however that ended.

    A parent that is killed cannot end its children; the system only gives them another parent.
    """
    threading.Thread(target=_watch, args=(parent,), name="end-with-parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


def lacks_memory(error: BaseException | None) -> bool:
    """Whether an error, or one that it was raised from or while handling, says that memory is used up."""
    while error is not None:
        if isinstance(error, MemoryError) or any(words in str(error).lower() for words in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False
