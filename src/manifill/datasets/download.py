"""Finds the files of a dataset in the folder MANIFILL_DATA, or downloads them once into a cache."""

import csv
import logging
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile

import pooch

__all__ = ["dataset_folder", "first_existing", "read_csv", "select_columns"]

logger = logging.getLogger("manifill")

TIMEOUT = 30.0  # seconds without a response


def dataset_folder(name: str, url: str, files: Collection[str], check: Callable[[Path], None]) -> Path:
    """Return the folder ``name`` in MANIFILL_DATA, or in the cache if that is not set.

    If the cache lacks any of ``files``, the zip archive at ``url`` is downloaded and extracted, and the files are
    cached if ``check`` raises no error for their folder.  Files in MANIFILL_DATA are not checked.
    """
    given = os.environ.get("MANIFILL_DATA")
    if given:
        return Path(given) / name
    cached = Path(pooch.os_cache("manifill")) / name
    if not all((cached / file).is_file() for file in files):
        _fill(cached, url, files, check)
    return cached


def first_existing(folder: Path, *names: str) -> Path:
    """Return the first of these files that exists in a folder."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ValueError(
        f"{folder} has no {' or '.join(names)}; put it there, or unset MANIFILL_DATA to download the data."
    )


def read_csv(path: Path) -> list[list[str]]:
    """Return the records of a CSV file; the header comes first."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def select_columns(path: Path, records: Sequence[Sequence[Any]], names: Sequence[str]) -> list[list[Any]]:
    """Return these columns of each record, without the header; ``path`` is for the message."""
    header, *rows = records or [[]]
    absent = [name for name in names if name not in header]
    if absent:
        raise ValueError(f"{path} has no column {absent[0]!r} in its first line; is it another file of that name?")
    chosen = [header.index(name) for name in names]
    return [[row[k] for k in chosen] for row in rows]


def _fill(cached: Path, url: str, files: Collection[str], check: Callable[[Path], None]) -> None:
    """Download and check the files in a temporary folder, then move them into the cache."""
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
    except OSError as error:  # the base class of all errors of requests
        raise ValueError(
            f"{url} could not be downloaded ({type(error).__name__}); check the network and try again, or "
            f"set the environment variable MANIFILL_DATA to a folder with {' and '.join(wanted)}."
        ) from error


def _extract(url: str, archive: Path, files: Collection[str]) -> None:
    """Extract these files into the folder of the archive, ignoring the folders inside the archive."""
    try:
        with ZipFile(archive) as opened:
            members = {PurePosixPath(member).name: member for member in opened.namelist()}
            for file in files:
                archive.with_name(file).write_bytes(opened.read(members[file]))
    except (BadZipFile, KeyError):
        raise ValueError(
            f"{url} did not send a zip archive with {' and '.join(files)}; download them manually, and set the "
            "environment variable MANIFILL_DATA to the parent of their folder."
        ) from None
