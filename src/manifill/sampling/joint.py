"""The default sampler: U, s, V and effects together, with masses for their columns and the noise integrated out.

Four changes to the paper's scheme, all of them exact (docs/math.md, §8): one trajectory moves everything on the product
manifold; the noise precision and the rates are integrated out and drawn afterwards; columns have masses, learned in
warm-up; and a trajectory ends when the completed matrix turns, not when its factors do.
"""

from typing import NamedTuple

import numpy as np

from manifill.geometry import LowRank
from manifill.posterior.variables import Variable
from manifill.problem import Effects, Model, Noise, Observations
from manifill.problem.joint import JointDensity, pack, unpack
from manifill.problem.priors import Marginal
from manifill.sampling.adaptation import DualAveraging
from manifill.sampling.block import Block
from manifill.sampling.integrators import TwoStage
from manifill.sampling.masses import GradientSquares, Masses, squares_of, windows
from manifill.sampling.nuts import Transition
from manifill.sampling.singular import Data, State, draw_of, variables_of, with_hyperparameters
from manifill.sampling.start import warm_start
from manifill.types import Array, Generator, Vector

__all__ = ["Joint", "JointInfo", "JointTuning"]

# While step size and masses are still guesses, long trajectories are a waste: the first of warm-up are short.
EARLY_SHARE, EARLY_DEPTH = 0.1, 5


class JointTuning(NamedTuple):
    """What warm-up learns."""

    step: DualAveraging
    masses: Masses
    squares: GradientSquares  # of the current window
    iteration: int
    warming: bool


class JointInfo(NamedTuple):
    """What a step reports."""

    transition: Transition
    squares: GradientSquares | None  # at the new state, while warming up


class Joint:
    """``sampler="joint"``: one step is one NUTS trajectory of everything, then the draws of all that is conjugate."""

    def __init__(
        self,
        model: Model,
        observations: Observations,
        target_acceptance: float = 0.8,
        max_depth: int = 10,
        warmup: int = 500,
    ) -> None:
        self.model = model
        self.observations = observations
        self.target_acceptance = target_acceptance
        self.data = Data.encoded(model, observations)
        (m, n), r = observations.shape, model.rank
        self._manifold = LowRank.of_shape(m, n, r, effects=model.effects is not None)
        self._block = Block.on(self._manifold, TwoStage(), max_depth)
        self._density = JointDensity.of(model, self.data.by_row, observations.shape)
        self._windows = windows(warmup)
        self._early = round(EARLY_SHARE * warmup)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return variables_of(self.model, self.observations.shape)

    @property
    def statistic_names(self) -> tuple[str, ...]:
        return ("lp", "n_steps", "tree_depth", "reached_max_depth", "diverging", "step_size", "acceptance_rate")

    def start(self, rng: Generator) -> tuple[State, JointTuning]:
        begin = warm_start(rng, self.observations, self.model)
        state = with_hyperparameters(rng, self.model, self.data, *begin, self.model.first_noise_rate)
        position, target = self._position(state), self._target(state.noise)
        masses = self._masses(self._squares(target, position))
        self._set_masses(masses)
        step = self._block.first_tuning(rng, target, position)
        return state, JointTuning(step, masses, GradientSquares.none(self.model.rank), 0, True)

    def step(self, rng: Generator, state: State, tuning: JointTuning) -> tuple[State, JointInfo]:
        self._set_masses(tuning.masses)
        target = self._target(state.noise)
        depth = EARLY_DEPTH if tuning.warming and tuning.iteration < self._early else None
        position, moved = self._block.step(rng, target, self._position(state), tuning.step.step_size, depth)
        U, s, V, flat = unpack(position, self.observations.shape, self.model.rank)
        effects = _effects(flat, len(U), state.effects)
        state = with_hyperparameters(rng, self.model, self.data, U, s, V, effects, state.noise.rate)
        return state, JointInfo(moved, self._squares(target, position) if tuning.warming else None)

    def adapt(self, tuning: JointTuning, info: JointInfo) -> JointTuning:
        assert info.squares is not None, "a step of warm-up reports its gradient"
        squares, iteration = tuning.squares.plus(info.squares), tuning.iteration + 1
        tuning = tuning._replace(
            step=tuning.step.update(info.transition.acceptance, self.target_acceptance),
            squares=squares,
            iteration=iteration,
        )
        if iteration not in self._windows:
            return tuning
        masses = self._masses(squares)
        self._set_masses(masses)  # the longest step is theirs
        return tuning._replace(
            step=DualAveraging.start(tuning.step.freeze().step_size, self._manifold.longest_step),
            masses=masses,
            squares=GradientSquares.none(self.model.rank),
        )

    def freeze(self, tuning: JointTuning) -> JointTuning:
        return tuning._replace(step=tuning.step.freeze(), warming=False)

    def draw(self, state: State) -> dict[str, Array]:
        return draw_of(self.model, state)

    def statistics(self, state: State, tuning: JointTuning, info: JointInfo) -> dict[str, float]:
        moved = info.transition
        return {
            "lp": state.log_density,
            "n_steps": float(moved.steps * self._block.integrator.gradients),
            "tree_depth": float(moved.depth),
            "reached_max_depth": float(moved.depth == self._block.max_depth),
            "diverging": float(moved.diverged),
            "step_size": tuning.step.step_size,
            "acceptance_rate": moved.acceptance,
        }

    def _position(self, state: State) -> Vector:
        return pack(state.U, state.s, state.V, None if self.model.effects is None else state.effects)

    def _target(self, noise: Noise) -> JointDensity:
        """Return the density given what is not integrated out: the noise's rate, or all precisions of the columns."""
        if self.model.noise_by_column:
            return self._density._replace(weights=noise.precision, noise=Marginal.over(1.0, 0.0))
        prior = self.model.noise_prior(noise.rate)
        return self._density._replace(noise=Marginal.over(prior, 0.5 * len(self.data.by_row.values)))

    def _squares(self, target: JointDensity, position: Vector) -> GradientSquares:
        gradient = np.empty_like(position)
        target.log_density_gradient(position, gradient)
        U, s, V, _ = unpack(position, self.observations.shape, self.model.rank)
        return squares_of(gradient, U, V, np.log(s))

    def _masses(self, squares: GradientSquares) -> Masses:
        rows, columns = np.diff(self.data.by_row.starts), np.diff(self.data.by_column.starts)
        return squares.masses(rows, columns, effects=self.model.effects is not None)

    def _set_masses(self, masses: Masses) -> None:
        self._manifold.left.set_masses(masses.left)
        self._manifold.right.set_masses(masses.right)
        self._manifold.masses[:] = masses.rest


def _effects(flat: Vector, rows: int, before: Effects) -> Effects:
    """Return the effects of a flat vector, which is empty where there are none."""
    if not flat.size:
        return before
    return before._replace(mean=float(flat[0]), row=flat[1 : 1 + rows], column=flat[1 + rows :])
