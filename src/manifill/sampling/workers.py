"""Processes that work for another one: they end when it is gone, and are replaced without a word when they leave."""

import os
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

__all__ = ["Orphanage", "end_with", "replaced_in_silence"]

SECONDS_BETWEEN_LOOKS = 1.0


class Orphanage:
    """Ends a worker whose parent has died: the run may have been taken up by another process since."""

    def __init__(self, parent: int) -> None:
        self._parent = parent
        self._is_child = os.getppid() == parent
        # Neither a process on another machine nor one of another kind of cluster has a parent to look after.
        self._is_orphan = not self._is_child and os.getpid() != parent and os.getppid() == 1

    def check(self) -> None:
        if self._is_orphan or (self._is_child and os.getppid() != self._parent):
            os._exit(1)  # there is nobody to tell


@cache
def end_with(parent: int) -> None:
    """Let a thread end this process soon after its parent; where that is not ``parent`` nothing is done."""
    if os.getppid() == parent:
        threading.Thread(target=_watch, args=(Orphanage(parent),), daemon=True).start()


def _watch(orphanage: Orphanage) -> None:
    while True:
        orphanage.check()
        time.sleep(SECONDS_BETWEEN_LOOKS)


@contextmanager
def replaced_in_silence() -> Iterator[None]:
    """Let joblib replace a worker without its warning, since nothing is lost with it.

    A worker leaves when its memory has grown, as it does by compiling.  The warning is given in the thread that runs
    the pool: where warnings are errors that thread would die of it, and the caller wait for ever.  Filters are those of
    the whole process, so this is for the thread that waits.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        yield
