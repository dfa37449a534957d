"""Frames written to files, whole or not at all."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from manifill.files import replacing
from manifill.tables.parquet import NEEDS_PYARROW
from manifill.tables.words import listed

__all__ = ["check_destination", "write_table"]


def write_table(frame: Any, path: str | os.PathLike[str]) -> None:
    """Write a pandas DataFrame, without its index, as the extension says: .csv, .csv.gz, .tsv or .parquet.

    It is written beside its place and renamed into it, so that no one ever finds half a file.
    """
    check_destination(path)
    place = Path(path)
    try:
        with replacing(place) as file:
            _writer(place)(frame, file)
    except OSError as error:
        raise ValueError(f"{place} cannot be written: {error.strerror or error}; choose another place.") from None


def check_destination(path: str | os.PathLike[str]) -> None:
    """Raise a ValueError where ``write_table`` would, before there is anything to write."""
    place = Path(path)
    _writer(place)
    if place.is_dir():
        raise ValueError(f"{place} is a folder; choose another name.")
    if not place.parent.is_dir():
        raise ValueError(f"{place} cannot be written, since there is no folder {place.parent}; make it first.")


def _writer(place: Path) -> Callable[[Any, IO[Any]], None]:
    for ending, write in WRITERS.items():
        if place.name.lower().endswith(ending):
            return write
    raise ValueError(f"{place} is of no kind that is written; the extension must be one of {listed(WRITERS)}.")


def _write_csv(frame: Any, file: IO[Any]) -> None:
    frame.to_csv(file, index=False)


def _write_tsv(frame: Any, file: IO[Any]) -> None:
    frame.to_csv(file, index=False, sep="\t")


def _write_compressed(frame: Any, file: IO[Any]) -> None:
    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed:  # equal frames make equal files
        frame.to_csv(compressed, index=False)


def _write_parquet(frame: Any, file: IO[Any]) -> None:
    try:
        frame.rename(columns=str).to_parquet(file, index=False)
    except ImportError:
        raise ValueError(f"writing Parquet {NEEDS_PYARROW}.") from None


WRITERS: dict[str, Callable[[Any, IO[Any]], None]] = {
    ".csv": _write_csv,
    ".csv.gz": _write_compressed,
    ".tsv": _write_tsv,
    ".parquet": _write_parquet,
}
