"""Effects made larger or smaller at once: the distribution of their scale, and what must stay."""

import numpy as np
import pytest

from manifill.base.arrays import Vector
from manifill.sampling.effect_scale import rescale_effects
from manifill.sampling.system import Target
from tests.geometry.manifolds import plain_low_rank
from tests.problem.differences import evaluate
from tests.problem.likelihoods import CASES, Case, for_each_case
from tests.sampling.targets import SHAPE, completion, point_with_effects

M, N = SHAPE
FIRST = (M + N + 1) * 2 + 1
ROWS, COLUMNS = slice(FIRST, FIRST + M), slice(FIRST + M, None)


def expected_log_scales(density: Target, position: Vector) -> Vector:
    """Return the mean log scales of a and b under the posterior in that plane, with the measure e^(mt + nu) dt du."""
    t = np.linspace(-12.0, 5.0, 171)
    log_p = np.empty((t.size, t.size))
    for i, k in np.ndindex(log_p.shape):
        point = position.copy()
        point[ROWS] *= np.exp(t[i])
        point[COLUMNS] *= np.exp(t[k])
        log_p[i, k] = evaluate(density, point)[0] + M * t[i] + N * t[k]
    p = np.exp(log_p - log_p.max())
    assert p[[0, -1]].max() < 1e-6
    assert p[:, [0, -1]].max() < 1e-6
    return np.asarray(np.array([p.sum(axis=1) @ t, p.sum(axis=0) @ t]) / p.sum())


@pytest.mark.parametrize("weighted", [False, True])
@for_each_case
def test_scales_have_the_density_of_the_posterior_along_them(case: Case, weighted: bool) -> None:
    """Means of both log scales, with errors from batches: beyond 4.5 of them 2e-5 times (t, 99 degrees of freedom)."""
    density, position = point_with_effects(case, [2.0, 0.7], weighted=weighted)
    rng, seen, point = np.random.default_rng(1), [], position.copy()
    for _ in range(20_000):
        rescale_effects(rng, density, point, 1.0)
        seen.append([point[FIRST] / position[FIRST], point[-1] / position[-1]])
    batches = np.log(seen).reshape(100, 200, 2).mean(axis=1)
    z = (batches.mean(axis=0) - expected_log_scales(density, position)) / (batches.std(axis=0, ddof=1) / 10.0)
    assert (np.abs(z) < 4.5).all(), z


def test_directions_and_everything_else_stay() -> None:
    density, position = point_with_effects(CASES["gaussian"], [2.0, 0.7])
    point = position.copy()
    rescale_effects(np.random.default_rng(2), density, point, 1.0)
    np.testing.assert_array_equal(point[:FIRST], position[:FIRST])
    for part in (ROWS, COLUMNS):
        ratios = point[part] / position[part]
        np.testing.assert_allclose(ratios, ratios[0], rtol=1e-14)
        assert ratios[0] not in (0.0, 1.0)


def test_without_effects_there_is_nothing_to_do() -> None:
    density = completion()[1]
    position = plain_low_rank(6, 5, 2, effects=False).random_point(np.random.default_rng(3))
    point = position.copy()
    plain = density._replace(layout=density.layout._replace(has_effects=False))
    rescale_effects(np.random.default_rng(4), plain, point, 1.0)
    np.testing.assert_array_equal(point, position)
