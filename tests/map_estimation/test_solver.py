"""The mode against a plain solver, and against what is known of it without one."""

import numpy as np
import pytest

from manifill.likelihoods import Gaussian
from manifill.map_estimation import EffectPrecisions, Objective, Prior, solve
from manifill.map_estimation import leading_triples as spectrum
from manifill.problem import Observations
from tests.map_estimation.problems import (
    EFFECTS,
    LIKELIHOODS,
    dense_x,
    evaluate_all,
    plain_solve,
    plain_value,
    random_point,
    some_objective,
    some_observations,
)

# Bounds of the curvature of −log p in x, at γ = 1.
CURVATURES = {"gaussian": 1.0, "binomial": 5.0 / 4.0}


@pytest.mark.parametrize(
    ("name", "prior"),
    [
        ("gaussian", Prior(1.5)),
        ("gaussian", Prior(0.4)),
        ("gaussian", Prior(3.0, precision=4.0)),
        ("gaussian", Prior(1.5, effects=EFFECTS)),
        ("gaussian", Prior(3.0, precision=4.0, effects=EFFECTS)),
        ("binomial", Prior(1.5)),
    ],
)
def test_agrees_with_a_plain_solver(name: str, prior: Prior) -> None:
    objective = some_objective(name, prior)
    plain = plain_solve(objective, CURVATURES[name] * prior.precision, 3000)
    point, certificate, _ = solve(objective, tolerance=1e-9)
    assert certificate.converged
    assert 0 < point.rank < 9
    np.testing.assert_allclose(dense_x(point), plain.X, rtol=0, atol=1e-6)
    np.testing.assert_allclose(point.row, plain.row, rtol=0, atol=1e-6)
    assert objective.value(point) == pytest.approx(plain_value(objective, plain), rel=1e-9)


@pytest.mark.parametrize("effects", [None, EFFECTS], ids=["plain", "effects"])
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_conditions_of_a_mode(name: str, effects: EffectPrecisions | None) -> None:
    """From dense matrices, for every likelihood: G = λUVᵀ + W with W outside of U and V and ‖W‖ ≤ λ."""
    objective = some_objective(name, Prior(1.2, effects=effects))
    point, certificate, _ = solve(objective, tolerance=1e-8)
    assert certificate.converged
    _, G = evaluate_all(objective, dense_x(point))
    W = G - 1.2 * point.U @ point.V.T
    assert np.abs(point.U.T @ W).max() < 1e-7
    assert np.abs(W @ point.V).max() < 1e-7
    assert np.linalg.norm(W, 2) < 1.2 * (1 + 1e-7)
    if effects is not None:
        np.testing.assert_allclose(G.sum(axis=1), effects.row * point.row, rtol=0, atol=1e-6)
        np.testing.assert_allclose(G.sum(axis=0), effects.column * point.column, rtol=0, atol=1e-6)
        assert G.sum() == pytest.approx(effects.mean * (point.mean - effects.centre), abs=1e-6)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_the_point_is_a_decomposition(name: str) -> None:
    point = solve(some_objective(name, Prior(0.5, effects=EFFECTS))).point
    for factor in (point.U, point.V):
        np.testing.assert_allclose(factor.T @ factor, np.eye(point.rank), rtol=0, atol=1e-12)
    assert (point.s > 0).all()
    assert (np.diff(point.s) <= 0).all()


def test_only_the_ratio_of_rate_and_precision_matters_without_effects() -> None:
    found = [solve(some_objective(prior=Prior(1.5 * gamma, gamma)), tolerance=1e-9).point for gamma in (1.0, 1e4, 1e-4)]
    for other in found[1:]:
        np.testing.assert_allclose(dense_x(other), dense_x(found[0]), rtol=0, atol=1e-7)


@pytest.mark.parametrize("effects", [None, EFFECTS], ids=["plain", "effects"])
def test_nothing_is_left_at_a_rate_above_the_norm_of_the_slopes(effects: EffectPrecisions | None) -> None:
    none = solve(some_objective(prior=Prior(1e9, effects=effects)), tolerance=1e-9)
    assert none.certificate.converged
    norm = float(np.linalg.norm(evaluate_all(some_objective(), dense_x(none.point))[1], 2))
    for rate, rank in ((1.001 * norm, 0), (0.999 * norm, 1)):
        found = solve(some_objective(prior=Prior(rate, effects=effects)), tolerance=1e-9)
        assert found.point.rank == rank
        assert found.certificate.converged


