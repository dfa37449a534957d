"""All row effects, or all column effects, made larger or smaller at once, by slice sampling (docs/math.md, §8.8).

Where the data say little of the effects, their common scale may have any size.  A trajectory changes a sum of many
squares by a small part only; along the scale itself the way is short (Liu and Sabatti 2000).
"""

from typing import NamedTuple

import numpy as np

from manifill.compiled import compiled
from manifill.problem.joint import JointDensity, write_factors
from manifill.problem.passes import cell_products, combined_log_likelihood
from manifill.problem.priors import Marginal
from manifill.sampling.slices import draw_on_line
from manifill.types import Generator, Vector

__all__ = ["rescale_effects"]


class Dilation(NamedTuple):
    """x = base + eᵗ · mine + scale · other, where ``mine`` are effects at the cells, ``number`` of them in all."""

    density: JointDensity
    prior: Marginal
    half_squares: float  # of the effects at t = 0
    number: int
    base: Vector
    mine: Vector
    other: Vector
    scale: float

    @compiled
    def log_density_at(self, t: float) -> float:
        """The measure of t is that of ``number`` numbers, exp(number · t) dt."""
        density, factor = self.density, np.exp(t)
        unit = combined_log_likelihood(
            density.cells, density.likelihood, density.weights, self.base, self.mine, self.other, factor, self.scale
        )
        value, _ = density.noise.log_marginal(-unit)
        penalty, _ = self.prior.log_marginal(factor * factor * self.half_squares)
        return float(value + penalty + self.number * t)


@compiled
def rescale_effects(rng: Generator, density: JointDensity, position: Vector) -> None:
    """Draw c from the posterior along c·a, and then along c·b; a density without effects stays as it is."""
    r, (m, n) = density.rank, (density.left.shape[0], density.right.shape[0])
    if density.left.shape[1] == r:
        return
    first = (m + n + 1) * r + 1
    a, b = position[first : first + m], position[first + m :]
    parts = np.empty((3, density.cells.values.size))
    base, rows, columns = parts[0], parts[1], parts[2]
    write_factors(density, position)
    cell_products(density.cells, density.left, density.right, base)
    for i in range(m):
        for k in range(density.cells.starts[i], density.cells.starts[i + 1]):
            rows[k], columns[k] = a[i], b[density.cells.indices[k]]
            base[k] -= rows[k] + columns[k]
    along_a = Dilation(density, density.row, 0.5 * np.sum(a * a), m, base, rows, columns, 1.0)
    c = np.exp(draw_on_line(rng, along_a))
    along_b = Dilation(density, density.column, 0.5 * np.sum(b * b), n, base, columns, rows, c)
    a *= c
    b *= np.exp(draw_on_line(rng, along_b))
