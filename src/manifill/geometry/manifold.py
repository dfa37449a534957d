"""The interface of manifolds that samplers move on."""

from typing import Protocol

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import compiled_method

__all__ = ["Manifold"]


class Manifold(Protocol):
    """A named tuple of sizes and masses with compiled methods; it holds no scratch, and no method changes it.

    Points and velocities are flat vectors of length ``dimension``, so that a sampler can copy and add them without
    knowing the shape of the manifold's matrices.  Methods write in place.
    """

    @property
    def dimension(self) -> int:
        """Length of the flat vectors."""

    @property
    def longest_step(self) -> float:
        """The largest useful step size, however flat the target is."""

    def random_point(self, rng: Generator) -> Vector:
        """Return a point from the uniform distribution, or from a standard one if there is no uniform."""

    def restore(self, position: Vector) -> None:
        """Project ``position`` back to the manifold, to remove accumulated rounding errors."""

    def random_velocity(self, rng: Generator, position: Vector, velocity: Vector) -> None:
        """Fill ``velocity`` with a tangent vector at ``position`` of density ∝ exp(−kinetic energy)."""

    def project(self, position: Vector, vector: Vector) -> None:
        """Project ``vector`` to the tangent space at ``position``, orthogonally in the manifold's metric."""

    def accelerate(self, gradient: Vector) -> None:
        """Divide a Euclidean gradient by the masses; the tangent component is then the gradient on the manifold."""

    def move(self, position: Vector, velocity: Vector, time: float) -> bool:
        """Follow the geodesic, or a reversible step along it, for ``time``; both vectors change.

        Return False if the step failed; the contents of the vectors are then undefined.

        Only the tangent component of a velocity matters, before and after, so a sampler may add kicks without
        projecting them, and project when it needs an energy.
        """

    def kinetic_energy(self, velocity: Vector) -> float:
        """Return ½‖velocity‖² of a tangent vector in the manifold's metric."""

    def has_turned(self, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> bool:
        """Return whether extending the trajectory, at either end, would bring its ends closer together."""


for _name in ("restore", "random_velocity", "project", "accelerate", "move", "kinetic_energy", "has_turned"):
    compiled_method(_name)
