"""The observed cells in compressed sparse format, by row (CSR) or by column (CSC)."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import IntVector, Vector

__all__ = ["Compressed"]


class Compressed(NamedTuple):
    """Cells sorted by row (or column), the major index: row i holds the cells starts[i] to starts[i + 1].

    A cell takes 12 bytes.
    """

    starts: IntVector  # (size + 1,) int64
    indices: IntVector  # (cells,) int32, the minor index of each cell
    values: Vector  # (cells,)

    @property
    def major_indices(self) -> IntVector:
        """The major index of each cell, (cells,), computed on each access."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    @property
    def counts(self) -> IntVector:
        """The number of cells in each row (or column), (size,)."""
        return np.diff(self.starts)
