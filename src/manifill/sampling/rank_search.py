"""The rank of the low-rank part, found from the observed cells.

Gibbs sweeps over A Bᵀ (``factor_gibbs``) on most of the cells predict the others, with twice as many components again
and again until their log predictive density no longer grows.  The result is generous: components that the data do not
support are shrunk by precisions of their own, and cost time rather than accuracy.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from manifill.base import progress
from manifill.base.arrays import Generator, Matrix, Vector
from manifill.kernels.cell_passes import cell_log_likelihoods
from manifill.likelihoods.location_family import log_density_at_noise
from manifill.problem import Model, Observations
from manifill.problem.additive_fit import positive_square, variance_of
from manifill.sampling.factor_gibbs import Factors, FactorsState
from manifill.sampling.noise_draws import cell_weights

__all__ = ["find_rank", "largest_rank"]

FIRST, LARGEST = 4, 64

# The cells that are predicted, and the number of cells that a search makes do with: if there are more, it takes those
# of some rows, or of some columns if these are more.
HELD_OUT, MOST_HELD_OUT, MOST_CELLS = 0.15, 20_000, 1_000_000
FEWEST_HELD_OUT = 20  # fewer say nothing about gains

# Sweeps at each rank: some to settle in, then some whose predictions are averaged.
SETTLING, COUNTED = 30, 30

# The search goes on if more components raise the log density per cell by more than this, and by more than a standard
# error.
GAIN = 0.002

# Each predictive distribution is mixed with this share of a wide one, so that no single outlier decides.
WIDE_SHARE, WIDTH = 0.01, 3.0


def largest_rank(shape: tuple[int, int]) -> int:
    """Return the largest rank that is tried: below min(m, n), where a matrix would not be of low rank."""
    return max(min(LARGEST, min(shape) - 1), 1)


def find_rank(rng: Generator, observations: Observations, model_of: Callable[[int], Model]) -> int:
    """Return a rank for these cells; ``model_of`` returns the model of a rank, which must be conjugate."""
    some = _renumbered(_some_cells(rng, observations))
    limit, held_out = largest_rank(some.shape), int(min(HELD_OUT * some.size, MOST_HELD_OUT))
    if limit <= FIRST or held_out < FEWEST_HELD_OUT:
        return min(FIRST, limit)
    trials = _Trials(*some.split(rng, held_out / some.size), model_of)
    progress.begin("choosing the rank", _most_sweeps(limit), "sweeps")
    with threadpool_limits(1, "blas"):
        best = trials.run(rng, FIRST, None)
        while best.rank < limit:
            more = trials.run(rng, min(2 * best.rank, limit), best.state)
            gain, error = more.gain(best)
            if gain <= max(GAIN, error):
                return more.rank if gain > -error else best.rank  # generous, unless more components do harm
            best = more
    return best.rank


def _most_sweeps(limit: int) -> float:
    """Return the sweeps of a search that reaches the limit."""
    return float((SETTLING + COUNTED) * (1 + np.ceil(np.log2(limit / FIRST))))


def _some_cells(rng: Generator, observations: Observations) -> Observations:
    """Return the cells, or if they are too many, those of a random choice of rows or columns."""
    share = MOST_CELLS / observations.size
    if share >= 1.0:
        return observations
    longer = int(np.argmax(observations.shape))
    kept = rng.random(observations.shape[longer]) < share
    return observations.subset(np.flatnonzero(kept[observations.triples()[longer]]))


def _renumbered(observations: Observations) -> Observations:
    """Return the cells in a table without empty rows and columns, which would count in its shape."""
    rows, cols, values = observations.triples()
    (_, row_index), (_, col_index) = (np.unique(index, return_inverse=True) for index in (rows, cols))
    return Observations.from_triples(row_index, col_index, values)


class _Trial(NamedTuple):
    """The last state of a chain, and what its sweeps predicted."""

    state: FactorsState
    log_density: Vector  # of each held-out cell

    @property
    def rank(self) -> int:
        return int(self.state.A.shape[1])

    def gain(self, other: "_Trial") -> tuple[float, float]:
        """Return how much better these predictions are per cell, and the standard error of that."""
        gains = self.log_density - other.log_density
        return float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(gains.size))


class _Trials:
    """Chains of different ranks on the same cells."""

    def __init__(self, train: Observations, test: Observations, model_of: Callable[[int], Model]) -> None:
        self._train, self._test, self._model_of = train, test, model_of
        values = train.by_row.values
        width = WIDTH * np.sqrt(positive_square(variance_of(values), values))
        self._wide = log_density_at_noise(-0.5 * (test.by_row.values - values.mean()) ** 2, width)

    def run(self, rng: Generator, rank: int, fewer: FactorsState | None) -> _Trial:
        """Run a chain, which continues from a state with fewer components if there is one."""
        sampler = Factors(self._model_of(rank), self._train)
        state, _ = sampler.start(rng)
        if fewer is not None:
            state = _with_components_of(state, fewer)
        densities = []
        for sweep in range(SETTLING + COUNTED):
            state, _ = sampler.step(rng, state, None)
            if sweep >= SETTLING:
                densities.append(self._log_density(sampler, state))
            progress.advance(doing=f"rank {rank}")
        found = logsumexp(densities, axis=0) - np.log(COUNTED)
        return _Trial(state, np.logaddexp(np.log1p(-WIDE_SHARE) + found, np.log(WIDE_SHARE) + self._wide))

    def _log_density(self, sampler: Factors, state: FactorsState) -> Vector:
        """Return the log density of the held-out cells given a state, (cells,), up to a constant."""
        cells, noise = self._test.by_row, state.noise
        unit = np.empty(cells.values.size)
        cell_log_likelihoods(cells, sampler.likelihood, *state.factors(), unit)
        sigma = (noise.precision * cell_weights(cells, noise, np.empty(0))) ** -0.5
        return log_density_at_noise(unit, sigma, noise.degrees if np.isfinite(noise.degrees) else None)


def _with_components_of(state: FactorsState, fewer: FactorsState) -> FactorsState:
    """Return a state with its first components, effects and noise replaced by those of another."""
    A, B = _replaced(state.A, fewer.A), _replaced(state.B, fewer.B)
    left, right = (
        np.append(of_fewer, own[of_fewer.size :])
        for own, of_fewer in (
            (state.left_precision, fewer.left_precision),
            (state.right_precision, fewer.right_precision),
        )
    )
    return FactorsState(A, B, fewer.effects, fewer.noise, left, right, state.log_density)


def _replaced(factor: Matrix, first: Matrix) -> Matrix:
    """Return a factor with its first columns replaced."""
    return np.hstack([first, factor[:, first.shape[1] :]])
