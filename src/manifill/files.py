"""Files that are there as a whole or not at all, and folders that one process at a time writes to."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

__all__ = ["locked", "replacing"]


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[Any]]:
    """Open a file for bytes beside ``path``, and rename it into place once it has been written and is on disk."""
    path = Path(path)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


@contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold the lock of a file, and say whether it could be had; it goes with the process that holds it.

    Systems without such locks (Windows) are taken at their word that nobody else writes.
    """
    try:
        import fcntl
    except ImportError:
        yield True
        return
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _umask() -> int:
    """Return the mask of a usual file's permissions; a temporary file has stricter ones."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
