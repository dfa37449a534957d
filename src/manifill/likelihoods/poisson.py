"""y ~ Poisson(eˣ), for counts without an upper limit."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from manifill.base.arrays import Array, Generator, Vector
from manifill.likelihoods.likelihood import Chunk, Evaluation, Likelihood, Parameters

__all__ = ["Poisson"]

# Means are kept finite far outside of what any count can mean: beyond it a trajectory has diverged.
LARGEST_LOG_MEAN = 600.0

# The largest mean whose counts a generator can draw.
LARGEST_MEAN = 1e18


@dataclass(frozen=True)
class Poisson(Likelihood):
    """y ~ Poisson(eˣ)."""

    name = "poisson"
    description = "counts (Poisson)"

    @staticmethod
    def evaluate_cells(chunk: Chunk, out: Evaluation) -> None:
        y, x = chunk.y, chunk.x
        for k in range(x.size):
            mean = np.exp(min(x[k], LARGEST_LOG_MEAN))
            out.log_density[k] = y[k] * x[k] - mean
            out.slopes[k] = y[k] - mean

    def encode(self, values: Vector) -> Vector:
        broken = np.flatnonzero((values < 0) | (values != np.rint(values)))
        if broken.size:
            raise ValueError(
                f"the data hold {values[broken[0]]:g}, which a Poisson likelihood cannot produce: its values are "
                "0, 1, 2, …; choose another likelihood."
            )
        return values

    def normalizer(self, encoded: Vector) -> Vector:
        return np.asarray(-gammaln(encoded + 1.0))

    def starting_point(self, encoded: Vector) -> Vector:
        return np.log(encoded + 0.5)

    def mean(self, x: Array) -> Array:
        return np.exp(np.minimum(x, LARGEST_LOG_MEAN))

    def variance(self, x: Array, parameters: Parameters) -> Array:
        return self.mean(x)

    def sample(self, rng: Generator, x: Array, parameters: Parameters) -> Array:
        return rng.poisson(np.minimum(self.mean(x), LARGEST_MEAN)).astype(np.float64)
