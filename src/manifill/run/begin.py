"""Begins a run: its files are written next to their places and moved in once they are complete.

A new run is written to the folder ``.new-run``.  Up to here, nothing else has changed, and an error leaves the folder
as it was.  Renaming it to ``.ready-run`` is the decision: the files of an earlier run, if it is to be replaced, are
removed.  Renaming it to ``.moving-run`` ends the removal, and its files are moved to their places.  If the process is
stopped after the decision, the next fit in the folder completes these steps.
"""

import errno
import time
from collections.abc import Callable
from pathlib import Path

from manifill.base.atomic_files import sync_files, sync_folder
from manifill.base.errors import CannotResumeError
from manifill.posterior import store_format
from manifill.posterior.store_layout import METADATA
from manifill.posterior.zarr_store import read_attributes
from manifill.run.folder import RunFolder
from manifill.run.manifest import write_manifest
from manifill.run.run_files import MOVING, NEW, READY, foreign_files, own_files, quoted, remove_empty_folders

__all__ = ["begin_run", "check_unfinished", "complete_beginning", "was_interrupted"]

# A new run that was not completed is removed until nothing has appeared again for so long, and so many times at most.
SECONDS_BETWEEN_REMOVALS, MOST_REMOVALS = 0.05, 40


def begin_run(run: RunFolder, write: Callable[[RunFolder], None]) -> None:
    """Replace what is in a run's folder by a new run, whose data and store ``write`` writes to the folder it is given.

    The caller has reserved the folder, and checked that its files may be replaced.
    """
    new = run.path / NEW
    _discard(new)
    new.mkdir()
    try:
        write(RunFolder(new))
        write_manifest(RunFolder(new))
        sync_files(own_files(new))
    except BaseException:
        _discard(new)
        raise
    new.rename(run.path / READY)
    sync_folder(run.path)
    complete_beginning(run)


def was_interrupted(run: RunFolder) -> bool:
    """Return whether a process was stopped after it had decided to begin a run."""
    return (run.path / READY).exists() or (run.path / MOVING).exists()


def complete_beginning(run: RunFolder) -> None:
    """Complete the beginning of a run after the decision, if there was one; the caller has reserved the folder."""
    ready, moving = run.path / READY, run.path / MOVING
    if ready.exists():
        with run.without_workers():
            for file in own_files(run.path):
                if ready not in file.parents:
                    file.unlink()
            remove_empty_folders(run.draws)
        ready.rename(moving)
        sync_folder(run.path)
    if moving.exists():
        for part in (run.draws, run.held_out, run.data, run.manifest):  # the manifest last: with it, there is a run
            if (moving / part.name).exists():
                (moving / part.name).rename(part)
        moving.rmdir()
        sync_folder(run.path)


def check_unfinished(run: RunFolder) -> None:
    """Raise a CannotResumeError unless all that there is of a run is a store without draws, which may be replaced."""
    is_run = store_format(run.draws) is not None
    others = [file for file in own_files(run.path) if not {run.draws, run.path / NEW} & {*file.parents}]
    if is_run or others:
        held = run.draws.name if is_run else quoted(file.relative_to(run.path) for file in others)
        raise CannotResumeError(
            f"{run.path} cannot be resumed: it holds {held}, but {run.manifest} is missing; restore it from a copy, or "
            "fit again."
        )
    foreign = [file for file in foreign_files(run.path) if file.parts[0] in (run.draws.name, NEW)]
    if not foreign and (run.draws / METADATA).exists() and read_attributes(run.draws):
        foreign = [(run.draws / METADATA).relative_to(run.path)]  # a store of manifill gets all attributes at once
    if foreign:
        raise CannotResumeError(
            f"{run.path} cannot be resumed, since it holds files that are not of a run: {quoted(foreign)}; move them "
            "elsewhere, or choose another folder."
        )


def _discard(new: Path) -> None:
    """Remove a new run that was not completed.

    After an error or an interrupt, threads of Zarr go on for a moment: they write, rename and remove files of the
    store, and make its folders again.
    """
    for _ in range(MOST_REMOVALS):
        if not new.exists():
            return
        _remove_own(new)
        time.sleep(SECONDS_BETWEEN_REMOVALS)


def _remove_own(new: Path) -> None:
    """Remove the files of a new run and its empty folders, as far as they are still what they were when listed."""
    try:
        for file in own_files(new):
            file.unlink(missing_ok=True)
        remove_empty_folders(new)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):  # a folder has vanished, or a file has appeared in it
            raise
