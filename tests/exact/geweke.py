"""Geweke's joint test (2004): two ways of drawing parameters and data together must agree.

One draws parameters from the prior and data given them.  The other alternates a step of the sampler given the data with
new data given the parameters.  A sampler that leaves its posterior invariant, for every data set, has the joint
distribution of the first as its own.  What it adds to the exact posteriors is rank two and three, with all
hyperparameters learned, and errors that depend on the data.
"""

from typing import Any

import numpy as np
from joblib import Parallel, delayed

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.geometry import Masses
from manifill.sampling.joint_sampler import JointTuning
from manifill.sampling.workers import quiet_worker_replacement
from tests.exact.simulated import BURN_IN, Case, data, prior_state, statistics
from tests.exact.zscores import standard_error

# Shares of the masses of left and right factors and of s that each component has in ``uneven``.
LEFT_SHARES, RIGHT_SHARES, S_SHARES = (1.0, 5.0, 2.0), (3.0, 1.0, 1.5), (1.0, 10.0, 3.0)


def direct(case: Case, rng: Generator, draws: int) -> Matrix:
    """Return statistics (draws, …) of independent draws from prior and likelihood."""
    rows = []
    for _ in range(draws):
        state = prior_state(case, rng)
        rows.append(statistics(case, state, data(case, rng, state)))
    return np.array(rows)


def alternating(case: Case, rng: Generator, draws: int) -> Matrix:
    """Return statistics (draws, …) of the chain that alternates the sampler with new data; its start is exact."""
    state, rows = prior_state(case, rng), []
    tuning = case.given(data(case, rng, state)).start(rng)[1]
    for k in range(-BURN_IN, draws):
        y = data(case, rng, state)
        sampler = case.given(y)
        state, info = sampler.step(rng, state, tuning)
        if k < 0:
            tuning = sampler.adapt(tuning, info)
            if k == -1:
                tuning = uneven(sampler.freeze(tuning))
        else:
            rows.append(statistics(case, state, y))
    return np.array(rows)


def uneven(tuning: Any) -> Any:
    """Make one column heavier: the data here cannot tell columns apart, but any masses must leave the posterior as is.

    A heavier column is a slower one, so the step size still suits it.
    """
    if not isinstance(tuning, JointTuning):
        return tuning
    masses, rest = tuning.masses, tuning.masses.rest.copy()
    r = masses.left.size
    rest[:r] *= S_SHARES[:r]
    return tuning._replace(masses=Masses(masses.left * LEFT_SHARES[:r], masses.right * RIGHT_SHARES[:r], rest))


def z_scores(case: Case, rng: Generator, draws: int, chains: int = 2, processes: int = 1) -> Vector:
    """Return the differences of the means of both ways, in standard errors."""
    jobs = [delayed(way)(case, child, draws) for way in (direct, alternating) for child in rng.spawn(chains)]
    with quiet_worker_replacement():
        run = Parallel(processes)(jobs)
    samples, chain = np.concatenate(run[:chains]), np.stack(run[chains:])
    error = np.hypot(standard_error(chain), samples.std(axis=0) / np.sqrt(len(samples)))
    return np.asarray((chain.mean(axis=(0, 1)) - samples.mean(axis=0)) / error)
