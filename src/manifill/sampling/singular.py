"""What the samplers of X = U diag(s) Vᵀ share: their state, their variables, and the draws of all that is conjugate."""

from typing import NamedTuple

import numpy as np

from manifill.posterior.variables import Variable
from manifill.problem import Compressed, Effects, Model, Noise, Observations
from manifill.problem.effects import draw_levels, draw_precision, left_columns, right_columns
from manifill.problem.passes import line_log_likelihoods, log_likelihood
from manifill.types import Array, Generator, Matrix, Vector

__all__ = ["Data", "State", "draw_of", "extended_factors", "variables_of", "with_hyperparameters"]


class Data(NamedTuple):
    """The observed cells with their values encoded for the likelihood."""

    shape: tuple[int, int]
    by_row: Compressed
    by_column: Compressed
    counts: Vector  # cells that share a noise precision: all of them (1,), or those of each column (n,)

    @classmethod
    def encoded(cls, model: Model, observations: Observations) -> "Data":
        """Return the data as the model's likelihood reads them, or raise a ValueError where it cannot."""
        model.check(observations)
        by_row, by_column = (
            cells._replace(values=model.likelihood.encode(cells.values))
            for cells in (observations.by_row, observations.by_column)
        )
        counts = np.diff(by_column.starts) if model.noise_by_column else np.array([observations.size])
        return cls(observations.shape, by_row, by_column, counts.astype(np.float64))


class State(NamedTuple):
    """The unknowns, and what the last step knows of their density."""

    U: Matrix  # (m, r)
    s: Vector  # (r,)
    V: Matrix  # (n, r)
    effects: Effects
    noise: Noise
    rate: float  # λ
    log_density: float


def extended_factors(U: Matrix, s: Vector, V: Matrix, effects: Effects) -> tuple[Matrix, Matrix]:
    """Return the factors of the completed matrix: U diag(s) and V, with two more columns where there are effects."""
    if not effects.row.size:
        return U * s, V
    return np.hstack([U * s, left_columns(effects)]), np.hstack([V, right_columns(effects)])


def with_hyperparameters(
    rng: Generator, model: Model, data: Data, U: Matrix, s: Vector, V: Matrix, effects: Effects, noise_rate: float
) -> State:
    """Return the state with noise, rate, and the effects' precisions and levels drawn given the rest."""
    left, right = extended_factors(U, s, V, effects)
    if model.noise_by_column:
        unit = np.empty(len(data.counts))
        line_log_likelihoods(data.by_column, model.likelihood, right, left, unit)
    else:
        unit = np.array([log_likelihood(data.by_row, model.likelihood, left, right)])
    noise = model.draw_noise(rng, data.counts, unit, noise_rate)
    rate = model.draw_rate(rng, s)
    if model.effects is not None:
        effects = effects._replace(
            row_precision=draw_precision(rng, model.effects.row, effects.row),
            column_precision=draw_precision(rng, model.effects.column, effects.column),
        )
        effects = draw_levels(rng, model.effects, effects)
    return State(U, s, V, effects, noise, rate, model.log_density(data.counts, unit, noise, s, rate, effects))


def variables_of(model: Model, shape: tuple[int, int]) -> tuple[Variable, ...]:
    """Return what a draw holds."""
    (m, n), r = shape, model.rank
    names = [
        Variable("U", ("row", "component"), (m, r)),
        Variable("s", ("component",), (r,)),
        Variable("V", ("column", "component"), (n, r)),
        Variable("lambda", (), ()),
    ]
    if model.likelihood.has_noise:
        names.append(Variable("sigma", ("column",), (n,)) if model.noise_by_column else Variable("sigma", (), ()))
    if model.effects is not None:
        names += [
            Variable("mu", (), ()),
            Variable("row_effect", ("row",), (m,)),
            Variable("column_effect", ("column",), (n,)),
            Variable("row_effect_sd", (), ()),
            Variable("column_effect_sd", (), ()),
        ]
    return tuple(names)


def draw_of(model: Model, state: State) -> dict[str, Array]:
    """Return the variables of a state; effects are centred, since only their sum is identified."""
    values: dict[str, Array] = {"U": state.U, "s": state.s, "V": state.V, "lambda": np.asarray(state.rate)}
    if model.likelihood.has_noise:
        sigma = state.noise.precision**-0.5
        values["sigma"] = sigma if model.noise_by_column else sigma[0]
    if model.effects is not None:
        effects = state.effects.centered()
        values |= {
            "mu": np.asarray(effects.mean),
            "row_effect": effects.row,
            "column_effect": effects.column,
            "row_effect_sd": np.asarray(effects.row_precision**-0.5),
            "column_effect_sd": np.asarray(effects.column_precision**-0.5),
        }
    return values
