"""Parameters drawn from the prior, and data given them, written without the package's own code."""

import numpy as np

from manifill.base.arrays import Generator, IntVector, Matrix, Vector
from manifill.base.priors import Gamma, ScaledF
from manifill.likelihoods import NoiseState
from manifill.problem import Model
from manifill.sampling.factor_gibbs import FactorsState
from manifill.sampling.state import State
from manifill.unknowns import Effects, Unknowns
from tests.problem.likelihoods import precision_of


def draw_state(rng: Generator, model: Model, shape: tuple[int, int]) -> State:
    """Return parameters of U diag(s) Vᵀ and what goes with it."""
    (m, n), r = shape, model.rank
    rate = draw_one(rng, model.rate)
    s = rng.exponential(size=r) / rate
    effects, noise = draw_effects(rng, model, shape), draw_noise(rng, model, n)
    unknowns = Unknowns(uniform_frame(rng, m, r), s, uniform_frame(rng, n, r), effects, np.empty(0))
    return State(unknowns, noise, rate, 0.0)


def draw_factors(rng: Generator, model: Model, shape: tuple[int, int]) -> FactorsState:
    """Return parameters of the baseline A Bᵀ."""
    (m, n), r = shape, model.rank
    tau = draw_one(rng, model.factor_precision)
    A, B = rng.standard_normal((m, r)) / np.sqrt(tau), rng.standard_normal((n, r)) / np.sqrt(tau)
    return FactorsState(A, B, draw_noise(rng, model, n), tau, 0.0)


def draw_one(rng: Generator, prior: float | Gamma) -> float:
    return float(rng.gamma(prior.shape) / prior.rate) if isinstance(prior, Gamma) else prior


def uniform_frame(rng: Generator, rows: int, columns: int) -> Matrix:
    left, _, right = np.linalg.svd(rng.standard_normal((rows, columns)), full_matrices=False)
    return np.ascontiguousarray(left @ right)


def draw_effects(rng: Generator, model: Model, shape: tuple[int, int]) -> Effects:
    if model.effects is None:
        return Effects.none()
    prior, (m, n) = model.effects, shape
    row, column = draw_one(rng, prior.row), draw_one(rng, prior.column)
    mean = prior.mean + float(rng.standard_normal()) / np.sqrt(prior.mean_precision)
    a, b = rng.standard_normal(m) / np.sqrt(row), rng.standard_normal(n) / np.sqrt(column)
    return Effects(mean, a, b, row, column)


def draw_noise(rng: Generator, model: Model, columns: int) -> NoiseState:
    """Return precisions and their rate, which with a floor has density ∝ Gamma(tail, scale) (1 + floor/rate)^−Σ shape.

    That is the joint density Π γ^(shape − 1) rate^shape exp(−(rate + floor) γ) · Gamma(tail, scale) of the rate alone.
    """
    if not model.likelihood.has_noise:
        return NoiseState(np.ones(1), 0.0)
    size, prior = columns if model.noise.by_column else 1, precision_of(model.noise)
    if not isinstance(prior, ScaledF):
        return NoiseState(np.array([draw_one(rng, prior) for _ in range(size)]), 0.0)
    while True:
        rate = float(rng.gamma(prior.tail) / prior.scale)
        if rng.random() < (1.0 + prior.floor / rate) ** -(prior.shape * size):
            return NoiseState(rng.gamma(prior.shape, size=size) / (rate + prior.floor), rate)


def completed(state: State | FactorsState) -> Matrix:
    """Return the completed matrix, on the scale of the link."""
    if isinstance(state, FactorsState):
        return state.A @ state.B.T
    U, s, V, effects, _ = state.unknowns
    X = (U * s) @ V.T
    return X + effects.mean + effects.row[:, None] + effects.column if effects.row.size else X


def sigmas(state: State | FactorsState, cols: IntVector) -> Vector | float:
    """Return the noise of each cell."""
    sigma = state.noise.precision**-0.5
    return sigma[cols] if len(sigma) > 1 else sigma[0]


def draw_data(rng: Generator, model: Model, state: State | FactorsState, rows: IntVector, cols: IntVector) -> Vector:
    return model.likelihood.sample(rng, completed(state)[rows, cols], {"sigma": sigmas(state, cols)})
