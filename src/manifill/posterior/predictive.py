"""What the draws say of y: at some cells with intervals or as samples, or at all of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from manifill.posterior.cells import at_cells, check_cells
from manifill.posterior.draws import Draws
from manifill.problem import Likelihood
from manifill.types import Array, Generator, IntVector, Matrix, Vector

__all__ = ["Prediction", "cell_blocks", "check_interval", "complete", "enough_draws", "predict", "sample_predictive"]

# Many cells are answered from fewer draws, so that there are about SAMPLES in all, but no fewer draws than
# ENOUGH_DRAWS: all of them are often worth no more independent ones.
SAMPLES, ENOUGH_DRAWS = 40_000_000, 400

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

    def to_frame(self, rows: ArrayLike | None = None, cols: ArrayLike | None = None) -> Any:
        """Return a pandas DataFrame with a line for each cell: mean, sd, lower, upper.

        ``rows`` and ``cols``, the cells as they were given to ``predict``, become its first columns, row and column.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas; pip install pandas brings it.") from None
        columns: dict[str, Any] = {}
        for argument, name, given in (("rows", "row", rows), ("cols", "column", cols)):
            if given is not None:
                columns[name] = pd.Series(given).to_numpy()  # which leaves labels of several kinds as they are
                if len(columns[name]) != self.mean.size:
                    count = f"{self.mean.size} cells of the prediction, not {len(columns[name])}"
                    raise ValueError(f"{argument} must name the {count}; give those that were given to predict.")
        figures = {name: getattr(self, name) for name in ("mean", "sd", "lower", "upper")}
        return pd.DataFrame(columns | figures)


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
    y sampled from each draw.  Where there are many cells, evenly spread draws stand for all of them (``enough_draws``).
    Cells are taken in blocks, and the draws read once for each block.  Everything is in the data's units, whatever the
    columns were divided by before the fit.
    """
    check_interval(interval)
    row_index, col_index = check_cells(draws.shape, rows, cols)
    draws = enough_draws(draws, row_index.size)
    mean, sd, lower, upper = out = np.empty((4, row_index.size))
    for part in cell_blocks(draws, row_index.size):
        out[:, part] = _predict_block(rng, draws, likelihood, row_index[part], col_index[part], interval)
    out *= np.broadcast_to(draws.column_scales, draws.shape[1])[col_index]
    return Prediction(mean, sd, lower, upper, interval)


def sample_predictive(
    rng: Generator,
    draws: Draws,
    likelihood: Likelihood,
    rows: ArrayLike,
    cols: ArrayLike,
    count: int | None = None,
) -> Matrix:
    """Return samples of y at the cells (rows[k], cols[k]), in the data's units, (samples, cells).

    There is one from each draw, chain after chain, or one from each of ``count`` draws evenly spread over all.
    """
    row_index, col_index = check_cells(draws.shape, rows, cols)
    total = draws.chains * draws.draws
    if count is None:
        count = total
    elif not 0 < count <= total:
        raise ValueError(f"{count} draws are asked for, but the posterior has {total}; ask for 1 to {total} of them.")
    kept = np.zeros(total, dtype=bool)
    kept[np.arange(count) * total // count] = True
    samples = np.empty((count, row_index.size))
    for k, (x, sigma) in enumerate(at_cells(draws, row_index, col_index, kept)):
        samples[k] = likelihood.sample(rng, x, sigma)
    samples *= np.broadcast_to(draws.column_scales, draws.shape[1])[col_index]
    return samples


def complete(draws: Draws, likelihood: Likelihood) -> tuple[Matrix, Matrix]:
    """Return the predictive mean and standard deviation of y at all cells, (m, n) each; the draws are read once."""
    m, n = draws.shape
    draws = enough_draws(draws, m * n)
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


def enough_draws(draws: Draws, cells: int) -> Draws:
    """Return all draws for few cells, and fewer for many."""
    return draws.thinned(max(SAMPLES // max(cells, 1), ENOUGH_DRAWS))


def check_interval(interval: float) -> None:
    """Raise a ValueError for what is no probability of an interval."""
    if not 0.0 < interval < 1.0:
        raise ValueError(f"interval is the probability between the bounds, above 0 and below 1, not {interval!r}.")


def cell_blocks(draws: Draws, cells: int) -> Iterator[slice]:
    """Yield parts of the cells of which a sample from every draw fits in SAMPLE_BYTES."""
    block = max(SAMPLE_BYTES // (4 * draws.chains * draws.draws), 1)
    for first in range(0, cells, block):
        yield slice(first, first + block)


def _predict_block(
    rng: Generator, draws: Draws, likelihood: Likelihood, rows: IntVector, cols: IntVector, interval: float
) -> tuple[Vector, Vector, Vector, Vector]:
    total = draws.chains * draws.draws
    average, spread, first = np.zeros((3, rows.size))
    changes = np.empty((total, rows.size), dtype=np.float32)  # differences, which single precision holds at any level
    for k, (x, sigma) in enumerate(at_cells(draws, rows, cols)):
        _add_draw(k, average, spread, likelihood.mean(x), likelihood.variance(x, sigma))
        sample = likelihood.sample(rng, x, sigma)
        if k == 0:
            first[:] = sample
        changes[k] = sample - first
    tail = 0.5 * (1.0 - interval)
    lower, upper = first + np.quantile(changes, (tail, 1.0 - tail), axis=0, overwrite_input=True)
    return average, np.sqrt(spread / total), lower, upper


def _add_draw(earlier: int, average: Array, spread: Array, mean: Array, variance: Array) -> None:
    """Add a draw to ``earlier`` ones: Welford's update of the average of E[y | x], and the law of total variance.

    ``spread`` holds the squared deviations of E[y | x] from its average and the variances Var[y | x], both summed, so
    that the predictive variance is ``spread`` over the number of draws.
    """
    step = mean - average
    average += step / (earlier + 1)
    spread += step * (mean - average) + variance
