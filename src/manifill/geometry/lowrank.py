"""Matrices of rank r in their singular form, St(m, r) × St(n, r) × Rʳ, with row and column effects beside them.

A point is flat: U, V, s, and, where there are effects, μ, a (m) and b (n); it stands for the matrix
X = U diag(s) Vᵀ + (μ + a_i + b_j).  Numbers in s may be negative.  A trajectory turns when X does.  Rotating two
columns of U and of V whose singular values are nearly equal hardly changes X, and a turning rule in the factors would
follow such rotations for long.
"""

from typing import NamedTuple

import numpy as np

from manifill.compiled import compiled
from manifill.geometry.scaled import ScaledStiefel
from manifill.geometry.tall import gram
from manifill.types import Generator, Matrix, Vector

__all__ = ["LowRank"]


class LowRank(NamedTuple):
    """The product manifold, with a mass for each column of U and V and for every number of the rest."""

    left: ScaledStiefel  # of U
    right: ScaledStiefel  # of V
    masses: Vector  # of s, and of μ, a, b where there are effects
    small: Matrix  # scratch, (6, r, r)

    @classmethod
    def of_shape(cls, rows: int, columns: int, rank: int, *, effects: bool) -> "LowRank":
        """Return the manifold of ``rows`` × ``columns`` matrices of this rank with unit masses."""
        rest = rank + (1 + rows + columns if effects else 0)
        left, right = ScaledStiefel.of_shape(rows, rank), ScaledStiefel.of_shape(columns, rank)
        return cls(left, right, np.ones(rest), np.empty((6, rank, rank)))

    @property
    def dimension(self) -> int:
        """Length of the flat vectors."""
        return self.left.dimension + self.right.dimension + self.masses.size

    @property
    def longest_step(self) -> float:
        """The lesser of both factors'."""
        return min(self.left.longest_step, self.right.longest_step)

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
        """⟨X₁ − X₀, Ẋ⟩ ≤ 0 at either end, in the Frobenius product (docs/math.md, §8).

        The products of the low-rank part with the effects are left out: any rule that is symmetric in the two ends
        is valid, and this one needs only the numbers at hand.
        """
        at_first, at_last = _turning_of_factors(self, first, first_velocity, last, last_velocity)
        if self.masses.size > self.left.columns:
            _, v = _ends(self)
            e = v + self.left.columns
            m = self.left.rows
            at_first += _turning_of_effects(m, first[e:], first_velocity[e:], last[e:])
            at_last += _turning_of_effects(m, first[e:], last_velocity[e:], last[e:])
        return at_first <= 0.0 or at_last <= 0.0


@compiled
def _ends(manifold: LowRank) -> tuple[int, int]:
    """Return where U and V end in a flat vector."""
    u = manifold.left.rows * manifold.left.columns
    return u, u + manifold.right.rows * manifold.right.columns


@compiled
def _turning_of_factors(
    manifold: LowRank, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector
) -> tuple[float, float]:
    """Return ⟨X₁ − X₀, Ẋ₀⟩ and ⟨X₁ − X₀, Ẋ₁⟩ for X = U diag(s) Vᵀ.

    ⟨X, Ẋ⟩ = Σ sṡ at one point, since UᵀU̇ and VᵀV̇ have zeros on their diagonals; between two points it is a sum over
    the entries of r×r products such as U₀ᵀU̇₁ ∘ V₀ᵀV₁.
    """
    u, v = _ends(manifold)
    m, n, r = manifold.left.rows, manifold.right.rows, manifold.left.columns
    U0, U1 = first[:u].reshape(m, r), last[:u].reshape(m, r)
    V0, V1 = first[u:v].reshape(n, r), last[u:v].reshape(n, r)
    small = manifold.small
    UU, VV, UdU, VdV, dUU, dVV = small[0], small[1], small[2], small[3], small[4], small[5]
    gram(U0, U1, UU)
    gram(V0, V1, VV)
    gram(U0, last_velocity[:u].reshape(m, r), UdU)
    gram(V0, last_velocity[u:v].reshape(n, r), VdV)
    gram(first_velocity[:u].reshape(m, r), U1, dUU)
    gram(first_velocity[u:v].reshape(n, r), V1, dVV)
    s0, s1, ds0, ds1 = first[v : v + r], last[v : v + r], first_velocity[v : v + r], last_velocity[v : v + r]
    at_first, at_last = 0.0, 0.0
    for a in range(r):
        at_last += s1[a] * ds1[a]
        at_first -= s0[a] * ds0[a]
        for b in range(r):
            product = UU[a, b] * VV[a, b]
            change = UdU[a, b] * VV[a, b] + UU[a, b] * VdV[a, b]
            at_last -= s0[a] * (s1[b] * change + ds1[b] * product)
            change = dUU[a, b] * VV[a, b] + UU[a, b] * dVV[a, b]
            at_first += s1[b] * (s0[a] * change + ds0[a] * product)
    return at_first, at_last


@compiled
def _turning_of_effects(m: int, first: Vector, velocity: Vector, last: Vector) -> float:
    """Return ⟨E₁ − E₀, Ė⟩ for E_ij = μ + a_i + b_j, from the m row levels μ + a_i and the n numbers b_j."""
    n = first.size - 1 - m
    rows, row_change, row_speed = 0.0, 0.0, 0.0
    for i in range(1, m + 1):
        change, speed = last[i] + last[0] - first[i] - first[0], velocity[i] + velocity[0]
        rows += change * speed
        row_change += change
        row_speed += speed
    columns, column_change, column_speed = 0.0, 0.0, 0.0
    for j in range(m + 1, first.size):
        change, speed = last[j] - first[j], velocity[j]
        columns += change * speed
        column_change += change
        column_speed += speed
    return n * rows + m * columns + row_change * column_speed + column_change * row_speed
