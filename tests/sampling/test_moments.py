"""NUTS draws against exact moments: uniform, von Mises–Fisher and Gaussian targets.

Each comparison is a z-score, (mean − exact)/standard error, with the standard error from the effective sample size.
The bound is 4: the chance of a false alarm is 6.3e-5 a comparison, and 0.4 % in the 62 of this file.  Seeds were
chosen once; they are not to be changed to make a test pass.
"""

import numpy as np
import pytest

from manifill.base.arrays import Matrix
from manifill.geometry import Euclidean, Manifold, Stiefel
from manifill.sampling.integrators import Leapfrog
from manifill.sampling.nuts import Workspace, transition
from manifill.sampling.system import System, Target
from tests.exact.zscores import z_scores
from tests.sampling.rotations import moments
from tests.sampling.targets import anisotropic_gaussian, quadratic

BOUND = 4.0
CHAINS, DRAWS, MAX_DEPTH = 2, 4000, 6


def draws(manifold: Manifold, target: Target, step_size: float, seed: int) -> Matrix:
    """Return positions (chain, draw, dimension) from uniform starts."""
    positions = np.empty((CHAINS, DRAWS, manifold.dimension))
    system, work = System.of(manifold, target), Workspace.allocate(manifold.dimension, MAX_DEPTH)
    for chain, rng in zip(positions, np.random.default_rng(seed).spawn(CHAINS), strict=True):
        position = manifold.random_point(rng)
        for k in range(-100, DRAWS):
            transition(rng, system, Leapfrog(), position, step_size, MAX_DEPTH, work)
            if k >= 0:
                chain[k] = position
    return positions


def check(samples: Matrix, expected: Matrix | float) -> None:
    z = z_scores(samples, expected)
    assert np.abs(z).max() < BOUND, z


def test_uniform_on_stiefel() -> None:
    """E X = 0 and E X² = 1/n: 20 comparisons."""
    manifold = Stiefel.of_shape(5, 2)
    X = draws(manifold, quadratic(np.zeros((5, 2)), 0.0), 0.4, seed=1)
    check(X, 0.0)
    check(X**2, 1 / 5)


@pytest.mark.parametrize("kappa", [0.5, 2.0, 10.0])
def test_von_mises_fisher_on_the_sphere(kappa: float) -> None:
    """E x = (coth κ − 1/κ) μ, E (μᵀx)² = 1 − 2 (coth κ − 1/κ)/κ: 4 comparisons for each κ."""
    mu = np.array([2.0, -1.0, 2.0]) / 3.0
    X = draws(Stiefel.of_shape(3, 1), quadratic(mu[:, None], kappa), 0.5 / np.sqrt(kappa), seed=2)
    mean = 1 / np.tanh(kappa) - 1 / kappa
    check(X, mean * mu)
    check((X @ mu) ** 2, 1 - 2 * mean / kappa)


# One that is exp ⟨F, X⟩, and one with a cell left out, which is no longer linear in X.
@pytest.mark.parametrize("missing", [None, (1, 1)])
def test_tilted_stiefel_against_rotations(missing: tuple[int, int] | None) -> None:
    """E X and E X², with a large and a small singular value in F: 12 comparisons for each."""
    center, precision = np.array([[1.5, 0.2], [-0.4, 1.0], [0.3, -0.8]]), 2.0
    if missing is not None:
        center[missing] = np.nan

    def log_density(points: Matrix) -> Matrix:
        return np.asarray(-0.5 * precision * np.nansum((center - points) ** 2, axis=(1, 2)))

    X = draws(Stiefel.of_shape(3, 2), quadratic(center, precision), 0.4, seed=3)
    mean, square = moments(log_density)
    check(X, mean.ravel())
    check(X**2, square.ravel())


def test_quadrature_over_rotations_is_exact() -> None:
    """Uniform moments, and no change when the nodes are doubled."""
    mean, square = moments(lambda X: np.zeros(len(X)))
    np.testing.assert_allclose(mean, 0.0, atol=1e-14)
    np.testing.assert_allclose(square, 1 / 3, rtol=1e-13)
    F = np.array([[3.0, 0.4], [-0.8, 2.0], [0.6, -1.6]])
    coarse, fine = (moments(lambda X: np.tensordot(X, F, 2), nodes) for nodes in (40, 80))
    np.testing.assert_allclose(coarse, fine, rtol=0, atol=1e-12)


def test_gaussian_in_flat_space() -> None:
    """Means and variances of three coordinates with unequal scales: 6 comparisons."""
    manifold, target = anisotropic_gaussian()
    assert isinstance(manifold, Euclidean)
    center, variance = np.array([1.0, -2.0, 0.5]), np.array([1.0, 0.25, 4.0])
    X = draws(manifold, target, 0.4, seed=4)
    check(X, center)
    check((X - center) ** 2, variance)
