"""The paper's sampler: factors stay orthonormal, tuning reaches its target, the density is the model's."""

import numpy as np
import pytest

from manifill.base.priors import Gamma
from manifill.kernels.cell_passes import log_likelihood
from manifill.likelihoods import Binomial, Gaussian, Likelihood, WithNoise
from manifill.problem import Model
from manifill.sampling.paper_gibbs import Gibbs
from tests.exact.prior import completed
from tests.sampling.problems import LIKELIHOODS, model_for, run, some_observations

for_each_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS.keys())


@for_each_likelihood
def test_factors_are_orthonormal_and_scales_positive(likelihood: Likelihood) -> None:
    for draw in run(Gibbs(model_for(likelihood), some_observations(likelihood)), 1, 100, 50):
        for factor in (draw["U"], draw["V"]):
            np.testing.assert_allclose(factor.T @ factor, np.eye(2), rtol=0, atol=1e-10)
        assert (draw["s"] > 0).all()


@for_each_likelihood
@pytest.mark.parametrize("target", [0.6, 0.9])
def test_warm_up_holds_the_target_acceptance(likelihood: Likelihood, target: float) -> None:
    """In warm-up, where steps follow the scale of the conditionals; the average kept after it is a compromise."""
    sampler = Gibbs(model_for(likelihood), some_observations(likelihood), target_acceptance=target)
    rng = np.random.default_rng(2)
    state, tuning = sampler.start(rng)
    acceptances = []
    for _ in range(600):
        state, info = sampler.step(rng, state, tuning)
        tuning = sampler.adapt(tuning, info)
        acceptances.append([moved.acceptance for moved in info.values()])
    np.testing.assert_allclose(np.mean(acceptances[200:], axis=0), target, atol=0.04)
    for name, block in sampler.freeze(tuning).items():
        assert block.step_size == np.exp(tuning[name].log_average)


def test_fixed_quantities_stay_fixed() -> None:
    model = Model(2, Gaussian(), rate=0.3, noise=WithNoise(4.0))
    for draw in run(Gibbs(model, some_observations(Gaussian())), 3, 5, 5):
        assert (float(draw["sigma"]), float(draw["lambda"])) == (0.5, 0.3)


@pytest.mark.parametrize("effects", [False, True])
@for_each_likelihood
def test_reported_density_is_the_models(likelihood: Likelihood, effects: bool) -> None:
    model, observations = model_for(likelihood, effects=effects), some_observations(likelihood)
    sampler = Gibbs(model, observations)
    rng = np.random.default_rng(4)
    state, tuning = sampler.start(rng)
    state, _ = sampler.step(rng, state, tuning)
    X = completed(state)
    unit = log_likelihood(observations.by_row, likelihood.compiled(), X, np.eye(6))
    precision = state.noise.precision
    of_data = precision * unit + (0.5 * observations.size * np.log(precision) if likelihood.has_noise else 0.0)
    expected = model.log_density(of_data, state.noise, state.unknowns, state.rate)
    assert state.log_density == pytest.approx(expected, rel=1e-12)


def test_max_depth_is_passed_on() -> None:
    sampler = Gibbs(model_for(Gaussian()), some_observations(Gaussian()), max_depth=2)
    rng = np.random.default_rng(5)
    state, tuning = sampler.start(rng)
    for _ in range(20):
        state, info = sampler.step(rng, state, tuning)
        assert max(moved.depth for moved in info.values()) <= 2


def test_statistics_count_what_the_blocks_report() -> None:
    sampler = Gibbs(model_for(Gaussian()), some_observations(Gaussian()))
    rng = np.random.default_rng(6)
    state, tuning = sampler.start(rng)
    state, info = sampler.step(rng, state, tuning)
    statistics = sampler.statistics(state, tuning, info)
    assert statistics["n_steps"] == sum(moved.steps for moved in info.values())
    assert statistics["tree_depth"] == max(moved.depth for moved in info.values())
    assert statistics["step_size_V"] == tuning["V"].step_size
    assert statistics["acceptance_rate_s"] == info["s"].acceptance


def test_values_that_cannot_occur_are_refused() -> None:
    with pytest.raises(ValueError, match="a Binomial likelihood cannot produce"):
        Gibbs(Model(1, Binomial(5), Gamma(1.0, 1.0)), some_observations(Gaussian()))


def test_one_noise_for_all_cells_only() -> None:
    with pytest.raises(ValueError, match="has one noise for all cells; use noise='shared'"):
        Gibbs(model_for(Gaussian(), by="column"), some_observations(Gaussian()))
