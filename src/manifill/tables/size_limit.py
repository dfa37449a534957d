"""Limits on what a file may unpack to, and on what fits into memory."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from manifill.base.argument_words import Argument, Wording
from manifill.tables.message_text import counted, size_text

__all__ = [
    "BYTES_PER_CELL",
    "LARGEST_RATIO",
    "LARGEST_UNPACKED",
    "SizeLimit",
    "TooLargeError",
    "check_memory",
    "check_shape",
]

LARGEST_UNPACKED = 8 << 30
# Tables rarely shrink more than twentyfold; a file made to exhaust memory shrinks up to a thousandfold.
LARGEST_RATIO = 100
BYTES_PER_CELL = 100  # what observations need while they are made, besides the columns of the file; measured
# Rows and columns of a matrix with one cell, and for each further cell; every row and every column takes memory.
ALWAYS_LINES, LINES_PER_CELL = 10_000_000, 100
MEMINFO = Path("/proc/meminfo")
ALWAYS_UNPACKED = 256 << 20  # below this, the ratio does not matter


class TooLargeError(ValueError):
    """A file holds more than may be read, which is not a damage."""


class SizeLimit(NamedTuple):
    """How many bytes a compressed file may unpack to: ``max_bytes``, or by default 8 GiB and 100 times its size."""

    file: str
    packed: int  # bytes on disk
    max_bytes: int | None

    @property
    def largest(self) -> int:
        """The largest number of bytes that is accepted."""
        if self.max_bytes is not None:
            return self.max_bytes
        return min(LARGEST_UNPACKED, max(ALWAYS_UNPACKED, LARGEST_RATIO * self.packed))

    def check(self, unpacked: int) -> None:
        """Raise a TooLargeError if the file unpacks to more than it may."""
        if unpacked <= self.largest:
            return
        raise TooLargeError(
            Wording(
                f"{self.file} ({size_text(self.packed)}) unpacks to more than {size_text(self.largest)}; if that is "
                "as it should be, pass ",
                Argument("max_bytes", max(2 * self.largest, LARGEST_UNPACKED)),
                " or more.",
            )
        )


def check_memory(file: str, content: str, needed: int) -> None:
    """Raise a TooLargeError if reading a file needs more memory than there is; the kernel would end the process."""
    available = _available_memory()
    if available is not None and needed > available:
        raise TooLargeError(
            f"{file} has {content}, which need {size_text(needed)} of memory, but {size_text(available)} are "
            "available; give a part of the table, or use a larger machine."
        )


def check_shape(file: str, shape: Sequence[Any], cells: int) -> None:
    """Raise a TooLargeError if a matrix has far more rows and columns than cells, as a damaged header may state."""
    if sum(map(float, shape)) > ALWAYS_LINES + LINES_PER_CELL * cells:
        raise TooLargeError(
            f"{file} states a matrix of {' x '.join(f'{size:.0f}' for size in shape)} with only "
            f"{counted(cells, 'observed cell')}; leave out the rows and columns without any."
        )


def _available_memory() -> int | None:
    """Return the free memory in bytes, or all memory if the system does not say what is free; None if unknown."""
    try:
        if MEMINFO.exists():
            free = next(line for line in MEMINFO.read_text().splitlines() if line.startswith("MemAvailable:"))
            return int(free.split()[1]) * 1024
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError, StopIteration):
        return None
