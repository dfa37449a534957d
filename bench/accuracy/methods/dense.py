"""Tables as arrays with NaN in the missing cells, for imputers, which want the shorter side as columns."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from accuracy.tables import Split
from manifill.base.arrays import Array, Matrix, Vector


@dataclass(frozen=True, eq=False)
class Arranged:
    """The training cells as an array whose columns are the shorter side.

    Imputers refuse or drop rows without cells and columns with one level; these are left out.  Test cells there get the
    mean and the standard deviation of the column, or of the table.
    """

    table: Matrix
    known: Array  # (k,): whether the row and column of a test cell are in the table
    places: tuple[Array, Array]  # rows and columns of the known ones
    means: Vector  # (k,), of the column of each test cell
    spreads: Vector

    @classmethod
    def of(cls, split: Split) -> Self:
        """Arrange the training cells of a split."""
        table = np.full(split.shape, np.nan)
        table[split.train.rows, split.train.cols] = split.train.y
        test = split.test.rows, split.test.cols
        if table.shape[1] > table.shape[0]:
            table, test = table.T, test[::-1]
        rows = np.any(~np.isnan(table), axis=1)
        means, spreads = _moments(table)
        cols = spreads > 0.0
        means[~cols], spreads[~cols] = np.mean(split.train.y), np.std(split.train.y)
        known = rows[test[0]] & cols[test[1]]
        places = (np.cumsum(rows) - 1)[test[0][known]], (np.cumsum(cols) - 1)[test[1][known]]
        return cls(table[np.ix_(rows, cols)], known, places, means[test[1]], spreads[test[1]])

    def at_test_cells(self, completed: Array, otherwise: Vector) -> Array:
        """Return the test cells of completed tables, (T, k), with ``otherwise``, (k,), in those left out."""
        found = np.tile(otherwise, (len(completed), 1))
        found[:, self.known] = completed[:, *self.places]
        return found


def _moments(table: Matrix) -> tuple[Vector, Vector]:
    """Return means and standard deviations of the columns; zero for a column without cells."""
    counts = np.maximum(np.sum(~np.isnan(table), axis=0), 1)
    means = np.nansum(table, axis=0) / counts
    return means, np.sqrt(np.nansum((table - means) ** 2, axis=0) / counts)
