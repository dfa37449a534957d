"""The paper's sampler (Algorithm 2): U, V and s in turn by geodesic NUTS, then the noise and the rate.

The singular values move in z = log s, by NUTS for every likelihood; under the Gaussian one their conditional is a
quadratic form, so a whole trajectory there costs one pass over the data (docs/math.md, §5).
"""

from typing import NamedTuple

import numpy as np

from manifill.geometry import Euclidean, Stiefel
from manifill.posterior.variables import Variable
from manifill.problem import Gaussian, Model, Observations
from manifill.problem.conditionals import FactorGivenRest, GaussianLogScales, LogScales
from manifill.problem.observations import Compressed
from manifill.problem.passes import component_gram, log_likelihood
from manifill.sampling.adaptation import DualAveraging
from manifill.sampling.block import Block
from manifill.sampling.nuts import Transition
from manifill.sampling.start import warm_start
from manifill.types import Array, Generator, Matrix, Vector

__all__ = ["Gibbs", "GibbsInfo", "GibbsState", "GibbsTuning"]


class GibbsState(NamedTuple):
    """The unknowns, and what the last step knows of their density."""

    U: Matrix  # (m, r)
    s: Vector  # (r,)
    V: Matrix  # (n, r)
    precision: float  # γ
    rate: float  # λ
    log_density: float


class GibbsTuning(NamedTuple):
    """A step size for each block."""

    U: DualAveraging
    V: DualAveraging
    s: DualAveraging


class GibbsInfo(NamedTuple):
    """What each block reports."""

    U: Transition
    V: Transition
    s: Transition


class Gibbs:
    """``sampler="gibbs"``: one step moves every block once."""

    def __init__(
        self, model: Model, observations: Observations, target_acceptance: float = 0.8, max_depth: int = 10
    ) -> None:
        model.check(observations)
        self.model = model
        self.observations = observations
        self.target_acceptance = target_acceptance
        encode = model.likelihood.encode
        self._by_row = observations.by_row._replace(values=encode(observations.by_row.values))
        self._by_column = observations.by_column._replace(values=encode(observations.by_column.values))
        (m, n), r = observations.shape, model.rank
        self._blocks = {
            "U": Block.on(Stiefel.of_shape(m, r), max_depth),
            "V": Block.on(Stiefel.of_shape(n, r), max_depth),
            "s": Block.on(Euclidean(r), max_depth),
        }
        self._scratch = np.empty((2, m, r))

    @property
    def variables(self) -> tuple[Variable, ...]:
        (m, n), r = self.observations.shape, self.model.rank
        names = (
            Variable("U", ("row", "component"), (m, r)),
            Variable("s", ("component",), (r,)),
            Variable("V", ("column", "component"), (n, r)),
            Variable("lambda", (), ()),
        )
        return (*names, Variable("sigma", (), ())) if self.model.likelihood.has_noise else names

    @property
    def statistic_names(self) -> tuple[str, ...]:
        blocks = [f"{what}_{name}" for name in self._blocks for what in ("step_size", "acceptance_rate")]
        return ("lp", "n_steps", "tree_depth", "reached_max_depth", "diverging", *blocks)

    def start(self, rng: Generator) -> tuple[GibbsState, GibbsTuning]:
        likelihood = self.model.likelihood
        U, s, V = warm_start(rng, self.observations, likelihood, self.model.rank)
        unit = log_likelihood(self._by_row, likelihood, U * s, V)
        precision = self.model.draw_precision(rng, self.observations.size, unit)
        rate = self.model.draw_rate(rng, s)
        tuning = GibbsTuning(
            U=self._blocks["U"].first_tuning(rng, self._factor_target(self._by_row, precision, V * s), U),
            V=self._blocks["V"].first_tuning(rng, self._factor_target(self._by_column, precision, U * s), V),
            s=self._blocks["s"].first_tuning(rng, self._scale_target(U, s, V, precision, rate), np.log(s)),
        )
        return GibbsState(U, s, V, precision, rate, self._log_density(unit, s, precision, rate)), tuning

    def step(self, rng: Generator, state: GibbsState, tuning: GibbsTuning) -> tuple[GibbsState, GibbsInfo]:
        U, s, V, precision, rate, _ = state
        target = self._factor_target(self._by_row, precision, V * s)
        U, moved_U = self._blocks["U"].step(rng, target, U, tuning.U.step_size)
        target = self._factor_target(self._by_column, precision, U * s)
        V, moved_V = self._blocks["V"].step(rng, target, V, tuning.V.step_size)
        scales = self._scale_target(U, s, V, precision, rate)
        log_s, moved_s = self._blocks["s"].step(rng, scales, np.log(s), tuning.s.step_size)
        s = np.exp(log_s)
        unit = log_likelihood(self._by_row, self.model.likelihood, U * s, V)
        precision = self.model.draw_precision(rng, self.observations.size, unit)
        rate = self.model.draw_rate(rng, s)
        log_density = self._log_density(unit, s, precision, rate)
        return GibbsState(U, s, V, precision, rate, log_density), GibbsInfo(moved_U, moved_V, moved_s)

    def adapt(self, tuning: GibbsTuning, info: GibbsInfo) -> GibbsTuning:
        pairs = zip(tuning, info, strict=True)
        return GibbsTuning(*(block.update(moved.acceptance, self.target_acceptance) for block, moved in pairs))

    def freeze(self, tuning: GibbsTuning) -> GibbsTuning:
        return GibbsTuning(*(block.freeze() for block in tuning))

    def draw(self, state: GibbsState) -> dict[str, Array]:
        values: dict[str, Array] = {"U": state.U, "s": state.s, "V": state.V, "lambda": np.asarray(state.rate)}
        if self.model.likelihood.has_noise:
            values["sigma"] = np.asarray(state.precision**-0.5)
        return values

    def statistics(self, state: GibbsState, tuning: GibbsTuning, info: GibbsInfo) -> dict[str, float]:
        summary = {
            "lp": state.log_density,
            "n_steps": float(sum(moved.steps for moved in info)),
            "tree_depth": float(max(moved.depth for moved in info)),
            "reached_max_depth": float(
                any(m.depth == b.max_depth for m, b in zip(info, self._blocks.values(), strict=True))
            ),
            "diverging": float(any(moved.diverged for moved in info)),
        }
        for name, block, moved in zip(self._blocks, tuning, info, strict=True):
            summary[f"step_size_{name}"] = block.step_size
            summary[f"acceptance_rate_{name}"] = moved.acceptance
        return summary

    def _factor_target(self, cells: Compressed, precision: float, other: Matrix) -> FactorGivenRest:
        return FactorGivenRest(cells, self.model.likelihood, precision, other)

    def _scale_target(
        self, U: Matrix, s: Vector, V: Matrix, precision: float, rate: float
    ) -> GaussianLogScales | LogScales:
        if not isinstance(self.model.likelihood, Gaussian):
            return LogScales(self._by_row, self.model.likelihood, precision, rate, U, V, *self._scratch)
        gram, moments = np.empty((len(s), len(s))), np.empty(len(s))
        component_gram(self._by_row, U, V, s, gram, moments)
        return GaussianLogScales(gram, moments, s, precision, rate)

    def _log_density(self, unit_log_likelihood: float, s: Vector, precision: float, rate: float) -> float:
        return self.model.log_density(self.observations.size, unit_log_likelihood, s, precision, rate)
