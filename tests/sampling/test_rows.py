"""Rows of a Gaussian factor: draws against the conditional distribution written with dense matrices."""

import numpy as np

from manifill.base.arrays import Array, Matrix
from manifill.kernels.compressed import Compressed
from manifill.kernels.row_conditionals import draw_rows
from tests.problem.cells import CELLS_IN_ROW, ragged_cells

GAMMA, TAU, DRAWS = 2.5, 0.8, 20_000


def conditional(cells: Compressed, row: int, other: Matrix) -> tuple[Array, Array]:
    """Return mean and covariance of one row given the other factor."""
    own = slice(cells.starts[row], cells.starts[row + 1])
    b, y = other[cells.indices[own]], cells.values[own]
    covariance = np.linalg.inv(TAU * np.eye(other.shape[1]) + GAMMA * b.T @ b)
    return covariance @ (GAMMA * b.T @ y), covariance


def test_rows_have_their_conditional_means_and_covariances() -> None:
    """Rows of 0, 1, 3, 4, 5 and 9 cells: 63 comparisons with |z| < 5, false-alarm rate 4e-5."""
    rng = np.random.default_rng(1)
    cells, left, right = ragged_cells(rng)
    A = np.empty((DRAWS, *left.shape))
    for out in A:
        draw_rows(rng, cells, GAMMA, TAU, right, out)
    for row in range(len(CELLS_IN_ROW)):
        mean, covariance = conditional(cells, row, right)
        z = (A[:, row].mean(axis=0) - mean) / np.sqrt(covariance.diagonal() / DRAWS)
        assert np.abs(z).max() < 5.0
        spread = np.sqrt((np.outer(covariance.diagonal(), covariance.diagonal()) + covariance**2) / DRAWS)
        centred = A[:, row] - mean
        assert np.abs((centred.T @ centred / DRAWS - covariance) / spread).max() < 5.0


def test_rows_are_independent() -> None:
    """Correlations between the first entries of 7 rows, 21 comparisons with |z| < 5: false-alarm rate 1e-5."""
    rng = np.random.default_rng(2)
    cells, left, right = ragged_cells(rng)
    A = np.empty((DRAWS, *left.shape))
    for out in A:
        draw_rows(rng, cells, GAMMA, TAU, right, out)
    correlation = np.corrcoef(A[:, :, 0].T) - np.eye(len(CELLS_IN_ROW))
    assert np.abs(correlation).max() * np.sqrt(DRAWS) < 5.0
