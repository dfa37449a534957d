"""Compressed ``.npz`` files, written in pieces that are reported."""

import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from manifill.base import progress
from manifill.base.arrays import Array

__all__ = ["write_arrays"]

MEGABYTE = 1e6
SECONDS_PER_BYTE = 7e-8  # of compression; a guess


def write_arrays(file: IO[bytes], arrays: Mapping[str, Array], name: str) -> None:
    """Write arrays as ``numpy.savez_compressed`` does, as a phase that counts their bytes; ``name`` is the file's."""
    size = sum(array.nbytes for array in arrays.values())
    progress.begin(f"writing {name}", size / MEGABYTE, "MB", guess=SECONDS_PER_BYTE * size)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in arrays.items():
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                # NumPy writes to what is not a file in pieces.
                np.lib.format.write_array(_Counted(member), array, allow_pickle=False)


class _Counted:
    """Reports how much has been written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, piece: Any) -> int:
        written = self._file.write(piece)
        progress.advance(len(piece) / MEGABYTE)
        return written
