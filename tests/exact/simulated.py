"""Problems whose parameters and data are drawn together, and functions of both that are compared.

Geweke's joint test and the one-step test use them.  Functions have light tails, so that their means have errors that a
few thousand draws show.
"""

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.base.priors import ComponentGamma, Gamma, ScaledF
from manifill.likelihoods import Likelihood
from manifill.problem import Model, Observations
from manifill.sampling.factor_gibbs import Factors, FactorsState
from manifill.sampling.joint_sampler import Joint
from manifill.sampling.state import State
from manifill.unknowns import EffectsPrior
from tests.exact.prior import completed, draw_data, draw_factors, draw_state, effects_of
from tests.problem.likelihoods import noise_of
from tests.sampling.problems import AnySampler, SamplerClass

# Iterations of warm-up, of those chains that have one.
BURN_IN = 200

# Tight enough for light tails: if γs² is large, NUTS at a fixed step size is stuck for long, and errors of means would
# be underestimated.
NOISE, RATE, FACTORS = Gamma(8.0, 8.0), Gamma(12.0, 12.0), Gamma(12.0, 12.0)
HEAVY = ScaledF(shape=16.0, tail=16.0, scale=1.0, floor=0.2)
COMPONENTS = ComponentGamma(12.0, 12.0)
EFFECTS = EffectsPrior(0.5, 1.0, Gamma(8.0, 8.0), Gamma(8.0, 8.0))


class Table(NamedTuple):
    """Which cells of a matrix are observed, what rank it has, and the scale of its singular values."""

    shape: tuple[int, int]
    rank: int
    rows: tuple[int, ...]
    cols: tuple[int, ...]
    shown: tuple[tuple[int, int], ...]  # cells that are compared, some of them observed
    rate: Gamma = RATE

    @property
    def cells(self) -> tuple[list[int], list[int]]:
        """Return the observed cells as an index of the matrix."""
        return list(self.rows), list(self.cols)


# Half of the 4×3 cells; the last row and the last column have none.
SMALL = Table((4, 3), 2, (0, 0, 1, 1, 2, 2), (0, 1, 0, 1, 0, 1), ((0, 0), (2, 1), (1, 2), (3, 2)))


class Case(NamedTuple):
    """A sampler, a likelihood, and what else the model has."""

    sampler: SamplerClass
    likelihood: Likelihood
    effects: EffectsPrior | None = None
    noise: Gamma | ScaledF = NOISE
    by: str = "shared"  # see ``noise_of``
    table: Table = SMALL
    factors: Gamma | ComponentGamma = FACTORS

    @property
    def model(self) -> Model:
        table, noise = self.table, noise_of(self.likelihood, self.noise, self.by)
        return Model(table.rank, self.likelihood, table.rate, noise, self.factors, self.effects)

    def given(self, y: Vector) -> AnySampler:
        """Return the sampler given data."""
        options: dict[str, Any] = {"warmup": BURN_IN} if self.sampler is Joint else {}
        return self.sampler(self.model, observed(self.table, y), **options)


@cache
def numbered_cells(table: Table) -> Observations:
    """Return the cells with their numbers as values."""
    return Observations.from_triples(*table.cells, np.arange(len(table.rows)), table.shape)


def observed(table: Table, y: Vector) -> Observations:
    """Return the cells with these values, without checking and sorting them anew."""
    numbered = numbered_cells(table)
    by_row, by_column = (
        cells._replace(values=y[cells.values.astype(int)]) for cells in (numbered.by_row, numbered.by_column)
    )
    return replace(numbered, by_row=by_row, by_column=by_column)


def prior_state(case: Case, rng: Generator) -> State | FactorsState:
    return (draw_factors if case.sampler is Factors else draw_state)(rng, case.model, case.table.shape)


def data(case: Case, rng: Generator, state: State | FactorsState) -> Vector:
    rows, cols = (np.array(index) for index in case.table.cells)
    return draw_data(rng, case.model, state, rows, cols)


def statistics(case: Case, state: State | FactorsState, y: Vector) -> Vector:
    """Return functions of parameters and data with light tails: cells, logarithms, and how data and cells agree."""
    X = completed(state)
    x = np.array([X[cell] for cell in case.table.shown])
    if isinstance(state, FactorsState):
        scales = np.log(np.array([state.left_precision[0], np.sum(state.A**2), np.sum(state.B**2)]))
    else:
        s = state.unknowns.s
        scales = np.log(np.array([state.rate, s.max(), s.min()]))
    at_cells = X[case.table.cells]
    residual = y - case.likelihood.mean(at_cells)
    together = np.array([np.log(np.sum(residual**2) + 1e-3), np.tanh(y) @ np.tanh(at_cells)])
    parts = [x, np.abs(x), scales, scales**2, together]
    if case.likelihood.has_noise:
        parts.append(noise_statistics(case, state, residual))
    if case.effects is not None:
        parts.append(effect_statistics(state, y))
    return np.concatenate(parts)


def noise_statistics(case: Case, state: State | FactorsState, residual: Vector) -> Vector:
    """Return logarithms of precisions, widths and degrees of freedom, and how they and the residuals agree."""
    noise, size = state.noise, np.log(np.sum(residual**2) + 1e-3)
    log_precision = np.log(noise.precision)
    parts = [np.array([log_precision, log_precision**2, log_precision * size])]
    if isinstance(case.noise, ScaledF):
        parts.append(np.log(noise.rate) * np.array([1.0, log_precision, size]))
    rows, cols = case.table.cells
    for factors, shape, index in ((noise.row, noise.row_shape, rows), (noise.column, noise.column_shape, cols)):
        if factors.size:
            log_factors, width = np.log(factors), shape**-0.5
            own = np.log(np.sum(residual[np.array(index) == index[0]] ** 2) + 1e-3)
            some = np.array([log_factors[index[0]], log_factors[-1], log_precision + log_factors[index[0]]])
            parts += [some, some**2, own * some, width * np.array([1.0, width, np.sum(log_factors**2), size])]
    if np.isfinite(noise.degrees):
        log_degrees = np.log(noise.degrees)
        largest = np.log(np.max(residual**2) + 1e-3)
        parts.append(log_degrees * np.array([1.0, log_degrees, largest, largest - size, log_precision]))
    return np.concatenate(parts)


def effect_statistics(state: State | FactorsState, y: Vector) -> Vector:
    """Return the same of the effects: of each kind a few, their sizes, and how they and the data agree."""
    effects = effects_of(state)
    scales = np.log(
        [effects.row_precision, effects.column_precision, np.sum(effects.row**2), np.sum(effects.column**2)]
    )
    values = np.array([effects.mean, effects.row[0], effects.row[3], effects.column[0], effects.column[2]])
    data = np.tanh(y[0] - 0.5 * y[-1])
    return np.concatenate([values, values**2, scales, scales**2, data * np.tanh(values[[0, 1, 3]])])
