"""Accuracy of predictions: held-out values compared with their predictive distributions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from manifill.base import progress
from manifill.base.arrays import Array, Generator, IntVector, Vector
from manifill.base.wording import counted
from manifill.likelihoods import Likelihood
from manifill.posterior.cell_density import CellDensity
from manifill.posterior.cell_draws import at_cells, check_cells
from manifill.posterior.draws import Draws
from manifill.posterior.predictive import cell_blocks, check_interval, enough_draws, power_of_two

__all__ = ["Score", "score"]


@dataclass(frozen=True)
class Score:
    """Averages over the scored cells, in the data's units; ``print`` it for a one-line summary.

    ``float(score)`` is ``log_density``: higher is better, as in scikit-learn, and it scores the whole predictive
    distribution.
    """

    rmse: float  # of the predictive mean: root mean square error
    mae: float  # of the predictive mean: mean absolute error
    log_density: float  # mean of log p(y | data), the mixture over draws; a log probability for counts
    crps: float  # mean continuous ranked probability score; lower is better
    coverage: float  # share of values in their interval, bounds included
    interval: float  # the nominal coverage
    cells: int

    def __float__(self) -> float:
        return self.log_density

    def __str__(self) -> str:
        return (
            f"RMSE {self.rmse:.4g}, MAE {self.mae:.4g}, CRPS {self.crps:.4g}, log density {self.log_density:.4g}, "
            f"{100 * self.interval:.4g} % intervals cover {100 * self.coverage:.1f} % of {counted(self.cells, 'cell')}"
        )


def score(
    rng: Generator,
    draws: Draws,
    likelihood: Likelihood,
    rows: ArrayLike,
    cols: ArrayLike,
    values: ArrayLike,
    interval: float = 0.9,
) -> Score:
    """Score the predictions of y at the cells (rows[k], cols[k]) against values[k].

    Mean and log density are those of the mixture over draws; the interval and the CRPS come from one y sampled from
    each draw.  Given the same generator and cells, draws and samples are those of ``predict``.  Cells are processed in
    blocks, and the draws are read once per block.  The log density of a custom likelihood lacks the terms that its
    ``log_density`` omits.
    """
    check_interval(interval)
    row_index, col_index = check_cells(draws.shape, rows, cols)
    value = _checked_values(values, row_index.size)
    draws = enough_draws(draws, value.size)
    sums = np.zeros(5)
    blocks = list(cell_blocks(draws, value.size))
    progress.begin("scoring", len(blocks) * draws.total, "draws")
    for part in blocks:
        sums += _score_block(rng, draws, likelihood, row_index[part], col_index[part], value[part], interval)
    square, absolute, log_density, crps, inside = (float(total) / value.size for total in sums)
    return Score(square**0.5, absolute, log_density, crps, inside, interval, value.size)


def _score_block(
    rng: Generator,
    draws: Draws,
    likelihood: Likelihood,
    rows: IntVector,
    cols: IntVector,
    values: Vector,
    interval: float,
) -> Vector:
    """Return the sums over cells of squared and absolute errors, log densities, CRPS, and values in intervals."""
    total, units = draws.total, draws.column_units.at(cols)
    density = CellDensity.of(draws, likelihood, cols, values)
    observed = units.to_data(likelihood.decode(density.encoded))
    average, log_sum, unit = np.zeros(rows.size), np.full(rows.size, -np.inf), np.ones(rows.size)
    errors = np.empty((total, rows.size), dtype=np.float32)  # differences: single precision suffices at any level
    for k, (x, parameters) in enumerate(at_cells(draws, likelihood, rows, cols)):
        mean, variance = units.moments(likelihood.mean(x), likelihood.variance(x, parameters))
        if k == 0:
            unit[:] = power_of_two(variance)
        average += (mean - average) / (k + 1)
        np.logaddexp(log_sum, density.at(x, parameters), out=log_sum)
        errors[k] = (units.to_data(likelihood.sample(rng, x, parameters)) - observed) / unit
        progress.advance()
    errors.sort(axis=0)
    crps = unit * _crps(errors)
    tail = 0.5 * (1.0 - interval)
    lower, upper = np.quantile(errors, (tail, 1.0 - tail), axis=0, overwrite_input=True)
    error = average - observed
    inside = (lower <= 0.0) & (upper >= 0.0)
    figures = error**2, np.abs(error), log_sum - np.log(total), crps, inside
    return np.array([np.sum(figure) for figure in figures], dtype=np.float64)


def _crps(errors: Array) -> Vector:
    """Return the CRPS of each column from T sorted differences e between samples and the value, (T, k).

    It is E|y − v| − ½ E|y − y′| with distinct samples y and y′, so that its expectation does not depend on T (the fair
    estimate).  For sorted y_1, …, y_T, the sum of y_j − y_i over pairs i < j is Σ (2i − T − 1) y_i, which is invariant
    to shifts.
    """
    total = len(errors)
    weights = (2.0 * np.arange(total) - (total - 1)) / max(total * (total - 1), 1)
    crps = np.zeros(errors.shape[1])
    for weight, error in zip(weights, errors, strict=True):
        crps += np.abs(error, dtype=np.float64) / total - weight * error
    return crps


def _checked_values(given: ArrayLike, cells: int) -> Vector:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"values must be numbers: {error}.") from None
    if values.shape != (cells,):
        raise ValueError(
            f"values must be a list of {counted(cells, 'number')}, one for each cell, not of shape {values.shape}."
        )
    if not cells:
        raise ValueError("values is empty; score at least one cell.")
    broken = np.flatnonzero(~np.isfinite(values))
    if broken.size:
        raise ValueError(f"values[{broken[0]}] is {values[broken[0]]}; leave out cells without a known value.")
    return values
