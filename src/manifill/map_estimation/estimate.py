"""The result of MAP estimation: factors, effects, the prior and data they belong to, and predictions."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manifill.base.arrays import Matrix, Vector
from manifill.likelihoods import Likelihood
from manifill.map_estimation.certificate import Certificate
from manifill.map_estimation.penalty_path import Trial
from manifill.map_estimation.point import Point
from manifill.map_estimation.precisions import EffectPrecisions
from manifill.problem import Observations
from manifill.problem.frame_labels import with_labels

__all__ = ["MapEstimate"]

# Cells of the whole matrix that are computed at once: their temporaries stay in the cache.
BLOCK_CELLS = 2**15


@dataclass(frozen=True, eq=False)
class MapEstimate:
    """The most probable low-rank matrix and effects, x_ij = μ + a_i + b_j + (U diag(s) Vᵀ)_ij, given λ and σ.

    ``certificate`` holds the distance from the mode, in units of λ, and ``certificate.converged`` whether it is within
    the tolerance.  If columns were divided by ``column_scales``, all fields are in scaled units; predictions are not.
    """

    U: Matrix = field(repr=False)  # (m, k), orthonormal columns; k is the rank that was found
    s: Vector  # (k,), positive and decreasing
    V: Matrix = field(repr=False)  # (n, k)
    mu: float
    row_effects: Vector = field(repr=False)  # (m,), zero without effects
    column_effects: Vector = field(repr=False)  # (n,)
    sigma: float  # 1 for a likelihood without noise, where it has no meaning
    lambda_: float
    effects: EffectPrecisions | None  # the prior of the effects
    objective: float  # F, the negative log density up to a constant
    certificate: Certificate
    iterations: int
    path: tuple[Trial, ...] = field(repr=False)  # the penalties that were tried; empty if λ and σ were given
    likelihood: Likelihood
    observations: Observations = field(repr=False)
    column_scales: Vector | float = field(default=1.0, repr=False)  # (n,), divisors of the columns

    @property
    def rank(self) -> int:
        """The rank that was found, k."""
        return len(self.s)

    @property
    def point(self) -> Point:
        """The estimated unknowns."""
        return Point(self.U, self.s, self.V, self.row_effects, self.column_effects, self.mu)

    def predict(self, rows: ArrayLike, cols: ArrayLike) -> Vector:
        """Return E[y] at these cells, identified as in the data: by the labels of a DataFrame, or by index from 0."""
        row_index, col_index = self.observations.row_indices(rows), self.observations.column_indices(cols)
        if len(row_index) != len(col_index):
            raise ValueError(f"rows and cols must have the same length, not {len(row_index)} and {len(col_index)}.")
        scales = np.broadcast_to(self.column_scales, self.observations.shape[1])
        return np.asarray(self.likelihood.mean(self.point.at(row_index, col_index)) * scales[col_index])

    def complete(self) -> Any:
        """Return E[y] in every cell, observed or not, (m, n): a DataFrame if the data have labels, or an array."""
        left, right = self.point.factors()
        m, n = self.observations.shape
        out = np.empty((m, n))
        block = max(BLOCK_CELLS // n, 1)
        for first in range(0, m, block):
            out[first : first + block] = self.likelihood.mean(left[first : first + block] @ right.T)
        out *= self.column_scales
        return with_labels(out, self.observations)
