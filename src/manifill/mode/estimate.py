"""The mode as a result: factors, effects, what they are the mode of, and predictions."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from manifill.mode.certificate import Certificate
from manifill.mode.path import Trial
from manifill.mode.point import Point
from manifill.mode.prior import EffectPrecisions
from manifill.problem import Likelihood, Observations
from manifill.types import Matrix, Vector

__all__ = ["MapEstimate"]

# Cells of the whole matrix that are handled at once: their temporaries stay in the cache.
BLOCK_CELLS = 2**15


@dataclass(frozen=True, eq=False)
class MapEstimate:
    """The most probable low-rank matrix and effects, x_ij = μ + a_i + b_j + (U diag(s) Vᵀ)_ij, given λ and σ.

    ``certificate`` says how far it is from the mode, in units of λ, and ``certificate.converged`` whether that is
    within the tolerance.  Where columns were divided by ``column_scales``, all of it but predictions is about those.
    """

    U: Matrix = field(repr=False)  # (m, k), orthonormal columns; k is the rank that was found
    s: Vector  # (k,), positive and decreasing
    V: Matrix = field(repr=False)  # (n, k)
    mu: float
    row_effects: Vector = field(repr=False)  # (m,), zero without effects
    column_effects: Vector = field(repr=False)  # (n,)
    sigma: float  # 1 and without meaning for a likelihood without noise
    lambda_: float
    effects: EffectPrecisions | None  # the prior of the effects
    objective: float  # F, the negative log density up to a constant
    certificate: Certificate
    iterations: int
    path: tuple[Trial, ...] = field(repr=False)  # the penalties that were tried; empty where λ and σ were given
    likelihood: Likelihood
    observations: Observations = field(repr=False)
    column_scales: Vector | float = field(default=1.0, repr=False)  # (n,) that the columns were divided by

    @property
    def rank(self) -> int:
        """The rank that was found, k."""
        return len(self.s)

    @property
    def point(self) -> Point:
        """The unknowns alone."""
        return Point(self.U, self.s, self.V, self.row_effects, self.column_effects, self.mu)

    def predict(self, rows: ArrayLike, cols: ArrayLike) -> Vector:
        """Return E[y] at these cells, named as in the data: by labels of a DataFrame, otherwise by numbers from 0."""
        row_index, col_index = self.observations.row_indices(rows), self.observations.column_indices(cols)
        if len(row_index) != len(col_index):
            raise ValueError(f"rows and cols must be of one length, not {len(row_index)} and {len(col_index)}.")
        scales = np.broadcast_to(self.column_scales, self.observations.shape[1])
        return np.asarray(self.likelihood.mean(self.point.at(row_index, col_index)) * scales[col_index])

    def complete(self) -> Matrix:
        """Return E[y] in every cell, observed or not, (m, n)."""
        left, right = self.point.factors()
        m, n = self.observations.shape
        out = np.empty((m, n))
        block = max(BLOCK_CELLS // n, 1)
        for first in range(0, m, block):
            out[first : first + block] = self.likelihood.mean(left[first : first + block] @ right.T)
        out *= self.column_scales
        return out
