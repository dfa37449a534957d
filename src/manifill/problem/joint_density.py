"""The log density of all unknowns together, precisions and rates integrated out (docs/math.md, §8)."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from manifill.base.arrays import IntVector, Matrix, Vector
from manifill.base.jit import address_of, caller, compiled, compiled_internal, compiled_method
from manifill.base.priors import Marginal
from manifill.kernels.cell_passes import dense_joint_gradient, joint_gradient, places_in_blocks
from manifill.kernels.compressed import Compressed
from manifill.kernels.effect_rows import effects_gradient, write_levels
from manifill.kernels.factor_rows import copy_scaled, gradients_in_factor
from manifill.kernels.flat_vectors import half_square
from manifill.likelihoods import CompiledLikelihood
from manifill.problem.model import Model
from manifill.unknowns import Layout, Views, view

__all__ = ["JointDensity", "likelihood_at", "rows_in_block", "write_factors"]


# Above this fraction of observed cells, matrix products over whole rows of X are faster than single cells (``make
# bench-kernels`` compares them).  It grows with the width of the factors and is larger for tables that do not fit in
# the cache.
SHARE_PER_COLUMN, SHARE_MORE, SMALL_TABLE, LARGEST_SHARE = 0.008, 0.1, 10_000, 0.4

# Rows per block: few enough that its cells stay in the second-level cache, enough for a matrix product to pay off.
FEWEST_ROWS, MOST_ROWS, BLOCK_CELLS = 16, 128, 2**16


def rows_in_block(cells: int, shape: tuple[int, int], width: int) -> int:
    """Return the number of rows of X per block, or 0 if single cells are faster."""
    m, n = shape
    share = SHARE_PER_COLUMN * width + (0.0 if m * n <= SMALL_TABLE else SHARE_MORE)
    if cells <= min(share, LARGEST_SHARE) * m * n:
        return 0
    return min(m, max(FEWEST_ROWS, min(MOST_ROWS, BLOCK_CELLS // n)))


_call = caller(types.float64)
compiled_method("log_density_gradient")


class Scratch(NamedTuple):
    """Arrays that an evaluation of the density writes to."""

    left: Matrix  # (m, r or r + 2), the factors of the completed matrix
    right: Matrix  # (n, …)
    left_gradient: Matrix
    right_gradient: Matrix
    block: Matrix  # whole rows of X and of slopes, (2, rows, n); (2, 0, n) if cells are taken one by one

    @classmethod
    def for_layout(cls, layout: Layout, block_rows: int) -> "Scratch":
        """Allocate the arrays."""
        m, n, width = layout.rows, layout.columns, layout.width
        return cls(
            left=np.ones((m, width)),
            right=np.ones((n, width)),
            left_gradient=np.empty((m, width)),
            right_gradient=np.empty((n, width)),
            block=np.empty((2, block_rows, n)),
        )


class JointDensity(NamedTuple):
    """log p(y, U, V, s, effects, coordinates) as a function of the flat vector of ``layout``.

    A negative s is the same matrix as its absolute value with the column of U flipped, and has the same density.

    The noise precision γ, the rate λ and the precisions of row and column effects enter only through Gamma factors, so
    each is integrated out: −(α + N/2) log(β + SSE/2), −(a + r) log(b + Σ|s|), and so on.
    """

    layout: Layout
    cells: Compressed  # by row
    likelihood: CompiledLikelihood
    weights: Vector  # noise precisions of the cells relative to γ, (cells,); empty if all are one
    noise: Marginal
    rate: Marginal
    row: Marginal
    column: Marginal
    mean: float
    mean_precision: float
    places: IntVector  # positions of the cells in their block of rows; empty if cells are taken one by one
    scratch: Scratch
    pass_address: int  # address of the pass over the cells, by single cells or by blocks of whole rows

    @classmethod
    def of(cls, model: Model, cells: Compressed, layout: Layout) -> "JointDensity":
        """Return the density for cells by row with encoded values; the noise has its typical rate under the prior."""
        return cls.uncompiled(model, cells, layout).with_compiled_pass()

    @classmethod
    def uncompiled(cls, model: Model, cells: Compressed, layout: Layout) -> "JointDensity":
        """Return the density without its compiled pass over the cells: its type determines what is compiled."""
        effects = model.effects
        one = Marginal.over(1.0, 0.0)
        block_rows = rows_in_block(len(cells.values), (layout.rows, layout.columns), layout.width)
        noise = model.noise.marginal(model.noise.start((layout.rows, layout.columns)), len(cells.values))
        return cls(
            layout=layout,
            cells=cells,
            likelihood=model.likelihood.compiled(),
            weights=np.empty(0) if model.noise.is_shared else np.ones(len(cells.values)),
            noise=noise,
            rate=Marginal.over(model.rate, layout.rank),
            row=one if effects is None else Marginal.over(effects.row, 0.5 * layout.effect_rows.size),
            column=one if effects is None else Marginal.over(effects.column, 0.5 * layout.effect_columns.size),
            mean=0.0 if effects is None else effects.mean,
            mean_precision=0.0 if effects is None else effects.mean_precision,
            places=places_in_blocks(cells, layout.columns, block_rows) if block_rows else np.empty(0, dtype=np.int32),
            scratch=Scratch.for_layout(layout, block_rows),
            pass_address=0,
        )

    def with_compiled_pass(self) -> "JointDensity":
        """Return the density with the address of its pass over the cells."""
        return self._replace(pass_address=address_of(self.cell_pass, *self.pass_arguments()))

    @property
    def cell_pass(self) -> Any:
        """The compiled pass over the cells that is faster for these data."""
        return dense_joint_gradient if self.scratch.block.shape[1] else joint_gradient

    def pass_arguments(self) -> tuple[Any, ...]:
        """Return arguments of the pass; only their types matter."""
        scratch = self.scratch
        factors = scratch.left, scratch.right, scratch.left_gradient, scratch.right_gradient
        return self.cells, self.likelihood, self.weights, *factors, np.empty(0), self.places, scratch.block

    @compiled
    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        at, out = view(self.layout, position), view(self.layout, gradient)
        write_factors(self, at)
        unit = _likelihood_gradient(self, at, out.coordinates)
        total, slope = self.noise.log_marginal(-unit)
        scale = -slope  # the effective noise precision of the gradient
        penalty, rate_slope = self.rate.log_marginal(np.abs(at.s).sum())
        total += penalty
        r, scratch = self.layout.rank, self.scratch
        gradients_in_factor(at.U, scratch.left_gradient, scale * at.s, out.U, out.s)
        copy_scaled(scratch.right_gradient, np.full(r, scale), out.V)
        for c in range(r):
            out.s[c] = scale * out.s[c] + rate_slope * np.sign(at.s[c])
        for c in range(at.coordinates.size):  # standard normal under the prior
            out.coordinates[c] = scale * out.coordinates[c] - at.coordinates[c]
        total -= half_square(at.coordinates)
        if self.layout.has_effects:
            total += _effects_gradient(self, at, scale, out)
        return total


@compiled_internal
def likelihood_at(density: JointDensity, at: Views) -> CompiledLikelihood:
    """Return the likelihood with its parameters at a point."""
    return CompiledLikelihood(density.likelihood.address, density.likelihood.constants, at.coordinates)


@compiled_internal
def _likelihood_gradient(density: JointDensity, at: Views, coordinate_gradient: Vector) -> float:
    """Return Σ w log p at unit noise; write its gradients in the factors to scratch, and in the coordinates."""
    scratch = density.scratch
    total = _call(
        density.pass_address,
        density.cells,
        likelihood_at(density, at),
        density.weights,
        scratch.left,
        scratch.right,
        scratch.left_gradient,
        scratch.right_gradient,
        coordinate_gradient,
        density.places,
        scratch.block,
    )
    return float(total)


@compiled_internal
def write_factors(density: JointDensity, at: Views) -> None:
    """Write the factors of the completed matrix to scratch: U diag(s) and V, each with two columns for effects."""
    left, right, r = density.scratch.left, density.scratch.right, density.layout.rank
    copy_scaled(at.U, at.s, left)
    copy_scaled(at.V, np.ones(r), right)
    if density.layout.has_effects:
        write_levels(at.mean[0], at.row, density.layout.effect_rows, left[:, r])
        write_levels(0.0, at.column, density.layout.effect_columns, right[:, r + 1])


@compiled_internal
def _effects_gradient(density: JointDensity, at: Views, scale: float, out: Views) -> float:
    """Write the gradient in μ, a and b and return their log prior."""
    r, rows, columns = density.layout.rank, density.layout.effect_rows, density.layout.effect_columns
    row_density, row_slope = density.row.log_marginal(half_square(at.row))
    column_density, column_slope = density.column.log_marginal(half_square(at.column))
    distance = at.mean[0] - density.mean
    in_rows = effects_gradient(density.scratch.left_gradient[:, r], rows, scale, at.row, row_slope, out.row)
    effects_gradient(density.scratch.right_gradient[:, r + 1], columns, scale, at.column, column_slope, out.column)
    out.mean[0] = in_rows - density.mean_precision * distance
    return float(row_density + column_density - 0.5 * density.mean_precision * distance * distance)
