"""Trajectories of a given length: exact moments, and what a divergent one leaves behind.

Comparisons are z-scores against quadrature, as in ``test_moments``: a false alarm has a chance of 6.3e-5 each, and of
0.2 % in the 24 of this file.
"""

import numpy as np
import pytest

from manifill.geometry import Manifold, ScaledStiefel, Stiefel
from manifill.sampling.hmc import trajectories
from manifill.sampling.integrators import Leapfrog, TwoStage
from manifill.sampling.nuts import Workspace
from manifill.types import Matrix
from tests.exact.zscores import z_scores
from tests.sampling.rotations import moments
from tests.sampling.targets import quadratic

CENTER, PRECISION = np.array([[1.5, 0.2], [-0.4, 1.0], [0.3, -0.8]]), 2.0


def scaled() -> ScaledStiefel:
    manifold = ScaledStiefel.of_shape(3, 2)
    manifold.set_masses(np.array([1.0, 3.0]))
    return manifold


SPACES = {"geodesics": (Stiefel.of_shape(3, 2), Leapfrog()), "masses": (scaled(), TwoStage())}


@pytest.mark.parametrize("name", SPACES)
def test_moments_on_the_stiefel_manifold(name: str) -> None:
    """E X and E X² of exp ⟨F, X⟩, with one trajectory or two at a time, of any length."""
    manifold, integrator = SPACES[name]
    target, work = quadratic(CENTER, PRECISION), Workspace.allocate(manifold.dimension, 1)
    X, accepted = np.empty((2, 4000, manifold.dimension)), []
    for chain, rng in zip(X, np.random.default_rng(1).spawn(2), strict=True):
        position = manifold.random_point(rng)
        for k in range(-100, len(chain)):
            steps = rng.integers(2, 6, size=rng.integers(1, 3))
            moved = trajectories(rng, manifold, target, integrator, position, 0.6, steps, work)
            assert moved[1] == steps.sum() or moved[3], "only a divergence ends a trajectory early"
            accepted.append(moved[0])
            if k >= 0:
                chain[k] = position
    assert 0.3 < np.mean(accepted) < 0.995, "some are rejected"

    def log_density(points: Matrix) -> Matrix:
        return -0.5 * PRECISION * np.sum((CENTER - points) ** 2, axis=(1, 2))

    mean, square = moments(log_density)
    for values, expected in ((X, mean), (X**2, square)):
        z = z_scores(values, expected.ravel())
        assert np.abs(z).max() < 4.0, z


@pytest.mark.parametrize(("step_size", "precision"), [(1e3, 2.0), (0.5, 1e9)])
def test_a_divergent_trajectory_leaves_the_position(step_size: float, precision: float) -> None:
    """Steps whose equation has no solution, and energies that explode."""
    manifold: Manifold = scaled()
    position = manifold.random_point(np.random.default_rng(2))
    point, work = position.copy(), Workspace.allocate(manifold.dimension, 1)
    target = quadratic(CENTER, precision)
    moved = trajectories(
        np.random.default_rng(3), manifold, target, TwoStage(), point, step_size, np.array([5, 2]), work
    )
    assert moved[0] == 0.0
    assert moved[3]
    np.testing.assert_allclose(point, position, atol=1e-12)
