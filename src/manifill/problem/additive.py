"""A mean, row and column effects by least squares: how much of the data's variance they leave."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsmr
from threadpoolctl import threadpool_limits

from manifill.problem.observations import Observations
from manifill.types import IntVector, Vector

__all__ = ["ROUNDING", "AdditiveFit", "fit_additive", "positive_square", "variance_of"]

# Values that differ by less than this share of their size do so by rounding alone, also in sums of least squares.
ROUNDING = 1e-12

# How exact the fit is, and the most iterations that it may take: it decides on scales of priors only.
TOLERANCE, MOST_ITERATIONS = 1e-13, 200


class AdditiveFit(NamedTuple):
    """x_ij ≈ a_i + b_j; the variances are of what is left when the fit of columns, of rows, or of both comes off."""

    row: Vector  # (cells,) a_i of each cell, in the order of rows
    column: Vector  # (cells,) b_j
    beside_columns: float
    beside_rows: float
    beside_both: float
    free_rows: int  # rows fitted that could differ, or none
    free_columns: int


def variance_of(values: Vector, size: float | None = None, spent: int = 0) -> float:
    """Return the variance of values, zero where they are the same but for rounding errors of numbers of this size.

    ``spent`` degrees of freedom have gone into a fit before.
    """
    size = float(np.sqrt(np.mean(values**2))) if size is None else size
    variance = float(np.var(values)) * len(values) / (len(values) - spent)
    return variance if variance > (ROUNDING * size) ** 2 else 0.0


def positive_square(variance: float, values: Vector) -> float:
    """Return a variance of values, their mean square where that is zero, or one where they are zeros."""
    return variance or float(np.mean(values**2)) or 1.0


def fit_additive(observations: Observations, x: Vector) -> AdditiveFit:
    """Fit row and column effects to x, one for each cell in the order of rows.

    A variance is that of x where lines have no cells to spare, and what is left beside one kind of lines where it would
    be zero beside both.
    """
    rows, cols, _ = observations.triples()
    counts = [np.bincount(lines, minlength=size) for lines, size in zip((rows, cols), observations.shape, strict=True)]
    free_rows, free_columns = (int(np.count_nonzero(count)) - 1 for count in counts)
    total, size = variance_of(x), float(np.sqrt(np.mean(x**2)))
    if len(x) - 1 <= free_rows + free_columns:
        return AdditiveFit(np.zeros(len(x)), np.zeros(len(x)), total, total, total, 0, 0)
    row, column = _least_squares(observations, x - np.mean(x), counts)
    beside_columns = variance_of(x - column, size, free_columns) or total
    beside_rows = variance_of(x - row, size, free_rows) or total
    beside_both = variance_of(x - row - column, size, free_rows + free_columns) or min(beside_columns, beside_rows)
    return AdditiveFit(row, column, beside_columns, beside_rows, beside_both, free_rows, free_columns)


def _least_squares(observations: Observations, x: Vector, counts: Sequence[IntVector]) -> tuple[Vector, Vector]:
    """Return a and b at the cells: lines with many cells are weighed down, so that the iteration takes few steps.

    The matrix of zeros and ones is applied and never formed: a few vectors of one number a cell are held.
    """
    rows, cols, _ = observations.triples()
    m, n = observations.shape
    of_rows, of_columns = (1.0 / np.sqrt(np.maximum(count, 1)) for count in counts)

    def at_cells(effects: Vector) -> Vector:
        return np.asarray((of_rows * effects[:m])[rows] + (of_columns * effects[m:])[cols])

    def over_cells(u: Vector) -> Vector:
        return np.concatenate((of_rows * np.bincount(rows, u, m), of_columns * np.bincount(cols, u, n)))

    design = LinearOperator((len(x), m + n), matvec=at_cells, rmatvec=over_cells, dtype=np.float64)
    with threadpool_limits(1, "blas"):  # sums of the same order, whatever the threads
        found = lsmr(design, x, atol=TOLERANCE, btol=TOLERANCE, maxiter=MOST_ITERATIONS)[0]
    return (of_rows * found[:m])[rows], (of_columns * found[m:])[cols]
