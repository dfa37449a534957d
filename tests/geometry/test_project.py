"""The projection is the orthogonal one, onto the tangent space."""

import numpy as np

from manifill.geometry import Manifold, Stiefel
from tests.geometry.manifolds import on_each_manifold, on_each_stiefel, projected, tangency_error


@on_each_manifold
def test_result_is_tangent_and_stays_where_it_is(manifold: Manifold) -> None:
    rng = np.random.default_rng(1)
    point, vector = manifold.random_point(rng), rng.standard_normal(manifold.dimension)
    once = projected(manifold, point, vector)
    assert tangency_error(manifold, point, once) < 1e-13
    np.testing.assert_allclose(projected(manifold, point, once), once, rtol=0, atol=1e-13)


@on_each_manifold
def test_is_symmetric(manifold: Manifold) -> None:
    """⟨PY, Z⟩ = ⟨Y, PZ⟩: with idempotence, the projection is orthogonal."""
    rng = np.random.default_rng(2)
    point = manifold.random_point(rng)
    Y, Z = rng.standard_normal((2, manifold.dimension))
    left, right = projected(manifold, point, Y) @ Z, Y @ projected(manifold, point, Z)
    assert abs(left - right) < 1e-11


@on_each_stiefel
def test_rank_is_the_dimension_of_the_manifold(manifold: Stiefel) -> None:
    """It removes r(r + 1)/2 directions and no more: the trace over a basis of the normal space, and over all."""
    rng = np.random.default_rng(3)
    point = manifold.random_point(rng)
    X = point.reshape(manifold.rows, manifold.columns)
    symmetric = rng.standard_normal((manifold.columns, manifold.columns))
    normal = (X @ (symmetric + symmetric.T)).ravel()
    assert np.abs(projected(manifold, point, normal)).max() < 1e-12
    if manifold.dimension <= 40:
        trace = sum(projected(manifold, point, e)[k] for k, e in enumerate(np.eye(manifold.dimension)))
        assert abs(trace - (manifold.dimension - manifold.columns * (manifold.columns + 1) / 2)) < 1e-12


@on_each_manifold
def test_leaves_the_point_alone(manifold: Manifold) -> None:
    rng = np.random.default_rng(4)
    point = manifold.random_point(rng)
    kept = point.copy()
    manifold.project(point, rng.standard_normal(manifold.dimension))
    manifold.random_velocity(rng, point, np.empty(manifold.dimension))
    assert np.array_equal(point, kept)
