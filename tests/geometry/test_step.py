"""``move`` by mass: a step that stays on the manifold, goes back to where it came from, and keeps volume."""

import numpy as np
import pytest
from scipy.linalg import null_space

from manifill.base.arrays import Matrix, Vector
from manifill.geometry import Masses, ScaledStiefel, Stiefel
from tests.geometry.manifolds import (
    SHAPES,
    AnyManifold,
    as_matrix,
    constraint_error,
    frames,
    low_rank,
    metric,
    moved,
    on_each_scaled,
    on_each_step,
    plain_low_rank,
    projected,
    random_state,
    scaled_stiefel,
    unit_stiefel,
)
from tests.geometry.rattle import rattle_step

LONG = 0.3  # a step that turns columns by about a third of a radian


@pytest.mark.parametrize("time", [1e-8, 5e-4, 0.01, LONG, -LONG])
@on_each_step
def test_stays_on_the_manifold(manifold: AnyManifold, time: float) -> None:
    end, _ = moved(manifold, *random_state(np.random.default_rng(1), manifold), time)
    assert constraint_error(manifold, end) < 1e-12


@pytest.mark.parametrize("turn", [-1.0, 2.6])
@on_each_scaled
def test_stays_there_however_large_the_normal_part_of_kicks(manifold: ScaledStiefel, turn: float) -> None:
    """W = XL with hL a multiple of the identity: nothing moves, and errors must not grow with the steps."""
    position = manifold.random_point(np.random.default_rng(12))
    for _ in range(40):
        manifold.move(position, turn / LONG * position, LONG)
    assert constraint_error(manifold, position) < 1e-12


@on_each_step
def test_takes_away_what_rounding_errors_have_left(manifold: AnyManifold) -> None:
    """From a point a hair off the manifold, a step leads back, but for a small share that its length decides."""
    rng = np.random.default_rng(11)
    position, velocity = random_state(rng, manifold)
    position += 1e-9 * rng.standard_normal(position.size)
    before = constraint_error(manifold, position)
    assert constraint_error(manifold, moved(manifold, position, velocity, 0.1)[0]) < 0.1 * before


@on_each_step
def test_negative_time_and_negated_velocity_both_return(manifold: AnyManifold) -> None:
    start = random_state(np.random.default_rng(2), manifold)
    end, end_velocity = moved(manifold, *start, LONG)
    assert np.abs(end - start[0]).max() > 0.01
    np.testing.assert_allclose(moved(manifold, end, end_velocity, -LONG), start, rtol=0, atol=1e-12)
    back, back_velocity = moved(manifold, end, -end_velocity, LONG)
    np.testing.assert_allclose((back, -back_velocity), start, rtol=0, atol=1e-12)


@pytest.mark.parametrize("time", [0.01, LONG, -LONG])
@on_each_scaled
def test_agrees_with_the_equations(manifold: ScaledStiefel, time: float) -> None:
    position, velocity = random_state(np.random.default_rng(3), manifold)
    X, W = as_matrix(manifold, position), as_matrix(manifold, velocity)
    ours, theirs = moved(manifold, position, velocity, time), rattle_step(X, W, manifold.masses, time)
    assert theirs is not None
    np.testing.assert_allclose(ours, np.reshape(theirs, (2, -1)), rtol=0, atol=1e-12)


@on_each_step
def test_is_a_verlet_step_along_the_normals(manifold: AnyManifold) -> None:
    """One step ahead and one behind: their second difference is normal by mass, their first has the velocity."""
    position, velocity = random_state(np.random.default_rng(4), manifold)
    ahead, behind = (moved(manifold, position, velocity, time)[0] for time in (LONG, -LONG))
    assert np.abs(projected(manifold, position, ahead - 2.0 * position + behind)).max() < 1e-13
    drift = projected(manifold, position, ahead - behind) / (2.0 * LONG)
    np.testing.assert_allclose(drift, velocity, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_approaches_the_geodesic_with_unit_masses(shape: tuple[int, int]) -> None:
    """To second order in the step, over unit time."""
    plain, scaled = Stiefel.of_shape(*shape), unit_stiefel(*shape)
    start = random_state(np.random.default_rng(5), plain)
    expected, errors = np.array(moved(plain, *start, 1.0)), []
    for steps in (40, 80, 160):
        state = start
        for _ in range(steps):
            state = moved(scaled, *state, 1.0 / steps)
        errors.append(np.abs(state - expected).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.02)


def constraint_jacobian(manifold: AnyManifold, position: Vector, velocity: Vector) -> Matrix:
    """Return the derivatives of XᵀX and of XᵀW + WᵀX in position and velocity, a column for each of their numbers."""

    def constraints(change: Vector) -> Vector:
        dx, dw = np.split(change, 2)
        both = zip(*(frames(manifold, part) for part in (position, velocity, dx, dw)), strict=True)
        rows = [(X.T @ dX + dX.T @ X, X.T @ dW + dW.T @ X + dX.T @ W + W.T @ dX) for X, W, dX, dW in both]
        return np.ravel(rows)

    return np.array([constraints(e) for e in np.eye(2 * position.size)]).T


@pytest.mark.parametrize(
    "manifold", [scaled_stiefel(3, 1), scaled_stiefel(4, 2), scaled_stiefel(3, 3), low_rank(4, 3, 2, effects=True)]
)
def test_preserves_the_symplectic_form_and_so_volume(manifold: AnyManifold) -> None:
    """Σ D dw ∧ dx on every pair of directions of phase space, by central differences along curves that stay in it."""
    position, velocity = random_state(np.random.default_rng(6), manifold)
    directions = null_space(constraint_jacobian(manifold, position, velocity)).T
    dimension, h = position.size, 1e-5

    def flow(change: Vector) -> Vector:
        start = position + change[:dimension]
        manifold.restore(start)
        return np.concatenate(moved(manifold, start, projected(manifold, start, velocity + change[dimension:]), LONG))

    def form(vectors: Matrix) -> Matrix:
        dx, dw = vectors[:, :dimension], vectors[:, dimension:]
        products = (metric(manifold) * dw) @ dx.T
        return products - products.T

    carried = np.array([(flow(h * d) - flow(-h * d)) / (2.0 * h) for d in directions])
    assert np.abs(carried - directions).max() > 0.1
    np.testing.assert_allclose(form(carried), form(directions), rtol=0, atol=1e-8)


def test_masses_can_be_replaced_and_set_the_longest_step() -> None:
    """Half a turn of the lightest column at the speed of a random velocity."""
    assert unit_stiefel(9, 2).longest_step == pytest.approx(np.pi / 3.0)
    manifold = ScaledStiefel.with_masses(9, np.array([4.0, 16.0]))
    assert manifold.longest_step == pytest.approx(2.0 * np.pi / 3.0)
    np.testing.assert_allclose(manifold.share, [[0.5, 0.2], [0.8, 0.5]])
    whole = plain_low_rank(9, 4, 2, effects=False)
    replaced = whole.replace_masses(Masses(np.array([4.0, 16.0]), np.full(2, 9.0), np.ones(2)))
    assert replaced.longest_step == pytest.approx(2.0 * np.pi / 3.0)
    assert whole.longest_step == pytest.approx(np.pi / 3.0)
