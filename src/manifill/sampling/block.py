"""One block of unknowns on a manifold, moved by trees or by trajectories while the others stay."""

from typing import NamedTuple

from manifill.geometry import Manifold
from manifill.sampling.adaptation import DualAveraging
from manifill.sampling.hmc import trajectories
from manifill.sampling.integrators import Integrator, Target
from manifill.sampling.nuts import Transition, Workspace, find_step_size, transition
from manifill.types import Array, Generator, IntVector

__all__ = ["Block"]


class Block(NamedTuple):
    """A manifold with room for its trajectories."""

    manifold: Manifold
    integrator: Integrator
    max_depth: int
    work: Workspace

    @classmethod
    def on(cls, manifold: Manifold, integrator: Integrator, max_depth: int) -> "Block":
        """Return a block on ``manifold`` whose trajectories have at most 2^max_depth − 1 steps."""
        return cls(manifold, integrator, max_depth, Workspace.allocate(manifold.dimension, max_depth))

    def first_tuning(self, rng: Generator, target: Target, point: Array) -> DualAveraging:
        """Return a tuning that starts from a step size found at ``point``."""
        longest, where = self.manifold.longest_step, point.ravel()
        guess = 0.1 * min(longest, 1.0)
        step_size = find_step_size(rng, self.manifold, target, self.integrator, where, guess, self.work)
        return DualAveraging.start(step_size, longest)

    def step(
        self, rng: Generator, target: Target, point: Array, step_size: float, max_depth: int | None = None
    ) -> tuple[Array, Transition]:
        """Return the next point, in the shape of ``point``, which is kept; ``max_depth`` may lower the block's."""
        position = point.ravel().copy()
        depth = self.max_depth if max_depth is None else min(max_depth, self.max_depth)
        info = transition(rng, self.manifold, target, self.integrator, position, step_size, depth, self.work)
        return position.reshape(point.shape), Transition(*info)

    def follow(
        self, rng: Generator, target: Target, point: Array, step_size: float, steps: IntVector
    ) -> tuple[Array, Transition]:
        """Return the next point after trajectories of so many steps, one after the other."""
        position = point.ravel().copy()
        info = trajectories(rng, self.manifold, target, self.integrator, position, step_size, steps, self.work)
        return position.reshape(point.shape), Transition(*info)
