"""The certificate: zero at the mode and nowhere else, and a gap that bounds what is left to gain."""

import numpy as np
import pytest

from manifill.map_estimation import Certificate, Objective, Point, Prior, Residuals, solve
from manifill.map_estimation.certificate import _norm_bound, duality_gap, residuals
from manifill.map_estimation.leading_triples import leading_triples
from tests.map_estimation.problems import EFFECTS, LIKELIHOODS, dense_x, evaluate_all, random_point, some_objective

PRIORS = {"plain": Prior(1.5, 2.0), "effects": Prior(1.5, 2.0, EFFECTS)}
for_each_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS.keys())


def look(objective: Objective, point: Point) -> tuple[Residuals, float | None]:
    """Return residuals and gap at any point."""
    slopes = objective.slopes(point)
    outside = leading_triples(slopes, point.U, point.V, 1).norm
    return residuals(objective, point, slopes, outside, objective.prior.rate), duality_gap(
        objective, point, slopes, outside
    )


@for_each_prior
def test_residuals_are_what_they_say(prior: Prior) -> None:
    objective = some_objective("binomial", prior)
    point = random_point(np.random.default_rng(1), objective.shape, 3, prior.effects is not None)
    found, _ = look(objective, point)
    _, G = evaluate_all(objective, dense_x(point))
    U, V = point.U, point.V
    W = (np.eye(12) - U @ U.T) @ G @ (np.eye(9) - V @ V.T)
    alignment = max(np.linalg.norm(G @ V - 1.5 * U, 2), np.linalg.norm(G.T @ U - 1.5 * V, 2))
    assert found.alignment == pytest.approx(alignment / 1.5, rel=1e-10)
    assert found.excess == pytest.approx(max(float(np.linalg.norm(W, 2)) - 1.5, 0.0) / 1.5, rel=1e-10)
    effects = 0.0
    if prior.effects is not None:
        effects = max(
            np.linalg.norm(G.sum(axis=1) - 0.7 * point.row) / 3.0,
            np.linalg.norm(G.sum(axis=0) - 0.4 * point.column) / 12**0.5,
            abs(G.sum() - 0.1 * (point.mean - 0.3)) / 108**0.5,
        )
    assert found.effects == pytest.approx(effects / 1.5, rel=1e-10)


@for_each_prior
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_point_beside_the_mode_is_told(name: str, prior: Prior) -> None:
    objective = some_objective(name, prior)
    mode = solve(objective, tolerance=1e-8).point
    assert max(look(objective, mode)[0]) < 1e-8
    rng = np.random.default_rng(2)
    beside = {
        "s": mode._replace(s=mode.s * 1.01),
        "U": mode._replace(U=np.linalg.qr(mode.U + 0.01 * rng.standard_normal(mode.U.shape))[0]),
        "rank": mode.first(mode.rank - 1),
    }
    if prior.effects is not None:
        beside |= {"row": mode._replace(row=mode.row + 0.01), "mean": mode._replace(mean=mode.mean + 0.01)}
    for what, point in beside.items():
        assert max(look(objective, point)[0]) > 1e-4, what


def test_a_component_too_many_is_told() -> None:
    """Its singular value is zero, so F is the same; but no subgradient has it."""
    objective = some_objective()
    mode = solve(objective, tolerance=1e-8).point
    fresh = leading_triples(objective.slopes(mode), mode.U, mode.V, 1)
    more = mode._replace(
        U=np.hstack((mode.U, fresh.left)), s=np.append(mode.s, 1e-12), V=np.hstack((mode.V, fresh.right))
    )
    assert look(objective, more)[0].alignment > 1e-3


@for_each_prior
def test_gap_bounds_what_is_left_to_gain(prior: Prior) -> None:
    objective = some_objective(prior=prior)
    least = objective.value(solve(objective, tolerance=1e-10).point)
    rng = np.random.default_rng(3)
    for rank in (0, 1, 4):
        for _ in range(5):
            point = random_point(rng, objective.shape, rank, prior.effects is not None)
            value, gap = objective.value(point), look(objective, point)[1]
            assert gap is not None
            assert value - least <= gap * value * (1 + 1e-9)


