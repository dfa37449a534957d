"""Small observed matrices whose rows and columns have every interesting number of cells."""

import numpy as np

from manifill.base.arrays import Array, Generator, Matrix, Vector
from manifill.kernels.cell_chunks import CHUNK
from manifill.kernels.compressed import Compressed
from manifill.problem import Observations

# None, one, and both sides of the passes' groups of four; and both sides of their chunks, alone and together.
CELLS_IN_ROW = (0, 1, 3, 4, 5, 9, 0)
CELLS_IN_LONG_ROW = (0, CHUNK // 2 - 1, CHUNK // 2, 1, 0, CHUNK // 2 + 1, CHUNK - 1, CHUNK, CHUNK + 3, CHUNK + 12, 0)
COLUMNS = 12


def ragged_observations(rng: Generator, values: Vector | None = None) -> Observations:
    """Return observations with CELLS_IN_ROW cells per row; values are normal unless given to choose from."""
    rows = np.repeat(np.arange(len(CELLS_IN_ROW)), CELLS_IN_ROW)
    cols = np.concatenate([rng.choice(COLUMNS, count, replace=False) for count in CELLS_IN_ROW])
    y = rng.standard_normal(len(rows)) if values is None else rng.choice(values, len(rows))
    return Observations.from_triples(rows, cols, y, (len(CELLS_IN_ROW), COLUMNS))


def long_cells(rng: Generator, values: Vector) -> tuple[Compressed, Matrix, Matrix]:
    """Return cells with CELLS_IN_LONG_ROW cells per row, a left and a right factor of rank 3."""
    rows = np.repeat(np.arange(len(CELLS_IN_LONG_ROW)), CELLS_IN_LONG_ROW)
    cols = np.concatenate([rng.choice(max(CELLS_IN_LONG_ROW), count, replace=False) for count in CELLS_IN_LONG_ROW])
    shape = len(CELLS_IN_LONG_ROW), max(CELLS_IN_LONG_ROW)
    cells = Observations.from_triples(rows, cols, rng.choice(values, len(rows)), shape).by_row
    return cells, rng.standard_normal((len(CELLS_IN_LONG_ROW), 3)), rng.standard_normal((max(CELLS_IN_LONG_ROW), 3))


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
