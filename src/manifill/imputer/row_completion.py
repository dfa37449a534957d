"""Predictions for rows given their observed cells and draws of the shared parameters: column factors, effects, noise.

In one draw, a row is y = μ + b + V diag(s) u + a + ε.  The prior of its effect is a ~ N(0, σ_a²).  The prior of u, a
row of a uniform U with m rows, is approximated by N(0, I/m).  Mean and covariance are exact; the shape is nearly so if
m is not small, since the orthogonality of U makes rows dependent by terms of order 1/m.  Then the row is normal,

    y = c + L z + ε,    c = μ + b,    L = [V diag(s)/√m, σ_a 1],    z ~ N(0, I),

and so is its distribution given the observed cells.  For draws of A Bᵀ, L = [B diag(τ)^(−½), σ_a 1] with the precisions
τ of the columns of A.  If rows differ in their noise, the row's own factor of the precision is integrated out on a
grid, weighted by its prior and by the observed cells.

The predictive distribution is the mixture over draws.  For a row of the fit it is the posterior, with u and a
integrated out instead of sampled.  For a new row it is an approximation: its observed cells are informative about the
shared parameters, but the draws are not reweighted.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Array, Matrix, Vector
from manifill.base.moments import add_value
from manifill.posterior import Draws
from manifill.problem.column_units import ColumnUnits

__all__ = ["complete_rows"]

# Minimum number of draws in the mixture, evenly spaced among all.  The Monte Carlo error is then a fourteenth of the
# standard deviation due to the shared parameters, which is a minor part of the total.
DRAWS = 200

# The grid of the logarithm of a row's own factor of the precision; σ may be a fifth to five times that of other rows.
LOG_FACTORS = np.linspace(-3.25, 3.25, 27)

# Rows per block; a block stores one covariance matrix per row.
BLOCK_ROWS = 512


class Shared(NamedTuple):
    """The parameters that rows share, in one draw."""

    center: Vector  # c, (n,)
    loadings: Matrix  # L, (n, r + 1)
    variance: Array  # noise variance: a number, or (n,); for a row whose own factor of σ is 1
    row_shape: float | None  # of the prior Gamma(a, a) of the row's own factor of the precision, if rows differ


def complete_rows(draws: Draws, rows: Matrix) -> tuple[Matrix, Matrix]:
    """Return the predictive mean and standard deviation of y at all cells of ``rows``, (k, n) each.

    Missing cells of ``rows`` are NaN.  The likelihood must be Gaussian, with effects.  All values are in the units of
    the data.
    """
    units, observed = draws.column_units, ~np.isnan(rows)
    values = np.where(observed, units.to_model(rows), 0.0)
    average, spread = np.zeros(rows.shape), np.zeros(rows.shape)
    count = 0
    for shared in _shared(draws):
        count += 1
        for first in range(0, len(rows), BLOCK_ROWS):
            part = slice(first, first + BLOCK_ROWS)
            mean, variance = _mixed(shared, units, values[part], observed[part])
            average[part], squares = add_value(count, average[part], mean)
            spread[part] += squares + variance  # the law of total variance
    return average, np.sqrt(spread / count)


def _shared(draws: Draws) -> Iterator[Shared]:
    """Yield the shared parameters of the thinned draws, chain after chain."""
    some = draws.thinned(DRAWS)
    sides = ("V", "s") if "V" in draws.posterior else ("B", "tau_A") if "tau_A" in draws.posterior else ("B", "tau")
    noise = [name for name in ("sigma", "column_noise", "row_noise_width") if name in draws.posterior]
    names = ("mu", "column_effect", "row_effect_sd", *sides, *noise)
    for chain in range(some.chains):
        for mu, column, row_sd, side, scale, *of_noise in zip(*(some.each(n, chain) for n in names), strict=True):
            low_rank = side * (scale / np.sqrt(draws.shape[0]) if sides[0] == "V" else scale**-0.5)
            found = dict(zip(noise, of_noise, strict=True))
            variance = (found["sigma"] * found.get("column_noise", 1.0)) ** 2
            loadings = np.column_stack([low_rank, np.full(len(side), row_sd)])
            shape = float(found["row_noise_width"]) ** -2.0 if "row_noise_width" in found else None
            yield Shared(mu + column, loadings, variance, shape)


def _mixed(shared: Shared, units: ColumnUnits, values: Matrix, observed: Array) -> tuple[Matrix, Matrix]:
    """Return mean and variance of y at all cells given the observed ones, mixed over the row's own noise.

    ``values`` are in the units of the model, the results in those of the data.
    """
    if shared.row_shape is None:
        whole = _condition(shared, 1.0, values, observed)
        return units.moments(whole.mean, whole.variance)
    parts = [_condition(shared, float(np.exp(-t)), values, observed) for t in LOG_FACTORS]
    log_prior = shared.row_shape * (LOG_FACTORS - np.exp(LOG_FACTORS))  # of the logarithm of the factor
    evidence = np.array([part.log_evidence for part in parts]) + log_prior[:, None]
    weights = np.exp(evidence - evidence.max(axis=0))
    weights = (weights / weights.sum(axis=0))[:, :, None]
    means, variances = np.stack([units.moments(part.mean, part.variance) for part in parts], axis=1)
    mean = (weights * means).sum(axis=0)
    return mean, (weights * (variances + (means - mean) ** 2)).sum(axis=0)


class Conditional(NamedTuple):
    """The distribution of rows given their observed cells."""

    mean: Matrix  # (k, n), of y in the units of the model
    variance: Matrix  # (k, n)
    log_evidence: Vector  # (k,), log p(observed cells) up to a constant


def _condition(shared: Shared, row_variance: float, values: Matrix, observed: Array) -> Conditional:
    """Condition on the observed cells, for rows with this square of their factor of σ.

    ``values`` are finite at missing cells.
    """
    center, loadings = shared.center, shared.loadings
    variance = row_variance * shared.variance
    k = loadings.shape[1]
    squares = (loadings[:, :, None] * loadings[:, None, :]).reshape(-1, k * k)  # makes sums over cells a matrix product
    weights = observed / variance
    precision = (weights @ squares).reshape(-1, k, k) + np.eye(k)
    covariance = np.linalg.inv(precision)
    residual = values - center
    pull = (weights * residual) @ loadings
    coefficients = (covariance @ pull[:, :, None])[:, :, 0]
    # The determinant and the quadratic form of the covariance of the observed cells, by the Woodbury identity.
    log_determinant = np.linalg.slogdet(precision)[1] + observed.sum(axis=1) * np.log(row_variance)
    form = (weights * residual**2).sum(axis=1) - (pull * coefficients).sum(axis=1)
    return Conditional(
        center + coefficients @ loadings.T,
        covariance.reshape(-1, k * k) @ squares.T + variance,
        -0.5 * (log_determinant + form),
    )
