"""A row given its own observed cells, and the draws of all that rows share: V, s, mean, column effects and noise.

In one draw, a row is y = μ + b + V diag(s) u + a + ε.  The prior of its effect is a ~ N(0, σ_a²).  That of its u, a row
of a uniform U with m rows, is taken to be N(0, I/m): mean and covariance are right, and the shape nearly is where m is
not small, since the orthogonality of U ties single rows to each other by terms of order 1/m.  Then the row is normal,

    y = c + A z + ε,    c = μ + b,    A = [V diag(s)/√m, σ_a 1],    z ~ N(0, I),

and so it is given its observed cells; draws are mixed.  For a row of the fit this is the posterior, with u and a
averaged out instead of drawn.  A new row ought to have a say in the draws, but they are not reweighted for it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from manifill.posterior import Draws
from manifill.types import Array, Matrix, Vector

__all__ = ["complete_rows"]

# Draws to mix at least, evenly spread over all.  So many leave a Monte Carlo error of a fourteenth of the standard
# deviation that is due to what rows share, which is the smaller part of the whole.
DRAWS = 200

# Rows handled at once: each has a covariance of its own.
BLOCK_ROWS = 512


class Shared(NamedTuple):
    """What rows share in one draw."""

    center: Vector  # c, (n,)
    loadings: Matrix  # A, (n, r + 1)
    variance: Array  # of the noise: a number, or (n,)


def complete_rows(draws: Draws, rows: Matrix) -> tuple[Matrix, Matrix]:
    """Return the predictive mean and standard deviation of y at all cells of rows that have NaN for missing cells.

    The likelihood must be Gaussian, with effects.  Everything is in the data's units.
    """
    scales = draws.column_scales
    observed = ~np.isnan(rows)
    values = np.where(observed, rows, 0.0) / scales
    average, spread = np.zeros(rows.shape), np.zeros(rows.shape)
    mixed = 0
    for shared in _shared(draws):
        mixed += 1
        for first in range(0, len(rows), BLOCK_ROWS):
            part = slice(first, first + BLOCK_ROWS)
            mean, variance = _given(shared, values[part], observed[part])
            step = mean - average[part]  # Welford's update, and the law of total variance
            average[part] += step / mixed
            spread[part] += step * (mean - average[part]) + variance
    return average * scales, np.sqrt(spread / mixed) * scales


def _shared(draws: Draws) -> Iterator[Shared]:
    """Yield what rows share, one draw of a few after another, chain after chain."""
    some, root = draws.thinned(DRAWS), np.sqrt(draws.shape[0])
    names = ("mu", "column_effect", "V", "s", "row_effect_sd", "sigma")
    for chain in range(some.chains):
        for mu, column, V, s, row_sd, sigma in zip(*(some.each(name, chain) for name in names), strict=True):
            yield Shared(mu + column, np.column_stack([V * (s / root), np.full(len(V), row_sd)]), sigma**2)


def _given(shared: Shared, values: Matrix, observed: Array) -> tuple[Matrix, Matrix]:
    """Return mean and variance of y at all cells given those observed; ``values`` are finite at the others."""
    center, loadings, variance = shared
    k = loadings.shape[1]
    squares = (loadings[:, :, None] * loadings[:, None, :]).reshape(-1, k * k)  # so that sums over cells are products
    weights = observed / variance
    covariance = np.linalg.inv((weights @ squares).reshape(-1, k, k) + np.eye(k))
    pull = (weights * (values - center)) @ loadings
    mean = center + (covariance @ pull[:, :, None])[:, :, 0] @ loadings.T
    return mean, covariance.reshape(-1, k * k) @ squares.T + variance
