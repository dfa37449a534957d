"""Rotations of two components at once in U and V, drawn from their conditional by slice sampling (docs/math.md, §8.7).

Where two singular values are nearly equal, turning both pairs of singular vectors by the same angle hardly changes X.
That angle is free to go round, but a trajectory whose masses suit the data takes hundreds of draws for it, and with it
for the two singular values.  X is base + cos 2θ · along + sin 2θ · across: an evaluation at another angle takes no
products, only one likelihood a cell.
"""

from typing import NamedTuple

import numpy as np

from manifill.compiled import compiled
from manifill.problem.joint import JointDensity, write_factors
from manifill.problem.observations import Compressed
from manifill.problem.passes import cell_products, combined_log_likelihood
from manifill.sampling.slices import draw_on_circle
from manifill.types import Generator, Matrix, Vector

__all__ = ["rotate_neighbours"]


class Arc(NamedTuple):
    """x = base + cos t · along + sin t · across."""

    density: JointDensity
    base: Vector
    along: Vector
    across: Vector

    @compiled
    def log_density_at(self, t: float) -> float:
        density, cosine, sine = self.density, np.cos(t), np.sin(t)
        unit = combined_log_likelihood(
            density.cells, density.likelihood, density.weights, self.base, self.along, self.across, cosine, sine
        )
        value, _ = density.noise.log_marginal(-unit)
        return float(value)


@compiled
def rotate_neighbours(rng: Generator, density: JointDensity, position: Vector, first: int, stride: int) -> None:
    """Draw the angles between components first and first + 1, first + stride and so on, in the order of s.

    The choice of pairs depends on s alone, which a rotation keeps, so each draw leaves the posterior as it is.
    """
    r, (m, n) = density.rank, (density.left.shape[0], density.right.shape[0])
    if first >= r - 1:
        return
    u, v = m * r, (m + n) * r
    U, V, s = position[:u].reshape(m, r), position[u:v].reshape(n, r), position[v : v + r]
    order = np.argsort(s)
    parts = np.empty((3, density.cells.values.size))
    x, along, across = parts[0], parts[1], parts[2]
    write_factors(density, position)
    cell_products(density.cells, density.left, density.right, x)
    for k in range(first, r - 1, stride):
        a, b = order[k], order[k + 1]
        _write_arc(density.cells, U, V, a, b, 0.5 * (s[a] - s[b]), x, along, across)
        angle = draw_on_circle(rng, Arc(density, x, along, across))
        cosine, sine = np.cos(angle), np.sin(angle)
        for c in range(x.size):
            x[c] += cosine * along[c] + sine * across[c]
        _rotate(U, a, b, 0.5 * angle)
        _rotate(V, a, b, 0.5 * angle)


@compiled
def _write_arc(
    cells: Compressed, U: Matrix, V: Matrix, a: int, b: int, half_gap: float, x: Vector, along: Vector, across: Vector
) -> None:
    """Write the part of x that turns and the one it turns into, and leave in ``x`` what stays."""
    for i in range(U.shape[0]):
        first, second = half_gap * U[i, a], half_gap * U[i, b]
        for k in range(cells.starts[i], cells.starts[i + 1]):
            j = cells.indices[k]
            along[k] = first * V[j, a] - second * V[j, b]
            across[k] = first * V[j, b] + second * V[j, a]
            x[k] -= along[k]


@compiled
def _rotate(factor: Matrix, a: int, b: int, angle: float) -> None:
    """Turn columns a and b of a factor in their plane."""
    cosine, sine = np.cos(angle), np.sin(angle)
    for i in range(factor.shape[0]):
        first, second = factor[i, a], factor[i, b]
        factor[i, a] = cosine * first + sine * second
        factor[i, b] = cosine * second - sine * first
