"""Predictions for rows given their observed cells and draws of the shared parameters V, s, mean, column effects, noise.

In one draw, a row is y = μ + b + V diag(s) u + a + ε.  The prior of its effect is a ~ N(0, σ_a²).  The prior of u, a
row of a uniform U with m rows, is approximated by N(0, I/m).  Mean and covariance are exact; the shape is nearly so if
m is not small, since the orthogonality of U makes rows dependent by terms of order 1/m.  Then the row is normal,

    y = c + A z + ε,    c = μ + b,    A = [V diag(s)/√m, σ_a 1],    z ~ N(0, I),

and so is its distribution given the observed cells.  The predictive distribution is the mixture over draws.  For a row
of the fit it is the posterior, with u and a integrated out instead of sampled.  For a new row it is an approximation:
its observed cells are informative about the shared parameters, but the draws are not reweighted.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Array, Matrix, Vector
from manifill.base.moments import add_value
from manifill.posterior import Draws

__all__ = ["complete_rows"]

# Minimum number of draws in the mixture, evenly spaced among all.  The Monte Carlo error is then a fourteenth of the
# standard deviation due to the shared parameters, which is a minor part of the total.
DRAWS = 200

# Rows per block; a block stores one covariance matrix per row.
BLOCK_ROWS = 512


class Shared(NamedTuple):
    """The parameters that rows share, in one draw."""

    center: Vector  # c, (n,)
    loadings: Matrix  # A, (n, r + 1)
    variance: Array  # noise variance: a number, or (n,)


def complete_rows(draws: Draws, rows: Matrix) -> tuple[Matrix, Matrix]:
    """Return the predictive mean and standard deviation of y at all cells of ``rows``, (k, n) each.

    Missing cells of ``rows`` are NaN.  The likelihood must be Gaussian, with effects.  All values are in the units of
    the data.
    """
    scales = draws.column_scales
    observed = ~np.isnan(rows)
    values = np.where(observed, rows, 0.0) / scales
    average, spread = np.zeros(rows.shape), np.zeros(rows.shape)
    count = 0
    for shared in _shared(draws):
        count += 1
        for first in range(0, len(rows), BLOCK_ROWS):
            part = slice(first, first + BLOCK_ROWS)
            mean, variance = _condition(shared, values[part], observed[part])
            average[part], squares = add_value(count, average[part], mean)
            spread[part] += squares + variance  # the law of total variance
    return average * scales, np.sqrt(spread / count) * scales


def _shared(draws: Draws) -> Iterator[Shared]:
    """Yield the shared parameters of the thinned draws, chain after chain."""
    some, root = draws.thinned(DRAWS), np.sqrt(draws.shape[0])
    names = ("mu", "column_effect", "V", "s", "row_effect_sd", "sigma")
    for chain in range(some.chains):
        for mu, column, V, s, row_sd, sigma in zip(*(some.each(name, chain) for name in names), strict=True):
            yield Shared(mu + column, np.column_stack([V * (s / root), np.full(len(V), row_sd)]), sigma**2)


def _condition(shared: Shared, values: Matrix, observed: Array) -> tuple[Matrix, Matrix]:
    """Return mean and variance of y at all cells given the observed ones; ``values`` are finite at missing cells."""
    center, loadings, variance = shared
    k = loadings.shape[1]
    squares = (loadings[:, :, None] * loadings[:, None, :]).reshape(-1, k * k)  # makes sums over cells a matrix product
    weights = observed / variance
    covariance = np.linalg.inv((weights @ squares).reshape(-1, k, k) + np.eye(k))
    pull = (weights * (values - center)) @ loadings
    mean = center + (covariance @ pull[:, :, None])[:, :, 0] @ loadings.T
    return mean, covariance.reshape(-1, k * k) @ squares.T + variance
