"""Matrices of rank r as U diag(s) Vᵀ: the product manifold St(m, r) × St(n, r) × Euclidean space.

A point is the flat vector of a :class:`manifill.unknowns.Layout`; it represents the matrix X = U diag(s) Vᵀ plus
effects.  Entries of s may be negative.  The U-turn rule is in X: rotating two columns of U and of V whose singular
values are nearly equal hardly changes X, but a rule in the factors would follow such rotations.  The rule weights rows
and columns: if most cells lie in few rows or columns, the others move slowly, and would keep trajectories going long
after the densely observed part of the matrix has been renewed.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import compiled
from manifill.geometry.scaled_stiefel import ScaledStiefel
from manifill.geometry.u_turn import components, turning
from manifill.kernels.flat_vectors import add_scaled, divide_by_roots, divide_entries, weighted_half_square
from manifill.kernels.row_random import draw_key, fill_normal_entries
from manifill.unknowns import Layout, view

__all__ = ["LowRank", "Masses"]


class Masses(NamedTuple):
    """The diagonal of the mass matrix: one mass per column of U and V, and per entry of the Euclidean part."""

    left: Vector  # (r,), of U
    right: Vector  # (r,), of V
    rest: Vector  # of s, and of effects and coordinates if there are any

    @classmethod
    def unit(cls, layout: Layout) -> "Masses":
        """Return masses of one."""
        return cls(np.ones(layout.rank), np.ones(layout.rank), np.ones(layout.rest_size))


class LowRank(NamedTuple):
    """The product manifold with its masses, and the weights of rows and columns in its U-turn rule."""

    layout: Layout
    left: ScaledStiefel  # of U
    right: ScaledStiefel  # of V
    masses: Vector  # of the Euclidean part
    row_weights: Vector  # (m,), of mean one
    column_weights: Vector  # (n,)

    @classmethod
    def with_masses(cls, layout: Layout, masses: Masses, rows: Vector, columns: Vector) -> "LowRank":
        """Return the manifold; weights of rows (m,) and columns (n,) are proportions, not negative nor all zero."""
        return cls(
            layout,
            ScaledStiefel.with_masses(layout.rows, masses.left),
            ScaledStiefel.with_masses(layout.columns, masses.right),
            masses.rest,
            rows / rows.mean(),
            columns / columns.mean(),
        )

    def replace_masses(self, masses: Masses) -> "LowRank":
        """Return the manifold with other masses."""
        return self._replace(
            left=ScaledStiefel.with_masses(self.layout.rows, masses.left),
            right=ScaledStiefel.with_masses(self.layout.columns, masses.right),
            masses=masses.rest,
        )

    @property
    def dimension(self) -> int:
        """Length of the flat vectors."""
        return self.layout.size

    @property
    def longest_step(self) -> float:
        """The smaller one of the two factors."""
        return min(self.left.longest_step, self.right.longest_step)

    def random_point(self, rng: Generator) -> Vector:
        """Return uniform factors and a standard normal rest."""
        rest = rng.standard_normal(self.masses.size)
        return np.concatenate([self.left.random_point(rng), self.right.random_point(rng), rest])

    @compiled
    def restore(self, position: Vector) -> None:
        """Restore both factors."""
        at = view(self.layout, position)
        self.left.restore(at.U.reshape(-1))
        self.right.restore(at.V.reshape(-1))

    @compiled
    def random_velocity(self, rng: Generator, position: Vector, velocity: Vector) -> None:
        """Fill ``velocity`` with normal numbers of variance 1/mass, tangent in the factors."""
        at, out = view(self.layout, position), view(self.layout, velocity)
        self.left.random_velocity(rng, at.U.reshape(-1), out.U.reshape(-1))
        self.right.random_velocity(rng, at.V.reshape(-1), out.V.reshape(-1))
        fill_normal_entries(draw_key(rng), out.rest)
        divide_by_roots(out.rest, self.masses)

    @compiled
    def project(self, position: Vector, vector: Vector) -> None:
        """Project in both factors."""
        at, out = view(self.layout, position), view(self.layout, vector)
        self.left.project(at.U.reshape(-1), out.U.reshape(-1))
        self.right.project(at.V.reshape(-1), out.V.reshape(-1))

    @compiled
    def accelerate(self, gradient: Vector) -> None:
        """Divide by the masses."""
        out = view(self.layout, gradient)
        self.left.accelerate(out.U.reshape(-1))
        self.right.accelerate(out.V.reshape(-1))
        divide_entries(out.rest, self.masses)

    @compiled
    def move(self, position: Vector, velocity: Vector, time: float) -> bool:
        """Move both factors, and the Euclidean part along a straight line."""
        at, by = view(self.layout, position), view(self.layout, velocity)
        if not self.left.move(at.U.reshape(-1), by.U.reshape(-1), time):
            return False
        if not self.right.move(at.V.reshape(-1), by.V.reshape(-1), time):
            return False
        add_scaled(at.rest, time, by.rest)
        return True

    @compiled
    def kinetic_energy(self, velocity: Vector) -> float:
        """Return the sum over the factors and the rest."""
        by = view(self.layout, velocity)
        factors = self.left.kinetic_energy(by.U.reshape(-1)) + self.right.kinetic_energy(by.V.reshape(-1))
        return factors + weighted_half_square(by.rest, self.masses)

    @compiled
    def has_turned(self, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> bool:
        """⟨X₁ − X₀, Ẋ⟩ ≤ 0 at either end, in the Frobenius product with weights (docs/math.md, §8.5).

        X includes the effects, as two more components whose singular values are one.
        """
        at_first, at_last = turning(
            self.row_weights,
            self.column_weights,
            components(self.layout, view(self.layout, first), 1.0),
            components(self.layout, view(self.layout, first_velocity), 0.0),
            components(self.layout, view(self.layout, last), 1.0),
            components(self.layout, view(self.layout, last_velocity), 0.0),
        )
        return at_first <= 0.0 or at_last <= 0.0
