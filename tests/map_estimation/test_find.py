"""Choosing penalty and noise, and the mode for chains to start from."""

import numpy as np
import pytest

from manifill.base.arrays import Array, Generator, Matrix
from manifill.likelihoods import Gaussian
from manifill.map_estimation import Objective, Prior, find_mode, fit_mode, with_rank
from manifill.map_estimation.penalty_path import _vertex, choose_penalty
from manifill.problem import Observations
from tests.map_estimation.problems import LIKELIHOODS, dense_x, some_observations


def table(noise: float, share: float = 0.4, rank: int = 5) -> tuple[Matrix, Array, Observations]:
    """Return a matrix of the product of two normal factors, 60×40, where it is observed, and these cells."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, rank)) @ rng.standard_normal((rank, 40))
    seen = rng.random(X.shape) < share
    rows, cols = np.nonzero(seen)
    return X, seen, Observations.from_triples(rows, cols, X[seen] + noise * rng.standard_normal(rows.size), X.shape)


def rng(seed: int = 0) -> Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("effects", [False, True], ids=["plain", "effects"])
def test_exact_data_are_completed_exactly(effects: bool) -> None:
    X, seen, observations = table(0.0, 0.5)
    found = find_mode(rng(), observations, Gaussian(), 5, effects=effects)
    assert np.abs(found.complete() - X)[~seen].max() < 1e-3
    assert found.sigma < 1e-4
    assert found.rank == 5


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_noise_is_found(noise: float) -> None:
    X, seen, observations = table(noise)
    found = find_mode(rng(), observations, Gaussian(), 5, effects=False)
    assert found.sigma == pytest.approx(noise, rel=0.25)
    assert np.median(np.abs(found.complete() - X)[~seen]) < noise


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_start_for_every_likelihood(name: str) -> None:
    likelihood = LIKELIHOODS[name]
    observations = some_observations(likelihood, (30, 20))
    for effects in (False, True):
        found = find_mode(rng(), observations, likelihood, 3, effects=effects)
        assert found.rank <= 3
        assert np.isfinite(found.objective)
        start = with_rank(rng(), found, 5)
        assert start.rank == 5
        assert (start.s > 0).all()
        for factor in (found.U, found.V, start.U, start.V):
            assert factor.flags.c_contiguous  # as compiled code wants them
        for factor in (start.U, start.V):
            np.testing.assert_allclose(factor.T @ factor, np.eye(5), rtol=0, atol=1e-12)
        if not effects:
            assert found.mu == 0.0
            assert not found.row_effects.any()
            assert not found.column_effects.any()


def test_components_that_are_added_hardly_change_the_likelihood() -> None:
    _, _, observations = table(1.0, rank=2)
    found = find_mode(rng(), observations, Gaussian(), 2, effects=False)
    more = with_rank(rng(), found, 6)
    np.testing.assert_array_equal(more.U[:, :2], found.U)
    rows, cols, _ = observations.triples()
    added = more.predict(rows, cols) - found.predict(rows, cols)
    assert 0.5 < np.sum((added / found.sigma) ** 2) / 4 < 2.0
    assert with_rank(rng(), found, 1) is found


def test_same_seed_same_answer() -> None:
    _, _, observations = table(0.5)
    first, again, other = (find_mode(rng(seed), observations, Gaussian(), 5, effects=True) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.U, again.U)
    assert first.path == again.path
    assert first.path != other.path


def test_the_chosen_penalty_has_the_least_error_on_the_path() -> None:
    _, _, observations = table(1.0)
    choice = choose_penalty(rng(), observations, Gaussian(), None)
    errors = [trial.held_out for trial in choice.trials]
    best = int(np.argmin(errors))
    assert 0 < best < len(errors) - 1
    assert choice.sigma == np.sqrt(2 * errors[best])
    assert choice.trials[best - 1].penalty >= choice.penalty >= choice.trials[best + 1].penalty
    assert choice.weakest.penalty <= choice.trials[best].penalty
    assert choice.trials[0].rank == 0
    assert [trial.penalty for trial in choice.trials] == sorted((t.penalty for t in choice.trials), reverse=True)


def test_what_is_known_is_kept() -> None:
    _, _, observations = table(0.5)
    both = fit_mode(rng(), observations, Gaussian(), sigma=0.5, rate=8.0, effects=False)
    assert both.path == ()
    assert both.sigma == pytest.approx(0.5)
    assert both.lambda_ == 8.0
    sigma = fit_mode(rng(), observations, Gaussian(), sigma=0.5, effects=False)
    assert sigma.sigma == pytest.approx(0.5)
    rate = fit_mode(rng(), observations, Gaussian(), rate=2.0, effects=False)
    assert rate.lambda_ == 2.0
    assert rate.sigma == pytest.approx(np.sqrt(2 * rate.path[-1].held_out))
    ratios = [trial.penalty / (2.0 * 2.0 * trial.held_out) for trial in rate.path]
    assert len(ratios) > 2
    assert min(ratios[:-1]) > 1.0 >= ratios[-1]


def test_without_noise_only_the_rate_is_chosen() -> None:
    likelihood = LIKELIHOODS["binomial"]
    found = fit_mode(rng(), some_observations(likelihood, (30, 20)), likelihood)
    assert found.sigma == 1.0
    assert found.certificate.converged
    assert found.certificate.gap is None


def test_a_full_path_needs_no_rank() -> None:
    X, seen, observations = table(0.3, 0.6, rank=2)
    found = fit_mode(rng(), observations, Gaussian(), effects=False)
    assert found.certificate.converged
    assert found.certificate.gap is not None
    assert found.certificate.gap < 1e-4
    assert np.sqrt(np.mean((found.complete() - X)[~seen] ** 2)) < 0.35 * X.std()
    assert found.objective == pytest.approx(
        Objective.of(observations, Gaussian(), Prior(found.lambda_, found.sigma**-2)).value(found.point), rel=1e-12
    )


@pytest.mark.parametrize("effects", [False, True], ids=["plain", "effects"])
@pytest.mark.parametrize(
    ("rows", "cols", "values"),
    [
        ([0], [0], [3.0]),
        ([2], [1], [0.0]),
        ([0, 1], [1, 0], [1.0, -1.0]),
        ([0, 0, 1, 1, 2], [0, 1, 0, 2, 1], [4.0] * 5),
        ([0, 0, 1, 1, 2], [0, 1, 0, 2, 1], [0.0] * 5),
        ([0] * 8, list(range(8)), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0]),
    ],
    ids=["one", "one zero", "two", "constant", "zeros", "one row"],
)
def test_hardly_any_data(rows: list[int], cols: list[int], values: list[float], effects: bool) -> None:
    observations = Observations.from_triples(rows, cols, values)
    for found in (
        fit_mode(rng(), observations, Gaussian(), effects=effects),
        find_mode(rng(), observations, Gaussian(), 1, effects=effects),
    ):
        assert np.isfinite(found.complete()).all()
        assert found.sigma > 0.0
        assert found.lambda_ > 0.0
        assert np.isfinite(found.objective)
        if effects and len(set(values)) == 1:
            np.testing.assert_allclose(found.complete(), values[0], rtol=1e-5, atol=1e-5)


def test_vertex_of_a_parabola() -> None:
    penalties = [8.0, 4.0, 2.0]
    scores = (np.log(penalties) - np.log(3.0)) ** 2
    assert _vertex(penalties, scores) == pytest.approx(3.0)
    assert _vertex(penalties, np.ones(3)) == 4.0


def test_dense_x_is_what_complete_predicts() -> None:
    _, _, observations = table(0.5)
    found = find_mode(rng(), observations, Gaussian(), 3, effects=True)
    np.testing.assert_allclose(found.complete(), dense_x(found.point), rtol=1e-12, atol=1e-12)
