"""The projection is onto the tangent space, orthogonal in the metric; what it takes away does not count."""

import numpy as np

from manifill.geometry import ScaledStiefel, Stiefel
from tests.geometry.manifolds import (
    AnyManifold,
    accelerated,
    as_matrix,
    metric,
    moved,
    on_each_frame,
    on_each_manifold,
    projected,
    random_state,
    tangency_error,
)


@on_each_manifold
def test_result_is_tangent_and_stays_where_it_is(manifold: AnyManifold) -> None:
    rng = np.random.default_rng(1)
    point, vector = manifold.random_point(rng), rng.standard_normal(manifold.dimension)
    once = projected(manifold, point, vector)
    assert tangency_error(manifold, point, once) < 1e-13
    np.testing.assert_allclose(projected(manifold, point, once), once, rtol=0, atol=1e-13)


@on_each_manifold
def test_is_symmetric(manifold: AnyManifold) -> None:
    """⟨PY, Z⟩ = ⟨Y, PZ⟩ by mass: with idempotence, the projection is orthogonal."""
    rng = np.random.default_rng(2)
    point, masses = manifold.random_point(rng), metric(manifold)
    Y, Z = rng.standard_normal((2, manifold.dimension))
    left, right = (masses * projected(manifold, point, Y)) @ Z, (masses * Y) @ projected(manifold, point, Z)
    assert abs(left - right) < 1e-11 * masses.max()


@on_each_manifold
def test_acceleration_is_the_gradient_in_the_metric(manifold: AnyManifold) -> None:
    """By mass its product with any tangent vector is that of the gradient: so is that of its tangent part alone."""
    rng = np.random.default_rng(5)
    point, masses = manifold.random_point(rng), metric(manifold)
    gradient, vector = rng.standard_normal((2, manifold.dimension))
    acceleration, tangent = accelerated(manifold, gradient), projected(manifold, point, vector)
    assert abs((masses * acceleration) @ tangent - gradient @ tangent) < 1e-11


@on_each_frame
def test_rank_is_the_dimension_of_the_manifold(manifold: Stiefel | ScaledStiefel) -> None:
    """It removes r(r + 1)/2 directions, X·S/D with S symmetric, and no more: the trace over a basis of all."""
    rng = np.random.default_rng(3)
    point = manifold.random_point(rng)
    symmetric = rng.standard_normal((manifold.columns, manifold.columns))
    normal = (as_matrix(manifold, point) @ (symmetric + symmetric.T)).ravel() / metric(manifold)
    assert np.abs(projected(manifold, point, normal)).max() < 1e-12
    if manifold.dimension <= 40:
        trace = sum(projected(manifold, point, e)[k] for k, e in enumerate(np.eye(manifold.dimension)))
        assert abs(trace - (manifold.dimension - manifold.columns * (manifold.columns + 1) / 2)) < 1e-12


@on_each_manifold
def test_leaves_the_point_alone(manifold: AnyManifold) -> None:
    rng = np.random.default_rng(4)
    point = manifold.random_point(rng)
    kept = point.copy()
    manifold.project(point, rng.standard_normal(manifold.dimension))
    manifold.random_velocity(rng, point, np.empty(manifold.dimension))
    assert np.array_equal(point, kept)


@on_each_manifold
def test_only_the_tangent_part_of_a_velocity_moves(manifold: AnyManifold) -> None:
    """Kicks are not tangent: what they add along the normals, as much as the velocity itself, must do nothing."""
    rng = np.random.default_rng(6)
    point, velocity = random_state(rng, manifold)
    kick = rng.standard_normal(manifold.dimension) * np.abs(velocity).mean()
    normal = kick - projected(manifold, point, kick)
    expected = moved(manifold, point, velocity, 0.1)
    np.testing.assert_allclose(moved(manifold, point, velocity + normal, 0.1), expected, rtol=0, atol=1e-12)
