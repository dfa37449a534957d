"""The paper's sampler (Algorithm 2): U, V, s and effects in turn by geodesic NUTS, then the noise and the rate.

The singular values move in z = log s, by NUTS for every likelihood; under the Gaussian one their conditional is a
quadratic form, so a whole trajectory there costs one pass over the data (docs/math.md, §5).
"""

from typing import NamedTuple

import numpy as np

from manifill.geometry import Euclidean, Manifold, Stiefel
from manifill.posterior.variables import Variable
from manifill.problem import Compressed, Effects, Gaussian, Model, Noise, Observations
from manifill.problem.conditionals import FactorGivenRest, GaussianLogScales, LogScales
from manifill.problem.effects import left_columns, right_columns
from manifill.problem.joint import EffectsGivenRest, JointDensity, pack
from manifill.problem.passes import component_gram
from manifill.problem.priors import Marginal
from manifill.sampling.adaptation import DualAveraging
from manifill.sampling.block import Block
from manifill.sampling.integrators import Leapfrog
from manifill.sampling.nuts import Transition
from manifill.sampling.singular import Data, State, draw_of, variables_of, with_hyperparameters
from manifill.sampling.start import warm_start
from manifill.types import Array, Generator, Matrix, Vector

__all__ = ["Gibbs"]

# What each block reports, or a step size for each, by its name.
Moves = dict[str, Transition]
Tuning = dict[str, DualAveraging]


class Unknowns(NamedTuple):
    """What the blocks move, γ and λ held."""

    U: Matrix
    s: Vector
    V: Matrix
    effects: Effects
    precision: float
    rate: float


