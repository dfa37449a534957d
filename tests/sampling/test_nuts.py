"""The iterative tree against the recursive reference, and the sampler's edges."""

from typing import Any

import numpy as np
import pytest

from manifill.base.arrays import Generator, Vector
from manifill.geometry import Euclidean, Manifold, ScaledStiefel, Stiefel
from manifill.sampling.integrators import Integrator, Leapfrog, TwoStage
from manifill.sampling.nuts import Transition, Workspace, find_step_size, transition
from manifill.sampling.system import System, Target
from tests.sampling.reference import Reference
from tests.sampling.spaces import space_of
from tests.sampling.targets import PROBLEMS, anisotropic_gaussian, completion, quadratic, system_of, tilted_stiefel


def move_once(
    rng: Generator,
    system: System,
    position: Vector,
    step_size: float,
    max_depth: int,
    integrator: Integrator = Leapfrog(),  # noqa: B008 - a named tuple
) -> Transition:
    """Carry ``position`` on in place."""
    work = Workspace.allocate(position.size, max_depth)
    return Transition(*transition(rng, system, integrator, position, step_size, max_depth, work))


# Steps from deep trees to refusals, and a depth that is cut.
STEPS = ((0.03, 8, {5, 6, 7}), (0.2, 6, {3, 4}), (0.8, 5, {1, 2}), (0.03, 3, {3}))
LONGER_STEPS = ((0.2, 8, {4, 5, 6}), (0.8, 6, {2, 3}), (1.5, 5, {1, 2}), (0.1, 3, {3}))
TREES = [
    *(("R^3", Leapfrog(), *steps, 200) for steps in STEPS),
    *(("St(5,2)", Leapfrog(), *steps, 200) for steps in STEPS),
    *(("R^3", TwoStage(), *steps, 200) for steps in STEPS),
    *(("6x5 matrices", TwoStage(), *steps, 60) for steps in LONGER_STEPS),
]


@pytest.mark.parametrize(
    ("name", "integrator", "step_size", "max_depth", "depths", "transitions"),
    TREES,
    ids=[
        f"{name} {type(integrator).__name__} {step_size} {max_depth}"
        for name, integrator, step_size, max_depth, *_ in TREES
    ],
)
def test_the_tree_is_that_of_the_recursion(
    name: str, integrator: Integrator, step_size: float, max_depth: int, depths: set[int], transitions: int
) -> None:
    """Transitions from equal generators: the same position, leaves, depth and acceptance in each."""
    manifold, target = PROBLEMS[name]
    position = manifold.random_point(np.random.default_rng(1))
    ours, theirs = np.random.default_rng(2), np.random.default_rng(2)
    reference = Reference(space_of(manifold), target, integrator, step_size, max_depth, theirs)
    system, seen = system_of(manifold, target), set()
    for _ in range(transitions):
        expected, steps, depth, diverged, acceptance = reference.transition(position.copy())
        info = move_once(ours, system, position, step_size, max_depth, integrator)
        np.testing.assert_allclose(position, expected, rtol=0, atol=1e-9)
        assert (info.steps, info.depth, info.diverged) == (steps, depth, diverged)
        assert info.acceptance == pytest.approx(acceptance, abs=1e-9)
        seen.add(depth)
    assert ours.bit_generator.state == theirs.bit_generator.state
    assert seen & depths, f"the case was meant to reach other depths than {seen}"


def test_divergences_agree_with_the_recursion_too() -> None:
    manifold, target = Euclidean(3), quadratic(np.zeros((1, 3)), 1.0, np.array([1.0, 100.0, 1.0]))
    position, step_size = np.array([0.5, 0.1, -0.5]), 0.7  # beyond the stability limit 2/√100 of the second
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    reference = Reference(space_of(manifold), target, Leapfrog(), step_size, 10, theirs)
    system, divergences = System.of(manifold, target), 0
    for _ in range(100):
        expected, steps, _, diverged, _ = reference.transition(position.copy())
        info = move_once(ours, system, position, step_size, 10)
        np.testing.assert_allclose(position, expected, rtol=0, atol=1e-9)
        assert (info.steps, info.diverged) == (steps, diverged)
        divergences += diverged
    assert 0 < divergences < 100


