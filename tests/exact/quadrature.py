"""The exact posterior of X = s u vᵀ with u ∈ S², v ∈ S¹, s > 0: a 3×2 matrix of rank one, by quadrature.

Directions of u vᵀ form rays; s runs along each.  Periodic angles take the trapezoidal rule, the height on the sphere
and s Gauss's, so all errors fall exponentially with the number of nodes.  Since (u, v) and (−u, −v) give the same X,
half a circle is enough for v.  The noise (``noise``), the effects (``effects``) and the rate are integrated out.  Along
a ray the density is expanded in Legendre polynomials of t, s = LONGEST (t + 1)²/4, whose integrals give the
distribution function of s to the same accuracy; that of X_ij = s u_i v_j follows.
"""

import math
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.polynomial import legendre

from manifill.base.arrays import Matrix, Vector
from manifill.base.priors import Gamma
from manifill.likelihoods import Binomial, Likelihood, SoftplusGaussian
from manifill.likelihoods.poisson import Poisson
from manifill.problem import Model, Observations
from tests.exact import noise
from tests.exact.effects import CorrelatedData, marginal_of_total
from tests.exact.marginals import Marginal, away_from_zero, bounded, marginal, rough_quantiles

LONGEST = 30.0  # where s is cut; the prior Exp(1) has 1e-13 beyond
BOUND = 3.0  # the scale of bounded moments if the rate is learned


def unit_log_density(likelihood: Likelihood, y: float, x: Matrix) -> Matrix:
    """Return log p(y | x) at unit noise, up to a constant."""
    if isinstance(likelihood, Binomial):
        return np.asarray(y * x - likelihood.trials * np.logaddexp(0.0, x))
    if isinstance(likelihood, Poisson):
        return y * x - np.exp(x)
    mean = np.logaddexp(0.0, x) if isinstance(likelihood, SoftplusGaussian) else x
    return -0.5 * (y - mean) ** 2


def rays(nodes: int) -> tuple[Matrix, Vector]:
    """Return directions u vᵀ (R, 3, 2) and their weights."""
    height, weight = legendre.leggauss(nodes)
    longitude = np.pi * (np.arange(2 * nodes) + 0.5) / nodes
    angle = np.pi * (np.arange(nodes) + 0.5) / nodes
    h, phi, psi = (grid.ravel() for grid in np.meshgrid(height, longitude, angle, indexing="ij"))
    radius = np.sqrt(1.0 - h**2)
    u = np.stack([radius * np.cos(phi), radius * np.sin(phi), h], axis=1)
    v = np.stack([np.cos(psi), np.sin(psi)], axis=1)
    return u[:, :, None] * v[:, None, :], np.repeat(weight, 2 * nodes * nodes)


@dataclass(frozen=True)
class Posterior:
    """The posterior on a grid of rays and of points along them."""

    directions: Matrix  # (R, 3, 2)
    s: Vector  # (K,)
    mass: Matrix  # (R, K), of sum 1
    coefficients: Matrix  # (R, degree + 1): Legendre coefficients of the distribution function of s along each ray
    unit: Matrix  # (G, R, K), log p(y | X) at unit noise, of each group of cells that shares one; with effects, of all

    def expectation(self, values: Matrix | Vector) -> float:
        return float(np.sum(self.mass * values))

    def cell(self, i: int, j: int) -> Matrix:
        """Return X_ij at the points of the grid."""
        return np.outer(self.directions[:, i, j], self.s)

    def moments(self, values: Matrix | Vector, scale: float) -> tuple[float, float]:
        """Return mean and variance of tanh(value / scale)."""
        shown = bounded(values, scale)
        mean = self.expectation(shown)
        return mean, self.expectation((shown - mean) ** 2)

    def ray_masses_below(self, s: Vector | float) -> Vector:
        """Return, for each ray, the mass at points below ``s``."""
        t = 2.0 * np.sqrt(np.clip(np.broadcast_to(s, len(self.mass)) / LONGEST, 0.0, 1.0)) - 1.0
        return np.asarray(legendre.legval(t, self.coefficients.T, tensor=False), dtype=np.float64)

    def s_below(self, bound: float) -> float:
        return float(self.ray_masses_below(bound).sum())

    def cell_below(self, i: int, j: int, bound: float) -> float:
        """Return P(X_ij ≤ bound)."""
        slope = self.directions[:, i, j]
        below = self.ray_masses_below(bound / slope)
        return float(np.sum(np.where(slope > 0.0, below, self.mass.sum(axis=1) - below)))


