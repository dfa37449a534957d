"""Which files of a folder belong to a run: only these are ever removed, and only if asked for."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from manifill.base.atomic_files import TEMPORARY_NAME
from manifill.posterior.store_layout import is_store_file

__all__ = [
    "MOVING",
    "NEW",
    "READY",
    "foreign_files",
    "is_lock",
    "is_run_file",
    "own_files",
    "quoted",
    "remove_empty_folders",
]

STORE = "draws.zarr"

# Folders inside a run's folder that hold the files of a run that is being begun (run/begin.py).
NEW, READY, MOVING = BEGINNINGS = (".new-run", ".ready-run", ".moving-run")

LOCKS = re.compile(r"checkpoints/(?:run|chain-\d+)\.lock")
CHECKPOINT = r"chain-\d+\.npz"
TOP = r"manifest\.json|verdict\.json|data\.npz|held_out\.npz|report\.html"
FILES = re.compile(
    rf"{TOP}|{TEMPORARY_NAME.format(TOP)}|checkpoints/(?:{CHECKPOINT}|{TEMPORARY_NAME.format(CHECKPOINT)})"
)


def own_files(folder: Path) -> list[Path]:
    """Return the files in a folder that belong to a run, without its locks."""
    return [file for file in _files(folder) if _is_own(folder, file)]


def foreign_files(folder: Path) -> list[Path]:
    """Return the files in a folder, relative to it, that do not belong to a run; links are among them."""
    others = (file.relative_to(folder) for file in _files(folder) if not _is_own(folder, file))
    return sorted(file for file in others if not is_lock(file))


def is_run_file(file: PurePath) -> bool:
    """Return whether a path, relative to a run, is that of one of its files; locks are not among them."""
    if file.parts[0] in BEGINNINGS and len(file.parts) > 1:
        file = PurePath(*file.parts[1:])
    if len(file.parts) > 1 and file.parts[0] == STORE:
        return is_store_file(PurePath(*file.parts[1:]))
    return FILES.fullmatch(file.as_posix()) is not None


def is_lock(file: PurePath) -> bool:
    """Return whether a path, relative to a run, is that of a lock."""
    return LOCKS.fullmatch(file.as_posix()) is not None


def remove_empty_folders(folder: Path) -> None:
    """Remove the empty folders in a folder, and the folder itself if nothing is left in it."""
    for parent, _, _ in os.walk(folder, topdown=False):
        if not any(Path(parent).iterdir()):
            Path(parent).rmdir()


def quoted(files: Iterable[PurePath], largest: int = 3) -> str:
    """Return the names of some files as text: the first few, and how many more there are."""
    names = [str(file) for file in files]
    more = f" and {len(names) - largest} more" if len(names) > largest else ""
    return ", ".join(names[:largest]) + more


def _is_own(folder: Path, file: Path) -> bool:
    return not file.is_symlink() and is_run_file(file.relative_to(folder))


def _files(folder: Path) -> Iterator[Path]:
    """Yield everything in a folder that is not a folder itself, without following links."""
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent) / name for name in files)
        yield from (Path(parent) / name for name in folders if (Path(parent) / name).is_symlink())
