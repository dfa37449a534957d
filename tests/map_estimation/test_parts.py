"""The parts of the solver, one by one."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array

from manifill.base.arrays import Vector
from manifill.likelihoods import Gaussian
from manifill.map_estimation import EffectPrecisions, Objective, Prior
from manifill.map_estimation import leading_triples as spectrum
from manifill.map_estimation.fixed_rank import _Search, polish
from manifill.map_estimation.lbfgs import minimise
from manifill.map_estimation.leading_triples import Triples, leading_triples
from manifill.map_estimation.point import origin
from manifill.map_estimation.precisions import default_effects
from manifill.map_estimation.proximal_step import proximal_step
from manifill.problem import Observations
from manifill.unknowns import components_of_product
from tests.map_estimation.problems import (
    EFFECTS,
    LIKELIHOODS,
    Plain,
    dense_x,
    evaluate_all,
    plain_value,
    random_point,
    shrink,
    some_objective,
    some_observations,
)

for_each_likelihood = pytest.mark.parametrize("name", LIKELIHOODS)


@for_each_likelihood
def test_objective_and_its_slopes(name: str) -> None:
    objective = some_objective(name, Prior(1.5, 2.0, EFFECTS))
    point = random_point(np.random.default_rng(1), objective.shape, 3, True)
    plain = Plain((point.U * point.s) @ point.V.T, point.row, point.column, point.mean)
    total, G = evaluate_all(objective, plain.X)
    assert objective.value(point) == pytest.approx(plain_value(objective, plain), rel=1e-12)
    assert objective.loss(point) == pytest.approx(-total / (2.0 * objective.size), rel=1e-12)
    np.testing.assert_allclose(objective.slopes(point).toarray(), G, rtol=1e-12, atol=1e-12)
    ahead, behind = (evaluate_all(objective, plain.X + h)[1] for h in (1e-5, -1e-5))
    np.testing.assert_allclose(objective.curvatures(point).toarray(), (behind - ahead) / 2e-5, rtol=1e-4, atol=1e-6)


def test_x_at_cells_is_x() -> None:
    point = random_point(np.random.default_rng(2), (12, 9), 3, True)
    rows, cols = np.indices((12, 9)).reshape(2, -1)
    np.testing.assert_allclose(point.at(rows, cols), dense_x(point).ravel(), rtol=1e-12, atol=1e-12)
    assert point.at(rows[:0], cols[:0]).shape == (0,)
    assert origin((4, 3), 2.0).at(np.array([1]), np.array([2])).tolist() == [2.0]


def test_singular_triples_of_a_product() -> None:
    rng = np.random.default_rng(3)
    A, B = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    U, s, V = components_of_product(A, B)
    np.testing.assert_allclose((U * s) @ V.T, A @ B.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("effects", [None, EFFECTS], ids=["plain", "effects"])
@for_each_likelihood
def test_gradient_of_the_search_is_a_difference(name: str, effects: EffectPrecisions | None) -> None:
    objective = some_objective(name, Prior(1.5, 2.0, effects))
    rng = np.random.default_rng(4)
    search = _Search(objective, random_point(rng, objective.shape, 2, effects is not None))
    position = search.start + 0.1 * rng.standard_normal(search.start.size)
    _, gradient = search.value_and_gradient(position)
    for _ in range(5):
        d = rng.standard_normal(position.size)
        ahead, behind = (search.value_and_gradient(position + h * d)[0] for h in (1e-5, -1e-5))
        assert gradient @ d == pytest.approx((ahead - behind) / 2e-5, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("effects", [None, EFFECTS], ids=["plain", "effects"])
def test_search_values_are_those_of_the_objective_at_triples(effects: EffectPrecisions | None) -> None:
    objective = some_objective("binomial", Prior(1.5, effects=effects))
    point = random_point(np.random.default_rng(5), objective.shape, 3, effects is not None)
    search = _Search(objective, point)
    there = search.point(search.start)  # μ is now the best one for μ + a
    np.testing.assert_allclose(dense_x(there), dense_x(point), rtol=0, atol=1e-12)
    assert search.value_and_gradient(search.start)[0] == pytest.approx(objective.value(there), rel=1e-12)
    assert objective.value(there) <= objective.value(point) * (1 + 1e-12)


def test_polish_stays_at_its_rank_and_lowers_the_objective() -> None:
    objective = some_objective("binomial", Prior(0.5))
    point = random_point(np.random.default_rng(6), objective.shape, 2, False)
    found = polish(objective, point, 1e-7, 500)
    assert found.point.rank == 2
    assert not found.stuck
    assert objective.value(found.point) < objective.value(point)


def test_a_proximal_step_in_the_whole_space_is_the_textbook_one() -> None:
    objective = Objective.of(some_observations(Gaussian(), (9, 9)), Gaussian(), Prior(1.5, 2.0))
    point = random_point(np.random.default_rng(7), objective.shape, 3, False)
    slopes = objective.slopes(point)
    moved = proximal_step(objective, point, slopes, leading_triples(slopes, point.U, point.V, 6))
    expected = shrink((point.U * point.s) @ point.V.T + slopes.toarray() / 2.0, 1.5 / 2.0)
    np.testing.assert_allclose((moved.U * moved.s) @ moved.V.T, expected, rtol=0, atol=1e-7)


@for_each_likelihood
def test_a_proximal_step_never_climbs(name: str) -> None:
    rng = np.random.default_rng(8)
    objective = some_objective(name, Prior(0.5, effects=EFFECTS))
    for rank in (0, 1, 4):
        point = random_point(rng, objective.shape, rank, True)
        slopes = objective.slopes(point)
        moved = proximal_step(objective, point, slopes, leading_triples(slopes, point.U, point.V, 2))
        assert objective.value(moved) <= objective.value(point)


@pytest.mark.parametrize("work", [0, 10**8], ids=["iterative", "dense"])
def test_leading_triples(work: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectrum, "DENSE_WORK", work)
    rng = np.random.default_rng(9)
    matrix = np.where(rng.random((30, 20)) < 0.4, rng.standard_normal((30, 20)), 0.0)
    U, V = (np.linalg.qr(rng.standard_normal((size, 3)))[0] for size in (30, 20))
    rest = matrix - U @ (U.T @ matrix)
    rest -= (rest @ V) @ V.T
    found = leading_triples(csr_array(matrix), U, V, 4)
    np.testing.assert_allclose(found.values, np.linalg.svd(rest, compute_uv=False)[:4], rtol=1e-8)
    np.testing.assert_allclose(rest @ found.right, found.left * found.values, rtol=0, atol=1e-6)
    assert found.norm == found.values[0]
    again = leading_triples(csr_array(matrix), U, V, 4)
    assert np.array_equal(found.left, again.left)


def test_leading_triples_of_nothing() -> None:
    found = leading_triples(csr_array((4, 3)), np.empty((4, 0)), np.empty((3, 0)), 2)
    assert found.norm == 0.0
    assert found.left.shape == (4, 0)
    assert isinstance(found.first(1), Triples)


def test_a_cluster_that_cannot_be_resolved_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectrum, "DENSE_WORK", 0)
    monkeypatch.setattr(spectrum, "MOST_RESTARTS", 1)
    values = 1.0 + 1e-7 * np.random.default_rng(10).random(200)
    found = leading_triples(csr_array(np.diag(values)), np.empty((200, 0)), np.empty((200, 0)), 5)
    np.testing.assert_allclose(found.values, 1.0, rtol=1e-3)


def quadratic(x: Vector) -> tuple[float, Vector]:
    """Return a quadratic about 1, far from zero: its values lose half the digits."""
    curvatures = np.geomspace(1.0, 100.0, x.size)
    return 1e3 + 0.5 * float(curvatures @ (x - 1.0) ** 2), curvatures * (x - 1.0)


def rosenbrock(x: Vector) -> tuple[float, Vector]:
    u, v = x
    return (1 - u) ** 2 + 100 * (v - u * u) ** 2, np.array([-2 * (1 - u) - 400 * u * (v - u * u), 200 * (v - u * u)])


def walled(x: Vector) -> tuple[float, Vector]:
    """Return a function with no values below zero."""
    return (float(np.sum(x - np.log(x))), 1.0 - 1.0 / x) if (x > 0).all() else (float("nan"), np.full_like(x, np.nan))


@pytest.mark.parametrize(
    ("function", "start"), [(quadratic, np.zeros(20)), (rosenbrock, np.array([-1.2, 1.0])), (walled, np.full(3, 5.0))]
)
def test_lbfgs_finds_minima_to_many_digits(function: Callable[[Vector], tuple[float, Vector]], start: Vector) -> None:
    found = minimise(function, start, lambda g: bool(np.linalg.norm(g) < 1e-10), 500)
    assert not found.stuck
    np.testing.assert_allclose(found.position, 1.0, rtol=0, atol=1e-9)


def test_lbfgs_stops_after_its_steps_and_where_it_can_do_no_better() -> None:
    assert minimise(quadratic, np.zeros(20), lambda g: False, 7).steps == 7
    stuck = minimise(quadratic, np.zeros(20), lambda g: False, 10_000)
    assert stuck.stuck
    assert stuck.steps < 1000
    assert minimise(quadratic, np.ones(20), lambda g: bool(np.linalg.norm(g) < 1e-10), 10).steps == 0


def test_default_effects_find_the_variances_between_lines() -> None:
    rng = np.random.default_rng(11)
    m, n = 300, 200
    Y = 5.0 + 0.5 * rng.standard_normal((m, 1)) + 2.0 * rng.standard_normal(n) + rng.standard_normal((m, n))
    rows, cols = np.nonzero(rng.random((m, n)) < 0.1)
    found = default_effects(Observations.from_triples(rows, cols, Y[rows, cols], (m, n)), Gaussian())
    assert found.row**-0.5 == pytest.approx(0.5, rel=0.2)
    assert found.column**-0.5 == pytest.approx(2.0, rel=0.2)
    assert found.centre == pytest.approx(5.0, abs=0.5)


@pytest.mark.parametrize("level", [0.0, 1000.0])
def test_default_effects_of_rows_do_not_see_the_levels_of_columns(level: float) -> None:
    rng = np.random.default_rng(12)
    rows, cols = np.nonzero(rng.random((200, 20)) < 0.5)
    values = 0.5 * rng.standard_normal(200)[rows] + rng.standard_normal(len(rows)) + level * cols
    found = default_effects(Observations.from_triples(rows, cols, values, (200, 20)), Gaussian())
    assert found.row**-0.5 == pytest.approx(0.5, rel=0.2)


@pytest.mark.parametrize("value", [0.1, 1.0])
def test_constant_data_have_no_effects_but_could(value: float) -> None:
    """Rounding errors are no variance between lines."""
    rows, cols = np.indices((20, 10)).reshape(2, -1)
    found = default_effects(Observations.from_triples(rows, cols, np.full(200, value)), Gaussian())
    assert found.row == found.column == pytest.approx(1000.0)


@pytest.mark.parametrize("values", [[2.0], [2.0, 2.0, 2.0], [0.0, 1.0]])
def test_default_effects_of_hardly_any_data(values: list[float]) -> None:
    count = len(values)
    for rows, cols in (([0] * count, range(count)), (range(count), [0] * count), (range(count), range(count))):
        observations = Observations.from_triples(list(rows), list(cols), values)
        found = default_effects(observations, Gaussian())
        assert np.isfinite(found).all()
        assert min(found[:3]) > 0.0


def test_an_objective_keeps_its_cells_under_another_prior() -> None:
    objective = some_objective()
    other = objective.under(Prior(7.0, 2.0))
    assert isinstance(other, Objective)
    assert other.by_row is objective.by_row
    assert other.prior == Prior(7.0, 2.0)
