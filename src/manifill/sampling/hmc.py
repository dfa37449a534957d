"""Hamiltonian Monte Carlo with given numbers of steps (Duane et al. 1987), for a chain that has learned them."""

import numpy as np

from manifill.compiled import compiled
from manifill.geometry import Manifold
from manifill.sampling.integrators import Integrator, Phase, Target, evaluate
from manifill.sampling.nuts import DIVERGENCE, Transition, Workspace
from manifill.types import Generator, IntVector, Vector

__all__ = ["trajectories"]


@compiled
def trajectories(
    rng: Generator,
    manifold: Manifold,
    target: Target,
    integrator: Integrator,
    position: Vector,
    step_size: float,
    steps: IntVector,
    work: Workspace,
) -> Transition:
    """Follow trajectories of ``steps[0]``, ``steps[1]``, … steps, each accepted at its end or not, from ``position``.

    The acceptance reported is that of the first.  Gradient and log density go on from one to the next.
    """
    manifold.restore(position)
    phase = Phase(work.positions[0], work.velocities[0], work.gradients[0])
    gradient = work.gradients[1]  # at ``position``
    log_density = evaluate(manifold, target, position, gradient)
    acceptance, total, diverged = 0.0, 0, False
    for k in range(steps.size):
        phase.position[:] = position
        phase.gradient[:] = gradient
        manifold.random_velocity(rng, phase.position, phase.velocity)
        start_energy = manifold.kinetic_energy(phase.velocity) - log_density
        end_density, taken = log_density, 0
        while taken < steps[k] and not np.isnan(end_density):
            end_density = integrator.advance(manifold, target, phase, step_size)
            taken += 1
        manifold.project(phase.position, phase.velocity)
        change = manifold.kinetic_energy(phase.velocity) - end_density - start_energy
        total += taken
        if not change < DIVERGENCE:  # so written that a NaN diverges too
            diverged = True
            continue
        if k == 0:
            acceptance = min(1.0, np.exp(-change))
        if np.log(rng.random()) < -change:
            position[:] = phase.position
            gradient[:] = phase.gradient
            log_density = end_density
    return Transition(acceptance, total, 0, diverged)
