"""The predictive distribution of y: intervals or samples at some cells, mean and sd at all cells."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from manifill.base import progress
from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Array, Generator, IntVector, Matrix, Vector
from manifill.base.moments import add_value
from manifill.base.wording import counted
from manifill.likelihoods import Likelihood
from manifill.posterior.cell_draws import at_cells, check_cells
from manifill.posterior.cell_parameters import of_rows, variables_needed
from manifill.posterior.draws import Draws

__all__ = [
    "Prediction",
    "cell_blocks",
    "check_interval",
    "complete",
    "enough_draws",
    "power_of_two",
    "predict",
    "sample_predictive",
]

# For many cells fewer draws are used, so that about SAMPLES values are sampled in all, but at least ENOUGH_DRAWS draws:
# the effective sample size of all draws is often no larger.
SAMPLES, ENOUGH_DRAWS = 40_000_000, 400

# The memory for samples of y that quantiles are taken of, in float32.
SAMPLE_BYTES = 256 * 2**20

# Number of cells of the completed matrix handled at once: their temporaries fit in the cache.
BLOCK_CELLS = 2**15


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predictive distribution of y at k cells: y falls between the bounds with probability ``interval``."""

    mean: Vector  # (k,)
    sd: Vector  # (k,)
    lower: Vector  # (k,)
    upper: Vector  # (k,)
    interval: float
    rows: Array | None = None  # (k,): labels of the cells, or indices if rows and columns have no labels
    cols: Array | None = None

    def to_frame(self, rows: ArrayLike | None = None, cols: ArrayLike | None = None) -> Any:
        """Return a pandas DataFrame with one row per cell: row, column, mean, sd, lower, upper.

        ``rows`` and ``cols`` replace the labels of the cells, for example by titles.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas; install it with pip install pandas.") from None
        columns: dict[str, Any] = {}
        for argument, name, replaced in (("rows", "row", rows), ("cols", "column", cols)):
            given = getattr(self, argument) if replaced is None else replaced
            if given is not None:
                columns[name] = pd.Series(given).to_numpy()  # keeps labels of mixed types as they are
                if len(columns[name]) != self.mean.size:
                    count = counted(self.mean.size, "predicted cell")
                    raise ValueError(f"{argument} must name the {count}, not {len(columns[name])}; or leave it out.")
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
    y sampled from each draw.  For many cells, evenly spread draws represent all of them (``enough_draws``).  Cells are
    processed in blocks, and the draws are read once per block.  Everything is in the data's units, also if columns were
    scaled or transformed for the fit.
    """
    check_interval(interval)
    row_index, col_index = check_cells(draws.shape, rows, cols)
    draws = enough_draws(draws, row_index.size)
    mean, sd, lower, upper = out = np.empty((4, row_index.size))
    blocks = list(cell_blocks(draws, row_index.size))
    progress.begin("predicting", len(blocks) * draws.total, "draws")
    for part in blocks:
        out[:, part] = _predict_block(rng, draws, likelihood, row_index[part], col_index[part], interval)
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

    There is one sample per draw, chain by chain, or one for each of ``count`` evenly spread draws.
    """
    row_index, col_index = check_cells(draws.shape, rows, cols)
    total = draws.total
    if count is None:
        count = total
    elif not 0 < count <= total:
        raise ValueError(f"{count} draws were requested, but the posterior has {total}; request 1 to {total}.")
    kept = np.zeros(total, dtype=bool)
    kept[np.arange(count) * total // count] = True
    samples = np.empty((count, row_index.size))
    cell_draws = at_cells(draws, likelihood, row_index, col_index, kept)
    for k, (x, parameters) in enumerate(progress.counted(cell_draws, "sampling predictions", count, "draws")):
        samples[k] = likelihood.sample(rng, x, parameters)
    return draws.column_units.at(col_index).to_data(samples)


def complete(draws: Draws, likelihood: Likelihood) -> tuple[Matrix, Matrix]:
    """Return the predictive mean and standard deviation of y at all cells, (m, n) each; the draws are read once."""
    m, n = draws.shape
    draws = enough_draws(draws, m * n)
    average, spread = np.zeros((m, n)), np.zeros((m, n))
    block, units = max(BLOCK_CELLS // n, 1), draws.column_units
    with threadpool_limits(1, "blas"):  # for products this small, threads cost more than they save
        factors = draws.factors(variables_needed(draws, likelihood))
        counted_factors = progress.counted(factors, "completing", draws.total, "draws")
        for k, (left, right, variables) in enumerate(counted_factors):
            for first in range(0, m, block):
                part = slice(first, first + block)
                x = left[part] @ right.T
                variance = likelihood.variance(x, of_rows(variables, part))
                _add_draw(k, average[part], spread[part], *units.moments(likelihood.mean(x), variance))
    spread /= draws.total
    return average, np.sqrt(spread, out=spread)


def enough_draws(draws: Draws, cells: int) -> Draws:
    """Return all draws for few cells, and fewer for many."""
    return draws.thinned(max(SAMPLES // max(cells, 1), ENOUGH_DRAWS))


def check_interval(interval: float) -> None:
    """Raise a ValueError if ``interval`` is not a probability."""
    if not 0.0 < interval < 1.0:
        raise ValueError(
            Wording(
                Argument("interval"), f" is the probability between the bounds, above 0 and below 1, not {interval!r}."
            )
        )


def cell_blocks(draws: Draws, cells: int) -> Iterator[slice]:
    """Yield slices of the cells such that one sample per cell and draw fits in SAMPLE_BYTES."""
    block = max(SAMPLE_BYTES // (4 * draws.total), 1)
    for first in range(0, cells, block):
        yield slice(first, first + block)


def power_of_two(variance: Array) -> Array:
    """Return powers of two near standard deviations, so that differences fit single precision in any unit."""
    is_usable = np.isfinite(variance) & (variance > 0.0)
    return np.exp2(np.round(0.5 * np.log2(np.where(is_usable, variance, 1.0))))


def _predict_block(
    rng: Generator, draws: Draws, likelihood: Likelihood, rows: IntVector, cols: IntVector, interval: float
) -> tuple[Vector, Vector, Vector, Vector]:
    total, units = draws.total, draws.column_units.at(cols)
    average, spread, first, unit = np.zeros((4, rows.size))
    changes = np.empty((total, rows.size), dtype=np.float32)  # differences: single precision suffices at any level
    for k, (x, parameters) in enumerate(at_cells(draws, likelihood, rows, cols)):
        variance = likelihood.variance(x, parameters)
        _add_draw(k, average, spread, *units.moments(likelihood.mean(x), variance))
        sample = likelihood.sample(rng, x, parameters)
        if k == 0:
            first[:], unit[:] = sample, power_of_two(variance)
        changes[k] = (sample - first) / unit
        progress.advance()
    tail = 0.5 * (1.0 - interval)
    bounds = first + unit * np.quantile(changes, (tail, 1.0 - tail), axis=0, overwrite_input=True)
    lower, upper = units.to_data(bounds)  # which increases, so that quantiles remain quantiles
    return average, np.sqrt(spread / total), lower, upper


def _add_draw(earlier: int, average: Array, spread: Array, mean: Array, variance: Array) -> None:
    """Add a draw to ``earlier`` ones, by the law of total variance, in place.

    ``spread`` holds the squared deviations of E[y | x] from its average and the variances Var[y | x], both summed, so
    that the predictive variance is ``spread`` over the number of draws.
    """
    average[...], squares = add_value(earlier + 1, average, mean)
    spread += squares + variance
