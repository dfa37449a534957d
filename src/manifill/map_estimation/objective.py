"""The objective of the mode: F = −γ Σ log p(y | x) + λ‖L‖_* + ½κ_a‖a‖² + ½κ_b‖b‖² + ½κ_μ(μ − μ₀)²."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from manifill.base.arrays import Matrix, Vector
from manifill.kernels.cell_passes import factor_gradient, log_likelihood
from manifill.kernels.compressed import Compressed
from manifill.likelihoods import Likelihood
from manifill.map_estimation.point import Point, origin
from manifill.map_estimation.precisions import Prior
from manifill.problem import Observations

__all__ = ["Objective"]

# Step of the finite differences for second derivatives, in units of 1 + |x|.
DIFFERENCE = 1e-4


@dataclass(frozen=True, eq=False)
class Objective:
    """F for a likelihood, a prior and the observed cells with encoded values."""

    by_row: Compressed
    by_column: Compressed
    likelihood: Likelihood
    prior: Prior

    @classmethod
    def of(cls, observations: Observations, likelihood: Likelihood, prior: Prior) -> "Objective":
        """Return the objective of these observations."""
        by_row, by_column = (
            cells._replace(values=likelihood.encode(cells.values))
            for cells in (observations.by_row, observations.by_column)
        )
        return cls(by_row, by_column, likelihood, prior)

    def under(self, prior: Prior) -> "Objective":
        """Return the objective of the same cells under another prior."""
        return replace(self, prior=prior)

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n) of the matrix."""
        return len(self.by_row.starts) - 1, len(self.by_column.starts) - 1

    @property
    def size(self) -> int:
        """Number of observed cells, N."""
        return len(self.by_row.values)

    @property
    def origin(self) -> Point:
        """The default starting point of a search: the prior mean in all cells."""
        return origin(self.shape, 0.0 if self.prior.effects is None else self.prior.effects.centre)

    def value(self, point: Point) -> float:
        """Return F."""
        penalties = self.prior.rate * float(point.s.sum()) + self._effects_penalty(point)
        return penalties + self.prior.precision * self.size * self.loss(point)

    def loss(self, point: Point) -> float:
        """Return the mean −log p(y | x) per cell at unit noise: half the mean square error if there is noise."""
        return -log_likelihood(self.by_row, self.likelihood.compiled(), *point.factors()) / self.size

    def _effects_penalty(self, point: Point) -> float:
        prior = self.prior.effects
        if prior is None:
            return 0.0
        squares = prior.row * (point.row @ point.row) + prior.column * (point.column @ point.column)
        return 0.5 * float(squares + prior.mean * (point.mean - prior.centre) ** 2)

    def likelihood_gradients(self, left: Matrix, right: Matrix) -> tuple[float, Matrix, Matrix]:
        """Return γ Σ log p(y | x) at x = left · rightᵀ, and its gradients in the two factors."""
        in_left, in_right = np.empty_like(left), np.empty_like(right)
        precision, likelihood = self.prior.precision, self.likelihood.compiled()
        total = factor_gradient(self.by_row, likelihood, precision, left, right, in_left)
        factor_gradient(self.by_column, likelihood, precision, right, left, in_right)
        return total, in_left, in_right

    def slopes(self, point: Point) -> csr_array:
        """Return G (m×n): γ times the derivatives of log p(y | x) in the observed cells, and zero elsewhere."""
        return self._on_cells(self._derivatives(self._x(point)))

    def curvatures(self, point: Point) -> csr_array:
        """Return −γ times the second derivatives of log p(y | x) in the observed cells, and zero elsewhere.

        They are finite differences, since a likelihood need not provide them, and are only used to scale steps.
        """
        x = self._x(point)
        h = DIFFERENCE * (1.0 + np.abs(x))
        return self._on_cells((self._derivatives(x - h) - self._derivatives(x + h)) / (2.0 * h))

    def _x(self, point: Point) -> Vector:
        return point.at(self.by_row.major_indices, self.by_row.indices)

    def _on_cells(self, values: Vector) -> csr_array:
        return csr_array((values, self.by_row.indices, self.by_row.starts), shape=self.shape)

    def _derivatives(self, x: Vector) -> Vector:
        """Return γ times the derivatives of log p(y | x), for x with one number per cell.

        It is computed as the gradient in a one-column factor with one row per cell, which reuses a compiled pass.
        """
        cells = Compressed(np.arange(len(x) + 1), np.zeros(len(x), dtype=np.int32), self.by_row.values)
        out = np.empty((len(x), 1))
        factor_gradient(cells, self.likelihood.compiled(), self.prior.precision, x[:, None], np.ones((1, 1)), out)
        return out[:, 0]
