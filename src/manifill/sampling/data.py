"""The observed cells as samplers use them."""

from typing import NamedTuple

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
