"""y ~ N(x, σ²), for real numbers: the paper's SVD model."""

import math
from dataclasses import dataclass

import numpy as np

from manifill.base.arrays import Array, Generator, Vector
from manifill.likelihoods.likelihood import Chunk, Evaluation, Likelihood, Parameters
from manifill.likelihoods.noise import with_noise

__all__ = ["LOG_NORMALIZER", "Gaussian"]

LOG_NORMALIZER = -0.5 * math.log(2.0 * math.pi)  # of a normal density at unit noise


@dataclass(frozen=True)
class Gaussian(Likelihood):
    """y ~ N(x, σ²)."""

    name = "gaussian"
    description = "normal noise"
    parameter_names = ("sigma",)
    has_noise = True
    is_scale_family = True
    is_conjugate = True

    @staticmethod
    def evaluate_cells(chunk: Chunk, out: Evaluation) -> None:
        y, x = chunk.y, chunk.x
        for k in range(x.size):
            residual = y[k] - x[k]
            out.log_density[k] = -0.5 * residual * residual
            out.slopes[k] = residual

    def normalizer(self, encoded: Vector) -> Vector:
        return np.full(encoded.size, LOG_NORMALIZER)

    def at_noise(self, unit: Vector, parameters: Parameters) -> Vector:
        return with_noise(unit, parameters["sigma"])

    def starting_point(self, encoded: Vector) -> Vector:
        return encoded

    def mean(self, x: Array) -> Array:
        return x

    def variance(self, x: Array, parameters: Parameters) -> Array:
        return np.full_like(x, np.square(parameters["sigma"]))

    def sample(self, rng: Generator, x: Array, parameters: Parameters) -> Array:
        return np.asarray(rng.normal(x, parameters["sigma"]))
