"""Input files: checks their extension, and opens them, decompressed within a limit."""

import gzip
import io
import os
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO, NamedTuple

from manifill.tables.file_passes import FilePasses
from manifill.tables.message_text import listed
from manifill.tables.size_limit import SizeLimit

__all__ = ["MATRIX_EXTENSIONS", "TABLE_EXTENSIONS", "InputFile", "find_input_file", "is_matrix_file"]

TEXT_EXTENSIONS = (".csv", ".tsv", ".txt")
TABLE_EXTENSIONS = (*TEXT_EXTENSIONS, ".parquet")
MATRIX_EXTENSIONS = (".mtx", ".npz")
COMPRESSIBLE = (*TEXT_EXTENSIONS, ".mtx")  # Parquet and npz have their own compression


class InputFile(NamedTuple):
    """A file that can be read, as often as needed."""

    path: Path
    extension: str  # without .gz
    compressed: bool  # by gzip
    limit: SizeLimit  # of what it unpacks to
    passes: FilePasses  # reports how far it has been read

    @property
    def name(self) -> str:
        """The path, for messages."""
        return str(self.path)

    def open(self) -> BinaryIO:
        """Open the contents, decompressed; damage and too large contents raise a ValueError while reading.

        How much has been read is reported in a pass.
        """
        watched = self.passes.watched(self.open_on_disk())
        return io.BufferedReader(_Unpacked(watched, self), 1 << 16) if self.compressed else watched

    def open_on_disk(self) -> BinaryIO:
        """Open the bytes on disk, for a reader that reports by itself how far it has come."""
        try:
            return self.path.open("rb")
        except OSError as error:
            raise ValueError(f"{self.path} cannot be read: {error.strerror}; check its permissions.") from None


class _Unpacked(io.RawIOBase):
    """The contents of a gzip file."""

    def __init__(self, packed: BinaryIO, file: InputFile) -> None:
        self._packed, self._file, self._count = packed, file, 0
        self._contents = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        try:
            piece = self._contents.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(
                f"{self._file.path} is damaged or not compressed by gzip ({error}); create or download it again."
            ) from None
        self._count += len(piece)
        self._file.limit.check(self._count)
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._packed.close()
        super().close()


def is_matrix_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds a matrix by its extension, not a table whose layout may be guessed."""
    return _extension(Path(path), (*TABLE_EXTENSIONS, *MATRIX_EXTENSIONS))[0] in MATRIX_EXTENSIONS


def find_input_file(
    path: str | os.PathLike[str], extensions: Collection[str], max_bytes: int | None = None
) -> InputFile:
    """Return the file at ``path``, which must exist; its extension must be one of ``extensions``."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a file in it.")
    if not path.exists():
        raise ValueError(f"there is no file {path}; check its name and folder.")
    if not path.is_file():  # a pipe can be read only once
        raise ValueError(f"{path} is not a regular file; write the table to a file first.")
    extension, compressed = _extension(path, extensions)
    size = path.stat().st_size
    file = InputFile(path, extension, compressed, SizeLimit(str(path), size, max_bytes), FilePasses(size))
    with file.open() as stream:
        if not stream.read(1):
            raise ValueError(f"{path} is empty; give a file with at least one observed cell.")
    return file


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
