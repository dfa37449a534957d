"""One step of a geometric integrator on any manifold, for any target."""

from typing import NamedTuple, Protocol

import numpy as np

from manifill.base.arrays import Vector
from manifill.base.jit import compiled, compiled_method
from manifill.kernels.flat_vectors import add_scaled
from manifill.sampling.system import System

__all__ = ["Integrator", "Leapfrog", "Phase", "TwoStage"]


class Phase(NamedTuple):
    """A point of a trajectory: three flat vectors that a step changes in place."""

    position: Vector
    velocity: Vector
    gradient: Vector  # of the log density at ``position``, in the manifold's metric


class Integrator(Protocol):
    """A named tuple with one compiled method."""

    @property
    def gradients(self) -> int:
        """Number of gradient evaluations per step."""

    def advance(self, system: System, phase: Phase, step_size: float) -> float:
        """Advance ``phase`` by ``step_size`` and return the log density there, NaN if the step could not be taken.

        Only the tangent component of the resulting velocity is meaningful.
        """


compiled_method("advance")


class Leapfrog(NamedTuple):
    """Half a kick, a geodesic, half a kick (docs/math.md, eq. 9)."""

    gradients: int = 1

    @compiled
    def advance(self, system: System, phase: Phase, step_size: float) -> float:
        add_scaled(phase.velocity, 0.5 * step_size, phase.gradient)
        if not system.move(phase.position, phase.velocity, step_size):
            return np.nan
        log_density = system.evaluate(phase.position, phase.gradient)
        add_scaled(phase.velocity, 0.5 * step_size, phase.gradient)
        return log_density


# Minimises the third-order error of a step with two stages (McLachlan 1995).
OUTER_KICK = 0.1931833275037836


class TwoStage(NamedTuple):
    """Kick, half a geodesic, kick, half a geodesic, kick (docs/math.md, §8.10).

    It evaluates two gradients per step, and at equal acceptance its steps are more than twice as long as leapfrog's.
    """

    gradients: int = 2
    outer_kick: float = OUTER_KICK

    @compiled
    def advance(self, system: System, phase: Phase, step_size: float) -> float:
        add_scaled(phase.velocity, self.outer_kick * step_size, phase.gradient)
        if not system.move(phase.position, phase.velocity, 0.5 * step_size):
            return np.nan
        system.evaluate(phase.position, phase.gradient)
        add_scaled(phase.velocity, (1.0 - 2.0 * self.outer_kick) * step_size, phase.gradient)
        if not system.move(phase.position, phase.velocity, 0.5 * step_size):
            return np.nan
        log_density = system.evaluate(phase.position, phase.gradient)
        add_scaled(phase.velocity, self.outer_kick * step_size, phase.gradient)
        return log_density
