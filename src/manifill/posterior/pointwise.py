"""What each draw says of each observed cell: log likelihoods and replicated data, of as many draws as memory allows."""

from collections.abc import Callable
from functools import partial

import numpy as np

from manifill.posterior.cells import at_cells
from manifill.posterior.density import CellDensity
from manifill.posterior.draws import Draws
from manifill.problem import Likelihood, Observations
from manifill.types import Array, Generator, IntVector, Vector

__all__ = ["check_enough", "pointwise_log_likelihood", "replicated", "thinned"]

# What an array of draws × cells may take, in float64; ArviZ makes a few copies of it.
POINTWISE_BYTES = 2**30

# Fewer draws than these say nothing of the tails of importance weights.
FEWEST_DRAWS = 100


def check_enough(draws: Draws) -> None:
    """Raise a ValueError where there are too few draws for importance sampling."""
    total = draws.chains * draws.draws
    if total < FEWEST_DRAWS:
        raise ValueError(f"importance sampling needs {FEWEST_DRAWS} draws, but the posterior has {total}; draw more.")


def thinned(draws: Draws, cells: int) -> IntVector:
    """Return which draws of each chain to keep, every so many, so that an array of them × cells fits in memory.

    ``Draws.thinned`` would not do: these draws must not be more than fit, must be equally far apart for their
    autocorrelation to mean something, and have their numbers told to ArviZ.
    """
    room = POINTWISE_BYTES // (8 * cells * draws.chains)
    if room < draws.draws and room * draws.chains < FEWEST_DRAWS:
        raise ValueError(
            f"{cells} observed cells leave room for {room * draws.chains} draws in {POINTWISE_BYTES >> 20} MiB, too "
            "few to go by; judge the model by cells that were held out instead, with score."
        )
    return np.arange(0, draws.draws, -(-draws.draws // max(room, 1)))


def pointwise_log_likelihood(
    draws: Draws, likelihood: Likelihood, observations: Observations, kept: IntVector
) -> Array:
    """Return log p(y | draw) of the observed cells, in the data's units, (chain, kept draw, cell)."""
    _, cols, values = observations.triples()
    return _table(draws, observations, kept, CellDensity.of(draws, likelihood, cols, values).at)


def replicated(
    rng: Generator, draws: Draws, likelihood: Likelihood, observations: Observations, kept: IntVector
) -> Array:
    """Return data as each draw would have produced it, in the data's units, (chain, kept draw, cell)."""
    samples = _table(draws, observations, kept, partial(likelihood.sample, rng))
    samples *= np.broadcast_to(draws.column_scales, draws.shape[1])[observations.triples()[1]]
    return samples


def _table(
    draws: Draws, observations: Observations, kept: IntVector, evaluate: Callable[[Vector, Array], Array]
) -> Array:
    """Return a function of x and σ at the observed cells for each kept draw, (chain, kept draw, cell)."""
    rows, cols = (index.astype(np.int64) for index in observations.triples()[:2])
    mask = np.isin(np.arange(draws.draws), kept)
    out = np.empty((draws.chains * kept.size, rows.size))
    cell_draws = at_cells(draws, rows, cols, np.tile(mask, draws.chains))
    for line, (x, sigma) in zip(out, cell_draws, strict=True):
        line[:] = evaluate(x, sigma)
    return out.reshape(draws.chains, kept.size, rows.size)