def test_a_row_without_cells_has_no_effect() -> None:
    point = solve(some_objective(prior=Prior(1.0, effects=EFFECTS)), tolerance=1e-9).point
    assert abs(point.row[-1]) < 1e-8
    assert np.abs(point.U[-1]).max() < 1e-8


def test_a_cap_on_the_rank() -> None:
    objective = some_objective(prior=Prior(0.3))
    free = solve(objective, tolerance=1e-8)
    capped = solve(objective, rank=2, tolerance=1e-8)
    assert free.point.rank > 2
    assert not free.certificate.cap_binds
    assert capped.point.rank == 2
    assert capped.certificate.cap_binds
    assert capped.certificate.converged
    assert capped.certificate.residuals.excess > 0.01
    assert objective.value(capped.point) > objective.value(free.point)
    loose = solve(objective, rank=free.point.rank, tolerance=1e-8)
    assert not loose.certificate.cap_binds
    assert objective.value(loose.point) == pytest.approx(objective.value(free.point), rel=1e-12)


def test_a_start_above_the_cap_is_cut() -> None:
    objective = some_objective(prior=Prior(0.3))
    assert solve(objective, rank=2, start=solve(objective).point).point.rank == 2


@pytest.mark.parametrize("name", ["gaussian", "binomial", "poisson"])
def test_all_starts_lead_to_one_mode_of_a_log_concave_likelihood(name: str) -> None:
    objective = some_objective(name, Prior(1.0, effects=EFFECTS))
    starts = [None, *(random_point(np.random.default_rng(k), objective.shape, 4, True) for k in range(3))]
    values = [objective.value(solve(objective, start=start, tolerance=1e-8).point) for start in starts]
    np.testing.assert_allclose(values, values[0], rtol=1e-11)


def test_too_few_steps_are_admitted() -> None:
    found = solve(some_objective(prior=Prior(0.1)), tolerance=1e-10, start=some_objective().origin, most_steps=3)
    assert found.steps == 3
    assert not found.certificate.converged


@pytest.mark.parametrize("effects", [None, EFFECTS], ids=["plain", "effects"])
def test_iterative_decompositions_give_the_same(
    effects: EffectPrecisions | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    observations = some_observations(Gaussian(), (40, 30))
    objective = Objective.of(observations, Gaussian(), Prior(1.0, effects=effects))
    dense = solve(objective, tolerance=1e-7)
    monkeypatch.setattr(spectrum, "DENSE_WORK", 0)
    sparse = solve(objective, tolerance=1e-7)
    assert sparse.certificate.converged
    np.testing.assert_allclose(dense_x(sparse.point), dense_x(dense.point), rtol=0, atol=1e-6)
    assert sparse.certificate.gap == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (1, 1), (2, 2)])
@pytest.mark.parametrize("effects", [None, EFFECTS], ids=["plain", "effects"])
def test_narrow_matrices(shape: tuple[int, int], effects: EffectPrecisions | None) -> None:
    rows, cols = np.nonzero(np.ones(shape))
    observations = Observations.from_triples(rows, cols, 3.0 + np.arange(rows.size), shape)
    assert solve(Objective.of(observations, Gaussian(), Prior(0.5, effects=effects))).certificate.converged


def test_one_cell_is_shrunk_by_the_rate() -> None:
    objective = Objective.of(Observations.from_triples([2], [1], [5.0], (4, 3)), Gaussian(), Prior(1.5))
    point = solve(objective, tolerance=1e-10).point
    expected = np.zeros((4, 3))
    expected[2, 1] = 3.5
    np.testing.assert_allclose(dense_x(point), expected, rtol=0, atol=1e-9)


def test_a_full_matrix_is_shrunk_in_one_go() -> None:
    Y = np.random.default_rng(5).standard_normal((7, 5))
    rows, cols = np.nonzero(np.ones_like(Y))
    objective = Objective.of(Observations.from_triples(rows, cols, Y.ravel()), Gaussian(), Prior(1.0))
    point = solve(objective, tolerance=1e-10).point
    s = np.linalg.svd(Y, compute_uv=False)
    np.testing.assert_allclose(point.s, s[s > 1.0] - 1.0, rtol=1e-9)


def test_a_likelihood_without_a_slope_at_the_start_is_refused() -> None:
    objective = some_objective()
    broken = objective.by_row._replace(values=np.full(objective.size, np.nan))
    with pytest.raises(ValueError, match="no finite derivative at x = 0"):
        solve(Objective(broken, objective.by_column, objective.likelihood, objective.prior))
