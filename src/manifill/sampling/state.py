"""Shared by the samplers of X = U diag(s) Vᵀ: data, state, and exact draws of the conjugate parameters."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Array, Generator, IntVector, Vector
from manifill.base.variables import Variable
from manifill.kernels.cell_passes import log_likelihood, row_log_likelihoods
from manifill.kernels.compressed import Compressed
from manifill.likelihoods import CompiledLikelihood, NoiseState
from manifill.problem import Model, Observations
from manifill.unknowns import Effects, Layout, Unknowns
from manifill.unknowns.effects import draw_levels, draw_precision

__all__ = ["Data", "State", "draw_hyperparameters", "draw_of", "layout_of", "variables_of"]


class Data(NamedTuple):
    """The observed cells with their values encoded for the likelihood."""

    by_row: Compressed
    by_column: Compressed
    counts: Vector  # cells per noise precision: of the whole matrix (1,), or of each column (n,)

    @classmethod
    def encoded(cls, model: Model, observations: Observations) -> "Data":
        """Return the data encoded for the model's likelihood, or raise a ValueError if they are invalid."""
        model.check(observations)
        by_row, by_column = (
            cells._replace(values=model.likelihood.encode(cells.values))
            for cells in (observations.by_row, observations.by_column)
        )
        counts = by_column.counts if model.noise.by_column else np.array([observations.size])
        return cls(by_row, by_column, counts.astype(np.float64))

    @property
    def cells_of(self) -> tuple[IntVector, IntVector]:
        """The number of cells in each row and in each column."""
        return self.by_row.counts, self.by_column.counts


def layout_of(model: Model, observations: Observations) -> Layout:
    """Return the layout of a model's unknowns."""
    m, n = observations.shape
    return Layout(m, n, model.rank, model.effects is not None, model.likelihood.coordinates)


class State(NamedTuple):
    """The unknowns, the conjugate parameters, and their joint log density."""

    unknowns: Unknowns
    noise: NoiseState
    rate: float  # λ
    log_density: float


def draw_hyperparameters(rng: Generator, model: Model, data: Data, unknowns: Unknowns, noise: NoiseState) -> State:
    """Draw noise, rate, and the precisions and levels of the effects given the rest, and return the new state."""
    left, right = unknowns.factors()
    compiled = model.likelihood.compiled()
    likelihood = CompiledLikelihood(compiled.address, compiled.constants, unknowns.coordinates)
    if model.noise.by_column:
        unit = np.empty(len(data.counts))
        row_log_likelihoods(data.by_column, likelihood, right, left, unit)
    else:
        unit = np.array([log_likelihood(data.by_row, likelihood, left, right)])
    noise = model.noise.draw(rng, data.counts, unit, noise)
    rate = model.draw_rate(rng, unknowns.s)
    effects = unknowns.effects
    if model.effects is not None:
        effects = effects._replace(
            row_precision=draw_precision(rng, model.effects.row, effects.row),
            column_precision=draw_precision(rng, model.effects.column, effects.column),
        )
        effects = draw_levels(rng, model.effects, effects)
    unknowns = unknowns._replace(effects=effects)
    return State(unknowns, noise, rate, model.log_density(data.counts, unit, noise, unknowns, rate))


def variables_of(model: Model, shape: tuple[int, int]) -> tuple[Variable, ...]:
    """Return the variables of a draw."""
    (m, n), r = shape, model.rank
    names = [
        Variable("U", ("row", "component"), (m, r)),
        Variable("s", ("component",), (r,)),
        Variable("V", ("column", "component"), (n, r)),
        Variable("lambda", (), ()),
        *model.noise.variables(n),
        *model.likelihood.coordinate_variables(),
    ]
    if model.effects is not None:
        names += Effects.variables(m, n)
    return tuple(names)


def draw_of(model: Model, state: State) -> dict[str, Array]:
    """Return the variables of a state; effects are centred, since only their sum is identified."""
    unknowns = state.unknowns
    values: dict[str, Array] = {"U": unknowns.U, "s": unknowns.s, "V": unknowns.V, "lambda": np.asarray(state.rate)}
    values |= model.noise.values(state.noise) | model.likelihood.coordinate_values(unknowns.coordinates)
    if model.effects is not None:
        values |= unknowns.effects.centered().values()
    return values
