"""Where the files of a dataset are: in the folder that MANIFILL_DATA names, otherwise in a cache, downloaded once."""

import csv
import logging
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile

import pooch

__all__ = ["existing", "folder_of", "read_csv", "select"]

logger = logging.getLogger("manifill")

TIMEOUT = 30.0  # seconds without an answer


def folder_of(name: str, url: str, files: Collection[str], check: Callable[[Path], None]) -> Path:
    """Return the folder ``name`` of MANIFILL_DATA, or where that is not set, of the cache.

    The cache is filled with ``files`` from the zip archive at ``url``, after ``check`` has raised nothing about the
    folder that holds them.  A folder that the user names is taken as it is.
    """
    given = os.environ.get("MANIFILL_DATA")
    if given:
        return Path(given) / name
    cached = Path(pooch.os_cache("manifill")) / name
    if not all((cached / file).is_file() for file in files):
        _fill(cached, url, files, check)
    return cached


def existing(folder: Path, *names: str) -> Path:
    """Return the first of these files that is there."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ValueError(
        f"{folder} has no {' or '.join(names)}; put it there, or unset MANIFILL_DATA to have the data downloaded."
    )


def read_csv(path: Path) -> list[list[str]]:
    """Return the lines of a file, its header first."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def select(path: Path, lines: Sequence[Sequence[Any]], names: Sequence[str]) -> list[list[Any]]:
    """Return these columns of a table that was read from ``path``, line by line without the header."""
    header, *rows = lines or [[]]
    absent = [name for name in names if name not in header]
    if absent:
        raise ValueError(f"{path} has no column {absent[0]!r} in its first line; is it another file of that name?")
    chosen = [header.index(name) for name in names]
    return [[row[k] for k in chosen] for row in rows]


def _fill(cached: Path, url: str, files: Collection[str], check: Callable[[Path], None]) -> None:
    """Download and check beside the cache's files, and move them to their place only then."""
    cached.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=cached.parent) as name:
        folder = Path(name)
        archive = folder / "archive.zip"
        _download(url, archive, [f"{cached.name}/{file}" for file in files])
        _extract(url, archive, files)
        check(folder)
        cached.mkdir(exist_ok=True)
        for file in files:
            os.replace(folder / file, cached / file)


def _download(url: str, archive: Path, wanted: Collection[str]) -> None:
    logger.info("downloading %s", url)
    try:
        pooch.HTTPDownloader(timeout=TIMEOUT)(url, str(archive), None)
    except OSError as error:  # as all errors of requests are
        raise ValueError(
            f"{url} could not be downloaded ({type(error).__name__}); try again with a network, or set the "
            f"environment variable MANIFILL_DATA to a folder that has {' and '.join(wanted)}."
        ) from error


def _extract(url: str, archive: Path, files: Collection[str]) -> None:
    """Write the files of an archive beside it, whatever folders they are in there."""
    try:
        with ZipFile(archive) as opened:
            members = {PurePosixPath(member).name: member for member in opened.namelist()}
            for file in files:
                archive.with_name(file).write_bytes(opened.read(members[file]))
    except (BadZipFile, KeyError):
        raise ValueError(
            f"{url} did not send a zip archive with {' and '.join(files)}; get them by hand, and set the environment "
            "variable MANIFILL_DATA to the folder above theirs."
        ) from None
