"""Predictions by means, to compare a model with: those of columns, and those of rows and columns."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsmr
from threadpoolctl import threadpool_limits

from manifill.base import progress
from manifill.base.arrays import Array, IntVector, Vector
from manifill.problem.additive_fit import TYPICAL_ITERATIONS, Iterations, fit_additive
from manifill.problem.column_spreads import divided_by
from manifill.problem.observations import Observations

__all__ = ["column_means", "mean_baselines"]

# The variance between rows, or between columns, is taken to be at least this share of that within them.
SMALLEST_SHARE = 1e-3

# Prior standard deviation of the mean in standard deviations of the values, so wide that it hardly shrinks the mean.
MEAN_WIDTH = 10.0

TOLERANCE, MOST_ITERATIONS = 1e-10, 500

FITS, SECONDS_PER_FIT = 2, 4e-7  # of effects, without and with shrinkage; a guess per cell


def mean_baselines(train: Observations, rows: IntVector, cols: IntVector, scales: Array) -> dict[str, Vector]:
    """Return predictions of some cells by the means of the training cells, (k,) each, by the name of the method.

    If columns were divided by ``scales``, (n,), for the fit, so they are here; ``scales`` is 1 otherwise.
    """
    scales = np.broadcast_to(scales, train.shape[1])
    mean, row, column = _shrunk_effects(divided_by(train, scales))
    return {
        "row and column means": scales[cols] * (mean + row[rows] + column[cols]),
        "column means": column_means(train)[cols],
    }


def column_means(observations: Observations) -> Vector:
    """Return the mean of each column's observed values, (n,); the mean of all values for an unobserved column."""
    cells = observations.by_column
    counts = np.diff(cells.starts)
    sums = np.bincount(cells.major_indices, cells.values, counts.size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), cells.values.mean())


def _shrunk_effects(observations: Observations) -> tuple[float, Vector, Vector]:
    """Return μ, a and b of y_ij ≈ μ + a_i + b_j, (m,) and (n,), with a and b shrunk towards 0.

    They are the most probable ones under normal priors, whose variances are those between rows and between columns in
    the data, so that a row with few cells stays close to μ and one without cells has the effect 0.
    """
    rows, cols, values = observations.triples()
    (m, n), x = observations.shape, values - values.mean()
    progress.begin("fitting means", FITS * TYPICAL_ITERATIONS, "iterations", guess=SECONDS_PER_FIT * FITS * x.size)
    fit = fit_additive(observations, values)
    noise = fit.residual_of_both or 1.0
    between = (fit.residual_of_columns - noise, fit.residual_of_rows - noise)
    row_sd, column_sd = (float(np.sqrt(max(variance, SMALLEST_SHARE * noise))) for variance in between)
    mean_sd = MEAN_WIDTH * (float(np.std(x)) or 1.0)

    iterations = Iterations()

    def at_cells(unit: Vector) -> Vector:
        iterations.add()
        return np.asarray(mean_sd * unit[0] + row_sd * unit[1 : m + 1][rows] + column_sd * unit[m + 1 :][cols])

    def over_cells(u: Vector) -> Vector:
        return np.concatenate(
            ([mean_sd * np.sum(u)], row_sd * np.bincount(rows, u, m), column_sd * np.bincount(cols, u, n))
        )

    design = LinearOperator((len(x), 1 + m + n), matvec=at_cells, rmatvec=over_cells, dtype=np.float64)
    with threadpool_limits(1, "blas"):  # so that the order of sums does not depend on the number of threads
        unit = lsmr(design, x, np.sqrt(noise), atol=TOLERANCE, btol=TOLERANCE, maxiter=MOST_ITERATIONS)[0]
    iterations.end()
    return values.mean() + mean_sd * unit[0], row_sd * unit[1 : m + 1], column_sd * unit[m + 1 :]
