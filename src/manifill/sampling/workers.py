"""Worker processes: they exit when their parent dies, and joblib replaces them without a warning."""

import os
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

__all__ = ["ParentWatch", "exit_with_parent", "quiet_worker_replacement"]

SECONDS_BETWEEN_CHECKS = 1.0


class ParentWatch:
    """Ends this worker if its parent has died, since another process may have resumed the run in the meantime."""

    def __init__(self, parent: int) -> None:
        self._parent = parent
        self._is_child = os.getppid() == parent
        # A process on another machine or in another kind of cluster is not a child of ``parent``, and is never ended.
        self._is_orphan = not self._is_child and os.getpid() != parent and os.getppid() == 1

    def check(self) -> None:
        if self._is_orphan or (self._is_child and os.getppid() != self._parent):
            os._exit(1)  # no process is left to report to


@cache
def exit_with_parent(parent: int) -> None:
    """Start a thread that ends this process soon after its parent; do nothing if its parent is not ``parent``."""
    if os.getppid() == parent:
        threading.Thread(target=_watch, args=(ParentWatch(parent),), daemon=True).start()


def _watch(parent: ParentWatch) -> None:
    while True:
        parent.check()
        time.sleep(SECONDS_BETWEEN_CHECKS)


@contextmanager
def quiet_worker_replacement() -> Iterator[None]:
    """Suppress joblib's warning about a replaced worker, which loses nothing.

    joblib restarts a worker whose memory has grown, as it does when kernels are compiled.  The warning is issued in the
    thread that runs the pool: if warnings are errors, that thread dies and the caller waits forever.  Warning filters
    apply to the whole process, so the waiting thread sets this one.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        yield
