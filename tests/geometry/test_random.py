"""Random points are uniform, random velocities normal in the tangent space, of variance 1/mass.

Means of independent draws are compared by z-scores with the bound 5: a false alarm has probability 5.7e-7 a comparison.
Seeds are fixed, so an alarm on unchanged code comes from a changed NumPy, never from bad luck.
"""

import numpy as np
import pytest

from manifill.base.arrays import Matrix, Vector
from manifill.geometry import Euclidean, Stiefel
from tests.geometry.manifolds import (
    AnyManifold,
    constraint_error,
    metric,
    on_each_manifold,
    on_small_ones,
    projected,
    tangency_error,
)

BOUND = 5.0


def z_scores(samples: Matrix, expected: float) -> Vector:
    """Return the z-scores of the means over the first axis."""
    return np.asarray((samples.mean(axis=0) - expected) / (samples.std(axis=0, ddof=1) / np.sqrt(len(samples))))


@on_each_manifold
def test_points_lie_on_the_manifold(manifold: AnyManifold) -> None:
    assert constraint_error(manifold, manifold.random_point(np.random.default_rng(1))) < 1e-13


@pytest.mark.parametrize("shape", [(2, 1), (3, 1), (5, 2), (6, 6), (40, 7)])
def test_points_are_uniform(shape: tuple[int, int]) -> None:
    """E X = 0, E X² = 1/n, E X⁴ = 3/(n(n + 2)), no correlations: at most 1,119 comparisons, false-alarm rate 6e-4."""
    manifold = Stiefel.of_shape(*shape)
    rng = np.random.default_rng(2)
    n = manifold.rows
    X = np.array([manifold.random_point(rng) for _ in range(4000)])
    assert np.abs(z_scores(X, 0.0)).max() < BOUND
    assert np.abs(z_scores(X**2, 1 / n)).max() < BOUND
    assert np.abs(z_scores(X**4, 3 / (n * (n + 2)))).max() < BOUND
    assert np.abs(z_scores(X[:, 1:] * X[:, :-1], 0.0)).max() < BOUND


def test_square_points_fall_on_both_components() -> None:
    manifold = Stiefel.of_shape(6, 6)
    rng = np.random.default_rng(3)
    signs = np.array([np.linalg.det(manifold.random_point(rng).reshape(6, 6)) for _ in range(2000)])
    assert abs(z_scores(signs, 0.0)) < BOUND


def _covariance_z_scores(manifold: AnyManifold, draws: int) -> Matrix:
    """Return z-scores of the covariance of velocities, expected to be the projection over the masses."""
    rng = np.random.default_rng(4)
    point = manifold.random_point(rng)
    velocities = np.empty((draws, manifold.dimension))
    for velocity in velocities:
        manifold.random_velocity(rng, point, velocity)
    expected = np.array([projected(manifold, point, e) for e in np.eye(manifold.dimension) / metric(manifold)])
    spread = np.sqrt((np.outer(expected.diagonal(), expected.diagonal()) + expected**2) / draws)
    return np.asarray((velocities.T @ velocities / draws - expected) / np.maximum(spread, 1e-6))


@on_small_ones
def test_velocities_have_the_covariance_of_a_projected_gaussian(manifold: AnyManifold) -> None:
    """At most 1,296 comparisons: false-alarm rate 7e-4."""
    assert np.abs(_covariance_z_scores(manifold, 20_000)).max() < BOUND


def test_euclidean_velocities_are_standard_normal() -> None:
    assert np.abs(_covariance_z_scores(Euclidean(4), 20_000)).max() < BOUND


@on_each_manifold
def test_velocities_are_tangent_and_kinetic_energy_is_half_their_square_by_mass(manifold: AnyManifold) -> None:
    rng = np.random.default_rng(5)
    point, velocity = manifold.random_point(rng), np.empty(manifold.dimension)
    manifold.random_velocity(rng, point, velocity)
    assert tangency_error(manifold, point, velocity) < 1e-12
    assert manifold.kinetic_energy(velocity) == pytest.approx(0.5 * (metric(manifold) * velocity) @ velocity, rel=1e-13)


@on_each_manifold
def test_draws_are_those_of_the_generator_alone(manifold: AnyManifold) -> None:
    first, second = (manifold.random_point(np.random.default_rng(6)) for _ in range(2))
    assert np.array_equal(first, second)
