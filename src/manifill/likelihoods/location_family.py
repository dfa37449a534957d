"""Likelihoods with noise: y = location(x) + ε, where ε is normal or Student's t with a scale σ."""

import math

import numpy as np
from scipy.special import gammaln

from manifill.base.arrays import Array, Generator, Vector
from manifill.likelihoods.likelihood import Likelihood, Parameters

__all__ = ["LOG_NORMALIZER", "LocationFamily", "log_density_at_noise"]

LOG_NORMALIZER = -0.5 * math.log(2.0 * math.pi)  # of a normal density at unit noise


class LocationFamily(Likelihood):
    """What such likelihoods share.  ``evaluate_cells`` writes −½ (y − location)², the log density at unit noise.

    Parameters are ``sigma``, a number or one per cell, and ``nu``, the degrees of freedom, if the tails are Student's.
    """

    parameter_names = ("sigma",)
    has_noise = True
    is_scale_family = True

    def normalizer(self, encoded: Vector) -> Vector:
        return np.full(encoded.size, LOG_NORMALIZER)

    def at_noise(self, unit: Vector, parameters: Parameters) -> Vector:
        return log_density_at_noise(unit, parameters["sigma"], parameters.get("nu"))

    def variance(self, x: Array, parameters: Parameters) -> Array:
        variance = np.square(parameters["sigma"])
        if "nu" in parameters:
            variance = variance * (parameters["nu"] / (parameters["nu"] - 2.0))
        return np.broadcast_to(variance, x.shape).copy()

    def sample(self, rng: Generator, x: Array, parameters: Parameters) -> Array:
        noise = rng.standard_normal(x.shape)
        if "nu" in parameters:
            noise *= np.sqrt(parameters["nu"] / rng.chisquare(parameters["nu"], x.shape))
        return np.asarray(self.mean(x) + parameters["sigma"] * noise)


def log_density_at_noise(unit: Vector, sigma: Array | float, nu: Array | float | None = None) -> Vector:
    """Return log densities of normal or Student's t noise from those at unit normal noise, without LOG_NORMALIZER."""
    scaled = unit / np.square(sigma)  # −½ times the squared residual in units of σ
    if nu is not None:
        constant = gammaln(0.5 * (nu + 1.0)) - gammaln(0.5 * nu) - 0.5 * np.log(0.5 * nu)
        scaled = constant - 0.5 * (nu + 1.0) * np.log1p(-2.0 * scaled / nu)
    return np.asarray(scaled - np.log(sigma))
