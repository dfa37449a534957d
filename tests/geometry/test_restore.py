"""``restore`` undoes rounding errors and nothing else."""

import numpy as np
import pytest

from manifill.geometry import ScaledStiefel, Stiefel
from tests.geometry.manifolds import AnyManifold, constraint_error, on_each_curved, on_each_manifold, scaled_stiefel


@on_each_curved
def test_brings_a_perturbed_point_back(manifold: AnyManifold) -> None:
    rng = np.random.default_rng(1)
    point, noise = manifold.random_point(rng), rng.standard_normal(manifold.dimension)
    perturbed = point + 1e-6 * noise / np.linalg.norm(noise)
    assert constraint_error(manifold, perturbed) > 1e-8
    restored = perturbed.copy()
    manifold.restore(restored)
    assert constraint_error(manifold, restored) < 1e-11
    assert np.linalg.norm(restored - perturbed) < 1e-6


@on_each_manifold
def test_leaves_a_good_point_alone(manifold: AnyManifold) -> None:
    point = manifold.random_point(np.random.default_rng(2))
    restored = point.copy()
    manifold.restore(restored)
    np.testing.assert_allclose(restored, point, rtol=0, atol=1e-14)


@pytest.mark.parametrize("manifold", [Stiefel.of_shape(5, 2), scaled_stiefel(5, 2)], ids=["plain", "scaled"])
def test_goes_to_the_nearest_point(manifold: Stiefel | ScaledStiefel) -> None:
    """The nearest orthonormal matrix is the polar factor, to first order in the error; masses do not matter."""
    rng = np.random.default_rng(3)
    perturbed = manifold.random_point(rng) + 1e-6 * rng.standard_normal(10)
    left, _, right = np.linalg.svd(perturbed.reshape(5, 2), full_matrices=False)
    manifold.restore(perturbed)
    np.testing.assert_allclose(perturbed, (left @ right).ravel(), rtol=0, atol=1e-10)


@pytest.mark.parametrize("shape", [(2, 3), (3, 0), (0, 0)])
def test_an_empty_manifold_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="columns must be between 1 and rows"):
        Stiefel.of_shape(*shape)
