"""Rotations of two components at once in U and V, drawn from their conditional by slice sampling (docs/math.md, §8.7).

If two singular values are nearly equal, rotating both pairs of singular vectors by the same angle hardly changes X.
With masses that suit the data, trajectories take hundreds of draws to change that angle, and with it the two singular
values.  X is base + cos 2θ · along + sin 2θ · across, so an evaluation at another angle needs no inner products, only
one likelihood per cell.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import compiled
from manifill.kernels.cell_curves import cell_products, combine_cells, combined_log_likelihood, split_rotation
from manifill.kernels.factor_rows import rotate_columns
from manifill.likelihoods import CompiledLikelihood
from manifill.problem.joint_density import JointDensity, likelihood_at, write_factors
from manifill.sampling.component_order import rising_order
from manifill.sampling.slice_sampling import draw_on_circle
from manifill.unknowns import view

__all__ = ["rotate_components", "rotate_neighbours"]

# Each draw rotates one in this many pairs of neighbouring components.
STRIDE = 2

# The width of the first bracket, in standard deviations of the angle as estimated from the curvature of the likelihood.
BRACKET = 8.0


class Arc(NamedTuple):
    """x = base + cos t · along + sin t · across."""

    density: JointDensity
    likelihood: CompiledLikelihood
    base: Vector
    along: Vector
    across: Vector

    @compiled
    def log_density_at(self, t: float) -> float:
        density, cosine, sine = self.density, np.cos(t), np.sin(t)
        unit = combined_log_likelihood(
            density.cells, self.likelihood, density.weights, self.base, self.along, self.across, cosine, sine
        )
        value, _ = density.noise.log_marginal(-unit)
        return float(value)


def rotate_components(rng: Generator, density: JointDensity, position: Vector, floor: float) -> None:
    """Rotate every second pair of neighbours, starting from the first pair or from the second."""
    rotate_neighbours(rng, density, position, int(rng.integers(STRIDE)), STRIDE, floor)


@compiled
def rotate_neighbours(
    rng: Generator, density: JointDensity, position: Vector, first: int, stride: int, floor: float
) -> None:
    """Rotate components first and first + 1, first + stride and first + stride + 1, …, counted in ascending order of s.

    1/floor is the curvature of the log density in an entry of X as it has been learned, averaged over all entries.  The
    choice of pairs and the widths of brackets depend only on s, which a rotation does not change, so each draw leaves
    the posterior invariant.
    """
    at, r = view(density.layout, position), density.layout.rank
    if first >= r - 1:
        return
    order = rising_order(at.s)
    parts = np.empty((3, density.cells.values.size))
    x, along, across = parts[0], parts[1], parts[2]
    write_factors(density, at)
    cell_products(density.cells, density.scratch.left, density.scratch.right, x)
    likelihood = likelihood_at(density, at)
    for k in range(first, r - 1, stride):
        a, b = order[k], order[k + 1]
        split_rotation(density.cells, at.U, at.V, a, b, 0.5 * (at.s[a] - at.s[b]), x, along, across)
        # dX has the squared length ½ (s_a − s_b)² dt², so t has a standard deviation of about √(2 floor) / |s_a − s_b|.
        width = BRACKET * np.sqrt(2.0 * floor) / abs(at.s[a] - at.s[b])
        angle = draw_on_circle(rng, Arc(density, likelihood, x, along, across), width)
        combine_cells(x, along, across, np.cos(angle), np.sin(angle))
        rotate_columns(at.U, a, b, 0.5 * angle)
        rotate_columns(at.V, a, b, 0.5 * angle)
