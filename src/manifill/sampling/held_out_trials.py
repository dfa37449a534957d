"""Short chains that predict cells which are left out, to choose between models before the chains of a fit start."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from manifill.base import progress
from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.interrupts import waiting_interrupts
from manifill.base.kernel_cache import on_compilation
from manifill.kernels.cell_passes import cell_log_likelihoods
from manifill.likelihoods.location_family import LOG_NORMALIZER, log_density_at_noise
from manifill.posterior.cell_draws import product_at_cells
from manifill.problem import Model, Observations
from manifill.problem.additive_fit import positive_square, variance_of
from manifill.problem.column_units import SAME_UNITS, ColumnUnits
from manifill.sampling.factor_gibbs import Factors, FactorsState
from manifill.sampling.noise_draws import cell_weights
from manifill.unknowns.point import components_of_product

__all__ = ["FEWEST_HELD_OUT", "SHORTEST", "Trial", "Trials", "divided", "mean_and_error", "some_cells"]

# The cells that are predicted, and the number of cells that a choice makes do with: if there are more, it takes those
# of some rows, or of some columns if these are more.
HELD_OUT, MOST_HELD_OUT, MOST_CELLS = 0.15, 20_000, 1_000_000
FEWEST_HELD_OUT = 20  # fewer say nothing about gains

# The fewest sweeps of a trial to settle in, and as many whose predictions are averaged.
SHORTEST = 30

# Each predictive distribution is mixed with this share of a wide one, so that no single outlier decides.
WIDE_SHARE, WIDTH = 0.01, 3.0


def some_cells(rng: Generator, observations: Observations, most: int = MOST_CELLS) -> Observations:
    """Return the cells, or if they are too many, those of a random choice of rows or columns.

    They are in a table without empty rows and columns, which would count in its shape.
    """
    share = most / observations.size
    if share < 1.0:
        longer = int(np.argmax(observations.shape))
        kept = rng.random(observations.shape[longer]) < share
        observations = observations.subset(np.flatnonzero(kept[observations.triples()[longer]]))
    rows, cols, values = observations.triples()
    (_, row_index), (_, col_index) = (np.unique(index, return_inverse=True) for index in (rows, cols))
    return Observations.from_triples(row_index, col_index, values)


def divided(rng: Generator, observations: Observations) -> tuple[Observations, Observations] | None:
    """Return cells to fit and cells to predict, or None if there are too few."""
    held_out = int(min(HELD_OUT * observations.size, MOST_HELD_OUT))
    return None if held_out < FEWEST_HELD_OUT else observations.split(rng, held_out / observations.size)


class Trial(NamedTuple):
    """The last state of a chain, and what its sweeps predicted."""

    state: FactorsState
    log_density: Vector  # of each held-out cell, in the data's units
    mean: Vector  # of each held-out cell, in the data's units

    @property
    def rank(self) -> int:
        """The number of components."""
        return int(self.state.A.shape[1])


def mean_and_error(values: Vector, cells: int) -> tuple[float, float]:
    """Return the mean and its standard error, for values of so many cells, which are repeated if there are more."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(min(values.size, cells)))


