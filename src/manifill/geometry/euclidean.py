"""Euclidean space."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import compiled
from manifill.kernels.flat_vectors import add_scaled, fill_standard_normal, half_square, has_turned_in_space

__all__ = ["Euclidean"]


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
