"""One block of unknowns on a manifold, updated by NUTS or by HMC while the other blocks are fixed."""

from typing import Any

import numpy as np

from manifill.base.arrays import Array, Generator, IntVector
from manifill.geometry import Manifold
from manifill.sampling.dual_averaging import DualAveraging
from manifill.sampling.hmc import trajectories
from manifill.sampling.integrators import Integrator
from manifill.sampling.nuts import Transition, Workspace, find_step_size, transition
from manifill.sampling.system import System, Target

__all__ = ["Block"]


class Block:
    """An integrator with a workspace for trajectories of at most 2^max_depth − 1 steps."""

    def __init__(self, dimension: int, integrator: Integrator, max_depth: int, has_turned: Any = None) -> None:
        self.integrator = integrator
        self.max_depth = max_depth
        self._has_turned = has_turned
        self.work = Workspace.allocate(dimension, max_depth)
        self._system: System | None = None

    @property
    def most_steps(self) -> int:
        """The number of steps of the longest trajectory."""
        return int(2**self.max_depth - 1)

    def init(self, rng: Generator, manifold: Manifold, target: Target, point: Array) -> DualAveraging:
        """Return the step size adaptation, started from a step size found at ``point``."""
        longest, where = manifold.longest_step, np.array(point.ravel())
        guess = 0.1 * min(longest, 1.0)
        step_size = find_step_size(rng, self._of(manifold, target), self.integrator, where, guess, self.work)
        return DualAveraging.init(step_size, longest)

    def step(
        self,
        rng: Generator,
        manifold: Manifold,
        target: Target,
        point: Array,
        step_size: float,
        max_depth: int | None = None,
    ) -> tuple[Array, Transition]:
        """Return the next point, shaped like ``point``, which is not modified; ``max_depth`` can lower the block's."""
        position = point.ravel().copy()
        depth = self.max_depth if max_depth is None else min(max_depth, self.max_depth)
        system = self._of(manifold, target)
        info = transition(rng, system, self.integrator, position, step_size, depth, self.work)
        return position.reshape(point.shape), Transition(*info)

    def follow(
        self, rng: Generator, manifold: Manifold, target: Target, point: Array, step_size: float, steps: IntVector
    ) -> tuple[Array, Transition]:
        """Return the next point after consecutive trajectories of ``steps[0]``, ``steps[1]``, … steps."""
        position = point.ravel().copy()
        system = self._of(manifold, target)
        info = trajectories(rng, system, self.integrator, position, step_size, steps, self.work)
        return position.reshape(point.shape), Transition(*info)

    def _of(self, manifold: Manifold, target: Target) -> System:
        """Return the system; its functions are compiled once, since the types of manifold and target do not change."""
        if self._system is None:
            self._system = System.of(manifold, target, self._has_turned)
        return self._system._replace(manifold=manifold, target=target)
