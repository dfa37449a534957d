"""The default sampler: U, s, V and effects together, with masses for their columns and the noise integrated out.

What it changes in the paper's scheme is exact (docs/math.md, §8): one trajectory moves everything on the product
manifold, with signed singular values; the noise precision and the rates are integrated out and drawn afterwards;
columns have masses, learned in warm-up; so are lengths of trajectories, from trees that end when the completed matrix
turns, not when its factors do; components of nearly equal singular values are rotated into each other; and effects are
made larger or smaller at once, and exchanged with what the low-rank part can say of them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from manifill.geometry import LowRank
from manifill.posterior.variables import Variable
from manifill.problem import Effects, Model, Noise, Observations
from manifill.problem.joint import JointDensity, fold_signs, pack, unpack
from manifill.problem.priors import Marginal
from manifill.sampling.adaptation import DualAveraging
from manifill.sampling.block import Block
from manifill.sampling.exchange import exchange_effects
from manifill.sampling.integrators import TwoStage
from manifill.sampling.lengths import Lengths, Trees
from manifill.sampling.masses import GradientSquares, Masses, squares_of, windows
from manifill.sampling.nuts import Transition
from manifill.sampling.rotations import rotate_neighbours
from manifill.sampling.scales import rescale_effects
from manifill.sampling.singular import Data, State, draw_of, variables_of, with_hyperparameters
from manifill.sampling.start import warm_start
from manifill.types import Array, Generator, IntVector, Vector

__all__ = ["Joint", "JointInfo", "JointTuning", "rotate_components"]

# While step size and masses are still guesses, long trajectories are a waste: the first of warm-up are short.
EARLY_SHARE, EARLY_DEPTH = 0.1, 5

# One pair of neighbouring components in so many is rotated in each draw.
ROTATION_STRIDE = 2

# Trajectories turn when the matrix does as the data see it (docs/math.md, §8.5): rows and columns count by their cells
# to this power.  1 would be as often as a cell lies there; a row with more cells is better known, and in units of its
# own uncertainty it would be up to 2.
TURNING_POWER = 1.5


class JointTuning(NamedTuple):
    """What warm-up learns."""

    step: DualAveraging
    masses: Masses
    squares: GradientSquares  # of the current window
    trees: Trees  # of the current window
    iteration: int
    warming: bool
    lengths: Lengths | None  # after a warm-up with trees to learn from; without, trees go on


class JointInfo(NamedTuple):
    """What a step reports."""

    transition: Transition
    log_density: float
    squares: GradientSquares | None  # at the new state, while warming up


def rotate_components(rng: Generator, target: JointDensity, position: Vector) -> None:
    """Rotate every second pair of neighbours, from the first or from the second one on."""
    rotate_neighbours(rng, target, position, int(rng.integers(ROTATION_STRIDE)), ROTATION_STRIDE)


class Joint:
    """``sampler="joint"``: a step moves everything, rotates components, and draws all that is conjugate."""

    # Moves along the ways on which trajectories are slow, in place.
    slices: tuple[Callable[[Generator, JointDensity, Vector], None], ...] = (
        rotate_components,
        rescale_effects,
        exchange_effects,
    )

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
        self._manifold.set_weights(*(cells.astype(np.float64) ** TURNING_POWER for cells in self._cells()))
        self._block = Block.on(self._manifold, TwoStage(), max_depth)
        self._density = JointDensity.of(model, self.data.by_row, observations.shape)
        self._windows = windows(warmup)
        self._early = round(EARLY_SHARE * warmup)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return variables_of(self.model, self.observations.shape)

    @property
    def statistic_names(self) -> tuple[str, ...]:
        return ("lp", "n_steps", "reached_max_depth", "diverging", "step_size", "acceptance_rate")

    @property
    def classes(self) -> tuple[type, ...]:
        return (State, Effects, Noise, JointTuning, DualAveraging, Masses, GradientSquares, Trees, Lengths)

    def start(self, rng: Generator) -> tuple[State, JointTuning]:
        begin = warm_start(rng, self.observations, self.model)
        state = with_hyperparameters(rng, self.model, self.data, *begin, self.model.first_noise_rate)
        position, target = self._position(state), self._target(state.noise)
        masses = self._masses(self._squares(target, position, state.effects))
        self._set_masses(masses)
        step = self._block.first_tuning(rng, target, position)
        nothing = GradientSquares.none(self.model.rank), Trees.none()
        return state, JointTuning(step, masses, *nothing, iteration=0, warming=True, lengths=None)

    def step(self, rng: Generator, state: State, tuning: JointTuning) -> tuple[State, JointInfo]:
        self._set_masses(tuning.masses)
        target = self._target(state.noise)
        position, moved = self._move(rng, target, self._position(state), tuning)
        fold_signs(position, self.observations.shape, self.model.rank)
        for move in self.slices:
            move(rng, target, position)
        U, s, V, flat = unpack(position, self.observations.shape, self.model.rank)
        effects = state.effects.moved_to(flat) if flat.size else state.effects
        state = with_hyperparameters(rng, self.model, self.data, U, s, V, effects, state.noise.rate)
        squares = self._squares(target, position, state.effects) if tuning.warming else None
        return state, JointInfo(moved, state.log_density, squares)

    def _move(
        self, rng: Generator, target: JointDensity, position: Vector, tuning: JointTuning
    ) -> tuple[Vector, Transition]:
        """Follow a tree in warm-up, and afterwards trajectories of learned lengths."""
        step_size = tuning.step.step_size
        if tuning.lengths is None:
            early = tuning.warming and tuning.iteration < self._early
            return self._block.step(rng, target, position, step_size, EARLY_DEPTH if early else None)
        return self._block.follow(rng, target, position, step_size, tuning.lengths.draw(rng))

    def adapt(self, tuning: JointTuning, info: JointInfo) -> JointTuning:
        assert info.squares is not None, "a step of warm-up reports its gradient"
        squares, iteration = tuning.squares.plus(info.squares), tuning.iteration + 1
        tuning = tuning._replace(
            step=tuning.step.update(info.transition.acceptance, self.target_acceptance),
            squares=squares,
            trees=tuning.trees.plus(info.transition.steps * tuning.step.step_size, info.log_density),
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
            trees=Trees.none(),
        )

    def freeze(self, tuning: JointTuning) -> JointTuning:
        """Keep step size, masses and the lengths that the last window's trees suggest."""
        step = tuning.step.freeze()
        return tuning._replace(step=step, lengths=tuning.trees.lengths(step.step_size), warming=False)

    def draw(self, state: State) -> dict[str, Array]:
        return draw_of(self.model, state)

    def statistics(self, state: State, tuning: JointTuning, info: JointInfo) -> dict[str, float]:
        moved = info.transition
        return {
            "lp": state.log_density,
            "n_steps": float(moved.steps * self._block.integrator.gradients),
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

    def _squares(self, target: JointDensity, position: Vector, effects: Effects) -> GradientSquares:
        gradient = np.empty_like(position)
        target.log_density_gradient(position, gradient)
        U, s, V, _ = unpack(position, self.observations.shape, self.model.rank)
        return squares_of(gradient, U, V, s, (effects.row_precision, effects.column_precision))

    def _masses(self, squares: GradientSquares) -> Masses:
        return squares.masses(*self._cells(), effects=self.model.effects is not None)

    def _cells(self) -> tuple[IntVector, IntVector]:
        """Return the number of cells in each row and column."""
        return np.diff(self.data.by_row.starts), np.diff(self.data.by_column.starts)

    def _set_masses(self, masses: Masses) -> None:
        self._manifold.left.set_masses(masses.left)
        self._manifold.right.set_masses(masses.right)
        self._manifold.masses[:] = masses.rest
