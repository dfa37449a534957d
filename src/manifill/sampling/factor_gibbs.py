"""Gibbs sampling of X = A Bᵀ with Gaussian factors (Salakhutdinov and Mnih 2008; docs/math.md, §2.5).

With one precision for all entries of A and B and shared noise, it is the paper's baseline.  With a precision for each
column of A and B, effects and noise by row and column it is a fast sampler for tables with normal noise, and its sweeps
are where chains of ``joint`` start.  Sweeps are over the rows and columns with cells; what belongs to the
others is drawn at the end of a step.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Array, Generator, IntVector, Matrix, Vector
from manifill.base.priors import ComponentGamma, Marginal
from manifill.base.variables import Variable
from manifill.kernels.cell_slopes import slopes_and_curvatures
from manifill.kernels.compressed import Compressed
from manifill.kernels.row_conditionals import draw_rows
from manifill.likelihoods import NoiseState
from manifill.problem import Model, Observations
from manifill.problem.additive_fit import positive_square, variance_of
from manifill.sampling.cell_noise import EXAMPLE_LIKELIHOOD, draw_noise_of_cells, draw_weights, noise_kernels
from manifill.sampling.component_scale import exchange_scales
from manifill.sampling.data import Data
from manifill.sampling.observed_part import ObservedPart
from manifill.sampling.sampler import Kernel
from manifill.sampling.working_response import Response, WorkingResponse
from manifill.unknowns import Effects
from manifill.unknowns.effects import draw_levels, draw_precision, left_columns, right_columns

__all__ = ["Factors", "FactorsState"]

# Chains start with random components that together have this share of the size of the values, and with random effects.
START_SHARE = 0.5


class FactorsState(NamedTuple):
    """The unknowns and their log density."""

    A: Matrix  # (m, r)
    B: Matrix  # (n, r)
    effects: Effects
    noise: NoiseState
    left_precision: Vector  # τ of the columns of A, (r,)
    right_precision: Vector  # τ of the columns of B, (r,)
    log_density: float

    def factors(self) -> tuple[Matrix, Matrix]:
        """Return left and right, whose product is the completed matrix; effects are two more columns of each."""
        if not self.effects.exist:
            return self.A, self.B
        return np.hstack([self.A, left_columns(self.effects)]), np.hstack([self.B, right_columns(self.effects)])

    def extended(self, more: "FactorsState") -> "FactorsState":
        """Return this state with the further components of a state that has more."""
        r = self.A.shape[1]
        return self._replace(
            A=np.hstack([self.A, more.A[:, r:]]),
            B=np.hstack([self.B, more.B[:, r:]]),
            left_precision=np.append(self.left_precision, more.left_precision[r:]),
            right_precision=np.append(self.right_precision, more.right_precision[r:]),
            log_density=more.log_density,
        )


class Factors:
    """``sampler="factors"``: a step of ``sweeps`` sweeps, each of which draws every block from its exact conditional.

    The blocks are the rows of A with their effects, the rows of B with theirs, the scales of A against B, the mean, the
    noise, and the precisions.  With ``approximate``, rows are drawn given a normal response near the data if the
    likelihood is not normal.
    """

    def __init__(self, model: Model, observations: Observations, *, sweeps: int = 1, approximate: bool = False) -> None:
        if not (model.likelihood.is_conjugate or approximate):
            only = f" supports only the Gaussian likelihood, not {model.likelihood.name!r}; use "
            raise ValueError(Wording(Argument("sampler", "factors"), only, Argument("sampler", "joint"), "."))
        self.model = model
        self.observations = observations
        self._sweeps = sweeps
        self._part = ObservedPart.of(Data.encoded(model, observations))
        self._data = self._part.data
        self.likelihood = model.likelihood.compiled()
        # The position by row of each cell by column.
        self._places: IntVector = np.argsort(self._data.by_row.indices, kind="stable")
        # About the x of each cell.
        self._values = model.likelihood.starting_point(self._data.by_row.values)
        self._working = WorkingResponse.around(self._data.by_row, self.likelihood, self._values)

    @property
    def variables(self) -> tuple[Variable, ...]:
        (m, n), r = self.observations.shape, self.model.rank
        by_component = isinstance(self.model.factor_precision, ComponentGamma)
        return (
            Variable("A", ("row", "component"), (m, r)),
            Variable("B", ("column", "component"), (n, r)),
            *self.model.noise.variables((m, n)),
            *(Effects.variables(m, n) if self.model.effects is not None else ()),
            *(Variable(name, ("component",), (r,)) for name in ("tau_A", "tau_B") if by_component),
            *((Variable("tau", (), ()),) if not by_component else ()),
        )

    @property
    def statistic_names(self) -> tuple[str, ...]:
        return ("lp",)

    @property
    def classes(self) -> tuple[type, ...]:
        return (FactorsState, Effects, NoiseState)

    def kernels(self) -> tuple[Kernel, ...]:
        rng, cells, v, factor = np.random.default_rng(0), self._data.by_row, np.empty(0), np.empty((0, 0))
        of_noise = noise_kernels(rng, self.model, self._data)
        one = Marginal.over(1.0, 0.0)
        exact = (
            Kernel(draw_rows, (rng, cells, v, 1.0, v, v, factor, factor)),
            Kernel(exchange_scales, (rng, one, one, factor, factor)),
            *of_noise,
        )
        if self.model.likelihood.is_conjugate:
            return exact
        of_cells = cells, EXAMPLE_LIKELIHOOD, factor, factor, (0.0, 0.0), 1.0, v, v, v
        return (*exact, Kernel(slopes_and_curvatures, of_cells))

    def start(self, rng: Generator) -> tuple[FactorsState, None]:
        """Start at random with all components and effects on: a precision that is large for no reason stays so."""
        (m, n), r, values = self._part.shape, self.model.rank, self._values
        has_effects = self.model.effects is not None
        size = START_SHARE * np.sqrt(positive_square(variance_of(values) if has_effects else 0.0, values) / r)
        A, B = (np.sqrt(size) * rng.standard_normal((length, r)) for length in (m, n))
        effects = self._random_effects(rng) if has_effects else Effects.none()
        noise, ones = self.model.noise.start((m, n)), np.ones(r)
        state = self._with_precisions(rng, FactorsState(A, B, effects, noise, ones, ones, 0.0), None)
        return self._completed(rng, state), None

    def _random_effects(self, rng: Generator) -> Effects:
        """Return effects of rows and columns that each have START_SHARE of the size of the values."""
        (m, n), values = self._part.shape, self._values
        size = START_SHARE * np.sqrt(positive_square(variance_of(values), values))
        row, column = (size * rng.standard_normal(length) for length in (m, n))
        return Effects(float(values.mean()), row, column, 1.0, 1.0)

    def step(self, rng: Generator, state: FactorsState, tuning: None) -> tuple[FactorsState, None]:
        state = self._observed(state)
        for _ in range(self._sweeps):
            state = self._sweep(rng, state)
        return self._completed(rng, state), None

    def _sweep(self, rng: Generator, state: FactorsState) -> FactorsState:
        """Draw every block once, of the table of rows and columns with cells."""
        weights, mixing = draw_weights(rng, self.model, self._data, self.likelihood, state.factors(), state.noise)
        state = self._draw_left(rng, state, self._response(state, weights))
        state = self._draw_right(rng, state, self._response(state, weights))
        if isinstance(self.model.factor_precision, ComponentGamma):
            exchange_scales(rng, *self._column_priors(self.model.factor_precision), state.A, state.B)
        return self._with_precisions(rng, state, mixing)

    def adapt(self, tuning: None, info: None) -> None:
        return None

    def freeze(self, tuning: None) -> None:
        return None

    def draw(self, state: FactorsState) -> dict[str, Array]:
        values: dict[str, Array] = {"A": state.A, "B": state.B, **self.model.noise.values(state.noise)}
        if self.model.effects is not None:
            values |= state.effects.centered().values()
        if isinstance(self.model.factor_precision, ComponentGamma):
            return values | {"tau_A": state.left_precision, "tau_B": state.right_precision}
        return values | {"tau": np.asarray(state.left_precision[0])}

    def statistics(self, state: FactorsState, tuning: None, info: None) -> dict[str, float]:
        return {"lp": state.log_density}

    def _column_priors(self, prior: ComponentGamma) -> tuple[Marginal, Marginal]:
        """Return the priors of a column of A and of one of B, their precisions integrated out."""
        m, n = self._part.shape
        return Marginal.over(prior.each, 0.5 * m), Marginal.over(prior.each, 0.5 * n)

    def _observed(self, state: FactorsState) -> FactorsState:
        """Return the state of the table of rows and columns with cells."""
        part, (A, B) = self._part, self._part.factors(state.A, state.B)
        return state._replace(A=A, B=B, effects=part.effects(state.effects), noise=part.noise(state.noise))

    def _completed(self, rng: Generator, state: FactorsState) -> FactorsState:
        """Return the state of the whole table; the log density stays that of the rows and columns with cells."""
        part, taus = self._part, (state.left_precision, state.right_precision)
        A, B = part.completed_factors(rng, state.A, state.B, taus)
        effects, noise = part.completed_effects(rng, state.effects), part.completed_noise(rng, state.noise)
        return state._replace(A=A, B=B, effects=effects, noise=noise)

    def _response(self, state: FactorsState, weights: Vector) -> Response:
        """Return the values that rows are drawn given, and their weights."""
        if self.model.likelihood.is_conjugate:
            return Response(self._data.by_row.values, weights)
        return self._working.at(state.factors(), weights)

    def _draw_left(self, rng: Generator, state: FactorsState, response: Response) -> FactorsState:
        """Draw the rows of A together with the row effects."""
        effects, cells = state.effects, self._data.by_row._replace(values=response.values)
        given = _Given(cells, response.weights, state.noise.precision, state.left_precision)
        if not effects.exist:
            return state._replace(A=_draw_factor(rng, given, state.B))
        A, row = _draw_with_effects(rng, given, state.B, effects.row_precision, effects.mean + effects.column)
        return state._replace(A=A, effects=effects._replace(row=row))

    def _draw_right(self, rng: Generator, state: FactorsState, response: Response) -> FactorsState:
        """Draw the rows of B together with the column effects."""
        effects, cells = state.effects, self._data.by_column._replace(values=response.values[self._places])
        weights = response.weights[self._places] if response.weights.size else response.weights
        given = _Given(cells, weights, state.noise.precision, state.right_precision)
        if not effects.exist:
            return state._replace(B=_draw_factor(rng, given, state.A))
        B, column = _draw_with_effects(rng, given, state.A, effects.column_precision, effects.mean + effects.row)
        return state._replace(B=B, effects=effects._replace(column=column))

    def _with_precisions(self, rng: Generator, state: FactorsState, mixing: Vector | None) -> FactorsState:
        """Return the state with noise, precisions and the levels of the effects drawn given A and B."""
        noise, log_likelihood = draw_noise_of_cells(
            rng, self.model, self._data, self.likelihood, state.factors(), state.noise, mixing
        )
        taus = self.model.draw_factor_precisions(rng, state.A, state.B)
        effects = state.effects
        if self.model.effects is not None:
            row = draw_precision(rng, self.model.effects.row, effects.row)
            column = draw_precision(rng, self.model.effects.column, effects.column)
            effects = effects._replace(row_precision=row, column_precision=column)
            effects = draw_levels(rng, self.model.effects, effects)
        log_density = self.model.factors_log_density(log_likelihood, noise, state.A, state.B, effects, taus)
        return FactorsState(state.A, state.B, effects, noise, *taus, log_density)


class _Given(NamedTuple):
    """What the rows of a factor are drawn given, besides the other factor."""

    cells: Compressed  # by the index of the rows
    weights: Vector
    precision: float
    taus: Vector  # (r,)


def _draw_factor(rng: Generator, given: _Given, other: Matrix) -> Matrix:
    """Draw the rows of a factor."""
    out = np.empty((given.cells.counts.size, other.shape[1]))
    draw_rows(rng, given.cells, given.weights, given.precision, given.taus, np.empty(0), other, out)
    return out


def _draw_with_effects(
    rng: Generator, given: _Given, other: Matrix, effect_precision: float, shift: Vector
) -> tuple[Matrix, Vector]:
    """Draw the rows of a factor together with their effects, whose coefficient is 1; ``shift`` is subtracted from y."""
    with_ones, priors = np.column_stack([other, np.ones(len(other))]), np.append(given.taus, effect_precision)
    out = np.empty((given.cells.counts.size, priors.size))
    draw_rows(rng, given.cells, given.weights, given.precision, priors, shift, with_ones, out)
    return out[:, :-1].copy(), out[:, -1].copy()
