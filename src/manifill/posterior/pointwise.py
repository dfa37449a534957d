"""Log likelihoods and replicated data per draw and observed cell, for as many draws as fit in memory."""

from collections.abc import Callable
from functools import partial

import numpy as np

from manifill.base.arrays import Array, Generator, IntVector, Vector
from manifill.likelihoods import Likelihood, Parameters
from manifill.posterior.cell_density import CellDensity
from manifill.posterior.cell_draws import at_cells
from manifill.posterior.draws import Draws
from manifill.problem import Observations

__all__ = ["check_enough", "pointwise_log_likelihood", "replicated", "thinned"]

# The largest size of an array of draws × cells, in float64; ArviZ makes a few copies of it.
POINTWISE_BYTES = 2**30

# With fewer draws, the tails of importance weights cannot be estimated.
FEWEST_DRAWS = 100


def check_enough(draws: Draws) -> None:
    """Raise a ValueError if there are too few draws for importance sampling."""
    total = draws.chains * draws.draws
    if total < FEWEST_DRAWS:
        raise ValueError(f"importance sampling needs {FEWEST_DRAWS} draws, but the posterior has {total}; draw more.")


def thinned(draws: Draws, cells: int) -> IntVector:
    """Return the indices of equally spaced draws to keep per chain, so that an array of draws × cells fits in memory.

    ``Draws.thinned`` does not suit: here the number of draws has an upper limit, the draws must be equally spaced for
    their autocorrelation to be meaningful, and ArviZ needs their indices.
    """
    room = POINTWISE_BYTES // (8 * cells * draws.chains)
    if room < draws.draws and room * draws.chains < FEWEST_DRAWS:
        raise ValueError(
            f"{cells} observed cells leave room for {room * draws.chains} draws in {POINTWISE_BYTES >> 20} MiB, too "
            "few for a reliable estimate; score held-out cells instead."
        )
    return np.arange(0, draws.draws, -(-draws.draws // max(room, 1)))


def pointwise_log_likelihood(
    draws: Draws, likelihood: Likelihood, observations: Observations, kept: IntVector
) -> Array:
    """Return log p(y | draw) of the observed cells, in the data's units, (chain, kept draw, cell)."""
    _, cols, values = observations.triples()
    return _table(draws, likelihood, observations, kept, CellDensity.of(draws, likelihood, cols, values).at)


def replicated(
    rng: Generator, draws: Draws, likelihood: Likelihood, observations: Observations, kept: IntVector
) -> Array:
    """Return data simulated from each draw, in the data's units, (chain, kept draw, cell)."""
    samples = _table(draws, likelihood, observations, kept, partial(likelihood.sample, rng))
    return draws.column_units.at(observations.triples()[1]).to_data(samples)


def _table(
    draws: Draws,
    likelihood: Likelihood,
    observations: Observations,
    kept: IntVector,
    evaluate: Callable[[Vector, Parameters], Array],
) -> Array:
    """Return a function of x and parameters at the observed cells for each kept draw, (chain, kept draw, cell)."""
    rows, cols = (index.astype(np.int64) for index in observations.triples()[:2])
    mask = np.isin(np.arange(draws.draws), kept)
    out = np.empty((draws.chains * kept.size, rows.size))
    cell_draws = at_cells(draws, likelihood, rows, cols, np.tile(mask, draws.chains))
    for row, (x, parameters) in zip(out, cell_draws, strict=True):
        row[:] = evaluate(x, parameters)
    return out.reshape(draws.chains, kept.size, rows.size)
