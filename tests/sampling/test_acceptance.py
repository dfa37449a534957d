"""The acceptance of draws is the one asked for, on small uneven tables too."""

import numpy as np
import pytest

from manifill.likelihoods import Likelihood
from manifill.likelihoods.poisson import Poisson
from manifill.problem import Observations
from manifill.sampling.joint_sampler import Joint
from tests.sampling.problems import LIKELIHOODS, model_for, warmed

CHAINS, WARMUP, DRAWS = 6, 250, 250

# The acceptance of a chain has a standard deviation of about 0.06, from a step size learned in 75 iterations: the mean
# of six chains, 0.025.  So a bound of 0.1 is passed by chance in one case of 10,000.
BOUND = 0.1


def uneven_observations(likelihood: Likelihood, shape: tuple[int, int]) -> Observations:
    """Return cells of a matrix of rank 2; the first rows and columns have nearly all of theirs, the last ones few."""
    rng, (m, n) = np.random.default_rng(3), shape
    X = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    shares = np.outer(np.linspace(1.0, 0.2, m), np.linspace(1.0, 0.2, n))
    rows, cols = np.nonzero(rng.random(shape) < shares)
    return Observations.from_triples(rows, cols, likelihood.sample(rng, X[rows, cols], {"sigma": 0.3}), shape)


def acceptance(sampler: Joint, seed: int) -> float:
    """Return the mean acceptance of the draws of a chain."""
    rng, state, tuning = warmed(sampler, seed, WARMUP)
    tuning, rates = sampler.freeze(tuning), []
    for _ in range(DRAWS):
        state, info = sampler.step(rng, state, tuning)
        rates.append(info.transition.acceptance)
    return float(np.mean(rates))


@pytest.mark.parametrize("effects", [False, True], ids=["plain", "effects"])
@pytest.mark.parametrize(
    ("likelihood", "shape"),
    [
        (LIKELIHOODS["gaussian"], (20, 5)),
        (LIKELIHOODS["softplus"], (15, 12)),
        (LIKELIHOODS["binomial"], (15, 12)),
        (Poisson(), (5, 4)),
    ],
    ids=["gaussian", "softplus", "binomial", "poisson"],
)
def test_draws_are_accepted_as_often_as_asked_for(
    likelihood: Likelihood, shape: tuple[int, int], effects: bool
) -> None:
    model, observations = model_for(likelihood, effects=effects), uneven_observations(likelihood, shape)
    rates = [acceptance(Joint(model, observations, warmup=WARMUP), seed) for seed in range(CHAINS)]
    assert np.mean(rates) == pytest.approx(0.8, abs=BOUND), rates


def test_components_that_change_their_order_take_their_masses_with_them() -> None:
    """With masses by position, trajectories after an exchange of two components were refused."""
    model, observations = model_for(LIKELIHOODS["softplus"]), uneven_observations(LIKELIHOODS["softplus"], (15, 12))
    sampler = Joint(model, observations, warmup=WARMUP)
    rng, state, tuning = warmed(sampler, 1, WARMUP)
    tuning, U, s, V = sampler.freeze(tuning), *state.unknowns[:3]
    assert s.max() > 2.0 * s.min(), "the components differ"
    state = state._replace(unknowns=state.unknowns._replace(U=U[:, ::-1].copy(), s=s[::-1].copy(), V=V[:, ::-1].copy()))
    rates = []
    for _ in range(40):
        state, info = sampler.step(rng, state, tuning)
        rates.append(info.transition.acceptance)
    assert np.mean(rates) > 0.5
