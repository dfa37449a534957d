"""A temporary folder that is removed even if its process is killed."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from joblib.externals.loky.backend import resource_tracker

__all__ = ["scratch_folder"]


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Create a folder for the files that a fit shares with its workers.

    The process that tracks the resources of worker processes removes the folder if this process is killed.
    """
    folder = tempfile.mkdtemp(prefix="manifill-")
    resource_tracker.register(folder, "folder")
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        resource_tracker.unregister(folder, "folder")
