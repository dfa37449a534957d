"""One step of geodesic leapfrog on any manifold, for any target."""

from typing import NamedTuple, Protocol

from manifill.compiled import compiled, compiled_method
from manifill.geometry import Manifold
from manifill.geometry.euclidean import add_scaled
from manifill.types import Vector

__all__ = ["Phase", "Target", "evaluate", "leapfrog"]


class Target(Protocol):
    """A named tuple of data with one compiled method: the log density to sample from, and its gradient in space."""

    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        """Write the gradient of the log density at ``position`` and return the log density, up to a constant."""


compiled_method("log_density_gradient")


class Phase(NamedTuple):
    """A point of a trajectory: three flat vectors that a step changes in place."""

    position: Vector
    velocity: Vector
    gradient: Vector  # of the log density at ``position``, projected to the tangent space


@compiled
def evaluate(manifold: Manifold, target: Target, position: Vector, gradient: Vector) -> float:
    """Return the log density at ``position`` and write its tangent gradient."""
    log_density = target.log_density_gradient(position, gradient)
    manifold.project(position, gradient)
    return log_density


@compiled
def leapfrog(manifold: Manifold, target: Target, phase: Phase, step_size: float) -> float:
    """Half a kick, a geodesic, half a kick; return the log density at the new position (docs/math.md, eq. 9).

    Kicks are along the projected gradient, which keeps a tangent velocity tangent, so the gradient is projected once
    for the kick that ends this step and the one that begins the next.
    """
    add_scaled(phase.velocity, 0.5 * step_size, phase.gradient)
    manifold.move(phase.position, phase.velocity, step_size)
    log_density = evaluate(manifold, target, phase.position, phase.gradient)
    add_scaled(phase.velocity, 0.5 * step_size, phase.gradient)
    return log_density
