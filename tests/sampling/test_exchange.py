"""Effects exchanged with the low-rank part: the completed matrix stays, and so does the prior."""

import numpy as np
import pytest

from manifill.problem import Effects, EffectsPrior, Gamma, Gaussian, Model, Observations
from manifill.problem.effects import draw_levels
from manifill.problem.joint import JointDensity, pack, unpack
from manifill.sampling.exchange import exchange_effects
from manifill.sampling.singular import extended_factors
from manifill.types import Generator, Matrix, Vector
from tests.problem.likelihoods import CASES
from tests.sampling.targets import SHAPE, point_with_effects

PRIOR = EffectsPrior(0.5, 0.4, Gamma(3.0, 2.0), 1.5)


def matrix(position: Vector, shape: tuple[int, int], rank: int) -> Matrix:
    """Return the completed matrix."""
    U, s, V, flat = unpack(position, shape, rank)
    left, right = extended_factors(U, s, V, Effects(flat[0], flat[1 : 1 + len(U)], flat[1 + len(U) :], 1.0, 1.0))
    return np.asarray(left @ right.T)


def from_prior(rng: Generator, shape: tuple[int, int], rank: int) -> Vector:
    """Return a point drawn from the prior that ``density_of`` has."""
    U, V = (np.linalg.qr(rng.standard_normal((k, rank)))[0] * rng.choice([-1.0, 1.0], rank) for k in shape)
    s = rng.exponential(size=rank) / rng.gamma(3.0, 1.0)
    row = rng.standard_normal(shape[0]) * rng.gamma(3.0, 0.5) ** -0.5
    return pack(U, s, V, Effects(0.0, row, rng.standard_normal(shape[1]) / 1.5**0.5, 1.0, 1.0))


def density_of(shape: tuple[int, int], rank: int) -> JointDensity:
    """Return a density whose data do not matter here, since X stays."""
    cells = Observations.from_triples([0], [0], [1.0], shape).by_row
    model = Model(rank, Gaussian(), Gamma(3.0, 1.0), Gamma(2.0, 1.0), effects=PRIOR)
    return JointDensity.of(model, cells, shape)


def features(position: Vector, shape: tuple[int, int], rank: int) -> list[float]:
    """Return bounded functions of what an exchange changes, some of them of the components in their given order."""
    _, s, _, flat = unpack(position, shape, rank)
    total, a, b = s.sum(), np.sum(flat[1 : 1 + shape[0]] ** 2), np.sum(flat[1 + shape[0] :] ** 2)
    of_effects = [a / (3.0 + a), b / (3.0 + b), np.tanh(flat[1]), np.tanh(flat[-1])]
    return [total / (1.0 + total), s.min() / total, s[0] / total, float(s[0] < s[-1]), *of_effects]


@pytest.mark.parametrize(("shape", "rank"), [((5, 4), 1), ((5, 4), 2), ((6, 3), 3)], ids=str)
def test_the_prior_stays(shape: tuple[int, int], rank: int) -> None:
    """Means of features before and after, over independent points: 22 z-scores, one beyond 4.5 once in 6700 runs."""
    rng, density = np.random.default_rng(1), density_of(shape, rank)
    changes = []
    for _ in range(10_000):
        point = from_prior(rng, shape, rank)
        before = features(point, shape, rank)
        for _ in range(3):
            exchange_effects(rng, density, point)
        changes.append(np.subtract(features(point, shape, rank), before))
    mean, error = np.mean(changes, axis=0), np.std(changes, axis=0) / 100.0
    z = mean[error > 0] / error[error > 0]  # of one component, all is said by its size
    assert (np.abs(z) < 4.5).all(), z