def posterior(model: Model, observations: Observations, ray_nodes: int = 36, s_nodes: int = 48) -> Posterior:
    """Return the posterior given 3×2 observations."""
    directions, weights = rays(ray_nodes)
    t, t_weights = legendre.leggauss(s_nodes)
    s = 0.25 * LONGEST * (t + 1.0) ** 2
    if model.effects is not None:
        unit = CorrelatedData.of(model, observations).log_likelihood(directions, s)[None]
        log_density = unit[0] + _log_prior(model.rate, s)
    else:
        unit = _unit_log_likelihoods(model, observations, directions, s)
        log_density = noise.log_marginal(model, observations, unit) + _log_prior(model.rate, s)
    density_in_t = weights[:, None] * (t + 1.0) * np.exp(log_density - log_density.max())
    mass = density_in_t * t_weights
    mass /= mass.sum()
    return Posterior(directions, s, mass, _integrals(mass, t), unit)


def _unit_log_likelihoods(model: Model, observations: Observations, directions: Matrix, s: Vector) -> Matrix:
    groups = noise.group_of_cells(model, observations)
    unit = np.zeros((max(groups) + 1, len(directions), len(s)))
    for group, i, j, y in zip(groups, *observations.triples(), strict=True):
        unit[group] += unit_log_density(model.likelihood, y, np.outer(directions[:, i, j], s))
    return unit


def _log_prior(rate: float | Gamma, s: Vector) -> Vector:
    """Return log p(s), λ integrated out where it has a prior."""
    return -(rate.shape + 1.0) * np.log(rate.rate + s) if isinstance(rate, Gamma) else -rate * s


def _integrals(mass: Matrix, t: Vector) -> Matrix:
    """Return Legendre coefficients of the integral from −1 of the density whose masses at Gauss's nodes are given."""
    degrees = np.arange(len(t))
    series = mass @ legendre.legvander(t, len(t) - 1) * (degrees + 0.5)
    return np.asarray(legendre.legint(series, lbnd=-1, axis=1), dtype=np.float64)


@cache
def marginals(model: Model, observations: Observations, **nodes: int) -> dict[str, Marginal]:
    """Return what is exactly known of s, of every cell with and without effects, and of σ and λ if learned."""
    rough, exact = posterior(model, observations, ray_nodes=10), posterior(model, observations, **nodes)
    scale = BOUND if isinstance(model.rate, Gamma) else math.inf
    quantiles = rough_quantiles(rough.s_below, 0.0, LONGEST)
    known = {"s": marginal(*exact.moments(exact.s, scale), exact.s_below, quantiles, scale)}
    for i, j in np.ndindex(3, 2):
        cell = exact.cell(i, j)
        wanted = rough_quantiles(partial(rough.cell_below, i, j), -LONGEST, LONGEST)
        thresholds = away_from_zero(wanted, 0.3 * np.sqrt(exact.moments(cell, math.inf)[1]))
        below = partial(exact.cell_below, i, j)
        known[f"X[{i},{j}]"] = marginal(*exact.moments(cell, scale), below, thresholds, scale)
    for name, value in noise.learned(model, observations, exact.unit).items():
        known[name] = Marginal(exact.expectation(value))
    if isinstance(model.rate, Gamma):
        known["lambda"] = Marginal(exact.expectation((model.rate.shape + 1.0) / (model.rate.rate + exact.s)))
    if model.effects is not None:
        data = CorrelatedData.of(model, observations)
        for i, j in np.ndindex(3, 2):
            totals = (data.total(i, j, grid.directions, grid.s, grid.mass) for grid in (rough, exact))
            known[f"total[{i},{j}]"] = marginal_of_total(*totals)
    return known
