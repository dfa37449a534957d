"""The log density of all unknowns together, precisions and rates integrated out (docs/math.md, §8)."""

from typing import NamedTuple

import numpy as np

from manifill.compiled import compiled
from manifill.problem.effects import Effects
from manifill.problem.likelihoods import Likelihood
from manifill.problem.model import Model
from manifill.problem.observations import Compressed
from manifill.problem.passes import dense_joint_gradient, joint_gradient, places_in_blocks
from manifill.problem.priors import Marginal
from manifill.types import IntVector, Matrix, Vector

__all__ = ["EffectsGivenRest", "JointDensity", "fold_signs", "pack", "rows_in_block", "unpack", "write_factors"]


# Where whole rows of X by matrix products are faster than single cells (``make bench-kernels`` compares them): from a
# share of observed cells on that grows with the width of the factors, and is larger where a table leaves the cache.
SHARE_A_COLUMN, SHARE_MORE, SMALL_TABLE, LARGEST_SHARE = 0.008, 0.1, 10_000, 0.4

# Rows of a block: so many that its cells stay in the second-level cache, but enough of them for a product to pay.
FEWEST_ROWS, MOST_ROWS, BLOCK_CELLS = 16, 128, 2**16


def rows_in_block(cells: int, shape: tuple[int, int], width: int) -> int:
    """Return how many whole rows of X are taken at a time, 0 where single cells are faster."""
    m, n = shape
    share = SHARE_A_COLUMN * width + (0.0 if m * n <= SMALL_TABLE else SHARE_MORE)
    if cells <= min(share, LARGEST_SHARE) * m * n:
        return 0
    return min(m, max(FEWEST_ROWS, min(MOST_ROWS, BLOCK_CELLS // n)))


class JointDensity(NamedTuple):
    """log p(y, U, V, s, effects) as a function of the flat vector U, V, s and μ, a, b.

    A negative s is the same matrix as its absolute value with the column of U turned round, and has the same density.

    The noise precision γ, the rate λ and the precisions of row and column effects enter only through Gamma factors, so
    each is integrated out: −(α + N/2) log(β + SSE/2), −(a + r) log(b + Σ|s|), and so on.
    """

    cells: Compressed  # by row
    likelihood: Likelihood
    weights: Vector  # known noise precisions of the columns; empty where ``noise`` has what is to know
    noise: Marginal
    rate: Marginal
    row: Marginal
    column: Marginal
    mean: float
    mean_precision: float
    left: Matrix  # scratch, (m, r) or with effects (m, r + 2)
    right: Matrix  # scratch, (n, r) or with effects (n, r + 2)
    left_gradient: Matrix
    right_gradient: Matrix
    places: IntVector  # of the cells in the block; empty where cells are sparse
    block: Matrix  # scratch for whole rows of X and of slopes, (2, rows, n); without rows where cells are sparse
    rank: int

    @classmethod
    def of(cls, model: Model, cells: Compressed, shape: tuple[int, int]) -> "JointDensity":
        """Return the density for cells by row, their values encoded; the noise's rate is the prior's typical one."""
        (m, n), r, effects = shape, model.rank, model.effects
        width = r if effects is None else r + 2
        one = Marginal.over(1.0, 0.0)
        block_rows = rows_in_block(len(cells.values), shape, width)
        return cls(
            cells=cells,
            likelihood=model.likelihood,
            weights=np.empty(0),
            noise=Marginal.over(model.noise_prior(model.first_noise_rate), 0.5 * len(cells.values)),
            rate=Marginal.over(model.rate, r),
            row=one if effects is None else Marginal.over(effects.row, 0.5 * m),
            column=one if effects is None else Marginal.over(effects.column, 0.5 * n),
            mean=0.0 if effects is None else effects.mean,
            mean_precision=0.0 if effects is None else effects.mean_precision,
            left=np.ones((m, width)),
            right=np.ones((n, width)),
            left_gradient=np.empty((m, width)),
            right_gradient=np.empty((n, width)),
            places=places_in_blocks(cells, n, block_rows) if block_rows else np.empty(0, dtype=np.int32),
            block=np.empty((2, block_rows, n)),
            rank=r,
        )

    @compiled
    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        r, (m, n) = self.rank, (self.left.shape[0], self.right.shape[0])
        u, v = m * r, (m + n) * r
        U, s = position[:u].reshape(m, r), position[v : v + r]
        write_factors(self, position)
        if self.block.shape[1] == 0:
            unit = joint_gradient(
                self.cells,
                self.likelihood,
                self.weights,
                self.left,
                self.right,
                self.left_gradient,
                self.right_gradient,
            )
        else:
            unit = dense_joint_gradient(
                self.cells,
                self.likelihood,
                self.weights,
                self.left,
                self.right,
                self.left_gradient,
                self.right_gradient,
                self.places,
                self.block,
            )
        total, slope = self.noise.log_marginal(-unit)
        scale = -slope  # the noise precision that the gradient sees
        penalty, rate_slope = self.rate.log_marginal(np.abs(s).sum())
        total += penalty
        along = gradient[v : v + r]
        along[:] = 0.0
        for i in range(m):
            for c in range(r):
                along[c] += U[i, c] * self.left_gradient[i, c]
                gradient[i * r + c] = scale * s[c] * self.left_gradient[i, c]
        for c in range(r):
            along[c] = scale * along[c] + rate_slope * np.sign(s[c])
        for j in range(n):
            for c in range(r):
                gradient[u + j * r + c] = scale * self.right_gradient[j, c]
        if self.left.shape[1] > r:
            total += _effects_gradient(self, position[v + r :], scale, gradient[v + r :])
        return total


@compiled
def write_factors(density: JointDensity, position: Vector) -> None:
    """Write the factors of the completed matrix to the density's scratch: U diag(s) and V, with effects beside them."""
    left, right, r = density.left, density.right, density.rank
    m, n = left.shape[0], right.shape[0]
    u, v = m * r, (m + n) * r
    for i in range(m):
        for c in range(r):
            left[i, c] = position[i * r + c] * position[v + c]
    for j in range(n):
        for c in range(r):
            right[j, c] = position[u + j * r + c]
    if left.shape[1] > r:
        _write_effects(position[v + r :], left[:, r], right[:, r + 1])


@compiled
def _write_effects(effects: Vector, levels: Vector, columns: Vector) -> None:
    """Write the row levels μ + a_i and the column effects b_j."""
    m = levels.size
    for i in range(m):
        levels[i] = effects[0] + effects[1 + i]
    for j in range(columns.size):
        columns[j] = effects[1 + m + j]


@compiled
def _effects_gradient(density: JointDensity, effects: Vector, scale: float, gradient: Vector) -> float:
    """Write the gradient in μ, a and b and return their log prior."""
    r, m = density.rank, density.left.shape[0]
    rows, columns = 0.0, 0.0
    for i in range(1, m + 1):
        rows += effects[i] * effects[i]
    for j in range(m + 1, effects.size):
        columns += effects[j] * effects[j]
    row_density, row_slope = density.row.log_marginal(0.5 * rows)
    column_density, column_slope = density.column.log_marginal(0.5 * columns)
    distance = effects[0] - density.mean
    gradient[0] = -density.mean_precision * distance
    for i in range(m):
        slope = scale * density.left_gradient[i, r]
        gradient[0] += slope
        gradient[1 + i] = slope + row_slope * effects[1 + i]
    for j in range(density.right.shape[0]):
        gradient[1 + m + j] = scale * density.right_gradient[j, r + 1] + column_slope * effects[1 + m + j]
    return float(row_density + column_density - 0.5 * density.mean_precision * distance * distance)


class EffectsGivenRest(NamedTuple):
    """log p(y, μ, a, b | U, s, V) as a function of the effects, in given units: the joint density along some axes."""

    density: JointDensity
    units: Vector  # (1 + m + n,): an effect is its coordinate times its unit
    position: Vector  # scratch, its first part U, V and s
    gradient: Vector  # scratch

    @compiled
    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        first = self.position.size - position.size
        for k in range(position.size):
            self.position[first + k] = position[k] * self.units[k]
        total = self.density.log_density_gradient(self.position, self.gradient)
        for k in range(position.size):
            gradient[k] = self.gradient[first + k] * self.units[k]
        return total


def pack(U: Matrix, s: Vector, V: Matrix, effects: Effects | None) -> Vector:
    """Return the flat vector of a point."""
    rest = [] if effects is None else [effects.flat()]
    return np.concatenate([U.ravel(), V.ravel(), s, *rest])


def fold_signs(position: Vector, shape: tuple[int, int], rank: int) -> None:
    """Make all of s positive, in place, by turning columns of U round: the same matrix, with the same density."""
    (m, n), r = shape, rank
    s = position[(m + n) * r :][:r]
    if np.all(s >= 0.0):
        return
    position[: m * r].reshape(m, r)[:, s < 0.0] *= -1.0
    np.abs(s, out=s)


def unpack(position: Vector, shape: tuple[int, int], rank: int) -> tuple[Matrix, Vector, Matrix, Vector]:
    """Return U, s, V and the flat effects (which may be empty), as copies."""
    (m, n), r = shape, rank
    U, V, s, effects = np.split(position.copy(), [m * r, (m + n) * r, (m + n + 1) * r])
    return U.reshape(m, r), s, V.reshape(n, r), effects
