"""Draws of the noise given the residuals (docs/math.md, §2.6).

The precision of the cell (i, j) is γ α_i β_j ω_ij.  γ, α, β and ω are Gamma given the rest.  The widths of α and β are
drawn with α or β integrated out, the degrees of freedom with ω integrated out.  Only the product of the levels of γ, α
and β is known from the data, so each of α and β exchanges its level with γ.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.base.priors import Gamma, ScaledF
from manifill.kernels.compressed import Compressed
from manifill.kernels.noise_sums import column_products, row_products, weigh_cells
from manifill.likelihoods import NoiseState, Spread, WithNoise
from manifill.likelihoods.location_family import log_density_at_noise
from manifill.sampling.noise_slices import draw_degrees, draw_level, draw_shape

__all__ = ["Residuals", "cell_weights", "draw_mixing", "draw_noise", "draw_shared", "log_likelihood_at_noise"]

# Gibbs sweeps over precisions, factors and widths given the residuals; cheap next to a trajectory.
SWEEPS, RATE_SWEEPS = 2, 5


class Residuals(NamedTuple):
    """Half the squared residuals of all cells, at unit noise; ``cells`` are by row."""

    cells: Compressed
    half_squares: Vector  # (cells,)
    row_counts: Vector  # (m,)
    column_counts: Vector  # (n,)

    def times(self, factors: Vector) -> "Residuals":
        """Return the residuals with their squares multiplied by one factor per cell."""
        return self._replace(half_squares=self.half_squares * factors)


def draw_shared(rng: Generator, noise: WithNoise, cells: int, half_squares: float, state: NoiseState) -> NoiseState:
    """Draw γ and the rate of its prior given half the sum of squares of so many cells."""
    prior = noise.precision
    if isinstance(prior, ScaledF):
        precision = np.ones(1)
        rate = prior.sweep(rng, np.array([0.5 * cells]), np.array([half_squares]), precision, state.rate, RATE_SWEEPS)
        return state._replace(precision=float(precision[0]), rate=rate)
    if isinstance(prior, Gamma):
        return state._replace(precision=prior.given(0.5 * cells, half_squares).draw(rng))
    return state._replace(precision=prior)


def draw_mixing(rng: Generator, residuals: Residuals, state: NoiseState) -> Vector:
    """Draw ω given the residuals and all else, (cells,); empty for normal tails."""
    if not np.isfinite(state.degrees):
        return np.empty(0)
    squares = 2.0 * state.precision * residuals.times(_weights(residuals, state)).half_squares
    return np.asarray(rng.standard_gamma(0.5 * (state.degrees + 1.0), squares.size) * 2.0 / (state.degrees + squares))


def cell_weights(cells: Compressed, state: NoiseState, mixing: Vector) -> Vector:
    """Return the precision of each cell relative to γ, (cells,)."""
    weights = np.empty(cells.values.size)
    weigh_cells(cells, state.row, state.column, mixing, weights)
    return weights


def draw_noise(rng: Generator, noise: WithNoise, residuals: Residuals, mixing: Vector, state: NoiseState) -> NoiseState:
    """Draw γ, α, β, their widths and the degrees of freedom, given the residuals and ω."""
    mixed = residuals.times(mixing) if mixing.size else residuals
    for _ in range(SWEEPS):
        state = draw_shared(rng, noise, mixed.half_squares.size, _weighted_sum(mixed, state), state)
        if noise.rows is not None:
            sums = state.precision * _row_sums(mixed, state)
            shape, row = _draw_side(rng, noise.rows, mixed.row_counts, sums, state.row_shape)
            state = _exchange_level(rng, noise, state._replace(row=row, row_shape=shape), "row")
        if noise.columns is not None:
            sums = state.precision * _column_sums(mixed, state)
            shape, column = _draw_side(rng, noise.columns, mixed.column_counts, sums, state.column_shape)
            state = _exchange_level(rng, noise, state._replace(column=column, column_shape=shape), "column")
    if noise.tails is None:
        return state
    squares = 2.0 * state.precision * residuals.times(_weights(residuals, state)).half_squares
    return state._replace(degrees=draw_degrees(rng, noise.tails, squares, state.degrees))


def log_likelihood_at_noise(residuals: Residuals, state: NoiseState) -> float:
    """Return log p(y | X, γ, α, β, ν) up to a constant, with ω integrated out."""
    sigma = (state.precision * _weights(residuals, state)) ** -0.5
    nu = state.degrees if np.isfinite(state.degrees) else None
    return float(log_density_at_noise(-residuals.half_squares, sigma, nu).sum())


def _draw_side(rng: Generator, spread: Spread, counts: Vector, sums: Vector, shape: float) -> tuple[float, Vector]:
    """Draw the shape a with the factors integrated out, then the factors Gamma(a + count/2, a + sum)."""
    shape = draw_shape(rng, spread, counts, sums, shape)
    return shape, np.asarray(rng.standard_gamma(shape + 0.5 * counts) / (shape + sums))


def _exchange_level(rng: Generator, noise: WithNoise, state: NoiseState, side: str) -> NoiseState:
    """Multiply γ and divide the factors of one side by the same number, drawn from its posterior."""
    prior = noise.given_rate(state.rate)
    if not isinstance(prior, Gamma):
        return state
    factors, shape = (state.row, state.row_shape) if side == "row" else (state.column, state.column_shape)
    change = draw_level(rng, prior, state.precision, factors.size * shape, shape * float(factors.sum()))
    state = state._replace(precision=state.precision * change)
    return state._replace(row=factors / change) if side == "row" else state._replace(column=factors / change)


def _weights(residuals: Residuals, state: NoiseState) -> Vector:
    return cell_weights(residuals.cells, state, np.empty(0))


def _row_sums(residuals: Residuals, state: NoiseState) -> Vector:
    sums = np.empty(residuals.row_counts.size)
    row_products(residuals.cells, residuals.half_squares, state.column, sums)
    return sums


def _column_sums(residuals: Residuals, state: NoiseState) -> Vector:
    sums = np.empty(residuals.column_counts.size)
    column_products(residuals.cells, residuals.half_squares, state.row, sums)
    return sums


def _weighted_sum(residuals: Residuals, state: NoiseState) -> float:
    sums = _row_sums(residuals, state)
    return float(sums.sum() if state.row.size == 0 else state.row @ sums)