def test_an_absurd_step_diverges_and_stays() -> None:
    system = System.of(*anisotropic_gaussian())
    position = np.array([1.0, -2.0, 0.5])
    kept = position.copy()
    info = move_once(np.random.default_rng(5), system, position, 1e4, 6)
    assert (info.diverged, info.steps, info.acceptance) == (True, 1, 0.0)
    assert np.array_equal(position, kept)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_refused_step_diverges_and_stays_even_where_the_first_line_has_no_cells(side: str) -> None:
    """The density does not depend on that line, so it alone could not tell."""
    manifold, target = completion()
    light = np.full(2, 1e-6)  # so light that its columns would turn many times
    changes: dict[str, Any] = {side: ScaledStiefel.with_masses(getattr(manifold, side).rows, light)}
    manifold = manifold._replace(**changes)
    position = manifold.random_point(np.random.default_rng(11))
    kept = position.copy()
    info = move_once(np.random.default_rng(12), System.of(manifold, target), position, 0.05, 6, TwoStage())
    assert (info.diverged, info.steps, info.acceptance) == (True, 1, 0.0)
    np.testing.assert_allclose(position, kept, rtol=0, atol=1e-14)


@pytest.mark.parametrize("center", [np.nan, np.inf])
def test_a_broken_density_diverges_and_stays(center: float) -> None:
    manifold, target = tilted_stiefel()
    target.cells.values[0] = center
    position = manifold.random_point(np.random.default_rng(6))
    kept = position.copy()
    info = move_once(np.random.default_rng(7), System.of(manifold, target), position, 0.1, 6)
    assert info.diverged
    np.testing.assert_allclose(position, kept, rtol=0, atol=1e-14)


@pytest.mark.parametrize("max_depth", [1, 2, 5])
def test_max_depth_is_respected(max_depth: int) -> None:
    manifold, target = tilted_stiefel()
    rng = np.random.default_rng(8)
    info = move_once(rng, System.of(manifold, target), manifold.random_point(rng), 1e-4, max_depth)
    assert (info.depth, info.steps, info.diverged) == (max_depth, 2**max_depth - 1, False)
    assert info.acceptance == pytest.approx(1.0, abs=1e-3)


def test_the_chain_stays_on_the_manifold() -> None:
    manifold, target = tilted_stiefel()
    rng = np.random.default_rng(9)
    system, position = System.of(manifold, target), manifold.random_point(rng)
    for _ in range(300):
        move_once(rng, system, position, 0.2, 6)
    X = position.reshape(5, 2)
    np.testing.assert_allclose(X.T @ X, np.eye(2), rtol=0, atol=1e-13)


def found_step_size(manifold: Manifold, target: Target, first_guess: float, seed: int) -> float:
    rng, system = np.random.default_rng(seed), System.of(manifold, target)
    work = Workspace.allocate(manifold.dimension, 1)
    return find_step_size(rng, system, Leapfrog(), manifold.random_point(rng), first_guess, work)


@pytest.mark.parametrize("first_guess", [1e-4, 0.1, 50.0])
def test_step_size_finder_lands_near_the_narrowest_scale(first_guess: float) -> None:
    """Leapfrog is stable up to twice the smallest standard deviation."""
    narrow = quadratic(np.zeros((1, 3)), 1.0, np.array([1.0, 1e4, 1.0]))
    for seed in range(10):
        assert 1e-3 < found_step_size(Euclidean(3), narrow, first_guess, seed) < 5e-2


@pytest.mark.parametrize("manifold", [Euclidean(3), Stiefel.of_shape(5, 2)])
def test_step_size_finder_stops_at_the_longest_step(manifold: Manifold) -> None:
    columns = manifold.columns if isinstance(manifold, Stiefel) else manifold.dimension
    flat = quadratic(np.zeros((manifold.dimension // columns, columns)), 0.0)
    assert found_step_size(manifold, flat, 0.01, 1) == pytest.approx(manifold.longest_step, rel=1e-12)


def test_step_size_finder_survives_a_broken_density() -> None:
    manifold, target = tilted_stiefel()
    target.cells.values[0] = np.nan
    assert 0.0 < found_step_size(manifold, target, 0.1, 1) < 1e-20
