"""The exact posterior of the baseline X = a bᵀ with a ∈ R³, b ∈ R² and entries N(0, 1/τ).

Given b, γ and τ the entries of a are independent Gaussians, so a is integrated in closed form; b takes a grid in polar
coordinates, b = eʷ (cos θ, sin θ)/√τ, half a circle since (a, b) and (−a, −b) give the same X; τ and γ, where they have
Gamma priors, take a grid in their logarithms.  All rules are trapezoidal, of periodic or rapidly falling functions.
"""

from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from scipy.special import ndtr

from manifill.base.arrays import Array, Matrix, Vector
from manifill.base.priors import ComponentGamma, Gamma, ScaledF
from manifill.problem import Model, Observations
from tests.exact.marginals import Marginal, away_from_zero, marginal, rough_quantiles
from tests.problem.likelihoods import precision_of

FARTHEST = 50.0  # where quantiles of a cell are sought

# Nodes of less weight than this are dropped.
NEGLIGIBLE = 1e-14


@dataclass(frozen=True)
class Posterior:
    """A mixture over nodes: given node k, X_ij ~ N(means[k, i, j], sds[k, i, j]²)."""

    weights: Vector  # (K,)
    means: Matrix  # (K, 3, 2)
    sds: Matrix  # (K, 3, 2)
    gamma: Vector  # (K,)
    tau: Vector  # (K,)

    def cell_below(self, i: int, j: int, bound: float) -> float:
        """Return P(X_ij ≤ bound)."""
        return float(self.weights @ ndtr((bound - self.means[:, i, j]) / self.sds[:, i, j]))


def posterior(
    model: Model, observations: Observations, angles: int = 64, lengths: int = 36, logs: int = 28
) -> Posterior:
    """Return the posterior given 3×2 observations of a model of rank one."""
    theta = np.pi * (np.arange(angles) + 0.5) / angles
    w = np.linspace(-7.0, 2.2, lengths)
    gamma, gamma_weight = _grid(precision_of(model.noise), logs)
    assert not isinstance(model.factor_precision, ComponentGamma)
    tau, tau_weight = _grid(model.factor_precision, logs)
    grids: tuple[Array, ...] = np.meshgrid(theta, w, np.arange(len(gamma)), np.arange(len(tau)))
    theta, w, k, t = (grid.ravel() for grid in grids)
    log_weight = gamma_weight[k] + tau_weight[t] + 2.0 * w - 0.5 * np.exp(2.0 * w)
    gamma, tau = gamma[k], tau[t]
    b = np.stack([np.cos(theta), np.sin(theta)], axis=1) * (np.exp(w) / np.sqrt(tau))[:, None]
    squares, moments = np.zeros((2, len(b), 3))
    for i, j, y in zip(*observations.triples(), strict=True):
        squares[:, i] += b[:, j] ** 2
        moments[:, i] += y * b[:, j]
        log_weight += 0.5 * np.log(gamma) - 0.5 * gamma * y**2
    a_precision = tau[:, None] + gamma[:, None] * squares
    a_mean = gamma[:, None] * moments / a_precision
    log_weight += 0.5 * np.sum(np.log(tau[:, None] / a_precision) + a_precision * a_mean**2, axis=1)
    weights = np.exp(log_weight - log_weight.max())
    weights /= weights.sum()
    kept = weights > NEGLIGIBLE
    means = a_mean[kept][:, :, None] * b[kept][:, None, :]
    sds = np.abs(b[kept][:, None, :]) / np.sqrt(a_precision[kept])[:, :, None]
    return Posterior(weights[kept], means, sds, gamma[kept], tau[kept])


def _grid(prior: float | Gamma | ScaledF, nodes: int) -> tuple[Vector, Vector]:
    """Return values and log weights of a precision: one value where it is fixed."""
    assert not isinstance(prior, ScaledF)
    if not isinstance(prior, Gamma):
        return np.array([prior]), np.zeros(1)
    log_value = np.linspace(-6.0, 4.0, nodes)
    return np.exp(log_value), prior.shape * log_value - prior.rate * np.exp(log_value)


@cache
def marginals(model: Model, observations: Observations, **nodes: int) -> dict[str, Marginal]:
    """Return what is exactly known of every cell, and of σ and τ where they are learned."""
    rough = posterior(model, observations, angles=12, lengths=24, logs=12)
    exact = posterior(model, observations, **nodes)
    known = {}
    for i, j in np.ndindex(3, 2):
        mean = float(exact.weights @ exact.means[:, i, j])
        variance = float(exact.weights @ (exact.means[:, i, j] ** 2 + exact.sds[:, i, j] ** 2)) - mean**2
        wanted = rough_quantiles(partial(rough.cell_below, i, j), -FARTHEST, FARTHEST)
        thresholds = away_from_zero(wanted, 0.3 * np.sqrt(variance))
        known[f"X[{i},{j}]"] = marginal(mean, variance, partial(exact.cell_below, i, j), thresholds)
    if isinstance(precision_of(model.noise), Gamma):
        known["sigma"] = Marginal(float(exact.weights @ exact.gamma**-0.5))
    if isinstance(model.factor_precision, Gamma):
        known["tau"] = Marginal(float(exact.weights @ exact.tau))
    return known
