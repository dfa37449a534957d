"""One step of a geometric integrator on any manifold, for any target."""

from typing import NamedTuple, Protocol

from manifill.compiled import compiled, compiled_method
from manifill.geometry import Manifold
from manifill.geometry.euclidean import add_scaled
from manifill.types import Vector

__all__ = ["Integrator", "Leapfrog", "Phase", "Target", "TwoStage", "evaluate"]


class Target(Protocol):
    """A named tuple of data with one compiled method: the log density to sample from, and its gradient in space."""

    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        """Write the gradient of the log density at ``position`` and return the log density, up to a constant."""


compiled_method("log_density_gradient")


class Phase(NamedTuple):
    """A point of a trajectory: three flat vectors that a step changes in place."""

    position: Vector
    velocity: Vector
    gradient: Vector  # of the log density at ``position``, in the manifold's metric


class Integrator(Protocol):
    """A named tuple with one compiled method."""

    @property
    def gradients(self) -> int:
        """Gradients that a step evaluates."""

    def advance(self, manifold: Manifold, target: Target, phase: Phase, step_size: float) -> float:
        """Carry ``phase`` on by ``step_size`` and return the log density at the new position.

        Only the tangent part of the velocity that it leaves counts.
        """


compiled_method("advance")


@compiled
def evaluate(manifold: Manifold, target: Target, position: Vector, gradient: Vector) -> float:
    """Return the log density at ``position`` and write its gradient in the manifold's metric."""
    log_density = target.log_density_gradient(position, gradient)
    manifold.accelerate(gradient)
    return log_density


class Leapfrog(NamedTuple):
    """Half a kick, a geodesic, half a kick (docs/math.md, eq. 9)."""

    gradients: int = 1

    @compiled
    def advance(self, manifold: Manifold, target: Target, phase: Phase, step_size: float) -> float:
        add_scaled(phase.velocity, 0.5 * step_size, phase.gradient)
        manifold.move(phase.position, phase.velocity, step_size)
        log_density = evaluate(manifold, target, phase.position, phase.gradient)
        add_scaled(phase.velocity, 0.5 * step_size, phase.gradient)
        return log_density


# Makes the error of third order, which every step commits, as small as two stages can (McLachlan 1995).
OUTER_KICK = 0.1931833275037836


class TwoStage(NamedTuple):
    """Kick, half a geodesic, kick, half a geodesic, kick (docs/math.md, §8.10).

    It takes two gradients a step, and steps more than twice as long as leapfrog's for the same acceptance.
    """

    gradients: int = 2
    outer_kick: float = OUTER_KICK

    @compiled
    def advance(self, manifold: Manifold, target: Target, phase: Phase, step_size: float) -> float:
        add_scaled(phase.velocity, self.outer_kick * step_size, phase.gradient)
        manifold.move(phase.position, phase.velocity, 0.5 * step_size)
        evaluate(manifold, target, phase.position, phase.gradient)
        add_scaled(phase.velocity, (1.0 - 2.0 * self.outer_kick) * step_size, phase.gradient)
        manifold.move(phase.position, phase.velocity, 0.5 * step_size)
        log_density = evaluate(manifold, target, phase.position, phase.gradient)
        add_scaled(phase.velocity, self.outer_kick * step_size, phase.gradient)
        return log_density
