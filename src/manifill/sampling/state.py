"""Shared by the samplers of X = U diag(s) Vᵀ: data, state, and exact draws of the conjugate parameters."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Array, Generator, Vector
from manifill.base.variables import Variable
from manifill.likelihoods import CompiledLikelihood, NoiseState
from manifill.problem import Model, Observations
from manifill.sampling.cell_noise import draw_noise_of_cells
from manifill.sampling.observed_part import ObservedPart
from manifill.unknowns import Effects, Layout, Unknowns
from manifill.unknowns.effects import draw_levels, draw_precision

__all__ = ["State", "draw_hyperparameters", "draw_of", "layout_of", "likelihood_at", "variables_of"]


def layout_of(model: Model, observations: Observations) -> Layout:
    """Return the layout of a model's unknowns."""
    has_effects = model.effects is not None
    rows, columns = (
        np.flatnonzero(cells.counts) if has_effects else np.arange(0)
        for cells in (observations.by_row, observations.by_column)
    )
    return Layout(*observations.shape, model.rank, has_effects, model.likelihood.coordinates, rows, columns)


class State(NamedTuple):
    """The unknowns, the conjugate parameters, and their joint log density."""

    unknowns: Unknowns
    noise: NoiseState
    rate: float  # λ
    log_density: float


def draw_hyperparameters(
    rng: Generator,
    model: Model,
    part: ObservedPart,
    unknowns: Unknowns,
    noise: NoiseState,
    mixing: Vector | None = None,
) -> State:
    """Draw noise, rate, and the precisions and levels of the effects given the rest, and return the new state.

    ``mixing`` is ω, with which the unknowns were drawn; without it, as at the start, ω is 1.  Effects and noise of rows
    and columns without cells are integrated out of all this, and of the log density, and drawn last.
    """
    likelihood, factors = likelihood_at(model, unknowns), part.factors(*unknowns.factors())
    noise, log_likelihood = draw_noise_of_cells(rng, model, part.data, likelihood, factors, part.noise(noise), mixing)
    rate = model.draw_rate(rng, unknowns.s)
    effects = part.effects(unknowns.effects)
    if model.effects is not None:
        effects = effects._replace(
            row_precision=draw_precision(rng, model.effects.row, effects.row),
            column_precision=draw_precision(rng, model.effects.column, effects.column),
        )
        effects = draw_levels(rng, model.effects, effects)
    log_density = model.log_density(log_likelihood, noise, unknowns._replace(effects=effects), rate)
    unknowns = unknowns._replace(effects=part.completed_effects(rng, effects))
    return State(unknowns, part.completed_noise(rng, noise), rate, log_density)


def likelihood_at(model: Model, unknowns: Unknowns) -> CompiledLikelihood:
    """Return the likelihood with its parameters at a point."""
    return model.likelihood.compiled()._replace(coordinates=unknowns.coordinates)


def variables_of(model: Model, shape: tuple[int, int]) -> tuple[Variable, ...]:
    """Return the variables of a draw."""
    (m, n), r = shape, model.rank
    names = [
        Variable("U", ("row", "component"), (m, r)),
        Variable("s", ("component",), (r,)),
        Variable("V", ("column", "component"), (n, r)),
        Variable("lambda", (), ()),
        *model.noise.variables(shape),
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
