"""Matrices of rank r in their singular form, St(m, r) × St(n, r) × Rʳ, with row and column effects beside them.

A point is flat: U, V, s, and, where there are effects, μ, a (m) and b (n); it stands for the matrix
X = U diag(s) Vᵀ + (μ + a_i + b_j).  Numbers in s may be negative.  A trajectory turns when X does.  Rotating two
columns of U and of V whose singular values are nearly equal hardly changes X, and a turning rule in the factors would
follow such rotations for long.  Rows and columns have weights there: where most cells lie in few of them, the others
are slow, and would have trajectories go on long after what the data speak of has been renewed.
"""

from typing import NamedTuple

import numpy as np

from manifill.compiled import compiled
from manifill.geometry.scaled import ScaledStiefel
from manifill.geometry.turning import FactorProducts, fill_products, turning_of_effects, turning_of_low_rank
from manifill.types import Generator, Vector

__all__ = ["LowRank"]


class LowRank(NamedTuple):
    """The product manifold, with a mass for each column of U and V and for every number of the rest."""

    left: ScaledStiefel  # of U
    right: ScaledStiefel  # of V
    masses: Vector  # of s, and of μ, a, b where there are effects
    left_products: FactorProducts  # for the turning rule
    right_products: FactorProducts

    @classmethod
    def of_shape(cls, rows: int, columns: int, rank: int, *, effects: bool) -> "LowRank":
        """Return the manifold of ``rows`` × ``columns`` matrices of this rank with unit masses and weights."""
        rest = rank + (1 + rows + columns if effects else 0)
        left, right = ScaledStiefel.of_shape(rows, rank), ScaledStiefel.of_shape(columns, rank)
        products = FactorProducts.of_shape(rows, rank), FactorProducts.of_shape(columns, rank)
        return cls(left, right, np.ones(rest), *products)

    @property
    def dimension(self) -> int:
        """Length of the flat vectors."""
        return self.left.dimension + self.right.dimension + self.masses.size

    @property
    def longest_step(self) -> float:
        """The lesser of both factors'."""
        return min(self.left.longest_step, self.right.longest_step)

    def set_weights(self, rows: Vector, columns: Vector) -> None:
        """Let the turning rule look at rows (m,) and columns (n,) in these proportions, not negative nor all zero."""
        self.left_products.weights[:] = rows / rows.mean()
        self.right_products.weights[:] = columns / columns.mean()

    def random_point(self, rng: Generator) -> Vector:
        """Return uniform factors and a standard normal rest."""
        rest = rng.standard_normal(self.masses.size)
        return np.concatenate([self.left.random_point(rng), self.right.random_point(rng), rest])

    @compiled
    def restore(self, position: Vector) -> None:
        """Restore both factors."""
        u, v = _ends(self)
        self.left.restore(position[:u])
        self.right.restore(position[u:v])

    @compiled
    def random_velocity(self, rng: Generator, position: Vector, velocity: Vector) -> None:
        """Fill ``velocity`` with normal numbers of variance 1/mass, tangent in the factors."""
        u, v = _ends(self)
        self.left.random_velocity(rng, position[:u], velocity[:u])
        self.right.random_velocity(rng, position[u:v], velocity[u:v])
        for k in range(self.masses.size):
            velocity[v + k] = rng.standard_normal() / np.sqrt(self.masses[k])

    @compiled
    def project(self, position: Vector, vector: Vector) -> None:
        """Project in both factors."""
        u, v = _ends(self)
        self.left.project(position[:u], vector[:u])
        self.right.project(position[u:v], vector[u:v])

    @compiled
    def accelerate(self, gradient: Vector) -> None:
        """Divide by the masses."""
        u, v = _ends(self)
        self.left.accelerate(gradient[:u])
        self.right.accelerate(gradient[u:v])
        for k in range(self.masses.size):
            gradient[v + k] /= self.masses[k]

    @compiled
    def move(self, position: Vector, velocity: Vector, time: float) -> None:
        """Move both factors, and the rest straight on."""
        u, v = _ends(self)
        self.left.move(position[:u], velocity[:u], time)
        self.right.move(position[u:v], velocity[u:v], time)
        for k in range(v, position.size):
            position[k] += time * velocity[k]

    @compiled
    def kinetic_energy(self, velocity: Vector) -> float:
        """Return the sum over the parts."""
        u, v = _ends(self)
        total = 0.0
        for k in range(self.masses.size):
            total += self.masses[k] * velocity[v + k] * velocity[v + k]
        return self.left.kinetic_energy(velocity[:u]) + self.right.kinetic_energy(velocity[u:v]) + 0.5 * total

    @compiled
    def has_turned(self, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> bool:
        """⟨X₁ − X₀, Ẋ⟩ ≤ 0 at either end, in the Frobenius product with weights (docs/math.md, §8.5).

        The products of the low-rank part with the effects are left out: any rule that is symmetric in the two ends
        is valid, and this one needs only the numbers at hand.
        """
        u, v = _ends(self)
        left, right, e = self.left_products, self.right_products, v + self.left.columns
        fill_products(left, first[:u], first_velocity[:u], last[:u], last_velocity[:u])
        fill_products(right, first[u:v], first_velocity[u:v], last[u:v], last_velocity[u:v])
        s, speed = (first[v:e], last[v:e]), (first_velocity[v:e], last_velocity[v:e])
        at_first, at_last = turning_of_low_rank(left, right, s, speed)
        if first.size > e:
            ends = first[e:], first_velocity[e:], last[e:], last_velocity[e:]
            more_at_first, more_at_last = turning_of_effects(left.weights, right.weights, *ends)
            at_first += more_at_first
            at_last += more_at_last
        return at_first <= 0.0 or at_last <= 0.0


@compiled
def _ends(manifold: LowRank) -> tuple[int, int]:
    """Return where U and V end in a flat vector."""
    u = manifold.left.rows * manifold.left.columns
    return u, u + manifold.right.rows * manifold.right.columns
