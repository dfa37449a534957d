"""Geweke's joint test (2004): two ways of drawing parameters and data together must agree.

One draws parameters from the prior and data given them.  The other alternates a step of the sampler given the data with
new data given the parameters.  A sampler that leaves its posterior invariant, for every data set, has the joint
distribution of the first as its own.  What it adds to the exact posteriors is rank two, with all hyperparameters
learned, and errors that depend on the data.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from manifill.problem import EffectsPrior, Gamma, Likelihood, Model, Observations, ScaledF
from manifill.sampling.factors import Factors, FactorsState
from manifill.sampling.gibbs import Gibbs
from manifill.sampling.joint import Joint, JointTuning
from manifill.sampling.masses import Masses
from manifill.sampling.singular import State
from manifill.sampling.workers import replaced_in_silence
from manifill.types import Generator, Matrix, Vector
from tests.exact.prior import completed, draw_data, draw_factors, draw_state
from tests.exact.zscores import standard_error

# Half of the 4×3 cells; the last row and the last column have none.
SHAPE, RANK = (4, 3), 2
ROWS, COLS = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])
NUMBERED = Observations.from_triples(ROWS, COLS, np.arange(6), SHAPE)
SHOWN = ((0, 0), (2, 1), (1, 2), (3, 2))
BURN_IN = 200

# Tight enough for light tails: where γs² is large, NUTS at a fixed step size is stuck for long, and errors of means
# would be underestimated.
NOISE, RATE, FACTORS = Gamma(8.0, 8.0), Gamma(12.0, 12.0), Gamma(12.0, 12.0)
HEAVY = ScaledF(shape=16.0, tail=16.0, scale=1.0, floor=0.2)
EFFECTS = EffectsPrior(0.5, 1.0, Gamma(8.0, 8.0), Gamma(8.0, 8.0))


class Case(NamedTuple):
    """A sampler, a likelihood, and what else the model has."""

    sampler: type[Joint] | type[Gibbs] | type[Factors]
    likelihood: Likelihood
    effects: EffectsPrior | None = None
    noise: Gamma | ScaledF = NOISE
    by_column: bool = False

    @property
    def model(self) -> Model:
        return Model(RANK, self.likelihood, RATE, self.noise, FACTORS, self.effects, self.by_column)

    def given(self, y: Vector) -> Joint | Gibbs | Factors:
        """Return the sampler given data."""
        options = {"warmup": BURN_IN} if self.sampler is Joint else {}
        return self.sampler(self.model, observed(y), **options)


def observed(y: Vector) -> Observations:
    """Return the cells with these values, without checking and sorting them anew."""
    by_row, by_column = (
        cells._replace(values=y[cells.values.astype(int)]) for cells in (NUMBERED.by_row, NUMBERED.by_column)
    )
    return replace(NUMBERED, by_row=by_row, by_column=by_column)


def prior_state(case: Case, rng: Generator) -> State | FactorsState:
    return (draw_factors if case.sampler is Factors else draw_state)(rng, case.model, SHAPE)


def data(case: Case, rng: Generator, state: State | FactorsState) -> Vector:
    return draw_data(rng, case.model, state, ROWS, COLS)


def statistics(case: Case, state: State | FactorsState, y: Vector) -> Vector:
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
        log_precision = np.log(state.noise.precision)
        parts += [log_precision, log_precision**2, log_precision * together[0]]
        if isinstance(case.noise, ScaledF):
            parts.append(np.log(state.noise.rate) * np.array([1.0, log_precision.sum(), together[0]]))
    if case.effects is not None:
        parts.append(effect_statistics(state, y))
    return np.concatenate(parts)


def effect_statistics(state: State, y: Vector) -> Vector:
    """Return the same of the effects: of each kind a few, their sizes, and how they and the data agree."""
    effects = state.effects
    scales = np.log(
        [effects.row_precision, effects.column_precision, np.sum(effects.row**2), np.sum(effects.column**2)]
    )
    values = np.array([effects.mean, effects.row[0], effects.row[3], effects.column[0], effects.column[2]])
    data = np.tanh(y[0] - 0.5 * y[-1])
    return np.concatenate([values, values**2, scales, scales**2, data * np.tanh(values[[0, 1, 3]])])


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
    rest[:2] *= [1.0, 10.0]  # of s
    return tuning._replace(masses=Masses(masses.left * [1.0, 5.0], masses.right * [3.0, 1.0], rest))


def z_scores(case: Case, rng: Generator, draws: int, chains: int = 2, processes: int = 1) -> Vector:
    """Return the differences of the means of both ways, in standard errors."""
    jobs = [delayed(way)(case, child, draws) for way in (direct, alternating) for child in rng.spawn(chains)]
    with replaced_in_silence():
        run = Parallel(processes)(jobs)
    samples, chain = np.concatenate(run[:chains]), np.stack(run[chains:])
    error = np.hypot(standard_error(chain), samples.std(axis=0) / np.sqrt(len(samples)))
    return (chain.mean(axis=(0, 1)) - samples.mean(axis=0)) / error
