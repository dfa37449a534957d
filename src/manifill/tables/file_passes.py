"""The progress of reading a file, which is read several times: bytes of the file on disk, over all passes.

For a compressed file, these are the packed bytes: what it unpacks to is known only at the end.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from manifill.base import progress

__all__ = ["FilePasses"]

MEGABYTE = 1e6

# A first guess of the seconds that a pass takes per byte on disk.  Most of it is the parsing of text.
SECONDS_PER_BYTE = 1.2e-7

PIECE = 1 << 16  # bytes between two reports


class FilePasses:
    """Reports how far the passes over a file have come.

    What is read outside of a pass, such as the first lines, does not count.  A pass that was not expected adds to the
    total.
    """

    def __init__(self, size: int) -> None:
        self._size = max(size, 1) / MEGABYTE
        self._expected = self._ended = 0
        self._reported = 0.0  # of the present pass, in megabytes
        self._doing: str | None = None  # None between passes

    def begin(self, phase: str, expected: int) -> None:
        """Begin a phase of so many passes."""
        self._expected, self._ended = expected, 0
        total = expected * self._size
        progress.begin(phase, total, "MB", guess=total * MEGABYTE * SECONDS_PER_BYTE)

    @contextmanager
    def one(self, doing: str) -> Iterator[None]:
        """Count what is read in the block as one pass."""
        if self._ended == self._expected:
            self._expect(1)
        self._doing, self._reported = doing, 0.0
        progress.advance(0.0, doing)
        try:
            yield
            self.at(1.0)  # less was read if the last pieces of the file were not needed
            self._ended += 1
        finally:
            self._doing = None

    def at(self, share: float) -> None:
        """Report which share of the present pass is done; a smaller one than before changes nothing."""
        now = min(share, 1.0) * self._size
        if self._doing is not None and now > self._reported:
            progress.advance(now - self._reported, self._doing)
            self._reported = now

    def end(self) -> None:
        """Expect no further pass."""
        self._expect(self._ended - self._expected)

    def _expect(self, more: int) -> None:
        self._expected += more
        progress.expect(more * self._size)

    def watched(self, file: BinaryIO) -> io.BufferedReader:
        """Return a file that reports, in a pass, how much of it has been read."""
        return io.BufferedReader(_Watched(file, self, self._size * MEGABYTE), PIECE)


class _Watched(io.RawIOBase):
    """A file on disk that reports how much of it has been read since it was opened."""

    def __init__(self, file: BinaryIO, passes: FilePasses, size: float) -> None:
        self._file, self._passes, self._size, self._count = file, passes, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        piece = self._file.read(min(len(buffer), PIECE))  # a large read bypasses the buffer
        buffer[: len(piece)] = piece
        self._count += len(piece)
        self._passes.at(self._count / self._size)
        return len(piece)

    def close(self) -> None:
        self._file.close()
        super().close()
