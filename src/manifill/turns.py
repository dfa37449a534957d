"""Taking turns: of several processes that need the same thing made, one makes it and the others wait."""

import time
import zlib
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # on Windows every process makes its own
    fcntl = None  # type: ignore[assignment]

__all__ = ["Turns"]

# A process that has been stopped in its turn must not hold up the others for ever.
LONGEST_WAIT, SECONDS_BETWEEN_TRIES = 300.0, 0.05


class Turns:
    """The turns of this process at tasks that are known by name, kept as locks of single bytes of one file.

    A process has one turn at a time, so that no two can wait for each other.  The lock goes with the process.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._task: str | None = None
        self._file: IO[Any] | None = None

    def take(self, task: str) -> bool:
        """Wait for the turn at a task; return False where there is none to be had, or one is taken already."""
        if self._path is None or fcntl is None or self._task is not None:
            return False
        try:
            self._file = self._path.open("a")
        except OSError:
            return False
        self._task = task
        if not _lock(self._file, zlib.crc32(task.encode())):
            self.give_back(task)
            return False
        return True

    def give_back(self, task: str) -> None:
        """End the turn at a task, if this is the one that was taken."""
        if task == self._task and self._file is not None:
            self._file.close()
            self._task = self._file = None


def _lock(file: IO[Any], byte: int) -> bool:
    """Wait for the lock of one byte, and say whether it was had."""
    end = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < end:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except BlockingIOError:
            time.sleep(SECONDS_BETWEEN_TRIES)
        except OSError:  # a file system without locks
            return False
        else:
            return True
    return False
