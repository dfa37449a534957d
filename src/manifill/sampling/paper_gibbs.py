"""The paper's sampler (Algorithm 2): U, V, s and effects in turn by geodesic NUTS, then the noise and the rate.

The singular values are sampled as z = log s, by NUTS for every likelihood.  Under the Gaussian likelihood their
conditional is a quadratic form in s, so a whole trajectory costs one pass over the data (docs/math.md, §5).
"""

from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from manifill.base.argument_words import Argument, Wording, joined
from manifill.base.arrays import Array, Generator, Matrix, Vector
from manifill.base.priors import Marginal
from manifill.base.variables import Variable
from manifill.geometry import Euclidean, Manifold, Stiefel
from manifill.kernels.cell_passes import component_gram, factor_gradient, log_likelihood
from manifill.kernels.compressed import Compressed
from manifill.likelihoods import NoiseState
from manifill.problem import Model, Observations
from manifill.problem.conditional_densities import EffectsGivenFactors, FactorGivenRest, GaussianLogScales, LogScales
from manifill.problem.joint_density import JointDensity
from manifill.sampling.block import Block
from manifill.sampling.block_kernels import block_kernels, manifold_kernels
from manifill.sampling.cell_noise import noise_kernels
from manifill.sampling.data import Data
from manifill.sampling.dual_averaging import DualAveraging
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.integrators import Leapfrog
from manifill.sampling.nuts import Transition
from manifill.sampling.observed_part import ObservedPart
from manifill.sampling.sampler import Kernel
from manifill.sampling.starting_point import starting_point
from manifill.sampling.state import State, draw_hyperparameters, draw_of, layout_of, variables_of
from manifill.sampling.system import Target
from manifill.unknowns import Effects, Unknowns, view
from manifill.unknowns.effects import left_columns, right_columns

__all__ = ["Gibbs"]

# By name of the block: its transition, or its step size adaptation.
Moves = dict[str, Transition]
Tuning = dict[str, DualAveraging]