@pytest.mark.parametrize("s", [[2.0], [2.0, 0.7], [2.0, 0.7, 1e-6], [5.0, 0.2, 1.0, 3.0]], ids=str)
def test_the_completed_matrix_stays_and_factors_are_orthonormal(s: list[float]) -> None:
    """The last has as many components as columns, so that 1 is in the span of V."""
    density, position = point_with_effects(CASES["gaussian"], s)
    point, rng = position.copy(), np.random.default_rng(2)
    for _ in range(20):
        exchange_effects(rng, density, point)
    r = len(s)
    np.testing.assert_allclose(matrix(point, SHAPE, r), matrix(position, SHAPE, r), atol=1e-12)
    U, values, V, effects = unpack(point, SHAPE, r)
    for factor in (U, V):
        np.testing.assert_allclose(factor.T @ factor, np.eye(r), atol=1e-12)
    assert (values > 0.0).all()
    assert not np.allclose(effects[1:], position[-effects.size + 1 :], atol=1e-2)


def test_small_components_move_as_they_would_if_they_were_larger() -> None:
    """With the same seed, ten-thousandths and thousand-millionths of the others: the same moves but for their size."""
    shape, rank, ends = (30, 20), 4, []
    for size in (1e-4, 1e-9):
        rng, density = np.random.default_rng(6), density_of(shape, rank)
        U, V = (np.linalg.qr(rng.standard_normal((k, rank)))[0] for k in shape)
        effects = Effects(0.0, rng.standard_normal(shape[0]), rng.standard_normal(shape[1]), 1.0, 1.0)
        point = pack(U, np.array([260.0, 220.0, 0.9 * size, 1.8 * size]), V, effects)
        for _ in range(50):
            exchange_effects(rng, density, point)
        ends.append(np.sort(unpack(point, shape, rank)[1])[:2] / size)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-2)
    assert not np.allclose(ends[0], [0.9, 1.8], rtol=1e-3), "they move"


def test_without_effects_there_is_nothing_to_do() -> None:
    density, position = point_with_effects(CASES["gaussian"], [2.0, 0.7])
    plain = density._replace(left=density.left[:, :2].copy(), right=density.right[:, :2].copy())
    point = position.copy()
    exchange_effects(np.random.default_rng(4), plain, point)
    np.testing.assert_array_equal(point, position)


def test_levels_follow_the_prior_and_leave_the_sums() -> None:
    """Means and covariances of (μ, mean a, mean b) under the prior: nine z-scores, one beyond 4.5 in 16,000 runs."""
    rng, (m, n), levels, count = np.random.default_rng(5), SHAPE, [], 20_000
    a, b = rng.standard_normal(m), rng.standard_normal(n)
    for _ in range(count):
        given = Effects(
            PRIOR.mean + PRIOR.mean_precision**-0.5 * rng.standard_normal(),
            0.8**-0.5 * rng.standard_normal(m),
            1.5**-0.5 * rng.standard_normal(n),
            0.8,
            1.5,
        )
        drawn = draw_levels(rng, PRIOR, given)
        levels.append([drawn.mean - PRIOR.mean, drawn.row.mean(), drawn.column.mean()])
    values = np.array(levels)
    variances = np.array([1.0 / PRIOR.mean_precision, 1.0 / (0.8 * m), 1.0 / (1.5 * n)])
    z = [values.mean(axis=0) / np.sqrt(variances / count)]
    z.append((np.mean(values**2, axis=0) - variances) / (variances * np.sqrt(2.0 / count)))
    for k, other in ((0, 1), (0, 2), (1, 2)):
        product = values[:, k] * values[:, other]
        z.append(product.mean(keepdims=True) / (product.std() / np.sqrt(count)))
    assert (np.abs(np.concatenate(z)) < 4.5).all(), z
    given = Effects(0.2, a, b, 0.8, 1.5)
    drawn = draw_levels(rng, PRIOR, given)
    assert abs(drawn.mean - given.mean) > 1e-3
    np.testing.assert_allclose(drawn.mean + drawn.row[:, None] + drawn.column, given.mean + a[:, None] + b, atol=1e-14)
