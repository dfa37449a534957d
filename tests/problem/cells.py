"""Small observed matrices whose lines have every interesting number of cells."""

import numpy as np

from manifill.base.arrays import Array, Generator, Matrix, Vector
from manifill.kernels.compressed import Compressed
from manifill.problem import Observations

# None, one, and both sides of the passes' groups of four; and both sides of their chunks of 128, alone and together.
CELLS_IN_ROW = (0, 1, 3, 4, 5, 9, 0)
CELLS_IN_LONG_ROW = (0, 63, 64, 1, 0, 65, 127, 128, 131, 140, 0)
COLUMNS = 12


def ragged_observations(rng: Generator, values: Vector | None = None) -> Observations:
    """Return observations with CELLS_IN_ROW cells a row; values are normal unless given to choose from."""
    rows = np.repeat(np.arange(len(CELLS_IN_ROW)), CELLS_IN_ROW)
    cols = np.concatenate([rng.choice(COLUMNS, count, replace=False) for count in CELLS_IN_ROW])
    y = rng.standard_normal(len(rows)) if values is None else rng.choice(values, len(rows))
    return Observations.from_triples(rows, cols, y, (len(CELLS_IN_ROW), COLUMNS))


def long_cells(rng: Generator, values: Vector) -> tuple[Compressed, Matrix, Matrix]:
    """Return cells with CELLS_IN_LONG_ROW cells a row, a left and a right factor of rank 3."""
    rows = np.repeat(np.arange(len(CELLS_IN_LONG_ROW)), CELLS_IN_LONG_ROW)
    cols = np.concatenate([rng.choice(140, count, replace=False) for count in CELLS_IN_LONG_ROW])
    shape = len(CELLS_IN_LONG_ROW), 140
    cells = Observations.from_triples(rows, cols, rng.choice(values, len(rows)), shape).by_row
    return cells, rng.standard_normal((len(CELLS_IN_LONG_ROW), 3)), rng.standard_normal((140, 3))


def ragged_cells(rng: Generator, values: Vector | None = None) -> tuple[Compressed, Matrix, Matrix]:
    """Return the cells by row, a left and a right factor of rank 3."""
    observations = ragged_observations(rng, values)
    return observations.by_row, rng.standard_normal((len(CELLS_IN_ROW), 3)), rng.standard_normal((COLUMNS, 3))


def labels_of(observations: Observations) -> tuple[Array, Array]:
    """Return the labels of rows and columns, which there must be."""
    assert observations.row_labels is not None
    assert observations.column_labels is not None
    return observations.row_labels, observations.column_labels


def dense(observations: Observations) -> Matrix:
    """Return the matrix with NaN at unobserved cells, filled by the triples."""
    matrix = np.full(observations.shape, np.nan)
    rows, cols, values = observations.triples()
    matrix[rows, cols] = values
    return matrix
