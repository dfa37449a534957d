"""Integrators: reversible, second order, volume preserving, and on the manifold for as long as they run."""

import numpy as np
import pytest

from manifill.base.arrays import Generator, Vector
from manifill.geometry import LowRank, ScaledStiefel, Stiefel
from manifill.sampling.integrators import Integrator, Leapfrog, Phase
from manifill.sampling.system import System, Target
from tests.geometry.manifolds import AnyManifold, constraint_error
from tests.sampling.reference import STAGES
from tests.sampling.targets import (
    INTEGRATORS,
    PROBLEMS,
    anisotropic_gaussian,
    completion,
    quadratic,
    start,
    system_of,
)

on_each_problem = pytest.mark.parametrize(("manifold", "target"), PROBLEMS.values(), ids=PROBLEMS.keys())
with_each_integrator = pytest.mark.parametrize("integrator", INTEGRATORS.values(), ids=INTEGRATORS.keys())


def phase_at(system: System, position: Vector, velocity: Vector) -> tuple[Phase, float]:
    """Return a phase of its own arrays, and its energy."""
    phase = Phase(position.copy(), velocity.copy(), np.empty_like(position))
    log_density = system.evaluate(phase.position, phase.gradient)
    return phase, system.kinetic_energy(phase.velocity) - log_density


def energy_after(integrator: Integrator, system: System, phase: Phase, step_size: float, steps: int) -> float:
    for _ in range(steps):
        log_density = integrator.advance(system, phase, step_size)
    system.project(phase.position, phase.velocity)
    return system.kinetic_energy(phase.velocity) - log_density


@with_each_integrator
@on_each_problem
@pytest.mark.parametrize("step_size", [0.05, 0.3])
def test_is_reversible(manifold: AnyManifold, target: Target, integrator: Integrator, step_size: float) -> None:
    system, (position, velocity) = system_of(manifold, target), start(np.random.default_rng(1), manifold)
    phase, energy = phase_at(system, position, velocity)
    energy_after(integrator, system, phase, step_size, 20)
    phase.velocity[:] *= -1.0
    assert np.abs(phase.position - position).max() > 0.1
    assert energy_after(integrator, system, phase, step_size, 20) == pytest.approx(energy, abs=1e-10)
    np.testing.assert_allclose(phase.position, position, rtol=0, atol=1e-10)
    np.testing.assert_allclose(phase.velocity, -velocity, rtol=0, atol=1e-10)


@with_each_integrator
@on_each_problem
def test_a_negative_step_goes_back(manifold: AnyManifold, target: Target, integrator: Integrator) -> None:
    """NUTS builds its backward subtrees so."""
    system, (position, velocity) = system_of(manifold, target), start(np.random.default_rng(2), manifold)
    phase, _ = phase_at(system, position, velocity)
    energy_after(integrator, system, phase, 0.2, 5)
    energy_after(integrator, system, phase, -0.2, 5)
    np.testing.assert_allclose(phase.position, position, rtol=0, atol=1e-11)
    np.testing.assert_allclose(phase.velocity, velocity, rtol=0, atol=1e-11)


@with_each_integrator
@on_each_problem
def test_energy_error_is_of_second_order(manifold: AnyManifold, target: Target, integrator: Integrator) -> None:
    system, (position, velocity) = system_of(manifold, target), start(np.random.default_rng(3), manifold)
    errors = []
    for steps in (20, 40, 80):
        phase, energy = phase_at(system, position, velocity)
        errors.append(abs(energy_after(integrator, system, phase, 1.0 / steps, steps) - energy))
    assert errors[0] > 1e-6, "too small to tell its order"
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.05)


@with_each_integrator
@on_each_problem
def test_it_does_not_matter_when_a_velocity_is_projected(
    manifold: AnyManifold, target: Target, integrator: Integrator
) -> None:
    """After every step, as in trees, or after the last, as in trajectories."""
    system, (position, velocity) = system_of(manifold, target), start(np.random.default_rng(4), manifold)
    often, once = (phase_at(system, position, velocity)[0] for _ in range(2))
    for _ in range(50):
        energy_after(integrator, system, often, 0.1, 1)
    energy_after(integrator, system, once, 0.1, 50)
    np.testing.assert_allclose(once, often, rtol=0, atol=1e-10)


