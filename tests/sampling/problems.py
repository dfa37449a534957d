"""Small problems for the samplers."""

from typing import Any, TypeAlias, TypeVar

import numpy as np

from manifill.base.arrays import Array, Generator
from manifill.base.priors import Gamma
from manifill.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian
from manifill.problem import Model, Observations
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.joint_sampler import Joint
from manifill.sampling.paper_gibbs import Gibbs
from manifill.sampling.sampler import Sampler
from manifill.unknowns import EffectsPrior
from tests.problem.likelihoods import noise_of

AnySampler: TypeAlias = Sampler[Any, Any, Any]
SamplerClass: TypeAlias = type[Joint] | type[Gibbs] | type[Factors]

State = TypeVar("State")
Tuning = TypeVar("Tuning")
Info = TypeVar("Info")

LIKELIHOODS: dict[str, Likelihood] = {
    "gaussian": Gaussian(),
    "softplus": SoftplusGaussian(),
    "binomial": Binomial(5),
}
SAMPLERS: dict[str, SamplerClass] = {"joint": Joint, "gibbs": Gibbs, "factors": Factors}
EFFECTS = EffectsPrior(0.0, 0.1, Gamma(2.0, 1.0), Gamma(2.0, 1.0))


def model_for(likelihood: Likelihood, rank: int = 2, *, effects: bool = False, by: str = "shared") -> Model:
    """Return a model with every precision and rate learned under a proper prior."""
    return Model(
        rank,
        likelihood,
        Gamma(2.0, 4.0),
        noise_of(likelihood, Gamma(2.0, 1.0), by),
        Gamma(2.0, 1.0),
        effects=EFFECTS if effects else None,
    )


def some_observations(likelihood: Likelihood, shape: tuple[int, int] = (8, 6), share: float = 0.6) -> Observations:
    """Return a share of the cells of a random matrix of rank 2, drawn from the likelihood."""
    rng = np.random.default_rng(11)
    X = rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1]))
    rows, cols = np.nonzero(rng.random(shape) < share)
    return Observations.from_triples(rows, cols, likelihood.sample(rng, X[rows, cols], {"sigma": 0.3}), shape)


def run(sampler: AnySampler, seed: int, warm_up: int, steps: int) -> list[dict[str, Array]]:
    """Return the draws of one chain."""
    rng = np.random.default_rng(seed)
    state, tuning = sampler.start(rng)
    for _ in range(warm_up):
        state, info = sampler.step(rng, state, tuning)
        tuning = sampler.adapt(tuning, info)
    tuning = sampler.freeze(tuning)
    draws = []
    for _ in range(steps):
        state, info = sampler.step(rng, state, tuning)
        draws.append(sampler.draw(state))
    return draws


def warmed(sampler: Sampler[State, Tuning, Info], seed: int, iterations: int) -> tuple[Generator, State, Tuning]:
    """Return generator, state and tuning after some iterations of warm-up."""
    rng = np.random.default_rng(seed)
    state, tuning = sampler.start(rng)
    for _ in range(iterations):
        state, info = sampler.step(rng, state, tuning)
        tuning = sampler.adapt(tuning, info)
    return rng, state, tuning
