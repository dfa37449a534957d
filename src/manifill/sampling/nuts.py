"""The no-U-turn sampler (Hoffman and Gelman 2014) on a manifold, with multinomial sampling (Betancourt 2017).

The tree is built iteratively, not recursively.  Its leaves are visited in order, and the first leaves of the subtrees
that are still open are kept as checkpoints: leaf number k (from 0) opens as many subtrees as its binary form has
trailing zeros and closes as many as it has trailing ones, so a tree of depth d needs d checkpoints.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.jit import compiled, compiled_internal
from manifill.kernels.flat_vectors import copy_vector
from manifill.sampling.integrators import Integrator, Phase
from manifill.sampling.system import System

__all__ = ["DIVERGENCE", "Transition", "Workspace", "energy_change", "find_step_size", "transition"]

# Trajectories with a larger energy error count as divergent.
DIVERGENCE = 1000.0


class Workspace(NamedTuple):
    """Scratch for one trajectory; flat vectors have length ``dimension``."""

    positions: Matrix  # (2, dimension): the trajectory's first and last point
    velocities: Matrix
    gradients: Matrix
    checkpoint_positions: Matrix  # (max_depth, dimension)
    checkpoint_velocities: Matrix
    candidate: Vector  # a point chosen from the subtree being built

    @classmethod
    def allocate(cls, dimension: int, max_depth: int) -> "Workspace":
        pair, stack = (2, dimension), (max_depth, dimension)
        return cls(
            positions=np.empty(pair),
            velocities=np.empty(pair),
            gradients=np.empty(pair),
            checkpoint_positions=np.empty(stack),
            checkpoint_velocities=np.empty(stack),
            candidate=np.empty(dimension),
        )


class Transition(NamedTuple):
    """Diagnostics of one transition."""

    acceptance: float  # Metropolis acceptance: the mean over a tree, or that of a trajectory's end
    steps: int  # of the integrator
    depth: int
    diverged: bool


class Subtree(NamedTuple):
    """Summary of a subtree that is complete or was abandoned."""

    log_weight: float
    acceptance: float  # sum over the leaves
    steps: int
    turned: bool
    diverged: bool


@compiled_internal
def _log_add(a: float, b: float) -> float:
    if a == -np.inf:
        return b
    larger, smaller = (a, b) if a > b else (b, a)
    return float(larger + np.log1p(np.exp(smaller - larger)))


@compiled_internal
def _open_subtrees(leaf: int) -> int:
    """Return how many subtrees are open to the left of ``leaf``: the ones in its binary form without the last bit."""
    count = 0
    rest = leaf >> 1
    while rest > 0:
        count += rest & 1
        rest >>= 1
    return count


@compiled_internal
def _closes_a_turn(system: System, work: Workspace, phase: Phase, leaf: int, forward: bool) -> bool:
    """Return whether any of the subtrees that ``leaf`` closes has turned, smallest first."""
    checkpoint = _open_subtrees(leaf)
    rest = leaf
    while rest & 1:
        position, velocity = work.checkpoint_positions[checkpoint], work.checkpoint_velocities[checkpoint]
        if forward:
            turned = system.has_turned(position, velocity, phase.position, phase.velocity)
        else:
            turned = system.has_turned(phase.position, phase.velocity, position, velocity)
        if turned:
            return True
        checkpoint -= 1
        rest >>= 1
    return False


@compiled_internal
def _grow(
    rng: Generator,
    system: System,
    integrator: Integrator,
    work: Workspace,
    phase: Phase,
    step_size: float,
    start_energy: float,
    leaves: int,
) -> Subtree:
    """Advance ``phase`` by ``leaves`` steps, and sample one of the points as candidate in proportion to its weight."""
    log_weight, acceptance = -np.inf, 0.0
    for leaf in range(leaves):
        log_density = integrator.advance(system, phase, step_size)
        system.project(phase.position, phase.velocity)
        energy = system.kinetic_energy(phase.velocity) - log_density
        change = energy - start_energy
        if not change < DIVERGENCE:  # written so that NaN counts as divergent
            return Subtree(log_weight, acceptance, leaf + 1, False, True)
        acceptance += min(1.0, np.exp(-change))
        log_weight = _log_add(log_weight, -change)
        if np.log(rng.random()) < -change - log_weight:
            copy_vector(phase.position, work.candidate)
        if leaf & 1 == 0:
            checkpoint = _open_subtrees(leaf)
            copy_vector(phase.position, work.checkpoint_positions[checkpoint])
            copy_vector(phase.velocity, work.checkpoint_velocities[checkpoint])
        elif _closes_a_turn(system, work, phase, leaf, step_size > 0.0):
            return Subtree(log_weight, acceptance, leaf + 1, True, False)
    return Subtree(log_weight, acceptance, leaves, False, False)


@compiled
def transition(
    rng: Generator,
    system: System,
    integrator: Integrator,
    position: Vector,
    step_size: float,
    max_depth: int,
    work: Workspace,
) -> Transition:
    """Replace ``position`` by the next state of the chain.

    ``work`` must hold ``max_depth`` checkpoints.
    """
    system.check()
    system.restore(position)
    system.random_velocity(rng, position, work.velocities[0])
    log_density = system.evaluate(position, work.gradients[0])
    copy_vector(position, work.positions[0])
    for array in (work.positions, work.velocities, work.gradients):
        copy_vector(array[0], array[1])
    start_energy = system.kinetic_energy(work.velocities[0]) - log_density
    log_weight, acceptance, steps, depth, diverged = 0.0, 0.0, 0, 0, False
    while depth < max_depth:
        end = 1 if rng.random() < 0.5 else 0
        phase = Phase(work.positions[end], work.velocities[end], work.gradients[end])
        signed_step = step_size if end == 1 else -step_size
        subtree = _grow(rng, system, integrator, work, phase, signed_step, start_energy, 1 << depth)
        depth += 1
        acceptance += subtree.acceptance
        steps += subtree.steps
        diverged = subtree.diverged
        if subtree.diverged or subtree.turned:
            break
        # Biased progressive sampling prefers the new half to the old one, which moves the chain further.
        if np.log(rng.random()) < subtree.log_weight - log_weight:
            copy_vector(work.candidate, position)
        log_weight = _log_add(log_weight, subtree.log_weight)
        if system.has_turned(work.positions[0], work.velocities[0], work.positions[1], work.velocities[1]):
            break
    return Transition(acceptance / steps, steps, depth, diverged)


def find_step_size(
    rng: Generator,
    system: System,
    integrator: Integrator,
    position: Vector,
    first_guess: float,
    work: Workspace,
) -> float:
    """Double or halve ``first_guess`` until the acceptance of one step crosses 0.8 (Hoffman and Gelman, Alg. 4)."""
    step_size, direction, longest = first_guess, 0, system.manifold.longest_step
    phase = Phase(work.positions[0], work.velocities[0], work.gradients[0])
    for _ in range(100):
        phase.position[:] = position
        change = energy_change(rng, system, integrator, phase, step_size)
        wanted = 1 if change < -np.log(0.8) else -1  # NaN calls for a smaller step
        if wanted == -direction or not step_size < longest:
            break
        direction = wanted
        step_size *= 2.0**direction
    return float(min(step_size, longest))


@compiled
def energy_change(rng: Generator, system: System, integrator: Integrator, phase: Phase, step_size: float) -> float:
    """Return the energy error of one step from the position of ``phase`` with a random velocity."""
    system.check()
    system.random_velocity(rng, phase.position, phase.velocity)
    start_energy = -system.evaluate(phase.position, phase.gradient)
    start_energy += system.kinetic_energy(phase.velocity)
    log_density = integrator.advance(system, phase, step_size)
    system.project(phase.position, phase.velocity)
    return float(system.kinetic_energy(phase.velocity) - log_density - start_energy)
