"""The observed cells as samplers use them."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import IntVector
from manifill.kernels.compressed import Compressed
from manifill.problem import Model, Observations

__all__ = ["Data"]


class Data(NamedTuple):
    """The observed cells with their values encoded for the likelihood."""

    by_row: Compressed
    by_column: Compressed

    @classmethod
    def encoded(cls, model: Model, observations: Observations) -> "Data":
        """Return the data encoded for the model's likelihood, or raise a ValueError if they are invalid."""
        model.check(observations)
        by_row, by_column = (
            cells._replace(values=model.likelihood.encode(cells.values))
            for cells in (observations.by_row, observations.by_column)
        )
        return cls(by_row, by_column)

    @property
    def cells_of(self) -> tuple[IntVector, IntVector]:
        """The number of cells in each row and in each column."""
        return self.by_row.counts, self.by_column.counts

    def restricted(self, rows: IntVector, columns: IntVector) -> "Data":
        """Return the data of these rows and columns, ascending, which have all cells; the cells keep their order."""
        if (rows.size, columns.size) == (self.by_row.counts.size, self.by_column.counts.size):
            return self
        return Data(_restricted(self.by_row, rows, columns), _restricted(self.by_column, columns, rows))


def _restricted(cells: Compressed, major: IntVector, minor: IntVector) -> Compressed:
    """Return the cells, numbered by their places in ``major`` and ``minor``."""
    starts = np.append(cells.starts[major], cells.starts[-1])
    return cells._replace(starts=starts, indices=np.searchsorted(minor, cells.indices).astype(np.int32))
