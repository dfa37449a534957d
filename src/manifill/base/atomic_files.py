"""Files that are replaced atomically, and locks between processes."""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from manifill.base.errors import DiskFullError

__all__ = ["TEMPORARY_NAME", "locked", "replacing", "reporting_full_disk", "sync_files"]

# Matches the names of the temporary files of ``replacing``, given the pattern of the names of the files themselves.
TEMPORARY_NAME = r"\.(?:{})-[a-z0-9_]{{8}}"


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[Any]]:
    """Open a temporary binary file next to ``path``; rename it to ``path`` once it is complete and synced to disk.

    A DiskFullError is raised if it does not fit; ``path`` is then unchanged.
    """
    path = Path(path)
    with (
        reporting_full_disk(path),  # first, since closing the file may fail for the same reason
        NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file,
    ):
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
    sync_folder(path.parent)


@contextmanager
def reporting_full_disk(path: str | Path) -> Iterator[None]:
    """Turn the system's error about a full disk, or an exhausted quota, into a DiskFullError that names ``path``."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DiskFullError(f"the disk that holds {path} is full; free space and try again.") from None


def sync_files(files: Iterable[Path]) -> None:
    """Wait until these files and their names are on disk, so that they survive a power cut."""
    folders = set()
    for file in files:
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
        folders.add(file.parent)
    for folder in folders:
        sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk; does nothing on Windows, which cannot open folders."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
