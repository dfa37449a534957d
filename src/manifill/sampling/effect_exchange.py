"""Exchange of effects with the low-rank part by slice sampling; X does not change (docs/math.md, §8.9).

Row effects in the span of U can be expressed by the low-rank part as well: a 1ᵀ + L = (a + c) 1ᵀ + (L − c 1ᵀ) with c =
U d.  The data do not determine d, and if their noise is small a trajectory hardly moves along these r directions.  The
same holds for column effects and V.  Effects are those of rows and columns with cells, and 1 is 0 in columns without.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, IntVector, Matrix, Vector
from manifill.base.jit import compiled, compiled_internal
from manifill.base.lapack import SVD_ADDRESS, svd
from manifill.base.priors import Marginal
from manifill.kernels.effect_rows import add_combination, placed_effects, project_effects, subtract_projection
from manifill.kernels.factor_rows import multiply_columns, weighted_gram
from manifill.kernels.flat_vectors import half_square
from manifill.problem.joint_density import JointDensity
from manifill.sampling.component_order import falling_places
from manifill.sampling.slice_sampling import draw_on_line
from manifill.unknowns import view

__all__ = ["exchange", "exchange_effects"]


# Directions of U whose entries in rows with cells have a squared length below this are not told from zero.
SMALLEST_SQUARE = 1e-14


class Ones(NamedTuple):
    """The vector 1 as the sum of its part in the span of V and the rest: 1 = V v + ρ q."""

    inside: Vector  # v = Vᵀ1, (r,)
    rest: Vector  # q, (n,), of length one and orthogonal to V; zero if 1 is in the span of V
    length: float  # ρ


class Valley(NamedTuple):
    """The density of a + t U d and L − t U d 1ᵀ, through the terms that depend on t: ‖a + t U d‖² and UᵀL."""

    effects: Marginal  # the prior of a
    rate: Marginal  # the prior of s
    square: float  # ‖a‖²
    cross: float  # a · U d
    step: float  # ‖U d‖², of the rows with cells
    direction: Vector  # d, (r,)
    s: Vector  # (r,)
    ones: Ones
    columns: int  # n
    svd_address: int

    @compiled
    def log_density_at(self, t: float) -> float:
        """Log density in B = UᵀL, whose measure a shift preserves: the priors times ∏ s^(r−n) ∏ |s_a² − s_b²|⁻¹.

        s is computed by an SVD, since square roots of eigenvalues would lose the small values to rounding.
        """
        r, d = self.s.size, self.direction
        _, s, _, found = _shifted_components(self.svd_address, self.s, t, d, self.ones)
        if not (found and s[r - 1] > 0.0):
            return -np.inf
        squares, logs = max(self.square + 2.0 * t * self.cross + t * t * self.step, 0.0), 0.0
        for a in range(r):
            logs += (self.columns - r) * np.log(s[a])
            for b in range(a):
                logs += np.log(s[b] - s[a]) + np.log(s[b] + s[a])
        total, _ = self.effects.log_marginal(0.5 * squares)
        penalty, _ = self.rate.log_marginal(s.sum())
        return float(total + penalty - logs)


def exchange_effects(rng: Generator, density: JointDensity, position: Vector, floor: float) -> None:
    """Move along one random direction for a, and one for b; do nothing if the model has no effects."""
    if density.layout.has_effects:
        exchange(rng, density, position, SVD_ADDRESS)


@compiled
def exchange(rng: Generator, density: JointDensity, position: Vector, svd_address: int) -> None:
    """Do so in compiled code."""
    at, rows, columns = view(density.layout, position), density.layout.effect_rows, density.layout.effect_columns
    _exchange(rng, density.row, density.rate, at.U, at.s, at.V, at.row, rows, columns, svd_address)
    _exchange(rng, density.column, density.rate, at.V, at.s, at.U, at.column, columns, rows, svd_address)


@compiled_internal
def _exchange(
    rng: Generator,
    prior: Marginal,
    rate: Marginal,
    U: Matrix,
    s: Vector,
    V: Matrix,
    a: Vector,
    rows: IntVector,
    columns: IntVector,
    svd_address: int,
) -> None:
    """Draw t, and write a + t U d and the singular form of U diag(s) Vᵀ − t U d 1ᵀ."""
    d, along = _direction(rng, prior, U, a, rows, svd_address)
    square, cross, step = 2.0 * half_square(a), 0.0, 2.0 * half_square(along)
    for i in range(a.size):
        cross += a[i] * along[i]
    ones = _ones(V, columns)
    t = draw_on_line(rng, Valley(prior, rate, square, cross, step, d, s, ones, V.shape[0], svd_address))
    add_combination(U, rows, d, t, a)
    _shift(U, s, V, t, d, ones, svd_address)


@compiled_internal
def _direction(
    rng: Generator, prior: Marginal, U: Matrix, a: Vector, rows: IntVector, svd_address: int
) -> tuple[Vector, Vector]:
    """Return a random d, and U d in the rows with cells, which has the typical size of an effect.

    The size is estimated from the part of a outside the span of U: the choice of a direction must not depend on what
    moves, nor on the basis of that span.
    """
    r = U.shape[1]
    d, along = np.empty(r), np.zeros(a.size)
    for c in range(r):
        d[c] = rng.standard_normal()
    add_combination(U, rows, d, 1.0, along)
    size = np.sqrt(prior.rate / prior.shape) if prior.known == 0.0 else prior.known**-0.5
    if a.size > r:
        size = np.sqrt(_square_outside(U, a, rows, svd_address) / (a.size - r))
    factor = size * np.sqrt(half_square(d) / half_square(along) / r)
    for c in range(r):
        d[c] *= factor
    for i in range(a.size):
        along[i] *= factor
    return d, along


@compiled_internal
def _square_outside(U: Matrix, a: Vector, rows: IntVector, svd_address: int) -> float:
    """Return the squared length of the part of a outside the span of the rows of U with cells."""
    m, r = U.shape
    inside, gram = np.empty(r), np.empty((r, r))
    basis, squares, transposed = np.empty((r, r)), np.empty(r), np.empty((r, r))
    project_effects(U, placed_effects(a, rows, m), inside)
    weighted_gram(U, placed_effects(np.ones(a.size), rows, m), U, gram)
    svd(svd_address, gram, basis, squares, transposed)
    total = 2.0 * half_square(a)
    for c in range(r):
        if squares[c] > SMALLEST_SQUARE:
            total -= np.dot(transposed[c], inside) ** 2 / squares[c]
    return max(total, 0.0)


@compiled_internal
def _ones(V: Matrix, columns: IntVector) -> Ones:
    """Decompose the vector that is 1 in columns with cells and 0 elsewhere, where the effects cancel nothing."""
    n, r = V.shape
    inside, again = np.empty(r), np.empty(r)
    rest = placed_effects(np.ones(columns.size), columns, n)
    project_effects(V, rest, inside)
    subtract_projection(V, inside, rest)
    project_effects(V, rest, again)  # a second pass, for accuracy if the remainder is small
    subtract_projection(V, again, rest)
    length = np.sqrt(2.0 * half_square(rest))
    if length <= 1e-12 * np.sqrt(columns.size):
        length = 0.0
    for j in range(n):
        rest[j] = rest[j] / length if length > 0.0 else 0.0
    return Ones(inside, rest, length)


@compiled_internal
def _shifted_components(
    svd_address: int, s: Vector, t: float, d: Vector, ones: Ones
) -> tuple[Matrix, Vector, Matrix, bool]:
    """Decompose [diag(s) − t d vᵀ, −t ρ d], (r, r + 1): between U and [V, q]ᵀ it is U diag(s) Vᵀ − t U d 1ᵀ."""
    r = s.size
    middle, left, values, right = np.empty((r, r + 1)), np.empty((r, r)), np.empty(r), np.empty((r, r + 1))
    for a in range(r):
        shift = t * d[a]
        for b in range(r):
            middle[a, b] = -shift * ones.inside[b]
        middle[a, a] += s[a]
        middle[a, r] = -shift * ones.length
    found = svd(svd_address, middle, left, values, right)
    return left, values, right, found


@compiled_internal
def _shift(U: Matrix, s: Vector, V: Matrix, t: float, d: Vector, ones: Ones, svd_address: int) -> None:
    """Subtract t U d 1ᵀ from U diag(s) Vᵀ.

    Each component keeps its rank by size, so that one that changes little keeps its column.
    """
    r = s.size
    left, values, right, _ = _shifted_components(svd_address, s, t, d, ones)
    places = falling_places(s)
    of_U, of_V, of_rest = np.empty((r, r)), np.empty((r, r)), np.empty(r)
    for a in range(r):
        s[a] = values[places[a]]
        of_rest[a] = right[places[a], r]
        for b in range(r):
            of_U[b, a] = left[b, places[a]]
            of_V[b, a] = right[places[a], b]
    multiply_columns(U, of_U, np.zeros(0), of_rest)
    multiply_columns(V, of_V, ones.rest, of_rest)
