"""y ~ N(log(1 + eˣ), σ²), for positive quantities: the paper's S-SVD model."""

from dataclasses import dataclass

import numpy as np

from manifill.base.arrays import Array, Vector
from manifill.likelihoods.likelihood import Chunk, Evaluation
from manifill.likelihoods.location_family import LocationFamily
from manifill.likelihoods.logistic import sigmoid_and_softplus, softplus

__all__ = ["SoftplusGaussian"]


@dataclass(frozen=True)
class SoftplusGaussian(LocationFamily):
    """y ~ N(log(1 + eˣ), σ²)."""

    name = "softplus"
    description = "positive values with normal noise (softplus)"

    @staticmethod
    def evaluate_cells(chunk: Chunk, out: Evaluation) -> None:
        y, x = chunk.y, chunk.x
        for k in range(x.size):
            share, level = sigmoid_and_softplus(x[k])
            residual = y[k] - level
            out.log_density[k] = -0.5 * residual * residual
            out.slopes[k] = residual * share

    def check_data(self, values: Vector) -> None:
        if values.max() < 0.0:
            raise ValueError(
                "likelihood='softplus' is for positive data, but all values are negative; take 'gaussian'."
            )

    def starting_point(self, encoded: Vector) -> Vector:
        # log(eʸ − 1) falls to −∞ at y = 0; noise may take y there or below.
        floor = 1e-2 * max(float(np.std(encoded)), 1e-6)
        positive = np.maximum(encoded, floor)
        return np.asarray(positive + np.log(-np.expm1(-positive)))

    def mean(self, x: Array) -> Array:
        return softplus(x)
