"""Which files are read, and how their bytes come in."""

import gzip
import os
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from manifill.tables.words import listed

__all__ = ["FRAMES", "MATRICES", "File", "open_file"]

TEXTS = (".csv", ".tsv", ".txt")
FRAMES = (*TEXTS, ".parquet")
MATRICES = (".mtx", ".npz")
COMPRESSIBLE = (*TEXTS, ".mtx")  # Parquet and npz are compressed inside


class File(NamedTuple):
    """A file in memory."""

    name: str  # as messages have it
    kind: str  # its extension, without .gz
    data: bytes  # decompressed


def open_file(path: str | os.PathLike[str], kinds: Collection[str]) -> File:
    """Return the file at ``path``, if it is of one of these kinds."""
    place = Path(path)
    if place.is_dir():
        raise ValueError(f"{place} is a folder; give a file in it.")
    if not place.exists():
        raise ValueError(f"there is no file {place}; check its name and folder.")
    kind, compressed = _kind(place, kinds)
    try:
        data = place.read_bytes()
    except OSError as error:
        raise ValueError(f"{place} cannot be read: {error.strerror}; check its permissions.") from None
    data = _decompressed(data, place) if compressed else data
    if not data:
        raise ValueError(f"{place} is empty; give a file with at least one observed cell.")
    return File(str(place), kind, data)


def _kind(place: Path, kinds: Collection[str]) -> tuple[str, bool]:
    suffixes = [suffix.lower() for suffix in place.suffixes]
    compressed = suffixes[-1:] == [".gz"]
    kind = "".join(suffixes[:-1][-1:] if compressed else suffixes[-1:])
    if kind not in kinds or (compressed and kind not in COMPRESSIBLE):
        raise ValueError(
            f"{place} is of no kind that is read here; the extension must be one of {listed(kinds)} "
            f"({listed([known for known in COMPRESSIBLE if known in kinds])} also with .gz)."
        )
    return kind, compressed


def _decompressed(data: bytes, place: Path) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{place} is damaged or not compressed by gzip ({error}); make or fetch it again.") from None
