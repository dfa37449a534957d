"""The noise of the observed cells: weights of the cells before unknowns are drawn, and the noise after it."""

import numpy as np

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.priors import ScaledF
from manifill.kernels.cell_passes import cell_log_likelihoods, log_likelihood
from manifill.kernels.noise_sums import column_products, row_products, weigh_cells
from manifill.likelihoods import CompiledLikelihood, NoiseState, WithNoise
from manifill.problem import Model
from manifill.sampling.data import Data
from manifill.sampling.noise_draws import (
    Residuals,
    cell_weights,
    draw_mixing,
    draw_noise,
    draw_shared,
    log_likelihood_at_noise,
)
from manifill.sampling.noise_slices import slice_kernels
from manifill.sampling.sampler import Kernel

__all__ = ["EXAMPLE_LIKELIHOOD", "draw_noise_of_cells", "draw_weights", "noise_kernels"]

# A likelihood by its type, which is the same for all; the address of its function is not needed to compile.
EXAMPLE_LIKELIHOOD = CompiledLikelihood(0, np.empty(0), np.empty(0))


def noise_kernels(rng: Generator, model: Model, data: Data) -> tuple[Kernel, ...]:
    """Return what is compiled for these draws."""
    cells, v, factor, likelihood = data.by_row, np.empty(0), np.empty((0, 0)), EXAMPLE_LIKELIHOOD
    if not isinstance(model.noise, WithNoise):
        return ()
    prior = model.noise.precision
    of_rate = (Kernel(ScaledF.sweep, (prior, rng, v, v, v, 1.0, 1)),) if isinstance(prior, ScaledF) else ()
    if model.noise.is_shared:
        return of_rate
    return (
        Kernel(cell_log_likelihoods, (cells, likelihood, factor, factor, v)),
        *slice_kernels(rng),
        *of_rate,
        Kernel(row_products, (cells, v, v, v)),
        Kernel(column_products, (cells, v, v, v)),
        Kernel(weigh_cells, (cells, v, v, v, v)),
    )


def draw_weights(
    rng: Generator,
    model: Model,
    data: Data,
    likelihood: CompiledLikelihood,
    factors: tuple[Matrix, Matrix],
    noise: NoiseState,
) -> tuple[Vector, Vector]:
    """Return the precision of each cell relative to γ, by row, and ω as drawn for it; empty where all are one."""
    if model.noise.is_shared:
        return np.empty(0), np.empty(0)
    mixing = np.empty(0)
    if np.isfinite(noise.degrees):
        mixing = draw_mixing(rng, _residuals(data, likelihood, factors), noise)
    return cell_weights(data.by_row, noise, mixing), mixing


def draw_noise_of_cells(
    rng: Generator,
    model: Model,
    data: Data,
    likelihood: CompiledLikelihood,
    factors: tuple[Matrix, Matrix],
    noise: NoiseState,
    mixing: Vector | None,
) -> tuple[NoiseState, float]:
    """Return the noise drawn given the factors of the completed matrix and ω, and log p(y | factors, noise)."""
    if not isinstance(model.noise, WithNoise):
        return NoiseState.shared(1.0), log_likelihood(data.by_row, likelihood, *factors)
    if model.noise.is_shared:
        cells, unit = len(data.by_row.values), log_likelihood(data.by_row, likelihood, *factors)
        noise = draw_shared(rng, model.noise, cells, -unit, noise)
        return noise, float(noise.precision * unit + 0.5 * cells * np.log(noise.precision))
    residuals = _residuals(data, likelihood, factors)
    noise = draw_noise(rng, model.noise, residuals, np.empty(0) if mixing is None else mixing, noise)
    return noise, log_likelihood_at_noise(residuals, noise)


def _residuals(data: Data, likelihood: CompiledLikelihood, factors: tuple[Matrix, Matrix]) -> Residuals:
    unit = np.empty(len(data.by_row.values))
    cell_log_likelihoods(data.by_row, likelihood, *factors, unit)
    rows, columns = (counts.astype(np.float64) for counts in data.cells_of)
    return Residuals(data.by_row, -unit, rows, columns)
