"""Rows of a Gaussian factor: draws against the conditional distribution written with dense matrices."""

from typing import NamedTuple

import numpy as np
import pytest

from manifill.base.arrays import Array, Matrix, Vector
from manifill.kernels.compressed import Compressed
from manifill.kernels.row_conditionals import draw_rows
from tests.problem.cells import CELLS_IN_ROW, ragged_cells

GAMMA, DRAWS = 2.5, 20_000


class Given(NamedTuple):
    """What a row is drawn given, besides the other factor."""

    weights: Vector
    prior: Vector
    shift: Vector

    @classmethod
    def of(cls, cells: Compressed, other: Matrix, *, uneven: bool) -> "Given":
        rng, k = np.random.default_rng(5), int(other.shape[1])
        if not uneven:
            return cls(np.empty(0), np.full(k, 0.8), np.empty(0))
        weights, prior = rng.exponential(size=cells.values.size), rng.exponential(size=(k,))
        return cls(weights, prior, rng.standard_normal(len(other)))


def conditional(cells: Compressed, row: int, other: Matrix, given: Given) -> tuple[Array, Array]:
    """Return mean and covariance of one row given the other factor."""
    own = slice(cells.starts[row], cells.starts[row + 1])
    j = cells.indices[own]
    y = cells.values[own] - (given.shift[j] if given.shift.size else 0.0)
    b = other[j]
    weighted = GAMMA * b.T * (given.weights[own] if given.weights.size else 1.0)
    covariance = np.linalg.inv(np.diag(given.prior) + weighted @ b)
    return covariance @ (weighted @ y), covariance


@pytest.mark.parametrize("rank", [3, 11])
@pytest.mark.parametrize("uneven", [False, True])
def test_rows_have_their_conditional_means_and_covariances(uneven: bool, rank: int) -> None:
    """Rows of 0 to 9 cells, of which those with fewer than half the rank are drawn in another way.

    63 or 539 comparisons with |z| < 5: false-alarm rates 4e-5 and 3e-4.
    """
    rng = np.random.default_rng(1)
    cells, left, right = ragged_cells(rng)
    right = rng.standard_normal((len(right), rank)) * np.linspace(0.3, 2.0, rank)
    given, A = Given.of(cells, right, uneven=uneven), np.empty((DRAWS, len(left), rank))
    for out in A:
        draw_rows(rng, cells, given.weights, GAMMA, given.prior, given.shift, right, out)
    for row in range(len(CELLS_IN_ROW)):
        mean, covariance = conditional(cells, row, right, given)
        z = (A[:, row].mean(axis=0) - mean) / np.sqrt(covariance.diagonal() / DRAWS)
        assert np.abs(z).max() < 5.0
        spread = np.sqrt((np.outer(covariance.diagonal(), covariance.diagonal()) + covariance**2) / DRAWS)
        centred = A[:, row] - mean
        assert np.abs((centred.T @ centred / DRAWS - covariance) / spread).max() < 5.0


def test_rows_are_independent() -> None:
    """Correlations between the first entries of 7 rows, 21 comparisons with |z| < 5: false-alarm rate 1e-5."""
    rng = np.random.default_rng(2)
    cells, left, right = ragged_cells(rng)
    given, A = Given.of(cells, right, uneven=True), np.empty((DRAWS, *left.shape))
    for out in A:
        draw_rows(rng, cells, given.weights, GAMMA, given.prior, given.shift, right, out)
    correlation = np.corrcoef(A[:, :, 0].T) - np.eye(len(CELLS_IN_ROW))
    assert np.abs(correlation).max() * np.sqrt(DRAWS) < 5.0


@pytest.mark.parametrize("precision", [1e-4, GAMMA])
def test_cells_without_information_do_not_count(precision: float) -> None:
    """A weight of zero, or the least positive one, is as if the cell were missing, however few cells a row has."""
    rng, rank = np.random.default_rng(3), 11
    cells, left, right = ragged_cells(rng)
    right = rng.standard_normal((len(right), rank))

    def drawn(values: Vector, weights: Vector) -> Matrix:
        out, given = np.empty((len(left), rank)), cells._replace(values=values)
        key = np.random.default_rng(4)
        draw_rows(key, given, weights, precision, np.full(rank, 0.8), np.empty(0), right, out)
        return out

    weights = np.ones(cells.values.size)
    for row in range(len(CELLS_IN_ROW)):
        weights[cells.starts[row] : cells.starts[row + 1] : 2] = 0.0
    wanted = drawn(cells.values, weights)
    np.testing.assert_array_equal(drawn(np.where(weights == 0.0, 1e6, cells.values), weights), wanted)
    tiny = np.maximum(weights, np.finfo(np.float64).tiny)
    np.testing.assert_allclose(drawn(cells.values, tiny), wanted, rtol=1e-9)
