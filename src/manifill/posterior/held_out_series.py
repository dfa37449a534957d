"""The scores of held-out cells as series of draws, whose means are the scores, for their Monte Carlo errors."""

import numpy as np

from manifill.base import progress
from manifill.base.arrays import Array, Generator
from manifill.likelihoods import Likelihood
from manifill.posterior.cell_density import CellDensity
from manifill.posterior.cell_draws import at_cells
from manifill.posterior.draws import Draws
from manifill.problem import Observations

__all__ = ["LOG_DENSITY", "SQUARED_ERROR", "held_out_series"]

SQUARED_ERROR, LOG_DENSITY = "held-out squared error", "held-out log density"

# Of more cells, a random choice stands for all; fewer are chosen if draws × cells would exceed the number of values.
MOST_CELLS, MOST_VALUES = 1000, 2**23


def held_out_series(rng: Generator, draws: Draws, likelihood: Likelihood, held_out: Observations) -> dict[str, Array]:
    """Return the mean squared error and the mean log predictive density, (chain, draw) each.

    Both are functions of averages over draws: of the predictive mean, and of the density.  A draw's value is the score
    plus the derivative of the score in the direction of this draw (docs/math.md, section 6.1), so that the standard
    error of the mean of the series is that of the score.  Errors are in the units of the model, in which columns may be
    scaled or transformed.
    """
    count = min(held_out.size, MOST_CELLS, max(MOST_VALUES // draws.total, 1))
    cells = np.sort(rng.choice(held_out.size, size=count, replace=False))
    all_rows, all_cols, all_values = held_out.triples()
    rows, cols, values = all_rows[cells].astype(np.int64), all_cols[cells].astype(np.int64), all_values[cells]
    density = CellDensity.of(draws, likelihood, cols, values)
    means, logs = np.empty((2, draws.total, count))
    cell_draws = at_cells(draws, likelihood, rows, cols)
    for k, (x, parameters) in enumerate(
        progress.counted(cell_draws, "diagnosing held-out cells", draws.total, "draws")
    ):
        means[k] = likelihood.mean(x)
        logs[k] = density.at(x, parameters)
    shape = draws.chains, draws.draws
    error = means - likelihood.decode(density.encoded)
    average = error.mean(axis=0)
    squares = np.mean(average * (2.0 * error - average), axis=1)
    highest = logs.max(axis=0)
    relative = np.exp(logs - highest)
    typical = relative.mean(axis=0)
    log_density = np.mean(highest + np.log(typical) + relative / typical - 1.0, axis=1)
    return {SQUARED_ERROR: squares.reshape(shape), LOG_DENSITY: log_density.reshape(shape)}
