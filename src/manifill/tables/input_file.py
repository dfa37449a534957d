"""Reads the bytes of an input file, checks its extension, and decompresses it."""

import gzip
import os
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from manifill.tables.message_text import listed

__all__ = ["MATRIX_EXTENSIONS", "TABLE_EXTENSIONS", "InputFile", "read_input_file"]

TEXT_EXTENSIONS = (".csv", ".tsv", ".txt")
TABLE_EXTENSIONS = (*TEXT_EXTENSIONS, ".parquet")
MATRIX_EXTENSIONS = (".mtx", ".npz")
COMPRESSIBLE = (*TEXT_EXTENSIONS, ".mtx")  # Parquet and npz have their own compression


class InputFile(NamedTuple):
    """A file in memory."""

    name: str  # the path, for messages
    extension: str  # without .gz
    data: bytes  # decompressed


def read_input_file(path: str | os.PathLike[str], extensions: Collection[str]) -> InputFile:
    """Read the file at ``path``; its extension must be one of ``extensions``."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a file in it.")
    if not path.exists():
        raise ValueError(f"there is no file {path}; check its name and folder.")
    extension, compressed = _extension(path, extensions)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; check its permissions.") from None
    data = _decompressed(data, path) if compressed else data
    if not data:
        raise ValueError(f"{path} is empty; give a file with at least one observed cell.")
    return InputFile(str(path), extension, data)


def _extension(path: Path, extensions: Collection[str]) -> tuple[str, bool]:
    """Return the extension without .gz, and whether the file is compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = suffixes[-1:] == [".gz"]
    extension = "".join(suffixes[:-1][-1:] if compressed else suffixes[-1:])
    if extension not in extensions or (compressed and extension not in COMPRESSIBLE):
        raise ValueError(
            f"{path} has an unsupported extension; it must be one of {listed(extensions)} "
            f"({listed([known for known in COMPRESSIBLE if known in extensions])} also with .gz)."
        )
    return extension, compressed


def _decompressed(data: bytes, path: Path) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} is damaged or not compressed by gzip ({error}); create or download it again."
        ) from None
