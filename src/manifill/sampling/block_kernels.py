"""What is compiled to move a block on a manifold."""

import numpy as np

from manifill.base.arrays import Generator
from manifill.geometry import Manifold
from manifill.sampling.block import Block
from manifill.sampling.integrators import Phase
from manifill.sampling.nuts import energy_change, transition
from manifill.sampling.sampler import Kernel
from manifill.sampling.system import System, Target

__all__ = ["block_kernels", "manifold_kernels"]


def block_kernels(rng: Generator, block: Block, manifold: Manifold, target: Target) -> tuple[Kernel, ...]:
    """Return trajectories of the block, and its target; of the target only the type matters."""
    v, system = np.empty(0), System.without_addresses(manifold, target)
    return (
        Kernel(transition, (rng, system, block.integrator, v, 1.0, 1, block.work)),
        Kernel(energy_change, (rng, system, block.integrator, Phase(v, v, v), 1.0)),
        Kernel(type(target).log_density_gradient, (target, v, v)),
    )


def manifold_kernels(rng: Generator, manifold: Manifold) -> tuple[Kernel, ...]:
    """Return the functions of a manifold that trajectories call."""
    on, v = type(manifold), np.empty(0)
    return (
        Kernel(on.has_turned, (manifold, v, v, v, v)),
        Kernel(on.move, (manifold, v, v, 1.0)),
        Kernel(on.random_velocity, (manifold, rng, v, v)),
        Kernel(on.project, (manifold, v, v)),
        Kernel(on.restore, (manifold, v)),
        Kernel(on.accelerate, (manifold, v)),
        Kernel(on.kinetic_energy, (manifold, v)),
    )