class Trials:
    """Chains of different models on the same cells, whose columns are in these units.

    A chain has ``length`` sweeps to settle in, and as many whose predictions are averaged.
    """

    def __init__(
        self, train: Observations, test: Observations, units: ColumnUnits = SAME_UNITS, length: int = SHORTEST
    ) -> None:
        self.length = length
        _, cols, y = test.triples()
        self._train, self._test = units.observations(train), units.observations(test)
        self._units = units.at(cols)
        self._log_slopes = self._units.log_slopes(y)
        values = self._train.by_row.values
        width = WIDTH * np.sqrt(positive_square(variance_of(values), values))
        unit = -0.5 * (self._test.by_row.values - values.mean()) ** 2
        self._wide = log_density_at_noise(unit, width) + LOG_NORMALIZER

    @property
    def held_out(self) -> int:
        """The number of cells that are predicted."""
        return self._test.size

    @property
    def train(self) -> Observations:
        """The cells to fit, in the units of the model."""
        return self._train

    def run(self, rng: Generator, model: Model, fewer: FactorsState | None = None) -> Trial:
        """Run a chain, which continues from a state with fewer components if there is one."""
        sampler = Factors(model, self._train)
        densities, mean = [], np.zeros(self._test.size)
        with _sweeping(model) as end_sweep:
            state, _ = sampler.start(rng)
            if fewer is not None:
                state = fewer.extended(state)
            for sweep in range(2 * self.length):
                state, _ = sampler.step(rng, state, None)
                if sweep >= self.length:
                    sigma = self._sigma(state)
                    densities.append(self._log_density(sampler, state, sigma))
                    mean += self._mean(state, sigma) / self.length
                end_sweep()
        return Trial(state, self._predictive(logsumexp(densities, axis=0)), mean)

    def run_by_leading(self, rng: Generator, model: Model, state: FactorsState) -> Matrix:
        """Continue a chain, and return the log densities of the held-out cells by its leading components.

        Row k of the result, (r + 1, cells), is by k of them, in the data's units.  A component is a term of the
        singular value decomposition of A Bᵀ, the largest first; effects and noise are those of the whole model.
        """
        sampler, total = Factors(model, self._train), np.full((model.rank + 1, self._test.size), -np.inf)
        with _sweeping(model) as end_sweep:
            for _ in range(self.length):
                state, _ = sampler.step(rng, state, None)
                sigma = self._sigma(state)
                for k, x in enumerate(self._by_leading(state)):
                    unit = -0.5 * (self._test.by_row.values - x) ** 2
                    total[k] = np.logaddexp(total[k], _at_noise(unit, state, sigma))
                end_sweep()
        return np.asarray([self._predictive(each) for each in total])

    def _by_leading(self, state: FactorsState) -> Iterator[Vector]:
        """Yield x at the held-out cells with the k leading components, k = 0, …, r; the array is reused."""
        rows, cols, _ = self._test.triples()
        (left, right), rank = state.factors(), state.A.shape[1]
        x = np.asarray((left[rows, rank:] * right[cols, rank:]).sum(axis=1))  # the effects
        yield x
        U, s, V = components_of_product(state.A, state.B)
        for k in range(rank):
            x += s[k] * U[rows, k] * V[cols, k]
            yield x

    def _predictive(self, summed: Vector) -> Vector:
        """Return log densities in the data's units, given the logarithms of the sums of those of all counted sweeps."""
        found = np.logaddexp(np.log1p(-WIDE_SHARE) + summed - np.log(self.length), np.log(WIDE_SHARE) + self._wide)
        return np.asarray(found + self._log_slopes)

    def _sigma(self, state: FactorsState) -> Vector:
        """Return the scale of the noise at the held-out cells."""
        weights = cell_weights(self._test.by_row, state.noise, np.empty(0))
        return np.asarray((state.noise.precision * weights) ** -0.5)

    def _log_density(self, sampler: Factors, state: FactorsState, sigma: Vector) -> Vector:
        """Return the log density of the held-out cells given a state, in the units of the model."""
        unit = np.empty(self._test.size)
        cell_log_likelihoods(self._test.by_row, sampler.likelihood, *state.factors(), unit)
        return _at_noise(unit, state, sigma)

    def _mean(self, state: FactorsState, sigma: Vector) -> Vector:
        """Return the means of the held-out cells given a state, in the data's units."""
        rows, cols, _ = self._test.triples()
        x = np.empty(rows.size)
        product_at_cells(*state.factors(), rows.astype(np.int64), cols.astype(np.int64), x)
        return np.asarray(self._units.moments(x, sigma**2)[0])


@contextmanager
def _sweeping(model: Model) -> Iterator[Callable[[], None]]:
    """Report the sweeps of the block, each of which ends with a call of the function that it is given.

    An interrupt is raised at the end of the sweep that it comes in, or of the kernel that is then being compiled.
    """
    with waiting_interrupts() as let_through:

        def end_sweep() -> None:
            progress.advance(doing=f"rank {model.rank}")
            let_through()

        def report_compilation(now: bool) -> None:
            progress.advance(0.0, "compiling" if now else "")
            if not now:
                let_through()

        with on_compilation(report_compilation):
            yield end_sweep


def _at_noise(unit: Vector, state: FactorsState, sigma: Vector) -> Vector:
    """Return log densities with the noise of a state, given those with σ = 1, which lack the constant."""
    nu = state.noise.degrees if np.isfinite(state.noise.degrees) else None
    return log_density_at_noise(unit, sigma, nu) + LOG_NORMALIZER
