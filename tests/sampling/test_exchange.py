"""Effects exchanged with the low-rank part: the completed matrix stays, and so does the prior."""

import numpy as np
import pytest

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.jit import compiled
from manifill.base.lapack import SVD_ADDRESS
from manifill.base.priors import Gamma
from manifill.likelihoods import Gaussian, WithNoise
from manifill.problem import Model, Observations
from manifill.problem.joint_density import JointDensity
from manifill.sampling.effect_exchange import exchange, exchange_effects
from manifill.unknowns import Effects, EffectsPrior, Layout, Unknowns, Views, view
from manifill.unknowns.effects import draw_levels
from tests.problem.likelihoods import CASES
from tests.sampling.targets import SHAPE, point_with_effects

PRIOR = EffectsPrior(0.5, 0.4, Gamma(3.0, 2.0), 1.5)


def layout_of(shape: tuple[int, int], rank: int, gaps: bool = False) -> Layout:
    """Return a layout with effects of all rows and columns, or without those of every third one."""
    whole = Layout.whole(*shape, rank, True, 0)
    rows, columns = (np.flatnonzero(np.arange(size) % 3 != 1) for size in shape)
    return whole._replace(effect_rows=rows, effect_columns=columns) if gaps else whole


def parts(position: Vector, shape: tuple[int, int], rank: int) -> Views:
    return view(layout_of(shape, rank), position)


def matrix(position: Vector, shape: tuple[int, int], rank: int) -> Matrix:
    """Return the completed matrix."""
    at = parts(position, shape, rank)
    return np.asarray(at.U * at.s @ at.V.T + at.mean[0] + at.row[:, None] + at.column)


def from_prior(rng: Generator, shape: tuple[int, int], rank: int, gaps: bool = False) -> Vector:
    """Return a point drawn from the prior that ``density_of`` has."""
    U, V = (np.linalg.qr(rng.standard_normal((k, rank)))[0] * rng.choice([-1.0, 1.0], rank) for k in shape)
    s = rng.exponential(size=rank) / rng.gamma(3.0, 1.0)
    row = rng.standard_normal(shape[0]) * rng.gamma(3.0, 0.5) ** -0.5
    effects = Effects(0.0, row, rng.standard_normal(shape[1]) / 1.5**0.5, 1.0, 1.0)
    return Unknowns(U, s, V, effects, np.empty(0)).pack(layout_of(shape, rank, gaps))


def density_of(shape: tuple[int, int], rank: int, gaps: bool = False) -> JointDensity:
    """Return a density whose data do not matter here, since X stays."""
    cells = Observations.from_triples([0], [0], [1.0], shape).by_row
    model = Model(rank, Gaussian(), Gamma(3.0, 1.0), WithNoise(Gamma(2.0, 1.0)), effects=PRIOR)
    return JointDensity.of(model, cells, layout_of(shape, rank, gaps))


def features(layout: Layout, position: Vector) -> list[float]:
    """Return bounded functions of what an exchange changes, some of them of the components in their given order."""
    at = view(layout, position)
    s, total, a, b = at.s, at.s.sum(), np.sum(at.row**2), np.sum(at.column**2)
    of_effects = [a / (3.0 + a), b / (3.0 + b), np.tanh(at.row[0]), np.tanh(at.column[-1])]
    return [total / (1.0 + total), s.min() / total, s[0] / total, float(s[0] < s[-1]), *of_effects]


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize(("shape", "rank"), [((5, 4), 1), ((5, 4), 2), ((6, 3), 3)], ids=str)
def test_the_prior_stays(shape: tuple[int, int], rank: int, gaps: bool) -> None:
    """Means of features before and after, over independent points: 44 z-scores, one beyond 4.5 once in 3300 runs.

    With gaps, the 6×3 table has as many columns with effects as directions, or fewer.
    """
    rng, density = np.random.default_rng(1), density_of(shape, rank, gaps)
    changes = []
    for _ in range(10_000):
        point = from_prior(rng, shape, rank, gaps)
        before = features(density.layout, point)
        for _ in range(3):
            exchange_effects(rng, density, point, 1.0)
        changes.append(np.subtract(features(density.layout, point), before))
    mean, error = np.mean(changes, axis=0), np.std(changes, axis=0) / 100.0
    z = mean[error > 0] / error[error > 0]  # of one component, all is said by its size
    assert (np.abs(z) < 4.5).all(), z


