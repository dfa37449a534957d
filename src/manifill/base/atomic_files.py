"""Files that are replaced atomically, and locks between processes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

__all__ = ["locked", "replacing"]


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[Any]]:
    """Open a temporary binary file next to ``path``; rename it to ``path`` once it is complete and synced to disk."""
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
    """Lock a file, and yield whether the lock was acquired; it is released when the process exits.

    On systems without ``fcntl`` (Windows) there is no locking, and True is yielded.
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
    """Return the process's umask, since temporary files are created with stricter permissions."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