@for_each_prior
def test_gap_is_at_least_that_of_the_best_multiple_of_the_slopes(prior: Prior) -> None:
    """The bound of ‖G‖ may be loose, which makes the gap wider but never narrower."""
    objective = some_objective(prior=prior)
    mode = solve(objective, tolerance=1e-9).point
    points = [mode._replace(s=mode.s * factor) for factor in (1.0, 1.001, 1.1)]
    points += [random_point(np.random.default_rng(5), objective.shape, 2, prior.effects is not None)]
    for point in points:
        _, G = evaluate_all(objective, dense_x(point))
        by_row = objective.by_row
        linear = G[by_row.major_indices, by_row.indices] @ (by_row.values - objective.origin.mean)
        square = np.sum(G**2) / 2.0
        if prior.effects is not None:
            square += np.sum(G.sum(axis=1) ** 2) / 0.7 + np.sum(G.sum(axis=0) ** 2) / 0.4 + G.sum() ** 2 / 0.1
        c = np.linspace(0.0, 1.5 / np.linalg.norm(G, 2), 10_001)
        value, gap = objective.value(point), look(objective, point)[1]
        assert gap is not None
        assert gap > (value - np.max(c * linear - 0.5 * c**2 * square)) / value - 1e-7


@for_each_prior
def test_gap_closes_with_the_tolerance(prior: Prior) -> None:
    objective = some_objective(prior=prior)
    found = [solve(objective, tolerance=tolerance).certificate.gap for tolerance in (1e-1, 1e-3, 1e-5, 1e-7)]
    gaps = [gap for gap in found if gap is not None]
    assert len(gaps) == 4
    assert min(gaps) >= 0.0
    assert gaps[-1] < 1e-6
    assert gaps == sorted(gaps, reverse=True)


def test_gap_is_for_the_gaussian_only_and_zero_on_zeros() -> None:
    assert all(solve(some_objective(name)).certificate.gap is None for name in ("softplus", "binomial", "poisson"))
    objective = some_objective()
    nothing = Objective(
        objective.by_row._replace(values=np.zeros(objective.size)),
        objective.by_column._replace(values=np.zeros(objective.size)),
        objective.likelihood,
        objective.prior,
    )
    found = solve(nothing)
    assert found.point.rank == 0
    assert found.certificate.gap == 0.0
    assert found.certificate.converged


def test_norm_bound_is_one_and_exact_at_the_mode() -> None:
    objective = some_objective()
    mode = solve(objective, tolerance=1e-10).point
    for point, slack in ((mode, 1e-8), (random_point(np.random.default_rng(4), objective.shape, 3, False), np.inf)):
        slopes = objective.slopes(point)
        norm = np.linalg.norm(slopes.toarray(), 2)
        bound = _norm_bound(point, slopes, leading_triples(slopes, point.U, point.V, 1).norm)
        assert norm <= bound * (1 + 1e-12)
        assert bound <= norm * (1 + slack)


def test_verdicts() -> None:
    good, bad = Residuals(1e-7, 0.0, 1e-8), Residuals(1e-7, 0.5, 1e-8)
    assert Certificate(good, None, cap_binds=False, tolerance=1e-6).converged
    assert not Certificate(bad, None, cap_binds=False, tolerance=1e-6).converged
    assert Certificate(bad, None, cap_binds=True, tolerance=1e-6).converged
    assert not Certificate(good, None, cap_binds=False, tolerance=1e-8).converged
    assert not Certificate(Residuals(0.0, 0.0, 1e-5), None, cap_binds=True, tolerance=1e-6).converged
    assert not Certificate(Residuals(np.nan, 0.0, 0.0), None, cap_binds=False, tolerance=1e-6).converged
