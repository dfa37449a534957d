"""The noise of the exact posteriors, integrated out given the residuals.

Under a Gamma prior that is done in closed form.  The scaled F prior of one precision is used as its documentation gives
it, with the rate gone: ∝ γ^(shape − 1) (γ + scale)^−(shape + tail) exp(−floor · γ).  Its integrals against
γ^(N/2) exp(−γ SSE/2) take the trapezoidal rule in log γ; as functions of SSE they are held as splines.
"""

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import gammaln, logsumexp

from manifill.base.arrays import Matrix, Vector
from manifill.base.priors import Gamma, ScaledF
from manifill.likelihoods import WithNoise
from manifill.problem import Model, Observations
from tests.exact import uneven_noise
from tests.problem.likelihoods import precision_of

LOG_PRECISIONS = np.linspace(-20.0, 9.0, 400)
SPLINE_NODES = 800


def log_marginal(model: Model, observations: Observations, unit: Matrix) -> Matrix:
    """Return log p(y | X) from the log likelihoods at unit noise, (G, R, K), of the groups of cells."""
    if not model.likelihood.has_noise:
        return np.asarray(unit[0])
    if not model.noise.is_shared:
        return uneven_noise.log_marginal(model, counts(model, observations), unit)
    prior = precision_of(model.noise)
    if isinstance(prior, ScaledF):
        return log_integral(prior, observations.size, -unit[0], np.zeros_like(LOG_PRECISIONS))
    if not isinstance(prior, Gamma):
        return np.asarray(prior * unit[0])
    return np.asarray(-(prior.shape + 0.5 * observations.size) * np.log(prior.rate - unit[0]))


def learned(model: Model, observations: Observations, unit: Matrix) -> dict[str, Matrix]:
    """Return the means given X of σ, of the prior's rate, and of what else is learned of the noise, each (R, K)."""
    if not model.noise.is_learned:
        return {}
    if not model.noise.is_shared:
        return uneven_noise.learned(model, counts(model, observations), unit)
    prior = precision_of(model.noise)
    if isinstance(prior, Gamma):
        return {"sigma": mean_root(prior.shape + 0.5 * observations.size, prior.rate - unit[0])}
    assert isinstance(prior, ScaledF)
    of_data = log_marginal(model, observations, unit)
    # Given γ the rate is Gamma(shape + tail, scale + γ).
    log_rate = np.log(prior.shape + prior.tail) - np.log(np.exp(LOG_PRECISIONS) + prior.scale)
    with_sigma, with_rate = (
        log_integral(prior, observations.size, -unit[0], log_value) for log_value in (-0.5 * LOG_PRECISIONS, log_rate)
    )
    return {"sigma": np.exp(with_sigma - of_data), "noise rate": np.exp(with_rate - of_data)}


def group_of_cells(model: Model, observations: Observations) -> list[int]:
    """Return the number of each cell's group: cells with their own part of the noise, or all cells together."""
    if not isinstance(model.noise, WithNoise) or model.noise.is_shared:
        return [0] * observations.size
    return uneven_noise.groups(model.noise, observations)


def counts(model: Model, observations: Observations) -> Vector:
    """Return the number of cells in each group."""
    return np.bincount(group_of_cells(model, observations)).astype(np.float64)


def log_integral(prior: ScaledF, cells: int, half_squares: Matrix, log_value: Vector) -> Matrix:
    """Return log ∫ value(γ) γ^(cells/2) exp(−γ · half_squares) p(γ) dγ up to a constant, for log value(γ) given."""
    gamma = np.exp(LOG_PRECISIONS)
    free = log_value + (0.5 * cells + prior.shape) * LOG_PRECISIONS
    free -= (prior.shape + prior.tail) * np.log(gamma + prior.scale)
    where = np.linspace(np.log(prior.floor), np.log(prior.floor + half_squares.max()), SPLINE_NODES)
    spline = CubicSpline(where, logsumexp(free - np.exp(where)[:, None] * gamma, axis=1))
    return np.asarray(spline(np.log(prior.floor + half_squares)))


def mean_root(shape: float, rate: Matrix) -> Matrix:
    """Return E γ^(−½), the mean of σ, for γ ~ Gamma(shape, rate)."""
    return np.asarray(np.sqrt(rate) * np.exp(gammaln(shape - 0.5) - gammaln(shape)))
