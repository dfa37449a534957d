"""Parameters drawn from the prior, and data given them, written without the package's own code."""

import numpy as np

from manifill.base.arrays import Generator, IntVector, Matrix, Vector
from manifill.base.priors import ComponentGamma, Gamma, ScaledF
from manifill.likelihoods import NoiseState, Spread, Tails, WithNoise
from manifill.problem import Model
from manifill.sampling.factor_gibbs import FactorsState
from manifill.sampling.state import State
from manifill.unknowns import Effects, Unknowns


def draw_state(rng: Generator, model: Model, shape: tuple[int, int]) -> State:
    """Return parameters of U diag(s) Vᵀ and what goes with it."""
    (m, n), r = shape, model.rank
    rate = draw_one(rng, model.rate)
    s = rng.exponential(size=r) / rate
    effects, noise = draw_effects(rng, model, shape), draw_noise(rng, model, shape)
    unknowns = Unknowns(uniform_frame(rng, m, r), s, uniform_frame(rng, n, r), effects, np.empty(0))
    return State(unknowns, noise, rate, 0.0)


def draw_factors(rng: Generator, model: Model, shape: tuple[int, int]) -> FactorsState:
    """Return parameters of A Bᵀ and what goes with it."""
    (m, n), r, prior = shape, model.rank, model.factor_precision
    if isinstance(prior, ComponentGamma):
        taus = rng.gamma(prior.shape, size=(2, r)) / prior.rate
    else:
        taus = np.full((2, r), draw_one(rng, prior))
    A, B = rng.standard_normal((m, r)) / np.sqrt(taus[0]), rng.standard_normal((n, r)) / np.sqrt(taus[1])
    return FactorsState(A, B, draw_effects(rng, model, shape), draw_noise(rng, model, shape), taus[0], taus[1], 0.0)


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


def draw_noise(rng: Generator, model: Model, shape: tuple[int, int]) -> NoiseState:
    """Return the noise: a precision, factors of rows and columns, and degrees of freedom."""
    if not isinstance(model.noise, WithNoise):
        return NoiseState.shared(1.0)
    precision, rate = draw_shared_noise(rng, model.noise.precision)
    (row_shape, row), (column_shape, column) = (
        (np.inf, np.empty(0)) if spread is None else draw_noise_factors(rng, spread, size)
        for spread, size in zip((model.noise.rows, model.noise.columns), shape, strict=True)
    )
    degrees = np.inf if model.noise.tails is None else draw_degrees(rng, model.noise.tails)
    return NoiseState(precision, rate, row, row_shape, column, column_shape, degrees)


def draw_shared_noise(rng: Generator, prior: float | Gamma | ScaledF) -> tuple[float, float]:
    """Return a precision and its rate, which with a floor has density ∝ Gamma(tail, scale) (1 + floor/rate)^−shape.

    That is the joint density γ^(shape − 1) rate^shape exp(−(rate + floor) γ) · Gamma(tail, scale) of the rate alone.
    """
    if not isinstance(prior, ScaledF):
        return draw_one(rng, prior), 0.0
    while True:
        rate = float(rng.gamma(prior.tail) / prior.scale)
        if rng.random() < (1.0 + prior.floor / rate) ** -prior.shape:
            return float(rng.gamma(prior.shape) / (rate + prior.floor)), rate


def draw_noise_factors(rng: Generator, spread: Spread, size: int) -> tuple[float, Vector]:
    """Return the shape of factors and the factors; their width is half-Cauchy, and the shape is from 4 to a million."""
    while True:
        shape = float(spread.scale * np.tan(0.5 * np.pi * rng.random())) ** -2.0
        if 4.0 < shape < 1e6:
            return shape, rng.gamma(shape, size=size) / shape


def draw_degrees(rng: Generator, tails: Tails) -> float:
    while True:
        degrees = 2.0 + float(rng.gamma(tails.shape) / tails.rate)
        if degrees < 1e4:
            return degrees


def effects_of(state: State | FactorsState) -> Effects:
    return state.effects if isinstance(state, FactorsState) else state.unknowns.effects


def completed(state: State | FactorsState) -> Matrix:
    """Return the completed matrix, on the scale of the link."""
    effects = effects_of(state)
    if isinstance(state, FactorsState):
        X = state.A @ state.B.T
    else:
        U, s, V = state.unknowns[:3]
        X = (U * s) @ V.T
    return X + effects.mean + effects.row[:, None] + effects.column if effects.row.size else X


def sigmas(state: State | FactorsState, rows: IntVector, cols: IntVector) -> Vector:
    """Return the scale of the noise of each cell."""
    noise = state.noise
    precision = np.full(len(rows), noise.precision)
    precision *= noise.row[rows] if noise.row.size else 1.0
    precision *= noise.column[cols] if noise.column.size else 1.0
    return np.asarray(precision**-0.5)


def draw_data(rng: Generator, model: Model, state: State | FactorsState, rows: IntVector, cols: IntVector) -> Vector:
    x = completed(state)[rows, cols]
    if not model.likelihood.has_noise:
        return model.likelihood.sample(rng, x, {})
    noise = rng.standard_normal(len(rows))
    if np.isfinite(state.noise.degrees):
        noise = rng.standard_t(state.noise.degrees, len(rows))
    return np.asarray(model.likelihood.mean(x) + sigmas(state, rows, cols) * noise)
