"""A guess of the number of cells in a file, for the first estimate of the time that a fit takes."""

import os
from pathlib import Path

__all__ = ["likely_cells"]

# On disk, of a long table, and for matrices of an entry.
BYTES_PER_CELL = {".parquet": 6, ".mtx": 16, ".npz": 8, ".gz": 7}
BYTES_PER_CELL_OF_TEXT = 16


def likely_cells(path: str | os.PathLike[str]) -> int:
    """Return the number of cells that a file of this size and extension may hold; 0 if there is no such file."""
    path = Path(path)
    size = path.stat().st_size if path.is_file() else 0
    return size // BYTES_PER_CELL.get(path.suffix.lower(), BYTES_PER_CELL_OF_TEXT)
