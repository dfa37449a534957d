"""Rescaling of all row effects, or of all column effects, by slice sampling (docs/math.md, §8.8).

If the data determine the effects poorly, the posterior of their common scale is wide.  A trajectory changes a sum of
many squares only slightly; a move along the scale itself changes it in one step (Liu and Sabatti 2000).
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import compiled
from manifill.base.priors import Marginal
from manifill.kernels.cell_curves import cell_products, combined_log_likelihood, split_effects
from manifill.kernels.effect_rows import placed_effects, write_scaled
from manifill.kernels.flat_vectors import half_square
from manifill.likelihoods import CompiledLikelihood
from manifill.problem.joint_density import JointDensity, likelihood_at, write_factors
from manifill.sampling.slice_sampling import draw_on_line
from manifill.unknowns import view

__all__ = ["rescale", "rescale_effects"]


class Dilation(NamedTuple):
    """x = base + eᵗ · mine + scale · other at the cells; ``mine`` holds the ``number`` effects that are rescaled."""

    density: JointDensity
    likelihood: CompiledLikelihood
    prior: Marginal
    half_squares: float  # of the effects at t = 0
    number: int
    base: Vector
    mine: Vector
    other: Vector
    scale: float

    @compiled
    def log_density_at(self, t: float) -> float:
        """Return the log density of t, with the Jacobian exp(number · t) of rescaling ``number`` effects."""
        density, factor = self.density, np.exp(t)
        unit = combined_log_likelihood(
            density.cells, self.likelihood, density.weights, self.base, self.mine, self.other, factor, self.scale
        )
        value, _ = density.noise.log_marginal(-unit)
        penalty, _ = self.prior.log_marginal(factor * factor * self.half_squares)
        return float(value + penalty + self.number * t)


def rescale_effects(rng: Generator, density: JointDensity, position: Vector, floor: float) -> None:
    """Draw c from the posterior along c·a, and then along c·b; do nothing if the model has no effects."""
    if density.layout.has_effects:
        rescale(rng, density, position)


@compiled
def rescale(rng: Generator, density: JointDensity, position: Vector) -> None:
    """Do so in compiled code."""
    at, likelihood = view(density.layout, position), likelihood_at(density, view(density.layout, position))
    parts = np.empty((3, density.cells.values.size))
    base, rows, columns = parts[0], parts[1], parts[2]
    write_factors(density, at)
    cell_products(density.cells, density.scratch.left, density.scratch.right, base)
    of_rows = placed_effects(at.row, density.layout.effect_rows, density.layout.rows)
    of_columns = placed_effects(at.column, density.layout.effect_columns, density.layout.columns)
    split_effects(density.cells, of_rows, of_columns, base, rows, columns)
    m, n = at.row.size, at.column.size
    along_a = Dilation(density, likelihood, density.row, half_square(at.row), m, base, rows, columns, 1.0)
    c = np.exp(draw_on_line(rng, along_a))
    along_b = Dilation(density, likelihood, density.column, half_square(at.column), n, base, columns, rows, c)
    write_scaled(at.row, c)
    write_scaled(at.column, np.exp(draw_on_line(rng, along_b)))
