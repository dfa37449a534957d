"""``move`` follows a geodesic where one is known: on the manifold, at constant speed, not accelerated along it."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import expm

from manifill.base.arrays import Matrix, Vector
from manifill.geometry import Stiefel
from tests.geometry.manifolds import (
    AnyManifold,
    as_matrix,
    constraint_error,
    moved,
    on_each_geodesic,
    on_each_stiefel,
    projected,
    random_state,
)

Curve = Callable[[float], Vector]


@pytest.mark.parametrize("time", [1e-8, 0.01, 1.0, -3.0, 20.0])
@on_each_geodesic
def test_stays_on_the_manifold_at_constant_speed(manifold: AnyManifold, time: float) -> None:
    point, velocity = random_state(np.random.default_rng(1), manifold)
    end, end_velocity = moved(manifold, point, velocity, time)
    assert constraint_error(manifold, end) < 1e-12
    assert np.linalg.norm(end_velocity) == pytest.approx(np.linalg.norm(velocity), rel=1e-12)


@on_each_geodesic
def test_group_law(manifold: AnyManifold) -> None:
    point, velocity = random_state(np.random.default_rng(2), manifold)
    in_two = moved(manifold, *moved(manifold, point, velocity, 0.7), 1.1)
    at_once = moved(manifold, point, velocity, 1.8)
    np.testing.assert_allclose(in_two, at_once, rtol=0, atol=1e-12)


@on_each_geodesic
def test_negative_time_and_negated_velocity_both_return(manifold: AnyManifold) -> None:
    start = random_state(np.random.default_rng(3), manifold)
    end, end_velocity = moved(manifold, *start, 1.3)
    np.testing.assert_allclose(moved(manifold, end, end_velocity, -1.3), start, rtol=0, atol=1e-12)
    back, back_velocity = moved(manifold, end, -end_velocity, 1.3)
    np.testing.assert_allclose((back, -back_velocity), start, rtol=0, atol=1e-12)


@on_each_geodesic
def test_velocity_is_the_derivative_of_the_position(manifold: AnyManifold) -> None:
    point, velocity = random_state(np.random.default_rng(4), manifold)
    h = 1e-5
    ahead, behind = (moved(manifold, point, velocity, 0.8 + dt)[0] for dt in (h, -h))
    np.testing.assert_allclose((ahead - behind) / (2 * h), moved(manifold, point, velocity, 0.8)[1], rtol=0, atol=1e-9)


def tangential_acceleration(manifold: AnyManifold, curve: Curve, time: float) -> float:
    """Return the tangential part of the curve's second difference at ``time``, in units of the speed squared.

    The error of the difference is O(h²), about 1e-7, and that of rounding about 1e-16/h² = 1e-10.
    """
    h = 1e-3
    before, here, after = curve(time - h), curve(time), curve(time + h)
    speed = np.linalg.norm((after - before) / (2 * h))
    acceleration = (after - 2 * here + before) / h**2
    return float(np.linalg.norm(projected(manifold, here, acceleration)) / speed**2)


@on_each_geodesic
def test_tangential_acceleration_is_zero(manifold: AnyManifold) -> None:
    point, velocity = random_state(np.random.default_rng(5), manifold)
    assert tangential_acceleration(manifold, lambda t: moved(manifold, point, velocity, t)[0], 0.5) < 1e-6


def qr_retraction(X: Matrix) -> Matrix:
    Q, R = np.linalg.qr(X)
    return np.asarray(Q * np.sign(np.diag(R)))


def polar_retraction(X: Matrix) -> Matrix:
    left, _, right = np.linalg.svd(X, full_matrices=False)
    return np.asarray(left @ right)


@pytest.mark.parametrize("retraction", [qr_retraction, polar_retraction])
@on_each_stiefel
def test_a_retraction_would_fail_that_check(manifold: Stiefel, retraction: Callable[[Matrix], Matrix]) -> None:
    """Away from the start, since the polar retraction has no tangential acceleration there, nor has any on a sphere."""
    point, velocity = random_state(np.random.default_rng(5), manifold)

    def curve(time: float) -> Vector:
        return retraction(as_matrix(manifold, point + time * velocity)).ravel()

    assert tangential_acceleration(manifold, curve, 0.5) > 1e-2


@pytest.mark.parametrize("time", [1e-6, 0.3, -2.0])
@on_each_stiefel
def test_agrees_with_the_formula(manifold: Stiefel, time: float) -> None:
    """Edelman, Arias and Smith's formula, by SciPy and without balancing."""
    point, velocity = random_state(np.random.default_rng(6), manifold)
    X, W, r = as_matrix(manifold, point), as_matrix(manifold, velocity), manifold.columns
    A, S = X.T @ W, W.T @ W
    rotation = expm(-time * A)
    flow = expm(time * np.block([[A, -S], [np.eye(r), A]]))
    expected = np.hstack([X, W]) @ flow
    end, end_velocity = moved(manifold, point, velocity, time)
    np.testing.assert_allclose(as_matrix(manifold, end), expected[:, :r] @ rotation, rtol=0, atol=1e-12)
    np.testing.assert_allclose(as_matrix(manifold, end_velocity), expected[:, r:] @ rotation, rtol=0, atol=1e-12)


@on_each_geodesic
def test_no_velocity_no_motion(manifold: AnyManifold) -> None:
    point = manifold.random_point(np.random.default_rng(7))
    end, end_velocity = moved(manifold, point, np.zeros_like(point), 2.0)
    assert np.array_equal(end, point)
    assert not end_velocity.any()


@pytest.mark.parametrize("broken", [np.nan, np.inf, 1e200])
@on_each_stiefel
def test_a_broken_velocity_gives_nan(manifold: Stiefel, broken: float) -> None:
    """The energy then is NaN, and the trajectory counts as divergent."""
    point, velocity = random_state(np.random.default_rng(8), manifold)
    velocity[0] = broken
    assert np.isnan(moved(manifold, point, velocity, 1.0)).all(axis=1).all()
