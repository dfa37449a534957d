"""Effects of known precision under Gaussian noise of known precision, integrated out in closed form.

Given X = s u vᵀ the data are then jointly Gaussian: y ~ N(μ₀ + X, C), where C has the noise on its diagonal and what
cells share of the mean, of a row or of a column.  And the effects of all cells given y and X are Gaussian too, with a
mean that is linear in s along a ray.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from manifill.base.arrays import IntVector, Matrix, Vector
from manifill.problem import Model, Observations
from manifill.unknowns import EffectsPrior
from tests.exact.marginals import Marginal, marginal, rough_quantiles
from tests.problem.likelihoods import precision_of

FARTHEST = 60.0  # where quantiles are sought
NEGLIGIBLE = 1e-13  # nodes of less weight are dropped


def covariance(prior: EffectsPrior, rows: IntVector, cols: IntVector, rows2: IntVector, cols2: IntVector) -> Matrix:
    """Return Cov(μ + a_i + b_j, μ + a_k + b_l) for two lists of cells."""
    same_row, same_column = rows[:, None] == rows2, cols[:, None] == cols2
    return np.asarray(1.0 / prior.mean_precision + same_row / prior.row + same_column / prior.column)


class Total(NamedTuple):
    """One cell of the completed matrix, μ + a_i + b_j + X_ij: N(means[k], sd²) with probability weights[k]."""

    weights: Vector
    means: Vector
    sd: float

    def moments(self) -> tuple[float, float]:
        mean = float(self.weights @ self.means)
        return mean, float(self.weights @ (self.means - mean) ** 2) + self.sd**2

    def below(self, bound: float) -> float:
        return float(self.weights @ ndtr((bound - self.means) / self.sd))


class CorrelatedData(NamedTuple):
    """The observed cells, with effects integrated out."""

    prior: EffectsPrior
    rows: IntVector
    cols: IntVector
    residuals: Vector  # y − μ₀, (N,)
    precision: Matrix  # C⁻¹, (N, N)

    @classmethod
    def of(cls, model: Model, observations: Observations) -> "CorrelatedData":
        prior, precision, (rows, cols, y) = model.effects, precision_of(model.noise), observations.triples()
        assert prior is not None
        assert isinstance(precision, float)
        C = covariance(prior, rows, cols, rows, cols) + np.eye(len(y)) / precision
        return cls(prior, rows, cols, y - prior.mean, np.asarray(np.linalg.inv(C), dtype=np.float64))

    def log_likelihood(self, directions: Matrix, s: Vector) -> Matrix:
        """Return log p(y | X) up to a constant, (R, K), for X = s · directions."""
        along = directions[:, self.rows, self.cols]
        linear = along @ self.precision @ self.residuals
        quadratic = np.einsum("ra,ab,rb->r", along, self.precision, along)
        return np.outer(linear, s) - 0.5 * np.outer(quadratic, s**2)

    def total(self, i: int, j: int, directions: Matrix, s: Vector, mass: Matrix) -> Total:
        """Return the cell given the posterior of X on a grid of rays and points, (R, K)."""
        cell = np.array([i]), np.array([j])
        shared = covariance(self.prior, *cell, self.rows, self.cols)[0] @ self.precision
        variance = covariance(self.prior, *cell, *cell)[0, 0]
        variance -= float(shared @ covariance(self.prior, self.rows, self.cols, *cell)[:, 0])
        slope = directions[:, i, j] - directions[:, self.rows, self.cols] @ shared
        means = self.prior.mean + float(shared @ self.residuals) + np.outer(slope, s)
        kept = mass > NEGLIGIBLE
        return Total(mass[kept], means[kept], float(np.sqrt(variance)))


def marginal_of_total(rough: Total, exact: Total) -> Marginal:
    """Return what is known of a cell; thresholds come from the rough grid."""
    thresholds = rough_quantiles(rough.below, -FARTHEST, FARTHEST)
    return marginal(*exact.moments(), exact.below, thresholds)