@with_each_integrator
def test_preserves_volume_in_flat_space(integrator: Integrator) -> None:
    """The determinant of the Jacobian of three steps in phase space, by central differences."""
    system = system_of(*anisotropic_gaussian())

    def flow(state: Vector) -> Vector:
        phase, _ = phase_at(system, state[:3], state[3:])
        energy_after(integrator, system, phase, 0.4, 3)
        return np.concatenate([phase.position, phase.velocity])

    state, h = np.random.default_rng(5).standard_normal(6), 1e-5
    jacobian = np.array([(flow(state + h * e) - flow(state - h * e)) / (2 * h) for e in np.eye(6)])
    assert np.abs(jacobian - np.eye(6)).max() > 0.1
    assert np.linalg.det(jacobian) == pytest.approx(1.0, abs=1e-8)


@with_each_integrator
@on_each_problem
def test_a_step_is_its_kicks_and_moves(manifold: AnyManifold, target: Target, integrator: Integrator) -> None:
    """Each move ends in a gradient, the last of which begins the next step: as many gradients as moves."""
    kicks, moves = STAGES[integrator]
    assert integrator.gradients == len(moves)
    system, (position, velocity) = system_of(manifold, target), start(np.random.default_rng(7), manifold)
    phase, _ = phase_at(system, position, velocity)
    by_hand, _ = phase_at(system, position, velocity)
    log_density = integrator.advance(system, phase, 0.2)
    by_hand.velocity[:] += 0.2 * kicks[0] * by_hand.gradient
    for kick, move in zip(kicks[1:], moves, strict=True):
        assert system.move(by_hand.position, by_hand.velocity, 0.2 * move)
        expected = system.evaluate(by_hand.position, by_hand.gradient)
        by_hand.velocity[:] += 0.2 * kick * by_hand.gradient
    assert log_density == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(phase, by_hand, rtol=0, atol=1e-12)


SHAPES_AND_STEPS = (((3, 1), 0.05), ((5, 2), 0.05), ((6, 6), 0.2), ((40, 7), 0.05))


def long_run(rng: Generator, kind: type, shape: tuple[int, int]) -> tuple[AnyManifold, Target]:
    """Return a manifold of n×r frames, or of matrices, and a density that pulls."""
    if kind is LowRank:
        return completion()
    target = quadratic(rng.standard_normal(shape), 2.0)
    if kind is ScaledStiefel:
        return ScaledStiefel.with_masses(shape[0], shape[0] * np.geomspace(1.0, 20.0, shape[1])), target
    return Stiefel.of_shape(*shape), target


LONG_RUNS = [(kind, *case) for kind in (Stiefel, ScaledStiefel) for case in SHAPES_AND_STEPS] + [(LowRank, (6, 5), 0.1)]


@pytest.mark.parametrize(("kind", "shape", "step_size"), LONG_RUNS)
def test_stays_orthonormal_over_ten_thousand_steps(kind: type, shape: tuple[int, int], step_size: float) -> None:
    """With kicks, which make errors off the manifold grow wherever the density rises towards the origin.

    With E = XᵀX − I and M the symmetric part of XᵀG, kicks whose tangent part at X alone counts give
    E″ = −(EM + ME): an exponential where M is negative.  Something must pull X or W back in every step.
    """
    rng = np.random.default_rng(6)
    manifold, target = long_run(rng, kind, shape)
    system = system_of(manifold, target)
    phase, energy = phase_at(system, *start(rng, manifold))
    for _ in range(10):
        last = energy_after(Leapfrog(), system, phase, step_size, 1000)
        assert constraint_error(manifold, phase.position) < 1e-10
    assert abs(last - energy) < 1.0
