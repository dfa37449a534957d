"""Log densities of one block of unknowns given the rest, as functions of a flat vector."""

from typing import NamedTuple

import numpy as np

from manifill.compiled import compiled
from manifill.problem.likelihoods import Likelihood
from manifill.problem.observations import Compressed
from manifill.problem.passes import factor_gradient
from manifill.types import Matrix, Vector

__all__ = ["FactorGivenRest", "GaussianLogScales", "LogScales"]


class FactorGivenRest(NamedTuple):
    """log p(y | U, rest) as a function of U, with ``other`` = V diag(s) fixed; or of V, with the cells by column.

    Effects are fixed columns to the right of both factors (k of them, 2 or none).
    """

    cells: Compressed
    likelihood: Likelihood
    precision: float
    other: Matrix  # one row for each of the other index, r + k columns
    extended: Matrix  # scratch, (lines, r + k), its last k columns filled; without rows where k is 0
    products: Matrix  # scratch like it

    @compiled
    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        r = position.size // (self.cells.starts.size - 1)
        factor = position.reshape(position.size // r, r)
        out = gradient.reshape(position.size // r, r)
        if self.extended.shape[0] == 0:
            return factor_gradient(self.cells, self.likelihood, self.precision, factor, self.other, out)
        copy_columns(factor, self.extended)
        total = factor_gradient(self.cells, self.likelihood, self.precision, self.extended, self.other, self.products)
        for i in range(factor.shape[0]):
            for c in range(r):
                out[i, c] = self.products[i, c]
        return total


@compiled
def copy_columns(source: Matrix, out: Matrix) -> None:
    """Copy ``source`` to the first columns of ``out``."""
    for i in range(source.shape[0]):
        for c in range(source.shape[1]):
            out[i, c] = source[i, c]


class LogScales(NamedTuple):
    """log p(z | rest) for z = log s, any likelihood: Σ log p(y | x) + Σ (z − λ eᶻ), one pass over the cells."""

    cells: Compressed
    likelihood: Likelihood
    precision: float
    rate: float
    U: Matrix
    right: Matrix  # V, and the effects' columns
    scaled: Matrix  # scratch, U diag(s) beside the effects' columns, which are filled
    products: Matrix  # scratch like it

    @compiled
    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        s = np.exp(position)
        for i in range(self.U.shape[0]):
            for c in range(s.size):
                self.scaled[i, c] = self.U[i, c] * s[c]
        total = factor_gradient(self.cells, self.likelihood, self.precision, self.scaled, self.right, self.products)
        # With G the matrix of derivatives, ``products`` is G V, and the gradient in s is the diagonal of Uᵀ G V.
        for c in range(s.size):
            slope = 0.0
            for i in range(self.U.shape[0]):
                slope += self.U[i, c] * self.products[i, c]
            total += position[c] - self.rate * s[c]
            gradient[c] = (slope - self.rate) * s[c] + 1.0
        return total


class GaussianLogScales(NamedTuple):
    """The same for the Gaussian likelihood, whose quadratic form costs r² instead of a pass.

    With d = s − origin the log likelihood is γ (dᵀ moments − ½ dᵀ gram d) and a constant.  Taking it about the current
    s, with residuals in the moments, keeps all digits when the noise is small and γ large.
    """

    gram: Matrix  # MᵀM
    moments: Vector  # Mᵀ(y − M origin)
    origin: Vector
    precision: float
    rate: float

    @compiled
    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        r = position.size
        s = np.exp(position)
        total = 0.0
        for a in range(r):
            pull = 0.0
            for b in range(r):
                pull += self.gram[a, b] * (s[b] - self.origin[b])
            step = s[a] - self.origin[a]
            slope = self.precision * (self.moments[a] - pull)
            total += self.precision * step * (self.moments[a] - 0.5 * pull) + position[a] - self.rate * s[a]
            gradient[a] = (slope - self.rate) * s[a] + 1.0
        return total
