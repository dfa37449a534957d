"""Starting points from Gibbs sweeps over A Bᵀ.

At the posterior mode weak components are nearly zero, and a chain takes hundreds of iterations to let them grow.
Sweeps of conditional draws start with all components on, and after a few dozen of them a state is typical of the
posterior (docs/math.md, §8.11).  For likelihoods that are not normal the draws are approximate.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from manifill.base import progress
from manifill.base.arrays import Generator
from manifill.likelihoods import NoiseState
from manifill.problem import Model, Observations
from manifill.problem.default_priors import scaled_factor_prior
from manifill.sampling.factor_gibbs import Factors, FactorsState
from manifill.unknowns import Unknowns
from manifill.unknowns.point import components_of_product

__all__ = ["gibbs_start", "levelled"]

# Sweeps come in blocks, until the log density of a block is about that of the block before.  If they are approximate,
# so is the level that they end at, and the exact sampler gets there sooner from an earlier one.
BLOCK, MOST_BLOCKS, MOST_APPROXIMATE_BLOCKS = 15, 14, 4
TYPICAL_BLOCKS = 3


def gibbs_start(rng: Generator, observations: Observations, model: Model) -> tuple[Unknowns, NoiseState]:
    """Return unknowns and noise after as many sweeps as it takes for the log density to level off."""
    prior = scaled_factor_prior(model.rank, observations, model.likelihood, effects=model.effects is not None)
    sampler = Factors(replace(model, factor_precision=prior), observations, approximate=True)
    progress.begin("initialising", TYPICAL_BLOCKS * BLOCK, "sweeps")
    state, _ = sampler.start(rng)
    most = MOST_BLOCKS if model.likelihood.is_conjugate else MOST_APPROXIMATE_BLOCKS
    state = levelled(state, lambda at: sampler.step(rng, at, None)[0], most)
    components = components_of_product(state.A, state.B)
    U, s, V = (np.ascontiguousarray(part) for part in components)
    return Unknowns(U, s, V, state.effects, np.zeros(model.likelihood.coordinates)), state.noise


def levelled(
    state: FactorsState, sweep: Callable[[FactorsState], FactorsState], most_blocks: int = MOST_BLOCKS
) -> FactorsState:
    """Return the state after blocks of sweeps whose log density has levelled off, or after so many blocks.

    It has if the mean of a block is within a standard deviation of single sweeps of that of the block before.  A log
    density that falls has not: it does while precisions that were too large give way.
    """
    before = -np.inf
    for block in range(most_blocks):
        if block >= TYPICAL_BLOCKS:
            progress.expect(BLOCK)
        densities = []
        for _ in range(BLOCK):
            state = sweep(state)
            densities.append(state.log_density)
            progress.advance()
        level, spread = float(np.mean(densities)), float(np.std(densities))
        if abs(level - before) < spread:
            break
        before = level
    return state