@pytest.mark.parametrize("number", [4000, pytest.param(40_000, marks=pytest.mark.statistical)])
@pytest.mark.parametrize(("shape", "gaps"), [((2, 2), False), ((2, 6), False), ((3, 8), True), ((6, 3), True)], ids=str)
def test_the_prior_stays_if_singular_values_are_large(shape: tuple[int, int], gaps: bool, number: int) -> None:
    """Two rows and a large s: along the line there are two modes, and how far a bracket reaches depends on its length.

    Where s is large, the prior of the effects decides how far they move.  Means of logarithms before and after, over
    independent points: 24 z-scores, one beyond 4.5 once in 6100 runs.
    """
    rng, (m, n), rank, layout = np.random.default_rng(7), shape, 1, layout_of(shape, 1, gaps)
    cells = Observations.from_triples([0], [0], [1.0], shape).by_row
    effects_prior = EffectsPrior(0.0, 1.0, 1.0, 1.0)
    model = Model(rank, Gaussian(), Gamma(3.0, 30.0), WithNoise(1.0), effects=effects_prior)
    density = JointDensity.of(model, cells, layout)
    u, v, effects = (rng.standard_normal((number, k)) for k in (m, n, layout.effects_size))
    s = rng.exponential(size=(number, rank)) / (rng.gamma(3.0, size=(number, 1)) / 30.0)
    u, v = (factor / np.linalg.norm(factor, axis=1, keepdims=True) for factor in (u, v))
    before = np.hstack([u, v, s, effects])
    after = before.copy()
    exchange_all(rng, density, after, 3, SVD_ADDRESS)
    changes = logarithms(layout, after) - logarithms(layout, before)
    z = changes.mean(axis=0) / (changes.std(axis=0) / np.sqrt(number))
    assert (np.abs(z) < 4.5).all(), z


@compiled
def exchange_all(rng: Generator, density: JointDensity, points: Matrix, moves: int, svd_address: int) -> None:
    """Move every point so many times, in place."""
    for k in range(len(points)):
        for _ in range(moves):
            exchange(rng, density, points[k], svd_address)


def logarithms(layout: Layout, points: Matrix) -> Matrix:
    """Return logarithms of s, |a|² and |b|² of points of rank one, (points, …), and products of them."""
    ends = np.cumsum([layout.factors_size, 1, 1, layout.effect_rows.size])
    _, s, _, a, b = np.split(points, ends, axis=1)
    log_s, log_a, log_b = (np.log(np.sum(x**2, axis=1)) for x in (s, a, b))
    return np.stack([log_s, log_a, log_b, log_s * log_a, log_s * log_b, log_a**2], axis=1)


@pytest.mark.parametrize("s", [[2.0], [2.0, 0.7], [2.0, 0.7, 1e-6], [5.0, 0.2, 1.0, 3.0]], ids=str)
def test_the_completed_matrix_stays_and_factors_are_orthonormal(s: list[float]) -> None:
    """The last has as many components as columns, so that 1 is in the span of V."""
    density, position = point_with_effects(CASES["gaussian"], s)
    point, rng = position.copy(), np.random.default_rng(2)
    for _ in range(20):
        exchange_effects(rng, density, point, 1.0)
    r = len(s)
    np.testing.assert_allclose(matrix(point, SHAPE, r), matrix(position, SHAPE, r), atol=1e-12)
    before, after = parts(position, SHAPE, r), parts(point, SHAPE, r)
    for factor in (after.U, after.V):
        np.testing.assert_allclose(factor.T @ factor, np.eye(r), atol=1e-12)
    assert (after.s > 0.0).all()
    assert not np.allclose([*after.row, *after.column], [*before.row, *before.column], atol=1e-2)


def test_with_gaps_cells_stay_where_rows_and_columns_have_effects() -> None:
    shape, rank, rng = (7, 6), 2, np.random.default_rng(8)
    density, position = density_of(shape, rank, gaps=True), from_prior(rng, shape, rank, gaps=True)
    point, layout = position.copy(), density.layout
    for _ in range(20):
        exchange_effects(rng, density, point, 1.0)
    totals, lowest = [], []
    for at in (view(layout, position), view(layout, point)):
        L = (at.U * at.s) @ at.V.T
        totals.append(L[np.ix_(layout.effect_rows, layout.effect_columns)] + at.row[:, None] + at.column)
        lowest.append(L)
    np.testing.assert_allclose(totals[1], totals[0], atol=1e-12)
    assert not np.allclose(lowest[1], lowest[0], atol=1e-2), "they move"


def test_small_components_move_as_they_would_if_they_were_larger() -> None:
    """With the same seed, ten-thousandths and thousand-millionths of the others: the same moves but for their size."""
    shape, rank, ends = (30, 20), 4, []
    for size in (1e-4, 1e-9):
        rng, density = np.random.default_rng(6), density_of(shape, rank)
        U, V = (np.linalg.qr(rng.standard_normal((k, rank)))[0] for k in shape)
        effects = Effects(0.0, rng.standard_normal(shape[0]), rng.standard_normal(shape[1]), 1.0, 1.0)
        s = np.array([260.0, 220.0, 0.9 * size, 1.8 * size])
        point = Unknowns(U, s, V, effects, np.empty(0)).pack(density.layout)
        for _ in range(50):
            exchange_effects(rng, density, point, 1.0)
        ends.append(np.sort(parts(point, shape, rank).s)[:2] / size)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-2)
    assert not np.allclose(ends[0], [0.9, 1.8], rtol=1e-3), "they move"


def test_without_effects_there_is_nothing_to_do() -> None:
    density, position = point_with_effects(CASES["gaussian"], [2.0, 0.7])
    plain = density._replace(layout=density.layout._replace(has_effects=False))
    point = position.copy()
    exchange_effects(np.random.default_rng(4), plain, point, 1.0)
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
