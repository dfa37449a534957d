"""Rotations of two components: their conditional distribution, and what they must leave alone."""

import numpy as np
import pytest

from manifill.base.arrays import Matrix, Vector
from manifill.sampling.component_rotation import rotate_neighbours
from tests.problem.differences import evaluate
from tests.problem.likelihoods import CASES, Case, for_each_case
from tests.sampling.targets import SHAPE, point_with_effects

# A floor at which brackets are whole circles.
WHOLE = 1e6


def rotated(position: Vector, angle: float, a: int, b: int, r: int) -> Vector:
    """Return the point with columns a and b of both factors turned by an angle."""
    m, n = SHAPE
    turn = np.eye(r)
    turn[np.ix_([a, b], [a, b])] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    point = position.copy()
    point[: (m + n) * r] = (position[: (m + n) * r].reshape(m + n, r) @ turn).ravel()
    return point


def columns(position: Vector, r: int) -> Matrix:
    """Return U over V."""
    return position[: sum(SHAPE) * r].reshape(-1, r)


@pytest.mark.parametrize("floor", [WHOLE, 0.1], ids=["whole circle", "2.8 of it"])
@pytest.mark.parametrize("weighted", [False, True])
@for_each_case
def test_angles_have_the_density_of_the_posterior_along_the_circle(case: Case, weighted: bool, floor: float) -> None:
    """Means of cos 2θ and sin 2θ, errors from batches: beyond 4.5 of them 2e-5 times (t, 99 degrees of freedom)."""
    density, position = point_with_effects(case, [2.0, 0.7], weighted=weighted)
    grid = 2.0 * np.pi * np.arange(400) / 400  # 2θ: half a turn more changes signs only
    log_p = np.array([evaluate(density, rotated(position, 0.5 * t, 0, 1, 2))[0] for t in grid])
    p = np.exp(log_p - log_p.max())
    circle = np.stack([np.cos(grid), np.sin(grid)], axis=1)
    expected = p @ circle / p.sum()
    assert (np.abs(expected) > 0.02).all(), "a distribution that is not symmetric"
    rng, seen, point = np.random.default_rng(2), [], position.copy()
    for _ in range(10_000):
        rotate_neighbours(rng, density, point, 0, 1, floor)
        cosine, sine = 0.5 * columns(position, 2).T @ columns(point, 2)[:, 0]
        seen.append([cosine**2 - sine**2, 2.0 * cosine * sine])
    batches = np.array(seen).reshape(100, 100, 2).mean(axis=1)
    z = (batches.mean(axis=0) - expected) / (batches.std(axis=0, ddof=1) / 10.0)
    assert (np.abs(z) < 4.5).all(), z


def test_only_the_chosen_neighbours_turn_and_s_and_effects_stay() -> None:
    density, position = point_with_effects(CASES["gaussian"], [0.1, 3.0, 1.0])  # in the order of s: 0, 2, 1
    for first, pair, other in ((0, [0, 2], 1), (1, [2, 1], 0)):
        point = position.copy()
        rotate_neighbours(np.random.default_rng(3), density, point, first, 2, WHOLE)
        rest = sum(SHAPE) * 3
        np.testing.assert_array_equal(point[rest:], position[rest:])
        before, after = columns(position, 3), columns(point, 3)
        np.testing.assert_array_equal(after[:, other], before[:, other])
        assert not np.allclose(after[:, pair], before[:, pair])
        for part in (slice(None, SHAPE[0]), slice(SHAPE[0], None)):
            np.testing.assert_allclose(after[part].T @ after[part], np.eye(3), atol=1e-14)


def test_later_pairs_see_the_earlier_rotations() -> None:
    """All pairs in one call are the same as one after the other with the same random numbers."""
    density, position = point_with_effects(CASES["gaussian"], [0.1, 3.0, 1.0])
    together, apart = position.copy(), position.copy()
    rotate_neighbours(np.random.default_rng(4), density, together, 0, 1, WHOLE)
    rng = np.random.default_rng(4)
    rotate_neighbours(rng, density, apart, 0, 5, WHOLE)
    rotate_neighbours(rng, density, apart, 1, 5, WHOLE)
    np.testing.assert_allclose(together, apart, rtol=0, atol=1e-12)


def test_no_angle_is_wider_than_its_bracket() -> None:
    """Eight standard deviations of 2θ, which are √(2 floor) over the difference of the singular values."""
    density, position = point_with_effects(CASES["gaussian"], [3.0, 1.0])
    rng, floor, widest = np.random.default_rng(6), 1e-4, 0.0
    for _ in range(200):
        point = position.copy()
        rotate_neighbours(rng, density, point, 0, 1, floor)
        turn = 0.5 * columns(position, 2).T @ columns(point, 2)
        widest = max(widest, abs(2.0 * np.arctan2(turn[0, 1], turn[0, 0])))
    assert 0.5 * 8.0 * np.sqrt(2.0 * floor) / 2.0 < widest < 8.0 * np.sqrt(2.0 * floor) / 2.0


def test_one_component_has_no_neighbour() -> None:
    density, position = point_with_effects(CASES["gaussian"], [2.0])
    point = position.copy()
    rotate_neighbours(np.random.default_rng(5), density, point, 0, 1, WHOLE)
    np.testing.assert_array_equal(point, position)
