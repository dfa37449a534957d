"""The default sampler: on the manifold, true to the model, and at ease with the largest rank."""

import numpy as np
import pytest
from scipy import stats

from manifill.likelihoods import Gaussian, Likelihood, WithNoise
from manifill.problem import Model, Observations, scaled_noise_prior
from manifill.sampling.joint_sampler import Joint
from tests.exact.prior import completed, sigmas
from tests.problem.likelihoods import SPREAD
from tests.sampling.problems import LIKELIHOODS, model_for, run, some_observations, warmed

for_each_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS.keys())
with_and_without_effects = pytest.mark.parametrize("effects", [False, True], ids=["plain", "effects"])


@with_and_without_effects
@for_each_likelihood
def test_factors_are_orthonormal_and_scales_positive(likelihood: Likelihood, effects: bool) -> None:
    model = model_for(likelihood, effects=effects)
    for draw in run(Joint(model, some_observations(likelihood), warmup=100), 1, 100, 50):
        for factor in (draw["U"], draw["V"]):
            np.testing.assert_allclose(factor.T @ factor, np.eye(2), rtol=0, atol=1e-10)
        assert (draw["s"] > 0).all()


@pytest.mark.parametrize("by", ["shared", "both", "all"])
@with_and_without_effects
def test_reported_density_is_the_models(effects: bool, by: str) -> None:
    model, observations = model_for(Gaussian(), effects=effects, by=by), some_observations(Gaussian())
    _, state, _ = warmed(Joint(model, observations), 4, 1)
    rows, cols, y = observations.triples()
    residual = (y - completed(state)[rows, cols]) / sigmas(state, rows, cols)
    log_likelihood = stats.norm.logpdf(residual) if by != "all" else stats.t.logpdf(residual, state.noise.degrees)
    log_likelihood = np.sum(log_likelihood - np.log(sigmas(state, rows, cols)) + 0.5 * np.log(2.0 * np.pi))
    expected = model.log_density(log_likelihood, state.noise, state.unknowns, state.rate)
    assert state.log_density == pytest.approx(expected, rel=1e-11)


def test_effects_are_drawn_centred_with_the_same_sums() -> None:
    sampler = Joint(model_for(Gaussian(), effects=True), some_observations(Gaussian()))
    _, state, _ = warmed(sampler, 5, 5)
    draw = sampler.draw(state)
    assert abs(draw["row_effect"].mean()) < 1e-14
    assert abs(draw["column_effect"].mean()) < 1e-14
    effects = state.unknowns.effects
    sums = effects.mean + effects.row[:, None] + effects.column
    np.testing.assert_allclose(draw["mu"] + draw["row_effect"][:, None] + draw["column_effect"], sums, atol=1e-13)
    assert draw["row_effect_sd"] == pytest.approx(effects.row_precision**-0.5)


def test_noise_by_column_tells_the_columns_apart() -> None:
    """Columns of noise 0.1 and 1 beside a matrix of rank 1: every σ within a third of its noise as drawn."""
    rng = np.random.default_rng(9)
    low_rank = np.outer(rng.standard_normal(60), rng.standard_normal(8))
    noise = np.repeat([0.1, 1.0], 4) * rng.standard_normal((60, 8))
    rows, cols = np.nonzero(noise)
    observations = Observations.from_triples(rows, cols, (low_rank + noise)[rows, cols])
    model = Model(1, Gaussian(), 0.1, WithNoise(scaled_noise_prior(observations, effects=False), columns=SPREAD))
    run_of = run(Joint(model, observations, warmup=150), 9, 150, 400)
    draws = np.array([draw["sigma"] * draw["column_noise"] for draw in run_of])
    assert draws.shape == (400, 8)
    np.testing.assert_allclose(draws.mean(axis=0), np.sqrt(np.mean(noise**2, axis=0)), rtol=0.34)


EDGES = {
    "rank of a square matrix": ((4, 4), 4),
    "rank of the columns": ((7, 3), 3),
    "rank of the rows": ((3, 7), 3),
    "one column": ((6, 1), 1),
    "one row": ((1, 6), 1),
}


@with_and_without_effects
@pytest.mark.parametrize(("shape", "rank"), EDGES.values(), ids=EDGES.keys())
def test_the_largest_rank(shape: tuple[int, int], rank: int, effects: bool) -> None:
    model = model_for(Gaussian(), rank, effects=effects)
    for draw in run(Joint(model, some_observations(Gaussian(), shape, share=0.8), warmup=60), 10, 60, 20):
        np.testing.assert_allclose(draw["U"].T @ draw["U"], np.eye(rank), rtol=0, atol=1e-10)
        assert all(np.isfinite(value).all() for value in draw.values())
