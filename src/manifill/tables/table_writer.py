"""Writes a DataFrame to a file atomically."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from manifill.base import progress
from manifill.base.atomic_files import replacing
from manifill.base.errors import DiskFullError
from manifill.tables.formula_guard import guarded_frame
from manifill.tables.message_text import listed
from manifill.tables.parquet_table import NEEDS_PYARROW

__all__ = ["check_destination", "write_table"]

CELLS_PER_PIECE = 2**18


def write_table(frame: Any, path: str | os.PathLike[str], *, raw_labels: bool = False) -> None:
    """Write a pandas DataFrame without its index, in the format of the extension: .csv, .csv.gz, .tsv or .parquet.

    It is written to a temporary file that then replaces ``path``, so that the file is never incomplete.  Text that a
    spreadsheet would run as a formula, since it begins with =, +, -, @, a tab or a carriage return, gets an apostrophe
    in CSV and TSV, which ``read_table`` takes off again; not if ``raw_labels``.
    """
    check_destination(path)
    path = Path(path)
    write = _writer(path)
    is_raw = raw_labels or write is _write_parquet
    try:
        with replacing(path) as file:
            write(frame if is_raw else guarded_frame(frame), file)
    except DiskFullError:
        raise
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror or error}; choose another path.") from None


def check_destination(path: str | os.PathLike[str]) -> None:
    """Raise the ValueError of ``write_table`` for an invalid path before the table is computed."""
    path = Path(path)
    _writer(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; choose another name.")
    if not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written because there is no folder {path.parent}; create it first.")


def _writer(path: Path) -> Callable[[Any, IO[Any]], None]:
    for extension, write in WRITERS.items():
        if path.name.lower().endswith(extension):
            return write
    raise ValueError(f"{path} has an unsupported extension; it must be one of {listed(WRITERS)}.")


def _write_csv(frame: Any, file: "IO[Any] | gzip.GzipFile", separator: str = ",") -> None:
    """Write the records in pieces, as a phase that counts them."""
    progress.begin("writing the table", len(frame), "lines")
    size = max(CELLS_PER_PIECE // max(frame.shape[1], 1), 1)
    for start in range(0, max(len(frame), 1), size):  # an empty table has a header too
        piece = frame.iloc[start : start + size]
        piece.to_csv(file, index=False, header=start == 0, sep=separator)
        progress.advance(len(piece))


def _write_tsv(frame: Any, file: IO[Any]) -> None:
    _write_csv(frame, file, "\t")


def _write_compressed(frame: Any, file: IO[Any]) -> None:
    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed:  # without a time, equal frames give equal files
        _write_csv(frame, compressed)


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