class Gibbs:
    """``sampler="gibbs"``: one step updates every block given γ and λ, then draws γ and λ."""

    def __init__(
        self, model: Model, observations: Observations, target_acceptance: float = 0.8, max_depth: int = 10
    ) -> None:
        if not model.noise.is_shared:
            remedy = [
                *joined([Argument("noise", "shared"), Argument("tails", "normal")]),
                ", or ",
                Argument("sampler", "joint"),
            ]
            raise ValueError(Wording(Argument("sampler", "gibbs"), " has one noise for all cells; use ", *remedy, "."))
        self.model = model
        self.observations = observations
        self.target_acceptance = target_acceptance
        self.data = Data.encoded(model, observations)
        self._part = ObservedPart.of(self.data)
        self.layout = layout_of(model, observations)
        m, n, r, width = self.layout.rows, self.layout.columns, self.layout.rank, self.layout.width
        self._manifolds: dict[str, Manifold] = {
            "U": Stiefel.of_shape(m, r),
            "V": Stiefel.of_shape(n, r),
            "s": Euclidean(r),
        }
        rest = self.layout.rest_size - r
        if rest:
            self._manifolds["effects" if self.layout.has_effects else "coordinates"] = Euclidean(rest)
            self._scratch = np.empty((2, self.layout.size))
        self._blocks = {name: Block(on.dimension, Leapfrog(), max_depth) for name, on in self._manifolds.items()}
        self._left_scratch, self._right_scratch = np.empty((2, m, width)), np.empty((2, n, width))

    @cached_property
    def _density(self) -> JointDensity:
        """The density of the effects; its pass over the cells is compiled on first use, which is in a chain."""
        return JointDensity.of(self.model, self.data.by_row, self.layout)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return variables_of(self.model, self.observations.shape)

    @property
    def statistic_names(self) -> tuple[str, ...]:
        blocks = [f"{what}_{name}" for name in self._blocks for what in ("step_size", "acceptance_rate")]
        return ("lp", "n_steps", "tree_depth", "reached_max_depth", "diverging", *blocks)

    @property
    def classes(self) -> tuple[type, ...]:
        return (State, Unknowns, Effects, NoiseState, DualAveraging)

    def kernels(self) -> tuple[Kernel, ...]:
        rng, cells, v, factor = np.random.default_rng(0), self.data.by_row, np.empty(0), np.empty((0, 0))
        likelihood, targets = self.model.likelihood.compiled(), self._example_targets()
        manifolds = {type(on): on for on in self._manifolds.values()}  # those of a class are compiled once
        moves = (block_kernels(rng, self._blocks[name], self._manifolds[name], targets[name]) for name in targets)
        return (
            *(kernel for target in targets.values() for kernel in _kernels_within(target)),
            *chain.from_iterable(moves),
            *chain.from_iterable(manifold_kernels(rng, on) for on in manifolds.values()),
            Kernel(factor_gradient, (cells, likelihood, 1.0, factor, factor, factor)),
            Kernel(log_likelihood, (cells, likelihood, factor, factor)),
            Kernel(component_gram, (cells, factor, factor, v, factor, v)),
            Kernel(view, (self.layout, v)),
            *self._start_kernels(rng),
        )

    def _start_kernels(self, rng: Generator) -> tuple[Kernel, ...]:
        """Return what the noise needs, and the Gibbs sweeps of the start if there are any."""
        if self.model.likelihood.is_conjugate:
            return Factors(self.model, self.observations).kernels()
        return noise_kernels(rng, self.model, self.data)

    def _example_targets(self) -> dict[str, Target]:
        """Return a target of each type, by the name of its block; that of V has the type of U's."""
        cells, likelihood, v, matrix = self.data.by_row, self.model.likelihood.compiled(), np.empty(0), np.empty((0, 0))
        targets: dict[str, Target] = {"U": FactorGivenRest(cells, likelihood, 1.0, matrix, matrix, matrix)}
        if self.model.likelihood.is_conjugate:
            targets["s"] = GaussianLogScales(matrix, v, v, 1.0, 1.0)
        else:
            targets["s"] = LogScales(cells, likelihood, 1.0, 1.0, matrix, matrix, matrix, matrix)
        for name in self._blocks.keys() - {"U", "V", "s"}:
            one, density = Marginal.over(1.0, 0.0), JointDensity.uncompiled(self.model, cells, self.layout)
            targets[name] = EffectsGivenFactors(density._replace(noise=one, row=one, column=one), v, v, v)
        return targets

    def start(self, rng: Generator) -> tuple[State, Tuning]:
        begin, noise = starting_point(rng, self.observations, self.model)
        state = draw_hyperparameters(rng, self.model, self._part, begin, noise)
        return state, {
            name: block.init(rng, self._manifolds[name], self._target(name, state), self._point(name, state))
            for name, block in self._blocks.items()
        }

    def step(self, rng: Generator, state: State, tuning: Tuning) -> tuple[State, Moves]:
        moves = {}
        for name, block in self._blocks.items():
            target, point = self._target(name, state), self._point(name, state)
            point, moves[name] = block.step(rng, self._manifolds[name], target, point, tuning[name].step_size)
            state = state._replace(unknowns=self._moved(name, state, point))
        return draw_hyperparameters(rng, self.model, self._part, state.unknowns, state.noise), moves

    def adapt(self, tuning: Tuning, info: Moves) -> Tuning:
        return {name: block.update(info[name].acceptance, self.target_acceptance) for name, block in tuning.items()}

    def freeze(self, tuning: Tuning) -> Tuning:
        return {name: block.final() for name, block in tuning.items()}

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

    def _moved(self, name: str, state: State, point: Array) -> Unknowns:
        x = state.unknowns
        if name == "s":
            return x._replace(s=np.exp(point))
        if name in ("U", "V"):
            return x._replace(U=point) if name == "U" else x._replace(V=point)
        flat = x.pack(self.layout)
        view(self.layout, flat).rest[self.layout.rank :] = point * self._units(state)
        return x.moved_to(self.layout, flat)

    def _target(self, name: str, state: State) -> Target:
        """Return the log density of a block given the rest."""
        x = state.unknowns
        if name == "U":
            return self._factor_target(self.data.by_row, state, x.V * x.s)
        if name == "V":
            return self._factor_target(self.data.by_column, state, x.U * x.s)
        return self._scale_target(state) if name == "s" else self._effects_target(state)

    def _factor_target(self, cells: Compressed, state: State, other: Matrix) -> FactorGivenRest:
        likelihood, precision = self._likelihood(state), _precision(state)
        effects, by_row = state.unknowns.effects, cells is self.data.by_row
        extended, products = self._left_scratch if by_row else self._right_scratch
        if not effects.exist:
            return FactorGivenRest(cells, likelihood, precision, other, extended[:0], products[:0])
        mine, others = left_columns(effects), right_columns(effects)
        if not by_row:
            mine, others = others, mine
        extended[:, -2:] = mine
        return FactorGivenRest(cells, likelihood, precision, np.hstack([other, others]), extended, products)

    def _scale_target(self, state: State) -> GaussianLogScales | LogScales:
        cells, x, precision = self.data.by_row, state.unknowns, _precision(state)
        if self.model.likelihood.is_conjugate:
            if x.effects.exist:
                shift = np.repeat(x.effects.mean + x.effects.row, cells.counts) + x.effects.column[cells.indices]
                cells = cells._replace(values=cells.values - shift)
            gram, moments = np.empty((len(x.s), len(x.s))), np.empty(len(x.s))
            component_gram(cells, x.U, x.V, x.s, gram, moments)
            return GaussianLogScales(gram, moments, x.s, precision, state.rate)
        right, (scaled, products) = x.V, self._left_scratch
        if x.effects.exist:
            scaled[:, -2:] = left_columns(x.effects)
            right = np.hstack([x.V, right_columns(x.effects)])
        return LogScales(cells, self._likelihood(state), precision, state.rate, x.U, right, scaled, products)

    def _effects_target(self, state: State) -> EffectsGivenFactors:
        position, gradient = self._scratch
        position[:] = state.unknowns.pack(self.layout)
        density = self._density._replace(
            noise=Marginal.over(_precision(state), 0.0),
            row=Marginal.over(state.unknowns.effects.row_precision, 0.0),
            column=Marginal.over(state.unknowns.effects.column_precision, 0.0),
        )
        return EffectsGivenFactors(density, self._units(state), position, gradient)

    def _likelihood(self, state: State) -> Any:
        return self.model.likelihood.compiled()._replace(coordinates=state.unknowns.coordinates)

    def _point(self, name: str, state: State) -> Array:
        """Return the current point of a block."""
        x = state.unknowns
        if name == "s":
            return np.log(x.s)
        if name in ("U", "V"):
            return x.U if name == "U" else x.V
        return np.array(view(self.layout, x.pack(self.layout)).rest[self.layout.rank :] / self._units(state))

    def _units(self, state: State) -> Vector:
        """Return the approximate conditional standard deviation of each effect, so that one step size suits all.

        It does not depend on the effects themselves, so the change of units leaves the target invariant.
        """
        prior, effects = self.model.effects, state.unknowns.effects
        coordinates = np.ones(self.layout.coordinates)
        if prior is None:
            return coordinates
        rows, columns = (counts[counts > 0] for counts in self.data.cells_of)
        cells = np.concatenate([[rows.sum()], rows, columns])
        held = [[prior.mean_precision], [effects.row_precision] * len(rows), [effects.column_precision] * len(columns)]
        units = (_precision(state) * cells + np.concatenate(held)) ** -0.5
        return np.concatenate([units, coordinates])


def _kernels_within(target: Target) -> tuple[Kernel, ...]:
    """Return the pass over the cells that a target calls through its address, which is slow to compile."""
    if not isinstance(target, EffectsGivenFactors):
        return ()
    return (Kernel(target.density.cell_pass, target.density.pass_arguments()),)


def _precision(state: State) -> float:
    """Return γ, shared by all cells."""
    return state.noise.precision