class Gibbs:
    """``sampler="gibbs"``: one step moves every block once."""

    def __init__(
        self, model: Model, observations: Observations, target_acceptance: float = 0.8, max_depth: int = 10
    ) -> None:
        if model.noise_by_column:
            raise ValueError("sampler='gibbs' has one noise for all cells; choose sampler='joint' for noise='column'.")
        self.model = model
        self.observations = observations
        self.target_acceptance = target_acceptance
        self.data = Data.encoded(model, observations)
        (m, n), r = observations.shape, model.rank
        manifolds: dict[str, Manifold] = {"U": Stiefel.of_shape(m, r), "V": Stiefel.of_shape(n, r), "s": Euclidean(r)}
        if model.effects is not None:
            manifolds["effects"] = Euclidean(1 + m + n)
            self._density = JointDensity.of(model, self.data.by_row, observations.shape)
            self._scratch = np.empty((2, (m + n + 1) * r + 1 + m + n))
        self._blocks = {name: Block.on(manifold, Leapfrog(), max_depth) for name, manifold in manifolds.items()}
        width = r if model.effects is None else r + 2
        self._left_scratch, self._right_scratch = np.empty((2, m, width)), np.empty((2, n, width))

    @property
    def variables(self) -> tuple[Variable, ...]:
        return variables_of(self.model, self.observations.shape)

    @property
    def statistic_names(self) -> tuple[str, ...]:
        blocks = [f"{what}_{name}" for name in self._blocks for what in ("step_size", "acceptance_rate")]
        return ("lp", "n_steps", "tree_depth", "reached_max_depth", "diverging", *blocks)

    @property
    def classes(self) -> tuple[type, ...]:
        return (State, Effects, Noise, DualAveraging)

    def start(self, rng: Generator) -> tuple[State, Tuning]:
        begin = warm_start(rng, self.observations, self.model)
        state = with_hyperparameters(rng, self.model, self.data, *begin, self.model.first_noise_rate)
        x = self._unknowns(state)
        return state, {
            name: block.first_tuning(rng, self._target(name, x), self._point(name, x))
            for name, block in self._blocks.items()
        }

    def step(self, rng: Generator, state: State, tuning: Tuning) -> tuple[State, Moves]:
        x, moves = self._unknowns(state), {}
        for name, block in self._blocks.items():
            point, moves[name] = block.step(rng, self._target(name, x), self._point(name, x), tuning[name].step_size)
            x = self._moved(name, x, point)
        rate = state.noise.rate
        return with_hyperparameters(rng, self.model, self.data, x.U, x.s, x.V, x.effects, rate), moves

    def adapt(self, tuning: Tuning, info: Moves) -> Tuning:
        return {name: block.update(info[name].acceptance, self.target_acceptance) for name, block in tuning.items()}

    def freeze(self, tuning: Tuning) -> Tuning:
        return {name: block.freeze() for name, block in tuning.items()}

    def draw(self, state: State) -> dict[str, Array]:
        return draw_of(self.model, state)

    def statistics(self, state: State, tuning: Tuning, info: Moves) -> dict[str, float]:
        summary = {
            "lp": state.log_density,
            "n_steps": float(sum(moved.steps for moved in info.values())),
            "tree_depth": float(max(moved.depth for moved in info.values())),
            "reached_max_depth": float(
                any(moved.depth == self._blocks[name].max_depth for name, moved in info.items())
            ),
            "diverging": float(any(moved.diverged for moved in info.values())),
        }
        for name, moved in info.items():
            summary[f"step_size_{name}"] = tuning[name].step_size
            summary[f"acceptance_rate_{name}"] = moved.acceptance
        return summary

    def _unknowns(self, state: State) -> Unknowns:
        return Unknowns(state.U, state.s, state.V, state.effects, float(state.noise.precision[0]), state.rate)

    def _moved(self, name: str, x: Unknowns, point: Array) -> Unknowns:
        if name == "s":
            return x._replace(s=np.exp(point))
        if name == "effects":
            return x._replace(effects=x.effects.moved_to(point * self._units(x)))
        return x._replace(U=point) if name == "U" else x._replace(V=point)

    def _target(self, name: str, x: Unknowns) -> FactorGivenRest | LogScales | GaussianLogScales | EffectsGivenRest:
        """Return the log density of a block given the rest."""
        if name == "U":
            return self._factor_target(self.data.by_row, x.precision, x.V * x.s, x.effects)
        if name == "V":
            return self._factor_target(self.data.by_column, x.precision, x.U * x.s, x.effects)
        return self._scale_target(x) if name == "s" else self._effects_target(x)

    def _factor_target(self, cells: Compressed, precision: float, other: Matrix, effects: Effects) -> FactorGivenRest:
        likelihood = self.model.likelihood
        if self.model.effects is None:
            nothing = np.empty((0, other.shape[1]))
            return FactorGivenRest(cells, likelihood, precision, other, nothing, nothing)
        by_row = cells is self.data.by_row
        mine, others = left_columns(effects), right_columns(effects)
        if not by_row:
            mine, others = others, mine
        extended, products = self._left_scratch if by_row else self._right_scratch
        extended[:, -2:] = mine
        return FactorGivenRest(cells, likelihood, precision, np.hstack([other, others]), extended, products)

    def _scale_target(self, x: Unknowns) -> GaussianLogScales | LogScales:
        cells = self.data.by_row
        if isinstance(self.model.likelihood, Gaussian):
            if self.model.effects is not None:
                shift = (
                    np.repeat(x.effects.mean + x.effects.row, np.diff(cells.starts)) + x.effects.column[cells.indices]
                )
                cells = cells._replace(values=cells.values - shift)
            gram, moments = np.empty((len(x.s), len(x.s))), np.empty(len(x.s))
            component_gram(cells, x.U, x.V, x.s, gram, moments)
            return GaussianLogScales(gram, moments, x.s, x.precision, x.rate)
        right, (scaled, products) = x.V, self._left_scratch
        if self.model.effects is not None:
            scaled[:, -2:] = left_columns(x.effects)
            right = np.hstack([x.V, right_columns(x.effects)])
        return LogScales(cells, self.model.likelihood, x.precision, x.rate, x.U, right, scaled, products)

    def _effects_target(self, x: Unknowns) -> EffectsGivenRest:
        position, gradient = self._scratch
        position[:] = pack(x.U, x.s, x.V, x.effects)
        density = self._density._replace(
            noise=Marginal.over(x.precision, 0.0),
            row=Marginal.over(x.effects.row_precision, 0.0),
            column=Marginal.over(x.effects.column_precision, 0.0),
        )
        return EffectsGivenRest(density, self._units(x), position, gradient)

    def _point(self, name: str, x: Unknowns) -> Array:
        """Return where a block is."""
        if name == "s":
            return np.log(x.s)
        if name == "effects":
            return x.effects.flat() / self._units(x)
        return x.U if name == "U" else x.V

    def _units(self, x: Unknowns) -> Vector:
        """Return about how far data and prior let each effect go, the others given: one step size then suits them all.

        It depends on nothing that the block moves, so the block's target is the same in any units.
        """
        prior, effects = self.model.effects, x.effects
        assert prior is not None
        rows, columns = np.diff(self.data.by_row.starts), np.diff(self.data.by_column.starts)
        cells = np.concatenate([[rows.sum()], rows, columns])
        held = [[prior.mean_precision], [effects.row_precision] * len(rows), [effects.column_precision] * len(columns)]
        return np.asarray((x.precision * cells + np.concatenate(held)) ** -0.5)
