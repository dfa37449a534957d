"""Log densities of one block of unknowns given the rest, as functions of a flat vector."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Matrix, Vector
from manifill.base.jit import compiled
from manifill.kernels.cell_passes import factor_gradient
from manifill.kernels.compressed import Compressed
from manifill.kernels.factor_rows import column_products, copy_scaled
from manifill.likelihoods import CompiledLikelihood
from manifill.problem.joint_density import JointDensity
from manifill.unknowns import view

__all__ = ["EffectsGivenFactors", "FactorGivenRest", "GaussianLogScales", "LogScales"]


class FactorGivenRest(NamedTuple):
    """log p(y | U, rest) as a function of U, with ``other`` = V diag(s) fixed; or of V, with the cells by column.

    Effects are k fixed columns appended to both factors; k is 2, or 0 without effects.
    """

    cells: Compressed
    likelihood: CompiledLikelihood
    precision: float
    other: Matrix  # (n, r + k) for U, (m, r + k) for V
    extended: Matrix  # scratch, (m or n, r + k), its last k columns filled; (0, …) if k is 0
    products: Matrix  # scratch of the same shape

    @compiled
    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        r = position.size // (self.cells.starts.size - 1)
        factor = position.reshape(position.size // r, r)
        out = gradient.reshape(position.size // r, r)
        if self.extended.shape[0] == 0:
            return factor_gradient(self.cells, self.likelihood, self.precision, factor, self.other, out)
        copy_scaled(factor, np.ones(r), self.extended)
        total = factor_gradient(self.cells, self.likelihood, self.precision, self.extended, self.other, self.products)
        copy_scaled(self.products, np.ones(r), out)
        return total


class LogScales(NamedTuple):
    """log p(z | rest) for z = log s and any likelihood: Σ log p(y | x) + Σ (z − λ eᶻ), by a pass over the cells."""

    cells: Compressed
    likelihood: CompiledLikelihood
    precision: float
    rate: float
    U: Matrix
    right: Matrix  # V, followed by the columns of the effects
    scaled: Matrix  # scratch for U diag(s), followed by the columns of the effects, which are filled
    products: Matrix  # scratch of the same shape

    @compiled
    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        s = np.exp(position)
        copy_scaled(self.U, s, self.scaled)
        total = factor_gradient(self.cells, self.likelihood, self.precision, self.scaled, self.right, self.products)
        # With G the matrix of derivatives, ``products`` is G V, and the gradient in s is the diagonal of Uᵀ G V.
        column_products(self.U, self.products, gradient)
        for c in range(s.size):
            total += position[c] - self.rate * s[c]
            gradient[c] = (gradient[c] - self.rate) * s[c] + 1.0
        return total


class GaussianLogScales(NamedTuple):
    """The same for the Gaussian likelihood: a quadratic form that costs r² operations instead of a pass.

    With d = s − origin the log likelihood is γ (dᵀ moments − ½ dᵀ gram d) plus a constant.  Expanding it about the
    current s, with residuals in the moments, avoids cancellation when the noise is small and γ large.
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


class EffectsGivenFactors(NamedTuple):
    """log p(y, μ, a, b, coordinates | U, s, V) in scaled variables: the joint density with U, s and V fixed."""

    density: JointDensity
    units: Vector  # of μ, a, b and the coordinates: an unknown is its scaled variable times its unit
    position: Vector  # scratch, with U, V and s filled
    gradient: Vector  # scratch

    @compiled
    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        r = self.density.layout.rank
        here = view(self.density.layout, self.position).rest[r:]
        for k in range(position.size):
            here[k] = position[k] * self.units[k]
        total = self.density.log_density_gradient(self.position, self.gradient)
        slopes = view(self.density.layout, self.gradient).rest[r:]
        for k in range(position.size):
            gradient[k] = slopes[k] * self.units[k]
        return total
