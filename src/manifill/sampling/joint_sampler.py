"""``sampler="joint"``: HMC on all unknowns jointly, with a learned mass matrix and the noise integrated out.

It differs from the paper's scheme as follows, without approximation (docs/math.md, §8).  One trajectory moves all
unknowns on the product manifold, with signed singular values.  The noise precision and the rates are integrated out and
drawn afterwards.  Masses and trajectory lengths are learned in warm-up, the lengths from trees whose U-turn rule is in
the completed matrix, not in its factors.  Further moves cover directions in which trajectories are slow: components of
nearly equal singular values are rotated into each other, and effects are rescaled and exchanged with the low-rank part.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from manifill.base.arrays import Array, Generator, Vector
from manifill.base.variables import Variable
from manifill.geometry import LowRank, Masses
from manifill.kernels.cell_passes import factor_gradient, log_likelihood
from manifill.likelihoods import NoiseState
from manifill.problem import Model, Observations
from manifill.problem.joint_density import JointDensity
from manifill.sampling.block import Block
from manifill.sampling.cell_noise import draw_weights
from manifill.sampling.component_ranks import RankedDensity, draw_ranking, masses_by_rank
from manifill.sampling.component_rotation import rotate_components, rotate_neighbours
from manifill.sampling.data import Data
from manifill.sampling.dual_averaging import DualAveraging
from manifill.sampling.effect_exchange import exchange, exchange_effects
from manifill.sampling.effect_scale import rescale, rescale_effects
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.gibbs_start import gibbs_start
from manifill.sampling.hmc import trajectories
from manifill.sampling.integrators import Integrator, Phase, TwoStage
from manifill.sampling.mass_adaptation import GradientSquares
from manifill.sampling.nuts import Transition, energy_change, transition
from manifill.sampling.observed_part import ObservedPart
from manifill.sampling.sampler import Kernel
from manifill.sampling.state import State, draw_hyperparameters, draw_of, layout_of, likelihood_at, variables_of
from manifill.sampling.system import System
from manifill.sampling.trajectory_lengths import Lengths, Trees
from manifill.sampling.warmup_schedule import Schedule
from manifill.unknowns import Effects, Unknowns, view
from manifill.unknowns.point import fold_signs

__all__ = ["Joint", "JointInfo", "JointTuning", "Move", "Parts"]

# Changes a flat position in place and leaves the posterior invariant.  The number is the floor of the tuning.
Move = Callable[[Generator, JointDensity, Vector, float], None]

# The depth of early trees.
EARLY_DEPTH = 5

# The U-turn rule weights rows and columns by their number of cells to this power (docs/math.md, §8.5).  The power 1
# weights them by the share of cells in them; in units of its posterior uncertainty, a row would get up to the power 2.
TURNING_POWER = 1.5


@dataclass(frozen=True)
class Parts:
    """The components of the sampler; the default values give ``sampler="joint"``."""

    integrator: Integrator = field(default_factory=TwoStage)
    has_turned: Any = None  # a compiled U-turn rule; None means the rule in the completed matrix
    turning_power: float = TURNING_POWER
    moves: tuple[Move, ...] = (rotate_components, rescale_effects, exchange_effects)
    learns_lengths: bool = True  # otherwise NUTS is used after warm-up too


class JointTuning(NamedTuple):
    """What is learned in warm-up."""

    step: DualAveraging
    masses: Masses  # of the components by rank, the largest first
    floor: float  # squares of singular values below it are not told apart
    squares: GradientSquares  # of the current window
    trees: Trees  # of the current window, or of the last one that had trees
    iteration: int
    warming: bool
    lengths: Lengths | None  # of trajectories, learned from the trees; NUTS is used while they are None


class JointInfo(NamedTuple):
    """Diagnostics of a step, and input of the adaptation."""

    transition: Transition
    log_density: float
    squares: GradientSquares | None  # at the new state, while masses are learned


class Joint:
    """``sampler="joint"``: a step follows trajectories, applies the moves, and draws the conjugate parameters."""

    def __init__(
        self,
        model: Model,
        observations: Observations,
        target_acceptance: float = 0.8,
        max_depth: int = 10,
        warmup: int = 500,
        parts: Parts | None = None,
    ) -> None:
        self.model = model
        self.observations = observations
        self.target_acceptance = target_acceptance
        self.parts = Parts() if parts is None else parts
        self.data = Data.encoded(model, observations)
        self._part = ObservedPart.of(self.data)
        self.layout = layout_of(model, observations)
        weights = (cells.astype(np.float64) ** self.parts.turning_power for cells in self.data.cells_of)
        self._manifold = LowRank.with_masses(self.layout, Masses.unit(self.layout), *weights)
        self._block = Block(self.layout.size, self.parts.integrator, max_depth, self.parts.has_turned)
        self._schedule = Schedule.of(warmup)

    @cached_property
    def _density(self) -> JointDensity:
        """The density; its pass over the cells is compiled on first use."""
        return JointDensity.of(self.model, self.data.by_row, self.layout)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return variables_of(self.model, self.observations.shape)

    @property
    def statistic_names(self) -> tuple[str, ...]:
        return ("lp", "n_steps", "reached_max_depth", "diverging", "step_size", "acceptance_rate")

    @property
    def classes(self) -> tuple[type, ...]:
        state = (State, Unknowns, Effects, NoiseState)
        return (*state, JointTuning, DualAveraging, Masses, GradientSquares, Trees, Lengths)

    def kernels(self) -> tuple[Kernel, ...]:
        density = JointDensity.uncompiled(self.model, self.data.by_row, self.layout)
        manifold, work = self._manifold, self._block.work
        rng, v, steps = np.random.default_rng(0), np.empty(self.layout.size), np.ones(1, dtype=np.int64)
        ranked = RankedDensity(density, np.arange(self.layout.rank), 1.0)
        system, integrator = System.without_addresses(manifold, ranked), self.parts.integrator
        cells, likelihood, factor = self.data.by_row, density.likelihood, density.scratch.left
        phase = Phase(v, v, v)
        return (
            Kernel(exchange, (rng, density, v, 0)),
            Kernel(density.cell_pass, density.pass_arguments()),
            Kernel(RankedDensity.log_density_gradient, (ranked, v, v)),
            Kernel(JointDensity.log_density_gradient, (density, v, v)),
            Kernel(rotate_neighbours, (rng, density, v, 0, 1, 1.0)),
            Kernel(LowRank.has_turned, (manifold, v, v, v, v)),
            Kernel(transition, (rng, system, integrator, v, 1.0, 1, work)),
            Kernel(rescale, (rng, density, v)),
            Kernel(LowRank.move, (manifold, v, v, 1.0)),
            Kernel(trajectories, (rng, system, integrator, v, 1.0, steps, work)),
            Kernel(factor_gradient, (cells, likelihood, 1.0, factor, factor, factor)),
            Kernel(energy_change, (rng, system, integrator, phase, 1.0)),
            Kernel(LowRank.random_velocity, (manifold, rng, v, v)),
            Kernel(LowRank.project, (manifold, v, v)),
            Kernel(log_likelihood, (cells, likelihood, factor, factor)),
            Kernel(LowRank.restore, (manifold, v)),
            Kernel(LowRank.accelerate, (manifold, v)),
            Kernel(LowRank.kinetic_energy, (manifold, v)),
            Kernel(view, (self.layout, v)),
            *Factors(self.model, self.observations, approximate=True).kernels(),
        )

    def start(self, rng: Generator) -> tuple[State, JointTuning]:
        begin, noise = gibbs_start(rng, self.observations, self.model)
        state = draw_hyperparameters(rng, self.model, self._part, begin, noise)
        weights, _ = self._weights(rng, state)
        position, target = state.unknowns.pack(self.layout), self._target(state.noise, weights)
        squares = self._squares(target, position, state.unknowns)
        masses, floor = squares.masses(self.layout, *self.data.cells_of), squares.floor
        ranked = RankedDensity(target, np.argsort(-state.unknowns.s, kind="stable"), floor)
        manifold = self._manifold.replace_masses(masses_by_rank(masses, ranked.ranking))
        step = self._block.init(rng, manifold, ranked, position)
        nothing = GradientSquares.none(self.layout), Trees.none()
        return state, JointTuning(step, masses, floor, *nothing, iteration=0, warming=True, lengths=None)

    def step(self, rng: Generator, state: State, tuning: JointTuning) -> tuple[State, JointInfo]:
        weights, mixing = self._weights(rng, state)
        target = self._target(state.noise, weights)
        position, moved = self._move(rng, target, state.unknowns.pack(self.layout), tuning)
        fold_signs(self.layout, position)
        for move in self.parts.moves:
            move(rng, target, position, tuning.floor)
        unknowns = state.unknowns.moved_to(self.layout, position)
        state = draw_hyperparameters(rng, self.model, self._part, unknowns, state.noise, mixing)
        learning = tuning.warming and tuning.lengths is None
        squares = self._squares(target, position, state.unknowns) if learning else None
        return state, JointInfo(moved, state.log_density, squares)

    def _move(
        self, rng: Generator, density: JointDensity, position: Vector, tuning: JointTuning
    ) -> tuple[Vector, Transition]:
        """Take a NUTS step until lengths have been learned, and follow trajectories of these lengths afterwards."""
        ranking = draw_ranking(rng, view(self.layout, position).s, tuning.floor)
        target, step_size = RankedDensity(density, ranking, tuning.floor), tuning.step.step_size
        manifold = self._manifold.replace_masses(masses_by_rank(tuning.masses, ranking))
        if tuning.lengths is None:
            early = tuning.warming and tuning.iteration < self._schedule.early
            return self._block.step(rng, manifold, target, position, step_size, EARLY_DEPTH if early else None)
        return self._block.follow(rng, manifold, target, position, step_size, tuning.lengths.draw(rng))

    def adapt(self, tuning: JointTuning, info: JointInfo) -> JointTuning:
        if tuning.lengths is None:
            tuning = self._with_sums(tuning, info)
        tuning = tuning._replace(
            step=tuning.step.update(info.transition.acceptance, self.target_acceptance), iteration=tuning.iteration + 1
        )
        if tuning.lengths is not None:
            return self._with_lengths(tuning)
        if tuning.iteration in self._schedule.windows:
            tuning = self._with_masses(tuning)
        if tuning.iteration == self._schedule.trees and self.parts.learns_lengths:
            tuning = self._with_lengths(tuning._replace(step=tuning.step.refined()))
        return tuning

    def _with_sums(self, tuning: JointTuning, info: JointInfo) -> JointTuning:
        """Return the tuning with the sums of the window including those of a tree."""
        assert info.squares is not None, "steps report gradient squares while masses are learned"
        time = info.transition.steps * tuning.step.step_size
        return tuning._replace(
            squares=tuning.squares.update(info.squares), trees=tuning.trees.update(time, info.log_density)
        )

    def _with_masses(self, tuning: JointTuning) -> JointTuning:
        """Return the tuning with the masses of the window that has ended, at the beginning of the next one."""
        masses = tuning.squares.masses(self.layout, *self.data.cells_of)
        longest = self._manifold.replace_masses(masses).longest_step
        return tuning._replace(
            step=DualAveraging.init(tuning.step.final().step_size, longest),
            masses=masses,
            floor=tuning.squares.floor,
            squares=GradientSquares.none(self.layout),
            trees=Trees.none(),
        )

    def _with_lengths(self, tuning: JointTuning) -> JointTuning:
        """Return the tuning with trajectories as long as the trees, in steps of the present step size."""
        return tuning._replace(lengths=tuning.trees.final(tuning.step.step_size, self._block.most_steps))

    def freeze(self, tuning: JointTuning) -> JointTuning:
        """Fix step size, masses and trajectory lengths."""
        tuning = tuning._replace(step=tuning.step.final(), warming=False)
        return self._with_lengths(tuning) if self.parts.learns_lengths else tuning

    def draw(self, state: State) -> dict[str, Array]:
        return draw_of(self.model, state)

    def statistics(self, state: State, tuning: JointTuning, info: JointInfo) -> dict[str, float]:
        moved = info.transition
        return {
            "lp": state.log_density,
            "n_steps": float(moved.steps * self.parts.integrator.gradients),
            "reached_max_depth": float(moved.depth == self._block.max_depth),
            "diverging": float(moved.diverged),
            "step_size": tuning.step.step_size,
            "acceptance_rate": moved.acceptance,
        }

    def _weights(self, rng: Generator, state: State) -> tuple[Vector, Vector]:
        """Return the precisions of the cells relative to γ, and the part of them that is redrawn in every step."""
        likelihood = likelihood_at(self.model, state.unknowns)
        return draw_weights(rng, self.model, self.data, likelihood, state.unknowns.factors(), state.noise)

    def _target(self, noise: NoiseState, weights: Vector) -> JointDensity:
        """Return the density given the noise parameters that are not integrated out."""
        marginal = self.model.noise.marginal(noise, len(self.data.by_row.values))
        return self._density._replace(weights=weights, noise=marginal)

    def _squares(self, target: JointDensity, position: Vector, unknowns: Unknowns) -> GradientSquares:
        gradient = np.empty_like(position)
        target.log_density_gradient(position, gradient)
        return GradientSquares.of(view(self.layout, gradient), unknowns)
