"""Trajectories of a given length: exact moments, steps from exact draws, and what refused and divergent ones leave.

Comparisons are z-scores.  Of the 24 against quadrature, as in ``test_moments``, one is beyond 4 with a chance of 0.2 %;
of the 52 changes from exact draws one is beyond 4.5 with a chance of 0.04 %.
"""

import numpy as np
import pytest

from manifill.base.arrays import Generator, Matrix
from manifill.geometry import ScaledStiefel, Stiefel
from manifill.sampling.hmc import trajectories
from manifill.sampling.integrators import Integrator, Leapfrog, TwoStage
from manifill.sampling.nuts import Workspace
from tests.exact.zscores import z_scores
from tests.geometry.manifolds import AnyManifold
from tests.sampling.rotations import moments
from tests.sampling.targets import quadratic, system_of

CENTER, PRECISION = np.array([[1.5, 0.2], [-0.4, 1.0], [0.3, -0.8]]), 2.0


def scaled() -> ScaledStiefel:
    return ScaledStiefel.with_masses(3, np.array([1.0, 3.0]))


SPACES: dict[str, tuple[AnyManifold, Integrator]] = {
    "geodesics": (Stiefel.of_shape(3, 2), Leapfrog()),
    "masses": (scaled(), TwoStage()),
}


@pytest.mark.parametrize("name", SPACES)
def test_moments_on_the_stiefel_manifold(name: str) -> None:
    """E X and E X² of exp ⟨F, X⟩, with one trajectory or two at a time, of any length."""
    manifold, integrator = SPACES[name]
    system, work = system_of(manifold, quadratic(CENTER, PRECISION)), Workspace.allocate(manifold.dimension, 1)
    X, accepted = np.empty((2, 4000, manifold.dimension)), []
    for chain, rng in zip(X, np.random.default_rng(1).spawn(2), strict=True):
        position = manifold.random_point(rng)
        for k in range(-100, len(chain)):
            steps = rng.integers(2, 6, size=rng.integers(1, 3))
            moved = trajectories(rng, system, integrator, position, 0.6, steps, work)
            assert moved[1] == steps.sum() or moved[3], "only a divergence ends a trajectory early"
            accepted.append(moved[0])
            if k >= 0:
                chain[k] = position
    assert 0.3 < np.mean(accepted) < 0.995, "some are rejected"

    def log_density(points: Matrix) -> Matrix:
        return np.asarray(-0.5 * PRECISION * np.sum((CENTER - points) ** 2, axis=(1, 2)))

    mean, square = moments(log_density)
    for values, expected in ((X, mean), (X**2, square)):
        z = z_scores(values, expected.ravel())
        assert np.abs(z).max() < 4.0, z


def exact_draws(rng: Generator, number: int) -> Matrix:
    """Return draws (number, 6) from exp ⟨F, X⟩ with F = PRECISION · CENTER: uniform ones, accepted or not."""
    F, drawn = PRECISION * CENTER, list[Matrix]()
    largest = np.linalg.svd(F, compute_uv=False).sum()
    while sum(map(len, drawn)) < number:
        X, _ = np.linalg.qr(rng.standard_normal((400_000, 3, 2)))
        X *= rng.choice([-1.0, 1.0], (len(X), 1, 2))  # a QR decomposition may prefer signs
        drawn.append(X[np.log(rng.random(len(X))) < np.sum(F * X, axis=(1, 2)) - largest])
    return np.concatenate(drawn)[:number].reshape(number, 6)


@pytest.mark.parametrize("steps", [[3], [4, 2, 2]], ids=str)
@pytest.mark.parametrize("name", SPACES)
def test_trajectories_from_exact_draws_change_nothing_on_average(name: str, steps: list[int]) -> None:
    """Means of X, X² and the log density before and after, 40,000 times, with about half of the ends refused."""
    manifold, integrator = SPACES[name]
    system = system_of(manifold, quadratic(CENTER, PRECISION))
    rng, work = np.random.default_rng(4), Workspace.allocate(6, 1)
    before = exact_draws(rng, 40_000)
    after, accepted = before.copy(), np.empty(len(before))
    for k, position in enumerate(after):
        accepted[k] = trajectories(rng, system, integrator, position, 1.1, np.array(steps), work)[0]
    assert 0.3 < accepted.mean() < 0.7
    features = [np.column_stack([X, X**2, X @ CENTER.ravel()]) for X in (before, after)]
    changes = features[1] - features[0]
    z = changes.mean(axis=0) / (changes.std(axis=0) / np.sqrt(len(changes)))
    assert np.abs(z).max() < 4.5, z


@pytest.mark.parametrize("name", SPACES)
def test_one_call_does_what_one_call_per_trajectory_does(name: str) -> None:
    """With the same random numbers: after a refusal the next trajectory begins with the gradient of its own start."""
    manifold, integrator = SPACES[name]
    system, refusals = system_of(manifold, quadratic(CENTER, PRECISION)), 0
    work, rng = Workspace.allocate(6, 1), np.random.default_rng(5)
    for seed in range(100):
        together = manifold.random_point(rng)
        apart, alike = together.copy(), np.random.default_rng(seed)
        trajectories(np.random.default_rng(seed), system, integrator, together, 1.1, np.array([3, 2, 2]), work)
        for steps in (3, 2, 2):
            kept = apart.copy()
            trajectories(alike, system, integrator, apart, 1.1, np.array([steps]), work)
            refusals += np.allclose(kept, apart, atol=1e-10)
        np.testing.assert_allclose(together, apart, atol=1e-9)
    assert 30 < refusals < 270


@pytest.mark.parametrize(("step_size", "precision"), [(1e3, 2.0), (0.5, 1e9)])
def test_a_divergent_trajectory_leaves_the_position(step_size: float, precision: float) -> None:
    """Steps whose equation has no solution, and energies that explode."""
    manifold = scaled()
    position = manifold.random_point(np.random.default_rng(2))
    point, work = position.copy(), Workspace.allocate(manifold.dimension, 1)
    system = system_of(manifold, quadratic(CENTER, precision))
    moved = trajectories(np.random.default_rng(3), system, TwoStage(), point, step_size, np.array([5, 2]), work)
    assert moved[0] == 0.0
    assert moved[3]
    np.testing.assert_allclose(point, position, atol=1e-12)
