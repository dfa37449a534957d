"""Euclidean space, and operations on flat vectors that embedded manifolds share."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import compiled

__all__ = ["Euclidean", "add_scaled", "fill_standard_normal", "half_square", "has_turned_in_space"]


@compiled
def add_scaled(vector: Vector, factor: float, direction: Vector) -> None:
    """Add factor · direction to ``vector`` in place."""
    for k in range(vector.size):
        vector[k] += factor * direction[k]


@compiled
def fill_standard_normal(rng: Generator, vector: Vector) -> None:
    """Fill ``vector`` with independent standard normal numbers."""
    for k in range(vector.size):
        vector[k] = rng.standard_normal()


@compiled
def half_square(vector: Vector) -> float:
    """Return ½‖vector‖²."""
    total = 0.0
    for k in range(vector.size):
        total += vector[k] * vector[k]
    return 0.5 * total


@compiled
def has_turned_in_space(first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> bool:
    """Hoffman and Gelman's rule in the embedding space: ⟨last − first, velocity⟩ ≤ 0 at either end."""
    at_first = 0.0
    at_last = 0.0
    for k in range(first.size):
        difference = last[k] - first[k]
        at_first += difference * first_velocity[k]
        at_last += difference * last_velocity[k]
    return at_first <= 0.0 or at_last <= 0.0


class Euclidean(NamedTuple):
    """The space of ``dimension`` real numbers."""

    dimension: int

    @property
    def longest_step(self) -> float:
        """Euclidean space imposes no limit; this one only prevents overflow if the target is flat."""
        return 1e6

    def random_point(self, rng: Generator) -> Vector:
        """Return a standard normal point, since Euclidean space has no uniform distribution."""
        return np.asarray(rng.standard_normal(self.dimension))

    @compiled
    def restore(self, position: Vector) -> None:
        """Do nothing: every vector is a point."""

    @compiled
    def random_velocity(self, rng: Generator, position: Vector, velocity: Vector) -> None:
        """Fill ``velocity`` with standard normal numbers."""
        fill_standard_normal(rng, velocity)

    @compiled
    def project(self, position: Vector, vector: Vector) -> None:
        """Do nothing: every vector is tangent."""

    @compiled
    def accelerate(self, gradient: Vector) -> None:
        """Do nothing: the masses are one."""

    @compiled
    def move(self, position: Vector, velocity: Vector, time: float) -> bool:
        """Move along a straight line."""
        add_scaled(position, time, velocity)
        return True

    @compiled
    def kinetic_energy(self, velocity: Vector) -> float:
        """Return ½‖velocity‖²."""
        return half_square(velocity)

    @compiled
    def has_turned(self, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> bool:
        """Hoffman and Gelman's rule."""
        return has_turned_in_space(first, first_velocity, last, last_velocity)
