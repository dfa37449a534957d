"""What the draws say of y: at some cells with intervals, or at all of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from manifill.posterior.cells import product_at_cells
from manifill.posterior.draws import Draws
from manifill.problem import Likelihood
from manifill.types import Array, Generator, IntVector, Matrix, Vector

__all__ = ["Prediction", "complete", "predict"]

# The samples of y that are held at once to take quantiles of, in float32.
SAMPLE_BYTES = 256 * 2**20

# Cells of the whole matrix that are handled at once: their temporaries stay in the cache.
BLOCK_CELLS = 2**15


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predictive distribution of y at k cells: y falls between the bounds with probability ``interval``."""

    mean: Vector  # (k,)
    sd: Vector  # (k,)
    lower: Vector  # (k,)
    upper: Vector  # (k,)
    interval: float


def predict(
    rng: Generator,
    draws: Draws,
    likelihood: Likelihood,
    rows: ArrayLike,
    cols: ArrayLike,
    interval: float = 0.9,
) -> Prediction:
    """Predict y at the cells (rows[k], cols[k]).

    Mean and standard deviation are those of the mixture over draws, without sampling; the bounds are quantiles of one
    y sampled from each draw.  Cells are taken in blocks, and the draws read once for each block.  Everything is in the
    data's units, whatever the columns were divided by before the fit.
    """
    if not 0.0 < interval < 1.0:
        raise ValueError(f"interval is the probability between the bounds, above 0 and below 1, not {interval!r}.")
    row_index, col_index = _checked("rows", rows, draws.shape[0]), _checked("cols", cols, draws.shape[1])
    if row_index.size != col_index.size:
        raise ValueError(f"rows and cols go in pairs, but there are {row_index.size} rows and {col_index.size} cols.")
    mean, sd, lower, upper = out = np.empty((4, row_index.size))
    block = max(SAMPLE_BYTES // (4 * draws.chains * draws.draws), 1)
    for first in range(0, row_index.size, block):
        part = slice(first, first + block)
        out[:, part] = _predict_block(rng, draws, likelihood, row_index[part], col_index[part], interval)
    out *= np.broadcast_to(draws.column_scales, draws.shape[1])[col_index]
    return Prediction(mean, sd, lower, upper, interval)


def complete(draws: Draws, likelihood: Likelihood) -> tuple[Matrix, Matrix]:
    """Return the predictive mean and standard deviation of y at all cells, (m, n) each; the draws are read once."""
    m, n = draws.shape
    average, spread = np.zeros((m, n)), np.zeros((m, n))
    block = max(BLOCK_CELLS // n, 1)
    with threadpool_limits(1, "blas"):  # for products this small, threads take longer to meet than to multiply
        for k, (left, right, sigma) in enumerate(draws.factors()):
            for first in range(0, m, block):
                part = slice(first, first + block)
                x = left[part] @ right.T
                _add_draw(k, average[part], spread[part], likelihood.mean(x), likelihood.variance(x, sigma))
    spread /= draws.chains * draws.draws
    scales = draws.column_scales
    return average * scales, np.sqrt(spread, out=spread) * scales


def _predict_block(
    rng: Generator, draws: Draws, likelihood: Likelihood, rows: IntVector, cols: IntVector, interval: float
) -> tuple[Vector, Vector, Vector, Vector]:
    total = draws.chains * draws.draws
    average, spread, x = np.zeros(rows.size), np.zeros(rows.size), np.empty(rows.size)
    samples = np.empty((total, rows.size), dtype=np.float32)
    for k, (left, right, sigma) in enumerate(draws.factors()):
        product_at_cells(left, right, rows, cols, x)
        sigma = sigma if sigma.ndim == 0 else sigma[cols]
        _add_draw(k, average, spread, likelihood.mean(x), likelihood.variance(x, sigma))
        samples[k] = likelihood.sample(rng, x, sigma)
    tail = 0.5 * (1.0 - interval)
    lower, upper = np.quantile(samples, (tail, 1.0 - tail), axis=0, overwrite_input=True)
    return average, np.sqrt(spread / total), lower, upper


def _add_draw(earlier: int, average: Array, spread: Array, mean: Array, variance: Array) -> None:
    """Add a draw to ``earlier`` ones: Welford's update of the average of E[y | x], and the law of total variance.

    ``spread`` holds the squared deviations of E[y | x] from its average and the variances Var[y | x], both summed, so
    that the predictive variance is ``spread`` over the number of draws.
    """
    step = mean - average
    average += step / (earlier + 1)
    spread += step * (mean - average) + variance


def _checked(name: str, given: ArrayLike, size: int) -> IntVector:
    """Return indices that the compiled loop may trust."""
    index = np.asarray(given)
    if index.ndim != 1 or (index.size and not np.issubdtype(index.dtype, np.integer)):
        raise ValueError(f"{name} must be a list of whole numbers, not {index.dtype} of shape {index.shape}.")
    broken = np.flatnonzero((index < 0) | (index >= size))
    if broken.size:
        raise ValueError(f"{name}[{broken[0]}] is {index[broken[0]]}, but {name} of this matrix are 0 to {size - 1}.")
    return index.astype(np.int64)
