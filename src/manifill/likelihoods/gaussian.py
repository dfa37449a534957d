"""y ~ N(x, σ²), or Student's t about x, for real numbers: the paper's SVD model."""

from dataclasses import dataclass

from manifill.base.arrays import Array, Vector
from manifill.likelihoods.likelihood import Chunk, Evaluation
from manifill.likelihoods.location_family import LocationFamily

__all__ = ["Gaussian"]


@dataclass(frozen=True)
class Gaussian(LocationFamily):
    """y ~ N(x, σ²)."""

    name = "gaussian"
    description = "normal noise"
    is_conjugate = True

    @staticmethod
    def evaluate_cells(chunk: Chunk, out: Evaluation) -> None:
        y, x = chunk.y, chunk.x
        for k in range(x.size):
            residual = y[k] - x[k]
            out.log_density[k] = -0.5 * residual * residual
            out.slopes[k] = residual

    def starting_point(self, encoded: Vector) -> Vector:
        return encoded

    def mean(self, x: Array) -> Array:
        return x
