"""What a sampler asks of the space it moves in."""

from typing import Protocol

from manifill.compiled import compiled_method
from manifill.types import Generator, Vector

__all__ = ["Manifold"]


class Manifold(Protocol):
    """A named tuple of sizes and scratch space with compiled methods.

    Points and velocities are flat vectors of ``dimension`` numbers, whatever shape the manifold gives them, so that
    a sampler can copy them and add them up without knowing more.  Methods write in place.
    """

    @property
    def dimension(self) -> int:
        """Length of the flat vectors."""

    @property
    def longest_step(self) -> float:
        """A step size beyond which nothing is gained, however flat the target."""

    def random_point(self, rng: Generator) -> Vector:
        """Return a point from the uniform distribution, or from a standard one where there is no uniform."""

    def restore(self, position: Vector) -> None:
        """Undo the rounding errors that have carried ``position`` off the manifold."""

    def random_velocity(self, rng: Generator, position: Vector, velocity: Vector) -> None:
        """Fill ``velocity`` with a tangent vector at ``position`` of density ∝ exp(−kinetic energy)."""

    def project(self, position: Vector, vector: Vector) -> None:
        """Project ``vector`` to the tangent space at ``position``, orthogonally in the manifold's metric."""

    def accelerate(self, gradient: Vector) -> None:
        """Divide a gradient in space by the masses: its tangent part is then the gradient on the manifold."""

    def move(self, position: Vector, velocity: Vector, time: float) -> None:
        """Follow the geodesic, or a reversible step along it, for ``time``; both vectors change.

        Only the tangent part of a velocity counts, before and after, so a sampler may add kicks without projecting
        them, and project where it asks for an energy.
        """

    def kinetic_energy(self, velocity: Vector) -> float:
        """Return ½‖velocity‖² of a tangent vector in the manifold's metric."""

    def has_turned(self, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> bool:
        """Say whether going on at either end would bring the ends closer together."""


for _name in ("restore", "random_velocity", "project", "accelerate", "move", "kinetic_energy", "has_turned"):
    compiled_method(_name)
