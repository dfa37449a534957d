"""Row and column effects fitted by least squares, and the residual variance of the data."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsmr
from threadpoolctl import threadpool_limits

from manifill.base import progress
from manifill.base.arrays import IntVector, Vector
from manifill.problem.observations import Observations

__all__ = [
    "ROUNDING",
    "TYPICAL_ITERATIONS",
    "AdditiveFit",
    "Iterations",
    "fit_additive",
    "positive_square",
    "variance_of",
    "variance_within",
]

# Relative differences below this are rounding errors, including those of the least-squares sums.
ROUNDING = 1e-12

# Tolerance and iteration limit of the fit, which only sets the scales of priors.
TOLERANCE, MOST_ITERATIONS = 1e-13, 200
TYPICAL_ITERATIONS = 10  # that a phase of fits expects of each


class AdditiveFit(NamedTuple):
    """x_ij − mean(x) ≈ a_i + b_j, and the variance of x that the column effects, the row effects, or both leave."""

    row: Vector  # (cells,), a_i of each cell, sorted by row
    column: Vector  # (cells,), b_j
    residual_of_columns: float  # variance of x − b
    residual_of_rows: float  # variance of x − a
    residual_of_both: float  # variance of x − a − b
    free_rows: int  # degrees of freedom of a; 0 if nothing was fitted
    free_columns: int


class Iterations:
    """Reports the iterations of a fit, as part of a phase that expects the typical number of them."""

    def __init__(self) -> None:
        self._count = 0

    def add(self) -> None:
        """Report one more."""
        self._count += 1
        if self._count > TYPICAL_ITERATIONS:
            progress.expect(1.0)
        progress.advance()

    def end(self) -> None:
        """Report that there are no more."""
        progress.expect(min(self._count - TYPICAL_ITERATIONS, 0))


def variance_of(values: Vector, size: float | None = None, spent: int = 0) -> float:
    """Return the variance of values, zero if they differ only by the rounding errors of numbers of this size.

    ``size`` defaults to their root mean square.  ``spent`` degrees of freedom were used by an earlier fit.
    """
    size = float(np.sqrt(np.mean(values**2))) if size is None else size
    variance = float(np.var(values)) * len(values) / (len(values) - spent)
    return variance if variance > (ROUNDING * size) ** 2 else 0.0


def variance_within(index: IntVector, values: Vector) -> float:
    """Return the variance of values about the means of their groups; infinite if no group has two of them."""
    counts = np.bincount(index)
    means = np.bincount(index, values) / np.maximum(counts, 1)
    groups = int(np.count_nonzero(counts))
    if groups == values.size:
        return float("inf")
    return variance_of(values - means[index], float(np.sqrt(np.mean(values**2))), groups - 1)


def positive_square(variance: float, values: Vector) -> float:
    """Return the variance of values; their mean square if it is zero; 1 if that is zero too."""
    return variance or float(np.mean(values**2)) or 1.0


def fit_additive(observations: Observations, x: Vector) -> AdditiveFit:
    """Fit row and column effects to x, one value per cell, sorted by row.

    If there are too few cells for a fit, the effects are zero and the variances are that of x.  A residual variance of
    zero is replaced by the total variance, or, for both effects, by the smaller of the other two.
    """
    rows, cols, _ = observations.triples()
    counts = [np.bincount(index, minlength=size) for index, size in zip((rows, cols), observations.shape, strict=True)]
    free_rows, free_columns = (int(np.count_nonzero(count)) - 1 for count in counts)
    total, size = variance_of(x), float(np.sqrt(np.mean(x**2)))
    if len(x) - 1 <= free_rows + free_columns:
        progress.expect(-TYPICAL_ITERATIONS)
        return AdditiveFit(np.zeros(len(x)), np.zeros(len(x)), total, total, total, 0, 0)
    row, column = _least_squares(observations, x - np.mean(x), counts)
    of_columns = variance_of(x - column, size, free_columns) or total
    of_rows = variance_of(x - row, size, free_rows) or total
    of_both = variance_of(x - row - column, size, free_rows + free_columns) or min(of_columns, of_rows)
    return AdditiveFit(row, column, of_columns, of_rows, of_both, free_rows, free_columns)


def _least_squares(observations: Observations, x: Vector, counts: Sequence[IntVector]) -> tuple[Vector, Vector]:
    """Return a and b at the cells.

    Each effect is scaled by the root of its number of cells, so that LSMR converges in few iterations.  The design
    matrix is applied but never formed: memory is a few vectors with one number per cell.
    """
    rows, cols, _ = observations.triples()
    m, n = observations.shape
    row_scales, column_scales = (1.0 / np.sqrt(np.maximum(count, 1)) for count in counts)

    iterations = Iterations()

    def at_cells(effects: Vector) -> Vector:
        iterations.add()
        return np.asarray((row_scales * effects[:m])[rows] + (column_scales * effects[m:])[cols])

    def over_cells(u: Vector) -> Vector:
        return np.concatenate((row_scales * np.bincount(rows, u, m), column_scales * np.bincount(cols, u, n)))

    design = LinearOperator((len(x), m + n), matvec=at_cells, rmatvec=over_cells, dtype=np.float64)
    with threadpool_limits(1, "blas"):  # so that the order of sums does not depend on the number of threads
        found = lsmr(design, x, atol=TOLERANCE, btol=TOLERANCE, maxiter=MOST_ITERATIONS)[0]
    iterations.end()
    return (row_scales * found[:m])[rows], (column_scales * found[m:])[cols]
