"""Geweke's joint test (2004): two ways of drawing parameters and data together must agree.

One draws parameters from the prior and data given them.  The other alternates a step of the sampler given the data with
new data given the parameters.  A sampler that leaves its posterior invariant, for every data set, has the joint
distribution of the first as its own.  What it adds to the exact posteriors is rank two, with all hyperparameters
learned, and errors that depend on the data.
"""

from typing import NamedTuple

import numpy as np

from manifill.problem import Gamma, Likelihood, Model, Observations
from manifill.sampling.factors import Factors, FactorsState
from manifill.sampling.gibbs import Gibbs, GibbsState
from manifill.types import Generator, Matrix, Vector
from tests.exact.zscores import standard_error

# Half of the 4×3 cells; the last row and the last column have none.
SHAPE, RANK = (4, 3), 2
ROWS, COLS = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])
SHOWN = ((0, 0), (2, 1), (1, 2), (3, 2))
BURN_IN = 200

# Tight enough for light tails: where γs² is large, NUTS at a fixed step size is stuck for long, and errors of means
# would be underestimated.
NOISE, RATE, FACTORS = Gamma(8.0, 8.0), Gamma(12.0, 12.0), Gamma(12.0, 12.0)


class Case(NamedTuple):
    """A sampler and a likelihood."""

    sampler: type[Gibbs] | type[Factors]
    likelihood: Likelihood

    @property
    def model(self) -> Model:
        return Model(RANK, self.likelihood, RATE, NOISE, FACTORS)


def prior_state(case: Case, rng: Generator) -> GibbsState | FactorsState:
    """Return parameters from the prior, written without the package's own code."""
    m, n = SHAPE
    precision = rng.gamma(NOISE.shape) / NOISE.rate if case.likelihood.has_noise else 1.0
    if case.sampler is Factors:
        tau = rng.gamma(FACTORS.shape) / FACTORS.rate
        A, B = rng.standard_normal((m, RANK)) / np.sqrt(tau), rng.standard_normal((n, RANK)) / np.sqrt(tau)
        return FactorsState(A, B, precision, tau, 0.0)
    rate = rng.gamma(RATE.shape) / RATE.rate
    s = rng.exponential(size=RANK) / rate
    return GibbsState(uniform_frame(rng, m), s, uniform_frame(rng, n), precision, rate, 0.0)


def uniform_frame(rng: Generator, rows: int) -> Matrix:
    left, _, right = np.linalg.svd(rng.standard_normal((rows, RANK)), full_matrices=False)
    return np.ascontiguousarray(left @ right)


def completed(state: GibbsState | FactorsState) -> Matrix:
    return state.A @ state.B.T if isinstance(state, FactorsState) else (state.U * state.s) @ state.V.T


def draw_data(case: Case, rng: Generator, state: GibbsState | FactorsState) -> Vector:
    return case.likelihood.sample(rng, completed(state)[ROWS, COLS], state.precision**-0.5)


def statistics(case: Case, state: GibbsState | FactorsState, y: Vector) -> Vector:
    """Return functions of parameters and data with light tails: cells, logarithms, and how data and cells agree."""
    X = completed(state)
    x = np.array([X[cell] for cell in SHOWN])
    if isinstance(state, FactorsState):
        scales = np.log(np.array([state.factor_precision, np.sum(state.A**2), np.sum(state.B**2)]))
    else:
        scales = np.log(np.array([state.rate, state.s.max(), state.s.min()]))
    residual = y - case.likelihood.mean(X[ROWS, COLS])
    together = np.array([np.log(np.sum(residual**2) + 1e-3), np.tanh(y) @ np.tanh(X[ROWS, COLS])])
    parts = [x, np.abs(x), scales, scales**2, together]
    if case.likelihood.has_noise:
        log_precision = np.log(state.precision)
        parts.append(np.array([log_precision, log_precision**2, log_precision * together[0]]))
    return np.concatenate(parts)


def direct(case: Case, rng: Generator, draws: int) -> Matrix:
    """Return statistics (draws, …) of independent draws from prior and likelihood."""
    rows = []
    for _ in range(draws):
        state = prior_state(case, rng)
        rows.append(statistics(case, state, draw_data(case, rng, state)))
    return np.array(rows)


def alternating(case: Case, rng: Generator, draws: int) -> Matrix:
    """Return statistics (draws, …) of the chain that alternates the sampler with new data; its start is exact."""
    state, rows = prior_state(case, rng), []
    tuning = sampler_given(case, draw_data(case, rng, state)).start(rng)[1]
    for k in range(-BURN_IN, draws):
        y = draw_data(case, rng, state)
        sampler = sampler_given(case, y)
        state, info = sampler.step(rng, state, tuning)
        if k < 0:
            tuning = sampler.adapt(tuning, info)
            if k == -1:
                tuning = sampler.freeze(tuning)
        else:
            rows.append(statistics(case, state, y))
    return np.array(rows)


def sampler_given(case: Case, y: Vector) -> Gibbs | Factors:
    return case.sampler(case.model, Observations.from_triples(ROWS, COLS, y, SHAPE))


def z_scores(case: Case, rng: Generator, draws: int, chains: int = 2) -> Vector:
    """Return the differences of the means of both ways, in standard errors."""
    samples = direct(case, rng, chains * draws)
    chain = np.stack([alternating(case, child, draws) for child in rng.spawn(chains)])
    error = np.hypot(standard_error(chain), samples.std(axis=0) / np.sqrt(len(samples)))
    return (chain.mean(axis=(0, 1)) - samples.mean(axis=0)) / error
