"""Hamiltonian Monte Carlo with given numbers of steps (Duane et al. 1987), for use after warm-up."""

import numpy as np

from manifill.base.arrays import Generator, IntVector, Vector
from manifill.base.jit import compiled
from manifill.sampling.integrators import Integrator, Phase
from manifill.sampling.nuts import DIVERGENCE, Transition, Workspace
from manifill.sampling.system import System

__all__ = ["trajectories"]


@compiled
def trajectories(
    rng: Generator,
    system: System,
    integrator: Integrator,
    position: Vector,
    step_size: float,
    steps: IntVector,
    work: Workspace,
) -> Transition:
    """Follow trajectories of ``steps[0]``, ``steps[1]``, … steps from ``position``, each with its own Metropolis test.

    The acceptance reported is that of the first.  Gradient and log density are reused from one to the next.
    """
    system.check()
    system.restore(position)
    phase = Phase(work.positions[0], work.velocities[0], work.gradients[0])
    gradient = work.gradients[1]  # at ``position``
    log_density = system.evaluate(position, gradient)
    acceptance, total, diverged = 0.0, 0, False
    for k in range(steps.size):
        phase.position[:] = position
        phase.gradient[:] = gradient
        system.random_velocity(rng, phase.position, phase.velocity)
        start_energy = system.kinetic_energy(phase.velocity) - log_density
        end_density, taken = log_density, 0
        while taken < steps[k] and not np.isnan(end_density):
            end_density = integrator.advance(system, phase, step_size)
            taken += 1
        system.project(phase.position, phase.velocity)
        change = system.kinetic_energy(phase.velocity) - end_density - start_energy
        total += taken
        if not change < DIVERGENCE:  # written so that NaN counts as divergent
            diverged = True
            continue
        if k == 0:
            acceptance = min(1.0, np.exp(-change))
        if np.log(rng.random()) < -change:
            position[:] = phase.position
            gradient[:] = phase.gradient
            log_density = end_density
    return Transition(acceptance, total, 0, diverged)
