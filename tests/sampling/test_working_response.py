"""Working responses: exact for normal data, Newton's step for others, and finite wherever a chain may be."""

import numpy as np
import pytest

from manifill import custom_likelihood
from manifill.base.arrays import Matrix, Vector
from manifill.likelihoods import Binomial, Gaussian, Likelihood
from manifill.likelihoods.poisson import Poisson
from manifill.problem import Observations
from manifill.sampling.working_response import Response, WorkingResponse
from tests.sampling.problems import LIKELIHOODS, some_observations

LAPLACE = custom_likelihood(
    "laplace", lambda y, x: -abs(y - x), lambda y, x: 1.0 if y > x else -1.0, sample=lambda rng, x: rng.laplace(x)
)
ALL: dict[str, Likelihood] = {**LIKELIHOODS, "poisson": Poisson(), "laplace": LAPLACE}


def working(likelihood: Likelihood, observations: Observations) -> WorkingResponse:
    cells = observations.by_row._replace(values=likelihood.encode(observations.by_row.values))
    return WorkingResponse.around(cells, likelihood.compiled(), likelihood.starting_point(cells.values))


def response(
    likelihood: Likelihood, factors: tuple[Matrix, Matrix], weights: Vector | None = None
) -> tuple[WorkingResponse, Response, Vector]:
    """Return the maker, the response at X = left rightᵀ, and X at the cells."""
    observations = some_observations(likelihood, (12, 7))
    rows, cols, _ = observations.triples()
    maker, (left, right) = working(likelihood, observations), factors
    return maker, maker.at(factors, np.empty(0) if weights is None else weights), (left @ right.T)[rows, cols]


def factors(scale: float) -> tuple[Matrix, Matrix]:
    rng = np.random.default_rng(2)
    return scale * rng.standard_normal((12, 2)), rng.standard_normal((7, 2))


def test_normal_data_are_their_own_response() -> None:
    maker, found, _ = response(Gaussian(), factors(0.3))
    near = np.abs(maker.cells.values - response(Gaussian(), factors(0.3))[2]) < maker.reach
    assert near.any()
    np.testing.assert_allclose(found.values[near], maker.cells.values[near], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.weights[near], 1.0, rtol=1e-6)


def test_the_step_is_newtons() -> None:
    """For the Binomial: slope y − k p and curvature k p (1 − p)."""
    maker, found, x = response(Binomial(5), factors(0.3))
    p = 1.0 / (1.0 + np.exp(-x))
    slope, curvature = maker.cells.values - 5.0 * p, 5.0 * p * (1.0 - p)
    near = np.abs(slope / curvature) < 0.99 * maker.reach
    assert near.any()
    np.testing.assert_allclose(found.values[near], (x + slope / curvature)[near], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found.weights[near], curvature[near], rtol=1e-4)


def test_weights_of_the_noise_multiply() -> None:
    weights = np.random.default_rng(4).exponential(size=some_observations(LIKELIHOODS["softplus"], (12, 7)).size)
    _, plain, _ = response(LIKELIHOODS["softplus"], factors(0.3))
    _, weighted, _ = response(LIKELIHOODS["softplus"], factors(0.3), weights)
    np.testing.assert_allclose(weighted.weights, weights * plain.weights)
    np.testing.assert_allclose(weighted.values, plain.values)


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e3, 1e200])
@pytest.mark.parametrize("likelihood", ALL.values(), ids=ALL.keys())
def test_responses_stay_in_reach(likelihood: Likelihood, scale: float) -> None:
    maker, found, x = response(likelihood, factors(scale))
    low, high = maker.bounds
    assert (np.abs(found.values - np.clip(x, low, high)) <= maker.reach * (1 + 1e-9)).all()
    assert (found.weights > 0.0).all()
    assert np.isfinite(found.weights).all()
